"""Why a robot has no equilibrium: the motion that nothing holds, and what drives it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates, retract
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.model.efforts import Governor, TorqueDrive
from supple.model.loads import LineDrag, LineLoad, PointDrag, PointWrench, Wake
from supple.model.model import JointGroup, Model
from supple.model.orientation_joints import FreeJoint
from supple.robot.formulations import formulation_of
from supple.run.message import coordinate_owner
from supple.solve.equilibrium import Rest

SAMPLES = 24
"""Configurations in which a floating part is looked at."""
HELD = 1e-3
"""Smallest over largest resultant of a floating part that tells that it never vanishes."""


def why_no_rest(model: Model, rest: Rest, t: Any) -> str | None:
    """The joint that goes on for ever, or the part that floats under a force; None where neither is seen."""
    away = np.abs(np.asarray(rest.away) / np.asarray(model.scale))
    worst = int(np.argmax(away))
    length = _is_length(model, worst)
    if (floats := _floating(model, rest.q, t)) is not None:
        return floats
    if away[worst] == 0:
        return _sinks(model, rest, t)
    if not (length or can_turn_for_ever(model)):
        return None
    if length and not model.equations and not _goes_on(model, rest, t, worst, away[worst]):
        return None
    force, way = abs(float(rest.left[worst])), abs(float(rest.away[worst]))
    return _unheld(model, worst, f"{way:.3g} {'m' if length else 'rad'}", force, length)


def _unheld(model: Model, coordinate: int, went: str, force: float, length: bool) -> str:
    return (
        f"nothing holds {coordinate_owner(model, coordinate)}: it went {went} and is still driven by "
        f"{force:.3g} {'N' if length else 'N m'}. Give it a spring, a motor or a closure"
    )


def _sinks(model: Model, rest: Rest, t: Any) -> str | None:
    """A slider that went farther than the robot is large and is driven on, however far it is pulled out.

    Along it the potential of such loads has no lowest value, so that a motion downhill never ends.
    """
    slid = np.abs(np.asarray(rest.slid))
    worst = int(np.argmax(slid))
    size = float(formulation_of(model).length)
    if bool(rest.came_to_rest) or model.holonomic or slid[worst] <= size:
        return None
    if not all(_goes_on(model, rest, t, worst, far * slid[worst]) for far in (1.0, 100.0)):
        return None
    return _unheld(model, worst, f"{slid[worst]:.3g} m", abs(float(rest.left[worst])), length=True)


def _goes_on(model: Model, rest: Rest, t: Any, coordinate: int, way: float) -> bool:
    """Whether what drives a slider is hardly less ten times as far: no spring reaches there."""
    shift = np.zeros(model.nv)
    shift[coordinate] = -10 * np.sign(rest.left[coordinate]) * way
    here, there = (
        float(x[0, coordinate]) for x in _forces(model, rest.q, t, np.zeros((1, model.nv)), shift)
    )
    return here * there > 0 and abs(there) > 0.5 * abs(here)


def can_turn_for_ever(model: Model) -> bool:
    """Whether something may drive a turn without end: a torque, a load that follows or flows.

    What has a potential that does not change with a whole turn has a lowest point on it.
    """
    turning = TorqueDrive | Governor
    motors = any(isinstance(effort.drive, turning) for effort in model.transmissions.efforts)
    loads = any(
        isinstance(load, PointWrench) and (load.follower or np.any(np.asarray(load.value)[:3] != 0))
        for load in model.loads
    )
    flows = any(isinstance(load, PointDrag | Wake) for load in model.loads)
    lines = any(isinstance(load, LineLoad | LineDrag) for load in model.line_loads)
    return motors or loads or flows or lines


def _is_length(model: Model, coordinate: int) -> bool:
    for slot in model.topology.joint_slots:
        if slot.v_start <= coordinate < slot.v_stop:
            group = model.groups[slot.group]
            assert isinstance(group, JointGroup)
            return coordinate - slot.v_start in group.joint.lengths
    return False


def _floating(model: Model, q: Any, t: Any) -> str | None:
    """A free joint whose part feels a resultant that neither place nor any turn of the robot makes vanish."""
    slots = [
        slot
        for slot in model.topology.joint_slots
        if isinstance(group := model.groups[slot.group], JointGroup)
        and isinstance(group.joint, FreeJoint)
    ]
    imposed = set(model.prescribed.v_index)
    slots = [slot for slot in slots if not imposed.intersection(range(slot.v_start, slot.v_stop))]
    tied = model.closures.size or (
        len(model.transmissions.imposed) and model.transmissions.segments.size
    )
    if not slots or tied:
        return None
    scale = np.asarray(model.scale)
    turns = np.random.default_rng(0).normal(size=(SAMPLES, model.nv)) * 2 * scale
    shift = np.zeros(model.nv)
    for slot in slots:
        shift[slot.v_start + 3 : slot.v_stop] = 7 * scale[slot.v_start + 3 : slot.v_stop]
    here, there = (np.asarray(x) for x in _forces(model, q, t, turns, shift))
    for slot in slots:
        own = slice(slot.v_start + 3, slot.v_stop)
        sizes = np.linalg.norm(here[:, own], axis=1)
        alike = np.abs(here[:, own] - there[:, own]).max() <= 1e-8 * sizes.max()
        if np.all(np.isfinite(sizes)) and alike and sizes.min() > HELD * sizes.max() > 0:
            return (
                f"{slot.name!r} floats, and what acts on it adds up to {sizes.min():.3g} N or more "
                "wherever it is and however it is turned. Give it a joint, a spring or a closure"
            )
    return None


def _forces_at(model: Model, q: Any, t: Any, turns: Any, shift: Any) -> Any:
    """Generalized forces of configurations, and of the same ones with floating parts elsewhere."""
    still, zero = model.frozen_at(t), jnp.zeros(model.nv)

    def force(q: Any) -> Any:
        return inverse_dynamics(still, Coordinates(q, zero, zero, zero, t))

    def both(turn: Any) -> Any:
        turned = retract(model, q, turn)
        return force(turned), force(retract(model, turned, shift))

    return jax.lax.map(both, turns)


_forces = jit(_forces_at, quick=True)
