"""Rules that integrate along a segment, step by step between its nodes.

A rule carries y over one step of length h, given the derivative f(y, τ) at fractions τ of the step. What
depends on the place is known at nodes and in the middle between them, and in between by a parabola.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from supple.arrays import Array

Vector = Float[Array, " n"]
Derivative = Callable[[Vector, Any], Vector]


class Rule(NamedTuple):
    """An explicit rule whose stages follow from one another: y + h r_i k_{i-1}, then y + h Σ b_i k_i."""

    reach: tuple[float, ...]
    """r of each stage, which is also where it is."""
    weights: tuple[float, ...]

    def march(
        self, f: Derivative, y: Vector, h: Any, places: Any
    ) -> tuple[Vector, Float[Array, "s n"], Float[Array, "s q n"]]:
        """The end of all steps, y at the end of each, and at the stages of each.

        f(what is known of a place, y); ``places`` (n, q, …) is that at the stages. All stages of all steps
        are one loop, so that f is compiled once.
        """
        count = len(self.reach)
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), places)
        steps = jax.tree.leaves(flat)[0].shape[0] // count
        # The last stage of a step ends it.
        reach, weights = (jnp.tile(jnp.array(w), steps) for w in (self.reach, self.weights))
        ends = jnp.tile(jnp.arange(count) == count - 1, steps)

        def once(s: Any, at: Any) -> Any:
            start, slope, change = s
            place, r, w, last = at
            stage = start + h * r * slope
            slope = f(place, stage)
            change = change + w * slope
            start = jnp.where(last, start + h * change, start)
            return (start, slope, jnp.where(last, 0.0, change)), (start, stage)

        none = jnp.zeros_like(y)
        (end, _, _), (starts, stages) = lax.scan(
            once, (y, none, none), (flat, reach, weights, ends)
        )
        shape = (steps, count, len(y))
        return end, starts.reshape(shape)[:, -1], stages.reshape(shape)

    def tangent(self, A: Float[Array, "q n n"], T: Float[Array, "n m"], h: Any) -> Array:
        """The derivative of a step times T, from those of f at the stages."""
        slopes = [A[0] @ T]
        for i, r in enumerate(self.reach[1:]):
            slopes.append(A[i + 1] @ (T + h * r * slopes[-1]))
        return T + h * sum(w * k for w, k in zip(self.weights, slopes, strict=True))


RULES = {
    "euler": Rule((0.0,), (1.0,)),
    "rk4": Rule((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}
"""First order, from the start of a step; and the classical rule of fourth order."""


class _Substep(NamedTuple):
    tau: Float[Array, ""]
    width: Float[Array, ""]
    y: Vector
    tries: Any


MOST_SUBSTEPS = 60
"""Between two nodes."""


def adaptive(f: Derivative, y: Vector, h: Any, tolerance: float, size: Vector) -> Vector:
    """Bogacki and Shampine's rule of third order with as many steps as the tolerance needs.

    ``size`` says how large each number of y is; errors are judged by it.
    """

    def going(s: _Substep) -> Bool[Array, ""]:
        return (s.tau < 1.0 - 1e-12) & (s.tries < MOST_SUBSTEPS)

    def once(s: _Substep) -> _Substep:
        w = jnp.minimum(s.width, 1.0 - s.tau)
        k1 = f(s.y, s.tau)
        k2 = f(s.y + h * w / 2 * k1, s.tau + w / 2)
        k3 = f(s.y + h * w * 3 / 4 * k2, s.tau + 3 * w / 4)
        new = s.y + h * w * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = f(new, s.tau + w)
        gap = h * w * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4) / 72
        error = lax.stop_gradient(jnp.max(jnp.abs(gap / size))) / tolerance
        good = (error <= 1.0) | (s.tries >= MOST_SUBSTEPS - 2)
        growth = jnp.clip(0.9 * jnp.maximum(error, 1e-6) ** (-1 / 3), 0.2, 4.0)
        moved = jnp.where(good, new, s.y)
        return _Substep(jnp.where(good, s.tau + w, s.tau), w * growth, moved, s.tries + 1)

    start = _Substep(jnp.zeros(()), jnp.ones(()), y, jnp.zeros((), dtype=int))
    return lax.while_loop(going, once, start).y


def between(known: Any, tau: Any) -> Any:
    """What is known at the start, in the middle and at the end of a step, at a fraction of it."""
    first, middle, last = known
    if isinstance(tau, float):
        return first if tau == 0.0 else middle if tau == 0.5 else last

    def one(a: Array, b: Array, c: Array) -> Array:
        return a + tau * (4 * b - 3 * a - c) + 2 * tau**2 * (a - 2 * b + c)

    return jax.tree.map(one, first, middle, last)
