"""002 §5.2: a robot with four tendons takes an object of 1 g from a table and drops it into a bin.

Three runs, each from the end of the one before: the robot alone, with the object on its tip, alone again.
Each long rest must end in the equilibrium of the robot as it then is. The same backbone with a helical tendon
(Fig. 13) swings into a shape that twists and bends everywhere differently.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.four_tendons import (
    DROP,
    END,
    LENGTH,
    OBJECT,
    PICK,
    PLAN,
    four_tendon_robot,
    helical_tendon_robot,
)  # fmt: skip

STEP = 1 / 60
REST = 60.0
"""Time (s) after which little is left of the swing: with the object it loses a tenth every second."""
LIMITS = {
    "tip without the object at its rest (m)": 1e-4,
    "tip with the object at its rest (m)": 1e-4,
    "tip after the plan at its rest (m)": 1e-4,
    "jump of the tip when the object comes and goes (m)": 1e-12,
    "fall under the object against the tip's compliance": 2e-2,
    "path, 4 modes against 8, 1/60 s (m)": 1e-3,
    "path, 1/60 s against 1/240 s (m)": 1.5e-2,
    "helix, tip at its rest (m)": 1e-4,
    "helix, 6 modes against 12 (m)": 1e-3,
}


def transferred(basis: int = 4, dt: float = STEP) -> list[sp.Result]:
    """Towards the object, with it, and after it."""
    robot = four_tendon_robot(basis)
    options = {"dt": dt, "throw": True}
    first = sp.simulate(robot, PICK, initial=sp.equilibrium(robot), **options)
    second = sp.simulate(robot.adding(OBJECT), DROP - PICK, initial=first, **options)
    return [first, second, sp.simulate(robot, END - DROP, initial=second, **options)]


def path(parts: list[sp.Result]) -> tuple[np.ndarray, np.ndarray]:
    """Instants and positions of the tip over all runs."""
    t = np.concatenate([part.t for part in parts])
    return t, np.concatenate([part.position("backbone") for part in parts])


def rests(parts: list[sp.Result]) -> dict[str, float]:
    """How far from its equilibrium the tip is if each run goes on under its last tensions."""
    robot = four_tendon_robot()
    names = ("without the object", "with the object", "after the plan")
    found = {}
    for name, part, loaded in zip(names, parts, (False, True, False), strict=True):
        now = robot.adding(OBJECT) if loaded else robot
        held = _frozen(now, float(part.t[-1]))
        end = sp.simulate(held, REST, dt=STEP, initial=part).position("backbone")[-1]
        apart = np.linalg.norm(end - sp.equilibrium(held).position("backbone"))
        found[f"tip {name} at its rest (m)"] = float(apart)
    return found


def _frozen(robot: sp.Robot, t: float) -> sp.Robot:
    """The robot under the tensions of one instant; tables of the same instants compile only once."""
    tendons = [item for item in robot.items if isinstance(item, sp.Tendon)]
    now = {item.name: float(np.interp(t, *PLAN[item.name])) for item in tendons}
    return robot.replacing(
        *(
            replace(item, tension=sp.Table(PLAN[item.name][0], (now[item.name],) * 4))
            for item in tendons
        )
    )


def jump(parts: list[sp.Result]) -> dict[str, float]:
    """The object changes nothing at once."""
    tips = [part.position("backbone") for part in parts]
    largest = max(np.abs(b[0] - a[-1]).max() for a, b in pairwise(tips))
    return {"jump of the tip when the object comes and goes (m)": float(largest)}


def fall() -> dict[str, float]:
    """At rest the object changes what the compliance of the tip says."""
    robot = _frozen(four_tendon_robot(), PICK)
    alone, loaded = (sp.equilibrium(r) for r in (robot, robot.adding(OBJECT)))
    weight = np.array([0.0, 0.0, -9.81 * OBJECT.mass])
    # Half the weight is the middle of the way: the tangent there leaves an error of third order.
    halfway = sp.Wrench("half", on="backbone", force=weight / 2)
    between = sp.equilibrium(robot.adding(halfway))
    jacobian = np.asarray(between.frame("backbone").jacobian)[3:]
    turned = np.asarray(between.frame("backbone").pose.rotation) @ jacobian
    stiffness = np.asarray(sp.linearize(robot.adding(halfway), at=between).stiffness)
    expected = turned @ np.linalg.solve(stiffness, turned.T @ weight)
    moved = loaded.position("backbone") - alone.position("backbone")
    relative = np.linalg.norm(moved - expected) / np.linalg.norm(expected)
    return {"fall under the object against the tip's compliance": float(relative)}


def refined(parts: list[sp.Result]) -> dict[str, float]:
    """How far the tip's path moves with more modes, or shorter steps."""
    tip = path(parts)[1]
    modes = path(transferred(8))[1]
    fine = [part.position("backbone")[::4] for part in transferred(dt=STEP / 4)]
    steps = np.concatenate(fine)
    return {
        "path, 4 modes against 8, 1/60 s (m)": float(np.linalg.norm(tip - modes, axis=1).max()),
        "path, 1/60 s against 1/240 s (m)": float(np.linalg.norm(tip - steps, axis=1).max()),
    }


def helix() -> dict[str, float]:
    """The robot with one helical tendon, which comes to rest."""
    robot = helical_tendon_robot()
    end = sp.simulate(robot, REST, dt=STEP).position("backbone")[-1]
    held = sp.equilibrium(robot, t=REST).position("backbone")
    fine = sp.equilibrium(helical_tendon_robot(basis=12, modes_of_twist=8), t=REST)
    return {
        "helix, tip at its rest (m)": float(np.linalg.norm(end - held)),
        "helix, 6 modes against 12 (m)": float(np.linalg.norm(fine.position("backbone") - held)),
    }


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: only the plan and its rests."""
    parts = transferred()
    errors = rests(parts) | jump(parts)
    return errors if quick else errors | fall() | refined(parts) | helix()


def main() -> None:
    from examples._picture import BLUE, GREY, ORANGE, RED, SHADES, plain_box, plt, save

    parts = transferred()
    fig = plt.figure(figsize=(13.0, 4.6), layout="constrained")
    grid = fig.add_gridspec(2, 3, width_ratios=(1.2, 1.0, 1.0))
    space = fig.add_subplot(grid[:, 0], projection="3d")
    every = []
    moments = [(0, 0), (0, -1), (1, 60), (1, -1), (2, 10), (2, -1)]
    for k, (part, i) in enumerate(moments):
        line = parts[part].shape("backbone", 41).position[i]
        space.plot(*line.T, color=SHADES(k / (len(moments) - 1)), linewidth=2.0)
        if part == 1:
            space.plot(*line[-1], "o", color=ORANGE, ms=6)
        every.append(line)
    t, tip = path(parts)
    space.plot(*tip.T, color=RED, linewidth=0.7)
    every.append(tip)
    plain_box(space, np.concatenate(every))
    space.set(zlabel="")
    space.view_init(18, -25)
    space.set_title("Pale to dark in time; object orange, path red")
    height = fig.add_subplot(grid[0, 1])
    for column, colour in ((1, BLUE), (2, RED)):
        height.plot(t, 1e3 * tip[:, column], color=colour, label="xyz"[column])
    for instant, label in ((PICK, "taken"), (DROP, "dropped")):
        height.axvline(instant, color=GREY, lw=1, ls="--")
        height.text(instant + 0.05, height.get_ylim()[0], label, fontsize=8, va="bottom")
    height.set(xlabel="time (s)", ylabel="tip (mm)", title="Tip")
    height.legend(loc="upper right")
    pulls = fig.add_subplot(grid[1, 1])
    for name in ("left", "up", "right", "down"):
        pulls.plot(t, np.concatenate([part.tendon(name).tension for part in parts]), label=name)
    pulls.set(xlabel="time (s)", ylabel="tension (N)", title="Tendons")
    pulls.legend(ncols=2)
    twisted = fig.add_subplot(grid[:, 2], projection="3d")
    lines = []
    for tension, share in ((1.0, 0.1), (3.0, 0.5), (5.0, 1.0)):
        line = sp.equilibrium(helical_tendon_robot(tension)).shape("backbone", 81)
        twisted.plot(*line.position.T, color=SHADES(share), linewidth=2.2)
        lines.append(line.position)
    plain_box(twisted, np.concatenate(lines))
    twisted.set(zlabel="")
    twisted.set_title("Helical tendon: 1, 3, 5 N")
    save(fig, "pick_and_drop")
    errors = rests(parts) | jump(parts) | fall() | refined(parts) | helix()
    report(f"002 §5.2: four tendons, L = {LENGTH} m", errors, LIMITS)


if __name__ == "__main__":
    main()
