"""The core of a linear system: what is left when all trees have been eliminated."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Inexact, Int

from supple.arrays import Array


class CoreFactors(NamedTuple):
    """LU factors with row permutation."""

    lu: Inexact[Array, "n n"]
    permutation: Int[Array, " n"]

    def solve(self, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """Solution of A x = b."""
        column = b[self.permutation][:, None].astype(self.lu.dtype)
        lower = lax.linalg.triangular_solve(
            self.lu, column, left_side=True, lower=True, unit_diagonal=True
        )
        return lax.linalg.triangular_solve(self.lu, lower, left_side=True, lower=False)[:, 0]


def core_matrix(
    matrix: Inexact[Array, "n n"], parts: list[tuple[np.ndarray, Inexact[Array, "k m m"]]]
) -> Inexact[Array, "n n"]:
    """The matrix with blocks added at some places."""
    size = matrix.shape[0]
    flat = matrix.reshape(-1)
    for places, part in parts:
        index = places[:, :, None] * size + places[:, None, :]
        flat = flat.at[index.reshape(-1)].add(part.reshape(-1), mode="promise_in_bounds")
    return flat.reshape(size, size)


def factorize_core(matrix: Inexact[Array, "n n"]) -> CoreFactors:
    """LU with partial pivoting."""
    lu, _, permutation = lax.linalg.lu(matrix)
    return CoreFactors(lu, permutation)
