"""Where a run starts: the model of a robot, and a state of it that is allowed."""

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from supple.errors import ArgumentError
from supple.mechanics.element_motion import neutral
from supple.model.model import Model
from supple.model.state import State
from supple.numeric import is_traced
from supple.results.result import Result
from supple.robot.formulations import formulation_name, formulation_of
from supple.robot.graph import Item
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.assembly import check_closed, closed_at_rest
from supple.run.hosted import own_state
from supple.run.transfer import carry_over, same_coordinates
from supple.shooting.settings import Shooting

_Given = TypeVar("_Given")


def as_model(robot: Robot | Model, accuracy: float | None = None) -> Model:
    """The model of a robot (for an accuracy, where it leaves choices open), or the model itself."""
    if isinstance(robot, Robot):
        return robot.build(DEFAULT_ACCURACY if accuracy is None else accuracy)
    if not isinstance(robot, Model):
        raise ArgumentError(f"robot: got {_named(robot)}; need {_robot_needed(robot)}")
    return robot


def of_numbers(model: Model, asking: str, instead: str) -> Model:
    """The model, if it can be looked at."""
    if is_traced(model):
        raise ArgumentError(
            f"{asking}: got {model.name!r} with traced numbers (inside jax.grad, jit, vmap or a batch); need "
            f"{instead}"
        )
    return model


def formulated(robot: _Given, formulation: str | Shooting | None) -> _Given:
    """A robot with the formulation that was asked for; None leaves its own.

    A model is built for one: it is as it is.
    """
    if formulation is None:
        return robot
    if isinstance(robot, Robot):
        return robot.with_formulation(formulation)  # type: ignore[return-value]
    if isinstance(robot, Model) and robot.formulation != formulation_name(formulation):
        need = f"the robot, or a model built with robot.with_formulation({formulation!r}).build()"
        raise ArgumentError(
            f"formulation: got {formulation!r} for a model of formulation "
            f"{robot.formulation!r}; need {need}"
        )
    return robot


def _named(value: object) -> str:
    return repr(value) if isinstance(value, str | Path) else f"a {type(value).__name__}"


def _robot_needed(value: Any) -> str:
    """How a robot is made of what was given instead."""
    if isinstance(value, str | Path):
        file = repr(str(value))
        return f"a Robot: supple.load({file}).robot; or supple.load({file}).run() for what the file asks"
    if isinstance(getattr(value, "robot", None), Robot):
        return "its robot: file.robot; or file.run() for what the file asks"
    if isinstance(value, Item | list | tuple):
        return "a Robot of items: Robot(rod, body, …)"
    return "a Robot, or a model of one (robot.build())"


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


def _numbers(model: Model, initial: Any) -> np.ndarray:
    """Coordinates that were given as plain numbers."""
    need = (
        f"a state, an equilibrium, a run, or the coordinates, {model.nq} numbers for {model.name!r}; "
        "initial_state(model, q, v) makes a state of coordinates and velocities"
    )
    try:
        numbers = np.asarray(initial, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"initial: got {_named(initial)}; need {need}") from None
    if numbers.shape != (model.nq,):
        raise ArgumentError(f"initial: got shape {numbers.shape}; need {need}")
    return numbers


def start_state(model: Model, initial: Any) -> State:
    """The state to start from; one that knows its model is carried over by name."""
    if callable(initial):
        initial = initial(model)
    formulation = formulation_of(model)
    if formulation.host is not None:
        own = own_state(model, initial)
        return own or formulation.of_host(start_state(formulation.host, initial))
    if initial is None:
        state = initial_state(model)
        if model.holonomic:
            closed = closed_at_rest(model, np.asarray(state.q), 0.0)
            return initial_state(model, closed.q)
        return state
    if not hasattr(initial, "q"):
        return start_state(model, initial_state(model, _numbers(model, initial)))
    held = getattr(initial, "model", None)
    if isinstance(initial, Result):
        initial = initial.final
    t = float(getattr(initial, "t", 0.0))
    if held is not None and not same_coordinates(held, model):
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
