"""Formulations with a mass, a damping and a stiffness matrix: M ẍ + … and equations with multipliers.

Their unknown is the displacement x itself, followed by one multiplier for each equation. In a step the
balance is divided by b = δẍ/δx (of order 1/h²) and the multipliers are scaled with it, so that the matrix
[[M + …, Jᵀ], [J, 0]] keeps its size however short the step.
"""

import abc
from typing import Any, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics_tangent import Tangent
from supple.model.constraints import ActiveSet
from supple.model.state import State
from supple.system.combination import Combination, at_rest, in_step
from supple.system.dense import DenseFactors, Factors, factorize_dense
from supple.system.formulation import AbstractFormulation, Discretization, Vector
from supple.system.kkt import saddle
from supple.system.linear import System


@runtime_checkable
class Evaluated(Protocol):
    """A balance that was evaluated, and whatever its linearization can use again."""

    @property
    def residual(self) -> Vector:
        """Of the balance (N, N m and their like for strains)."""

    @property
    def violation(self) -> Vector:
        """Of the equations: between coordinates (m), or between velocities (m/s)."""


class AbstractSecondOrder(AbstractFormulation):
    """What schemes and analyses need that take M, C and K apart."""

    @property
    @abc.abstractmethod
    def nv(self) -> int:
        """Number of coordinates."""

    @property
    @abc.abstractmethod
    def coordinate_scale(self) -> Vector:
        """Size of a harmless change of each coordinate."""

    @property
    @abc.abstractmethod
    def of_velocities(self) -> np.ndarray:
        """Whether each equation is one between velocities, not between coordinates."""

    @property
    @abc.abstractmethod
    def first_order(self) -> np.ndarray:
        """Whether each coordinate has a rate but no inertia, as the state of a controller."""

    @abc.abstractmethod
    def balance(self, c: Coordinates) -> Evaluated:
        """The balance and the equations at a motion."""

    @abc.abstractmethod
    def linearize(
        self, c: Coordinates, work: Any, combinations: tuple[Combination, ...]
    ) -> list[System]:
        """Linear systems of combinations of M, C and K with the equations, from the balance there."""

    @abc.abstractmethod
    def tangent(self, c: Coordinates, work: Any) -> Tangent:
        """M, C, K and the derivatives of the equations as dense matrices: for small robots and analyses."""

    @abc.abstractmethod
    def forward_dynamics(self, c: Coordinates) -> Vector:
        """ẍ of a motion whose own is not looked at, for robots without equations."""

    @abc.abstractmethod
    def stage_turns(self, stages: Any, reference: int) -> Any:
        """How coordinates turn between the stages of a step and one of them, from the balances there."""

    @abc.abstractmethod
    def turn_force(self, turns: Any, force: Float[Array, "s n"]) -> Float[Array, "s n"]:
        """Forces at the stages, seen at that one."""

    @abc.abstractmethod
    def turn_rate(self, turns: Any, rate: Float[Array, "s n"]) -> Float[Array, "s n"]:
        """Changes of coordinates found there, as they are at the stages."""

    @abc.abstractmethod
    def size_of(self, change: Vector, mass: System) -> Float[Array, ""]:
        """Size of a small displacement relative to the robot's, from the linear system of M."""

    @abc.abstractmethod
    def stiffness_over_mass(self, q: Vector, t: Float[Array, ""]) -> Float[Array, ""]:
        """Elastic stiffness over mass (1/s²), each summed over all coordinates; 1 without any."""

    @abc.abstractmethod
    def frozen_at(
        self, t: Float[Array, ""], *, of_velocities: bool = False
    ) -> "AbstractSecondOrder": ...

    @abc.abstractmethod
    def by_load(self, state: State) -> list["AbstractSecondOrder"]:
        """The robot without its point loads, then with each of them alone, as they are at a state."""

    @abc.abstractmethod
    def with_active(self, active: ActiveSet | None) -> "AbstractSecondOrder": ...

    def with_friction_held(self) -> "AbstractSecondOrder":
        """The same with friction laws whose slopes count as zero; itself where there are none."""
        return self

    @property
    def starts_with_acceleration(self) -> bool:
        return True

    @property
    def equations(self) -> int:
        """Number of equations, each with a multiplier."""
        return len(self.of_velocities)

    @property
    def scale(self) -> Vector:
        return jnp.concatenate([self.coordinate_scale, jnp.full(self.equations, jnp.inf)])

    @property
    def turn_scale(self) -> Vector:
        moving = jnp.where(self.first_order, jnp.inf, self.coordinate_scale)
        return jnp.concatenate([moving, jnp.full(self.equations, jnp.inf)])

    @property
    def factors_last(self) -> bool:
        return False

    def unknown(self, d: Discretization, x: Vector) -> Vector:
        if self.equations == 0:
            return x
        forces = d.origin.multipliers
        forces = jnp.zeros(self.equations) if forces is None else forces
        return jnp.concatenate([x, forces if d.rates is None else forces / d.rates.by_change])

    def displacement(self, d: Discretization, y: Vector) -> Vector:
        return y[: self.nv]

    def coordinates(self, d: Discretization, y: Vector) -> Coordinates:
        """The motion that belongs to an unknown."""
        x, forces, q = y[: self.nv], y[self.nv :], d.origin.q
        if d.rates is None:
            zero = jnp.zeros_like(x)
            return Coordinates(q, x, zero, zero, d.t, forces if self.equations else None)
        xdot, xddot = d.rates.at(x)
        c = Coordinates(q, x, xdot, xddot, d.t)
        if self.equations == 0:
            return c
        if d.rates.penalty:
            forces = forces + d.rates.penalty * self._gaps(c)
        return c._replace(multipliers=d.rates.by_change * forces)

    def residual(self, d: Discretization, y: Vector) -> tuple[Vector, Any]:
        found = self.balance(self.coordinates(d, y))
        if d.rates is None:
            return jnp.concatenate([found.residual, found.violation]), found
        # Speeds that must vanish are divided by δẋ/δx, as the balance by δẍ/δx.
        gap = found.violation
        if np.any(self.of_velocities):
            gap = jnp.where(self.of_velocities, gap / d.rates.by_rate, gap)
        return jnp.concatenate([found.residual / d.rates.by_change, gap]), found

    def factorize(self, d: Discretization, y: Vector, work: Any) -> Factors:
        c = self.coordinates(d, y)
        if d.rates is None:
            return self.linearize(c, work, (at_rest(),))[0].factorize()
        if d.rates.penalty:
            return self._penalized(d, c, work)
        combination = in_step(d.rates.by_rate, d.rates.by_change)
        return self.linearize(c, work, (combination,))[0].factorize()

    def state(self, d: Discretization, y: Vector) -> State:
        return self.state_at(self.coordinates(d, y))

    def state_at(self, c: Coordinates) -> State:
        """The state that a motion around a configuration has reached."""
        return State(
            c.t,
            self.retract(c.q, c.x),
            self.rate(c.q, c.x, c.xdot),
            self.rate_derivative(c.q, c.x, c.xdot, c.xddot),
            c.multipliers,
        )

    def _gaps(self, c: Coordinates) -> Vector:
        """Violations of the equations between coordinates alone."""
        still = c._replace(multipliers=jnp.zeros(self.equations))
        return jnp.where(self.of_velocities, 0.0, self.balance(still).violation)

    def _penalized(self, d: Discretization, c: Coordinates, work: Any) -> DenseFactors:
        """Factors of a step with an augmented Lagrangian, p Jᵀ J added to its matrix."""
        assert d.rates is not None
        a, b = d.rates.by_rate, d.rates.by_change
        found = self.tangent(c, work)
        kept = ~self.of_velocities
        inner = found.mass + (found.stiffness + a * found.damping) / b
        inner = inner + d.rates.penalty * found.force_jacobian[kept].T @ found.jacobian[kept]
        return factorize_dense(
            saddle(inner, found.constraint_jacobian(a), found.force_jacobian, b * found.compliance)
        )
