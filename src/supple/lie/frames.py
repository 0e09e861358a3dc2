"""Rigid motions of many things at once, with the things on the last axes, where the processor's vectors are.

The same maps as in :mod:`supple.lie.se3`, for programs whose batches are long: a loop over the last axis is
vectorized, one over small matrices is not.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array

Vectors = Float[Array, "3 ..."]
Twists = Float[Array, "6 ..."]


def cross(a: Vectors, b: Vectors) -> Vectors:
    """A × b."""
    return jnp.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def dot(a: Float[Array, "i ..."], b: Float[Array, "i ..."]) -> Float[Array, "..."]:
    """A · b."""
    return sum((a[k] * b[k] for k in range(1, len(a))), a[0] * b[0])


def hat(a: Vectors) -> Float[Array, "3 3 *b"]:
    """Matrix of the cross product."""
    zero = jnp.zeros_like(a[0])
    rows = [[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]]
    return jnp.stack([jnp.stack(row) for row in rows])


def outer(a: Float[Array, "i ..."], b: Float[Array, "j ..."]) -> Float[Array, "i j ..."]:
    """A bᵀ."""
    return a[:, None] * b[None]


def apply(A: Float[Array, "i k ..."], x: Float[Array, "k ..."]) -> Float[Array, "i ..."]:
    """A x; x may have further axes before the batch."""
    return sum(
        (fitted(A[:, k], x[k]) * x[k] for k in range(1, len(x))), fitted(A[:, 0], x[0]) * x[0]
    )


def apply_transposed(A: Float[Array, "k i ..."], x: Float[Array, "k ..."]) -> Float[Array, "i ..."]:
    """Aᵀ x."""
    return apply(jnp.swapaxes(A, 0, 1), x)


def fitted(column: Float[Array, "i ..."], x: Float[Array, "..."]) -> Float[Array, "..."]:
    """A column of matrices with axes of length one for those that only x has, behind its first."""
    missing = x.ndim - (column.ndim - 1)
    return column.reshape(column.shape[0], *([1] * missing), *column.shape[1:])


def ad(x: Twists, y: Twists) -> Twists:
    """Lie bracket of twists."""
    linear = cross(x[3:], y[:3]) + cross(x[:3], y[3:])
    return jnp.concatenate([cross(x[:3], y[:3]), linear])


def ad_transpose(x: Twists, f: Twists) -> Twists:
    """``ad(x)ᵀ f``."""
    moment = cross(x[:3], f[:3]) + cross(x[3:], f[3:])
    return -jnp.concatenate([moment, cross(x[:3], f[3:])])


class Frames(NamedTuple):
    """Poses: rotations and positions (m)."""

    rotation: Float[Array, "3 3 ..."]
    position: Float[Array, "3 ..."]

    def __matmul__(self, other: "Frames") -> "Frames":
        """Composition."""
        position = self.position + apply(self.rotation, other.position)
        return Frames(
            sum(self.rotation[:, k, None] * other.rotation[None, k] for k in range(3)), position
        )

    def twists_out(self, x: Float[Array, "6 ..."]) -> Float[Array, "6 ..."]:
        """``Ad(g) x``: of one twist a frame, or of several, (6, m, …)."""
        angular = apply(self.rotation, x[:3])
        return jnp.concatenate(
            [angular, apply(self.rotation, x[3:]) + cross(fitted(self.position, x[0]), angular)]
        )

    def twists_in(self, x: Float[Array, "6 ..."]) -> Float[Array, "6 ..."]:
        """``Ad(g)⁻¹ x``."""
        shifted = x[3:] - cross(fitted(self.position, x[0]), x[:3])
        return jnp.concatenate(
            [apply_transposed(self.rotation, x[:3]), apply_transposed(self.rotation, shifted)]
        )

    def wrenches_out(self, f: Float[Array, "6 ..."]) -> Float[Array, "6 ..."]:
        """``Ad(g)⁻ᵀ f``."""
        force = apply(self.rotation, f[3:])
        moment = apply(self.rotation, f[:3]) + cross(fitted(self.position, f[0]), force)
        return jnp.concatenate([moment, force])


class Once:
    """Makes the compiler compute values once and keep them, instead of anew for every entry that needs them.

    XLA fuses sums and products into each of their users, and computes them there again; it does so with
    nothing as expensive as a division. So values are divided by a number that is one, which only the running
    program knows. (Its optimization barriers are gone before it fuses.)
    """

    def __init__(self, number: Float[Array, ""]) -> None:
        self._one = 1.0 + 0.0 * number

    def __call__(self, values: Any) -> Any:
        """The same values."""
        return jax.tree.map(lambda value: value / self._one, values)
