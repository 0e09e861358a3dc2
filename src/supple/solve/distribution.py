"""Tensions that together give wanted forces, each within bounds: a small quadratic program.

    minimize ½ |t - t₀|²   such that   Z t = Γ,   least ≤ t ≤ most.

Its solution is t = clip(t₀ + Zᵀ y) for multipliers y at which Z t(y) = Γ: the gradient of a convex function
of y with pieces of second order, whose minimum Newton's method finds in as many steps as bounds become
active, about.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from supple.arrays import Array

MOST_STEPS = 50
TOLERANCE = 1e-9
"""Of the force that is missing, over the largest wanted one."""
RIDGE = 1e-6
"""Added to the second derivative, over its trace: tensions that matter may all be at their bounds."""
SMALLEST = 1e-12
"""Share of Newton's step at which its search along it ends."""


class Distribution(NamedTuple):
    """Tensions (N), and whether they give what was wanted within the bounds."""

    tension: Float[Array, " m"]
    feasible: Bool[Array, ""]


class _Search(NamedTuple):
    y: Float[Array, " n"]
    missing: Float[Array, " n"]
    steps: Any


def _solved(matrix: Float[Array, "n n"], right: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solution with a small positive definite matrix, by plain arithmetic.

    It needs no pivots; a call of a library would cost more than the whole program.
    """
    count = len(right)
    rows = jnp.concatenate([matrix, right[:, None]], axis=1)
    for k in range(count):
        row = rows[k] / rows[k, k]
        rows = jnp.where(np.arange(count)[:, None] == k, row, rows - rows[:, k, None] * row)
    return rows[:, -1]


def distribute(
    arms: Float[Array, "n m"],
    wanted: Float[Array, " n"],
    least: Any = 0.0,
    most: Any = jnp.inf,
    preferred: Any | None = None,
) -> Distribution:
    """Tensions within bounds (numbers, or one for each) with which ``arms @ tension`` is ``wanted``.

    Of many such tensions those nearest to ``preferred`` (the least ones by default). Where the bounds allow
    none, they give what is nearest to it, and ``feasible`` is False. For controllers: it is compiled with
    them.
    """
    count = arms.shape[1]
    low, high = (jnp.broadcast_to(jnp.asarray(x, dtype=float), (count,)) for x in (least, most))
    first = low if preferred is None else jnp.broadcast_to(jnp.asarray(preferred, float), (count,))
    size = jnp.maximum(jnp.max(jnp.abs(wanted)), 1e-300)

    def tension(y: Float[Array, " n"]) -> Float[Array, " m"]:
        return jnp.clip(first + arms.T @ y, low, high)

    def cost(y: Float[Array, " n"]) -> Float[Array, ""]:
        """The convex function of which ``arms @ tension - wanted`` is the gradient."""
        s = first + arms.T @ y
        t = jnp.clip(s, low, high)
        return jnp.sum(0.5 * t**2 + t * (s - t)) - y @ wanted

    def open_(now: _Search) -> Bool[Array, ""]:
        return (jnp.max(jnp.abs(now.missing)) > TOLERANCE * size) & (now.steps < MOST_STEPS)

    def step(now: _Search) -> _Search:
        s = first + arms.T @ now.y
        # At the bound itself it may come free again.
        free = ((s >= low) & (s <= high)).astype(float)
        second = (arms * free) @ arms.T
        ridge = RIDGE * jnp.trace(arms @ arms.T)
        way = _solved(second + ridge * np.eye(len(wanted)), now.missing)
        slope, here = -now.missing @ way, cost(now.y)

        def too_far(share: Float[Array, ""]) -> Bool[Array, ""]:
            return (cost(now.y + share * way) > here + 0.1 * share * slope) & (share > SMALLEST)

        share = lax.while_loop(too_far, lambda share: 0.5 * share, jnp.ones(()))
        y = now.y + share * way
        return _Search(y, wanted - arms @ tension(y), now.steps + 1)

    zero = jnp.zeros(len(wanted))
    found = lax.while_loop(open_, step, _Search(zero, wanted - arms @ tension(zero), 0))
    good = jnp.max(jnp.abs(found.missing)) <= TOLERANCE * size
    return Distribution(tension(found.y), good)
