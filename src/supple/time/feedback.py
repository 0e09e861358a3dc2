"""Controllers inside the compiled run: called at their own rates, their inputs held between calls."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float, Int

from supple.arrays import Array
from supple.errors import ArgumentError
from supple.model.control import Control
from supple.model.state import State
from supple.system.formulation import AbstractFormulation

EARLY = 1e-9
"""Of its period: how early a controller may be called, for round-off."""


class Feedback(NamedTuple):
    """Inputs now, what controllers remember, and how often each was called."""

    inputs: Float[Array, " m"]
    memories: tuple[Any, ...]
    calls: Int[Array, " k"]


def open_feedback(formulation: AbstractFormulation) -> Feedback:
    """Inputs and memories at the start of a run."""
    memories = tuple(jax.tree.map(jnp.asarray, control.memory) for control in formulation.controls)
    return Feedback(formulation.inputs, memories, jnp.zeros(len(formulation.controls), dtype=int))


def next_call(
    formulation: AbstractFormulation, feedback: Feedback, start: Float[Array, ""]
) -> Float[Array, ""]:
    """When the next compiled controller is due (s); never if there is none."""
    due = [
        start + feedback.calls[i] * control.period
        for i, control in enumerate(formulation.controls)
        if control.compiled
    ]
    return jnp.min(jnp.stack(due)) if due else jnp.asarray(jnp.inf)


def react(
    formulation: AbstractFormulation, feedback: Feedback, state: State, start: Float[Array, ""]
) -> tuple[Feedback, Float[Array, ""]]:
    """Call the compiled controllers that are due; also says the longest period (s) of these, or 0."""
    longest = jnp.zeros(())
    for i, control in enumerate(formulation.controls):
        if not control.compiled:
            continue
        due = state.t >= start + (feedback.calls[i] - EARLY) * control.period
        now = feedback

        def act(now: Feedback = now, i: int = i, control: Control = control) -> Feedback:
            inputs, memory = _call(formulation, control, now, now.memories[i], state)
            memories = (*now.memories[:i], memory, *now.memories[i + 1 :])
            return Feedback(inputs, memories, now.calls.at[i].add(1))

        feedback = lax.cond(due, act, lambda now=now: now)
        longest = jnp.maximum(longest, jnp.where(due, control.period, 0.0))
    return feedback, longest


def _call(
    formulation: AbstractFormulation, control: Control, now: Feedback, memory: Any, state: State
) -> tuple[Float[Array, " m"], Any]:
    seen = control.sense(formulation.with_inputs(now.inputs).sensors(state))
    answer = control.act(state.t, seen, memory)
    inputs, after = checked_answer(control.name, answer)
    shapes = [jax.tree.map(jnp.shape, part) for part in (memory, after)]
    if shapes[0] != shapes[1]:
        need = f"a memory like that at the start, with shapes {shapes[0]}"
        raise ArgumentError(f"{control.name}: act: got shapes {shapes[1]}; need {need}")
    kept = jax.tree.map(lambda new, old: jnp.asarray(new, dtype=old.dtype), after, memory)
    return place_inputs(formulation, control.name, now.inputs, inputs), kept


def checked_answer(name: str, answer: Any) -> tuple[dict[str, Any], Any]:
    """The inputs and the memory that a controller returned."""
    need = "(inputs, memory), with inputs a mapping from names to values"
    if not isinstance(answer, tuple) or len(answer) != 2 or not hasattr(answer[0], "items"):
        raise ArgumentError(f"{name}: act: got {answer!r}; need {need}")
    return dict(answer[0]), answer[1]


def place_inputs(
    formulation: AbstractFormulation, name: str, vector: Float[Array, " m"], inputs: dict[str, Any]
) -> Float[Array, " m"]:
    """The vector of inputs with those that a controller sets."""
    for key, value in inputs.items():
        where, shape = formulation.find_input(key, f"{name}: act: input")
        array = jnp.asarray(value, dtype=float)
        if array.shape != shape:
            raise ArgumentError(f"{name}: {key}: got shape {array.shape}; need {shape}")
        vector = vector.at[where].set(array.reshape(-1))
    return vector
