"""What every time scheme offers: one step from a state, with an estimate of its error."""

import abc
from typing import Any, NamedTuple

from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.mechanics.local import Coordinates, rate, rate_derivative, retract
from supple.model.model import Model
from supple.model.state import State


class Step(NamedTuple):
    """Outcome of one attempted step."""

    state: State
    memory: Any
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]
    update: Float[Array, ""]
    worst: Int[Array, ""]
    error: Float[Array, ""]
    """Estimated displacement error relative to the robot's size; zero unless asked for."""


def state_at(model: Model, c: Coordinates) -> State:
    """The state that a motion in the chart of a step has reached."""
    return State(
        c.t,
        retract(model, c.q, c.x),
        rate(model, c.q, c.x, c.xdot),
        rate_derivative(model, c.q, c.x, c.xdot, c.xddot),
        c.multipliers,
    )


class AbstractScheme(abc.ABC):
    """A one-step scheme; frozen dataclasses, so that compiled runs are shared."""

    @property
    @abc.abstractmethod
    def order(self) -> int:
        """Order of convergence."""

    @property
    @abc.abstractmethod
    def error_order(self) -> int:
        """The estimated local error shrinks like h to this power."""

    @property
    def guarded(self) -> bool:
        """Whether steps that claim a gain of energy are split (see ``guard``).

        Not for schemes that keep the energy of linear vibrations: they are chosen for just that step.
        """
        return True

    @abc.abstractmethod
    def start(self, model: Model, state: State) -> Any:
        """Memory carried from step to step, for a state with consistent acceleration."""

    @abc.abstractmethod
    def step(
        self,
        model: Model,
        state: State,
        memory: Any,
        h: Float[Array, ""],
        *,
        budget: Float[Array, ""] | None = None,
        differentiable: bool = False,
    ) -> Step:
        """Attempt one step of length h (s).

        With a ``budget`` (displacement error over the robot's size) the step estimates its error and
        solves only as well as the budget needs. ``differentiable`` steps carry derivatives of their
        outcome, forward and in reverse, at the price of one more linearisation.
        """
