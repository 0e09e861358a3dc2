"""Laws that a run or a solve cannot use: NaN or infinite, or a rod that grows to nothing.

Most would only keep Newton's method from converging, and the item to blame would not be told; some would not
even do that: a slack tendon of imposed length looks only whether it is too long, and NaN is not; a motor with
a limit takes infinity for its limit.
"""

import dataclasses
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from supple.arrays import Array
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import load_sections, on_sections
from supple.mechanics.kinematics import kinematics
from supple.mechanics.regulation import regulate
from supple.model.loads import LineLoad, PointWrench
from supple.model.model import JointGroup, Model, RodGroup
from supple.model.special_joints import DrivenJoint
from supple.model.state import State


def laws_finite(model: Model, t: Float[Array, ""]) -> Bool[Array, ""]:
    """Whether everything that is a function of time alone can be used at time t."""
    many = [model.transmissions.laws(t), model.prescribed.laws(t)]
    values = [*many, *(value for _, value in _other_laws(model, t))]
    finite = [jnp.all(jnp.isfinite(value)) for value in values]
    return jnp.all(jnp.stack([jnp.ones((), dtype=bool), *finite]))


def laws_at(model: Model, t: Float[Array, ""]) -> Iterator[tuple[str, Float[Array, "*n"]]]:
    """What each law of time alone says at time t, with the item it belongs to."""
    own = model.transmissions
    for kind, name, value in zip(own.kinds, own.names, own.laws(t), strict=True):
        yield f"{kind} {name!r}", value
    for name, value in zip(model.prescribed.names, model.prescribed.laws(t), strict=True):
        yield f"imposed coordinate {name!r}", value
    yield from _other_laws(model, t)


def _other_laws(model: Model, t: Float[Array, ""]) -> Iterator[tuple[str, Float[Array, "*n"]]]:
    for load in model.loads:
        if isinstance(load, PointWrench):
            yield f"load {load.name!r}", load.law(t)
    for line in model.line_loads:
        if isinstance(line, LineLoad):
            said = jax.vmap(lambda law: law(t), axis_size=len(line.rows))(line.law)
            yield _names("load", line.names), said
    for i, group in enumerate(model.groups):
        if isinstance(group, RodGroup) and group.growth is not None:
            grown = jax.vmap(lambda law: law(t), axis_size=group.size)(group.growth)
            # A rod of no length, or less, is no rod.
            yield _rods(model, i), jnp.where(grown > 0, grown, jnp.nan)
        if isinstance(group, JointGroup) and isinstance(group.joint, DrivenJoint):
            position, turn = group.joint.motion(t)
            yield _joints(model, i), jnp.concatenate([jnp.asarray(position), jnp.asarray(turn)])
    for stress in model.stresses:
        rods = model.groups[stress.group]
        assert isinstance(rods, RodGroup)
        yield f"stress {stress.name!r}", stress.at(rods.arc_lengths[stress.row], t)


def unusable_at(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], t: float
) -> str | None:
    """The first law or load that is not finite at a state: its item and what it says; None if all are."""
    now = jnp.asarray(float(t))
    for item, value in laws_at(model, now):
        if not np.all(np.isfinite(value)):
            return f"the law of {item} gives {_told(value)} at t = {float(t):.6g} s; need finite numbers"
    grown, zero = model.with_lengths_at(now), jnp.zeros(model.nv)
    motion = kinematics(grown, Coordinates(q, zero, jnp.asarray(v), zero, now))
    for line in grown.line_loads:
        value = on_sections(line, "density", now, load_sections(grown, motion, line))
        if isinstance(line, LineLoad) and not np.all(np.isfinite(value)):
            item = _names("load", line.names)
            return f"{item} gives {_told(value)} at t = {float(t):.6g} s; need finite numbers"
    state = State(now, q, jnp.asarray(v), zero)
    for one in model.regulators:
        value = jnp.concatenate(regulate(dataclasses.replace(model, regulators=(one,)), state))
        if not np.all(np.isfinite(value)):
            told = f"controller {one.name!r} gives {_told(value)}"
            return f"{told} at t = {float(t):.6g} s; need finite numbers"
    return None


def _told(value: Float[Array, "*n"]) -> float:
    """The first number that is not finite."""
    numbers = np.asarray(value).ravel()
    return float(numbers[~np.isfinite(numbers)][0])


def _names(kind: str, names: tuple[str, ...]) -> str:
    return f"{kind} " + " or ".join(repr(name) for name in names)


def _rods(model: Model, group: int) -> str:
    slots = [slot.name for slot in model.topology.rod_slots if slot.group == group]
    return _names("growth of rod", tuple(slots))


def _joints(model: Model, group: int) -> str:
    slots = [slot.name for slot in model.topology.joint_slots if slot.group == group]
    return _names("driven joint of", tuple(slots))
