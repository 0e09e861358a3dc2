"""Loads as the mechanics sees them: one seam for wrenches at points, one for internal stress.

A point load is a body wrench that may depend on time and on the pose and twist of the point. Its tangent
comes from automatic differentiation of that one small function unless a load knows better, so a new load
is one method.
"""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, so3
from supple.model.laws import AbstractLaw


class AbstractPointLoad(eqx.Module):
    """A wrench at one point of the robot."""

    sample: eqx.AbstractVar[int]
    offset: eqx.AbstractVar[Pose]

    @abc.abstractmethod
    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        """Body wrench (N m, N) at the point, given its world pose and body twist."""

    @property
    @abc.abstractmethod
    def corners(self) -> tuple[float, ...]:
        """Times at which the load is not smooth."""

    def tangent(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        """Derivatives of the wrench by a body displacement of the point and by its body twist."""

        def moved(shift: Float[Array, " 6"], rate: Float[Array, " 6"]) -> Float[Array, " 6"]:
            return self.wrench(t, pose @ se3.exp(shift), twist + rate)

        by_shift, by_rate = jax.jacfwd(moved, argnums=(0, 1))(jnp.zeros(6), jnp.zeros(6))
        return by_shift, by_rate


class PointWrench(AbstractPointLoad):
    """A given wrench times a law: fixed in space (dead) or in the moving frame (follower)."""

    sample: int = eqx.field(static=True)
    offset: Pose
    value: Float[Array, " 6"]
    law: AbstractLaw
    follower: bool = eqx.field(static=True)

    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        value = self.law(t) * self.value
        if self.follower:
            return value
        return jnp.concatenate([pose.rotation.T @ value[:3], pose.rotation.T @ value[3:]])

    @property
    def corners(self) -> tuple[float, ...]:
        return self.law.corners

    def tangent(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        none = jnp.zeros((6, 6))
        if self.follower:
            return none, none
        # A dead wrench turns backwards in the moving frame.
        seen = self.wrench(t, pose, twist)
        turning = jnp.concatenate([so3.hat(seen[:3]), so3.hat(seen[3:])])
        return none.at[:, :3].set(turning), none


class SlidingFriction(AbstractPointLoad):
    """Force against the velocity v along a plane: -(damping + friction / √(v² + speed²)) v."""

    sample: int = eqx.field(static=True)
    offset: Pose
    normal: Float[Array, " 3"]
    """Unit normal of the plane in the world."""
    friction: Float[Array, ""]
    damping: Float[Array, ""]
    speed: Float[Array, ""]

    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        normal = pose.rotation.T @ self.normal
        along = twist[3:] - normal * jnp.dot(normal, twist[3:])
        dry = self.friction / jnp.sqrt(jnp.dot(along, along) + self.speed**2)
        return jnp.concatenate([jnp.zeros(3), -(self.damping + dry) * along])

    @property
    def corners(self) -> tuple[float, ...]:
        return ()


class InternalStress(eqx.Module):
    """Stress Λ(X, t) added to the elastic one of a rod (001, eq. 12): a muscle, an actuator."""

    group: int = eqx.field(static=True)
    row: int = eqx.field(static=True)
    stress: Callable[[Any, Any], Any] = eqx.field(static=True)

    def at(self, X: Float[Array, " n"], t: Float[Array, ""]) -> Float[Array, "n 6"]:
        """Stress wrench (N m, N) at the arc lengths X (m)."""
        return jnp.asarray(self.stress(X, t), dtype=float)
