"""Forward dynamics: the accelerations and closing forces that follow from a state."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.inverse_dynamics import inverse_dynamics, violation
from supple.mechanics.local import Coordinates, retract
from supple.model.model import Model


class Acceleration(NamedTuple):
    """dv/dt, and the multipliers (N) of the closures; None for trees."""

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
    """Accelerations, and with closed loops the forces that keep them closed."""
    zero, t = jnp.zeros(model.nv), jnp.asarray(t, dtype=float)
    n, m = model.nv, model.equations

    def balance(y: Float[Array, " n_and_m"]) -> Float[Array, " nv"]:
        multipliers = y[n:] if m else None
        return inverse_dynamics(model, Coordinates(q, zero, v, y[:n], t, multipliers))

    # The balance is affine in accelerations and multipliers: its linear part is (M, Jᵀ).
    residual, push = jax.linearize(balance, jnp.zeros(n + m))
    top = jax.vmap(push)(jnp.eye(n + m)).T
    if m == 0:
        return Acceleration(-jnp.linalg.solve(top, residual), None)
    jacobian = top[:, n:].T
    # The closures' second derivative in time vanishes: J a = -J̇ v.
    matrix = jnp.concatenate([top, jnp.concatenate([jacobian, jnp.zeros((m, m))], axis=1)])
    right = jnp.concatenate([residual, _drift(model, q, v, t)])
    found = -jnp.linalg.solve(matrix, right)
    return Acceleration(found[:n], found[n:])


def _drift(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], t: Float[Array, ""]
) -> Float[Array, " n"]:
    """Second time derivative of the violation at zero acceleration."""

    def moved(s: Float[Array, ""]) -> Float[Array, " n"]:
        return violation(model, retract(model, q, s * v), t + s)

    def rate(s: Float[Array, ""]) -> Float[Array, " n"]:
        return jax.jvp(moved, (s,), (jnp.ones(()),))[1]

    return jax.jvp(rate, (jnp.zeros(()),), (jnp.ones(()),))[1]
