"""Least squares by Gauss and Newton, damped after Levenberg and Marquardt. Knows no mechanics.

Unknowns may live on a manifold: they change by local coordinates, in units in which 1 is a large change.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from supple.arrays import Array

TOLERANCE = 1e-9
"""Largest correction of a solution; convergence is fast there, so that its error is far smaller."""
ROUND_OFF = 1e-13
"""Relative gain in |residual|² that cannot be told from round-off: the search ends there too."""
STRONGEST, WEAKEST = 1e6, 1e-13
"""Damping over the largest curvature: where nothing improves any more, and where it is as good as none."""


class LeastSquares(NamedTuple):
    """Unknowns where the search ended, whether it converged there, and after how many corrections."""

    x: Any
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]


class _Search(NamedTuple):
    x: Any
    cost: Float[Array, ""]
    damping: Float[Array, ""]
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]


def least_squares(
    residual: Callable[[Any], Float[Array, " r"]],
    moved: Callable[[Any, Float[Array, " n"]], Any],
    none: Float[Array, " n"],
    start: Any,
    max_iterations: Int[Array, ""] | int = 60,
) -> LeastSquares:
    """Minimize |residual(x)|² from ``start``; ``moved(x, y)`` changes x by local coordinates y.

    ``none`` are local coordinates that change nothing: zeros.
    """

    def searching(s: _Search) -> Bool[Array, ""]:
        return ~s.converged & (s.damping < STRONGEST) & (s.iterations < max_iterations)

    def corrected(s: _Search) -> _Search:
        left = residual(s.x)
        slope = jax.jacfwd(lambda y: residual(moved(s.x, y)))(none)
        matrix = slope.T @ slope
        shift = s.damping * jnp.max(jnp.diag(matrix))
        descent = -slope.T @ left
        y = jnp.linalg.solve(matrix + shift * jnp.eye(len(none)), descent)
        trial = moved(s.x, y)
        cost = jnp.sum(residual(trial) ** 2)
        weak = s.damping < 1e-2  # strong damping makes any correction small
        small = (jnp.max(jnp.abs(y)) < TOLERANCE) | (jnp.dot(descent, y) <= ROUND_OFF * s.cost)
        better = cost < s.cost
        x = jax.tree.map(lambda new, old: jnp.where(better, new, old), trial, s.x)
        damping = jnp.where(better, jnp.maximum(s.damping / 10, WEAKEST), s.damping * 10)
        cost = jnp.where(better, cost, s.cost)
        return _Search(x, cost, damping, weak & small, s.iterations + 1)

    first = _Search(
        start,
        jnp.sum(residual(start) ** 2),
        jnp.asarray(1e-3),
        jnp.asarray(False),
        jnp.asarray(0),
    )
    last = jax.lax.while_loop(searching, corrected, first)
    return LeastSquares(last.x, last.converged, last.iterations)
