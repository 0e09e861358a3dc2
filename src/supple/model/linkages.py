"""Joints that are linkages of several bars: one coordinate, and a frame on every bar.

An anti-parallelogram has two equal short bars, the base and the top, and two equal diagonals that cross. It
is symmetric about the line through their crossing, so that the top's middle is always at half the angle of
the top: with b the short bars, l the diagonals, α the angle of the top, and e(α) a unit vector at the angle
α,

    middle of the top   r e(α/2),  r = √(l² - b² cos²(α/2)),      sides   r ∓ b sin(α/2),
    diagonals at        φ, ψ = α/2 ∓ asin(b/l cos(α/2)),           rates   φ', ψ' = ½ (1 ± b/r sin(α/2)).

The sides follow from the symmetry, r from Ptolemy's theorem (l² = b² + product of the sides).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose
from supple.model.joints import AbstractJoint, SubspaceMotion

_Scalar = Float[Array, ""]


class _Planar(NamedTuple):
    """Frames of three bars in the plane: the top, the left and the right diagonal, at their middles."""

    angle: Float[Array, " 3"]
    place: Float[Array, "3 2"]


class AntiParallelogram(AbstractJoint):
    """A top bar on a base bar, joined by two diagonals that cross; q is the angle of the top (rad)."""

    bar: Float[Array, ""]
    """Length of the base and of the top (m)."""
    diagonal: Float[Array, ""]
    """Length of the diagonals (m), more than that of the bars."""
    axes: Float[Array, "3 3"]
    """Columns: from base to top, along the base to its left end, and the normal of the plane."""
    nq = 1
    nv = 1
    lengths = ()
    constant_subspace = False
    links = ("left", "right")
    pivots = 4

    def pose(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Pose:
        return _one(self.poses(q, x))

    def subspace(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Float[Array, "6 1"]:
        return self._columns((q + x)[0])[0, :, None]

    def closing_rows(self, length: float) -> None:
        return None

    def poses(self, q: Float[Array, " 1"], x: Float[Array, " 1"]) -> Pose:
        plane = self._bars((q + x)[0])
        return Pose(self._turned(plane.angle), plane.place @ self.axes[:, :2].T)

    def subspace_motions(
        self,
        q: Float[Array, " 1"],
        x: Float[Array, " 1"],
        xdot: Float[Array, " 1"],
        xddot: Float[Array, " 1"],
        poses: Pose,
    ) -> SubspaceMotion:
        """Of all bars: with Φ a function of one angle, Φ̇ = Φ' α̇ and Φ̈ = Φ'' α̇² + Φ' α̈."""

        def first(angle: _Scalar) -> tuple[Array, Array]:
            return jax.jvp(self._columns, (angle,), (jnp.ones_like(angle),))

        angle = (q + x)[0]
        (value, slope), (_, bend) = jax.jvp(first, (angle,), (jnp.ones_like(angle),))
        rate, change = slope * xdot[0], bend * xdot[0] ** 2 + slope * xddot[0]
        one = value[..., None], rate[..., None], change[..., None], slope[..., None, None]
        return SubspaceMotion(*one)

    def pivot_speeds(
        self, q: Float[Array, " 1"], x: Float[Array, " 1"], xdot: Float[Array, " 1"]
    ) -> Float[Array, " 4"]:
        """Where the left diagonal meets base and top, then the right one; opposite pivots turn alike."""
        half, r = (q + x)[0] / 2, self._reach((q + x)[0])
        lean = self.bar * jnp.sin(half) / r
        left, right = 0.5 * (1 + lean), 0.5 * (1 - lean)
        return jnp.stack([left, right, right, left]) * xdot[0]

    def turned(
        self, now: Float[Array, "6 1"], reference: Float[Array, "6 1"]
    ) -> Float[Array, "1 1"]:
        return jnp.eye(1)  # its coordinate is an angle, whatever the configuration

    def _reach(self, angle: _Scalar) -> _Scalar:
        """Distance (m) of the middles of base and top."""
        return jnp.sqrt(self.diagonal**2 - (self.bar * jnp.cos(angle / 2)) ** 2)

    def _bars(self, angle: _Scalar) -> _Planar:
        half, r = angle / 2, self._reach(angle)
        c, s = jnp.cos(half), jnp.sin(half)
        forward, aside = jnp.stack([c, s]), jnp.stack([-s, c])
        lean = jnp.arctan2(self.bar * c, r)
        # From (0, ± b/2) on the base along r e ∓ b cos(α/2) e⊥, half of the way.
        end = jnp.stack([jnp.zeros_like(r), self.bar / 2])
        left = end + 0.5 * (r * forward - self.bar * c * aside)
        right = -end + 0.5 * (r * forward + self.bar * c * aside)
        return _Planar(
            jnp.stack([angle, half - lean, half + lean]), jnp.stack([r * forward, left, right])
        )

    def _columns(self, angle: _Scalar) -> Float[Array, "3 6"]:
        """Body twists of the bars for a unit rate."""
        plane, change = jax.jvp(self._bars, (angle,), (jnp.ones_like(angle),))
        c, s = jnp.cos(plane.angle), jnp.sin(plane.angle)
        x, y = change.place[:, 0], change.place[:, 1]
        own = jnp.stack([c * x + s * y, c * y - s * x, jnp.zeros_like(x)], axis=-1)
        # In the axes of the joint first: those of a bar that is turned about the normal.
        return jnp.concatenate(
            [change.angle[:, None] * self.axes[:, 2], own @ self.axes.T], axis=-1
        )

    def _turned(self, angle: Float[Array, " 3"]) -> Float[Array, "3 3 3"]:
        c, s = jnp.cos(angle), jnp.sin(angle)
        first, second, normal = self.axes.T
        turn = jnp.outer(second, first) - jnp.outer(first, second)
        plane = jnp.outer(first, first) + jnp.outer(second, second)
        return c[:, None, None] * plane + s[:, None, None] * turn + jnp.outer(normal, normal)


def _one(poses: Pose) -> Pose:
    return Pose(poses.rotation[0], poses.position[0])
