"""Joints as charts: a reference configuration q, and local coordinates x around it.

Every joint moves its outer frame by ``pose(q, x)``; ``subspace(q, x)`` is the derivative of that motion
in the moving frame: body twist = subspace · ẋ. At x = 0 the rate ẋ *is* the joint's velocity
coordinate v, so ``(q, v)`` is the state and x only lives inside a time step or a Newton solve. For
orientations x is a rotation vector with its exact tangent, which keeps high-order schemes at their
order; for everything else q + x.
"""

import abc
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, so3
from supple.model.closures import Rows, aligned, crossed, no_shift, no_turn, normals


class SubspaceMotion(NamedTuple):
    """A joint's subspace Φ along a motion: with its time derivatives, and its gradient in x (last axis)."""

    value: Float[Array, "*f 6 nv"]
    rate: Float[Array, "*f 6 nv"]
    acceleration: Float[Array, "*f 6 nv"]
    gradient: Float[Array, "*f 6 nv nv"]


class AbstractJoint(eqx.Module):
    """One joint; a batch of one kind is the same module with stacked leaves."""

    nq: eqx.AbstractClassVar[int]
    nv: eqx.AbstractClassVar[int]
    lengths: eqx.AbstractClassVar[tuple[int, ...]]
    """Which of the nv coordinates are lengths (m); the others are angles."""
    constant_subspace: eqx.AbstractClassVar[bool]
    links: ClassVar[tuple[str, ...]] = ()
    """Names of its further moving parts, each with a frame of its own; plain joints have none."""
    pivots: ClassVar[int] = 0
    """Number of bearings inside, where its own dampers and friction act instead of at the coordinates."""

    @abc.abstractmethod
    def pose(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Pose:
        """Pose of the outer frame seen from the inner one."""

    @abc.abstractmethod
    def subspace(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, "6 nv"]:
        """Body twist of the outer frame per unit of each ẋ."""

    @abc.abstractmethod
    def closing_rows(self, length: float) -> Rows | None:
        """Equations of the joint where it closes a loop; rows that turn are multiplied by ``length`` (m).

        None if no equations between its two frames say what it allows.
        """

    def poses(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Pose:
        """Poses of the outer frame and of those of the links, one after the other."""
        pose = self.pose(q, x)
        return Pose(pose.rotation[None], pose.position[None])

    def subspace_motions(
        self,
        q: Float[Array, " nq"],
        x: Float[Array, " nv"],
        xdot: Float[Array, " nv"],
        xddot: Float[Array, " nv"],
        poses: Pose,
    ) -> SubspaceMotion:
        """The subspaces of the same frames along a motion."""
        pose = Pose(poses.rotation[0], poses.position[0])
        motion = self.subspace_motion(q, x, xdot, xddot, pose)
        return SubspaceMotion(*(part[None] for part in motion))

    def pivot_speeds(
        self, q: Float[Array, " nq"], x: Float[Array, " nv"], xdot: Float[Array, " nv"]
    ) -> Float[Array, " pivots"]:
        """Speeds (rad/s) of the pivots inside a linkage."""
        return jnp.zeros(0)

    def bearing_speeds(
        self, q: Float[Array, " nq"], x: Float[Array, " nv"], xdot: Float[Array, " nv"]
    ) -> Float[Array, " bearings"]:
        """Speeds (rad/s, m/s) where dampers and friction act: of pivots, then of the coordinates."""
        return jnp.concatenate([self.pivot_speeds(q, x, xdot), self.rate(q, x, xdot)])

    @property
    def bearings(self) -> int:
        """Number of these speeds."""
        return self.pivots + self.nv

    @property
    def plain_bearings(self) -> bool:
        """Whether these speeds are the rates ẋ themselves."""
        return self.pivots == 0 and self.euclidean

    @property
    def euclidean(self) -> bool:
        """Whether configuration and velocity coordinates are the same plain numbers."""
        return self.nq == self.nv

    def subspace_motion(
        self,
        q: Float[Array, " nq"],
        x: Float[Array, " nv"],
        xdot: Float[Array, " nv"],
        xddot: Float[Array, " nv"],
        pose: Pose,
    ) -> SubspaceMotion:
        """The subspace along a motion; by automatic differentiation unless a joint knows better."""

        def first(x: Float[Array, " nv"], xdot: Float[Array, " nv"]) -> Any:
            return jax.jvp(lambda x: self.subspace(q, x), (x,), (xdot,))

        (value, rate), (_, acceleration) = jax.jvp(first, (x, xdot), (xdot, xddot))
        return SubspaceMotion(
            value, rate, acceleration, jax.jacfwd(lambda x: self.subspace(q, x))(x)
        )

    def retract(self, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, " nq"]:
        """The configuration reached from q by x."""
        return q + x

    def difference(self, q: Float[Array, " nq"], other: Float[Array, " nq"]) -> Float[Array, " nv"]:
        """The local coordinates x that lead from q to ``other``: the inverse of retract."""
        return other - q

    def rate(
        self, q: Float[Array, " nq"], x: Float[Array, " nv"], xdot: Float[Array, " nv"]
    ) -> Float[Array, " nv"]:
        """Velocity coordinates v (that is ẋ at x = 0) of the motion ẋ at x."""
        return xdot

    def rate_derivative(
        self,
        q: Float[Array, " nq"],
        x: Float[Array, " nv"],
        xdot: Float[Array, " nv"],
        xddot: Float[Array, " nv"],
    ) -> Float[Array, " nv"]:
        """Time derivative of :meth:`rate`."""
        return xddot

    def turned(
        self, now: Float[Array, "6 nv"], reference: Float[Array, "6 nv"]
    ) -> Float[Array, "nv nv"]:
        """P⁻¹ with Φ P⁻¹ = Φ₀ for two subspaces, in the least-squares sense where it must be."""
        return jnp.linalg.solve(now.T @ now, now.T @ reference)

    def neutral(self) -> np.ndarray:
        """Configuration in which the joint moves nothing."""
        return np.zeros(self.nq)


def _twist(angular: Float[Array, " 3"], linear: Float[Array, " 3"]) -> Float[Array, " 6"]:
    return jnp.concatenate([angular, linear])


class RevoluteJoint(AbstractJoint):
    """Rotation about a unit axis (rad)."""

    axis: Float[Array, " 3"]
    nq = 1
    nv = 1
    lengths = ()
    constant_subspace = True

    def pose(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Pose:
        return Pose(so3.exp(self.axis * (q + x)[0]), jnp.zeros(3))

    def subspace(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Float[Array, "6 1"]:
        return _twist(self.axis, jnp.zeros(3))[:, None]

    def closing_rows(self, length: float) -> Rows:
        return aligned(self.axis, length) + no_shift(np.eye(3))


class PrismaticJoint(AbstractJoint):
    """Translation along a unit axis (m)."""

    axis: Float[Array, " 3"]
    nq = 1
    nv = 1
    lengths = (0,)
    constant_subspace = True

    def pose(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Pose:
        return Pose(jnp.eye(3), self.axis * (q + x)[0])

    def subspace(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Float[Array, "6 1"]:
        return _twist(jnp.zeros(3), self.axis)[:, None]

    def closing_rows(self, length: float) -> Rows:
        return no_turn(length) + no_shift(normals(self.axis))


class HelicalJoint(AbstractJoint):
    """Rotation about a unit axis (rad) that advances ``pitch`` meters per radian along it."""

    axis: Float[Array, " 3"]
    pitch: Float[Array, ""]
    nq = 1
    nv = 1
    lengths = ()
    constant_subspace = True

    def pose(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Pose:
        angle = (q + x)[0]
        return Pose(so3.exp(self.axis * angle), self.axis * (self.pitch * angle))

    def subspace(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Float[Array, "6 1"]:
        return _twist(self.axis, self.pitch * self.axis)[:, None]

    def closing_rows(self, length: float) -> None:
        return None


class CylindricalJoint(AbstractJoint):
    """Rotation about (rad) and translation along (m) one unit axis."""

    axis: Float[Array, " 3"]
    nq = 2
    nv = 2
    lengths = (1,)
    constant_subspace = True

    def pose(self, q: Float[Array, " 2"], x: Float[Array, " 2"]) -> Pose:
        angle, shift = q + x
        return Pose(so3.exp(self.axis * angle), self.axis * shift)

    def subspace(self, q: Float[Array, " 2"], x: Float[Array, " 2"]) -> Float[Array, "6 2"]:
        zero = jnp.zeros(3)
        return jnp.stack([_twist(self.axis, zero), _twist(zero, self.axis)], axis=-1)

    def closing_rows(self, length: float) -> Rows:
        return aligned(self.axis, length) + no_shift(normals(self.axis))


class UniversalJoint(AbstractJoint):
    """Rotation about ``first`` (fixed to the inner frame), then about ``second`` (rad)."""

    first: Float[Array, " 3"]
    second: Float[Array, " 3"]
    nq = 2
    nv = 2
    lengths = ()
    constant_subspace = False

    def pose(self, q: Float[Array, " 2"], x: Float[Array, " 2"]) -> Pose:
        a, b = q + x
        return Pose(so3.exp(self.first * a) @ so3.exp(self.second * b), jnp.zeros(3))

    def subspace(self, q: Float[Array, " 2"], x: Float[Array, " 2"]) -> Float[Array, "6 2"]:
        carried = so3.exp(-self.second * (q + x)[1]) @ self.first
        zero = jnp.zeros(3)
        return jnp.stack([_twist(carried, zero), _twist(self.second, zero)], axis=-1)

    def closing_rows(self, length: float) -> Rows:
        return crossed(self.first, self.second, length) + no_shift(np.eye(3))


class PlanarJoint(AbstractJoint):
    """Translation along two unit axes of a plane (m), then rotation about its normal (rad)."""

    first: Float[Array, " 3"]
    second: Float[Array, " 3"]
    normal: Float[Array, " 3"]
    nq = 3
    nv = 3
    lengths = (0, 1)
    constant_subspace = False

    def pose(self, q: Float[Array, " 3"], x: Float[Array, " 3"]) -> Pose:
        a, b, angle = q + x
        return Pose(so3.exp(self.normal * angle), self.first * a + self.second * b)

    def subspace(self, q: Float[Array, " 3"], x: Float[Array, " 3"]) -> Float[Array, "6 3"]:
        inverse = so3.exp(-self.normal * (q + x)[2])
        zero = jnp.zeros(3)
        columns = [
            _twist(zero, inverse @ self.first),
            _twist(zero, inverse @ self.second),
            _twist(self.normal, zero),
        ]
        return jnp.stack(columns, axis=-1)

    def closing_rows(self, length: float) -> Rows:
        return aligned(self.normal, length) + no_shift(np.asarray(self.normal)[None])
