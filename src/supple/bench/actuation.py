"""Benches of driven robots: tendons, a fluid chamber.

There is no independent solution; the error is the largest distance of the tip over the whole run, over the
robot's length, from a run with twice the modes at half the step.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from supple.bench.rods import Row, on_one_core
from supple.results.result import Result
from supple.robot.robot import Robot
from supple.robots import fluidic_finger as finger, four_tendons as tendons
from supple.run.simulate import simulate


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


CASES = {
    case.name: case
    for case in (
        Case(
            "tendon-robot",
            "60Hz",
            lambda modes: tendons.four_tendon_robot(modes, max(1, modes // 2)).adding(
                tendons.OBJECT
            ),
            3,
            "backbone",
            tendons.LENGTH,
            tendons.END,
            1 / 60,
        ),
        Case(
            "finger-water",
            "10ms",
            lambda modes: finger.fluidic_finger("water", modes),
            2,
            "finger",
            finger.LENGTH,
            finger.END,
            0.01,
        ),
        Case(
            "finger-air",
            "10ms",
            lambda modes: finger.fluidic_finger("air", modes),
            2,
            "finger",
            finger.LENGTH,
            finger.END,
            0.01,
        ),
    )
}


def run_actuation(cases: list[str] | None = None, repeats: int = 5) -> Iterator[Row]:
    """Run the benches; wall times are the best of ``repeats`` warm runs on one core."""
    for name in cases or CASES:
        yield run_case(CASES[name], repeats)


def tip_error(case: Case, result: Result) -> float:
    """Largest distance of the tip from a finer run, over length."""
    fine = simulate(case.build(2 * case.modes), case.duration, dt=case.dt / 2)
    apart = result.position(case.tip) - fine.position(case.tip)[::2]
    return float(np.linalg.norm(apart, axis=1).max() / case.length)


def run_case(case: Case, repeats: int = 5) -> Row:
    """One row: compile, then time warm runs from a ready model."""
    model = case.build(case.modes).build()
    begun = time.perf_counter()
    result = simulate(model, case.duration, dt=case.dt)
    cold = time.perf_counter() - begun
    walls = []
    with on_one_core():
        for _ in range(repeats):
            begun = time.perf_counter()
            result = simulate(model, case.duration, dt=case.dt)
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
