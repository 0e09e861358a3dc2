"""000 §3.9.3: a swimmer driven by two tendons, in water after Lighthill; 10 s at 10 ms.

It swims head first. Work of the tendons = change of kinetic and elastic energy + work done on the fluid; the
fluid's force is what the balance of the same motion would need less in air.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.compile import jit
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.local import Coordinates
from supple.robots.swimmer import OFFSET, PULSATION, swimmer

LIMITS = {
    "power balance": 1e-3,
    "swims backwards (m/s)": 0.0,
    "mean speed still changes by": 2e-2,
    "speed, half the step": 2e-2,
    "speed, more modes and nodes": 2e-2,
}
LENGTH, STEP, PERIOD = 1.0, 0.01, 2 * np.pi / PULSATION


def swum(duration: float, dt: float = STEP, **options: int) -> sp.Result:
    """From rest, straight."""
    return sp.simulate(swimmer(**options), duration, dt=dt, throw=True)


def mean_speed(found: sp.Result, begin: float, end: float) -> float:
    """Mean speed (m/s) towards -x between two instants, whole periods apart."""
    x = -found.momentum.centre[:, 0]
    return float((np.interp(end, found.t, x) - np.interp(begin, found.t, x)) / (end - begin))


def powers(found: sp.Result) -> tuple[np.ndarray, np.ndarray]:
    """Power (W) that the tendons give, and that the fluid takes."""
    import jax

    wet, dry = swimmer().build(), swimmer(in_water=False).build()

    @jit
    def taken(q, v, a, t):  # type: ignore[no-untyped-def]
        def one(q, v, a, t):  # type: ignore[no-untyped-def]
            c = Coordinates(q, np.zeros(wet.nv), v, a, t)
            return v @ (inverse_dynamics(wet, c) - inverse_dynamics(dry, c))

        return jax.vmap(one)(q, v, a, t)

    given = np.zeros(len(found.t))
    for name in ("left", "right"):
        length, tension = found.tendon(name)
        given -= tension * np.gradient(length, found.t, edge_order=2)
    return given, np.asarray(taken(found.q, found.v, found.a, found.t))


def balance(found: sp.Result) -> float:
    """What the power balance lacks over the run, over the work of the tendons."""
    given, taken = powers(found)
    energy = found.energies.kinetic + found.energies.elastic
    work, spent = (np.trapezoid(power, found.t) for power in (given, taken))
    return float(abs(work - spent - (energy[-1] - energy[0])) / work)


def run(quick: bool = False) -> dict[str, float]:
    """Quick: two seconds, without the comparisons."""
    if quick:
        found = swum(2.0, 0.005)
        return {
            "power balance": balance(found),
            "swims backwards (m/s)": -mean_speed(found, 2.0 - PERIOD, 2.0),
        }
    found = swum(10.0)
    speed = mean_speed(found, 10 - 5 * PERIOD, 10.0)
    fine, many = swum(10.0, STEP / 2), swum(10.0, modes=8, nodes=16)
    others = [mean_speed(other, 10 - 5 * PERIOD, 10.0) for other in (fine, many)]
    return {
        "power balance": balance(swum(4.0, 0.0025)),
        "swims backwards (m/s)": -speed,
        "mean speed still changes by": abs(mean_speed(found, 8 - 5 * PERIOD, 8.0) / speed - 1),
        "speed, half the step": abs(others[0] / speed - 1),
        "speed, more modes and nodes": abs(others[1] / speed - 1),
    }


def main() -> None:
    from examples._picture import BLUE, ORANGE, RED, figure, save, snapshots

    found = swum(10.0)
    fig, axes = figure(2, 2, (11.0, 6.4), height_ratios=(1, 1.2))
    chosen = np.arange(0, len(found.t), 165)
    parts = [found.shape(name, 41).position[chosen] for name in ("head", "body", "tail")]
    shapes = [np.concatenate(part) for part in zip(*parts, strict=True)]
    wide = axes[0, 0].get_gridspec()
    for ax in axes[0]:
        ax.remove()
    path = fig.add_subplot(wide[0, :])
    mappable = snapshots(path, shapes, found.t[chosen])
    fig.colorbar(mappable, ax=path, label="time (s)")
    path.set(title="Every 1.65 s", aspect="equal")
    _, torques = axes[1]
    speed, _ = axes[1]
    centre = found.momentum.centre[:, 0]
    speed.plot(found.t, -np.gradient(centre, found.t), color=BLUE)
    speed.set(xlabel="time (s)", ylabel="speed (m/s)", title="Speed of the mass centre")
    early = found.t <= 3.0
    left, right = (found.tendon(name)[1] for name in ("left", "right"))
    torques.plot(found.t[early], OFFSET * (left - right)[early], color=RED, label="tendons")
    curvature = np.array([_root_curvature(found, i) for i in np.flatnonzero(early)])
    torques.plot(found.t[early], 4.9 * curvature, color=ORANGE, label="elastic, root of the body")
    torques.set(xlabel="time (s)", ylabel="torque (N m)", title="Torques")
    torques.legend()
    save(fig, "swimmer")

    mean = mean_speed(found, 10 - 5 * PERIOD, 10.0)
    late = found.t > 10 - 5 * PERIOD
    swing = float(np.ptp(found.position("tail")[late, 1]))
    given, _ = powers(found)
    power = float(np.trapezoid(given[late], found.t[late]) / (5 * PERIOD))
    mass = 1000.0 * _volume()
    print(f"speed {mean / LENGTH:.3f} body lengths/s, Strouhal {swing / PERIOD / mean:.2f}, "
          f"power {power:.2f} W, cost of transport {power / (mass * 9.81 * mean):.3f}")  # fmt: skip
    report("000 §3.9.3, swimmer", run(), LIMITS)


def _root_curvature(found: sp.Result, row: int) -> float:
    from supple.mechanics.frames import rod_strain

    return float(rod_strain(found.model, "body", found.q[row], np.zeros(1))[0, 2])


def _volume() -> float:
    """Volume of the swimmer (m³)."""
    from supple.robots.swimmer import half_height, half_width

    s = (np.arange(2000) + 0.5) / 2000
    return float(np.mean(np.pi * half_width(s) * half_height(s)))


if __name__ == "__main__":
    main()
