"""The strain formulation: rods as joints whose coordinates are those of their strain (000, 001)."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics import element_motion
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.element_tangent import element_tangents
from supple.mechanics.inverse_dynamics import Balance, balance, element_stiffness
from supple.mechanics.inverse_dynamics_tangent import Tangent, tangent_of
from supple.mechanics.prediction import turning_on
from supple.mechanics.regulation import (
    RegulationTangent,
    rates_of_rates,
    regulate,
    regulated_balance,
    regulated_model,
    regulation_tangent,
    state_coordinates,
)
from supple.mechanics.sensing import Sensors
from supple.mechanics.stage_transport import Turns, stage_turns, turn_force, turn_rate
from supple.mechanics.tree import depth_of
from supple.model.constraints import ActiveSet
from supple.model.control import Control
from supple.model.friction import held
from supple.model.inputs import find_input, input_vector, with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.system import active_set
from supple.system.combination import Combination
from supple.system.error_norm import characteristic_length, error_norm
from supple.system.formulation import Discretization, Scalar, Vector
from supple.system.forward_dynamics import acceleration, chart_acceleration
from supple.system.linear import DenseSystem, System, linearize, mass_system
from supple.system.second_order import AbstractSecondOrder
from supple.system.update import UpdatedSystem

LONG = 500
"""Elements behind each other from which guesses keep the world's turns. Measured with the driven chain of the
growth bench: 25 Newton iterations a step instead of 59 for 1,000 rods, but 6 instead of 4 for 320."""


class Strain(AbstractSecondOrder):
    """A model in its own coordinates."""

    model: Model

    @property
    def nv(self) -> int:
        return self.model.nv

    @property
    def coordinate_scale(self) -> Vector:
        return jnp.asarray(self.model.scale)

    @property
    def of_velocities(self) -> np.ndarray:
        return self.model.constraints.of_velocities

    @property
    def first_order(self) -> np.ndarray:
        return np.isin(np.arange(self.nv), state_coordinates(self.model))

    def balance(self, c: Coordinates) -> Balance:
        return regulated_balance(self.model, c)

    def foreseen(self, d: Discretization, x: Vector) -> Vector:
        if d.rates is None or depth_of(self.model.topology.parent) < LONG:
            return x
        still = jnp.zeros_like(x)
        now = Coordinates(d.origin.q, still, d.origin.v, d.origin.a, d.origin.t)
        then = Coordinates(d.origin.q, x, *d.rates.at(x), d.t)
        return x + turning_on(self.model, now, then, d.rates.by_change)

    def linearize(
        self, c: Coordinates, work: Balance, combinations: tuple[Combination, ...]
    ) -> list[System]:
        systems = linearize(self._regulated(c), c, work, combinations)
        if not self.model.regulators:
            return systems
        found = regulation_tangent(self.model, c)
        return [
            self._updated(system, one, found)
            for system, one in zip(systems, combinations, strict=True)
        ]

    def _regulated(self, c: Coordinates) -> Model:
        """The model with what continuous controllers set at a motion."""
        if not self.model.regulators:
            return self.model
        return regulated_model(self.model, self.state_at(c))

    def _updated(self, system: System, one: Combination, found: RegulationTangent) -> System:
        """A linear system with what continuous controllers add; M alone knows nothing of them."""
        if isinstance(one.stiffness, float) and one.stiffness == 0.0:
            return system
        by_place = one.stiffness * found.by_place
        if one.in_motion:
            by_place = by_place + one.damping * found.by_rate
        else:  # instead of the row z = 0 that keeps the matrix regular
            states = state_coordinates(self.model)
            rates = np.arange(len(states)) + by_place.shape[0] - len(states)
            by_place = by_place.at[rates, states].add(1.0)
        right = [by_place, one.stiffness * one.by_change * found.by_force]
        # Equations are not divided by δẍ/δx, as the balance is.
        share = jnp.concatenate([jnp.ones(self.nv), jnp.full(self.equations, one.by_change)])
        left, right_rows = share[:, None] * found.acts, jnp.concatenate(right, axis=1)
        if isinstance(system, DenseSystem):  # regular also where control alone holds the robot
            return DenseSystem(system.matrix + left @ right_rows)
        return UpdatedSystem(system, left, right_rows)

    def tangent(self, c: Coordinates, work: Balance) -> Tangent:
        own = tangent_of(self._regulated(c), c, work)
        if not self.model.regulators:
            return own
        found, n = regulation_tangent(self.model, c), self.nv
        return own._replace(
            damping=own.damping + found.acts[:n] @ found.by_rate,
            stiffness=own.stiffness + found.acts[:n] @ found.by_place,
            jacobian=own.jacobian + found.acts[n:] @ found.by_place,
            force_jacobian=own.force_jacobian + (found.acts[:n] @ found.by_force).T,
        )

    def forward_dynamics(self, c: Coordinates) -> Vector:
        found = chart_acceleration(self._regulated(c), c.q, c.x, c.xdot, c.t)
        if not self.model.regulators:
            return found
        states = state_coordinates(self.model)
        moving = self.state_at(c._replace(xddot=found.at[states].set(0.0)))
        return found.at[states].set(rates_of_rates(self.model, moving))

    def stage_turns(self, stages: Balance, reference: int) -> Turns:
        return stage_turns(self.model, stages.motion, reference)

    def turn_force(self, turns: Turns, force: Float[Array, "s n"]) -> Float[Array, "s n"]:
        return turn_force(self.model, turns, force)

    def turn_rate(self, turns: Turns, rate: Float[Array, "s n"]) -> Float[Array, "s n"]:
        return turn_rate(self.model, turns, rate)

    def stiffness_over_mass(self, q: Vector, t: Float[Array, ""]) -> Float[Array, ""]:
        zero = jnp.zeros(self.nv)
        motion = Coordinates(q, zero, zero, zero, t)
        found = element_tangents(self.model, motion, balance(self.model, motion))
        elastic = sum(
            jnp.sum(jnp.trace(element_stiffness(self.model, i), axis1=-2, axis2=-1))
            for i in range(len(self.model.groups))
        )
        mass = sum(jnp.sum(jnp.trace(part.blocks[0], axis1=-2, axis2=-1)) for part in found)
        ratio = elastic / jnp.maximum(mass, 1e-300)
        return jnp.where((ratio > 0) & jnp.isfinite(ratio), ratio, 1.0)

    def size_of(self, change: Vector, mass: System) -> Float[Array, ""]:
        kept = change.at[state_coordinates(self.model)].set(0.0)
        return error_norm(self.model, kept, mass)

    def retract(self, q: Vector, x: Vector) -> Vector:
        return element_motion.retract(self.model, q, x)

    def difference(self, q: Vector, other: Vector) -> Vector:
        return element_motion.difference(self.model, q, other)

    def rate(self, q: Vector, x: Vector, xdot: Vector) -> Vector:
        return element_motion.rate(self.model, q, x, xdot)

    def chart_rate(self, q: Vector, x: Vector, v: Vector) -> Vector:
        return element_motion.chart_rate(self.model, q, x, v)

    def rate_derivative(self, q: Vector, x: Vector, xdot: Vector, xddot: Vector) -> Vector:
        return element_motion.rate_derivative(self.model, q, x, xdot, xddot)

    def any_state(self) -> State:
        zero, forces = jnp.zeros(self.nv), jnp.zeros(self.equations)
        t = jnp.zeros(())
        return State(t, jnp.zeros(self.model.nq), zero, zero, forces if self.equations else None)

    def consistent_state(
        self, q: Vector, v: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> tuple[State, ActiveSet | None]:
        near = active_set.CLOSE * self.length
        if not self.model.regulators:
            return active_set.consistent_state(self.model, q, v, t, multipliers, near)
        # Inputs may depend on velocities, which an impact may change: they are set before and after it.
        model = regulated_model(self.model, State(t, q, v, jnp.zeros_like(v), multipliers))
        state, active = active_set.consistent_state(model, q, v, t, multipliers, near)
        return self.with_active(active).with_acceleration(state), active

    def with_acceleration(self, state: State) -> State:
        if not self.model.regulators:
            return State(state.t, state.q, state.v, *acceleration(self.model, *_moving(state)))
        states, found = state_coordinates(self.model), regulate(self.model, state)
        v = state.v.at[states].set(found.rates)
        state = dataclasses.replace(state, v=v)
        a, forces = acceleration(with_inputs(self.model, found.inputs), *_moving(state))
        state = State(state.t, state.q, v, a.at[states].set(0.0), forces)
        return dataclasses.replace(
            state, a=state.a.at[states].set(rates_of_rates(self.model, state))
        )

    def error_norm(self, state: State, change: Vector) -> Float[Array, ""]:
        return self.size_of(change, mass_system(self.model, state.q))

    def fastest_turn(self, v: Vector) -> Float[Array, ""]:
        return element_motion.fastest_turn(self.model, v)

    @property
    def controls(self) -> tuple[Control, ...]:
        return self.model.controls

    @property
    def inputs(self) -> Float[Array, " m"]:
        return input_vector(self.model)

    def find_input(self, name: str, asking: str) -> tuple[slice, tuple[int, ...]]:
        return find_input(self.model, name, asking)

    def with_inputs(self, inputs: Float[Array, " m"]) -> "Strain":
        return Strain(with_inputs(self.model, inputs))

    def sensors(self, state: State) -> Sensors:
        return Sensors(regulated_model(self.model, state), state)

    @property
    def guarded(self) -> Model:
        return self.model

    @property
    def active_first(self) -> ActiveSet | None:
        return active_set.active_first(self.model)

    def with_active(self, active: ActiveSet | None) -> "Strain":
        return self if active is None else Strain(active_set.hold(self.model, active))

    def active_at(
        self, q: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> ActiveSet | None:
        close = active_set.CLOSE * self.length
        return active_set.active_at(self.model, q, t, multipliers, close)

    def one_sided(self, state: State) -> active_set.OneSided:
        return active_set.one_sided(self.model, state.q, state.v, state.t, state.multipliers)

    @property
    def length(self) -> Float[Array, ""]:
        return characteristic_length(self.model)

    def frozen_at(self, t: Float[Array, ""], *, of_velocities: bool = False) -> "Strain":
        model = self.model.frozen_at(t)
        return Strain(dataclasses.replace(model, slips=self.model.slips if of_velocities else ()))

    def by_load(self, state: State) -> list[AbstractSecondOrder]:
        model = dataclasses.replace(regulated_model(self.model, state), regulators=())
        sets = [(), *((load,) for load in model.loads)]
        return [Strain(dataclasses.replace(model, loads=loads)) for loads in sets]

    def with_friction_held(self) -> "Strain":
        return Strain(held(self.model))

    def loaded(self, factor: Scalar) -> "Strain":
        raised = factor * self.model.load_factor
        return Strain(eqx.tree_at(lambda m: m.load_factor, self.model, raised))


def _moving(state: State) -> tuple[Vector, Vector, Float[Array, ""]]:
    return state.q, state.v, state.t
