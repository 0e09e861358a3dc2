"""Rules that integrate along segments, step by step between their nodes, all segments at once.

A rule carries y over one step of length h, given the derivative f(y, known, τ) at fractions τ of the step.
What is known depends on the place: at nodes, in the middle between them, and in between by a parabola.
Segments are on the last axis.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from supple.arrays import Array

States = Float[Array, "n s"]
Derivative = Callable[[States, Any, Any], States]
"""f(y, what is known there, steps from the start of the segment)."""


class Rule(NamedTuple):
    """An explicit rule whose stages follow from one another: y + h r_i k_{i-1}, then y + h Σ b_i k_i."""

    reach: tuple[float, ...]
    """r of each stage, which is also where it is."""
    weights: tuple[float, ...]

    def march(
        self, f: Derivative, y: States, h: Any, places: Any, steps: int
    ) -> tuple[States, Float[Array, "k n s"]]:
        """The end of all steps, and y at all nodes.

        ``places`` (2 steps + 1, …) is what is known at nodes and in the middles between them. All stages of
        all steps are one loop, so that f is compiled once.
        """
        count = len(self.reach)
        index = 2 * jnp.arange(steps)[:, None] + jnp.array([int(2 * r) for r in self.reach])
        where = jnp.arange(steps)[:, None] + jnp.array(self.reach)
        # The last stage of a step ends it.
        reach, weights = (jnp.tile(jnp.array(w), steps) for w in (self.reach, self.weights))
        ends = jnp.tile(jnp.arange(count) == count - 1, steps)

        def once(s: Any, at: Any) -> Any:
            start, slope, change = s
            place, number, r, w, last = at
            known = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, place, 0, False), places)
            slope = f(start + h * r * slope, known, number)
            change = change + w * slope
            start = jnp.where(last, start + h * change, start)
            return (start, slope, jnp.where(last, 0.0, change)), start

        none = jnp.zeros_like(y)
        stages = index.reshape(-1), where.reshape(-1), reach, weights, ends
        (end, _, _), starts = lax.scan(once, (y, none, none), stages)
        return end, jnp.concatenate([y[None], starts[count - 1 :: count]])


RULES = {
    "euler": Rule((0.0,), (1.0,)),
    "rk4": Rule((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}
"""First order, from the start of a step; and the classical rule of fourth order."""


class _Substep(NamedTuple):
    tau: Float[Array, " s"]
    width: Float[Array, " s"]
    y: States
    tries: Any


MOST_SUBSTEPS = 60
"""Between two nodes."""


def adaptive(
    f: Derivative, y: States, h: Any, places: Any, steps: int, tolerance: float, size: States
) -> tuple[States, Float[Array, "k n s"]]:
    """Bogacki and Shampine's rule of third order with as many steps as the tolerance needs.

    ``size`` says how large each number of y is; errors are judged by it.
    """

    def once(y: States, number: Any) -> Any:
        ends = [
            jax.tree.map(
                lambda x, i=i: lax.dynamic_index_in_dim(x, 2 * number + i, 0, False), places
            )
            for i in range(3)
        ]

        def here(y: States, tau: Any) -> States:
            return f(y, between(ends, tau), number + tau)

        new = _carried(here, y, h, tolerance, size)
        return new, new

    end, nodes = lax.scan(once, y, jnp.arange(steps))
    return end, jnp.concatenate([y[None], nodes])


def _carried(f: Any, y: States, h: Any, tolerance: float, size: States) -> States:
    """Y at the next node; each segment takes steps of its own."""

    def going(s: _Substep) -> Bool[Array, ""]:
        return jnp.any(s.tau < 1.0 - 1e-12) & (s.tries < MOST_SUBSTEPS)

    def once(s: _Substep) -> _Substep:
        w = jnp.minimum(s.width, 1.0 - s.tau)
        k1 = f(s.y, s.tau)
        k2 = f(s.y + h * w / 2 * k1, s.tau + w / 2)
        k3 = f(s.y + h * w * 3 / 4 * k2, s.tau + 3 * w / 4)
        new = s.y + h * w * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = f(new, s.tau + w)
        gap = h * w * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4) / 72
        error = lax.stop_gradient(jnp.max(jnp.abs(gap / size), axis=0)) / tolerance
        good = (error <= 1.0) | (s.tries >= MOST_SUBSTEPS - 2)
        growth = jnp.clip(0.9 * jnp.maximum(error, 1e-6) ** (-1 / 3), 0.2, 4.0)
        moved = jnp.where(good, new, s.y)
        width = jnp.where(w > 0, w * growth, s.width)
        return _Substep(jnp.where(good, s.tau + w, s.tau), width, moved, s.tries + 1)

    none = jnp.zeros_like(y[0])
    start = _Substep(none, jnp.ones_like(none), y, jnp.zeros((), dtype=int))
    return lax.while_loop(going, once, start).y


def between(known: Any, tau: Float[Array, " s"]) -> Any:
    """What is known at the start, in the middle and at the end of a step, at a fraction of it."""
    first, middle, last = known

    def one(a: Array, b: Array, c: Array) -> Array:
        return a + tau * (4 * b - 3 * a - c) + 2 * tau**2 * (a - 2 * b + c)

    return jax.tree.map(one, first, middle, last)
