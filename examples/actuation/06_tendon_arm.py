"""An arm of two sections draws a circle with the tip of its tool, driven by the lengths of six tendons.

Inverse statics finds the lengths: Gauss-Newton with the exact derivative of the equilibrium. Six lengths for
three coordinates leave a choice; the smallest change is taken, so that the tendons stay taut. The lengths as
splines of time then drive the arm in earnest: slowly it draws the circle, faster it strays.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.tendon_arm import home_pull, tendon_arm, tendon_names

RADIUS, RISE = 0.06, 0.01
"""Of the circle, and above the tip at home (m)."""
APPROACH, POINTS = 8, 24
"""Targets on the way to the circle and round it."""
LIMITS = {
    "tip from the circle, at rest (m)": 1e-9,
    "derivative of the tip by the lengths against differences": 1e-6,
    "slack: least tension below 1 N (N)": 1e-12,
    "tip from the circle, once round in 60 s (m)": 5e-4,
    "tip, 3 modes against 6 (m)": 1e-3,
}


def circle(home: np.ndarray) -> np.ndarray:
    """Targets (n, 3): from the tip at home to the circle, and once round it."""
    step = 2 * np.pi / POINTS
    angle = step * np.arange(-APPROACH, POINTS + 1)
    # It winds outwards and meets the circle along its tangent.
    share = np.sin(np.pi / 2 * np.clip(1 + angle / (step * APPROACH), 0.0, 1.0)) ** 2
    line = np.stack([RADIUS * np.cos(angle), RADIUS * np.sin(angle), 0 * angle + RISE], axis=1)
    return home + share[:, None] * line


def solved(basis: int = 3) -> tuple[sp.Equilibrium, np.ndarray, sp.InverseStatics]:
    """Home, targets, and the lengths that lead to them."""
    home = sp.equilibrium(tendon_arm(basis=basis))
    targets = circle(home.position("tip"))
    return home, targets, sp.inverse_statics(home.model, "tip", targets, initial=home)


def pulls(found: sp.InverseStatics, seconds: float) -> dict[str, sp.Spline]:
    """Lengths as splines of time, from target to target in equal times."""
    times = seconds / POINTS * np.arange(APPROACH + POINTS + 1)
    return {name: sp.Spline(times, found.inputs[name]) for name in tendon_names()}


def drawn(found: sp.InverseStatics, seconds: float) -> sp.Result:
    """The arm driven along the path."""
    model = tendon_arm(pulls(found, seconds)).build()
    held = sp.equilibrium(model)
    duration = seconds * (1 + APPROACH / POINTS)
    return sp.simulate(model, duration, dt=seconds / 600, initial=held)


def off_circle(result: sp.Result, home: sp.Equilibrium) -> float:
    """Largest distance (m) of the tip from the circle once it is there."""
    tip = result.position("tip")[result.t >= result.t[-1] * APPROACH / (APPROACH + POINTS)]
    radial = np.hypot(tip[:, 0], tip[:, 1]) - RADIUS
    height = tip[:, 2] - home.position("tip")[2] - RISE
    return float(np.hypot(radial, height).max())


def derivative_error(home: sp.Equilibrium, found: sp.InverseStatics) -> float:
    """Of the tip by the first pull at home, the first target, against a central difference."""
    small, tips = 1e-5, []
    for sign in (1, -1):
        laws = {name: sp.Input(name, home_pull(name)) for name in tendon_names()}
        first = tendon_names()[0]
        laws[first] = sp.Input(first, home_pull(first) + sign * small)
        tips.append(sp.equilibrium(tendon_arm(laws), initial=home).position("tip"))
    by_difference = (tips[0] - tips[1]) / (2 * small)
    exact = found.jacobian[0, :, 0]
    return float(np.abs(exact - by_difference).max() / np.abs(by_difference).max())


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: statics only."""
    home, _, found = solved()
    errors = {
        "tip from the circle, at rest (m)": float(found.error.max()),
        "derivative of the tip by the lengths against differences": derivative_error(home, found),
        "slack: least tension below 1 N (N)": max(0.0, 1.0 - float(found.multipliers.min())),
    }
    if quick:
        return errors
    slow = drawn(found, 60.0)
    errors["tip from the circle, once round in 60 s (m)"] = off_circle(slow, home)
    fine = tendon_arm({n: sp.Input(n, found.inputs[n][-1]) for n in tendon_names()}, basis=6)
    coarse = circle(home.position("tip"))[-1]
    gap = np.linalg.norm(sp.equilibrium(fine).position("tip") - coarse)
    errors["tip, 3 modes against 6 (m)"] = float(gap)
    return errors


def main() -> None:
    from examples._picture import BLUE, GRAY, ORANGE, RED, plain_box, plt, save

    _, targets, found = solved()
    slow, fast = drawn(found, 60.0), drawn(found, 1.5)
    fig = plt.figure(figsize=(13.0, 4.6), layout="constrained")
    grid = fig.add_gridspec(2, 3, width_ratios=(1.2, 1.0, 1.1))
    space = fig.add_subplot(grid[:, 0], projection="3d")
    every = [targets]
    for i in range(len(slow) - 600, len(slow), 120):
        for name, color in (("inner", BLUE), ("outer", ORANGE)):
            line = slow.shape(name, 31).position[i]
            space.plot(*line.T, color=color, linewidth=2.0)
            every.append(line)
        tool = np.stack([line[-1], slow.position("tip")[i]])
        space.plot(*tool.T, color=GRAY, linewidth=3.0)
        every.append(tool)
    space.plot(*targets.T, ".", color=RED, ms=4)
    plain_box(space, np.concatenate(every))
    space.set(ylabel="", zlabel="")
    space.set_title("Sections, tool, and targets (red)")
    top = fig.add_subplot(grid[:, 1])
    for result, color, label in ((slow, BLUE, "60 s a round"), (fast, RED, "1.5 s a round")):
        tip = 1e3 * result.position("tip")
        top.plot(tip[:, 0], tip[:, 1], color=color, lw=1.2, label=label)
    top.plot(*(1e3 * targets[:, :2].T), ".", color=GRAY, ms=5)
    top.set_aspect("equal")
    top.set(xlabel="x (mm)", ylabel="y (mm)", title="Tip from above")
    top.legend(loc="center", bbox_to_anchor=(0.5, 0.7))
    lengths, tensions = (fig.add_subplot(grid[i, 2]) for i in range(2))
    for i, name in enumerate(tendon_names()):
        look = {"color": (BLUE, RED, ORANGE)[i % 3], "ls": "-" if i < 3 else "--", "lw": 1.2}
        lengths.plot(1e3 * (found.inputs[name] - home_pull(name)), label=name, **look)
        tensions.plot(found.multipliers[:, i], **look)
    lengths.set(ylabel="pull from home (mm)", title="Tendons", xlabel="target")
    lengths.set_ylim(top=11.0)
    lengths.legend(ncols=6, fontsize=6, loc="upper left", columnspacing=1.0)
    tensions.set(ylabel="tension (N)", xlabel="target")
    save(fig, "tendon_arm")
    report("Two-section arm draws a circle", run(), LIMITS)


if __name__ == "__main__":
    main()
