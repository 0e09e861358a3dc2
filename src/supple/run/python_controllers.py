"""Controllers that are plain Python objects: called between compiled steps, at their own rates."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import ArgumentError
from supple.model.control import Control
from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of
from supple.time.feedback import EARLY, Feedback, checked_answer, place_inputs


class ControllerFailed(Exception):
    """A controller raised, or returned what cannot be used; says which and why."""


class Outside:
    """The Python controllers of a model: their memories, and when each is due."""

    def __init__(self, model: Model, start: float) -> None:
        self.controls = [c for c in model.controls if not c.compiled]
        self.memories: list[Any] = [c.own.content if c.own else None for c in self.controls]
        self.calls = [0] * len(self.controls)
        self.start = start

    def take_over(self, before: "Outside", t: float) -> None:
        """Go on with the memories of controllers that were there before; others join in at their turn."""
        known = {c.name: i for i, c in enumerate(before.controls)}
        for i, control in enumerate(self.controls):
            j = known.get(control.name)
            self.calls[i] = int(np.ceil((t - self.start) / control.period - EARLY))
            if j is not None:
                self.memories[i] = before.memories[j]
                if before.controls[j].period == control.period:
                    self.calls[i] = before.calls[j]

    def next_call(self) -> float:
        """When the next one is due (s)."""
        due = [
            self.start + calls * c.period
            for calls, c in zip(self.calls, self.controls, strict=True)
        ]
        return min(due, default=float("inf"))

    def react(self, model: Model, state: State, feedback: Feedback) -> tuple[Feedback, float]:
        """Call those that are due and take their inputs over; also their longest period (s), or 0."""
        t, longest = float(state.t), 0.0
        for i, control in enumerate(self.controls):
            if t < self.start + (self.calls[i] - EARLY) * control.period:
                continue
            feedback = feedback._replace(inputs=self._call(i, control, model, state, feedback))
            self.calls[i] += 1
            longest = max(longest, control.period)
        return feedback, longest

    def _call(
        self, i: int, control: Control, model: Model, state: State, feedback: Feedback
    ) -> jax.Array:
        seen = jax.tree.map(np.asarray, _sense(model, control.sense, state, feedback.inputs))
        try:
            answer = control.act(float(state.t), seen, self.memories[i])
            inputs, self.memories[i] = checked_answer(control.name, answer)
            vector = place_inputs(
                formulation_of(model), control.name, jnp.asarray(feedback.inputs), inputs
            )
        except ArgumentError as error:
            raise ControllerFailed(str(error)) from error
        except (Exception, SystemExit) as error:  # a controller ends its run, not the process
            raise ControllerFailed(f"{control.name}: act raised {error!r}") from error
        if not bool(jnp.all(jnp.isfinite(vector))):
            raise ControllerFailed(f"{control.name}: act: got {inputs}; need finite numbers")
        return vector


@partial(jit, quick=True, static_argnames=("sense",))
def _sense(model: Model, sense: Any, state: State, inputs: Any) -> Any:
    return sense(formulation_of(model).with_inputs(inputs).sensors(state))
