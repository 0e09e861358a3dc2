"""A robot whose rods are shot, as its solvers see it.

Each solve is for the companion and the starts of all segments (:mod:`supple.shooting.balance`). The state
is the configuration of the record: poses, strains, wrenches and twists at the nodes. Stations move as the
ends of their pieces; only joints have rates of their own.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics import element_motion
from supple.mechanics.sensing import Sensors
from supple.model.constraints import ActiveSet
from supple.model.control import Control
from supple.model.inputs import find_input, input_vector, with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.shooting import balance, motion
from supple.shooting.assembly import factorized
from supple.shooting.parts import NUMBERS, Parts, parts_of
from supple.shooting.start import resampled, sampled
from supple.system import active_set
from supple.system.dense import Factors
from supple.system.formulation import AbstractFormulation, Descent, Discretization, Scalar, Vector

FALLS_TO = 0.75
"""Errors at the start of a segment grow along it, so that updates may grow on the way to the solution."""


class StrongForm(AbstractFormulation):
    """A robot whose rods are shot, by its record."""

    record: Model

    @property
    def parts(self) -> Parts:
        """What is solved."""
        return parts_of(self.record)

    @property
    def companion(self) -> Model:
        """The robot without its rods."""
        return self.parts.companion

    @property
    def equations(self) -> int:
        """Number of the companion's equations."""
        return self.parts.equations

    @property
    def host(self) -> Model:
        return self.parts.host

    def of_host(self, state: State) -> State:
        return sampled(self.record, self.host, state)

    def adopted(self, other: Model, state: State) -> State:
        return resampled(self.record, other, state)

    # Unknowns and equations -------------------------------------------------------------------------------

    @property
    def scale(self) -> Vector:
        # Wrenches and twists follow from displacements, but Newton's method must see whether they settle.
        lengths = self.parts.rods.units[:, :6]
        loose = 10 * jnp.ones_like(lengths), 10 * self.parts.rods.frequencies[:, None] * lengths
        starts = jnp.concatenate([lengths, *loose], axis=1)
        own = jnp.asarray(self.companion.scale)
        free = jnp.full(self.equations + self.parts.lines, jnp.inf)
        return jnp.concatenate([own, free, starts.reshape(-1)])

    @property
    def turn_scale(self) -> Vector:
        starts = jnp.full((self.parts.layout.size, NUMBERS), jnp.inf)
        tail = starts.at[:, :6].set(self.parts.rods.units[:, :6]).reshape(-1)
        return self.scale.at[-len(tail) :].set(tail)

    @property
    def descent(self) -> Descent:
        return Descent(jnp.ones_like(self.scale), FALLS_TO)

    def unknown(self, d: Discretization, x: Vector) -> Vector:
        return balance.guess(self.parts, d, x)

    def residual(self, d: Discretization, y: Vector) -> tuple[Vector, Any]:
        return balance.residual(self.parts, d, y)

    def factorize(self, d: Discretization, y: Vector, work: Any) -> Factors:
        return factorized(self.parts, d, y, work)

    @property
    def factors_last(self) -> bool:
        return True

    # States -----------------------------------------------------------------------------------------------

    def displacement(self, d: Discretization, y: Vector) -> Vector:
        return motion.displacement(self.parts, d, y)

    def state(self, d: Discretization, y: Vector) -> State:
        x = self.displacement(d, y)
        zero = jnp.zeros_like(x)
        xdot, xddot = (zero, zero) if d.rates is None else d.rates.at(x)
        multipliers = self.parts.force * self.parts.split(y)[1] if self.equations else None
        q = self.retract(d.origin.q, x)
        v = self.rate(d.origin.q, x, xdot)
        a = self.rate_derivative(d.origin.q, x, xdot, xddot)
        if d.rates is not None:
            v, a = motion.moving(self.parts, q, v, a)
        return State(d.t, q, v, a, multipliers)

    def retract(self, q: Vector, x: Vector) -> Vector:
        return element_motion.retract(self.record, q, x)

    def difference(self, q: Vector, other: Vector) -> Vector:
        return element_motion.difference(self.record, q, other)

    def rate(self, q: Vector, x: Vector, xdot: Vector) -> Vector:
        return element_motion.rate(self.record, q, x, xdot)

    def chart_rate(self, q: Vector, x: Vector, v: Vector) -> Vector:
        return element_motion.chart_rate(self.record, q, x, v)

    def rate_derivative(self, q: Vector, x: Vector, xdot: Vector, xddot: Vector) -> Vector:
        return element_motion.rate_derivative(self.record, q, x, xdot, xddot)

    def any_state(self) -> State:
        zero = jnp.zeros(self.record.nv)
        forces = jnp.zeros(self.equations) if self.equations else None
        return State(jnp.zeros(()), jnp.zeros(self.record.nq), zero, zero, forces)

    # Runs -------------------------------------------------------------------------------------------------

    @property
    def starts_with_acceleration(self) -> bool:
        return False

    def consistent_state(
        self, q: Vector, v: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> tuple[State, ActiveSet | None]:
        forces = None
        if self.equations:
            forces = jnp.zeros(self.equations) if multipliers is None else multipliers
        state = State(t, q, v, jnp.zeros_like(v), forces)
        return state, self.active_at(q, t, multipliers)

    def with_acceleration(self, state: State) -> State:
        return state

    def error_norm(self, state: State, change: Vector) -> Float[Array, ""]:
        shift = self.parts.poses(change)[:, 3:]
        return jnp.sqrt(jnp.mean(jnp.sum(shift**2, axis=1))) / self.length

    def fastest_turn(self, v: Vector) -> Float[Array, ""]:
        return element_motion.fastest_turn(self.record, v)

    @property
    def active_first(self) -> ActiveSet | None:
        return active_set.active_first(self.companion)

    def with_active(self, active: ActiveSet | None) -> "StrongForm":
        return self if active is None else self._with(lambda m: active_set.hold(m, active))

    def active_at(
        self, q: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> ActiveSet | None:
        close = active_set.CLOSE * self.length
        return active_set.active_at(
            self.companion, self.parts.of_companion(q), t, multipliers, close
        )

    def one_sided(self, state: State) -> active_set.OneSided:
        q, v = self.parts.of_companion(state.q), self.parts.of_companion(state.v)
        return active_set.one_sided(self.companion, q, v, state.t, state.multipliers)

    @property
    def length(self) -> Float[Array, ""]:
        return jnp.max(self.parts.rods.units[:, 3])

    @property
    def controls(self) -> tuple[Control, ...]:
        return self.record.controls

    @property
    def inputs(self) -> Float[Array, " m"]:
        return input_vector(self.record)

    def find_input(self, name: str, asking: str) -> tuple[slice, tuple[int, ...]]:
        return find_input(self.record, name, asking)

    def with_inputs(self, inputs: Float[Array, " m"]) -> "StrongForm":
        return self._with(lambda model: with_inputs(model, inputs))

    def sensors(self, state: State) -> Sensors:
        return Sensors(self.record, state)

    @property
    def guarded(self) -> None:
        return None

    def _with(self, change: Callable[[Model], Model]) -> "StrongForm":
        """With both models changed."""
        record = change(self.record)
        parts = dataclasses.replace(self.parts, companion=change(self.companion))
        assert self.record.fields is not None
        fields = dataclasses.replace(self.record.fields, parts=parts)
        return StrongForm(dataclasses.replace(record, fields=fields))

    # Statics ----------------------------------------------------------------------------------------------

    def frozen_at(self, t: Float[Array, ""], *, of_velocities: bool = False) -> "StrongForm":
        slips = self.companion.slips if of_velocities else ()
        return self._with(lambda m: dataclasses.replace(m.frozen_at(t), slips=slips))

    def loaded(self, factor: Scalar) -> "StrongForm":
        def raised(model: Model) -> Model:
            return eqx.tree_at(lambda m: m.load_factor, model, factor * model.load_factor)

        return self._with(raised)
