"""Closed-loop benches: the RFRFR case study against an independent solution, and Stewart-Gough robots.

The RFRFR reference is another formulation (finite elements in absolute coordinates, see
``benchmarks/reference/rfrfr.py``). The Stewart-Gough robot has none: its error is how far the plate moves
when the modes are doubled.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.bench.rods import Row as RodRow, on_one_core, reference
from supple.results.result import Result
from supple.robot.robot import Robot
from supple.robots.rfrfr import rfrfr
from supple.robots.stewart import HOME, RADIUS, hole_angles, stewart_gough
from supple.run.simulate import simulate
from supple.run.statics import assemble, equilibrium


@dataclass(frozen=True)
class Case:
    """A robot, how it starts, how long it runs (s), with which options, and how its error is measured."""

    robot: str
    preset: str
    legs: int
    build: Callable[[], Robot]
    loaded: bool
    duration: float
    options: dict[str, Any]
    error: Callable[[Result], float]


@dataclass(frozen=True)
class Row(RodRow):
    """One line of the table: that of the rod benches, the number of legs, how open loops were (m)."""

    legs: int
    closure_violation: float


def rfrfr_error(result: Result) -> float:
    """Largest distance of the tip from the reference over the run (m)."""
    times, tip = reference("rfrfr")
    reached = times <= result.t[-1] * (1 + 1e-12)
    found = result.sample(np.minimum(times[reached], result.t[-1])).position("left")
    return float(np.linalg.norm(found - tip[reached], axis=1).max())


MOTION_TIMES = np.linspace(0.0, 2.0, 9)
"""Instants (s) between which leg lengths are splines."""


def leg_lengths(legs: int) -> np.ndarray:
    """Lengths (9, legs) in meters for a motion in all six directions, from the home and back to it.

    Distances between the holes for a path of the plate, a little longer as the legs are bent at their clamps.
    """
    base, plate = (
        RADIUS * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        for angle in hole_angles(legs)
    )
    lengths = []
    for swing in np.sin(np.pi * MOTION_TIMES / 2) ** 2:
        turn = Rotation.from_rotvec(swing * np.array([0.1, 0.15, 0.2])).as_matrix()
        center = np.array([0.03, -0.02, HOME]) * [swing, swing, 1.0] + [0.0, 0.0, 0.02 * swing]
        lengths.append(1.0015 * np.linalg.norm(center + plate @ turn.T - base, axis=1))
    return np.array(lengths)


BENDING_MODES, TORSION_MODES = 4, 1
"""Modes of each leg: the fewest that move the plate by less than 1e-4 m with a margin when doubled."""


def moving_stewart(legs: int, doubled: int = 1) -> Robot:
    """The robot moved by its leg lengths, with the modes of the bench times ``doubled``."""
    return stewart_gough(
        legs=legs,
        times=MOTION_TIMES,
        lengths=leg_lengths(legs),
        bending_modes=doubled * BENDING_MODES,
        torsion_modes=doubled * TORSION_MODES,
    )


def stewart_error(result: Result) -> float:
    """How far the plate moves (m) when all modes are doubled, at the same instants."""
    legs = len(result.model.closures.names)
    fine = moving_stewart(legs, doubled=2).build()
    other = simulate(fine, float(result.t[-1]), initial=equilibrium(fine), **STEWART, throw=False)
    return float(np.linalg.norm(other.position("plate") - result.position("plate"), axis=1).max())


STEWART: dict[str, Any] = {"dt": 1 / 120}
CASES = (
    Case("rfrfr", "10ms", 2, rfrfr, False, 10.0, {"dt": 0.01}, rfrfr_error),
    Case(
        "rfrfr",
        "1e-3",
        2,
        lambda: rfrfr(basis="auto"),
        False,
        10.0,
        {"accuracy": 1e-3},
        rfrfr_error,
    ),
    Case(
        "rfrfr",
        "1e-4",
        2,
        lambda: rfrfr(basis="auto"),
        False,
        10.0,
        {"accuracy": 1e-4},
        rfrfr_error,
    ),
    Case("stewart-gough", "120Hz", 6, lambda: moving_stewart(6), True, 2.0, STEWART, stewart_error),
    Case(
        "stewart-gough", "120Hz", 24, lambda: moving_stewart(24), True, 2.0, STEWART, stewart_error
    ),
)


def run_cpr(
    robots: list[str] | None = None, legs: list[int] | None = None, repeats: int = 5
) -> Iterator[Row]:
    """Run the benches; wall times are the best of ``repeats`` warm runs on one core."""
    for case in CASES:
        if (robots and case.robot not in robots) or (legs and case.legs not in legs):
            continue
        yield run_case(case, repeats)


def run_case(case: Case, repeats: int = 5) -> Row:
    """One row: compile, then time warm runs from a ready model and start."""
    model = case.build().build(case.options.get("accuracy", 1e-3))
    start = equilibrium(model) if case.loaded else assemble(model)
    begun = time.perf_counter()
    result = simulate(model, case.duration, initial=start, **case.options, throw=False)
    cold = time.perf_counter() - begun
    walls = []
    with on_one_core():
        for _ in range(repeats):
            begun = time.perf_counter()
            result = simulate(model, case.duration, initial=start, **case.options, throw=False)
            walls.append(time.perf_counter() - begun)
    wall, steps = min(walls), len(result) - 1
    return Row(
        case=case.robot,
        preset=case.preset,
        legs=case.legs,
        n_dof=model.nv,
        steps=steps,
        compile_s=cold - wall,
        wall_s=wall,
        simulated_s=case.duration,
        ratio=wall / case.duration,
        tip_error=case.error(result) if result.ok else float("nan"),
        newton_per_step=float(np.sum(result.newton)) / max(steps, 1),
        closure_violation=float(np.abs(result.violation).max()),
        status=result.status.name,
    )
