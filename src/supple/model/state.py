"""The state of a robot in motion."""

import equinox as eqx
from jaxtyping import Float

from supple.arrays import Array


class State(eqx.Module):
    """Time (s), configuration q, velocity v and acceleration a (that is dv/dt)."""

    t: Float[Array, ""]
    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    a: Float[Array, " nv"]
