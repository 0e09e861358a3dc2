"""Accuracy that is kept: cases at rest and in motion, each asked for with several accuracies.

Cases at rest are those of :mod:`supple.bench.accuracy_cases` (closed forms, collocation of the strong form:
``benchmarks/reference/accuracy.py``), those in motion of
:mod:`supple.bench.accuracy_motions` (finite elements, exact solutions).
"""

import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

import numpy as np

from supple.bench.accuracy_cases import CASES, PLACES, Case
from supple.bench.accuracy_motions import MOTIONS, Motion
from supple.run.equilibrium import Equilibrium
from supple.run.simulate import simulate
from supple.run.statics import equilibrium, release

NAMES = (*CASES, *MOTIONS)
AT_REST = (1e-3, 1e-5)
IN_MOTION = (1e-2, 1e-3)
"""What is asked for where nothing is named."""
ASKED = (1e-2, 1e-3, 1e-4, 1e-5)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: str
    asked: float
    got: float
    """Largest displacement error over the robot's size, against the reference."""
    estimate: float | None
    """What the solution says of itself; none where it failed."""
    ratio: float
    """Got over asked."""
    modes: int
    steps: int
    wall_s: float
    refinements: int
    status: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def references() -> dict[str, np.ndarray]:
    """Points of rods by "case/rod"."""
    path = resources.files("supple.bench") / "data" / "accuracy.npz"
    with resources.as_file(path) as file, np.load(file) as data:
        return dict(data)


def run_accuracy(cases: list[str] | None = None, asked: list[float] | None = None) -> Iterator[Row]:
    """Run the cases; wall times are those of a second solve, and of the last run with its compilation."""
    known = references()
    for name in cases or NAMES:
        for accuracy in asked or (AT_REST if name in CASES else IN_MOTION):
            if name in CASES:
                yield _at_rest(name, CASES[name], known, accuracy)
            else:
                yield _in_motion(name, MOTIONS[name], accuracy)


def _at_rest(name: str, case: Case, known: dict[str, np.ndarray], asked: float) -> Row:
    robot = case.build()

    def solve() -> Equilibrium:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return equilibrium(robot, accuracy=asked, throw=False)

    solve()
    begun = time.perf_counter()
    found = solve()
    wall = time.perf_counter() - begun
    got = max(
        np.linalg.norm(found.shape(rod, PLACES).position - known[f"{name}/{rod}"], axis=1).max()
        for rod in case.rods
    )
    got = float(got / case.length)
    return Row(
        case=name,
        asked=asked,
        got=got,
        estimate=found.error if found.ok else None,
        ratio=got / asked,
        modes=found.model.nv,
        steps=found.increments,
        wall_s=wall,
        refinements=found.refinements,
        status=found.status.name,
    )


def _in_motion(name: str, case: Motion, asked: float) -> Row:
    robot = case.build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.released is None:
            result = simulate(robot, case.duration, accuracy=asked, throw=False)
        else:
            result = release(robot, case.released, case.duration, accuracy=asked, throw=False)
    got = case.error(result) / case.length
    return Row(
        case=name,
        asked=asked,
        got=got,
        estimate=result.error.known if result.ok else None,
        ratio=got / asked,
        modes=result.model.nv,
        steps=result.stats.steps,
        wall_s=result.stats.wall_seconds,
        refinements=result.refinements,
        status=result.status.name,
    )
