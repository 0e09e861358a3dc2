"""Forward dynamics: the accelerations that follow from a state."""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.local import Coordinates
from supple.model.model import Model


def forward_dynamics(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> Float[Array, " nv"]:
    """dv/dt at a state, with the loads of time t."""
    zero = jnp.zeros(model.nv)

    def balance(acceleration: Float[Array, " nv"]) -> Float[Array, " nv"]:
        return inverse_dynamics(model, Coordinates(q, zero, v, acceleration, jnp.asarray(t)))

    # The balance is affine in the acceleration: its linear part is the mass matrix.
    residual, push = jax.linearize(balance, zero)
    mass = jax.vmap(push)(jnp.eye(model.nv))
    return -jnp.linalg.solve(mass, residual)
