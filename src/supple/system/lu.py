"""LU factors of a matrix or a batch of them, with row permutation, and with pivots that vanish replaced.

Rows and columns have units, in which good pivots are about one: those of a coordinate are √k with k a
stiffness, those of a multiplier are 1/√k; other unknowns, such as the wrench that a closure carries, have
rows like a coordinate's and columns like a multiplier's.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Inexact, Int

from supple.arrays import Array

COORDINATE, MULTIPLIER, UNIT = range(3)
"""What an unknown is: its pivot has the size of a stiffness, of a compliance, or of one."""
LOST = 1e-12
"""A pivot this small, over the size that good ones have, is round-off: it is replaced, ..."""
REPLACED = 1e-10
"""... by one of this size."""
POOR = 1e-6
"""Pivots smaller than this, over the entry that they come from, cost digits, which refinement gives back."""
SOFTEST = 1e-3
"""The smallest entry, over the largest stiffness of an element, that counts as that of a soft motion."""
TINY = 1e-17
"""Compliance of a multiplier, over that of the elements: round-off."""


class LU(eqx.Module):
    """Factors P A = L U; ``permutation`` lists the rows of A in the order of their pivots."""

    lu: Inexact[Array, "*b n n"]
    permutation: Int[Array, "*b n"]

    def solve(self, right: Inexact[Array, "*b n m"]) -> Inexact[Array, "*b n m"]:
        """Solution of A X = B."""
        dtype = jnp.result_type(self.lu.dtype, right.dtype)
        lu, right = self.lu.astype(dtype), right.astype(dtype)
        right = jnp.take_along_axis(right, self.permutation[..., None], axis=-2)
        lower = lax.linalg.triangular_solve(
            lu, right, left_side=True, lower=True, unit_diagonal=True
        )
        return lax.linalg.triangular_solve(lu, lower, left_side=True, lower=False)


def factorize_lu(matrix: Inexact[Array, "*b n n"]) -> LU:
    """LU with partial pivoting."""
    lu, _, permutation = lax.linalg.lu(matrix)
    return LU(lu, permutation)


class Units(NamedTuple):
    """Units of the rows and columns of a batch of matrices."""

    rows: Float[Array, "n own"]
    columns: Float[Array, "n own"]
    sorts: Int[Array, "*n own"]


def units(size: Float[Array, " n"], sorts: Any) -> Units:
    """Units from the stiffness of each matrix and what its unknowns are."""
    root = jnp.sqrt(size)[:, None]
    rows = jnp.where(sorts == MULTIPLIER, 1 / root, root)
    columns = jnp.where(sorts == COORDINATE, root, 1 / root)
    return Units(rows, columns, sorts)


def factorize_yielding(K: Inexact[Array, "n own own"], of: Units) -> tuple[LU, Bool[Array, " n"]]:
    """The same for matrices in which equations may depend on each other.

    Where a pivot is lost, all multipliers get a compliance: then all solutions but forces that balance each
    other are found by refinement, and these forces stay small.
    """
    first, poor, lost = _replacing(K, of)

    def yielding() -> LU:
        compliance = jnp.where(of.sorts == MULTIPLIER, REPLACED * of.columns**2, 0.0)
        return _replacing(K - compliance[:, :, None] * np.eye(K.shape[-1]), of)[0]

    return lax.cond(jnp.any(lost), yielding, lambda: first), poor


def factorize_replacing(K: Inexact[Array, "n own own"], of: Units) -> tuple[LU, Bool[Array, " n"]]:
    """LU factors with lost pivots replaced, and whether some pivot is poor."""
    return _replacing(K, of)[:2]


def _replacing(
    K: Inexact[Array, "n own own"], of: Units
) -> tuple[LU, Bool[Array, " n"], Bool[Array, " n"]]:
    # Where a multiplier does nothing by itself, its pivot is to be its own row, not one that others need.
    multiplier = of.sorts == MULTIPLIER
    own_rows = jnp.where(multiplier, TINY * of.columns**2, 0.0)
    found = factorize_lu(K - own_rows[:, :, None] * np.eye(K.shape[-1]))
    diagonal = jnp.diagonal(found.lu, axis1=-2, axis2=-1)
    # Soft motions have small pivots, and lose no digits by that.
    coordinates = of.sorts == COORDINATE
    entries = jnp.abs(jnp.diagonal(K, axis1=-2, axis2=-1)) / (of.rows * of.columns)
    soft = jnp.where(coordinates, jnp.clip(entries, SOFTEST, 1.0), 1.0)
    sizes, soft, signs = (
        jnp.take_along_axis(
            jnp.broadcast_to(part, found.permutation.shape), found.permutation, axis=1
        )
        for part in (of.rows, soft, jnp.where(coordinates, 1.0, -1.0))
    )
    sizes = sizes * of.columns
    pivots = jnp.abs(diagonal) / sizes
    # The comparison, always true, makes the program look at the entries before parents are written; looked
    # at later, all fronts would be copied at every tick.
    lost = pivots < jnp.where(soft > 0, LOST, 0.0)
    change = jnp.where(lost, REPLACED * signs * sizes - diagonal, 0.0)
    factors = LU(found.lu + change[:, :, None] * np.eye(K.shape[-1]), found.permutation)
    return factors, jnp.any(pivots < POOR * soft, axis=1), jnp.any(lost, axis=1)
