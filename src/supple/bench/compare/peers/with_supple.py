"""Supple itself, by the same protocol as its peers.

A resolution is [accuracy] for runs that choose modes and steps themselves, [modes, steps] for robots of many
rods, and [modes, step in s] for a fleet.
"""

import common
import numpy as np

from supple.bench.rods import CASES
from supple.expression import Expression
from supple.fleet.batch import batch
from supple.model.laws import Function, Input
from supple.robot.actuators import Tendon
from supple.robot.items import Body, Closure, Rod
from supple.robot.joint import Fixed, Planar
from supple.robot.robot import Robot
from supple.robots.rfrfr import rfrfr
from supple.run.rollout import rollout
from supple.run.simulate import simulate
from supple.run.statics import assemble, equilibrium
from supple.section import Circle, Material, StiffnessDamping
from supple.time.alpha import generalized_alpha


def watched(model, start, task, accuracy, name="rod"):
    """The motion to an accuracy, and the tip at the instants."""
    times = np.asarray(task["times"])

    def run():
        found = simulate(model, task["duration"], initial=start, accuracy=accuracy)
        return np.asarray(found.sample(np.minimum(times, found.t[-1])).position(name))

    return run


def rods(task, resolution):
    """The rod benches as they are shipped."""
    (accuracy,) = resolution
    case = CASES[task["task"]]
    robot, start = case.build(), None
    model = robot.build(accuracy)
    if case.released:
        start = equilibrium(model)
        model = robot.removing(case.released).build(accuracy)
    return f"modes and steps chosen for {accuracy:g}", watched(model, start, task, accuracy)


def loop(task, resolution):
    """Two rods on motors, closed by a hinge."""
    (accuracy,) = resolution
    model = rfrfr(basis="auto").build(accuracy)
    run = watched(model, assemble(model), task, accuracy, "left")
    return f"modes and steps chosen for {accuracy:g}", run


def silicone(task, law, modes):
    """The arm with its tendon; rods stretch and shear in the plane."""
    material = Material(
        E=task["E"], G=task["G"], density=task["density"],
        damping=StiffnessDamping(task["damping"]),
    )  # fmt: skip
    return Robot(
        Rod(
            "rod", task["length"], Circle(task["radius"]), material,
            strains="planar-reissner", basis=modes,
        ),
        Tendon("tendon", on="rod", offset=(task["offset"], 0.0), tension=law),
        gravity=tuple(task["gravity"]),
    )  # fmt: skip


def arm(task, resolution):
    """One arm, to an accuracy."""
    (accuracy,) = resolution
    half, turn = 0.5 * task["peak"], 2 * np.pi / task["period"]
    law = Function(Expression(f"{half} * (1 - cos({turn} * t))", "t"))
    model = silicone(task, law, "auto").build(accuracy)
    return f"modes and steps chosen for {accuracy:g}", watched(model, None, task, accuracy)


def fleet(task, resolution):
    """All arms as one program; tendon forces are held at their values in the middle of each step."""
    modes, dt = resolution
    model = silicone(task, Input("pull"), modes).build()
    steps = round(task["duration"] / dt)
    pull = common.tension(dt * (np.arange(steps) + 0.5), task)
    scales = np.asarray(task["scales"])

    def one(scale):
        found = rollout(
            model, None, None, dt, steps, inputs={"pull": scale * pull},
            observe=lambda seen: seen.position("rod"),
        )  # fmt: skip
        return found.observations[-1]

    all_of_them = batch(one)
    words = f"{modes} modes a strain, generalized-α at {1e3 * dt:g} ms, one program for all"
    return words, lambda: np.asarray(all_of_them(scales))


def many(task, resolution):
    """The chain and the net: given modes and steps."""
    modes, steps = resolution
    material = Material(E=task["E"], G=task["G"], density=task["density"])
    strains = "planar-extensible" if task["kind"] == "chain" else "planar-reissner"

    def rod(name, **more):
        section = Circle(task["radius"])
        sizes = {"strains": strains, "basis": modes, "nodes": modes + 2}
        return Rod(name, task["length"], section, material, **sizes, **more)

    items = chain(task, rod) if task["kind"] == "chain" else net(task, rod)
    model = Robot(*items, gravity=tuple(task["gravity"])).build()
    names = task["ends"] = (
        [f"rod{i}" for i in range(task["rods"])] if task["kind"] == "chain"
        else [f"joint{i}_{j}" for i in range(1, task["cells"] + 1) for j in range(task["cells"] + 1)]
    )  # fmt: skip
    dt, scheme = task["duration"] / steps, generalized_alpha(0.8)

    def run():
        found = simulate(model, task["duration"], dt=dt, scheme=scheme)
        return np.stack([np.asarray(found.position(name))[-1] for name in names])

    return f"{modes} modes a strain and rod, generalized-α 0.8 at fixed steps", run


def chain(task, rod):
    """Each rod on the tip of the one before."""
    return [rod(f"rod{i}", **({"parent": f"rod{i - 1}"} if i else {})) for i in range(task["rods"])]


def net(task, rod):
    """A square grid of straight rods; its crossings are bodies, held at one side."""
    cells, L, items = task["cells"], task["length"], []
    for i in range(cells + 1):
        for j in range(cells + 1):
            name, held = f"joint{i}_{j}", Planar("z") if i else Fixed()
            items.append(
                Body(
                    name, position=(L * i, L * j, 0.0), joint=held, mass=task["joint_mass"],
                    inertia=(1e-5,) * 3,
                )
            )  # fmt: skip
            ways = [("x", f"joint{i + 1}_{j}", 0.0)] if i < cells else []
            ways += [("y", f"joint{i}_{j + 1}", np.pi / 2)] if j < cells and i > 0 else []
            for axis, to, angle in ways:
                turned = {"rotation": (0.0, 0.0, angle)}
                items.append(rod(f"{axis}{i}_{j}", parent=name, **turned))
                items.append(
                    Closure(
                        f"closed_{axis}{i}_{j}", on=to, to=f"{axis}{i}_{j}", to_fraction=1.0,
                        joint=Fixed(), **turned,
                    )
                )  # fmt: skip
    return items


KINDS = {
    "cantilever": rods, "flying": rods, "rfrfr": loop, "arm": arm, "fleet": fleet,
    "chain": many, "net": many,
}  # fmt: skip

if __name__ == "__main__":
    common.serve(
        "supple", lambda task, resolution: KINDS[task["kind"]](task, resolution), compiles=True
    )
