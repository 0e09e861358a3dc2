"""Carry a state from one model to another: a tool picked up, an object let go, a load removed."""

from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import ArgumentError
from supple.lie import Pose, se3
from supple.mechanics.element_motion import neutral, retract
from supple.mechanics.frames import FrameMotion, find_joint, frame_motion
from supple.model.model import Model, RodGroup, Slot
from supple.model.state import State
from supple.results.fingerprint import fingerprint
from supple.robot.items import Body, Rod
from supple.robot.robot import Robot
from supple.robot.spanning_tree import cut_open
from supple.strain import StrainField
from supple.strain.projection import projection

MOST = 50
"""Newton iterations for the joint of an item that stays where it is."""
NEAR = 1e-9
"""Distance (m, rad; m/s, rad/s) up to which an item is where it was."""


def carry_over(state: State, old: Model, new: Model) -> State:
    """The state of ``new`` in which every rod and joint it shares with ``old`` moves as before.

    Items that are new start at rest in their joints; items that are gone are dropped. A rod on another basis
    takes the same strain, or the nearest it can; an item on another kind of joint is an error.
    """
    return _copied(state, old, new, frozenset())


def carry_through(state: State, old: tuple[Robot, Model], new: tuple[Robot, Model]) -> State:
    """The state of an edited robot in which every item moves as before, also on another joint or parent.

    Rods keep their strains and joints their coordinates. Where an item has another joint or hangs on another
    parent, its coordinates are those with which it is where it was and moves as it did. Items that are new
    start at rest in their joints.
    """
    before, after = (_jointed(robot) for robot, _ in (old, new))
    moved = [
        name
        for name, item in after.items()
        if name in before and _joint(before[name]) != _joint(item)
    ]
    names = frozenset(after[name].joint_name or name for name in moved)
    found = _copied(state, old[1], new[1], names)
    for name in moved:
        at = 0.0 if isinstance(after[name], Rod) else None
        target: Any = _motion(old[1], name, at, state.q, state.v, state.t)
        found = _placed(new[1], found, name, after[name].joint_name or name, at, target)
    return found


def _copied(state: State, old: Model, new: Model, but: frozenset[str]) -> State:
    """The state with the coordinates of rods and joints of the same names, but for some joints."""
    q, v = neutral(new), np.zeros(new.nv)
    for kind in ("joint_slots", "rod_slots"):
        known = {slot.name: slot for slot in getattr(old.topology, kind)}
        for slot in getattr(new.topology, kind):
            before = known.get(slot.name)
            if before is None or (kind == "joint_slots" and slot.name in but):
                continue
            fields = _field(old, before), _field(new, slot)
            if fields[0] is not None and fields[1] is not None and fields[0] != fields[1]:
                same = _projection(*fields)
                q[slot.q] = same @ np.asarray(state.q)[before.q]
                v[slot.v] = same @ np.asarray(state.v)[before.v]
                continue
            sizes = [(s.q_stop - s.q_start, s.v_stop - s.v_start) for s in (before, slot)]
            if sizes[0] != sizes[1]:
                raise ArgumentError(
                    f"{slot.name}: got {sizes[0][1]} coordinates; need {sizes[1][1]}. "
                    "Items that stay must keep their kind of joint."
                )
            q[slot.q] = np.asarray(state.q)[before.q]
            v[slot.v] = np.asarray(state.v)[before.v]
    return State(np.asarray(float(state.t)), q, v, np.zeros(new.nv))


_projection = lru_cache(maxsize=256)(projection)


def _field(model: Model, slot: Slot) -> StrainField | None:
    """Functions on which the strains of a whole rod are spanned; None of joints and rods in pieces."""
    group = model.groups[slot.group]
    return group.grid.field if isinstance(group, RodGroup) and not slot.in_pieces else None


def same_coordinates(old: Model, new: Model) -> bool:
    """Whether the coordinates of two models mean the same, item by item and mode by mode."""
    if old.topology != new.topology:
        return False
    pairs = zip(old.topology.rod_slots, new.topology.rod_slots, strict=True)
    return all(_field(old, before) == _field(new, after) for before, after in pairs)


def _jointed(robot: Robot) -> dict[str, Any]:
    """Rods and bodies on their joints, each after its parent."""
    cut = robot.with_items(*cut_open(robot.items))
    return {item.name: item for item in cut.solids if isinstance(item, Rod | Body)}


def _joint(item: Any) -> tuple[str | None, str | None, str]:
    """Parent and kind of joint with its axes; springs, dampers and places may change."""
    return item.parent, item.link, fingerprint(item.joint.make(item.name))


def _placed(
    model: Model, state: State, name: str, joint: str, at: float | None, target: FrameMotion
) -> State:
    """The state with the joint of an item such that it is where ``target`` says, and moves so."""
    slot = next((s for s in model.topology.joint_slots if s.name == joint), None)
    own = slice(0, 0) if slot is None else slot.v
    q, v = np.asarray(state.q), np.array(state.v)
    for _ in range(MOST):
        now: Any = _motion(model, name, at, q, v, state.t)
        apart = np.asarray(se3.log(Pose(*now.pose).inverse() @ Pose(*target.pose)))
        step = np.linalg.lstsq(np.asarray(now.jacobian)[:, own], apart, rcond=None)[0]
        if slot is None or np.abs(step).max() < 1e-15:
            break
        x = np.zeros(model.nv)
        x[own] = step
        q = np.asarray(_retract(model, q, x))
    jacobian = np.asarray(now.jacobian)[:, own]
    missing = np.asarray(target.twist) - np.asarray(now.twist) + jacobian @ v[own]
    v[own] = np.linalg.lstsq(jacobian, missing, rcond=None)[0]
    left = max(np.abs(apart).max(), np.abs(missing - jacobian @ v[own]).max())
    if left > NEAR * (1 + np.abs(np.asarray(target.twist)).max()):
        raise ArgumentError(
            f"{name}: its new joint or parent cannot carry it where it is, as it moves (by {left:.3g} m, "
            "rad, m/s or rad/s); need Lock to hold a joint, or Release and Attach"
        )
    return State(state.t, q, v, state.a)


@partial(jit, quick=True, static_argnames=("name", "at"))
def _motion(model: Model, name: str, at: float | None, q: Any, v: Any, t: Any) -> FrameMotion:
    return frame_motion(model, name, jnp.asarray(q), jnp.asarray(v), None, jnp.asarray(t), at)


@partial(jit, quick=True)
def _retract(model: Model, q: jax.Array, x: jax.Array) -> jax.Array:
    return retract(model, jnp.asarray(q), jnp.asarray(x))


class Snapshot:
    """Where things are at a state of a model: what edits look at."""

    def __init__(self, model: Model, state: State) -> None:
        self._model, self._state = model, state

    def pose(self, name: str, fraction: float | None = None) -> Pose:
        """World pose of an item, or of the point at a fraction of a rod."""
        s = self._state
        at = None if fraction == 1.0 else fraction
        found: Any = _motion(self._model, name, at, s.q, s.v, s.t)
        return Pose(*(np.asarray(x) for x in found.pose))

    def joint(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Configuration and velocity of the joint of an item."""
        slot = find_joint(self._model, name)
        return np.asarray(self._state.q)[slot.q], np.asarray(self._state.v)[slot.v]
