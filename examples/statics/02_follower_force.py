"""001, test 2: a clamped beam under a sideways tip force that follows the tip, up to 130 kN.

Compared with the strong form integrated from the tip (benchmarks/reference/follower_force.py), which is
an initial value problem here. Modes needed for the whole range, largest tip error over the length:
5 (the paper's number): 1e-2, 8: 2e-3, 10: 1e-4, 12: 5e-6, 14: 4e-7, 16: 6e-8. The printed diameter of
0.57 m (a slip for the radius) makes the beam 16 times softer: it meanders, and 40 modes give 1e-4.
"""

import numpy as np

import supple as sp
from benchmarks.reference.follower_force import follower_tip
from examples._check import report
from supple.robots.follower import LENGTH, PRINTED_RADIUS, RADIUS, bending_stiffness, follower_beam

LIMITS = {
    "tip, over length": 1e-7,
    "tip, over length, diameter as printed": 3e-4,
}
PRINTED = {"radius": PRINTED_RADIUS, "basis": 40, "nodes": 56}


def solve(forces: np.ndarray, **beam: object) -> list[sp.Equilibrium]:
    """Equilibria along the load path."""
    return list(sp.sweep(lambda force: follower_beam(force, **beam), forces))


def tips(forces: np.ndarray, radius: float = RADIUS) -> np.ndarray:
    """Reference tip (x, y, 0) for each force."""
    stiffness = bending_stiffness(radius)
    return np.array([(*follower_tip(force, LENGTH, stiffness)[:2], 0.0) for force in forces])


def error(forces: np.ndarray, found: list[sp.Equilibrium], radius: float = RADIUS) -> float:
    """Largest tip distance to the reference, over the length."""
    got = np.array([state.position("beam") for state in found])
    return float(np.linalg.norm(got - tips(forces, radius), axis=1).max() / LENGTH)


def run(quick: bool = False) -> dict[str, float]:
    """The whole load range; quick: eight forces, and only the benchmark's beam."""
    forces = np.linspace(0.0, 1.3e5, 9 if quick else 53)[1:]
    errors = {"tip, over length": error(forces, solve(forces))}
    if not quick:
        forces = np.linspace(0.0, 1.3e5, 131)[1:]
        found = solve(forces, **PRINTED)
        errors["tip, over length, diameter as printed"] = error(forces, found, PRINTED_RADIUS)
    return errors


def main() -> None:
    from examples._picture import BLUE, GREEN, RED, figure, save, snapshots

    fig, axes = figure(2, 2, (9.5, 7.5))
    errors = {}
    cases = (
        ("tip, over length", "Radius 0.57 m", RADIUS, {}, range(19, 120, 10)),
        (
            "tip, over length, diameter as printed",
            "Diameter 0.57 m, as printed",
            PRINTED_RADIUS,
            PRINTED,
            (1, 4, 8, 24, 87, 119),
        ),
    )
    for row, (name, title, radius, beam, chosen) in zip(axes, cases, strict=True):
        forces = 1.3e5 * np.linspace(0.0, 1.0, 121)[1:] ** 1.5
        found = solve(forces, **beam)
        errors[name] = error(forces, found, radius)
        shapes = [found[i].shape("beam", 201).position for i in chosen]
        mappable = snapshots(row[0], shapes, forces[list(chosen)] / 1e3)
        fig.colorbar(mappable, ax=row[0], label="force (kN)")
        row[0].set_title(f"{title}: equilibria")
        got = np.array([state.position("beam") for state in found])
        exact = tips(forces, radius)
        for column, color, letter in ((0, BLUE, "x"), (1, RED, "y")):
            row[1].plot(forces / 1e3, got[:, column], color=color, label=f"tip {letter}")
            row[1].plot(forces[::4] / 1e3, exact[::4, column], ".", color=GREEN, ms=4)
        row[1].plot([], [], ".", color=GREEN, label="strong form")
        row[1].set(xlabel="force (kN)", ylabel="position (m)", title="Tip against force")
        row[1].legend()
    save(fig, "follower_force")
    report("001 test 2, forces up to 130 kN", errors, LIMITS)


if __name__ == "__main__":
    main()
