"""The errors of runs in space and time, estimated from what was computed and from a cheaper second run.

Space: where the last coefficients of the rods are tiny all the time, they tell how little is left out. Else
the run is repeated on coarser rods, a part of its own shapes. What the coarser ones lack, weighed by how fast
coefficients decay, tells what the run itself lacks. Modes that are not resolved err once, drifts of phase
grow with time: a second run knows both. Rods with few or other functions are compared with richer ones.

Time: step errors add up as a random walk, as the step control takes them; fixed steps are compared with steps
twice as long.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.results.stretch import Stretch
from supple.robot.items import Rod
from supple.robot.resolution import (
    Corners,
    bases_of,
    coarser,
    corners_of,
    orders_of,
    richer,
)
from supple.robot.robot import Robot
from supple.run.refinement import left_with, pieces_of
from supple.run.space_error import Finer, places_along, tails, turns
from supple.run.transfer import carry_over
from supple.strain import Legendre, PiecewiseLegendre
from supple.strain.basis import AbstractBasis
from supple.system.error_norm import characteristic_length
from supple.time.control import ErrorControl

Repeat = Callable[..., Result]
"""``repeat(robot, steps_longer=1)``: the run of another resolution of the robot, or with longer steps."""

CLEAR = 0.2
"""Share of the accuracy asked for below which the last coefficients alone are believed."""
LOOKED_AT = 400
"""Instants of a stretch at which two runs are compared."""
CARRIED = 60
"""Instants at which their coordinates are."""
LEAST_MODES = 4
"""Modes on a piece from which on fewer of them can tell something."""
MOST_LEFT = 0.75
"""Largest share of the coarser rods' error that the run itself is taken to have."""


class SpaceFound(NamedTuple):
    """Error in space, and what refinement looks at: the run's coordinates, and those of a coarser one."""

    error: float
    finer: Finer | None = None


def space_error(
    repeat: Repeat,
    robot: Robot,
    result: Result,
    asked: float | None = None,
    before: tuple[Robot, Result] | None = None,
) -> SpaceFound:
    """Error in space of the run of a robot without open choices.

    ``asked`` is an error that is small enough: then coarser rods may tell, those of a run ``before`` if there
    was one; else richer ones do.
    """
    if not any(isinstance(item, Rod) and item.strain_field().count for item in robot.items):
        return SpaceFound(0.0)
    first = result.stretches[0]
    size = float(characteristic_length(first.model))
    if asked is not None and len(result.stretches) == 1:
        left = _tail(robot, first) / size
        if left <= CLEAR * asked:
            return SpaceFound(left)
    if asked is not None and all(map(_tells_when_coarser, _rods(robot))):
        fewer = _coarser(robot) if before is None else before[0]
        coarse = repeat(fewer) if before is None else before[1]
        if _comparable(result, coarse):
            finer = _compared(first, coarse.stretches[0], first.model)
            error = _furthest(result, coarse) / size * _gain(robot, fewer, finer)
            return SpaceFound(error, finer)
    rich = repeat(_richer(robot, first))
    if not _comparable(result, rich):
        return SpaceFound(np.inf)
    finer = _compared(rich.stretches[0], first, rich.stretches[0].model)
    return SpaceFound(_furthest(result, rich) / size, finer)


def time_error(repeat: Repeat, robot: Robot, result: Result) -> float:
    """Error in time: of the steps that were chosen for an accuracy, or against steps twice as long."""
    control = result.settings.get("control")
    if isinstance(control, ErrorControl):
        return step_errors(result)
    other = repeat(robot, steps_longer=2)
    if not _comparable(result, other):
        return float("nan")
    size = float(characteristic_length(result.stretches[0].model))
    return _furthest(result, other) / size / (2 ** result.settings["scheme"].order - 1)


def step_errors(result: Result) -> float:
    """What the steps of a run have cost, as the step control takes it; NaN for fixed steps."""
    chosen = isinstance(result.settings.get("control"), ErrorControl) and result.cursor is not None
    return float(np.sqrt(float(result.cursor.spent))) if chosen else float("nan")  # type: ignore[union-attr]


def _rods(robot: Robot) -> list[Rod]:
    return [i for i in robot.items if isinstance(i, Rod) and i.strain_field().count]


def _bases(robot: Robot) -> dict[str, dict[str, AbstractBasis]]:
    """Bases of the strains of each rod."""
    return {rod.name: bases_of(rod) for rod in _rods(robot)}


def _tells_when_coarser(rod: Rod) -> bool:
    """Whether all strains have modes to spare."""
    bases = bases_of(rod).values()
    return all(
        isinstance(basis, Legendre | PiecewiseLegendre) and min(orders_of(basis)) > 0
        for basis in bases
    ) and any(max(orders_of(basis)) + 1 >= LEAST_MODES for basis in bases)


def _coarser(robot: Robot) -> Robot:
    return robot.replacing(*map(coarser, _rods(robot)))


def _richer(robot: Robot, run: Stretch) -> Robot:
    wound, corners = turns(run.model, run.q[looked_at(run)]), corners_of(robot.items)
    return robot.replacing(
        *(
            richer(rod, corners.get(rod.name, Corners()), wound.get(rod.name, 0.0))
            for rod in _rods(robot)
        )
    )


def looked_at(run: Stretch, most: int = LOOKED_AT) -> np.ndarray:
    """Rows of a stretch, evenly spread."""
    return np.unique(np.linspace(0, len(run.t) - 1, most).astype(int))


def _tail(robot: Robot, run: Stretch) -> float:
    """Displacement (m) that the last coefficients make at most; infinite where they do not tell.

    A polynomial of order n turns by 1/n of its size at most and moves by 1/n², and nothing beyond its piece.
    """
    found = tails(robot, run.model, run.q)
    if found is None:
        return np.inf
    return sum(
        t.size * (t.width * t.length / t.modes) ** 2
        if t.turning
        else t.size * t.width * t.length / t.modes
        for t in found
    )


def _apart(run: Stretch, other: Stretch) -> float:
    """Largest distance (m) between two stretches: of frames, and inside rods."""
    mine = run.pick(looked_at(run))
    theirs = other.sample(np.clip(mine.t, other.t[0], other.t[-1]))
    here, there = (places_along(one.model, one.q, mine.t) for one in (mine, theirs))
    distances = [np.linalg.norm(there[name] - here[name], axis=-1).max() for name in here]
    return float(np.max(distances))


def _comparable(run: Result, other: Result) -> bool:
    return other.ok and len(other.stretches) == len(run.stretches)


def _furthest(run: Result, other: Result) -> float:
    """Largest distance (m) of two runs."""
    return max(_apart(*pair) for pair in zip(run.stretches, other.stretches, strict=True))


def _compared(fine: Stretch, coarse: Stretch, model: Model) -> Finer:
    """Coordinates of a stretch, and those of a coarser one carried over to its rods, at some instants."""
    fine = fine.pick(looked_at(fine, CARRIED))
    coarse = coarse.sample(np.clip(fine.t, coarse.t[0], coarse.t[-1]))
    zero = np.zeros(coarse.model.nv)
    carried = [
        carry_over(State(np.asarray(t), q, zero, zero), coarse.model, model).q
        for t, q in zip(fine.t, coarse.q, strict=True)
    ]
    return Finer(model, np.stack(carried), fine.q, None)


def _gain(robot: Robot, fewer: Robot, finer: Finer) -> float:
    """Error of a run over its distance from one on coarser rods.

    Left out are r times as much as there: coefficients decay, and the same strain of a higher order moves
    less; each piece of a rod and each strain counts by how much the coarser run lacks.
    """
    lacking, gained = 0.0, 0.0
    for name, pieces in pieces_of(robot, finer).items():
        old, new = _bases(fewer)[name], _bases(robot)[name]
        for strain, basis in new.items():
            few, many = old[strain].count / len(pieces), basis.count / len(pieces)
            same = old[strain].breaks == basis.breaks
            for piece in pieces:
                slope = piece.slope[strain] if same else 1.0
                left = min(left_with(few, many, slope), MOST_LEFT)
                lacking += piece.missing[strain]
                gained += piece.missing[strain] * left / (1 - left)
    return gained / lacking if lacking > 0 else 0.0
