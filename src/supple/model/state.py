"""The state of a robot in motion."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.reprs import short


class State(eqx.Module):
    """Time (s), configuration q, velocity v, acceleration a (that is dv/dt), multipliers (N)."""

    t: Float[Array, ""]
    q: Float[Array, " nq"]
    v: Float[Array, " nv"]
    a: Float[Array, " nv"]
    multipliers: Float[Array, " n"] | None = None
    """One force for each equation of the model, in the order of ``Model.equations``; None without any."""

    def __repr__(self) -> str:
        return f"State(t={short(self.t)} s, q {np.shape(self.q)}, v {np.shape(self.v)})"
