"""Forward dynamics: the accelerations and multipliers that follow from a state."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.inverse_dynamics import inverse_dynamics, violation, violation_in
from supple.mechanics.kinematics import Kinematics, a_moment_later, kinematics
from supple.mechanics.local import Coordinates, retract
from supple.mechanics.saddle import saddle
from supple.mechanics.slips import slip_motions
from supple.model.model import Model
from supple.model.state import State


class Acceleration(NamedTuple):
    """dv/dt, and the multipliers (N) of the model's equations; None without any."""

    a: Float[Array, " nv"]
    multipliers: Float[Array, " n"] | None


def forward_dynamics(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> Float[Array, " nv"]:
    """dv/dt at a state, with the loads of time t."""
    return acceleration(model, q, v, t).a


def acceleration(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> Acceleration:
    """Accelerations, and the forces with which the equations of the model are kept."""
    t = jnp.asarray(t, dtype=float)
    residual, matrix = _linear_part(model, q, v, t)
    n = model.nv
    if model.equations == 0:
        return Acceleration(-jnp.linalg.solve(matrix, residual), None)
    # The equations' second derivative in time vanishes: J a = -J̇ v.
    right = jnp.concatenate([residual, _rates(model, q, v, t)[1]])
    found = -jnp.linalg.solve(matrix, right)
    return Acceleration(found[:n], found[n:])


def set_going(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], t: Float[Array, ""]
) -> State:
    """A state with the velocity that :func:`allowed_velocity` gives, and the acceleration that follows."""
    if model.equations == 0:
        return State(t, q, v, *acceleration(model, q, v, t))
    n = model.nv

    def once(state: State, _: None) -> tuple[State, None]:
        residual, matrix = _linear_part(model, q, state.v, t)
        rate, change = _rates(model, q, state.v, t)
        left = jnp.stack([jnp.pad(rate, (n, 0)), jnp.concatenate([residual, change])], axis=1)
        found = -jnp.linalg.solve(matrix, left)
        return State(t, q, state.v + found[:n, 0], found[:n, 1], found[n:, 1]), None

    # First the velocity, then the acceleration there: the same again, and compiled only once.
    start = State(t, q, v, jnp.zeros(n), jnp.zeros(model.equations))
    return lax.scan(once, start, None, length=2)[0]


def allowed_velocity(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> Float[Array, " nv"]:
    """The velocity after an impact that closes loops and starts imposed motions; v itself if it may be.

    Schemes for closed loops keep what a start gets wrong here: as an oscillation that does not end.
    """
    if model.equations == 0:
        return v
    t = jnp.asarray(t, dtype=float)
    _, matrix = _linear_part(model, q, v, t)
    right = jnp.concatenate([jnp.zeros(model.nv), _rates(model, q, v, t)[0]])
    return v - jnp.linalg.solve(matrix, right)[: model.nv]


def _linear_part(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], t: Float[Array, ""]
) -> tuple[Float[Array, " nv"], Float[Array, "n_and_m n_and_m"]]:
    """Balance without accelerations, and [[M, Pᵀ], [J, Y]]."""
    zero, n, m = jnp.zeros(model.nv), model.nv, model.equations

    def balance(y: Float[Array, " n_and_m"]) -> Float[Array, " nv"]:
        multipliers = y[n:] if m else None
        return inverse_dynamics(model, Coordinates(q, zero, v, y[:n], t, multipliers))

    # The balance is affine in accelerations and multipliers: its linear part is (M, Pᵀ).
    residual, push = jax.linearize(balance, jnp.zeros(n + m))
    top = jax.vmap(push)(jnp.eye(n + m)).T
    jacobian = top[:, n:].T
    if model.transmissions.rubs:  # multipliers act along other directions
        places = jax.jacfwd(lambda x: violation(model, retract(model, q, x), t))(zero)
        jacobian = jnp.concatenate([places, jacobian[model.holonomic :]])
    yields = jnp.zeros(m)
    if (law := model.transmissions.imposing) is not None:
        yields = lax.dynamic_update_slice(yields, law.yields, (model.imposed_rows.start,))
    jacobian = jnp.where(yields[:, None] > 0, 0.0, jacobian)
    return residual, saddle(top[:, :n], jacobian, top[:, n:].T, yields)


def violation_rates(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
) -> Float[Array, " n"]:
    """How fast the equations of a robot are being left (m/s): zero in an exact motion."""
    return _rates(model, q, v, t)[0]


def _rates(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], t: Float[Array, ""]
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """First time derivative of the violation, and the second at zero acceleration.

    Equations between velocities are first derivatives themselves.
    """
    zero = jnp.zeros(model.nv)
    motion = kinematics(model, Coordinates(q, zero, v, zero, t))

    def later(s: Float[Array, ""]) -> tuple[Coordinates, Kinematics]:
        return Coordinates(q, s * v, v, zero, t + s), a_moment_later(motion, s)

    def rate(s: Float[Array, ""]) -> Float[Array, " n"]:
        first = jax.jvp(lambda s: violation_in(model, *later(s)), (s,), (jnp.ones(()),))[1]
        speeds = [slip.speed for slip in slip_motions(model, later(s)[1])]
        return jnp.concatenate([first, *speeds])

    return jax.jvp(rate, (jnp.zeros(()),), (jnp.ones(()),))
