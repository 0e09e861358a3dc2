"""Run a robot through time, and continue runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import ArgumentError, SolveError
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.results.store import Store
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.events import Event
from supple.run.loop import Plan, Progress, Watch
from supple.run.resolved_run import resolved_run
from supple.run.start import formulated
from supple.run.stretches import go_through, next_or_end
from supple.run.task import Task
from supple.shooting.settings import Shooting
from supple.time.advance import Status
from supple.time.control import ErrorControl, FixedStep, StepControl
from supple.time.named import scheme_named
from supple.time.scheme import AbstractScheme


def simulate(
    robot: Robot | Model,
    duration: float,
    *,
    dt: float | None = None,
    accuracy: float | None = None,
    scheme: AbstractScheme | str | None = None,
    initial: State | Any = None,
    t_eval: np.ndarray | Sequence[float] | float | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    max_steps: int = 10_000_000,
    throw: bool = True,
    store: str | Path | Store | None = None,
    resume: bool = False,
    events: Sequence[Event] = (),
    max_events: int = 1000,
    formulation: str | Shooting | None = None,
) -> Result:
    """Simulate for ``duration`` seconds.

    Name a step ``dt`` (s) for fixed steps, generalized-α (ρ∞ = 0.8) unless a scheme is given; otherwise
    the step follows from ``accuracy`` (displacement error over the robot's size, 1e-3 by default) with
    Radau IIA of order 5. A scheme may also be named ("radau", "rk4", …). ``initial`` is a state, coordinates
    (nq,) at rest, an equilibrium, or a run whose end it is, also those of a robot with other items (default:
    at rest as described, with its loops closed), or a function of the model that finds one; velocities that
    closed loops or imposed laws forbid are changed as by an impact.
    Rods that leave their ``basis`` to "auto" are refined until the error in space is below the accuracy, too:
    then the run begins again on finer ones (``refinements``). ``error`` of the result tells the estimates;
    where refinement ends before that, the status is NOT_RESOLVED, with a warning.
    ``t_eval`` are the instants (s) to report instead of the solver's own; one number is their spacing.
    ``progress(t, count)`` is called about four times a second and at the end; so is ``watch``, with the
    newest instants as a result (a viewer's ``watch`` draws them).
    A run that does not reach its end raises :class:`SolveError`, with what was computed as its ``result``;
    with ``throw=False`` that is returned, and its status tells. Ctrl-C never raises: it ends the run with
    everything computed so far and status INTERRUPTED.
    ``store`` is a folder that the run is written to chunk by chunk; with ``resume`` a run found there with
    the same settings continues, also after it was killed.
    ``events`` edit the robot on its way (:class:`Event`): the result has a stretch for each robot. What an
    edit allows no more is stopped as by an inelastic impact. An edit that fails ends the run with status
    EDIT_FAILED, more than ``max_events`` with EVENT_LIMIT.
    ``formulation`` names how the robot is computed ("strain", "pcs", "shooting" or ``Shooting(…)``), instead
    of as it says itself.
    """
    number = np.ndim(duration) == 0 and np.asarray(duration).dtype.kind in "iuf"
    if not (number and np.isfinite(duration) and duration > 0):
        raise ArgumentError(f"duration: got {duration!r}; need a positive number of seconds")
    if dt is not None and accuracy is not None:
        raise ArgumentError(f"dt, accuracy: got {dt!r} and {accuracy!r}; give one of them")
    control: StepControl = (
        FixedStep(float(dt))
        if dt is not None
        else ErrorControl(float(DEFAULT_ACCURACY if accuracy is None else accuracy))
    )
    robot = formulated(robot, formulation)
    _check_events(robot, events, max_events)
    task = Task(
        robot,
        float(duration),
        control,
        None if scheme is None else scheme_named(scheme),
        initial,
        accuracy=accuracy,
        t_eval=t_eval,
        progress=progress,
        watch=watch,
        max_steps=max_steps,
        disk=Store(store) if isinstance(store, str | Path) else store,
        resume=resume,
        events=tuple(events),
        max_events=max_events,
    )
    return finished(resolved_run(task), throw=throw)


def finished(result: Result, *, throw: bool) -> Result:
    """The result, unless it ended early by itself and that is to be raised."""
    if throw and not result.ok and result.status != Status.INTERRUPTED:
        raise SolveError(f"{result.model.name}: {result.message}", result)
    return result


def resume(
    result: Result,
    duration: float | None = None,
    progress: Progress | None = None,
    *,
    throw: bool = True,
) -> Result:
    """Continue a run that was interrupted, or extend a finished one by ``duration`` seconds.

    The joined trajectory equals the uninterrupted one; steps are those of the first run. A run that does not
    reach its end raises as in :func:`simulate`.
    """
    if result.cursor is None:
        raise ArgumentError("result: it has no cursor to continue from")
    last = result.stretches[-1]
    plan = Plan(
        last.model,
        **result.settings,
        begun=float(result.t[0]),
        progress=progress,
        before=result.stats,
        description=last.description,
        earlier=result.stretches[:-1],
    )
    if duration is not None:
        done = float(result.cursor.state.t) - float(result.t[0])
        plan = replace(plan, duration=done + duration)
    cursor = result.cursor._replace(status=jnp.zeros((), dtype=int))
    if last.ended:
        found = next_or_end(plan, replace(result, status=Status.RUNNING, cursor=cursor))
        return finished(found if isinstance(found, Result) else go_through(*found), throw=throw)
    return finished(go_through(plan, cursor, last.saved), throw=throw)


def _check_events(robot: Robot | Model, events: Sequence[Event], most: int) -> None:
    """Raise unless all are events, of a robot that can be edited."""
    for event in events:
        if not isinstance(event, Event):
            raise ArgumentError(
                f"events: got {event!r}; need Event(t=…, edit=…) or Event(when=…, edit=…)"
            )
    if events and not isinstance(robot, Robot):
        raise ArgumentError("events: got a model; need a Robot, whose items can be edited")
    if most < 0:
        raise ArgumentError(f"max_events: got {most!r}; need an integer >= 0")
