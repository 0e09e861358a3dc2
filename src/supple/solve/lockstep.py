"""Newton's method for many solves side by side on one device: no branches, few matrices.

Side by side, everything that some member may need is computed for all of them. So a matrix is made once and
kept while corrections shrink with it (few need another one), its inverse is applied as a product, and what
has converged, or has failed, waits unchanged. Every loop ends when no member needs it any more: one that
diverges costs the others ``sweeps`` matrices at most, in the step in which it does.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.solve.newton import Linearize, NewtonResult, Residual, Vector
from supple.system.dense import DenseFactors, Factors

SHRINKS = 0.5
"""A matrix is kept while the corrections with it shrink at least by this factor."""
ROUND_OFF = 64.0
"""Over the spacing of numbers: no tolerance is smaller, which counts where precision is single."""
LEFT = 0.01
"""What may be left after the last correction, by how they shrink, over the tolerance."""
LARGEST_INVERSE = 64
"""Unknowns up to which a matrix is inverted."""


@dataclass(frozen=True)
class Lockstep:
    """Settings of these solves: the tolerance of the update, matrices and corrections with each at most."""

    tolerance: float = 1e-9
    sweeps: int = 8
    corrections: int = 8


class _Sweep(NamedTuple):
    """Between two matrices."""

    x: Vector
    damping: Float[Array, ""]
    converged: Bool[Array, ""]
    failed: Bool[Array, ""]
    iterations: Int[Array, ""]
    sweeps: Int[Array, ""]
    delta: Vector


class _Correction(NamedTuple):
    """Between two corrections with one matrix."""

    x: Vector
    delta: Vector
    """The correction that led to x."""
    next: Vector
    """The one that leads on from there."""
    good: Bool[Array, ""]
    """Whether they shrink."""
    converged: Bool[Array, ""]
    count: Int[Array, ""]


def newton_in_lockstep(
    residual: Residual, linearize: Linearize, x0: Vector, scale: Vector, settings: Lockstep
) -> NewtonResult:
    """Solve residual(x) = 0 from x0, as :func:`supple.solve.newton.newton` does, to the same tolerance.

    ``factors`` of the result are None.
    """
    residual, linearize = jax.jit(residual, inline=True), jax.jit(linearize, inline=True)
    tolerance = max(settings.tolerance, ROUND_OFF * float(jnp.finfo(x0.dtype).eps))

    def size(delta: Vector) -> Float[Array, ""]:
        return jnp.max(jnp.abs(delta / scale))

    def needed(s: _Sweep) -> Bool[Array, ""]:
        return ~s.converged & ~s.failed & (s.sweeps < settings.sweeps)

    def sweep(s: _Sweep) -> _Sweep:
        value, work = residual(s.x)
        solve = _solver(linearize(s.x, work))
        first = -solve(value)

        def going(c: _Correction) -> Bool[Array, ""]:
            return c.good & ~c.converged & (c.count < settings.corrections)

        def correct(c: _Correction) -> _Correction:
            x = c.x + c.next
            then = -solve(residual(x)[0])
            before, after = size(c.next), size(then)
            shrink = after / jnp.maximum(before, 1e-300)
            small = jnp.maximum(before, after) <= tolerance
            good = (shrink <= SHRINKS) | small  # False for NaN
            ends = good & ((shrink * after <= LEFT * tolerance) | small)
            return _Correction(x, c.next, then, good, ends, c.count + 1)

        damped = s.damping < 1.0
        start = _Correction(
            s.x,
            jnp.zeros_like(first),
            s.damping * first,
            jnp.isfinite(size(first)),
            jnp.zeros((), dtype=bool),
            jnp.zeros((), dtype=int),
        )
        end = lax.while_loop(lambda c: going(c) & ~(damped & (c.count > 0)), correct, start)
        # The first trial must bring the correction down (the natural monotonicity test).
        shrinks = size(end.next) <= (1 - s.damping / 4) * size(end.delta / s.damping)
        taken = end.good | (end.count > 1) | shrinks
        damping = jnp.where(taken, jnp.minimum(1.0, 2 * s.damping), s.damping / 4)
        # What the last correction made worse is taken back.
        back = taken & ~end.good & (end.count > 1)
        x = jnp.where(back, end.x - end.delta, jnp.where(taken, end.x, s.x))
        converged = end.converged & ~damped
        x = jnp.where(converged, x + end.next, x)
        failed = ~jnp.isfinite(size(first))
        return _Sweep(
            x, damping, converged, failed, s.iterations + end.count, s.sweeps + 1, end.next
        )

    no, none = jnp.zeros((), dtype=bool), jnp.zeros((), dtype=int)
    start = _Sweep(x0, jnp.ones(()), no, no, none, none, jnp.zeros_like(x0))
    end = lax.while_loop(needed, sweep, start)
    return NewtonResult(
        x=end.x,
        converged=end.converged & jnp.all(jnp.isfinite(end.x)),
        iterations=end.iterations,
        update=size(end.delta),
        worst=jnp.argmax(jnp.abs(end.delta / scale)),
        factors=None,
    )


def _solver(factors: Factors) -> Any:
    """How a right-hand side is solved: by one product, where the matrix is small."""
    if not isinstance(factors, DenseFactors):
        return factors.solve
    n = factors.factors.lu.shape[-1]
    if n > LARGEST_INVERSE:
        return factors.solve
    inverse = factors.factors.solve(jnp.eye(n))
    return lambda b: jnp.sum(inverse * b, axis=-1)
