"""Rotations: exponential, logarithm, their tangents, and quaternions, safe near zero angle."""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array

# Below this squared angle the closed forms lose digits and the series (error < 1e-17) take over.
_SMALL_ANGLE_SQUARED = 1e-4


def hat(w: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
    """Matrix of the cross product: ``hat(w) @ v = w × v``."""
    zero = jnp.zeros_like(w[..., 0])
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    rows = jnp.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1)
    return rows.reshape(*w.shape[:-1], 3, 3)


def _trig_ratios(
    angle_squared: Float[Array, "*b"],
) -> tuple[Float[Array, "*b"], Float[Array, "*b"], Float[Array, "*b"]]:
    """Sin θ/θ, (1 - cos θ)/θ² and (θ - sin θ)/θ³ as smooth functions of θ²."""
    small = angle_squared < _SMALL_ANGLE_SQUARED
    safe = jnp.where(small, 1.0, angle_squared)  # keeps reverse-mode gradients finite at zero
    angle = jnp.sqrt(safe)
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    t = angle_squared
    sinc = jnp.where(small, 1 - t / 6 * (1 - t / 20 * (1 - t / 42)), sine / angle)
    versine = jnp.where(small, 0.5 - t / 24 * (1 - t / 30 * (1 - t / 56)), (1 - cosine) / safe)
    cubic = jnp.where(
        small, 1 / 6 - t / 120 * (1 - t / 42 * (1 - t / 72)), (angle - sine) / (safe * angle)
    )
    return sinc, versine, cubic


def exp(w: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
    """Rotation matrix of the rotation vector ``w`` (rad)."""
    sinc, versine, _ = _trig_ratios(jnp.sum(w * w, axis=-1))
    wh = hat(w)
    return jnp.eye(3) + sinc[..., None, None] * wh + versine[..., None, None] * (wh @ wh)


def right_jacobian(w: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
    """T with ``(Rᵀ δR)^∨ = T(w) δw`` for ``R = exp(w)``; the body angular velocity is ``T(w) ẇ``."""
    _, versine, cubic = _trig_ratios(jnp.sum(w * w, axis=-1))
    wh = hat(w)
    return jnp.eye(3) - versine[..., None, None] * wh + cubic[..., None, None] * (wh @ wh)


def log(R: Float[Array, "*b 3 3"]) -> Float[Array, "*b 3"]:
    """Rotation vector of ``R``, of length ≤ π."""
    return quaternion_log(quaternion_from_matrix(R))


def quaternion_product(p: Float[Array, "*b 4"], q: Float[Array, "*b 4"]) -> Float[Array, "*b 4"]:
    """Hamilton product p q, the quaternion of ``R(p) R(q)``."""
    a, b, c, d = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    return jnp.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=-1,
    )


def quaternion_exp(w: Float[Array, "*b 3"]) -> Float[Array, "*b 4"]:
    """Unit quaternion of the rotation vector ``w``."""
    half_squared = jnp.sum(w * w, axis=-1) / 4
    small = half_squared < _SMALL_ANGLE_SQUARED
    half = jnp.sqrt(jnp.where(small, 1.0, half_squared))
    t = half_squared
    scale = jnp.where(small, 1 - t / 6 * (1 - t / 20 * (1 - t / 42)), jnp.sin(half) / half)
    real = jnp.where(small, 1 - t / 2 * (1 - t / 12 * (1 - t / 30)), jnp.cos(half))
    return jnp.concatenate([real[..., None], 0.5 * scale[..., None] * w], axis=-1)


def quaternion_log(q: Float[Array, "*b 4"]) -> Float[Array, "*b 3"]:
    """Rotation vector of a unit quaternion, of length ≤ π."""
    q = jnp.where(q[..., :1] < 0, -q, q)
    sine_squared = jnp.sum(q[..., 1:] ** 2, axis=-1)
    small = sine_squared < _SMALL_ANGLE_SQUARED
    sine = jnp.sqrt(jnp.where(small, 1.0, sine_squared))
    t = sine_squared
    series = 2 * (1 + t / 6 * (1 + t * 9 / 20 * (1 + t * 25 / 42)))  # 2 asin(s)/s
    closed = 2 * jnp.arctan2(sine, jnp.where(small, 1.0, q[..., 0])) / sine
    return jnp.where(small, series, closed)[..., None] * q[..., 1:]


def quaternion_to_matrix(q: Float[Array, "*b 4"]) -> Float[Array, "*b 3 3"]:
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    rows = jnp.stack(
        [
            1 - 2 * (y * y + z * z),
            2 * (x * y - w * z),
            2 * (x * z + w * y),
            2 * (x * y + w * z),
            1 - 2 * (x * x + z * z),
            2 * (y * z - w * x),
            2 * (x * z - w * y),
            2 * (y * z + w * x),
            1 - 2 * (x * x + y * y),
        ],
        axis=-1,
    )
    return rows.reshape(*q.shape[:-1], 3, 3)


def quaternion_from_matrix(R: Float[Array, "*b 3 3"]) -> Float[Array, "*b 4"]:
    """Unit quaternion of ``R`` with a non-negative real part, well conditioned for every rotation."""
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    diagonal = jnp.stack([trace, R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]], axis=-1)
    # 4 q qᵀ, row by row; the row of the largest component is the safest one to normalise.
    outer = jnp.stack(
        [
            jnp.stack(
                [
                    1 + trace,
                    R[..., 2, 1] - R[..., 1, 2],
                    R[..., 0, 2] - R[..., 2, 0],
                    R[..., 1, 0] - R[..., 0, 1],
                ],
                axis=-1,
            ),
            jnp.stack(
                [
                    R[..., 2, 1] - R[..., 1, 2],
                    1 + 2 * R[..., 0, 0] - trace,
                    R[..., 1, 0] + R[..., 0, 1],
                    R[..., 0, 2] + R[..., 2, 0],
                ],
                axis=-1,
            ),
            jnp.stack(
                [
                    R[..., 0, 2] - R[..., 2, 0],
                    R[..., 1, 0] + R[..., 0, 1],
                    1 + 2 * R[..., 1, 1] - trace,
                    R[..., 2, 1] + R[..., 1, 2],
                ],
                axis=-1,
            ),
            jnp.stack(
                [
                    R[..., 1, 0] - R[..., 0, 1],
                    R[..., 0, 2] + R[..., 2, 0],
                    R[..., 2, 1] + R[..., 1, 2],
                    1 + 2 * R[..., 2, 2] - trace,
                ],
                axis=-1,
            ),
        ],
        axis=-2,
    )
    best = jnp.argmax(diagonal, axis=-1)
    row = jnp.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    q = row / jnp.linalg.norm(row, axis=-1, keepdims=True)
    return jnp.where(q[..., :1] < 0, -q, q)
