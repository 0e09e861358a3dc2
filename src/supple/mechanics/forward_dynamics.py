"""Forward dynamics: the accelerations that follow from a state."""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
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
    still = inverse_dynamics_tangent(model, Coordinates(q, zero, v, zero, jnp.asarray(t)))
    return -jnp.linalg.solve(still.mass, still.residual)
