"""002 §5.2: a robot with four tendons takes an object of 1 g from a table and drops it into a bin.

One run with three events: the object comes to the tip, is let go, and stays where it lands in the bin. Long
rests after each of them must end in the equilibrium of the robot as it then is; the fall is a parabola. The
same backbone with a helical tendon (Fig. 13) swings into a shape that bends everywhere differently.
"""

from dataclasses import replace

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.four_tendons import (
    BIN,
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
    "tip without the object at its rest (m)": 7e-9,
    "tip with the object at its rest (m)": 1e-4,
    "tip after the plan at its rest (m)": 1e-8,
    "jump of the tip when the object comes and goes (m)": 1e-12,
    "jump of the object's velocity when it is let go (m/s)": 1e-15,
    "flight of the object against a parabola (m)": 1e-14,
    "landing in the bin (s)": 1e-14,
    "fall under the object against the tip's compliance": 1e-3,
    "path, 4 modes against 8, 1/60 s (m)": 8e-6,
    "path, 1/60 s against 1/240 s (m)": 1.5e-2,
    "helix, tip at its rest (m)": 1e-9,
    "helix, 6 modes against 12 (m)": 2e-4,
}


EVENTS = (
    sp.Event(t=PICK, edit=sp.Add(OBJECT)),
    sp.Event(t=DROP, edit=sp.Release("object")),
    sp.Event(
        when=sp.Sensed("position", "object", "z", BIN),
        direction="falling",
        edit=sp.Attach("object", "ground"),
    ),
)
"""Taken, let go, landed. The last can only be waited for while there is an object: it begins with it."""


def transferred(basis: int = 4, dt: float = STEP) -> sp.Result:
    """Towards the object, with it, and after it."""
    robot = four_tendon_robot(basis)
    return sp.simulate(robot, END, dt=dt, initial=sp.equilibrium(robot), events=EVENTS)


def rests(run: sp.Result) -> dict[str, float]:
    """How far from its equilibrium the tip is if each part of the run goes on under its last tensions."""
    robot = four_tendon_robot()
    found = {}
    for name, part, loaded in (
        ("without the object", 0, False),
        ("with the object", 1, True),
        ("after the plan", -1, False),
    ):
        now = robot.adding(OBJECT) if loaded else robot
        held = _frozen(now, float(run.stretches[part].t[-1]))
        end = sp.simulate(held, REST, dt=STEP, initial=run.part(part)).position("backbone")[-1]
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


def jump(run: sp.Result) -> dict[str, float]:
    """The object changes nothing at once, and keeps its velocity when it is let go."""
    edits = np.flatnonzero(np.diff(run.t) == 0)
    tip, thrown = run.position("backbone"), run.twist("object")
    return {
        "jump of the tip when the object comes and goes (m)": float(
            np.abs(tip[edits + 1] - tip[edits]).max()
        ),
        "jump of the object's velocity when it is let go (m/s)": float(
            np.abs(thrown[edits[1] + 1] - thrown[edits[1]])[3:].max()
        ),
    }


def flight(run: sp.Result) -> dict[str, float]:
    """The object falls on a parabola, and lands when that reaches the bottom of the bin."""
    free = run.stretches[2]
    start = free.pose("object").rotation[0] @ free.twist("object")[0, 3:]
    t, place = free.t - free.t[0], free.position("object")
    parabola = place[0] + start * t[:, None] + [0, 0, -9.81 / 2] * t[:, None] ** 2
    landing = np.roots([-9.81 / 2, start[2], place[0, 2] - BIN]).max()
    return {
        "flight of the object against a parabola (m)": float(np.abs(place - parabola).max()),
        "landing in the bin (s)": float(abs(t[-1] - landing)),
    }


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


def refined(run: sp.Result) -> dict[str, float]:
    """How far the tip's path moves with more modes, or shorter steps, until the object is let go."""
    times = np.arange(0.0, DROP, STEP)
    tip, modes, steps = (
        one.sample(times).position("backbone")
        for one in (run, transferred(8), transferred(dt=STEP / 4))
    )
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
    whole = transferred()
    errors = rests(whole) | jump(whole) | flight(whole)
    return errors if quick else errors | fall() | refined(whole) | helix()


def main() -> None:
    from examples._picture import BLUE, GRAY, ORANGE, RED, SHADES, plain_box, plt, save

    whole = transferred()
    t, tip, thing = whole.t, whole.position("backbone"), whole.position("object")
    fig = plt.figure(figsize=(13.0, 4.6), layout="constrained")
    grid = fig.add_gridspec(2, 3, width_ratios=(1.2, 1.0, 1.0))
    space = fig.add_subplot(grid[:, 0], projection="3d")
    lines = whole.shape("backbone", 41).position
    moments = np.searchsorted(t, [0.0, PICK - STEP, 3.0, DROP - STEP, 4.7, END])
    for k, i in enumerate(moments):
        space.plot(*lines[i].T, color=SHADES(k / (len(moments) - 1)), linewidth=2.0)
        space.plot(*thing[i], "o", color=ORANGE, ms=6)
    space.plot(*tip.T, color=RED, linewidth=0.7)
    space.plot(*thing[whole.stretch >= 2].T, "--", color=ORANGE, linewidth=1.0)
    plain_box(space, np.concatenate([*lines[moments], tip, thing[whole.stretch >= 2]]))
    space.set(zlabel="")
    space.view_init(18, -25)
    space.set_title("Pale to dark in time; object orange, path red")
    height = fig.add_subplot(grid[0, 1])
    for column, color in ((1, BLUE), (2, RED)):
        height.plot(t, 1e3 * tip[:, column], color=color, label="xyz"[column])
    for instant, label in ((PICK, "taken"), (DROP, "dropped")):
        height.axvline(instant, color=GRAY, lw=1, ls="--")
        height.text(instant + 0.05, height.get_ylim()[0], label, fontsize=8, va="bottom")
    height.set(xlabel="time (s)", ylabel="tip (mm)", title="Tip")
    height.legend(loc="upper right")
    pulls = fig.add_subplot(grid[1, 1])
    for name in ("left", "up", "right", "down"):
        pulls.plot(t, whole.tendon(name).tension, label=name)
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
    report(f"002 §5.2: four tendons, L = {LENGTH} m", run(), LIMITS)


if __name__ == "__main__":
    main()
