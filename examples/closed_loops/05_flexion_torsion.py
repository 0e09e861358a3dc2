"""001, test 3: a clamped rod is twisted by one turn at its end, then pushed together: a loop forms.

The first stage is pure torsion. The second is a quasi-static path: the straight rod buckles out of the plane,
torsion turns into a loop, and near x = 0.3 l the loop lies down in a plane and no torsion is left. Where the
ends meet it is a circle, whose diameter and energy are known. Every state is stable.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.flexion_torsion import CURVATURE, LENGTH, MODES, RADIUS, E, G, flexion_torsion

SECOND = np.pi * RADIUS**4 / 4
TURN = 0.5 * 2 * SECOND * G * (2 * np.pi) ** 2 / LENGTH
"""Energy (J) of one turn of torsion."""
CIRCLE = 0.5 * SECOND * E * (2 * np.pi / LENGTH - CURVATURE) ** 2 * LENGTH
"""Energy (J) of the closed circle."""
FINE = {"kx": 6, "ky": 10, "kz": 10, "gx": 4}
LIMITS = {
    "one turn: energy, relative": 1e-5,
    "ends together: diameter of the circle, relative": 4e-9,
    "ends together: energy, relative": 1e-12,
    "ends together: energy of torsion, over one turn": 1e-12,
    "shape at x = l/2, against twice the modes, over length": 1e-2,
    "unstable states": 0.0,
    "end off its place (m)": 1e-11,
}


def instants(push: float = 1.5, step: float = 0.05) -> np.ndarray:
    """Turns of 20°, then steps of the end."""
    return np.concatenate([np.arange(19) / 18, 1 + step * np.arange(1, round(push / step) + 1)])


def states(basis: dict[str, int], times: np.ndarray) -> list[sp.Equilibrium]:
    """The equilibria, each from the last."""
    model = flexion_torsion(basis=basis).build()
    found = [sp.equilibrium(model)]
    for t in times[1:]:
        found.append(sp.equilibrium(model, initial=found[-1], t=float(t)))
    return found


def torsion(state: sp.Equilibrium) -> float:
    """Energy of torsion (J)."""
    u, weights = np.polynomial.legendre.leggauss(20)
    twist = np.interp((u + 1) / 2, np.linspace(0, 1, 401), state.strain("rod", 401)[:, 0])
    return float(0.5 * 2 * SECOND * G * LENGTH * np.sum(weights * twist**2) / 2)


def nearest(found: list[sp.Equilibrium], t: float) -> sp.Equilibrium:
    return min(found, key=lambda state: abs(state.t - t))


def gap(state: sp.Equilibrium) -> float:
    return float(np.linalg.norm(state.position("rod") - state.position("end")))


def measured(found: list[sp.Equilibrium]) -> dict[str, float]:
    turned, circle = nearest(found, 1.0), nearest(found, 2.0)
    height = np.ptp(circle.shape("rod", 201).position[:, 2])
    return {
        "one turn: energy, relative": abs(float(turned.energies.elastic) / TURN - 1),
        "ends together: diameter of the circle, relative": abs(height * np.pi / LENGTH - 1),
        "ends together: energy, relative": abs(float(circle.energies.elastic) / CIRCLE - 1),
        "ends together: energy of torsion, over one turn": torsion(circle) / TURN,
        "unstable states": float(sum(not sp.modes(s.model, at=s).stable for s in found[1:])),
        "end off its place (m)": max(gap(state) for state in found),
    }


def refined(found: list[sp.Equilibrium]) -> dict[str, float]:
    fine = states(FINE, instants(0.5))[-1].shape("rod").position
    apart = nearest(found, 1.5).shape("rod").position - fine
    name = "shape at x = l/2, against twice the modes, over length"
    return {name: float(np.linalg.norm(apart, axis=1).max() / LENGTH)}


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: until the ends meet, in larger steps, with one basis."""
    found = states(MODES, instants(1.0, 0.1) if quick else instants())
    return measured(found) if quick else measured(found) | refined(found)


def main() -> None:
    from examples._picture import BLUE, RED, plt, save, snapshots_3d

    found = states(MODES, instants())
    fig = plt.figure(figsize=(12.5, 4.8), layout="constrained")
    grid = fig.add_gridspec(1, 2, width_ratios=(1.5, 1))
    space = fig.add_subplot(grid[0], projection="3d")
    chosen = [nearest(found, t) for t in (1.0, 1.1, 1.3, 1.5, 1.65, 2.0, 2.5)]
    shapes = [state.shape("rod", 161).position for state in chosen]
    mappable = snapshots_3d(space, shapes, [2 - state.t for state in chosen])
    fig.colorbar(mappable, ax=space, label="end x / l", shrink=0.7, location="left")
    space.view_init(20, -65)
    space.set_title("Pushed together after one turn")

    axes = fig.add_subplot(grid[1])
    pushed = [state for state in found if state.t >= 1.0]
    x = np.array([2 - state.t for state in pushed])
    axes.plot(x, [float(s.energies.elastic) for s in pushed], color=BLUE, label="elastic energy")
    axes.plot(x, [torsion(s) for s in pushed], color=RED, label="of this, torsion")
    axes.plot(0.0, CIRCLE, "o", color="0.2", ms=5, label="circle, exact")
    axes.plot(1.0, TURN, "s", color="0.2", ms=5, label="one turn, exact")
    axes.invert_xaxis()
    axes.set(xlabel="end x / l", ylabel="energy (J)", title="Torsion turns into a loop")
    axes.legend()
    save(fig, "flexion_torsion")
    report("001 test 3", measured(found) | refined(found), LIMITS)


if __name__ == "__main__":
    main()
