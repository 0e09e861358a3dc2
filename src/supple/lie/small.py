"""Products of small matrices, written as sums of products of their entries.

The compiler makes one loop of several of these, where each matrix product is a kernel of its own, with far
more code to compile. For many matrices, that kernel is the faster one.
"""

import jax.numpy as jnp
from jaxtyping import Float, Inexact

from supple.arrays import Array

SHORT = 6
"""Longest rows that are written out, ..."""
FEW = 256
"""... in matrices of so many entries in all."""


def times(A: Float[Array, "*#b n m"], v: Float[Array, "*#b m"]) -> Float[Array, "*b n"]:
    """``A v``, for short v."""
    return jnp.sum(A * v[..., None, :], axis=-1)


def product(A: Inexact[Array, "*#b n k"], B: Inexact[Array, "*#b k m"]) -> Inexact[Array, "*b n m"]:
    """``A B``, whichever way is the better one."""
    if A.shape[-1] > SHORT or max(A.size, B.size) > FEW:
        return A @ B
    return jnp.sum(A[..., :, :, None] * B[..., None, :, :], axis=-2)


def inverse(A: Float[Array, "*b 3 3"]) -> Float[Array, "*b 3 3"]:
    """``A⁻¹``, from its cofactors."""
    a, b, c = (A[..., k, :] for k in range(3))
    cofactors = jnp.stack([jnp.cross(b, c), jnp.cross(c, a), jnp.cross(a, b)], axis=-1)
    return cofactors / times(A, cofactors[..., 0])[..., 0, None, None]
