"""Coordinates imposed in time: equations s (q - law(t)) = 0, whose multipliers give the effort needed."""

import equinox as eqx
from jaxtyping import Float

from supple.arrays import Array
from supple.model.laws import Laws


class Prescribed(eqx.Module):
    """Imposed coordinates of joints and rods, one law each."""

    laws: Laws
    scale: Float[Array, " n"]
    """Meters of violation per unit of each coordinate; multipliers are then newtons."""
    q_index: tuple[int, ...] = eqx.field(static=True)
    v_index: tuple[int, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        """Number of imposed coordinates."""
        return len(self.v_index)

    def values(self, t: Float[Array, ""]) -> Float[Array, " n"]:
        """What the coordinates should be."""
        return self.laws(t)
