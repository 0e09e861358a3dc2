"""000 §3.9.3: a swimmer driven by two tendons, in water after Lighthill; 10 s at 10 ms.

It swims head first. Work of the tendons = change of kinetic and elastic energy + work done on the fluid; the
fluid's force is what the balance of the same motion would need less in air.
"""

from functools import cache

import numpy as np
from scipy.integrate import simpson

import supple as sp
from examples._check import report
from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.kinematics import kinematics
from supple.mechanics.transmissions import transmission_motion
from supple.robots.swimmer import BENDING, OFFSET, PULSATION, swimmer

LIMITS = {
    "power balance": 7e-4,
    "speed (m/s)": (0.4, 0.8),
    "Strouhal number": (0.4, 0.7),
    "elastic torque at the root of the tail (N m)": (0.35, 0.6),
    "mean speed still changes by": 5e-3,
    "speed, half the step": 9e-3,
    "speed, more modes and nodes": 6e-4,
}
LENGTH, STEP, PERIOD = 1.0, 0.01, 2 * np.pi / PULSATION


@cache
def swum(duration: float, dt: float = STEP, **options: int) -> sp.Result:
    """From rest, straight."""
    return sp.simulate(swimmer(**options), duration, dt=dt)


def mean_speed(found: sp.Result, begin: float, end: float) -> float:
    """Mean speed (m/s) towards -x between two instants, whole periods apart."""
    x = -found.momentum.center[:, 0]
    return float((np.interp(end, found.t, x) - np.interp(begin, found.t, x)) / (end - begin))


def powers(found: sp.Result) -> tuple[np.ndarray, np.ndarray]:
    """Power (W) that the tendons give, and that the fluid takes."""
    import jax

    wet, dry = swimmer().build(), swimmer(in_water=False).build()

    @jit
    def both(q, v, a, t):  # type: ignore[no-untyped-def]
        def one(q, v, a, t):  # type: ignore[no-untyped-def]
            c = Coordinates(q, np.zeros(wet.nv), v, a, t)
            tendons = transmission_motion(dry, c, kinematics(dry, c))
            fluid = inverse_dynamics(wet, c) - inverse_dynamics(dry, c)
            return tendons.effort @ tendons.rate, v @ fluid

        return jax.vmap(one)(q, v, a, t)

    given, taken = both(found.q, found.v, found.a, found.t)
    return np.asarray(given), np.asarray(taken)


def balance(found: sp.Result, begin: float) -> float:
    """What the power balance lacks from ``begin`` (s) to the end, over the work of the tendons.

    The tensions start with a jump, which shakes the body at frequencies that no step here follows.
    """
    late = found.t >= begin - 1e-9
    given, taken = (power[late] for power in powers(found))
    energy = (found.energies.kinetic + found.energies.elastic)[late]
    work, spent = (simpson(power, x=found.t[late]) for power in (given, taken))
    return float(abs(work - spent - (energy[-1] - energy[0])) / work)


def strouhal(found: sp.Result) -> float:
    """Swing of the tail over the way of a period, in the last five."""
    late = found.t > 10 - 5 * PERIOD
    swing = np.ptp(found.position("tail")[late, 1])
    return float(swing / PERIOD / mean_speed(found, 10 - 5 * PERIOD, 10.0))


def tail_torque(found: sp.Result) -> float:
    """Amplitude (N m) of the elastic torque of figure 3.12 in the last five periods."""
    late = found.t > 10 - 5 * PERIOD
    return float(np.ptp(BENDING["tail"] * root_curvature(found, "tail")[late]) / 2)


def run(quick: bool = False) -> dict[str, float]:
    """Quick: two seconds, without the comparisons."""
    if quick:
        found = swum(2.0, 0.005)
        return {
            "power balance": balance(found, 1.2),
            "speed (m/s)": mean_speed(found, 2.0 - PERIOD, 2.0),
        }
    found = swum(10.0)
    speed = mean_speed(found, 10 - 5 * PERIOD, 10.0)
    fine, many = swum(10.0, STEP / 2), swum(10.0, modes=8, nodes=16)
    others = [mean_speed(other, 10 - 5 * PERIOD, 10.0) for other in (fine, many)]
    return {
        "power balance": balance(swum(4.0, 0.0025), 2.0),
        "speed (m/s)": speed,
        "Strouhal number": strouhal(found),
        "elastic torque at the root of the tail (N m)": tail_torque(found),
        "mean speed still changes by": abs(mean_speed(found, 8 - 5 * PERIOD, 8.0) / speed - 1),
        "speed, half the step": abs(others[0] / speed - 1),
        "speed, more modes and nodes": abs(others[1] / speed - 1),
    }


def main() -> None:
    from examples._picture import BLUE, GREEN, ORANGE, RED, figure, save, snapshots

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
    center = found.momentum.center[:, 0]
    speed.plot(found.t, -np.gradient(center, found.t), color=BLUE)
    speed.set(xlabel="time (s)", ylabel="speed (m/s)", title="Speed of the mass center")
    early = found.t <= 3.0
    left, right = (found.tendon(name).tension for name in ("left", "right"))
    torques.plot(found.t[early], OFFSET * (left - right)[early], color=RED, label="tendons")
    for name, color in (("body", ORANGE), ("tail", GREEN)):
        elastic = BENDING[name] * root_curvature(found, name)[early]
        torques.plot(found.t[early], elastic, color=color, label=f"elastic, root of the {name}")
    torques.set(xlabel="time (s)", ylabel="torque (N m)", title="Torques")
    torques.legend()
    save(fig, "swimmer")

    mean = mean_speed(found, 10 - 5 * PERIOD, 10.0)
    late = found.t > 10 - 5 * PERIOD
    given, _ = powers(found)
    power = float(np.trapezoid(given[late], found.t[late]) / (5 * PERIOD))
    mass = 1000.0 * _volume()
    print(f"speed {mean / LENGTH:.3f} body lengths/s, Strouhal {strouhal(found):.2f}, "
          f"power {power:.2f} W, cost of transport {power / (mass * 9.81 * mean):.3f}")  # fmt: skip
    report("000 §3.9.3, swimmer", run(), LIMITS)


def root_curvature(found: sp.Result, rod: str) -> np.ndarray:
    """Curvature (n,) in rad/m at the root of a rod."""
    import jax

    from supple.mechanics.frames import rod_strain

    strain = jax.vmap(lambda q: rod_strain(found.model, rod, q, np.zeros(1)))
    return np.asarray(strain(found.q))[:, 0, 2]


def _volume() -> float:
    """Volume of the swimmer (m³)."""
    from supple.robots.swimmer import half_height, half_width

    s = (np.arange(2000) + 0.5) / 2000
    return float(np.mean(np.pi * half_width(s) * half_height(s)))


if __name__ == "__main__":
    main()
