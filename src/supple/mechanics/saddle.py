"""Linear systems of robots with closed loops: coordinates and multipliers together."""

import jax.numpy as jnp
from jaxtyping import Float, Inexact

from supple.arrays import Array


def saddle(
    matrix: Inexact[Array, "n n"], jacobian: Inexact[Array, "m n"], pushes: Float[Array, "m n"]
) -> Inexact[Array, "n_and_m n_and_m"]:
    """[[A, Pᵀ], [J, 0]], with P the directions of the multipliers; A itself for a tree."""
    m = jacobian.shape[0]
    if m == 0:
        return matrix
    top = jnp.concatenate([matrix, pushes.T], axis=1)
    return jnp.concatenate([top, jnp.concatenate([jacobian, jnp.zeros((m, m))], axis=1)])
