"""States between two instants of a run."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from supple.arrays import Array
from supple.mechanics.element_motion import chart_rate, difference, rate, rate_derivative, retract
from supple.model.model import Model

Motion = tuple[Float[Array, " nq"], Float[Array, " nv"], Float[Array, " nv"]]

AGREED = 0.5
"""Share of what further instants change about which they may disagree: beyond it something has jumped."""
LONGEST = 6.0
"""Ratio of the lengths of neighboring intervals up to which they tell of each other."""


def between(model: Model, time: Float[Array, ""], t: Any, q: Any, v: Any, a: Any) -> Motion:
    """Configuration, velocity and acceleration at a time between two instants, each given as a pair.

    Quintic Hermite interpolation in the chart of the first.
    """
    (t0, t1), (q0, q1), (v0, v1), (a0, a1) = t, q, v, a
    h = t1 - t0
    s = (time - t0) / h
    x1 = difference(model, q0, q1)
    rate1 = chart_rate(model, q0, x1, v1)
    bias = rate_derivative(model, q0, x1, rate1, jnp.zeros_like(a1))
    change1 = chart_rate(model, q0, x1, a1 - bias)
    # Coefficients of s³, s⁴, s⁵ from the three conditions at the end.
    r0 = x1 - h * v0 - h**2 / 2 * a0
    r1 = h * (rate1 - v0) - h**2 * a0
    r2 = h**2 * (change1 - a0)
    c3 = 10 * r0 - 4 * r1 + r2 / 2
    c4 = -15 * r0 + 7 * r1 - r2
    c5 = 6 * r0 - 3 * r1 + r2 / 2
    x = s * h * v0 + (s * h) ** 2 / 2 * a0 + s**3 * (c3 + s * (c4 + s * c5))
    xdot = v0 + s * h * a0 + s**2 * (3 * c3 + s * (4 * c4 + s * 5 * c5)) / h
    xddot = a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5)) / h**2
    return (
        retract(model, q0, x),
        rate(model, q0, x, xdot),
        rate_derivative(model, q0, x, xdot, xddot),
    )


def between_four(model: Model, time: Float[Array, ""], t: Any, q: Any, v: Any, a: Any) -> Motion:
    """The same between the second and the third of four instants, by what the outer two tell.

    With three instants there are nine conditions on a polynomial of degree 8: its error is that of schemes of
    order 5, where quintic interpolation over steps of a radian is not. There are two such polynomials, and
    their mean is taken where they agree. Where the motion has jumped or bent, or vibrates faster than the
    steps, they do not, and the quintic one is taken; so it is where an outer instant is missing (t as inner).
    """
    h = t[2] - t[1]
    s, marks = (time - t[1]) / h, (t - t[1]) / h
    known = [_in_chart(model, q[1], q[k], v[k], a[k]) for k in range(4)]
    x, xdot, xddot = (
        jnp.stack(part) * power
        for part, power in zip(zip(*known, strict=True), (1.0, h, h**2), strict=True)
    )

    def fitted(which: slice) -> Any:
        return _hermite(s, marks[which], x[which], xdot[which], xddot[which])

    middle, left, right = fitted(slice(1, 3)), fitted(slice(0, 3)), fitted(slice(1, 4))
    lengths = jnp.diff(t) / h
    near = (lengths > 1 / LONGEST) & (lengths < LONGEST)
    mean = [(one + other) / 2 for one, other in zip(left, right, strict=True)]
    change = jnp.max(jnp.abs(mean[0] - middle[0]) / model.scale)
    doubt = jnp.max(jnp.abs(left[0] - right[0]) / model.scale)
    good: Bool[Array, ""] = near[0] & near[2] & (doubt <= AGREED * change)
    found, speed, growth = (
        jnp.where(good, one, other) for one, other in zip(mean, middle, strict=True)
    )
    speed, growth = speed / h, growth / h**2
    return (
        retract(model, q[1], found),
        rate(model, q[1], found, speed),
        rate_derivative(model, q[1], found, speed, growth),
    )


def _in_chart(model: Model, q0: Any, q: Any, v: Any, a: Any) -> tuple[Any, Any, Any]:
    """A state in the chart of q0: displacement, its rate and the rate of that."""
    x = difference(model, q0, q)
    speed = chart_rate(model, q0, x, v)
    bias = rate_derivative(model, q0, x, speed, jnp.zeros_like(a))
    return x, speed, chart_rate(model, q0, x, a - bias)


def _hermite(s: Any, marks: Any, x: Any, xdot: Any, xddot: Any) -> list[Any]:
    """Value and two derivatives at s of the polynomial with given ones at marks (k,)."""
    count = 3 * len(marks)
    unit = jnp.maximum(jnp.max(jnp.abs(marks)), 1.0)

    def rows(u: Any) -> Any:
        """Powers of u, and their derivatives by s."""
        degree = np.arange(count)
        powers = jnp.concatenate(
            [jnp.zeros(2), jnp.cumprod(jnp.concatenate([jnp.ones(1), jnp.full(count - 1, u)]))]
        )
        return jnp.stack(
            [
                powers[2:],
                degree * powers[1:-1] / unit,
                degree * (degree - 1) * powers[:-2] / unit**2,
            ]
        )

    matrix = jnp.concatenate(jax.vmap(rows)(marks / unit))
    values = jnp.stack([x, xdot, xddot], axis=1).reshape(count, -1)
    return list(rows(s / unit) @ jnp.linalg.solve(matrix, values))
