"""How M, C and K are combined in a linear system, and what therefore passes through ports."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Inexact

from supple.arrays import Array
from supple.mechanics.element_tangent import Columns
from supple.mechanics.sample_laws import Law

Scalar = Any
"""A number or a traced one, real or complex."""


@dataclass(frozen=True)
class Combination:
    """``mass`` M + ``damping`` C + ``stiffness`` K, for variations with δẋ = a δx and δẍ = b δx.

    In motion three twists pass through ports, (ζ, ζ̇/a, ζ̈/b); all have the size of ζ. Where only M
    matters, or
    the robot is at rest, one does.
    """

    mass: Scalar
    damping: Scalar
    stiffness: Scalar
    by_rate: Scalar = 1.0
    """a."""
    by_change: Scalar = 1.0
    """b."""
    in_motion: bool = False
    elastic: Scalar | None = None
    """Times the elastic stiffness of the elements alone, added to all that."""

    @property
    def depth(self) -> int:
        """Numbers that pass through a port from the parent."""
        return 18 if self.in_motion else 6

    @property
    def complex(self) -> bool:
        """Whether the system is complex."""
        weights = self.mass, self.damping, self.stiffness
        return any(jnp.iscomplexobj(weight) for weight in weights)

    def block(self, blocks: Any) -> Inexact[Array, "*b"]:
        """The combination of (M, C, K)."""
        if not self.in_motion:
            return self.mass * blocks[0] + self.stiffness * blocks[2]
        return self.mass * blocks[0] + self.damping * blocks[1] + self.stiffness * blocks[2]

    def law(self, law: Law) -> Inexact[Array, "*b 6 depth"]:
        """Wrench per unit of what passes through a port."""
        if not self.in_motion:
            return self.mass * law.inertia + self.stiffness * law.geometry
        parts = self.stiffness * law.geometry, self.damping * law.gyration, self.mass * law.inertia
        return jnp.concatenate(parts, axis=-1)

    def reaction(self, phi: Columns) -> Inexact[Array, "*b 6 m"]:
        """Change of wrenches per unit of an element's own coordinates."""
        if not self.in_motion:
            return self.mass * phi.shift + self.stiffness * phi.shift_acceleration
        changing = self.damping * phi.shift_rate + self.stiffness * phi.shift_acceleration
        return self.mass * phi.shift + changing

    def motion(self, columns: Columns) -> Inexact[Array, "*b depth m"]:
        """What an element's own coordinates add to what passes on at its samples."""
        zeta = columns.shift
        if not self.in_motion:
            return zeta
        rate = zeta + columns.shift_rate / self.by_rate
        change = 2 * self.damping * columns.shift_rate + self.stiffness * columns.shift_acceleration
        return jnp.concatenate([zeta, rate, zeta + change / self.mass], axis=-2)


def in_step(by_rate: Scalar, by_change: Scalar) -> Combination:
    """(K + a C + b M) / b, for a time step with δẋ = a δx, δẍ = b δx."""
    share = 1.0 / by_change
    return Combination(1.0, by_rate * share, share, by_rate, by_change, in_motion=True)


def at_rest(mass: Scalar = 0.0, elastic: Scalar | None = None) -> Combination:
    """K of a robot that does not move, and some of its M and of its elastic stiffness alone."""
    return Combination(mass, 0.0, 1.0, elastic=elastic)


def of_mass() -> Combination:
    """M alone."""
    return Combination(1.0, 0.0, 0.0)
