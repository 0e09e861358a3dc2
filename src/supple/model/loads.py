"""Loads as the mechanics sees them: wrenches at points, wrenches a meter along rods, internal stress.

A load is a body wrench that may depend on time and on the pose and twist of its point. Its tangent comes
from automatic differentiation of that one small function unless a load knows better, so a new load is one
method.
"""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, small, so3
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
    name: str = eqx.field(static=True, default="")

    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        value = self.law(t) * self.value
        if self.follower:
            return value
        return small.product(value.reshape(2, 3), pose.rotation).reshape(6)

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


class GivenLoad(AbstractPointLoad):
    """A load of a user: ``own.wrench`` in the world's axes."""

    sample: int = eqx.field(static=True)
    offset: Pose
    own: Any

    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        value = jnp.asarray(self.own.wrench(t, pose, twist), dtype=float)
        return small.product(value.reshape(2, 3), pose.rotation).reshape(6)

    @property
    def corners(self) -> tuple[float, ...]:
        return tuple(self.own.kinks)


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


class PointDrag(AbstractPointLoad):
    """Drag of a fluid on a body: -(linear v + quadratic |v| v) along its axes (N s/m, kg/m)."""

    sample: int = eqx.field(static=True)
    offset: Pose
    linear: Float[Array, " 3"]
    quadratic: Float[Array, " 3"]
    current: Float[Array, " 3"]
    """Velocity of the fluid (m/s), in space."""

    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        return drag(self.linear, self.quadratic, self.current, pose, twist)

    def tangent(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        return drag_tangent(self.linear, self.quadratic, self.current, pose, twist)

    @property
    def corners(self) -> tuple[float, ...]:
        return ()


class Wake(AbstractPointLoad):
    """What a swimmer's tail leaves behind: Lighthill's reactive force at the end of a slender body.

    With the added mass m of the last section across the body, velocities V along and w across it:
    the force m w V across, and -½ m w² along. Both are the flux of the fluid's momentum past the tail.
    """

    sample: int = eqx.field(static=True)
    offset: Pose
    added: Float[Array, " 2"]
    """Added mass a meter (kg/m) for motions along y and z of the section."""

    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        along, across = twist[3], twist[4:]
        momentum = self.added * across
        push = -0.5 * jnp.sum(momentum * across)
        return jnp.concatenate([jnp.zeros(3), push[None], momentum * along])

    def tangent(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        along, across = twist[3], twist[4:]
        momentum = self.added * across
        none = jnp.zeros((6, 6))
        by_rate = none.at[3, 4:].set(-momentum).at[4:, 3].set(momentum)
        return none, by_rate.at[4:, 4:].set(jnp.diag(self.added * along))

    @property
    def corners(self) -> tuple[float, ...]:
        return ()


def drag(
    linear: Float[Array, " 3"],
    quadratic: Float[Array, " 3"],
    current: Float[Array, " 3"],
    pose: Pose,
    twist: Float[Array, " 6"],
) -> Float[Array, " 6"]:
    """Wrench of drag in the moving axes, for a velocity against a fluid that flows."""
    against = twist[3:] - pose.rotation.T @ current
    force = -(linear + quadratic * jnp.abs(against)) * against
    return jnp.concatenate([jnp.zeros(3), force])


def drag_tangent(
    linear: Float[Array, " 3"],
    quadratic: Float[Array, " 3"],
    current: Float[Array, " 3"],
    pose: Pose,
    twist: Float[Array, " 6"],
) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
    """Derivatives of :func:`drag` by a body displacement and by the body twist."""
    flow = pose.rotation.T @ current
    slope = -(linear + 2 * quadratic * jnp.abs(twist[3:] - flow))
    by_shift = jnp.zeros((6, 6)).at[3:, :3].set(-slope[:, None] * so3.hat(flow))
    return by_shift, jnp.diag(jnp.concatenate([jnp.zeros(3), slope]))


class AbstractLineLoad(eqx.Module):
    """A wrench a meter along rods, which may depend on time and on the motion of each section.

    Loads of one kind on rods of one group are one batch: leaves have one row for each rod.
    """

    group: eqx.AbstractVar[int]
    rows: eqx.AbstractVar[tuple[int, ...]]
    nodes: eqx.AbstractVar[Any]
    """Numbers of each node of each rod, first axes (rods, n); or None."""

    @abc.abstractmethod
    def density(
        self,
        node: Any,
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> Float[Array, " 6"]:
        """Body wrench a meter (N, N/m) of one section, given its world pose and body twist."""

    @property
    def corners(self) -> tuple[float, ...]:
        """Times at which the load is not smooth."""
        return ()

    def tangent(
        self,
        node: Any,
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        """Derivatives by a body displacement of the section and by its body twist."""

        def moved(shift: Float[Array, " 6"], rate: Float[Array, " 6"]) -> Float[Array, " 6"]:
            return self.density(node, t, X, pose @ se3.exp(shift), twist + rate)

        by_shift, by_rate = jax.jacfwd(moved, argnums=(0, 1))(jnp.zeros(6), jnp.zeros(6))
        return by_shift, by_rate


class LineLoad(AbstractLineLoad):
    """A user's function, times a law of time."""

    group: int = eqx.field(static=True)
    rows: tuple[int, ...] = eqx.field(static=True)
    nodes: None
    function: Callable[[Any, Any, Pose, Any], Any] = eqx.field(static=True)
    law: AbstractLaw
    follower: bool = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True, default=())
    """Of the items, one for each rod."""

    def density(
        self,
        node: Any,
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> Float[Array, " 6"]:
        value = self.law(t) * jnp.asarray(self.function(t, X, pose, twist), dtype=float)
        if self.follower:
            return value
        return small.product(value.reshape(2, 3), pose.rotation).reshape(6)

    @property
    def corners(self) -> tuple[float, ...]:
        return self.law.corners


class GivenLine(AbstractLineLoad):
    """A load along a rod of a user: ``own.density`` in the world's axes."""

    group: int = eqx.field(static=True)
    rows: tuple[int, ...] = eqx.field(static=True)
    nodes: None
    own: Any

    def density(
        self,
        node: Any,
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> Float[Array, " 6"]:
        value = jnp.asarray(self.own.density(t, X, pose, twist), dtype=float)
        return small.product(value.reshape(2, 3), pose.rotation).reshape(6)

    @property
    def corners(self) -> tuple[float, ...]:
        return tuple(self.own.kinks)


class LineDrag(AbstractLineLoad):
    """Drag of a fluid on a rod, along the axes of its sections (N s/m², kg/m²)."""

    group: int = eqx.field(static=True)
    rows: tuple[int, ...] = eqx.field(static=True)
    nodes: None
    linear: Float[Array, "*b 3"]
    quadratic: Float[Array, "*b 3"]
    current: Float[Array, "*b 3"]

    def density(
        self,
        node: Any,
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> Float[Array, " 6"]:
        return drag(self.linear, self.quadratic, self.current, pose, twist)

    def tangent(
        self,
        node: Any,
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        return drag_tangent(self.linear, self.quadratic, self.current, pose, twist)


class DeadLine(AbstractLineLoad):
    """Forces a meter (N/m), fixed in space: the weight of displaced fluid."""

    group: int = eqx.field(static=True)
    rows: tuple[int, ...] = eqx.field(static=True)
    nodes: Float[Array, "*b n 3"]

    def density(
        self,
        node: Float[Array, " 3"],
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> Float[Array, " 6"]:
        return jnp.concatenate([jnp.zeros(3), pose.rotation.T @ node])

    def tangent(
        self,
        node: Float[Array, " 3"],
        t: Float[Array, ""],
        X: Float[Array, ""],
        pose: Pose,
        twist: Float[Array, " 6"],
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        none = jnp.zeros((6, 6))
        return none.at[3:, :3].set(so3.hat(pose.rotation.T @ node)), none


class InternalStress(eqx.Module):
    """Stress Λ(X, t) added to the elastic one of a rod (001, eq. 12): a muscle, an actuator."""

    group: int = eqx.field(static=True)
    row: int = eqx.field(static=True)
    stress: Callable[[Any, Any], Any] = eqx.field(static=True)
    kinks: tuple[float, ...] = eqx.field(static=True, default=())
    """Times (s) at which it is not smooth."""
    name: str = eqx.field(static=True, default="")

    def at(self, X: Float[Array, " n"], t: Float[Array, ""]) -> Float[Array, "n 6"]:
        """Stress wrench (N m, N) at the arc lengths X (m)."""
        return jnp.asarray(self.stress(X, t), dtype=float)
