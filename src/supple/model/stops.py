"""Stops of joints: coordinates that may not go beyond a bound, as one-sided equations."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from supple.arrays import Array


class Stops(eqx.Module):
    """Hard stops: side (q - bound) ≤ 0, the multiplier the effort (N m, N) that holds the joint back."""

    bound: Float[Array, " n"]
    """(rad, m)."""
    side: Float[Array, " n"]
    """1 for an upper bound, -1 for a lower one; times meters that stand for a unit of the coordinate."""
    q_index: tuple[int, ...] = eqx.field(static=True)
    v_index: tuple[int, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    """Of the joints."""

    @property
    def size(self) -> int:
        """Number of bounds."""
        return len(self.v_index)


def no_stops() -> Stops:
    """Joints that turn as far as they like."""
    return Stops(np.zeros(0), np.zeros(0), (), (), ())
