"""Forward dynamics: the accelerations and multipliers that follow from a state."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.activity import relieved_rates
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import balance, gaps_in
from supple.mechanics.kinematics import Kinematics, a_moment_later, kinematics
from supple.mechanics.slips import slip_motions
from supple.model.model import Model
from supple.model.state import State
from supple.system.chains import chain_acceleration, chain_of
from supple.system.combination import of_mass
from supple.system.dense import Factors
from supple.system.linear import factorize


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
    if model.equations == 0 and chain_of(model) is not None:
        return Acceleration(chart_acceleration(model, q, jnp.zeros(model.nv), v, t), None)
    residual, factors = _linear_part(model, q, jnp.zeros(model.nv), v, t)
    n = model.nv
    if model.equations == 0:
        return Acceleration(-factors.solve_checked(residual), None)
    # The equations' second derivative in time vanishes: J a = -J̇ v.
    found = -factors.solve_checked(jnp.concatenate([residual, _rates(model, q, v, t)[1]]))
    return Acceleration(found[:n], found[n:])


def chart_acceleration(
    model: Model,
    q: Float[Array, " nq"],
    x: Float[Array, " nv"],
    xdot: Float[Array, " nv"],
    t: Float[Array, ""],
) -> Float[Array, " nv"]:
    """ẍ at a motion in the chart around q, of a robot without equations."""
    chain = chain_of(model)
    if chain is not None:
        return chain_acceleration(model, chain, Coordinates(q, x, xdot, jnp.zeros_like(x), t))
    residual, factors = _linear_part(model, q, x, xdot, t)
    return -factors.solve_checked(residual)


def start_motion(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], t: Float[Array, ""]
) -> State:
    """A state with the velocity that :func:`project_velocity` gives, and the acceleration that follows."""
    if model.equations == 0:
        return State(t, q, v, *acceleration(model, q, v, t))
    n = model.nv

    def once(state: State, _: None) -> tuple[State, None]:
        residual, factors = _linear_part(model, q, jnp.zeros(n), state.v, t)
        rate, change = _rates(model, q, state.v, t)
        jump = -factors.solve_checked(jnp.pad(rate, (n, 0)))
        found = -factors.solve_checked(jnp.concatenate([residual, change]))
        return State(t, q, state.v + jump[:n], found[:n], found[n:]), None

    # First the velocity, then the acceleration there: the same again, and compiled only once.
    start = State(t, q, v, jnp.zeros(n), jnp.zeros(model.equations))
    return lax.scan(once, start, None, length=2)[0]


def project_velocity(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> Float[Array, " nv"]:
    """The velocity after an impact that closes loops and starts imposed motions; v where it is admissible.

    Schemes for closed loops keep what a start gets wrong here: as an oscillation that does not end.
    """
    if model.equations == 0:
        return v
    t = jnp.asarray(t, dtype=float)
    _, factors = _linear_part(model, q, jnp.zeros(model.nv), v, t)
    right = jnp.pad(_rates(model, q, v, t)[0], (model.nv, 0))
    return v - factors.solve_checked(right)[: model.nv]


def _linear_part(
    model: Model,
    q: Float[Array, " nq"],
    x: Float[Array, " nv"],
    xdot: Float[Array, " nv"],
    t: Float[Array, ""],
) -> tuple[Float[Array, " nv"], Factors]:
    """Balance without accelerations and multipliers, and the factors of [[M, Pᵀ], [J, Y]]."""
    zero = jnp.zeros(model.nv)
    multipliers = jnp.zeros(model.equations) if model.equations else None
    c = Coordinates(q, x, xdot, zero, t, multipliers)
    state = balance(model, c)
    return state.residual, factorize(model, c, state, of_mass())


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
    """First time derivative of the violation, and the second at zero acceleration; zero where let go.

    Equations between velocities are first derivatives themselves.
    """
    zero = jnp.zeros(model.nv)
    motion = kinematics(model, Coordinates(q, zero, v, zero, t))

    def later(s: Float[Array, ""]) -> tuple[Coordinates, Kinematics]:
        return Coordinates(q, s * v, v, zero, t + s), a_moment_later(motion, s)

    def rate(s: Float[Array, ""]) -> Float[Array, " n"]:
        first = jax.jvp(lambda s: gaps_in(model, *later(s)), (s,), (jnp.ones(()),))[1]
        speeds = [slip.speed for slip in slip_motions(model, later(s)[1])]
        return relieved_rates(model, jnp.concatenate([first, *speeds]))

    return jax.jvp(rate, (jnp.zeros(()),), (jnp.ones(()),))
