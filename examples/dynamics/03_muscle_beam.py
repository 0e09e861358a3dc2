"""001, test 6: a free beam in vacuum that bends itself by waves of internal torque.

No external force: momentum stays zero and the mass center stays where it is, while the beam writhes and
turns. The paper reports < 1e-3. Gauss collocation conserves what its solver leaves: here 1e-8; Newmark is
of second order. What else can spoil it: too few nodes (poses and velocities then disagree; the default is
enough here) and the tolerance of Newton's iteration.
The beam is that of test 4 with radius 0.01 m. The *printed* beam is 16 times softer and bends to
8 /m: it takes 32 nodes and a Newton tolerance of 1e-11 to conserve as well (and its steps are
split, since one linearization a step serves a light, whipping beam badly).
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.muscle_beam import muscle_beam
from supple.robots.rolled_beam import PRINTED_RADIUS
from supple.solve.newton import NewtonSettings

SCHEMES = {"gauss(3) at 2 ms": (sp.gauss(3), 2e-3), "newmark at 1 ms": (sp.newmark(), 1e-3)}
PRINTED = "as printed, gauss(3) at 2 ms"
INVARIANTS = ("angular momentum (kg m²/s)", "linear momentum (kg m/s)", "mass center (m)")
LIMITS = {
    f"{scheme}: {name}": limit
    for scheme, limit in zip((*SCHEMES, PRINTED), (1e-7, 1e-4, 1e-7), strict=True)
    for name in INVARIANTS
}


def drifts(result: sp.Result, scheme: str) -> dict[str, float]:
    """Largest departure of each invariant from its value at the start."""
    return {
        f"{scheme}: {name}": float(np.linalg.norm(values - values[0], axis=1).max())
        for name, values in zip(INVARIANTS, result.momentum, strict=True)
    }


def printed(duration: float) -> sp.Result:
    """The beam as printed."""
    robot = muscle_beam(PRINTED_RADIUS, nodes=32)
    scheme = sp.gauss(3, NewtonSettings(tolerance=1e-11, max_iterations=15))
    return sp.simulate(robot, duration, dt=2e-3, scheme=scheme)


def stiff(duration: float) -> dict[str, float]:
    """Drifts of the beam of test 4 with both schemes."""
    errors: dict[str, float] = {}
    for name, (scheme, dt) in SCHEMES.items():
        result = sp.simulate(muscle_beam(), duration, dt=dt, scheme=scheme)
        errors |= drifts(result, name)
    return errors


def run(quick: bool = False) -> dict[str, float]:
    """Two seconds with both schemes, and the printed beam; quick: 0.2 s without the latter."""
    return stiff(0.2) if quick else stiff(2.0) | drifts(printed(2.0), PRINTED)


def main() -> None:
    from examples._picture import figure, save, snapshots_3d

    fig, axes = figure(1, 3, (12, 4.2), width_ratios=(1.3, 1, 1))
    soft = printed(2.0)
    instants = np.arange(0, len(soft), 150)
    axes[0].remove()
    space = fig.add_subplot(1, 3, 1, projection="3d")
    mappable = snapshots_3d(space, soft.shape("beam", 81).position[instants], soft.t[instants])
    space.set_title("The softer beam, every 0.3 s")
    space.view_init(elev=25, azim=-70)
    fig.colorbar(mappable, ax=space, label="time (s)", shrink=0.6, pad=0.15)
    u = np.linspace(0.0, 1.0, 101)
    phi = np.polynomial.legendre.legvander(2 * u - 1, 2)
    q = soft.coordinates("beam")[instants]
    for axis, columns, name in ((axes[1], slice(0, 3), "y"), (axes[2], slice(3, 6), "z")):
        for row, t in zip(q, soft.t[instants], strict=True):
            axis.plot(u, phi @ row[columns], color=mappable.to_rgba(t))
        axis.set(xlabel="X (m)", ylabel=f"κ{name} (1/m)", title=f"Curvature about {name}")
    save(fig, "muscle_beam")
    report("001 test 6, largest drift in 2 s", stiff(2.0) | drifts(soft, PRINTED), LIMITS)


if __name__ == "__main__":
    main()
