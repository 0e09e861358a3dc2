"""Runs on disk that are continued: known again by their settings, robots and events, stretch by stretch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import StoreError
from supple.model.model import Model
from supple.model.state import State
from supple.results.fingerprint import changed, fingerprint, fingerprints
from supple.results.result import Result, Stats
from supple.results.store import Store
from supple.results.stretch import Stretch
from supple.robot.formulations import formulation_of
from supple.robot.robot import Robot
from supple.run.events import Event
from supple.run.loop import Plan
from supple.run.python_controllers import Outside
from supple.run.stretches import edited, next_or_end
from supple.time.advance import Cursor, Saved, Status, cursor_like

SAME_START = 1e-6
"""Difference of coordinates, over their size and one, up to which a start is the one a run on disk has."""


def about_run(plan: Plan) -> dict[str, Any]:
    """What a run on disk says of itself, by which it is known again."""
    known = (plan.given, plan.description, plan.model)
    robot = next(one for one in known if one is not None)
    resolution = {"resolution": plan.resolution} if plan.resolution else {}
    events = {"events": [fingerprint(event) for event in plan.events]} if plan.events else {}
    return (
        {
            "robot": plan.model.name,
            "settings": _settings_text(plan),
            "parts": fingerprints(robot),
        }
        | events
        | resolution
    )


def _settings_text(plan: Plan) -> str:
    """Settings that a run on disk must have to be continued; events are known by their fingerprints."""
    return "; ".join(
        f"{k}={v!r}" for k, v in plan.settings.items() if k not in ("outside", "events")
    )


def continued(plan: Plan, state: State) -> tuple[Plan, Cursor, Saved] | Result | None:
    """From where a run on disk goes on; None where none has begun, a result where it cannot go on."""
    disk = plan.disk
    assert disk is not None
    if not disk.exists:
        return None
    _check_same(disk, plan)
    disk.hold()
    number = 0
    stretches: list[Stretch] = []
    while True:
        plan = replace(plan, disk=disk.following(number), earlier=tuple(stretches))
        found = _whole(plan)
        if found is None:  # the stretch that goes on
            disk.drop_after(number)
            return _resumed(plan, state)
        if number == 0:
            _check_start(disk, found.saved, state)
        stretches.append(found)
        robot, model = edited(found, plan.events, plan.accuracy)
        following = disk.following(number + 1)
        if not (following.exists and following.progress["count"]):
            again = _resumed(plan, state)
            assert again is not None
            result = Result(tuple(stretches), Status.RUNNING, "", Stats(), plan.settings, again[1])
            return next_or_end(plan, result)
        _check_robot(following, fingerprints(robot))
        number += 1
        outside = Outside(model, plan.begun)
        plan = replace(plan, model=model, description=robot, outside=outside)


def stored_stretches(
    disk: Store, robot: Robot, model: Model, events: Sequence[Event], accuracy: float | None
) -> tuple[Stretch, ...]:
    """All stretches of a run on disk that began with a robot, as far as they were written."""
    stretches: list[Stretch] = []
    store = disk
    while store.exists and (store is disk or store.progress["count"]):
        found = store.saved()
        ended = tuple(store.progress["about"].get("ended", ()))
        if len(found.t) == 0 or found.q.shape[1] != model.nq:
            raise StoreError(
                store.path, "its instants do not fit its robot", "the robot it was begun with"
            )
        stretches.append(Stretch(model, *found, description=robot, ended=ended))
        store = disk.following(len(stretches))
        if not (ended and store.exists):
            break
        robot, model = edited(stretches[-1], events, accuracy)
    return tuple(stretches)


def _whole(plan: Plan) -> Stretch | None:
    """A stretch that its events have ended, if all of it is good."""
    assert plan.disk is not None
    ended = plan.disk.progress["about"].get("ended")
    if not ended:
        return None
    try:
        saved = plan.disk.saved()
    except StoreError:
        return None
    return Stretch(plan.model, *saved, description=plan.description, ended=tuple(ended))


def _resumed(plan: Plan, state: State) -> tuple[Plan, Cursor, Saved] | None:
    """The last good cursor of a stretch, and the instants up to it."""
    assert plan.disk is not None
    found = plan.disk.resumed(cursor_like(formulation_of(plan.model), plan.scheme))
    if found is None:
        return None
    cursor, past = found
    if not plan.earlier:
        _check_start(plan.disk, past, state)
    return plan, cursor._replace(status=jnp.zeros((), dtype=int)), past


def _check_same(disk: Store, plan: Plan) -> None:
    """Raise unless a run on disk has these settings, this robot and these events."""
    held, wanted = disk.progress["about"], about_run(plan)
    if held.get("settings") != wanted["settings"]:
        got, need = f"got settings {wanted['settings']}", f"those it holds: {held.get('settings')}"
        raise StoreError(disk.path, got, need)
    _check_robot(disk, wanted["parts"])
    if held.get("events") != wanted.get("events"):
        raise StoreError(
            disk.path, "it has other events", "those it was begun with, or to start anew"
        )
    if any(not control.compiled for control in plan.model.controls):
        need = "compiled controllers: the memory of Python objects is not stored"
        raise StoreError(disk.path, "it cannot go on", need)


def _check_robot(disk: Store, parts: dict[str, str]) -> None:
    other = changed(disk.progress["about"].get("parts", {}), parts)
    if other:
        what = f"it belongs to another robot: not the same are {', '.join(other)}"
        raise StoreError(disk.path, what, "the robot it was begun with, or to start anew")


def _check_start(disk: Store, past: Saved, state: State) -> None:
    first, tolerance = np.asarray(state.q), SAME_START * (1 + np.abs(past.q[0]))
    if past.t[0] != float(state.t) or np.any(np.abs(past.q[0] - first) > tolerance):
        disk.release()
        raise StoreError(disk.path, "its run starts elsewhere", "the start it was begun with")
