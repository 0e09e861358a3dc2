"""Tendons in channels and fluid chambers along rods: what they push with, and what they measure.

For one place of a rod.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import frames, so3


class Lines(NamedTuple):
    """What runs along a rod: k tendons in channels and fluid chambers."""

    offset: Float[Array, "k 3 *b"]
    """D in the section (m)."""
    change: Float[Array, "k 3 *b"]
    """D′."""


class Efforts(NamedTuple):
    """What the lines along a rod do in one solve."""

    effort: Float[Array, "k *b"]
    """What lengthens each: minus a tension (N), a pressure (Pa)."""
    acts: Float[Array, "k *b"]
    """1 for those that run along this segment, 0 for others."""
    area: Float[Array, "k *b"]
    """Cross-section of a chamber (m²); zero for tendons."""


NEWTON = 4
"""Iterations of the strain under tendons: their pull turns with it, a little."""


def strain_under(
    rest: Float[Array, " 6"],
    compliance: Float[Array, "6 6"],
    free: Float[Array, " 6"],
    lines: Lines,
    efforts: Efforts,
) -> Float[Array, " 6"]:
    """ξ with ξ - ξ₀ = C (Λ + Σ u ∂ℓ′/∂ξ), from ``free`` = C Λ."""
    excess = free
    for _ in range(NEWTON):
        push, slope = _push(rest + excess, lines, efforts)
        left = excess - free - compliance @ push
        excess = excess - jnp.linalg.solve(jnp.eye(6) - compliance @ slope, left)
    return rest + excess


def _push(
    strain: Float[Array, " 6"], lines: Lines, efforts: Efforts
) -> tuple[Float[Array, " 6"], Float[Array, "6 6"]]:
    """Σ u ∂ℓ′/∂ξ of the lines, and its derivative by the strain."""

    def one(offset: Array, change: Array, effort: Array, acts: Array, area: Array) -> Any:
        tangent = strain[3:] + frames.cross(strain[:3], offset) + change
        size = jnp.sqrt(jnp.sum(tangent**2))
        along = jnp.where(area > 0, area * jnp.array([1.0, 0.0, 0.0]), tangent / size)
        by_strain = jnp.concatenate([-so3.hat(offset), jnp.eye(3)], axis=1)
        turning = (jnp.eye(3) - jnp.outer(along, along)) / size
        bends = jnp.where(area > 0, 0.0, by_strain.T @ turning @ by_strain)
        return acts * effort * (along @ by_strain), acts * effort * bends

    pushes, slopes = jax.vmap(one)(*lines, efforts.effort, efforts.acts, efforts.area)
    return pushes.sum(axis=0), slopes.sum(axis=0)


def stretches(
    rest: Float[Array, " 6"], strain: Float[Array, " 6"], lines: Lines, efforts: Efforts
) -> Float[Array, " k"]:
    """ℓ′ of each line: length of a tendon, volume of a chamber beyond that at rest."""

    def one(offset: Array, change: Array, acts: Array, area: Array) -> Any:
        tangent = strain[3:] + frames.cross(strain[:3], offset) + change
        before = rest[3:] + frames.cross(rest[:3], offset)
        volume = area * (tangent - change - before)[0]
        return acts * jnp.where(area > 0, volume, jnp.sqrt(jnp.sum(tangent**2)))

    found: Float[Array, " k"] = jax.vmap(one)(*lines, efforts.acts, efforts.area)
    return found
