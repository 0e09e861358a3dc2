"""Joints whose coordinates hold an orientation: a unit quaternion, moved by charts around it."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, small, so3
from supple.model.closures import Rows, no_shift
from supple.model.joints import AbstractJoint, SubspaceMotion


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
