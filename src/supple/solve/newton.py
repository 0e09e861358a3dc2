"""Newton's method with error-oriented damping and reuse of the factorisation. Knows no mechanics.

After each trial point the update it would need is estimated with the factorisation at hand
(Deuflhard's natural monotonicity test). That one number decides everything: the trial is taken if the
estimate shrinks, the solve is finished if it is below the tolerance, the matrix is kept while it shrinks
fast, and renewed when it does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Inexact, Int

from supple.arrays import Array

Vector = Float[Array, " n"]
Residual = Callable[[Vector], Vector]


@runtime_checkable
class Factors(Protocol):
    """A factorised matrix."""

    def solve(self, b: Any, /) -> Any:
        """Solution of A x = b."""


Linearise = Callable[[Vector], tuple[Vector, Factors]]


@dataclass(frozen=True)
class NewtonSettings:
    """Tolerance of the update in units of the coordinates' scales, and limits."""

    tolerance: float = 1e-9
    max_iterations: int = 20
    reuse_below: float = 0.1
    """Keep the factorisation while the update shrinks at least by this factor."""
    smallest_damping: float = 1e-3


class Factorisation(NamedTuple):
    """LU factors with row permutation."""

    lu: Inexact[Array, "n n"]
    permutation: Int[Array, " n"]

    def solve(self, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """Solution of A x = b."""
        column = b[self.permutation][:, None]
        lower = lax.linalg.triangular_solve(
            self.lu, column, left_side=True, lower=True, unit_diagonal=True
        )
        return lax.linalg.triangular_solve(self.lu, lower, left_side=True, lower=False)[:, 0]


def factorise(matrix: Inexact[Array, "n n"]) -> Factorisation:
    """LU with partial pivoting."""
    lu, _, permutation = lax.linalg.lu(matrix)
    return Factorisation(lu, permutation)


class NewtonResult(NamedTuple):
    """Where the iteration ended."""

    x: Vector
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]
    update: Float[Array, ""]
    """Scaled size of the last update, an estimate of the error left before it."""
    worst: Int[Array, ""]
    """Coordinate with the largest scaled update at the end."""


class _Loop(NamedTuple):
    x: Vector
    delta: Vector
    factors: Any
    stale: Bool[Array, ""]
    damping: Float[Array, ""]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]
    failed: Bool[Array, ""]


def newton(
    residual: Residual,
    linearise: Linearise,
    x0: Vector,
    scale: Vector,
    settings: NewtonSettings,
) -> NewtonResult:
    """Solve residual(x) = 0 from x0; ``linearise`` returns the residual and its factorised matrix.

    Not differentiable through its loop: call it on values behind ``stop_gradient`` and attach the
    derivative with :func:`with_derivative`.
    """

    def size(delta: Vector) -> Float[Array, ""]:
        return jnp.max(jnp.abs(delta / scale))

    def fresh(x: Vector) -> tuple[Vector, Any]:
        value, factors = linearise(x)
        return -factors.solve(value), factors

    n = x0.shape[0]
    no, yes = jnp.zeros((), dtype=bool), jnp.ones((), dtype=bool)
    start = _Loop(
        x=x0,
        delta=jnp.zeros(n),
        factors=jax.tree.map(
            lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(lambda: fresh(x0)[1])
        ),
        stale=yes,
        damping=jnp.ones(()),
        iterations=jnp.zeros((), dtype=int),
        converged=no,
        failed=no,
    )

    def going(s: _Loop) -> Bool[Array, ""]:
        return ~s.converged & ~s.failed & (s.iterations < settings.max_iterations)

    def iterate(s: _Loop) -> _Loop:
        delta, factors = lax.cond(s.stale, lambda: fresh(s.x), lambda: (s.delta, s.factors))
        trial = s.x + s.damping * delta
        next_delta = -factors.solve(residual(trial))
        before, after = size(delta), size(next_delta)
        # The estimate must shrink, or already be at the level of round-off. False for NaN.
        taken = (after <= (1 - s.damping / 4) * before) | (after <= 1e-3 * settings.tolerance)
        full = taken & (s.damping == 1.0)
        converged = full & (after <= settings.tolerance)
        keep = full & (after <= settings.reuse_below * before)
        damping = jnp.where(taken, jnp.minimum(1.0, 2 * s.damping), s.damping / 2)
        return _Loop(
            x=jnp.where(taken, trial, s.x),
            delta=jnp.where(taken, next_delta, delta),
            factors=factors,
            stale=taken & ~keep & ~converged,
            damping=damping,
            iterations=s.iterations + 1,
            converged=converged,
            failed=(damping < settings.smallest_damping) | ~jnp.isfinite(before),
        )

    end = lax.while_loop(going, iterate, start)
    x = jnp.where(end.converged, end.x + end.delta, end.x)
    return NewtonResult(
        x=x,
        converged=end.converged & jnp.all(jnp.isfinite(x)),
        iterations=end.iterations,
        update=size(end.delta),
        worst=jnp.argmax(jnp.abs(end.delta / scale)),
    )


def with_derivative(root: Vector, residual: Vector, matrix: Float[Array, "n n"]) -> Vector:
    """A root with the derivative that the implicit function theorem gives it.

    ``residual`` is the (vanishing) residual at the root, as a function of whatever is to be
    differentiated; ``matrix`` its derivative by the unknown. Works forward and in reverse.
    """
    fixed = lax.stop_gradient(root)
    return fixed - jnp.linalg.solve(lax.stop_gradient(matrix), residual)
