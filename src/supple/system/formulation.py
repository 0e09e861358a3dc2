"""What solvers need to know of a robot, and nothing more: the seam between mechanics and solvers.

A *formulation* says what the numbers of a robot are and which equations they fulfil:

- its *state* at an instant, q, with rates v and accelerations a, on a manifold (``retract`` and its kin);
- the *unknown* y of one solve, which need not be the state: coordinates and multipliers, or the wrench at
  the base of a rod that is integrated from there;
- the *residual* of y and its factorized derivative, at rest or with the rates that a time scheme ties to
  displacements (:class:`Discretization`);
- the state that a solution leads to.

Time schemes, statics, continuation and rollouts see only this. Schemes and analyses that need mass, damping
and stiffness matrices apart ask for a :mod:`second-order formulation <supple.system.second_order>`.
"""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.model.constraints import ActiveSet
from supple.model.control import Control
from supple.model.model import Model
from supple.model.state import State
from supple.system.active_set import OneSided
from supple.system.dense import Factors
from supple.system.implicit import WithFactors, implicit_root

Vector = Float[Array, " _"]
Scalar = Float[Array, ""] | float


class Rates(NamedTuple):
    """How a scheme ties rates to a displacement x: ẋ = a x + ẋ₀, ẍ = b x + ẍ₀."""

    by_rate: Scalar
    """a = δẋ/δx (1/s)."""
    by_change: Scalar
    """b = δẍ/δx (1/s²)."""
    velocity: Vector
    """ẋ₀."""
    acceleration: Vector
    """ẍ₀."""
    penalty: float = 0.0
    """Weight (kg) of an augmented Lagrangian, for schemes that have one."""

    def at(self, x: Vector) -> tuple[Vector, Vector]:
        """ẋ and ẍ at a displacement."""
        return self.by_rate * x + self.velocity, self.by_change * x + self.acceleration


class Discretization(NamedTuple):
    """One solve: displacements x are counted from a state, the balance is taken at time t.

    Without rates the robot is at rest there.
    """

    origin: State
    t: Float[Array, ""]
    rates: Rates | None = None


class Descent(NamedTuple):
    """When a full step of Newton's method is taken, whatever it promises of the next one."""

    weight: Vector
    """Of the entries of the residual, which makes them work, or numbers of one unit."""
    falls_to: float = 0.03
    """The most of the residual that may be left."""


class AbstractFormulation(eqx.Module):
    """A robot as its solvers see it; a pytree, so that it can be differentiated and batched."""

    # Unknowns and equations -------------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def scale(self) -> Vector:
        """Size of a harmless change of each unknown; infinite for those whose convergence does not matter."""

    @property
    @abc.abstractmethod
    def turn_scale(self) -> Vector:
        """Change of each unknown that turns the robot by about a radian; infinite if it turns nothing."""

    @property
    def descent(self) -> Descent:
        """What tells whether a full step of Newton's method is taken without a further look."""
        return Descent(jnp.where(jnp.isfinite(self.scale), self.scale, 1.0))

    @abc.abstractmethod
    def unknown(self, d: Discretization, x: Vector) -> Vector:
        """A guess of the unknown from a guess of the displacement from d's origin."""

    def foreseen(self, d: Discretization, x: Vector) -> Vector:
        """A better guess of the displacement of a step than one whose coordinates go on by themselves."""
        return x

    @abc.abstractmethod
    def displacement(self, d: Discretization, y: Vector) -> Vector:
        """The displacement x that belongs to an unknown."""

    @abc.abstractmethod
    def residual(self, d: Discretization, y: Vector) -> tuple[Vector, Any]:
        """What must vanish; and what :meth:`factorize` can use again."""

    @abc.abstractmethod
    def factorize(self, d: Discretization, y: Vector, work: Any) -> Factors:
        """The factorized derivative of the residual by the unknown."""

    @abc.abstractmethod
    def state(self, d: Discretization, y: Vector) -> State:
        """The state that a solution leads to."""

    @property
    @abc.abstractmethod
    def factors_last(self) -> bool:
        """Whether factors are worth keeping from step to step: dear to find, and slow to change."""

    # Hosts ------------------------------------------------------------------------------------------------

    @property
    def host(self) -> Model | None:
        """The same robot in other coordinates, where starts and guesses come from; None where in its own."""
        return None

    def of_host(self, state: State) -> State:
        """A state of the host as one of this formulation."""
        return state

    def adopted(self, other: Model, state: State) -> State:
        """A state of another robot with a host, of the same items, as one of this formulation."""
        return state

    # Manifold ---------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def retract(self, q: Vector, x: Vector) -> Vector:
        """The configuration reached from q by a displacement."""

    @abc.abstractmethod
    def difference(self, q: Vector, other: Vector) -> Vector:
        """The displacement that leads from q to another configuration."""

    @abc.abstractmethod
    def rate(self, q: Vector, x: Vector, xdot: Vector) -> Vector:
        """The velocity v of a motion ẋ at x."""

    @abc.abstractmethod
    def chart_rate(self, q: Vector, x: Vector, v: Vector) -> Vector:
        """The rate ẋ at x of a motion with velocity v: the inverse of :meth:`rate`."""

    @abc.abstractmethod
    def rate_derivative(self, q: Vector, x: Vector, xdot: Vector, xddot: Vector) -> Vector:
        """The acceleration dv/dt."""

    @abc.abstractmethod
    def any_state(self) -> State:
        """Some state, for its shapes."""

    # Runs -------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def consistent_state(
        self, q: Vector, v: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> tuple[State, ActiveSet | None]:
        """The state with which a motion begins at (q, v), and which one-sided equations are active there.

        q is kept. Velocities that equations forbid are taken away as by an inelastic impact; accelerations
        and multipliers follow from the balance. ``multipliers`` are those of a state before, which tell which
        equations held.
        """

    @property
    @abc.abstractmethod
    def starts_with_acceleration(self) -> bool:
        """Whether :meth:`consistent_state` knows accelerations."""

    @abc.abstractmethod
    def with_acceleration(self, state: State) -> State:
        """A state with the acceleration and the multipliers that follow from its position and velocity."""

    @abc.abstractmethod
    def error_norm(self, state: State, change: Vector) -> Float[Array, ""]:
        """Size of a small displacement relative to the robot's: the norm in which step errors are told."""

    @abc.abstractmethod
    def fastest_turn(self, v: Vector) -> Float[Array, ""]:
        """Largest angular speed (rad/s) that no displacement tells beyond half a turn."""

    @property
    @abc.abstractmethod
    def active_first(self) -> ActiveSet | None:
        """One-sided equations that a solve which knows nothing takes for active; None without any."""

    @abc.abstractmethod
    def with_active(self, active: ActiveSet | None) -> "AbstractFormulation":
        """With these of its one-sided equations taken for active; itself for None."""

    @abc.abstractmethod
    def active_at(
        self, q: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> ActiveSet | None:
        """Which one-sided equations are active at rest, judged by their gaps and multipliers."""

    @abc.abstractmethod
    def one_sided(self, state: State) -> OneSided:
        """How the one-sided equations stand at a state."""

    @property
    @abc.abstractmethod
    def length(self) -> Float[Array, ""]:
        """Size of the robot (m), in which gaps are told small from large."""

    @property
    @abc.abstractmethod
    def controls(self) -> tuple[Control, ...]:
        """Controllers that act on the robot in a run."""

    @property
    @abc.abstractmethod
    def inputs(self) -> Float[Array, " m"]:
        """What controllers set, in one row."""

    @abc.abstractmethod
    def find_input(self, name: str, asking: str) -> tuple[slice, tuple[int, ...]]:
        """Place and shape of an input; ``asking`` is who needs it, for the message."""

    @abc.abstractmethod
    def with_inputs(self, inputs: Float[Array, " m"]) -> "AbstractFormulation":
        """With other inputs."""

    @abc.abstractmethod
    def sensors(self, state: State) -> Any:
        """What controllers can see."""

    @property
    @abc.abstractmethod
    def guarded(self) -> Model | None:
        """The model whose energy a run watches; None for a formulation that cannot tell it."""

    # Statics ----------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def frozen_at(
        self, t: Float[Array, ""], *, of_velocities: bool = False
    ) -> "AbstractFormulation":
        """The robot as it is at time t, with nothing driven further.

        Equations between velocities say nothing of a robot at rest, and are left out unless asked for.
        """

    @abc.abstractmethod
    def loaded(self, factor: Scalar) -> "AbstractFormulation":
        """The robot with its loads times a factor."""


def with_implicit_derivative(
    formulation: AbstractFormulation, d: Discretization, root: Vector
) -> Vector:
    """A root of the residual with its derivatives, by the implicit function theorem.

    ``root`` itself carries none: it comes from a loop behind ``stop_gradient``.
    """
    fixed = lax.stop_gradient(root)
    _, work = formulation.residual(d, fixed)
    factors = formulation.factorize(d, fixed, work)
    return implicit_root(lambda y: formulation.residual(d, y)[0], fixed, WithFactors(factors))
