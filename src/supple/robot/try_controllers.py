"""Controllers, called once when their robot is built: with what they will see, and with nothing computed."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.errors import ArgumentError, DescriptionError
from supple.mechanics.element_motion import neutral
from supple.mechanics.sensing import Sensors
from supple.model.control import Control
from supple.model.inputs import find_input
from supple.model.model import Model
from supple.model.regulators import Regulator
from supple.model.state import State
from supple.tried import check_numbers, number, tried


def try_controllers(model: Model) -> None:
    """Raise unless all that controllers are compiled to can be traced and fits the robot."""
    for control in model.controls:
        seen = _seen(model, control)
        if control.compiled:
            _try_control(model, control, seen)
    for regulator in model.regulators:
        _try_regulator(model, regulator, _seen(model, regulator))


def _seen(model: Model, one: Control | Regulator) -> Any:
    """What it senses, as shapes."""
    forces = jnp.zeros(model.equations) if model.equations else None
    zero = jnp.zeros(model.nv)

    def sense(t: Any, q: Any, v: Any) -> Any:
        return one.sense(Sensors(model, State(t, q, v, zero, forces)))

    need = "a function of the sensors that gives arrays, written with jax.numpy"
    q = jax.ShapeDtypeStruct(np.shape(neutral(model)), float)
    return tried(one.name, "sense", sense, (number(), q, number(model.nv)), need)


def _try_control(model: Model, control: Control, seen: Any) -> None:
    need = "a function of (t, seen, memory) -> (inputs, memory), written with jax.numpy"
    memory = jax.tree.map(lambda x: _struct(jnp.asarray(x)), control.memory)
    answer = tried(control.name, "act", control.act, (number(), seen, memory), need)
    if not isinstance(answer, tuple) or len(answer) != 2 or not hasattr(answer[0], "items"):
        raise DescriptionError(control.name, "act", answer, need)
    _check_inputs(model, control.name, answer[0])
    forms = [str(jax.tree.structure(part)) for part in (memory, answer[1])]
    if forms[0] != forms[1]:
        told = f"a memory like that at the start, {forms[0]}"
        raise DescriptionError(control.name, "act", f"the memory {forms[1]}", told)
    for old, new in zip(jax.tree.leaves(memory), jax.tree.leaves(answer[1]), strict=True):
        if old.shape != new.shape:
            told = f"a memory like that at the start, of shape {old.shape}"
            raise DescriptionError(control.name, "act", f"a memory of shape {new.shape}", told)
        if jnp.promote_types(old.dtype, new.dtype) != old.dtype:
            told = f"what it remembers at the start as {new.dtype.name}: 0.0, not 0"
            raise DescriptionError(control.name, "memory", old.dtype.name, told)


def _try_regulator(model: Model, one: Regulator, seen: Any) -> None:
    need = "a function of (t, seen, state) -> {input: value}, written with jax.numpy"
    given = (number(), seen, number(one.size))
    answer = tried(one.name, "act", one.act, given, need)
    if not hasattr(answer, "items"):
        raise DescriptionError(one.name, "act", answer, need)
    _check_inputs(model, one.name, answer)
    if one.rate is not None:
        need = f"a function of (t, seen, state) -> ({one.size},), one rate for each state"
        found = tried(one.name, "rate", one.rate, given, need)
        check_numbers(one.name, "rate", jax.eval_shape(jnp.asarray, found), [(one.size,)], need)


def _check_inputs(model: Model, name: str, inputs: Any) -> None:
    for key, value in inputs.items():
        try:
            _, shape = find_input(model, key, "input")
        except ArgumentError as error:
            need = str(error).partition("need ")[2] or str(error)
            raise DescriptionError(name, "act: input", key, need) from None
        check_numbers(name, f"act: input {key!r}", value, [shape], f"numbers of shape {shape}")


def _struct(x: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)
