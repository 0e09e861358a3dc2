"""States that nearly fulfil the equations of a robot, such as interpolated ones, brought back to them."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.element_motion import retract
from supple.model.model import Model
from supple.system.active_set import open_by, open_rates

TIMES = 3
"""Newton steps: from a gap of a thousandth they lead to round-off."""
DEPENDENT = 1e-10
"""Share of the largest singular value below which equations follow from others."""
LARGEST = 200
"""Coordinates of the largest robot that is brought back: the matrices here are dense, one for each state."""


def brought_back(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
) -> tuple[Float[Array, " nq"], Float[Array, " nv"]]:
    """The nearest configuration and velocity that fulfil the equations; as they are without any."""
    if not model.equations or model.nv > LARGEST:
        return q, v
    scale = jnp.asarray(model.scale)
    zero = jnp.zeros(model.nv)
    for _ in range(TIMES if model.holonomic else 0):
        at = q

        def left(y: Any, at: Any = at) -> Any:
            return open_by(model, retract(model, at, scale * y), t, multipliers)

        q = retract(model, at, scale * _smallest(left, zero))

    def leaving(y: Any) -> Any:
        return open_rates(model, q, v + scale * y, t, multipliers)

    return q, v + scale * _smallest(leaving, zero)


def _smallest(left: Callable[[Any], Any], zero: Float[Array, " nv"]) -> Float[Array, " nv"]:
    """The smallest change of scaled coordinates that takes away, to first order, what is left."""
    return -jnp.linalg.lstsq(jax.jacfwd(left)(zero), left(zero), rcond=DEPENDENT)[0]
