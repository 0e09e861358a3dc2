"""Where a run starts: the model of a robot, and a state of it that is allowed."""

from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.mechanics.element_motion import neutral
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.assembly import check_closed, closed_at_rest
from supple.run.transfer import carry_over


def as_model(robot: Robot | Model, accuracy: float | None = None) -> Model:
    """The model of a robot (for an accuracy, where it leaves choices open), or the model itself."""
    if isinstance(robot, Robot):
        return robot.build(DEFAULT_ACCURACY if accuracy is None else accuracy)
    return robot


def initial_state(
    model: Model,
    q: Any = None,
    v: Any = None,
    t: float = 0.0,
) -> State:
    """A state at rest in the described shape, unless q or v say otherwise."""
    configuration = neutral(model) if q is None else np.asarray(q, dtype=float)
    velocity = np.zeros(model.nv) if v is None else np.asarray(v, dtype=float)
    for name, array, size in (("q", configuration, model.nq), ("v", velocity, model.nv)):
        if array.shape != (size,):
            raise ArgumentError(
                f"{name}: got shape {array.shape}; need ({size},) for {model.name!r}"
            )
        if not np.all(np.isfinite(array)):
            bad = int(np.flatnonzero(~np.isfinite(array))[0])
            raise ArgumentError(f"{name}[{bad}]: got {array[bad]}; need finite numbers")
    configuration = _with_unit_quaternions(model, configuration)
    return State(np.asarray(float(t)), configuration, velocity, np.zeros(model.nv))


def _with_unit_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """Quaternions may be given in any length, as in descriptions; poses take them for unit ones."""
    q = q.copy()
    for slot in model.topology.joint_slots:
        group = model.groups[slot.group]
        if group.nq == group.nv:
            continue
        quaternion = q[slot.q][:4]
        norm = np.linalg.norm(quaternion)
        if norm == 0:
            raise ArgumentError(
                f"q of joint {slot.name!r}: got the quaternion {quaternion.tolist()}; "
                "need one that is not zero, (1, 0, 0, 0) for no turn"
            )
        quaternion /= norm
    return q


def start_state(model: Model, initial: Any) -> State:
    """The state to start from; one that knows its model is carried over by name."""
    if callable(initial):
        initial = initial(model)
    if initial is None:
        state = initial_state(model)
        if model.holonomic:
            closed = closed_at_rest(model, np.asarray(state.q), 0.0)
            return initial_state(model, closed.q)
        return state
    held = getattr(initial, "model", None)
    if isinstance(initial, Result):
        initial = initial.final
    t = float(getattr(initial, "t", 0.0))
    if held is not None and held.topology != model.topology:
        known = initial_state(held, initial.q, getattr(initial, "v", None), t)
        state = carry_over(known, held, model)
    else:
        state = initial_state(model, initial.q, getattr(initial, "v", None), t)
        forces = getattr(initial, "multipliers", None)
        if forces is not None and np.size(forces) == model.equations > 0:  # they tell what is taut
            state = replace(state, multipliers=np.asarray(forces))
    if model.holonomic:
        check_closed(model, np.asarray(state.q), t)
    return state
