"""Joints of other kinds: those that move nothing, those of users, and motions given in time."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, so3
from supple.model.joints import AbstractJoint


class FieldJoint(AbstractJoint):
    """Moves nothing: its coordinates are what is known at one place of a rod.

    Strain, wrench, twist, and ``variables`` of the rod's own.
    """

    variables: int = eqx.field(static=True, default=0)
    lengths = ()
    constant_subspace = True

    @property
    def nq(self) -> int:  # type: ignore[override]
        """All of them."""
        return 18 + self.variables

    @property
    def nv(self) -> int:  # type: ignore[override]
        """Their rates."""
        return self.nq

    def pose(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Pose:
        return se3.identity()

    def subspace(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, "6 nv"]:
        return jnp.zeros((6, self.nv))

    def closing_rows(self, length: float) -> None:
        return None


class StateJoint(AbstractJoint):
    """Moves nothing: its coordinate is a state of a continuous controller."""

    start: Float[Array, ""]
    """Its first value."""
    nq = 1
    nv = 1
    lengths = ()
    constant_subspace = True

    def pose(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Pose:
        return se3.identity()

    def subspace(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Float[Array, "6 1"]:
        return jnp.zeros((6, 1))

    def closing_rows(self, length: float) -> None:
        return None


class GivenJoint(AbstractJoint):
    """A joint of a user: ``own.pose`` of plain coordinates, its subspace by automatic differentiation."""

    own: Any
    constant_subspace = False

    @property
    def nq(self) -> int:  # type: ignore[override]
        """Of ``own``."""
        return int(self.own.size)

    @property
    def nv(self) -> int:  # type: ignore[override]
        """Of ``own``."""
        return int(self.own.size)

    @property
    def lengths(self) -> tuple[int, ...]:  # type: ignore[override]
        """Of ``own``."""
        return tuple(self.own.lengths)

    def pose(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Pose:
        found = self.own.pose(q + x)
        return Pose(*(jnp.asarray(part, dtype=float) for part in found))

    def subspace(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, "6 nv"]:
        pose, change = self.pose(q, x), jax.jacfwd(lambda x: self.pose(q, x))(x)
        spin = jnp.einsum("ji,jkn->ikn", pose.rotation, change.rotation)
        angular = jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]])
        return jnp.concatenate([angular, pose.rotation.T @ change.position])

    def closing_rows(self, length: float) -> None:
        return None


class DrivenJoint(AbstractJoint):
    """A motion prescribed in time: position (m) and rotation vector (rad) in the inner frame."""

    motion: Callable[[Any], tuple[Any, Any]] = eqx.field(static=True)
    kinks: tuple[float, ...] = eqx.field(static=True, default=())
    """Times (s) at which it is not smooth."""
    still: bool = eqx.field(static=True, default=False)
    """Whether it stands where it is at each time instead of moving: for statics."""
    nq = 0
    nv = 0
    lengths = ()
    constant_subspace = True

    def pose(self, q: Float[Array, " 0"], x: Float[Array, " 0"]) -> Pose:
        return se3.identity()

    def subspace(self, q: Float[Array, " 0"], x: Float[Array, " 0"]) -> Float[Array, "6 0"]:
        return jnp.zeros((6, 0))

    def closing_rows(self, length: float) -> None:
        return None

    def driven(self, t: Float[Array, ""]) -> tuple[Pose, Float[Array, " 6"], Float[Array, " 6"]]:
        """Pose, body twist and its derivative at time t."""

        def pose_at(t: Float[Array, ""]) -> Pose:
            position, rotation_vector = self.motion(t)
            return Pose(
                so3.exp(jnp.asarray(rotation_vector, dtype=float)),
                jnp.asarray(position, dtype=float),
            )

        def twist_at(t: Float[Array, ""]) -> tuple[Float[Array, " 6"], Pose]:
            pose, rate = jax.jvp(pose_at, (t,), (jnp.ones_like(t),))
            spin = pose.rotation.T @ rate.rotation
            angular = jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]])
            return jnp.concatenate([angular, pose.rotation.T @ rate.position]), pose

        if self.still:
            return pose_at(t), jnp.zeros(6), jnp.zeros(6)
        twist, acceleration, pose = jax.jvp(twist_at, (t,), (jnp.ones_like(t),), has_aux=True)
        return pose, twist, acceleration
