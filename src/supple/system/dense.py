"""Dense linear systems: one matrix, LU with partial pivoting."""

from typing import Any, Protocol, runtime_checkable

import equinox as eqx
from jaxtyping import Inexact

from supple.arrays import Array
from supple.system.lu import LU, factorize_lu


@runtime_checkable
class Factors(Protocol):
    """A factorized matrix."""

    @property
    def poor(self) -> Any:
        """Whether pivots could not be chosen as they should be, so that digits may be lost."""

    def solve(self, b: Any, /) -> Any:
        """Solution of A x = b."""

    def solve_checked(self, b: Any, /) -> Any:
        """The same, but NaN where A is found to be singular; for who would not notice."""


class DenseFactors(eqx.Module):
    """LU factors with row permutation."""

    factors: LU

    @property
    def poor(self) -> bool:
        """Pivots are chosen among all rows."""
        return False

    def solve(self, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """Solution of A x = b."""
        return self.factors.solve(b[:, None])[:, 0]

    def solve_checked(self, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """The same: a pivot that vanishes makes the solution infinite."""
        return self.solve(b)


def factorize_dense(matrix: Inexact[Array, "n n"]) -> DenseFactors:
    """LU with partial pivoting."""
    return DenseFactors(factorize_lu(matrix))
