"""001, Table I: a beam bent by one cable along five routings, for tensions of 1 to 5 N.

Nothing but the cable acts, so that every section balances by itself: H (ξ - ξ₀) = -T (D × t; t) with t the
cable's unit tangent. Solved point by point and integrated, that is the solution the modes must approach.
Five modes are enough for smooth routings; a cable that ends within the beam needs more.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import supple as sp
from examples._check import report
from supple.robots.tendon_beam import LENGTH, MODULUS, RADIUS, ROUTINGS, tendon_beam

# The section-wise solution itself is good to about 4e-8 (4000 pieces).
LIMITS = {
    "parallel, tip over length": 4e-8,
    "convergent, tip over length": 5e-8,
    "cross, tip over length": 1e-7,
    "spiral, tip over length": 6e-3,
    "spiral with 10 modes": 3e-7,
    "truncated, 10 modes": 2e-4,
}
POINTS = 4001


def by_sections(routing: str, tension: float) -> np.ndarray:
    """Centerline (POINTS, 3) from the balance of each section."""
    u = (np.arange(POINTS - 1) + 0.5) / (POINTS - 1)  # middles of small pieces
    given = ROUTINGS[routing]

    def place(at: np.ndarray) -> np.ndarray:
        columns = given(at) if callable(given) else np.tile(given, (len(at), 1))
        return np.concatenate([np.zeros((len(at), 1)), columns], axis=1)

    offset = place(u)
    slope = (place(u + 1e-5) - place(u - 1e-5)) / (2e-5 * LENGTH)
    second = np.pi * RADIUS**4 / 4
    stiffness = MODULUS * second * np.array([2 / 2.6, 1.0, 1.0])
    curvature = np.zeros((len(u), 3))
    for _ in range(60):  # contracts: the cable turns little against the beam
        tangent = np.eye(3)[0] + np.cross(curvature, offset) + slope
        tangent /= np.linalg.norm(tangent, axis=1)[:, None]
        curvature = -tension * np.cross(offset, tangent) / stiffness
    if routing == "truncated":
        curvature[u > 0.5] = 0.0
    step = LENGTH / (POINTS - 1)
    turns = Rotation.from_rotvec(curvature * step)
    half = Rotation.from_rotvec(curvature * step / 2)
    now, line = Rotation.identity(), [np.zeros(3)]
    for k in range(POINTS - 1):
        line.append(line[-1] + step * (now * half[k]).apply([1.0, 0.0, 0.0]))
        now = now * turns[k]
    return np.array(line)


def error(routing: str, tension: float, modes: int) -> float:
    """Distance of the tip from the section-wise solution, over the length."""
    tip = sp.equilibrium(tendon_beam(routing, tension, modes)).position("beam")
    return float(np.linalg.norm(tip - by_sections(routing, tension)[-1]) / LENGTH)


def run(quick: bool = False) -> dict[str, float]:
    """Tip errors at 5 N; quick: only one routing of each kind."""
    chosen = ("parallel", "spiral") if quick else ("parallel", "convergent", "cross", "spiral")
    found = {f"{routing}, tip over length": error(routing, 5.0, 5) for routing in chosen}
    found["spiral with 10 modes"] = error("spiral", 5.0, 10)
    if not quick:
        found["truncated, 10 modes"] = error("truncated", 5.0, 10)
    return found


def main() -> None:
    from examples._picture import BLUE, RED, figure, save

    fig, axes = figure(1, 4, (12.0, 3.4))
    for ax, routing in zip(axes, ("convergent", "cross", "truncated"), strict=False):
        for tension in (1.0, 2.0, 3.0, 4.0, 5.0):
            for modes, style in ((5, ":"), (10, "-")) if routing == "truncated" else ((5, "-"),):
                line = sp.equilibrium(tendon_beam(routing, tension, modes)).shape("beam", 101)
                ax.plot(line.position[:, 0], line.position[:, 1], style, color=BLUE, lw=1.2)
            exact = by_sections(routing, tension)
            ax.plot(exact[::400, 0], exact[::400, 1], ".", color=RED, ms=3)
        ax.set_title(routing)
        ax.set_aspect("equal")
        ax.set_xlabel("x (m)")
    axes[0].set_ylabel("y (m)")
    axes[3].remove()
    space = fig.add_subplot(1, 4, 4, projection="3d")
    for tension in (1.0, 2.0, 3.0, 4.0, 5.0):
        line = sp.equilibrium(tendon_beam("spiral", tension, 5)).shape("beam", 101).position
        space.plot(*line.T, color=BLUE, lw=1.2)
    space.set_title("spiral")
    save(fig, "cable_routings")
    report("001 Table I: one cable, five routings, 5 N", run(), LIMITS)


if __name__ == "__main__":
    main()
