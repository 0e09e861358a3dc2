"""Linear systems with an update of low rank: a robot and what couples any of its places, A + L R."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Inexact

from supple.arrays import Array
from supple.system.dense import DenseFactors, Factors, factorize_dense


class UpdatedSystem(eqx.Module):
    """A + L R with L (n, w) and R (w, n), for w much smaller than n."""

    inner: Any
    left: Inexact[Array, "n w"]
    right: Inexact[Array, "w n"]

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.inner.size

    def apply(self, vector: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """The product with a vector."""
        rows = self.left.shape[0]
        added = self.left @ (self.right @ vector[:rows])
        return self.inner.apply(vector) + jnp.pad(added, (0, vector.shape[0] - rows))

    def factorize(self) -> "UpdatedFactors":
        """Factors of A, and of the small matrix 1 + R A⁻¹ L."""
        inner = self.inner.factorize()
        dtype = inner.solve(jnp.zeros(self.left.shape[0])).dtype
        columns = self.left.T.astype(jnp.result_type(dtype, self.left.dtype))
        response = jax.vmap(inner.solve)(columns).T
        small = jnp.eye(self.left.shape[1]) + self.right @ response
        return UpdatedFactors(inner, response, self.right, factorize_dense(small))


class UpdatedFactors(eqx.Module):
    """By Woodbury's identity: A⁻¹ b - A⁻¹ L (1 + R A⁻¹ L)⁻¹ R A⁻¹ b."""

    inner: Factors
    response: Inexact[Array, "n w"]
    right: Inexact[Array, "w n"]
    small: DenseFactors

    @property
    def poor(self) -> Any:
        """Whether those of A lose digits."""
        return self.inner.poor

    def solve(self, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """Solution of (A + L R) x = b."""
        return self._updated(self.inner.solve(b))

    def solve_checked(self, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """The same, NaN where the inner system is singular."""
        return self._updated(self.inner.solve_checked(b))

    def _updated(self, found: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        return found - self.response @ self.small.solve(self.right @ found)
