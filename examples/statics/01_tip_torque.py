"""001, test 1: a clamped beam rolled up by a torque about a tilted axis, up to 16 turns.

The exact solution is a circle of curvature C/EI in the plane normal to the axis. A constant curvature is
in the basis and comes out to round-off; *positions* need nodes that resolve the angle θ = C L/EI = 102
rad. Polynomials need π nodes a turn, θ/2 = 51, and some more to converge. Measured at 5 N m: the tip is
good to 1e-10 with 40 nodes, the loading path goes through from 60 on (the tangent integrates from node
to node), points between the nodes are good to 1e-9 with θ/2 + 24 = 75. We take θ/2 + 28.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.rolled_beam import LENGTH, PRINTED_RADIUS, curvature, rolled_beam

AXIS = np.array([0.0, 1.0, 1.0]) / np.sqrt(2)
LIMITS = {
    "curvature, relative": 1e-11,
    "tip, over length": 1e-12,
    "centerline, over length": 1e-10,
}


def beam(torque: float, largest: float, strains: str = "bending") -> sp.Robot:
    """The beam as printed, with nodes for the largest torque; both curvatures on five modes."""
    nodes = 28 + int(np.ceil(LENGTH * curvature(largest, PRINTED_RADIUS) / 2))
    return rolled_beam(torque, tuple(AXIS), PRINTED_RADIUS, strains=strains, basis=5, nodes=nodes)


def circle(torque: float, points: int) -> np.ndarray:
    """Exact centerline (points, 3): from +x towards axis x tangent."""
    k, X = curvature(torque, PRINTED_RADIUS), LENGTH * np.linspace(0.0, 1.0, points)
    side = np.cross(AXIS, [1.0, 0.0, 0.0])
    return np.sin(k * X)[:, None] / k * np.eye(3)[0] + (1 - np.cos(k * X))[:, None] / k * side


def solve(largest: float, count: int) -> tuple[np.ndarray, list[sp.Equilibrium]]:
    """Equilibria for torques up to the largest."""
    torques = largest * np.arange(1, count + 1) / count
    return torques, list(sp.sweep(lambda torque: beam(torque, largest), torques))


def measure(torques: np.ndarray, found: list[sp.Equilibrium]) -> dict[str, float]:
    """Largest errors over all torques."""
    errors = dict.fromkeys(LIMITS, 0.0)
    for torque, state in zip(torques, found, strict=True):
        k = curvature(torque, PRINTED_RADIUS)
        bend = np.abs(state.strain("beam")[:, :3] - k * AXIS).max() / k
        away = np.linalg.norm(state.shape("beam").position - circle(torque, 41), axis=1) / LENGTH
        tip = np.linalg.norm(state.position("beam") - circle(torque, 2)[-1]) / LENGTH
        for name, value in zip(errors, (bend, tip, away.max()), strict=True):
            errors[name] = max(errors[name], float(value))
    return errors


def run(quick: bool = False) -> dict[str, float]:
    """Five equal steps of torque up to 5 N m, as in the paper; quick: two up to 1 N m (3 turns)."""
    return measure(*(solve(1.0, 2) if quick else solve(5.0, 5)))


def main() -> None:
    from examples._picture import BLUE, RED, figure, save, snapshots_3d

    fig, axes = figure(1, 2, (9.5, 4.2))
    torques, path = solve(5.0, 250)
    tips = np.array([state.position("beam") for state in path])
    exact = np.array([circle(torque, 2)[-1] for torque in torques])
    axes[0].remove()
    space = fig.add_subplot(1, 2, 1, projection="3d")
    chosen = [0, 1, 2, 4, 8, 16, 32, 64, 249]
    shapes = [path[i].shape("beam", 401).position for i in chosen]
    mappable = snapshots_3d(space, shapes, torques[chosen], log=True)
    space.set_title("Rolled up by a tilted torque")
    space.view_init(elev=22, azim=-60)
    fig.colorbar(mappable, ax=space, label="torque (N m)", shrink=0.6, pad=0.12)
    for row, color, name in ((0, BLUE, "x"), (1, RED, "y")):
        axes[1].plot(torques, tips[:, row], color=color, label=f"tip {name}")
        axes[1].plot(torques[::4], exact[::4, row], ".", color=color, ms=3, label="exact")
    axes[1].set(xlabel="torque (N m)", ylabel="position (m)", title="Tip against torque")
    axes[1].legend(ncols=2)
    save(fig, "tip_torque")
    report("001 test 1, all 250 torques up to 5 N m (16 turns)", measure(torques, path), LIMITS)


if __name__ == "__main__":
    main()
