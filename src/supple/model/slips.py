"""Points that may not slip: equations between velocities, which no equation between places stands for.

A slip is a row on the twist η of a frame, in its own axes: a(R) η = 0. Rows of a knife edge are fixed in the
frame; those of a wheel also turn with its contact point. Motions are restricted, places are not: a skate
reaches every place on the ice.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, so3


class AbstractSlip(eqx.Module):
    """What may not move in a frame fixed to a sample."""

    offset: eqx.AbstractVar[Pose]
    sample: eqx.AbstractVar[int]
    name: eqx.AbstractVar[str]

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Number of equations."""

    @abc.abstractmethod
    def rows(self, rotation: Float[Array, "3 3"]) -> Float[Array, "n 6"]:
        """Rows on the body twist of a frame so oriented; the products are speeds (m/s)."""


class EdgeSlip(AbstractSlip):
    """A knife edge: the frame's origin does not move across it."""

    offset: Pose
    across: Float[Array, " 3"]
    sample: int = eqx.field(static=True)
    name: str = eqx.field(static=True)

    @property
    def size(self) -> int:
        return 1

    def rows(self, rotation: Float[Array, "3 3"]) -> Float[Array, "1 6"]:
        return jnp.concatenate([jnp.zeros(3), jnp.asarray(self.across)])[None]


class RollingSlip(AbstractSlip):
    """A ball, or with an axle a thin wheel, on a plane: the material at the contact does not move.

    With n the plane's normal, the contact is at ρ = -r n from the center of a ball; a wheel touches with the
    point of its rim that is lowest: n is first made normal to the axle.
    """

    offset: Pose
    radius: Float[Array, ""]
    normal: Float[Array, " 3"]
    axle: Float[Array, " 3"] | None
    sample: int = eqx.field(static=True)
    name: str = eqx.field(static=True)

    @property
    def size(self) -> int:
        return 3

    def rows(self, rotation: Float[Array, "3 3"]) -> Float[Array, "3 6"]:
        normal = rotation.T @ self.normal
        if self.axle is not None:
            normal = normal - self.axle * (self.axle @ normal)
            normal = normal / jnp.linalg.norm(normal)
        # v + ω × ρ with ρ = -r n, in the axes of the world: multipliers are then forces there.
        return rotation @ jnp.concatenate([so3.hat(self.radius * normal), jnp.eye(3)], axis=1)
