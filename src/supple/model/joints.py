"""Joints as charts: a reference configuration q, and local coordinates x around it.

Every joint moves its outer frame by ``pose(q, x)``; ``subspace(q, x)`` is the derivative of that motion
in the moving frame: body twist = subspace · ẋ. At x = 0 the rate ẋ *is* the joint's velocity
coordinate v, so ``(q, v)`` is the state and x only lives inside a time step or a Newton solve. For
orientations x is a rotation vector with its exact tangent, which keeps high-order schemes at their
order; for everything else q + x.
"""

import abc
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, small, so3
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


def _conjugate(q: Float[Array, " 4"]) -> Float[Array, " 4"]:
    return jnp.concatenate([q[:1], -q[1:]])


def _with_no_translation(angular: Float[Array, "3 *k"]) -> Float[Array, "6 *k"]:
    return jnp.concatenate([angular, jnp.zeros_like(angular)])


def _two_blocks(
    angular: Float[Array, "3 3 *k"], linear: Float[Array, "3 3 *k"], *further: tuple[int, int]
) -> Float[Array, "6 6 *k2"]:
    """A matrix with two blocks on its diagonal; ``further`` axes are padded with zeros as they say."""
    return jnp.pad(angular, ((0, 3), (0, 3), *further)) + jnp.pad(
        linear, ((3, 0), (3, 0), *further)
    )


def _turned_by(q: Float[Array, " 4"], x: Float[Array, " 3"]) -> Float[Array, "3 3"]:
    turn = so3.quaternion_to_matrix(so3.quaternion_exp(x))
    return small.product(so3.quaternion_to_matrix(q), turn)


class SphericalJoint(AbstractJoint):
    """Any rotation; q is a unit quaternion, v the body angular velocity (rad/s)."""

    nq = 4
    nv = 3
    lengths = ()
    constant_subspace = False

    def pose(self, q: Float[Array, " 4"], x: Float[Array, " 3"]) -> Pose:
        return Pose(_turned_by(q, x), jnp.zeros(3))

    def subspace(self, q: Float[Array, " 4"], x: Float[Array, " 3"]) -> Float[Array, "6 3"]:
        return jnp.concatenate([so3.right_jacobian(x), jnp.zeros((3, 3))])

    def closing_rows(self, length: float) -> Rows:
        return no_shift(np.eye(3))

    def subspace_motion(
        self,
        q: Float[Array, " 4"],
        x: Float[Array, " 3"],
        xdot: Float[Array, " 3"],
        xddot: Float[Array, " 3"],
        pose: Pose,
    ) -> SubspaceMotion:
        turning = so3.right_jacobian_rates(x, xdot, xddot)
        return SubspaceMotion(*(_with_no_translation(part) for part in turning))

    def retract(self, q: Float[Array, " 4"], x: Float[Array, " 3"]) -> Float[Array, " 4"]:
        turned = so3.quaternion_product(q, so3.quaternion_exp(x))
        return turned / jnp.linalg.norm(turned)

    def difference(self, q: Float[Array, " 4"], other: Float[Array, " 4"]) -> Float[Array, " 3"]:
        return so3.quaternion_log(so3.quaternion_product(_conjugate(q), other))

    def rate(
        self, q: Float[Array, " 4"], x: Float[Array, " 3"], xdot: Float[Array, " 3"]
    ) -> Float[Array, " 3"]:
        return small.times(so3.right_jacobian(x), xdot)

    def rate_derivative(
        self,
        q: Float[Array, " 4"],
        x: Float[Array, " 3"],
        xdot: Float[Array, " 3"],
        xddot: Float[Array, " 3"],
    ) -> Float[Array, " 3"]:
        turning = so3.right_jacobian_rates(x, xdot, xddot)
        return small.times(turning.value, xddot) + small.times(turning.rate, xdot)

    def turned(
        self, now: Float[Array, "6 3"], reference: Float[Array, "6 3"]
    ) -> Float[Array, "3 3"]:
        return small.product(small.inverse(now[:3]), reference[:3])

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])


class FreeJoint(AbstractJoint):
    """Any motion: q = (quaternion, position in the inner frame), v = (body angular velocity, ṙ)."""

    nq = 7
    nv = 6
    lengths = (3, 4, 5)
    constant_subspace = False

    def pose(self, q: Float[Array, " 7"], x: Float[Array, " 6"]) -> Pose:
        return Pose(_turned_by(q[:4], x[:3]), q[4:] + x[3:])

    def subspace(self, q: Float[Array, " 7"], x: Float[Array, " 6"]) -> Float[Array, "6 6"]:
        return _two_blocks(so3.right_jacobian(x[:3]), self.pose(q, x).rotation.T)

    def closing_rows(self, length: float) -> None:
        return None

    def subspace_motion(
        self,
        q: Float[Array, " 7"],
        x: Float[Array, " 6"],
        xdot: Float[Array, " 6"],
        xddot: Float[Array, " 6"],
        pose: Pose,
    ) -> SubspaceMotion:
        turning = so3.right_jacobian_rates(x[:3], xdot[:3], xddot[:3])
        # Rᵀ turns against the body's angular velocity ω = T ẋ: its rate is -ω̂ Rᵀ.
        inverse = pose.rotation.T
        spin = small.times(turning.value, xdot[:3])
        change = small.times(turning.value, xddot[:3]) + small.times(turning.rate, xdot[:3])
        slowing = -se3.cross_columns(spin, inverse)
        bending = -se3.cross_columns(spin, slowing) - se3.cross_columns(change, inverse)
        # The columns of T are the ω of a unit rate of each coordinate.
        gradient = -jax.vmap(se3.cross_columns, (1, None), 2)(turning.value, inverse)
        return SubspaceMotion(
            _two_blocks(turning.value, inverse),
            _two_blocks(turning.rate, slowing),
            _two_blocks(turning.acceleration, bending),
            _two_blocks(turning.gradient, gradient, (0, 3)),
        )

    def retract(self, q: Float[Array, " 7"], x: Float[Array, " 6"]) -> Float[Array, " 7"]:
        turned = so3.quaternion_product(q[:4], so3.quaternion_exp(x[:3]))
        return jnp.concatenate([turned / jnp.linalg.norm(turned), q[4:] + x[3:]])

    def difference(self, q: Float[Array, " 7"], other: Float[Array, " 7"]) -> Float[Array, " 6"]:
        turned = so3.quaternion_log(so3.quaternion_product(_conjugate(q[:4]), other[:4]))
        return jnp.concatenate([turned, other[4:] - q[4:]])

    def rate(
        self, q: Float[Array, " 7"], x: Float[Array, " 6"], xdot: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        return jnp.concatenate([small.times(so3.right_jacobian(x[:3]), xdot[:3]), xdot[3:]])

    def rate_derivative(
        self,
        q: Float[Array, " 7"],
        x: Float[Array, " 6"],
        xdot: Float[Array, " 6"],
        xddot: Float[Array, " 6"],
    ) -> Float[Array, " 6"]:
        turning = so3.right_jacobian_rates(x[:3], xdot[:3], xddot[:3])
        spin = small.times(turning.value, xddot[:3]) + small.times(turning.rate, xdot[:3])
        return jnp.concatenate([spin, xddot[3:]])

    def turned(
        self, now: Float[Array, "6 6"], reference: Float[Array, "6 6"]
    ) -> Float[Array, "6 6"]:
        angular = small.product(small.inverse(now[:3, :3]), reference[:3, :3])
        linear = small.product(now[3:, 3:].T, reference[3:, 3:])
        return _two_blocks(angular, linear)

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


class FrameJoint(AbstractJoint):
    """Any motion, as a :class:`FreeJoint`, in a chart without trigonometry: for the many frames along a rod.

    x = (2 v, shift) with v the vector part of the quaternion that turns q to q + x, so that turns beyond half
    a turn from q cannot be told. With w = √(1 - v·v) the body angular velocity is 2 (w v̇ - ẇ v - v × v̇).
    """

    nq = 7
    nv = 6
    lengths = (3, 4, 5)
    constant_subspace = False

    def pose(self, q: Float[Array, " 7"], x: Float[Array, " 6"]) -> Pose:
        return Pose(so3.quaternion_to_matrix(self.retract(q, x)[:4]), q[4:] + x[3:])

    def subspace(self, q: Float[Array, " 7"], x: Float[Array, " 6"]) -> Float[Array, "6 6"]:
        v = x[:3] / 2
        w = _real_part(v)
        turning = w * jnp.eye(3) + v[:, None] * v[None, :] / w - so3.hat(v)
        return _two_blocks(turning, self.pose(q, x).rotation.T)

    def closing_rows(self, length: float) -> None:
        return None

    def retract(self, q: Float[Array, " 7"], x: Float[Array, " 6"]) -> Float[Array, " 7"]:
        v = x[:3] / 2
        turned = so3.quaternion_product(q[:4], jnp.concatenate([_real_part(v)[None], v]))
        return jnp.concatenate([turned / jnp.linalg.norm(turned), q[4:] + x[3:]])

    def difference(self, q: Float[Array, " 7"], other: Float[Array, " 7"]) -> Float[Array, " 6"]:
        turned = so3.quaternion_product(_conjugate(q[:4]), other[:4])
        turned = jnp.where(turned[0] < 0, -turned, turned)
        return jnp.concatenate([2 * turned[1:], other[4:] - q[4:]])

    def rate(
        self, q: Float[Array, " 7"], x: Float[Array, " 6"], xdot: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        spin, _ = vector_chart_rates(x[:3], xdot[:3], jnp.zeros(3))
        return jnp.concatenate([spin, xdot[3:]])

    def rate_derivative(
        self,
        q: Float[Array, " 7"],
        x: Float[Array, " 6"],
        xdot: Float[Array, " 6"],
        xddot: Float[Array, " 6"],
    ) -> Float[Array, " 6"]:
        _, change = vector_chart_rates(x[:3], xdot[:3], xddot[:3])
        return jnp.concatenate([change, xddot[3:]])

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def _real_part(v: Float[Array, " 3"]) -> Float[Array, ""]:
    """Real part of the unit quaternion with the vector part v."""
    return jnp.sqrt(jnp.maximum(1.0 - jnp.sum(v * v), 1e-12))


def vector_chart_rates(
    x: Float[Array, " 3"], xdot: Float[Array, " 3"], xddot: Float[Array, " 3"]
) -> tuple[Float[Array, " 3"], Float[Array, " 3"]]:
    """Body angular velocity and its derivative for a motion of x = 2 v, v the vector part of a quaternion.

    With h = (w, v): ω = 2 vec(h* ḣ), and since h* ḣ has no real part, ω̇ = 2 vec(h* ḧ).
    """
    v, vdot, vddot = x / 2, xdot / 2, xddot / 2
    w = _real_part(v)
    wdot = -jnp.sum(v * vdot) / w
    wddot = -(wdot * wdot + jnp.sum(v * vddot + vdot * vdot)) / w
    spin = 2 * (w * vdot - wdot * v - jnp.cross(v, vdot))
    return spin, 2 * (w * vddot - wddot * v - jnp.cross(v, vddot))


class FieldJoint(AbstractJoint):
    """Moves nothing: its coordinates are what is known at one place of a rod: strain, wrench, twist."""

    nq = 18
    nv = 18
    lengths = ()
    constant_subspace = True

    def pose(self, q: Float[Array, " 18"], x: Float[Array, " 18"]) -> Pose:
        return se3.identity()

    def subspace(self, q: Float[Array, " 18"], x: Float[Array, " 18"]) -> Float[Array, "6 18"]:
        return jnp.zeros((6, 18))

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
