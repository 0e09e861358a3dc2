"""A run on rods fine enough for its accuracy: judged when it has ended, and begun again on finer ones."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from supple.hints import warn
from supple.results.result import Result
from supple.results.run_error import RunError
from supple.robot.formulations import DEFAULT
from supple.robot.resolution import as_data, from_data, open_rods
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.message import gained_energy
from supple.run.refinement import refined
from supple.run.rod_model import SMALL_MOVING, left_out, stretching, unstretched
from supple.run.run_error import looked_at, space_error, step_errors, time_error
from supple.run.task import Task, at_instants, carried_out, checked_instants
from supple.run.unresolved import hint_at_long_steps
from supple.time.advance import Status
from supple.time.control import ErrorControl, FixedStep

MOST_LEVELS = 6
"""Refinements of one run."""
LOOKED_AT = 100
"""Instants of a stretch at which the forces in rods are looked at."""
MOST_AT_ONCE = 0.02
"""Smallest share of its error that one refinement is to leave: estimates of poor runs are poor."""


def resolved_run(task: Task) -> Result:
    """The run of a task, on finer rods where those that were chosen first are too coarse."""
    robot = task.robot
    if not isinstance(robot, Robot) or robot.formulation != DEFAULT:
        result = carried_out(task, robot)
        return _told(task, replace(result, known_error=RunError(np.nan, step_errors(result))))
    chosen = robot.resolved(_asked(task))
    names = open_rods(robot) if isinstance(task.control, ErrorControl) else frozenset()
    ours = names | unstretched(robot, chosen)
    if task.resume and task.disk is not None and task.disk.exists:
        chosen = from_data(chosen, task.disk.progress["about"].get("resolution", {}))
    result = carried_out(task, *_named(task, chosen, ours))
    estimate = partial(_estimate, replace(task, disk=None), chosen)
    if not names or not result.ok:
        return _told(task, replace(result, estimator=estimate))
    return _told(task, _refined(task, chosen, names, ours, result))


def _refined(
    task: Task, chosen: Robot, names: frozenset[str], ours: frozenset[str], result: Result
) -> Result:
    """The run on rods that are fine enough, or as fine as they can be made.

    ``names`` are the rods whose modes we choose, ``ours`` all those of which we choose something.
    """
    asked, before = _asked(task), None
    assert isinstance(task.robot, Robot)
    repeat = partial(_repeated, task)
    for level in range(MOST_LEVELS + 1):
        if any(not control.compiled for control in result.model.controls):
            # Python objects remember, and may act on the world: they are not called for a second run.
            return replace(result, known_error=RunError(np.nan, step_errors(result)))
        found = space_error(repeat, chosen, result, asked, before)
        known = found.error if np.isfinite(found.error) else np.nan  # nothing to compare with
        error = RunError(known, step_errors(result))
        result = replace(result, known_error=error, refinements=level)
        if not np.isfinite(found.error):
            return result
        finer: Robot | None
        compared: tuple[Robot, Result] | None = chosen, result
        if found.error <= asked:
            left = _left_out(task, chosen, result)
            if left <= SMALL_MOVING * asked:
                return result
            found = found._replace(error=known + left)
            # Their bending is resolved as before: a run of rods that cannot stretch tells nothing of it.
            finer, compared = stretching(chosen, unstretched(task.robot, chosen)), None
        elif level == MOST_LEVELS or found.finer is None:
            break
        else:
            share = max(asked / found.error, MOST_AT_ONCE)
            finer = refined(chosen, names, found.finer, share, moving=True)
        if finer is None:
            break
        again = carried_out(replace(task, resume=False), *_named(task, finer, ours))
        before, chosen = compared, finer
        result = replace(again, refinements=level + 1)
        if not result.ok:
            return result
    about = f"about {found.error:.1g} of the robot's size in space, asked for {asked:g}"
    text = f"{Status.NOT_RESOLVED.message}: {about}"
    warn(f"{result.model.name}: {text}", RuntimeWarning)
    return replace(result, status=Status.NOT_RESOLVED, message=text)


def _left_out(task: Task, chosen: Robot, result: Result) -> float:
    """Displacement over size that our choice of rods without stretch leaves out of a run."""
    assert isinstance(task.robot, Robot)
    seen = [one.pick(looked_at(one, LOOKED_AT)) for one in result.stretches]
    return left_out(chosen, unstretched(task.robot, chosen), seen)


def _asked(task: Task) -> float:
    return DEFAULT_ACCURACY if task.accuracy is None else task.accuracy


def _named(task: Task, chosen: Robot, names: frozenset[str]) -> tuple[Robot, dict[str, Any] | None]:
    """The robot as it was given where its rods are those of a first choice; how they differ, else."""
    assert isinstance(task.robot, Robot)
    first = as_data(task.robot.resolved(_asked(task)), names)
    own = as_data(chosen, names)
    return (task.robot, None) if own == first else (chosen, own)


def _repeated(task: Task, robot: Robot, steps_longer: int = 1) -> Result:
    """A second run of a task, on other rods or with longer steps."""
    control = task.control
    if isinstance(control, FixedStep):
        control = FixedStep(steps_longer * control.dt)
    second = replace(
        task, control=control, progress=None, watch=None, disk=None, resume=False, quiet=True
    )
    return carried_out(second, robot)


def _estimate(task: Task, chosen: Robot, result: Result) -> RunError:
    """What a run of given rods, or with fixed steps, errs by; found when somebody asks."""
    if any(not control.compiled for control in result.model.controls):
        return RunError(np.nan, step_errors(result))
    repeat = partial(_repeated, task)
    space = space_error(repeat, chosen, result).error + _left_out(task, chosen, result)
    return RunError(space if np.isfinite(space) else np.nan, time_error(repeat, chosen, result))


def _told(task: Task, result: Result) -> Result:
    """The result at the instants that were asked for, with what is to be told of it."""
    if gained := gained_energy(result.cursor):
        warn(f"{result.model.name}{gained}", RuntimeWarning)
    if isinstance(task.control, FixedStep):
        hint_at_long_steps(result.stretches[-1], task.control.dt)
    if task.disk is not None and result.known_error is not None:
        task.disk.note(error=result.known_error.as_dict(), refinements=result.refinements)
    if task.t_eval is None:
        return result
    return at_instants(result, checked_instants(task.t_eval, float(result.t[0])))
