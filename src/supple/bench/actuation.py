"""Benches of driven robots: tendons, fluid chambers, a swimmer.

There is no independent solution; the error is the largest distance of the tip over the whole run, over the
robot's length, from a run with twice the modes at half the step.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from supple.bench.rods import Row, on_one_core
from supple.results.result import Result
from supple.robot.robot import Robot
from supple.robots import fluidic_finger as fingers, four_tendons as tendons
from supple.robots.swimmer import LENGTHS, swimmer
from supple.run.simulate import simulate
from supple.run.statics import equilibrium


@dataclass(frozen=True)
class Case:
    """A robot by its number of modes, the frame that is its tip, its length (m), duration and step (s)."""

    name: str
    preset: str
    build: Callable[[int], Robot]
    modes: int
    tip: str
    length: float
    duration: float
    dt: float
    held: bool = False
    """Whether it starts from equilibrium."""


def loaded_tendon_robot(modes: int) -> Robot:
    """The robot of 002 §5.2 with the object on its tip all along; half as many modes of twist."""
    return tendons.four_tendon_robot(modes, (modes + 1) // 2).adding(tendons.OBJECT)


def finger(fluid: str, modes: int) -> Robot:
    """The finger of 002 §5.3.3; as many nodes as integrate the squares of its strains with some to spare."""
    return fingers.fluidic_finger(fluid, modes, nodes=modes + 2)


def swimming(modes: int) -> Robot:
    """The swimmer of 000 §3.9.3; more nodes would move its path by less than a tenth of its error."""
    return swimmer(modes=modes, nodes=modes + 4)


BACKBONE = ("backbone", tendons.LENGTH, tendons.END, 1 / 60)
FINGER = ("finger", fingers.LENGTH, fingers.END, 0.01)
SWIMMER = ("tail", sum(LENGTHS.values()), 4.0, 0.01)
CASES = {
    case.name: case
    for case in (
        Case("tendon-robot", "60Hz", loaded_tendon_robot, 3, *BACKBONE, held=True),
        Case("finger-water", "10ms", partial(finger, "water"), 2, *FINGER),
        Case("finger-air", "10ms", partial(finger, "air"), 2, *FINGER),
        Case("swimmer", "10ms", swimming, 5, *SWIMMER),
    )
}


def run_actuation(cases: list[str] | None = None, repeats: int = 5) -> Iterator[Row]:
    """Run the benches; wall times are the best of ``repeats`` warm runs on one core."""
    for name in cases or CASES:
        yield run_case(CASES[name], repeats)


def tip_error(case: Case, result: Result) -> float:
    """Largest distance of the tip from a finer run, over length."""
    finer = case.build(2 * case.modes).build()
    start = equilibrium(finer) if case.held else None
    fine = simulate(finer, case.duration, dt=case.dt / 2, initial=start, throw=False)
    apart = result.position(case.tip) - fine.position(case.tip)[::2]
    return float(np.linalg.norm(apart, axis=1).max() / case.length)


def run_case(case: Case, repeats: int = 5) -> Row:
    """One row: compile, then time warm runs from a ready model."""
    model = case.build(case.modes).build()
    start = equilibrium(model) if case.held else None
    begun = time.perf_counter()
    result = simulate(model, case.duration, dt=case.dt, initial=start, throw=False)
    cold = time.perf_counter() - begun
    walls = []
    with on_one_core():
        for _ in range(repeats):
            begun = time.perf_counter()
            result = simulate(model, case.duration, dt=case.dt, initial=start, throw=False)
            walls.append(time.perf_counter() - begun)
    wall, steps = min(walls), len(result) - 1
    return Row(
        case=case.name,
        preset=case.preset,
        n_dof=model.nv,
        steps=steps,
        compile_s=cold - wall,
        wall_s=wall,
        simulated_s=case.duration,
        ratio=wall / case.duration,
        tip_error=tip_error(case, result) if result.ok else float("nan"),
        newton_per_step=float(np.sum(result.newton)) / max(steps, 1),
        status=result.status.name,
    )
