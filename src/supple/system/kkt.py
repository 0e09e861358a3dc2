"""Linear systems of robots with closed loops: coordinates and multipliers together."""

import jax.numpy as jnp
from jaxtyping import Float, Inexact

from supple.arrays import Array


def saddle(
    matrix: Inexact[Array, "n n"],
    jacobian: Inexact[Array, "m n"],
    force_jacobian: Float[Array, "m n"],
    compliance: Inexact[Array, " m"],
) -> Inexact[Array, "n_and_m n_and_m"]:
    """[[A, Pᵀ], [J, Y]], with P the directions of the multipliers; A itself for a tree.

    Y is diagonal, and zero but for equations that say nothing of the motion (a slack tendon's).
    """
    m = jacobian.shape[0]
    if m == 0:
        return matrix
    top = jnp.concatenate([matrix, force_jacobian.T], axis=1)
    return jnp.concatenate([top, jnp.concatenate([jacobian, jnp.diag(compliance)], axis=1)])
