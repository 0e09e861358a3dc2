"""What people are told of a run: where and why it ended, and whose coordinate is to blame."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent, mass_matrix
from supple.mechanics.law_check import unusable_at
from supple.model.inputs import input_slices, with_inputs
from supple.model.model import Model
from supple.run.fallback import fallback_note
from supple.run.locked import why_locked
from supple.time.advance import Cursor, Status


def found_reason(model: Model, status: Status, cursor: Cursor) -> tuple[Status, str]:
    """A failed run's status, and the law or load that failed it; no reason where none is to blame."""
    if status not in (Status.NOT_CONVERGED, Status.BAD_INPUT):
        return status, ""
    inputs, state = cursor.feedback.inputs, cursor.state
    if not np.all(np.isfinite(np.asarray(inputs))):
        names = ", ".join(repr(control.name) for control in model.controls)
        return (
            Status.BAD_INPUT,
            f"controller {names}: inputs {_named_inputs(model, cursor)} must be finite",
        )
    now, t = with_inputs(model, inputs), float(state.t)
    for instant in (t, t + float(cursor.h)):
        reason = unusable_at(now, state.q, state.v, instant)
        if reason is not None:
            return Status.BAD_INPUT, reason
    return status, ""


def run_message(model: Model, status: Status, cursor: Cursor, reason: str) -> str:
    """How a run ended: where, why, and what may help."""
    t = float(cursor.state.t)
    if status == Status.DONE:
        return f"{status.message} (t = {t:g} s)" + gained_energy(cursor) + fallback_note(model)
    text = f"{status.message} at t = {t:.9g} s, step {float(cursor.h):.3g} s"
    if reason:
        text += f": {reason}"
    if status == Status.NOT_CONVERGED and (why := _locked(model, cursor)) is not None:
        text += f": {why}"
    elif status == Status.NOT_CONVERGED and not np.all(np.isfinite(cursor.state.a)):
        text += f": accelerations there are not finite; {_no_acceleration(model, cursor)}"
    elif status == Status.NOT_CONVERGED:
        text += (
            f"; the largest correction was in {coordinate_owner(model, int(cursor.worst))}. "
            "Check loads and stiffness there, or try more nodes, a smaller dt or radau()."
        )
    return text


def _locked(model: Model, cursor: Cursor) -> str | None:
    """The loops that lock the robot where a run ended."""
    if model.fields is not None:
        return None
    return why_locked(model, cursor.state.q, cursor.state.t)


def gained_energy(cursor: Cursor | None) -> str:
    """What is to be said of a passive robot whose energy has grown; nothing where it has not."""
    ledger = None if cursor is None else cursor.ledger
    gain = 0.0 if ledger is None else float(ledger.gain)
    if gain <= 0.0:
        return ""
    return (
        f"; the robot gained {gain:.2g} times the energy that could move, though nothing works on it: "
        "take a smaller dt, radau(), or an accuracy instead of a step"
    )


def _no_acceleration(model: Model, cursor: Cursor) -> str:
    """Why a state has no acceleration, for messages: a motion without mass, or loads."""
    if model.fields is not None:
        return "check the loads."
    mass = np.asarray(jit(mass_matrix, quick=True)(model, cursor.state.q))
    values, motions = np.linalg.eigh(mass)
    if not np.all(np.isfinite(mass)) or values[0] > 1e-14 * values[-1]:
        return _dependent(model, cursor) or "check the loads."
    owner = coordinate_owner(model, int(np.argmax(np.abs(motions[:, 0]))))
    return f"{owner} moves nothing that has inertia: give bodies their inertia (kg m²)."


def _dependent(model: Model, cursor: Cursor) -> str:
    """Which equations forbid the same motions where the robot is, for messages; empty if none do."""
    if model.equations == 0:
        return ""
    zero, multipliers = jnp.zeros(model.nv), jnp.zeros(model.equations)
    c = Coordinates(cursor.state.q, zero, zero, zero, cursor.state.t, multipliers)
    rows = np.asarray(jit(inverse_dynamics_tangent, quick=True)(model, c).jacobian)
    active = np.flatnonzero(np.any(rows != 0.0, axis=1))
    directions, sizes, _ = np.linalg.svd(rows[active] * np.asarray(model.scale))
    if not sizes.size or (sizes[-1] > 1e-10 * sizes[0] and len(sizes) == len(directions)):
        return ""
    share = np.abs(directions[:, -1])
    involved = active[share > 0.1 * share.max()]
    owners = dict.fromkeys(np.array(model.constraints.owner)[involved].tolist())
    text = f"there {' and '.join(owners)} forbid the same motions, so that their forces are open."
    if any(owner.startswith("tendon") for owner in owners):
        text += " Give tendons a stiffness, or rods that stretch (strains='auto')."
    return text


def _named_inputs(model: Model, cursor: Cursor) -> dict[str, Any]:
    values = np.asarray(cursor.feedback.inputs)
    return {name: values[where].tolist() for name, (where, _) in input_slices(model).items()}


def coordinate_owner(model: Model, coordinate: int) -> str:
    """Name of the item a coordinate belongs to, for messages."""
    if model.fields is not None:
        owner: str = model.fields.parts.owner(coordinate)
        return owner
    for kind, slots in (
        ("rod", model.topology.rod_slots),
        ("joint of", model.topology.joint_slots),
    ):
        for slot in slots:
            if slot.v_start <= coordinate < slot.v_stop:
                return f"{kind} {slot.name!r}, coordinate {coordinate - slot.v_start}"
    return f"coordinate {coordinate}"
