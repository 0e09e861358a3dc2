"""Tendons in channels along rods, as transmissions: a length ℓ(q), its moment arm ∂ℓ/∂q, an effort law.

In a channel at the offset D(X) of the section the tendon's tangent is Γ = γ + κ × D + D′, which is affine in
a rod's coordinates: Γ = Γ₀ + B q at fixed points. So ℓ = Σ w |Γ₀ + B q|, and its derivatives are sums.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.model.laws import AbstractLaw


class Tendons(eqx.Module):
    """All tendons: k of them, in p channels with n points; m coordinates a channel (padded with zeros)."""

    weights: Float[Array, "p n"]
    """Quadrature weights (m)."""
    straight: Float[Array, "p n 3"]
    """Γ₀."""
    slope: Float[Array, "p n 3 m"]
    """B."""
    laws: tuple[AbstractLaw, ...]
    """Tension (N) of driven tendons; shortening (m) of those that are pulled by length."""
    stiffness: Float[Array, " k"]
    """N/m of elastic tendons; 0 otherwise."""
    damping: Float[Array, " k"]
    """N s/m of elastic tendons."""
    slack_width: Float[Array, " k"]
    """Shortening (m) over which an elastic tendon goes from slack to taut."""
    rest: Float[Array, " k"]
    """Length (m) in the described shape."""
    columns: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Coordinates of each channel; -1 where it has fewer."""
    tendon_of_channel: tuple[int, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)
    """"tension", "length" or "elastic" for each tendon."""
    names: tuple[str, ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        """Number of tendons."""
        return len(self.names)

    @property
    def by_length(self) -> np.ndarray:
        """Tendons whose length is imposed: each has an equation and a multiplier, its tension."""
        return np.array([i for i, kind in enumerate(self.kinds) if kind == "length"], dtype=int)

    def gather(self) -> np.ndarray:
        """(k, p) matrix that sums over the channels of each tendon."""
        of = np.array(self.tendon_of_channel, dtype=int)
        return (np.arange(self.size)[:, None] == of[None, :]).astype(float)

    def inputs(self, t: Float[Array, ""]) -> Float[Array, " k"]:
        """What the laws say now."""
        return jnp.stack([law(t) for law in self.laws])


def no_tendons() -> Tendons:
    """A robot without tendons."""
    none = np.zeros(0)
    return Tendons(
        np.zeros((0, 0)), np.zeros((0, 0, 3)), np.zeros((0, 0, 3, 0)), (), none, none, none, none,
        (), (), (), (),
    )  # fmt: skip
