"""000 §4.9.2, first trajectory: the RFRFR prototype stops at base angles of zero, and its platform drops.

The drive ends just beyond the limit point of the branch of equilibria: there the robot has no stiffness left
against the weight of its platform, which falls through the line of the hinges, hangs on bent rods, bounces
and begins to sway sideways: a tilted pendulum. Distance of the hinges and mass of the platform are not
printed; 0.82 m and 2.8 kg put the limit point half a degree before the end of the drive. (With the second
trajectory's 0.9 m and 0.2 kg the robot stands at zero and snaps past −20.5°.)
"""

from functools import cache

import numpy as np

import supple as sp
from examples._check import report
from supple.mechanics.frames import find_joint
from supple.robots.rfrfr_prototype import ANGLE, drive, rfrfr_prototype
from supple.system.error_norm import total_mass

DISTANCE = 0.82
MODES = 5
MASSES = {MODES: 2.8, 3: 2.9}
"""Of the platform (kg). Under this load the text's three modes move the limit point by more than a degree;
the other mass puts it back to half a degree, for a quick run."""
SECONDS = 10.0
LIMITS = {
    "drop after the limit point (deg)": 1,
    "limit point before the end of the drive (deg)": 1.0,
    "limit point, 5 against 8 modes (deg)": 0.04,
    "drive off the branch, above 2° (m)": 3e-4,
    "energy against the work of the motors, over that of the fall": 3e-3,
    "loop open by (m)": 2e-12,
}


def falling(t):  # type: ignore[no-untyped-def]
    """Base angle with the time as its fall (rad)."""
    return ANGLE - t


@cache
def branch(modes: int = MODES, mass: float = MASSES[MODES]) -> sp.Branch:
    """Equilibria from the risen robot, through the limit point."""
    robot = rfrfr_prototype(angle=falling, basis=modes, distance=DISTANCE, mass=mass)
    return sp.follow(robot, until=2 * ANGLE, step=0.02, largest=0.1, max_points=80, throw=False)


def limit_angle(found: sp.Branch) -> float:
    """Base angle at the limit point (deg)."""
    return float(np.degrees(ANGLE - found.limits[0].t))


@cache
def driven(until: float, modes: int = MODES) -> sp.Result:
    """The slow drive to zero, and what follows."""
    law = drive(SECONDS, end=0.0)
    robot = rfrfr_prototype(angle=law, basis=modes, distance=DISTANCE, mass=MASSES[modes])
    model = robot.build()
    held = sp.equilibrium(model)
    return sp.simulate(model, until, dt=5e-3, scheme=sp.radau(3), initial=held)


def path(result: sp.Result) -> tuple[np.ndarray, np.ndarray]:
    """Base angle (deg) and height of the platform (m)."""
    return np.degrees(result.joint("left").position[:, 0]), result.position("platform")[:, 1]


def work_error(result: sp.Result) -> float:
    """Energy gained less the work of both motors, at worst, over the energy of the fall."""
    power = sum(
        result.effort(f"{name} motor") * result.v[:, find_joint(result.model, name).v_start]
        for name in ("left", "right")
    )
    steps = np.diff(result.t) * (power[1:] + power[:-1]) / 2
    work = np.concatenate([[0.0], np.cumsum(steps)])
    gained = result.energies.total - result.energies.total[0]
    fall = total_mass(result.model) * 9.81 * np.ptp(result.position("platform")[:, 1])
    return float(np.abs(gained - work).max() / fall)


def measured(found: sp.Branch, result: sp.Result) -> dict[str, float]:
    angles, heights = path(result)
    drop = angles[np.flatnonzero(heights < 0.0)[0]]
    stable = found.unstable == 0
    known = np.degrees(ANGLE - found.t[stable])[::-1], found.position("platform")[stable, 1][::-1]
    before = angles > 2.0
    off = np.abs(np.interp(angles[before], *known) - heights[before]).max()
    return {
        "drop after the limit point (deg)": abs(float(limit_angle(found) - drop)),
        "limit point before the end of the drive (deg)": limit_angle(found),
        "drive off the branch, above 2° (m)": float(off),
        "energy against the work of the motors, over that of the fall": work_error(result),
        "loop open by (m)": float(np.abs(result.violation).max()),
    }


def refined() -> dict[str, float]:
    change = abs(limit_angle(branch()) - limit_angle(branch(8)))
    return {"limit point, 5 against 8 modes (deg)": change}


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: with three modes, until after the drop."""
    if quick:
        return measured(branch(3, MASSES[3]), driven(10.3, 3))
    return measured(branch(), driven(11.5)) | refined()


def main() -> None:
    from examples._picture import BLUE, GRAY, ORANGE, RED, figure, save, snapshots

    found, result = branch(), driven(11.5)
    fig, axes = figure(1, 3, (13.0, 4.4), width_ratios=(1.2, 1.1, 1))
    angle, height = np.degrees(ANGLE - found.t), found.position("platform")[:, 1]
    axes[0].plot(angle, height, "--", color=GRAY)
    axes[0].plot(angle, np.where(found.unstable == 0, height, np.nan), color=BLUE, linewidth=2.2)
    angles, heights = path(result)
    axes[0].plot(angles, heights, color=RED, linewidth=0.9)
    turn = int(np.argmax(found.t))
    axes[0].plot(limit_angle(found), height[turn], "o", color=ORANGE, ms=7)
    for style, color, label in (
        ("-", BLUE, "stable equilibria"),
        ("--", GRAY, "unstable equilibria"),
        ("o", ORANGE, f"limit point, {limit_angle(found):.1f}°"),
        ("-", RED, f"drive of {SECONDS:.0f} s"),
    ):
        axes[0].plot([], [], style, color=color, label=label)
    axes[0].invert_xaxis()
    axes[0].set(
        xlabel="base angle (deg), falling", ylabel="platform y (m)", title="Branch and path"
    )
    axes[0].legend(loc="lower left")

    crossing = int(np.flatnonzero(heights < 0.0)[0])
    lowest = crossing + int(np.argmin(heights[crossing : crossing + 40]))
    chosen = [0, int(np.searchsorted(-angles[:crossing], -10.0)), crossing - 30, crossing, lowest]
    left, right = (result.shape(name, 41).position[chosen] for name in ("left", "right"))
    shapes = [np.concatenate([a, b[::-1]]) for a, b in zip(left, right, strict=True)]
    mappable = snapshots(axes[1], shapes, result.t[chosen])
    fig.colorbar(mappable, ax=axes[1], label="time (s)", location="bottom", shrink=0.6)
    for shape in shapes:
        axes[1].plot(*shape[40, :2], "o", color=ORANGE, ms=5)
    axes[1].set_aspect("equal", adjustable="box")
    axes[1].set_title("Shapes")

    place = result.position("platform")
    axes[2].plot(result.t, place[:, 1], color=BLUE, label="height")
    axes[2].plot(result.t, place[:, 0], color=RED, label="sideways")
    axes[2].set(xlabel="time (s)", ylabel="platform (m)", title="Drop, bounce and sway")
    axes[2].set(xlim=(9.5, 11.5), ylim=(-0.25, 0.25))
    axes[2].legend(loc="upper right")
    save(fig, "drop")
    report("000 §4.9.2, drop", run(), LIMITS)


if __name__ == "__main__":
    main()
