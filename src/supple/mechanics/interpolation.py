"""States between two instants of a run."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.element_motion import chart_rate, difference, rate, rate_derivative, retract
from supple.model.model import Model

Motion = tuple[Float[Array, " nq"], Float[Array, " nv"], Float[Array, " nv"]]


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
