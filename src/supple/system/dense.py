"""Dense linear systems: one matrix, LU with partial pivoting."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from jax import lax
from jaxtyping import Inexact, Int

from supple.arrays import Array


@runtime_checkable
class Factors(Protocol):
    """A factorized matrix."""

    def solve(self, b: Any, /) -> Any:
        """Solution of A x = b."""


class DenseFactors(NamedTuple):
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


def factorize_dense(matrix: Inexact[Array, "n n"]) -> DenseFactors:
    """LU with partial pivoting."""
    lu, _, permutation = lax.linalg.lu(matrix)
    return DenseFactors(lu, permutation)
