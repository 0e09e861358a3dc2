"""Rotations: exponential, logarithm, their tangents, and quaternions, safe near zero angle."""

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array

# Below this squared angle the closed forms lose digits and the series (error < 1e-17) take over.
_SMALL_ANGLE_SQUARED = 1e-4

_HATS = np.zeros((3, 3, 3))
"""Derivative of hat(w): the last axis counts the components of w."""
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _HATS[_j, _k, _i], _HATS[_k, _j, _i] = -1.0, 1.0


def hat(w: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
    """Matrix of the cross product: ``hat(w) @ v = w × v``."""
    return jnp.sum(w[..., None, None, :] * _HATS, axis=-1)


def _outer(a: Float[Array, "*b 3"], b: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
    return a[..., :, None] * b[..., None, :]


def exp(w: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
    """Rotation matrix of the rotation vector ``w`` (rad)."""
    s = jnp.sum(w * w, axis=-1)
    c = _stumpff(s)
    c1, c2 = c[..., 0, None, None], c[..., 1, None, None]
    return (1 - c2 * s[..., None, None]) * jnp.eye(3) + c1 * hat(w) + c2 * _outer(w, w)


def right_jacobian(w: Float[Array, "*b 3"]) -> Float[Array, "*b 3 3"]:
    """T with ``(Rᵀ δR)^∨ = T(w) δw`` for ``R = exp(w)``; the body angular velocity is ``T(w) ẇ``."""
    c = _stumpff(jnp.sum(w * w, axis=-1))
    c1, c2, c3 = (c[..., k, None, None] for k in range(3))
    return c1 * jnp.eye(3) - c2 * hat(w) + c3 * _outer(w, w)


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
    c = _stumpff(jnp.sum(w * w, axis=-1))  # c₁ … c₇
    ds = 2 * jnp.sum(w * dw, axis=-1)[..., None]
    dds = 2 * jnp.sum(dw * dw + w * ddw, axis=-1)[..., None]
    k = np.arange(1.0, 6.0)
    slope = (k * c[..., 2:] - c[..., 1:-1]) / 2  # of c₁ … c₅
    bend = (k[:3] * slope[..., 2:] - slope[..., 1:-1]) / 2  # of c₁ … c₃
    c, slope = c[..., :3], slope[..., :3]
    first, second = slope * ds, bend * ds**2 + slope * dds
    hats = hat(w), hat(dw), hat(ddw)
    squares = (
        _outer(w, w),
        _outer(w, dw) + _outer(dw, w),
        _outer(w, ddw) + 2 * _outer(dw, dw) + _outer(ddw, w),
    )

    def combined(a: Float[Array, "*b 3"], order: int) -> Float[Array, "*b 3 3"]:
        """-a₂ and a₃ times the time derivatives of ŵ and w wᵀ, with a₁ for w itself."""
        a1, a2, a3 = (a[..., i, None, None] for i in range(3))
        turned = a3 * squares[order] - a2 * hats[order]
        return turned + a1 * jnp.eye(3) if order == 0 else turned

    ends = jnp.eye(3)[:, None, :] * w[..., None, :, None]  # δ_ik w_j
    gradient = (
        2 * combined(slope, 0)[..., None] * w[..., None, None, :]
        - c[..., 1, None, None, None] * _HATS
        + c[..., 2, None, None, None] * (ends + jnp.swapaxes(ends, -3, -2))
    )
    return JacobianRates(
        combined(c, 0),
        combined(first, 0) + combined(c, 1),
        combined(second, 0) + 2 * combined(first, 1) + combined(c, 2),
        gradient,
    )


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def coefficients(s: Float[Array, "*b"], order: int) -> Float[Array, "*b 3"]:
    """Derivatives of an order by s of c₁, c₂, c₃, whose own derivatives are those of the next order."""
    c = _stumpff(s, 3 + 2 * order)
    for _ in range(order):
        c = (np.arange(1.0, c.shape[-1] - 1) * c[..., 2:] - c[..., 1:-1]) / 2
    return c


@coefficients.defjvp
def _coefficients_jvp(order: int, primals: Any, tangents: Any) -> Any:
    (s,), (ds,) = primals, tangents
    return coefficients(s, order), coefficients(s, order + 1) * ds[..., None]


def _stumpff(s: Float[Array, "*b"], count: int = 7) -> Float[Array, "*b n"]:
    """c₁ … c_count with c_k(s) = Σ_j (-s)^j / (2j + k)!; s is a squared angle.

    Below one by the series; above from c₀ = cos θ and c₁ = sin θ / θ by c_k = 1/k! - s c_{k+2}.
    """
    near = (s < 1.0)[..., None]
    small = jnp.where(near, s[..., None], 0.0)
    large = jnp.where(near, 1.0, s[..., None])  # the way not taken must not spoil derivatives
    angle = jnp.sqrt(large)
    ends = jnp.cos(angle) * _ENDS[0] + jnp.sin(angle) / angle * _ENDS[1] + _ENDS[2]
    series, finite = _SERIES[:count], _FINITE[:count, :, : count // 2 + 1]
    low = _powers(small, series.shape[1])
    high = _powers(1 / large, finite.shape[2])[..., None, :] * ends[..., :, None]
    return jnp.where(
        near,
        jnp.sum(series * low[..., None, :], axis=-1),
        jnp.sum(finite * high[..., None, :, :], axis=(-2, -1)),
    )


def _powers(x: Float[Array, "*b 1"], count: int) -> Float[Array, "*b count"]:
    """x⁰, x¹, …, from squares of squares: differentiable at zero, too."""
    result, factor = jnp.ones_like(x), x
    for bit in range((count - 1).bit_length()):
        result = result * jnp.where(np.arange(count) >> bit & 1, factor, 1.0)
        factor = factor * factor
    return result


_ENDS = np.eye(3)
"""Rows for cos θ, sin θ / θ and 1."""
_MOST = 13
"""Of Stumpff's functions: enough for the fourth derivatives of the first three, and one more."""
_SERIES = np.array(
    [[(-1) ** j / math.factorial(2 * j + k) for j in range(9)] for k in range(1, _MOST + 1)]
)
"""Coefficients of s⁰ … s⁸ in them; what follows is below 1/19!."""
_FINITE = np.zeros((_MOST, 3, _MOST // 2 + 1))
"""Coefficients of (cos θ, sin θ / θ, 1) s⁰, s⁻¹, … in them."""
for _k in range(1, _MOST + 1):
    _down, _odd = divmod(_k, 2)
    _FINITE[_k - 1, _odd, _down] = (-1) ** _down
    for _j in range(_down):
        _FINITE[_k - 1, 2, _down - _j] = (-1) ** (_down + _j + 1) / math.factorial(2 * _j + _odd)


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
    w, v = q[..., 0, None, None], q[..., 1:]
    diagonal = 1 - 2 * jnp.sum(v * v, axis=-1)[..., None, None]
    return diagonal * jnp.eye(3) + 2 * _outer(v, v) + 2 * w * hat(v)


def quaternion_from_matrix(R: Float[Array, "*b 3 3"]) -> Float[Array, "*b 4"]:
    """Unit quaternion of ``R`` with a non-negative real part, well conditioned for every rotation."""
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    diagonal = jnp.stack([trace, R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]], axis=-1)
    # 4 q qᵀ, row by row; the row of the largest component is the safest one to normalize.
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
