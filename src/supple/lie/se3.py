"""Rigid motions: poses, adjoint maps, and the cross products of twists and wrenches.

``ad`` and its companions are written with cross products on components rather than 6x6 matrices:
on the columns of a Jacobian that is two to three times faster than batched matrix products.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import small, so3


class Pose(NamedTuple):
    """A rigid motion, or a batch of them: rotation matrix and position (m)."""

    rotation: Float[Array, "*b 3 3"]
    position: Float[Array, "*b 3"]

    def __matmul__(self, other: "Pose") -> "Pose":
        """Composition: ``g_ac = g_ab @ g_bc``."""
        return Pose(
            small.product(self.rotation, other.rotation),
            self.position + small.times(self.rotation, other.position),
        )

    def inverse(self) -> "Pose":
        """``g_ba`` from ``g_ab``."""
        transposed = jnp.swapaxes(self.rotation, -1, -2)
        return Pose(transposed, -small.times(transposed, self.position))

    def apply(self, point: Float[Array, "*b 3"]) -> Float[Array, "*b 3"]:
        """Coordinates in a of a point given in b, for ``self = g_ab``."""
        return self.position + small.times(self.rotation, point)

    def matrix(self) -> Float[Array, "*b 4 4"]:
        """Homogeneous 4x4 matrix."""
        top = jnp.concatenate([self.rotation, self.position[..., None]], axis=-1)
        bottom = jnp.broadcast_to(jnp.array([0.0, 0.0, 0.0, 1.0]), (*top.shape[:-2], 1, 4))
        return jnp.concatenate([top, bottom], axis=-2)


def identity(batch: tuple[int, ...] = ()) -> Pose:
    """The pose that moves nothing."""
    return Pose(jnp.broadcast_to(jnp.eye(3), (*batch, 3, 3)), jnp.zeros((*batch, 3)))


def cross_columns(a: Float[Array, "*b 3"], b: Float[Array, "*b 3 n"]) -> Float[Array, "*b 3 n"]:
    """``a`` × each column of ``b``."""
    x, y, z = a[..., 0, None], a[..., 1, None], a[..., 2, None]
    u, v, w = b[..., 0, :], b[..., 1, :], b[..., 2, :]
    return jnp.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-2)


def ad_columns(x: Float[Array, "*b 6"], y: Float[Array, "*b 6 n"]) -> Float[Array, "*b 6 n"]:
    """``ad(x)`` on each column of ``y``: the Lie bracket of twists."""
    angular, linear = y[..., :3, :], y[..., 3:, :]
    return jnp.concatenate(
        [
            cross_columns(x[..., :3], angular),
            cross_columns(x[..., 3:], angular) + cross_columns(x[..., :3], linear),
        ],
        axis=-2,
    )


def ad(x: Float[Array, "*b 6"], y: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """Lie bracket ``ad(x) y`` of two twists."""
    return jnp.concatenate(
        [
            jnp.cross(x[..., :3], y[..., :3]),
            jnp.cross(x[..., 3:], y[..., :3]) + jnp.cross(x[..., :3], y[..., 3:]),
        ],
        axis=-1,
    )


def ad_transpose(x: Float[Array, "*b 6"], f: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """``ad(x)ᵀ f`` for a twist x and a wrench f."""
    return -jnp.concatenate(
        [
            jnp.cross(x[..., :3], f[..., :3]) + jnp.cross(x[..., 3:], f[..., 3:]),
            jnp.cross(x[..., :3], f[..., 3:]),
        ],
        axis=-1,
    )


def coad_columns(f: Float[Array, "*b 6"], y: Float[Array, "*b 6 n"]) -> Float[Array, "*b 6 n"]:
    """``coad(f) y = ad(y)ᵀ f`` for each column of ``y``: how a wrench changes with its frame."""
    angular, linear = y[..., :3, :], y[..., 3:, :]
    return jnp.concatenate(
        [
            cross_columns(f[..., :3], angular) + cross_columns(f[..., 3:], linear),
            cross_columns(f[..., 3:], angular),
        ],
        axis=-2,
    )


def ad_matrix(x: Float[Array, "*b 6"]) -> Float[Array, "*b 6 6"]:
    """The matrix of ``ad(x)``."""
    w, v = so3.hat(x[..., :3]), so3.hat(x[..., 3:])
    return _blocks(w, jnp.zeros_like(w), v, w)


def coad_matrix(f: Float[Array, "*b 6"]) -> Float[Array, "*b 6 6"]:
    """The (antisymmetric) matrix of ``coad(f)``."""
    m, n = so3.hat(f[..., :3]), so3.hat(f[..., 3:])
    return _blocks(m, n, n, jnp.zeros_like(m))


def adjoint(g: Pose) -> Float[Array, "*b 6 6"]:
    """``Ad(g_ab)``: carries a twist from b to a."""
    lower = cross_columns(g.position, g.rotation)
    return _blocks(g.rotation, jnp.zeros_like(lower), lower, g.rotation)


def to_world(g: Pose, x: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """``Ad(g) x`` for one twist."""
    angular = small.times(g.rotation, x[..., :3])
    linear = small.times(g.rotation, x[..., 3:])
    return jnp.concatenate([angular, linear + jnp.cross(g.position, angular)], axis=-1)


def to_body(g: Pose, x: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """``Ad(g)⁻¹ x`` for one twist."""
    shifted = x[..., 3:] - jnp.cross(g.position, x[..., :3])
    return jnp.concatenate(
        [
            small.times(jnp.swapaxes(g.rotation, -1, -2), x[..., :3]),
            small.times(jnp.swapaxes(g.rotation, -1, -2), shifted),
        ],
        axis=-1,
    )


def columns_to_world(g: Pose, x: Float[Array, "*b 6 n"]) -> Float[Array, "*b 6 n"]:
    """``Ad(g)`` on each column of ``x``."""
    angular = g.rotation @ x[..., :3, :]
    linear = g.rotation @ x[..., 3:, :]
    return jnp.concatenate([angular, linear + cross_columns(g.position, angular)], axis=-2)


def wrench_to_world(g: Pose, f: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """``Ad(g)⁻ᵀ f``: a wrench at frame b, in b, written about the world origin in the world frame."""
    force = small.times(g.rotation, f[..., 3:])
    moment = small.times(g.rotation, f[..., :3])
    return jnp.concatenate([moment + jnp.cross(g.position, force), force], axis=-1)


def wrench_to_body(g: Pose, f: Float[Array, "*b 6"]) -> Float[Array, "*b 6"]:
    """``Ad(g)ᵀ f``: the inverse of :func:`wrench_to_world`."""
    moment = f[..., :3] - jnp.cross(g.position, f[..., 3:])
    return jnp.concatenate(
        [
            small.times(jnp.swapaxes(g.rotation, -1, -2), moment),
            small.times(jnp.swapaxes(g.rotation, -1, -2), f[..., 3:]),
        ],
        axis=-1,
    )


def matrix_to_world(g: Pose, M: Float[Array, "*b 6 6"]) -> Float[Array, "*b 6 6"]:
    """``Ad(g)⁻ᵀ M Ad(g)⁻¹``: what makes a wrench of a twist, such as an inertia, about the world origin."""
    inverse = adjoint(g.inverse())
    return small.product(jnp.swapaxes(inverse, -1, -2), small.product(M, inverse))


def exp(x: Float[Array, "*b 6"]) -> Pose:
    """Pose reached by the constant twist ``x`` in unit time."""
    w, v = x[..., :3], x[..., 3:]
    # The left Jacobian of SO(3) carries the linear part; it is the right one of the opposite angle.
    left = so3.right_jacobian(-w)
    return Pose(so3.exp(w), small.times(left, v))


def right_jacobian(x: Float[Array, "*b 6"]) -> Float[Array, "*b 6 6"]:
    """T with ``(g⁻¹ δg)^∨ = T(x) δx`` for ``g = exp(x)``: ∫₀¹ Ad(exp(-τ x)) dτ in closed form.

    Rigid motions are rotations whose entries are dual numbers: angular and linear parts are coupled by the
    derivative of the rotations' T along the linear part.
    """
    w, v = x[..., :3], x[..., 3:]
    s = jnp.sum(w * w, axis=-1)
    c = so3.coefficients(s, 0)
    along = so3.coefficients(s, 1) * (2 * jnp.sum(w * v, axis=-1))[..., None]
    one, turn, square = jnp.eye(3), so3.hat(w), w[..., :, None] * w[..., None, :]
    mixed = w[..., :, None] * v[..., None, :]
    mixed = mixed + jnp.swapaxes(mixed, -1, -2)

    def combined(a: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
        a1, a2, a3 = (a[..., k, None, None] for k in range(3))
        return a1 * one - a2 * turn + a3 * square

    c2, c3 = c[..., 1, None, None], c[..., 2, None, None]
    turning, coupling = combined(c), combined(along) - c2 * so3.hat(v) + c3 * mixed
    return _blocks(turning, jnp.zeros_like(turning), coupling, turning)


def log(g: Pose) -> Float[Array, "*b 6"]:
    """Twist whose exponential is ``g``; the rotation angle is at most π."""
    w = so3.log(g.rotation)
    v = jnp.linalg.solve(so3.right_jacobian(-w), g.position[..., None])[..., 0]
    return jnp.concatenate([w, v], axis=-1)


def _blocks(
    a: Float[Array, "*b 3 3"],
    b: Float[Array, "*b 3 3"],
    c: Float[Array, "*b 3 3"],
    d: Float[Array, "*b 3 3"],
) -> Float[Array, "*b 6 6"]:
    top = jnp.concatenate([a, b], axis=-1)
    bottom = jnp.concatenate([c, d], axis=-1)
    return jnp.concatenate([top, bottom], axis=-2)
