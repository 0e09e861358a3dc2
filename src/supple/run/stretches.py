"""A run through its stretches: at each event the robot is edited, and the run goes on with another model."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.errors import SuppleError
from supple.model.inputs import input_slices
from supple.model.model import Model
from supple.results.fingerprint import fingerprints
from supple.results.result import Result
from supple.results.store import Store
from supple.results.stretch import Stretch
from supple.robot.formulations import formulation_of
from supple.robot.robot import Robot
from supple.run.assembly import check_closed
from supple.run.crossings import missing_item
from supple.run.events import Event, told
from supple.run.inverted_rods import warn_if_inside_out
from supple.run.loop import CHUNK, Plan, carry_out, first_step, saved_at
from supple.run.python_controllers import Outside
from supple.run.start import as_model
from supple.run.transfer import Snapshot, carry_through
from supple.time.advance import Cursor, Saved, Status, begin
from supple.time.control import FixedStep
from supple.time.feedback import EARLY, Feedback, open_feedback
from supple.time.precompile import compiled_ahead


def go_through(plan: Plan, cursor: Cursor, past: Saved) -> Result:
    """Carry a run out from a cursor of one of its stretches to its end."""
    while True:
        try:
            result = carry_out(plan, cursor, past)
        finally:
            if (
                plan.disk is not None and plan.earlier
            ):  # the first stretch keeps others out all the time
                plan.disk.release()
        if not plan.quiet:
            warn_if_inside_out(plan.model, result.stretches[-1].q)
        if result.status != Status.RUNNING:
            if not plan.quiet:
                _warn_of_idle(plan, result)
            return result
        found = next_or_end(replace(plan, before=result.stats), result)
        if isinstance(found, Result):
            return found
        plan, cursor, past = found


def _warn_of_idle(plan: Plan, result: Result) -> None:
    """Tell of events that had nothing to look at all the time."""
    fired = {index for one in result.stretches for index in one.ended}
    for index, event in enumerate(plan.events):
        if event.when is None or index in fired:
            continue
        missing = [missing_item(one.model, event, one.saved) for one in result.stretches]
        if all(missing):
            warnings.warn(
                f"{event!r} waited for what never existed: {missing[-1]}",
                RuntimeWarning,
                stacklevel=4,
            )


def next_or_end(plan: Plan, result: Result) -> tuple[Plan, Cursor, Saved] | Result:
    """The beginning of the next stretch, or the result with the reason why there is none."""
    ended, t = result.stretches[-1], result.stretches[-1].t[-1]
    if sum(len(one.ended) for one in result.stretches) > plan.max_events:
        status = Status.EVENT_LIMIT
        reason = f"{plan.max_events} events; raise max_events if so many are meant"
    else:
        try:
            with np.errstate(all="ignore"):
                return next_stretch(plan, result)
        except SuppleError as error:
            status, reason = Status.EDIT_FAILED, f"{told(plan.events, ended.ended)}: {error}"
    message = f"{status.message} at t = {t:.9g} s: {reason}"
    return replace(result, status=status, message=message)


def next_stretch(plan: Plan, result: Result) -> tuple[Plan, Cursor, Saved]:
    """Edit the robot as the events say that ended the last stretch, and begin another one there."""
    last, cursor = result.stretches[-1], result.cursor
    assert cursor is not None
    robot, model = edited(last, plan.events, plan.accuracy)
    state = carry_through(last.final, (last.description, last.model), (robot, model))
    if model.holonomic:
        check_closed(model, np.asarray(state.q), float(state.t))
    outside = Outside(model, plan.begun)
    outside.take_over(plan.outside, float(state.t))
    formulation = formulation_of(model)
    with compiled_ahead(formulation, plan.scheme, plan.control, CHUNK):
        feedback = _feedback(plan, model, cursor.feedback, float(state.t))
        fresh = begin(
            formulation, plan.scheme, state, first_step(plan.control, plan.duration), feedback
        )
    fresh = fresh._replace(
        rejected=cursor.rejected, spent=cursor.spent, target=_target(plan, float(state.t))
    )
    past = saved_at(fresh)
    disk = plan.disk
    if disk is not None:
        disk = (disk if not plan.earlier else Store(disk.path.parent)).following(
            len(result.stretches)
        )
        disk.create(about_stretch(plan.model.name, robot))
        disk.append(past, fresh)
    plan = replace(
        plan, model=model, description=robot, outside=outside, earlier=result.stretches, disk=disk
    )
    return plan, fresh, past


def edited(last: Stretch, events: Sequence[Event], accuracy: float | None) -> tuple[Robot, Model]:
    """The robot after the events that ended a stretch, and its model."""
    robot, seen = last.description, Snapshot(last.model, last.final)
    for index in last.ended:
        robot = events[index].applied(robot, seen)
    return robot, as_model(robot, accuracy)


def about_stretch(name: str, robot: Robot) -> dict[str, Any]:
    """What a further stretch on disk says of itself."""
    return {"robot": name, "parts": fingerprints(robot)}


def _target(plan: Plan, t: float) -> jax.Array:
    """The next instant of the grid of fixed steps, which is that of the whole run."""
    if not isinstance(plan.control, FixedStep):
        return jnp.ones((), dtype=int)
    dt = plan.control.dt
    return jnp.asarray(int(np.floor((t - plan.begun) / dt + 1e-6)) + 1, dtype=int)


def _feedback(plan: Plan, model: Model, before: Feedback, t: float) -> Feedback:
    """Inputs and memories of controllers by name; new controllers join in at their next turn."""
    fresh = open_feedback(formulation_of(model))
    inputs, old = np.array(fresh.inputs), input_slices(plan.model)
    for name, (where, shape) in input_slices(model).items():
        if name in old and old[name][1] == shape:
            inputs[where] = np.asarray(before.inputs)[old[name][0]]
    known = {control.name: i for i, control in enumerate(plan.model.controls)}
    memories, calls = list(fresh.memories), np.array(fresh.calls)
    for i, control in enumerate(model.controls):
        j = known.get(control.name)
        calls[i] = _turns(control.period, t - plan.begun)
        if j is not None and _alike(before.memories[j], memories[i]):
            memories[i] = before.memories[j]
            if plan.model.controls[j].period == control.period:
                calls[i] = int(before.calls[j])
    return Feedback(jnp.asarray(inputs), tuple(memories), jnp.asarray(calls))


def _turns(period: float, passed: float) -> int:
    """How many of its turns a controller has missed that joins in now."""
    return int(np.ceil(passed / period - EARLY))


def _alike(a: Any, b: Any) -> bool:
    return jax.tree.map(jnp.shape, a) == jax.tree.map(jnp.shape, b)
