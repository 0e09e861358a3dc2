"""What every time scheme offers: one step from a state, with an estimate of its error."""

import abc
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.mechanics.element_motion import Coordinates
from supple.model.state import State
from supple.system.formulation import AbstractFormulation
from supple.system.second_order import AbstractSecondOrder


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
    def start(self, formulation: AbstractFormulation, state: State) -> Any:
        """Memory carried from step to step, for a state with consistent acceleration."""

    @abc.abstractmethod
    def step(
        self,
        formulation: AbstractFormulation,
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
        outcome, forward and in reverse, at the price of one more linearization.
        """


def second_order(scheme: AbstractScheme, formulation: AbstractFormulation) -> AbstractSecondOrder:
    """The formulation, if it has the mass, damping and stiffness matrices that a scheme needs apart."""
    if isinstance(formulation, AbstractSecondOrder):
        return formulation
    name = type(formulation).__name__
    need = "one with a mass matrix, or a scheme that does without, such as generalized_alpha()"
    raise DescriptionError(type(scheme).__name__, "formulation", name, need)


def step_without_iteration(
    formulation: AbstractSecondOrder,
    state: State,
    reached: Coordinates,
    gap: Float[Array, " nv"] | None,
) -> Step:
    """The step that ends at a motion found at once; ``gap`` is the error of its displacement, if asked for.

    Such a step cannot fail to converge; one that turns the robot by a radian has blown up.
    """
    moved = jnp.abs(reached.x / formulation.coordinate_scale)
    good = jnp.all(jnp.isfinite(jnp.concatenate([reached.x, reached.xdot])))
    return Step(
        state=formulation.state_at(reached),
        memory=None,
        converged=good & (jnp.max(moved) < 1.0),
        iterations=jnp.ones((), dtype=int),
        update=jnp.zeros(()),
        worst=jnp.argmax(moved),
        error=jnp.zeros(()) if gap is None else formulation.error_norm(state, gap),
    )
