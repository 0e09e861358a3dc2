"""Rotations: exponential, logarithm, their tangents, and quaternions, safe near zero angle."""

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
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


class JacobianRates(NamedTuple):
    """Right Jacobian along a motion w(t), its time derivatives, and its gradient in w (last axis)."""

    value: Float[Array, "*b 3 3"]
    rate: Float[Array, "*b 3 3"]
    acceleration: Float[Array, "*b 3 3"]
    gradient: Float[Array, "*b 3 3 3"]


def right_jacobian_rates(
    w: Float[Array, "*b 3"], dw: Float[Array, "*b 3"], ddw: Float[Array, "*b 3"]
) -> JacobianRates:
    """Derivatives of the right Jacobian in closed form.

    With s = w·w and Stumpff's functions, T = c₁ 1 - c₂ ŵ + c₃ w wᵀ, and 2 dc_k/ds = k c_{k+2} - c_{k+1}.
    """
    s, ds = jnp.sum(w * w, axis=-1), 2 * jnp.sum(w * dw, axis=-1)
    dds = 2 * jnp.sum(dw * dw + w * ddw, axis=-1)
    c = jnp.stack(_stumpff(s), axis=-1)  # c₁ … c₇
    k = np.arange(1.0, 6.0)
    slope = (k * c[..., 2:] - c[..., 1:-1]) / 2  # of c₁ … c₅
    bend = (k[:3] * slope[..., 2:] - slope[..., 1:-1]) / 2  # of c₁ … c₃
    c, slope = c[..., :3], slope[..., :3]
    first = slope * ds[..., None]
    second = bend * (ds**2)[..., None] + slope * dds[..., None]

    vectors = jnp.stack([w, dw, ddw], axis=-2)
    outer = vectors[..., :, None, :, None] * vectors[..., None, :, None, :]  # pairs of vectors
    ww, wd, dd = outer[..., 0, 0, :, :], outer[..., 0, 1, :, :], outer[..., 1, 1, :, :]
    wd = wd + jnp.swapaxes(wd, -1, -2)
    wa = outer[..., 0, 2, :, :] + outer[..., 2, 0, :, :]
    hats = hat(vectors)
    eye = jnp.eye(3)
    basis = jnp.stack([jnp.broadcast_to(eye, ww.shape), -hats[..., 0, :, :], ww], axis=-1)

    def spread(coefficients: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
        return jnp.einsum("...ijk,...k->...ij", basis, coefficients)

    def scaled(
        factor: Float[Array, "*b"], matrix: Float[Array, "*b 3 3"]
    ) -> Float[Array, "*b 3 3"]:
        return factor[..., None, None] * matrix

    c2, c3 = c[..., 1], c[..., 2]
    rate = spread(first) - scaled(c2, hats[..., 1, :, :]) + scaled(c3, wd)
    acceleration = (
        spread(second)
        - scaled(2 * first[..., 1], hats[..., 1, :, :])
        - scaled(c2, hats[..., 2, :, :])
        + scaled(2 * first[..., 2], wd)
        + scaled(c3, wa + 2 * dd)
    )
    turned = jnp.einsum("...i,jk->...ijk", w, np.eye(3))
    gradient = (
        2 * spread(slope)[..., None] * w[..., None, None, :]
        - c2[..., None, None, None] * _HATS
        + c3[..., None, None, None] * (turned + jnp.swapaxes(turned, -3, -2))
    )
    return JacobianRates(spread(c), rate, acceleration, gradient)


_HATS = np.zeros((3, 3, 3))
"""Derivative of hat(w): the last axis counts the components of w."""
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _HATS[_j, _k, _i], _HATS[_k, _j, _i] = -1.0, 1.0


def _stumpff(s: Float[Array, "*b"]) -> list[Float[Array, "*b"]]:
    """c₁ … c₇ with c_k(s) = Σ_j (-s)^j / (2j + k)!; s is a squared angle."""
    near = s < 1.0
    # Below one: the two highest by their series, the others by c_k = 1/k! - s c_{k+2} downward.
    small = jnp.where(near, s, 0.0)

    def series(k: int) -> Float[Array, "*b"]:
        total = jnp.zeros_like(s)
        for j in range(8, -1, -1):
            total = total * -small + 1 / math.factorial(2 * j + k)
        return total

    low = {7: series(7), 6: series(6)}
    for k in range(5, 0, -1):
        low[k] = 1 / math.factorial(k) - small * low[k + 2]
    # Above: the elementary ones, the others by the same relation upward.
    large = jnp.where(near, 1.0, s)
    angle = jnp.sqrt(large)
    high = {0: jnp.cos(angle), 1: jnp.sin(angle) / angle}
    for k in range(2, 8):
        high[k] = (1 / math.factorial(k - 2) - high[k - 2]) / large
    return [jnp.where(near, low[k], high[k]) for k in range(1, 8)]


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
