"""How cost grows with the number of rods: one Newton iteration of stars, chains, trees, legs, nets, tendons.

All rods are alike: rubber, 0.3 m long, three modes for each of bending twice and torsion. They hang along
gravity, which is tilted a little, so that every robot moves and has an equilibrium near its described shape.
The error is that of the steps: the distance of the last frame, at the end, from a run at half the step (or a
tenth of the accuracy), over the length of a rod; in statics, from a second solve that starts at the first.
"""

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from supple.bench.rods import on_one_core
from supple.errors import SuppleError
from supple.model.model import Model
from supple.robot.actuators import Spring, Tendon
from supple.robot.items import Body, Closure, PrescribedCoordinate, Rod
from supple.robot.joint import Fixed, Free, Revolute
from supple.robot.robot import Robot
from supple.run.simulate import simulate
from supple.run.statics import equilibrium
from supple.section import Circle, Material, StiffnessDamping
from supple.system.linear import plan_of
from supple.time.alpha import generalized_alpha

RUBBER = Material(E=1e7, density=1100.0, damping=StiffnessDamping(0.01))
LENGTH = 0.3
GRAVITY = (9.0, 0.5, -1.0)
DURATION = 0.2
"""Of the timed runs (s)."""
STEP = 0.01
ACCURACY = 1e-3
NET_CURVATURE = 1.0
"""Of the rods of a net at rest (1/m)."""
TENDON, HINGE = 4e-3, 0.01
"""Distance (m) of tendons from the middle of rods, and of hinges from their ends."""
SIZES = (32, 320)
FULL_SIZES = (1, 4, 16, 32, 100, 320, 1000)
SCHEMES = ("generalized-alpha", "radau", "equilibrium")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: str
    rods: int
    loops: int
    n_dof: int
    scheme: str
    linear: str
    newton_us: float
    us_per_rod: float
    step_ms: float
    build_s: float
    start_s: float
    compile_s: float
    memory_mb: float
    tip_error: float
    status: str

    def as_dict(self) -> dict[str, Any]:
        """Everything by name."""
        return asdict(self)


def _rod(name: str, **options: Any) -> Rod:
    shared = dict(length=LENGTH, section=Circle(0.01), material=RUBBER, basis=3, nodes=6)
    return Rod(name, **{**shared, **options})


def star(rods: int) -> Robot:
    """Rods on the ground, side by side."""
    return _robot([_rod(f"rod{i}", position=(0.0, 0.1 * i, 0.0)) for i in range(rods)])


def chain(rods: int) -> Robot:
    """Each rod on the tip of the one before."""
    return _robot([_rod(f"rod{i}", **_on(i - 1)) for i in range(rods)])


def tree(rods: int) -> Robot:
    """A binary tree."""
    return _robot(
        [
            _rod(
                f"rod{i}",
                rotation=(0, 0, 0.3 * (-1) ** i if i else 0.0),
                **_on((i - 1) // 2 if i else -1),
            )
            for i in range(rods)
        ]
    )


def legs(rods: int) -> Robot:
    """A floating plate on clamped legs; straight ones up to six, bent at rest beyond."""
    bent = 0.0 if rods <= 6 else 1.0
    plate = Body(
        "plate",
        joint=Free(),
        position=(LENGTH, 0.0, 0.0),
        mass=0.1 * rods,
        inertia=(1e-3 * rods,) * 3,
    )
    items: list[Any] = [plate]
    for i in range(rods):
        angle = 2 * np.pi * i / rods
        place = (0.0, 0.1 * np.cos(angle), 0.1 * np.sin(angle))
        rest = (0.0, 0.0, bent, 1.0, 0.0, 0.0)
        items.append(_rod(f"rod{i}", position=place, rest=rest))
        end = _arc_end(bent)
        there = tuple(np.asarray(place) + end[0] - np.array([LENGTH, 0.0, 0.0]))
        items.append(
            Closure(
                f"clamp{i}",
                on="plate",
                to=f"rod{i}",
                to_fraction=1.0,
                joint=Fixed(),
                position=there,
                rotation=end[1],
            )
        )
    return _robot(items)


def _arc_end(curvature: float) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Where a rod of this curvature about z ends, and how it is turned there."""
    angle = curvature * LENGTH
    if angle == 0:
        return np.array([LENGTH, 0.0, 0.0]), (0.0, 0.0, 0.0)
    place = np.array([np.sin(angle), 1 - np.cos(angle), 0.0]) / curvature
    return place, (0.0, 0.0, angle)


def net(rods: int) -> Robot:
    """A square grid of about as many rods, hung up at one side; rods are bent at rest, junctions float.

    Straight rods without stretch would leave their tensions undetermined.
    """
    cells = max(1, round((np.sqrt(1 + 2 * rods) - 1) / 2))
    half = 0.5 * NET_CURVATURE * LENGTH
    apart = 2 * np.sin(half) / NET_CURVATURE
    bent = dict(rest=(0.0, 0.0, NET_CURVATURE, 1.0, 0.0, 0.0))
    items: list[Any] = []
    for i in range(cells + 1):
        for j in range(cells + 1):
            name, place = f"joint{i}_{j}", (apart * i, apart * j, 0.0)
            held = Fixed() if i == 0 else Free()
            items.append(Body(name, position=place, joint=held, mass=0.02, inertia=(1e-5,) * 3))
            ways = [("x", f"joint{i + 1}_{j}", 0.0)] if i < cells else []
            ways += [("y", f"joint{i}_{j + 1}", np.pi / 2)] if j < cells and i > 0 else []
            for axis, to, angle in ways:
                rod, turned = f"{axis}{i}_{j}", (0.0, 0.0, angle - half)
                items.append(_rod(rod, parent=name, rotation=turned, **bent))
                end: dict[str, Any] = dict(
                    to=rod, to_fraction=1.0, joint=Fixed(), rotation=(0.0, 0.0, angle + half)
                )
                items.append(Closure(f"closed_{rod}", on=to, **end))
    return _robot(items)


def driven(rods: int) -> Robot:
    """A chain that is driven everywhere.

    Three elastic tendons a rod, one through all of them, a spring between every second pair of rods, and
    every tenth joint a hinge whose angle is imposed.
    """
    items: list[Any] = []
    for i in range(rods):
        turns: dict[str, Any] = {}
        if i % 10 == 9:
            items.append(PrescribedCoordinate(f"angle{i}", on=f"rod{i}", value=0.0))
            turns = dict(joint=Revolute("z"), position=(HINGE, 0.0, 0.0))
        items.append(_rod(f"rod{i}", **_on(i - 1), **turns))
        for k in range(3):
            angle = 2 * np.pi * k / 3
            offset = (TENDON * np.cos(angle), TENDON * np.sin(angle))
            items.append(Tendon(f"tendon{i}_{k}", on=f"rod{i}", offset=offset, **_taut(1, 1.0)))
        if i % 2 == 1:
            side = (0.0, 0.02, 0.0)
            ends: dict[str, Any] = dict(on=f"rod{i - 1}", fraction=0.5, position=side)
            ends |= dict(to=f"rod{i}", to_fraction=0.5, to_position=side)
            items.append(Spring(f"spring{i}", stiffness=10.0, damping=0.1, **ends))
    along = [f"rod{i}" for i in range(rods)]
    items.append(Tendon("long", on=along, offset=(0.0, TENDON), **_taut(rods, 1e-3)))
    return _robot(items)


def _taut(rods: int, tension: float) -> dict[str, Any]:
    """An elastic tendon along so many rods, tight at the start."""
    stiffness = 500.0 / rods
    return dict(pull=tension / stiffness, stiffness=stiffness, damping=1.0 / rods)


CASES: dict[str, Callable[[int], Robot]] = {
    "star": star,
    "chain": chain,
    "tree": tree,
    "legs": legs,
    "net": net,
    "driven": driven,
}


def _on(parent: int) -> dict[str, Any]:
    return {"parent": f"rod{parent}"} if parent >= 0 else {}


def _robot(items: list[Any]) -> Robot:
    return Robot(*items, gravity=GRAVITY, name="growth")


def run_growth(
    cases: list[str] | None = None,
    sizes: list[int] | None = None,
    schemes: list[str] | None = None,
    repeats: int = 2,
    full: bool = False,
) -> Iterator[Row]:
    """Run the benches; times are the best of ``repeats`` warm runs on one core."""
    for case in cases or CASES:
        for size in sizes or (FULL_SIZES if full else SIZES):
            for scheme in schemes or SCHEMES:
                yield run_case(case, size, scheme, repeats)


def run_case(case: str, rods: int, scheme: str, repeats: int = 2) -> Row:
    """One row: build, compile, then time warm runs from a ready model."""
    begun = time.perf_counter()
    model = CASES[case](rods).build()
    built = time.perf_counter() - begun
    count = len(model.topology.rod_slots)
    run = {"generalized-alpha": _alpha, "radau": _radau, "equilibrium": _statics}[scheme]
    before = _memory()
    status, cold, wall, start, iterations, steps, error = "DONE", *(float("nan"),) * 6
    try:
        begun = time.perf_counter()
        run(model, DURATION)
        cold = time.perf_counter() - begun
        with on_one_core():
            wall, (outcome, iterations, steps) = _best(lambda: run(model, DURATION), repeats)
            if scheme != "equilibrium":
                short, _ = _best(lambda: run(model, STEP / 10), repeats)
                start = max(0.0, short - wall / max(steps, 1))
            else:
                start = 0.0
        status = outcome.status.name
        error = _error(model, scheme, outcome)
    except SuppleError as failed:
        status = f"FAILED: {failed}"
    per = 1e6 * wall / max(iterations, 1)
    return Row(
        case=case,
        rods=count,
        loops=len(model.closures.names),
        n_dof=model.nv,
        scheme=scheme,
        linear=linear_kind(model),
        newton_us=per,
        us_per_rod=per / count,
        step_ms=1e3 * wall / max(steps, 1),
        build_s=built,
        start_s=start,
        compile_s=max(0.0, cold - wall),
        memory_mb=max(0.0, _memory() - before),
        tip_error=error,
        status=status,
    )


def linear_kind(model: Model) -> str:
    """How linear systems are solved: one block is the simplest structure."""
    alone = model.topology.elements == 1 and not model.equations
    return "structured" if alone or plan_of(model) is not None else "dense"


def _best(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    walls = []
    for _ in range(repeats):
        begun = time.perf_counter()
        outcome = run()
        walls.append(time.perf_counter() - begun)
    return min(walls), outcome


def _alpha(model: Model, duration: float, finer: int = 1) -> tuple[Any, float, float]:
    found = simulate(model, duration, dt=STEP / finer, scheme=generalized_alpha(), throw=False)
    return found, float(np.sum(found.newton)), float(len(found) - 1)


def _radau(model: Model, duration: float, finer: int = 1) -> tuple[Any, float, float]:
    found = simulate(model, duration, accuracy=ACCURACY / finer, throw=False)
    return found, float(np.sum(found.newton)), float(len(found) - 1)


def _statics(model: Model, duration: float, finer: int = 1) -> tuple[Any, float, float]:
    found = equilibrium(model)
    return found, float(found.iterations), float(found.increments)


def _error(model: Model, scheme: str, outcome: Any) -> float:
    frame = model.topology.frames[-1].name
    if scheme == "equilibrium":
        again = equilibrium(model, initial=outcome)
        apart = np.asarray(outcome.position(frame)) - np.asarray(again.position(frame))
        return float(np.linalg.norm(apart) / LENGTH)
    finer = (_alpha if scheme == "generalized-alpha" else _radau)(
        model, DURATION, 2 if scheme == "generalized-alpha" else 10
    )[0]
    apart = np.asarray(outcome.position(frame))[-1] - np.asarray(finer.position(frame))[-1]
    return float(np.linalg.norm(apart) / LENGTH)


def _memory() -> float:
    """Largest memory of the process so far (MB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
