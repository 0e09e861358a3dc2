"""What continuous controllers do at a motion: inputs that they set, rates of their states, and the tangent.

With w = (u, g) the inputs and rates, functions of the motion, the balance is R(c, u) - E g, where E places
rates at the states' coordinates. It changes by K δx + … + L δw with L = (∂R/∂u, -E) and
δw = W_x δx + W_v δẋ + W_λ δλ: an update of low rank to the robot's own matrices.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import ArgumentError
from supple.mechanics.element_motion import Coordinates, rate, retract
from supple.mechanics.inverse_dynamics import Balance, balance
from supple.mechanics.sensing import Sensors
from supple.model.inputs import find_input, input_vector, with_inputs
from supple.model.model import Model
from supple.model.regulators import Regulator
from supple.model.state import State


class Regulation(NamedTuple):
    """Inputs of the robot with those that regulators set, and the rates of all their states."""

    inputs: Float[Array, " m"]
    rates: Float[Array, " k"]


class RegulationTangent(NamedTuple):
    """L, and W by coordinates, by rates and by multipliers."""

    acts: Float[Array, "n_and_m w"]
    by_place: Float[Array, "w n"]
    by_rate: Float[Array, "w n"]
    by_force: Float[Array, "w m"]


def state_coordinates(model: Model) -> np.ndarray:
    """Velocity coordinates that are states of regulators."""
    return np.array([i for one in model.regulators for i in one.v_index], dtype=int)


def regulate(model: Model, state: State) -> Regulation:
    """What regulators set at a state."""
    inputs, rates = jnp.asarray(input_vector(model)), [jnp.zeros(0)]
    for one in model.regulators:
        own = state.q[np.array(one.q_index, dtype=int)]
        seen = one.sense(Sensors(with_inputs(model, inputs), state))
        inputs = _placed(model, one, inputs, one.act(state.t, seen, own))
        if one.rate is not None:
            rates.append(_checked_rates(one, one.rate(state.t, seen, own)))
    return Regulation(inputs, jnp.concatenate(rates))


def _placed(
    model: Model, one: Regulator, inputs: Float[Array, " m"], answer: Any
) -> Float[Array, " m"]:
    if not hasattr(answer, "items"):
        raise ArgumentError(
            f"{one.name}: act: got {answer!r}; need a mapping from inputs to values"
        )
    for name, value in answer.items():
        where, shape = find_input(model, name, f"{one.name}: act: input")
        array = jnp.asarray(value, dtype=float)
        if array.shape != shape:
            raise ArgumentError(f"{one.name}: {name}: got shape {array.shape}; need {shape}")
        inputs = inputs.at[where].set(array.reshape(-1))
    return inputs


def _checked_rates(one: Regulator, value: Any) -> Float[Array, " k"]:
    array = jnp.asarray(value, dtype=float)
    if array.shape != (one.size,):
        need = f"({one.size},), one rate for each state"
        raise ArgumentError(f"{one.name}: rate: got shape {array.shape}; need {need}")
    return array


def regulated_model(model: Model, state: State) -> Model:
    """The model with the inputs that regulators set at a state; itself without any."""
    return with_inputs(model, regulate(model, state).inputs) if model.regulators else model


def _motion_state(model: Model, c: Coordinates) -> State:
    zero = jnp.zeros(model.nv)
    place, velocity = retract(model, c.q, c.x), rate(model, c.q, c.x, c.xdot)
    return State(c.t, place, velocity, zero, c.multipliers)


def regulated_balance(model: Model, c: Coordinates) -> Balance:
    """The balance with everything that regulators do."""
    if not model.regulators:
        return balance(model, c)
    found = regulate(model, _motion_state(model, c))
    state = balance(with_inputs(model, found.inputs), c)
    residual = state.residual.at[state_coordinates(model)].add(-found.rates)
    return state._replace(residual=residual)


def regulation_tangent(model: Model, c: Coordinates) -> RegulationTangent:
    """The update of the tangent by regulators at a motion."""

    def control(
        x: Float[Array, " n"], xdot: Float[Array, " n"], forces: Float[Array, " m"] | None
    ) -> Float[Array, " w"]:
        moved = c._replace(x=x, xdot=xdot, multipliers=forces)
        return jnp.concatenate(regulate(model, _motion_state(model, moved)))

    def robot(inputs: Float[Array, " m"]) -> Float[Array, " n_and_m"]:
        state = balance(with_inputs(model, inputs), c)
        return jnp.concatenate([state.residual, state.violation])

    now = regulate(model, _motion_state(model, c))
    acts = jax.jacfwd(robot)(now.inputs)
    rows = acts.shape[0]
    states = state_coordinates(model)
    pushed = jnp.zeros((rows, len(states))).at[states, np.arange(len(states))].set(-1.0)
    by_place, by_rate = jax.jacrev(control, argnums=(0, 1))(c.x, c.xdot, c.multipliers)
    by_force = jnp.zeros((by_place.shape[0], rows - model.nv))
    if c.multipliers is not None:
        by_force = jax.jacrev(control, argnums=2)(c.x, c.xdot, c.multipliers)
    return RegulationTangent(jnp.concatenate([acts, pushed], axis=1), by_place, by_rate, by_force)


def rates_of_rates(model: Model, state: State) -> Float[Array, " k"]:
    """Accelerations of the states of regulators along a motion with known velocities and accelerations."""

    def later(s: Float[Array, ""]) -> Float[Array, " k"]:
        x, v = s * state.v, state.v + s * state.a
        place = retract(model, state.q, x)
        return regulate(model, State(state.t + s, place, v, state.a, state.multipliers)).rates

    return jax.jvp(later, (jnp.zeros(()),), (jnp.ones(()),))[1]


def read_at_rest(quantity: Any, fixed: tuple[Any, ...], model: Model, state: State) -> Any:
    """``quantity(model, state, *fixed)`` where nothing grows or is driven: of equilibria of every kind."""
    return quantity(regulated_model(model.frozen_at(state.t), state), state, *fixed)
