"""Fluid chambers along rods, as transmissions: a volume V(q), its gradient, a pressure law.

A chamber of cross-section A_c at the offset r of the section pushes along the section's normal, so that its
dual coordinate is V = ∫ A_c e_x · (γ + κ x r) dX, which is affine in a rod's coordinates: V = V₀ + a · q.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.model.laws import AbstractLaw

ATMOSPHERE = 101_325.0
"""Pressure outside (Pa)."""


class Chambers(eqx.Module):
    """All chambers: k of them."""

    rest: Float[Array, " k"]
    """Volume V₀ at q = 0 (m³)."""
    arms: Float[Array, "k nv"]
    """a = ∂V/∂q."""
    area: Float[Array, " k"]
    """Reference area (m²): equations of imposed volumes are divided by it, so that they are metres."""
    laws: tuple[AbstractLaw, ...]
    """Gauge pressure (Pa), volume (m³), or gas content n R T (J)."""
    kinds: tuple[str, ...] = eqx.field(static=True)
    """"pressure", "volume" or "gas" for each chamber."""
    names: tuple[str, ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        """Number of chambers."""
        return len(self.names)

    @property
    def by_volume(self) -> np.ndarray:
        """Chambers whose volume is imposed: each has an equation and a multiplier."""
        return np.array([i for i, kind in enumerate(self.kinds) if kind == "volume"], dtype=int)

    def inputs(self, t: Float[Array, ""]) -> Float[Array, " k"]:
        """What the laws say now."""
        return jnp.stack([law(t) for law in self.laws])


def no_chambers(nv: int) -> Chambers:
    """A robot without chambers."""
    none = np.zeros(0)
    return Chambers(none, np.zeros((0, nv)), none, (), (), ())
