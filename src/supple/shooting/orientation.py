"""How orientation is integrated along a rod: as a quaternion (002, eq. 9 and 10) or as a rotation matrix.

Components are on the first axis, places on the last ones.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import frames

Quaternion = Float[Array, "4 *b"]
Matrix = Float[Array, "3 3 *b"]


def quaternion_slope(h: Quaternion, k: Float[Array, "3 *b"]) -> Quaternion:
    """Derivative ½ h κ of a quaternion along a curve with the curvature κ (002, eq. 9)."""
    w, x, y, z = h
    return 0.5 * jnp.stack(
        [
            -x * k[0] - y * k[1] - z * k[2],
            w * k[0] + y * k[2] - z * k[1],
            w * k[1] - x * k[2] + z * k[0],
            w * k[2] + x * k[1] - y * k[0],
        ]
    )


def product(p: Quaternion, q: Quaternion) -> Quaternion:
    """Hamilton product."""
    a, b, c, d = p
    w, x, y, z = q
    return jnp.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def rotation_of(h: Quaternion) -> Matrix:
    """Rotation matrix of a quaternion of any length (002, eq. 10)."""
    w, x, y, z = h
    k = 2 / (w * w + x * x + y * y + z * z)
    entries = [
        1 - k * (y * y + z * z),
        k * (x * y - z * w),
        k * (x * z + y * w),
        k * (x * y + z * w),
        1 - k * (x * x + z * z),
        k * (y * z - x * w),
        k * (x * z - y * w),
        k * (y * z + x * w),
        1 - k * (x * x + y * y),
    ]
    return jnp.stack(entries).reshape(3, 3, *w.shape)


def turn_from(base: Quaternion, h: Quaternion) -> Float[Array, "3 *b"]:
    """2 v of the turn from a unit quaternion to one of any length."""
    w, x, y, z = base
    turned = product(jnp.stack([w, -x, -y, -z]), h)
    sign = jnp.where(turned[0] < 0, -1.0, 1.0)
    return 2 * turned[1:] * sign / jnp.sqrt(jnp.sum(h * h, axis=0))


class AbstractOriented:
    """How orientation is integrated."""

    size: int
    """Numbers that are integrated."""

    start: Callable[[Any], Any]
    """From a unit quaternion."""
    matrix: Callable[[Any], Any]
    slope: Callable[[Any, Any], Any]
    """Derivative along a rod of a curvature."""
    turn_from: Callable[[Any, Any], Any]
    """2 v of the turn from a unit quaternion."""


class Quaternions(AbstractOriented):
    """Orientation as a quaternion, which need not stay a unit one."""

    size = 4

    @staticmethod
    def start(h: Quaternion) -> Quaternion:
        """From a unit quaternion."""
        return h

    matrix = staticmethod(rotation_of)
    slope = staticmethod(quaternion_slope)
    turn_from = staticmethod(turn_from)


class Matrices(AbstractOriented):
    """Orientation as a rotation matrix, which leaves SO(3) by the error of the rule."""

    size = 9

    @staticmethod
    def start(h: Quaternion) -> Float[Array, "9 *b"]:
        """From a unit quaternion."""
        return rotation_of(h).reshape(9, *h.shape[1:])

    @staticmethod
    def matrix(entries: Float[Array, "9 *b"]) -> Matrix:
        """From its entries."""
        return entries.reshape(3, 3, *entries.shape[1:])

    @staticmethod
    def slope(entries: Float[Array, "9 *b"], k: Float[Array, "3 *b"]) -> Float[Array, "9 *b"]:
        """R κ̂."""
        a, b, c = entries[0::3], entries[1::3], entries[2::3]
        columns = [k[2] * b - k[1] * c, k[0] * c - k[2] * a, k[1] * a - k[0] * b]
        return jnp.stack(columns, axis=1).reshape(entries.shape)

    @staticmethod
    def turn_from(base: Quaternion, entries: Float[Array, "9 *b"]) -> Float[Array, "3 *b"]:
        """2 v of the turn from a unit quaternion, less than half a turn away."""
        before, now = rotation_of(base), Matrices.matrix(entries)
        seen = [[frames.dot(before[:, i], now[:, j]) for j in range(3)] for i in range(3)]
        w = jnp.sqrt(1 + seen[0][0] + seen[1][1] + seen[2][2]) / 2
        odd = [seen[2][1] - seen[1][2], seen[0][2] - seen[2][0], seen[1][0] - seen[0][1]]
        return jnp.stack(odd) / (2 * w)


ORIENTED: dict[str, type[AbstractOriented]] = {"quaternion": Quaternions, "matrix": Matrices}
