"""Newton's method with error-oriented damping and reuse of the factorization. Knows no mechanics.

After each trial point the update it would need is estimated with the factorization at hand
(Deuflhard's natural monotonicity test). That one number decides everything: the trial is taken if the
estimate shrinks, the solve is finished if it is below the tolerance, the matrix is kept while it shrinks
fast, and renewed when it does not. An update with a kept matrix says nothing of how far the next one will
go: in long chains, whose matrix is badly conditioned, the first two may shrink a thousandfold and the third
grow as much. Where such a trial is refused the matrix is renewed at the last point, instead of damping.
For the same reason a full step that nearly fulfils the equations is taken, whatever the estimate says.
Where equations are integrated along a length, an estimate with the last matrix says little, since small
changes at the start are large ones at the end: there full steps are taken that leave less of the equations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.system.dense import Factors

Vector = Float[Array, " n"]
Residual = Callable[[Vector], tuple[Vector, Any]]
"""The residual at a point, and what its derivative there can use again."""


Linearize = Callable[[Vector, Any], Factors]
"""The factorized derivative of the residual, from the point and what the residual left behind."""


FALLS = 0.03
"""A full step is taken if no more of the residual is left than that, unless told otherwise."""


@runtime_checkable
class AnyDescent(Protocol):
    """When a full step is taken, whatever it promises of the next one."""

    @property
    def weight(self) -> Vector:
        """Of the entries of the residual."""

    @property
    def falls_to(self) -> float:
        """The most of it that may be left."""


@dataclass(frozen=True)
class NewtonSettings:
    """Tolerance of the update in units of the coordinates' scales, and limits."""

    tolerance: float = 1e-9
    max_iterations: int = 20
    reuse_below: float = 0.1
    """Keep the factorization while the update shrinks at least by this factor."""
    smallest_damping: float = 1e-3
    round_off: float = 0.0
    """Updates at most this large that do not shrink any more are round-off: the solve is finished. Very stiff
    beside very soft parts, and forces that balance each other, leave more of it than the tolerance."""


class NewtonResult(NamedTuple):
    """Where the iteration ended."""

    x: Vector
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]
    update: Float[Array, ""]
    """Scaled size of the last update, an estimate of the error left before it."""
    worst: Int[Array, ""]
    """Coordinate with the largest scaled update at the end."""
    factors: Any
    """Of the last matrix, from near the end."""


class Kept(NamedTuple):
    """Factors from an earlier solve of a problem that was much the same, to begin with."""

    factors: Any
    usable: Bool[Array, ""]


class _Loop(NamedTuple):
    x: Vector
    delta: Vector
    factors: Any
    first: Bool[Array, ""]
    """Whether there is no update yet: at the start, and after one with a kept matrix was refused."""
    kept: Bool[Array, ""]
    """Whether the update was found, or is to be found, with the matrix of an earlier point or solve."""
    left: Float[Array, ""]
    """Size of the residual at x."""
    damping: Float[Array, ""]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]
    failed: Bool[Array, ""]
    fresh: Bool[Array, ""]
    """Whether the iteration began, or began again, with a matrix of its own."""
    before: Int[Array, ""]
    """Iterations before it began again."""


def newton(
    residual: Residual,
    linearize: Linearize,
    x0: Vector,
    scale: Vector,
    settings: NewtonSettings,
    kept: Kept | None = None,
    descent: AnyDescent | None = None,
) -> NewtonResult:
    """Solve residual(x) = 0 from x0; the residual comes with whatever ``linearize`` can use again.

    Factors ``kept`` from an earlier solve do as long as updates shrink fast with them; a solve that fails
    after it began with them begins again without. ``descent`` says
    when full steps are taken because they leave less of the residual.
    Every pass evaluates the residual once, at a trial point (the first at x0), and linearizes there if the
    next update needs a new matrix; so both are compiled once.
    Not differentiable through its loop: call it on values behind ``stop_gradient`` and attach the
    derivative with :func:`supple.system.formulation.with_implicit_derivative`.
    """

    def size(delta: Vector) -> Float[Array, ""]:
        return jnp.max(jnp.abs(delta / scale))

    # Newton's direction leads down in any norm of the residual; this one is of work.
    weight = jnp.where(jnp.isfinite(scale), scale, 1.0) if descent is None else descent.weight
    falls_to = FALLS if descent is None else descent.falls_to

    # Traced once, for the shapes here and for the loop.
    residual, linearize = jax.jit(residual, inline=True), jax.jit(linearize, inline=True)
    no, yes = jnp.zeros((), dtype=bool), jnp.ones((), dtype=bool)
    shapes = jax.eval_shape(lambda: linearize(x0, residual(x0)[1]))
    none = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    start = _Loop(
        x=x0,
        delta=jnp.zeros_like(x0),
        factors=none if kept is None else kept.factors,
        first=yes,
        kept=no if kept is None else kept.usable,
        left=jnp.zeros(()),
        damping=jnp.ones(()),
        iterations=jnp.zeros((), dtype=int),
        converged=no,
        failed=no,
        fresh=yes if kept is None else ~kept.usable,
        before=jnp.zeros((), dtype=int),
    )

    def going(s: _Loop) -> Bool[Array, ""]:
        return ~s.converged & ~s.failed & (s.iterations < settings.max_iterations)

    def iterate(s: _Loop) -> _Loop:
        trial = s.x + s.damping * s.delta
        value, work = residual(trial)
        # Nonsense in a first pass without kept factors, and not used there.
        estimate = -s.factors.solve(value)
        before, after = size(s.delta), size(estimate)
        # The estimate must shrink, unless nothing is left but round-off. False for NaN.
        small = jnp.maximum(before, after) <= settings.tolerance
        shrinks = (after <= (1 - s.damping / 4) * before) | small
        left = jnp.max(jnp.abs(value * weight))
        falls = (s.damping == 1.0) & ~s.kept & (left <= falls_to * s.left)
        taken = s.first | shrinks | falls
        full = ~s.first & shrinks & (s.damping == 1.0)
        stalled = ~s.first & ~shrinks & ~s.kept & (s.damping == 1.0)
        stalled = stalled & (jnp.maximum(before, after) <= settings.round_off)
        converged = (full & (after <= settings.tolerance)) | stalled
        keep = (full & (after <= settings.reuse_below * before)) | (s.first & s.kept)

        def renewed() -> tuple[Vector, Any]:
            factors = linearize(trial, work)
            return -factors.solve(value), factors

        delta, factors = lax.cond(
            taken & ~keep & ~converged,
            renewed,
            lambda: (jnp.where(taken, estimate, s.delta), s.factors),
        )
        again = ~taken & s.kept
        damping = jnp.where(taken, jnp.minimum(1.0, 2 * s.damping), s.damping / 2)
        damping = jnp.where(again, 1.0, damping)
        after_it = _Loop(
            x=jnp.where(taken, trial, s.x),
            delta=jnp.where(again, 0.0, delta),
            factors=factors,
            first=again,
            kept=keep,
            left=jnp.where(taken, left, s.left),
            damping=damping,
            iterations=s.iterations + ~s.first,
            converged=converged,
            failed=(damping < settings.smallest_damping) | ~jnp.isfinite(size(delta)),
            fresh=s.fresh,
            before=s.before,
        )
        return after_it if kept is None else begun_again(after_it)

    def begun_again(s: _Loop) -> _Loop:
        """From x0 with a matrix of its own, where the one kept from an earlier solve led astray."""
        lost = s.failed | (~s.converged & (s.iterations >= settings.max_iterations))
        afresh = start._replace(
            factors=s.factors, kept=no, fresh=yes, before=s.before + s.iterations
        )
        return jax.tree.map(lambda a, b: jnp.where(lost & ~s.fresh, a, b), afresh, s)

    end = lax.while_loop(going, iterate, start)
    x = jnp.where(end.converged, end.x + end.delta, end.x)
    return NewtonResult(
        x=x,
        converged=end.converged & jnp.all(jnp.isfinite(x)),
        iterations=end.before + end.iterations,
        update=size(end.delta),
        worst=jnp.argmax(jnp.abs(end.delta / scale)),
        factors=end.factors,
    )
