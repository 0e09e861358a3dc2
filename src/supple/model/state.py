"""The state of a robot in motion."""

import equinox as eqx
from jaxtyping import Float

from supple.arrays import Array


class State(eqx.Module):
    """Time (s), configuration q, velocity v, acceleration a (that is dv/dt), closing forces (N)."""

    t: Float[Array, ""]
    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    a: Float[Array, " nv"]
    multipliers: Float[Array, " n"] | None = None
    """One force for each equation that closes a loop; None for trees."""
