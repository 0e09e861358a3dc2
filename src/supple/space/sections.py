"""Sections of pieces of constant strain in closed form, with the pieces on the last axis.

The same sections as those of :class:`~supple.space.piece.PieceGrid`, for long chains: formulas are written
out, with their derivatives along a motion.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie.frames import Frames, Once, cross, dot, hat, outer

TERMS = 9
"""Of the series below one radian; what follows is below 1/19!."""
BLOCK = 32
"""Elements that a matrix product sums."""


class Sections(NamedTuple):
    """Sections seen from the start of their piece, at p arc lengths of n pieces."""

    frames: Frames
    turning: Float[Array, "3 3 *p n"]
    """Angular velocity per unit of the rate of each curvature, and linear one by each stretch or shear."""
    coupling: Float[Array, "3 3 *p n"]
    """Linear velocity by each curvature's rate."""
    rate: Float[Array, "6 *p n"]
    """Body twist of a motion, ..."""
    change: Float[Array, "6 *p n"]
    """... and its derivative in time where the coordinates do not accelerate."""

    def columns(self, strains: tuple[int, ...]) -> Float[Array, "6 m *p n"]:
        """Body twist per unit of the rates of some strains."""
        blocks = column_blocks(self, strains)
        none = jnp.zeros_like(self.turning[:, :1])
        upper = [jnp.broadcast_to(none if a is None else a, b.shape) for a, b in blocks]
        lower = [b for _, b in blocks]
        return jnp.concatenate([jnp.concatenate(upper, axis=1), jnp.concatenate(lower, axis=1)])


Block = tuple[Array | None, Array]
"""Angular and linear parts of some columns; None where the angular one vanishes."""


def column_blocks(found: Sections, strains: tuple[int, ...]) -> list[Block]:
    """The columns of curvatures, and those of stretch and shears."""
    turns = np.array([k for k in strains if k < 3], dtype=int)
    shifts = np.array([k - 3 for k in strains if k >= 3], dtype=int)
    blocks: list[Block] = []
    if len(turns):
        blocks.append((_chosen(found.turning, turns), _chosen(found.coupling, turns)))
    if len(shifts):
        blocks.append((None, _chosen(found.turning, shifts)))
    return blocks


def _chosen(matrix: Float[Array, "3 3 *p n"], which: np.ndarray) -> Float[Array, "3 k *p n"]:
    return matrix if len(which) == 3 else matrix[:, which]


def sections(
    strain: Float[Array, "6 n"],
    rate: Float[Array, "6 n"],
    arc: Float[Array, "*p n"],
    once: Once,
) -> Sections:
    """Sections at some arc lengths, for strains and their rates."""
    w, v, a, b = (arc * part[:, None] for part in (strain[:3], strain[3:], rate[:3], rate[3:]))
    s = dot(w, w)
    w, v, a, b, s, coefficients = once((w, v, a, b, s, _coefficients(s)))
    (c1, c2, c3), (d1, d2, d3), (e1, e2, e3) = coefficients
    twist = 2 * dot(w, v)
    square, turn = outer(w, w), hat(w)
    eye = jnp.eye(3)[:, :, None, None]
    rotation = (1 - c2 * s) * eye + c1 * turn + c2 * square
    position = c1 * v + c2 * cross(w, v) + c3 * (w * dot(w, v))
    turning = c1 * eye - c2 * turn + c3 * square
    mixed = outer(v, w)
    coupling = (
        twist * (d1 * eye - d2 * turn + d3 * square)
        - c2 * hat(v)
        + c3 * (mixed + jnp.swapaxes(mixed, 0, 1))
    )

    rotation, position, turning, coupling = once((rotation, position, turning, coupling))

    # The twist T(x) ẋ and its derivative: ẋ = (a, b) is constant.
    wa, wb, va, ab, aa = dot(w, a), dot(w, b), dot(v, a), dot(a, b), dot(a, a)
    wxa, wxb, vxa = cross(w, a), cross(w, b), cross(v, a)
    wa, wb, va, ab, aa, wxa, wxb, vxa = once((wa, wb, va, ab, aa, wxa, wxb, vxa))
    spin = 2 * wa  # ds/dt
    stretch = 2 * (va + wb)  # d(2 w·v)/dt
    first = c1 * a - c2 * wxa + c3 * (w * wa)
    bent = d1 * a - d2 * wxa + d3 * (w * wa)
    straight = c1 * b - c2 * wxb + c3 * (w * wb)
    second = twist * bent - c2 * vxa + c3 * (v * wa + w * va) + straight
    rate_ = jnp.concatenate([first, second])
    first_change = spin * bent + c3 * (a * wa + w * aa)
    bent_change = spin * (e1 * a - e2 * wxa + e3 * (w * wa)) + d3 * (a * wa + w * aa)
    straight_change = (
        spin * (d1 * b - d2 * wxb + d3 * (w * wb)) - c2 * cross(a, b) + c3 * (a * wb + w * ab)
    )
    second_change = (
        stretch * bent
        + twist * bent_change
        + spin * (d3 * (v * wa + w * va) - d2 * vxa)
        - c2 * cross(b, a)
        + c3 * (b * wa + v * aa + a * va + w * ab)
        + straight_change
    )
    change = jnp.concatenate([first_change, second_change])
    turning, coupling, rate_, change = once((arc * turning, arc * coupling, rate_, change))
    return Sections(Frames(rotation, position), turning, coupling, rate_, change)


def _coefficients(s: Float[Array, "*p n"]) -> tuple[tuple[Array, Array, Array], ...]:
    """c₁, c₂, c₃ of Stumpff's functions and their first and second derivatives by s, a squared angle."""
    c = _stumpff(s, 7)
    first = [(k * c[k + 1] - c[k]) / 2 for k in range(1, 6)]
    second = [(k * first[k + 1] - first[k]) / 2 for k in range(1, 4)]
    return tuple(c[:3]), tuple(first[:3]), tuple(second)


def _stumpff(s: Float[Array, "*p n"], count: int) -> list[Float[Array, "*p n"]]:
    """c₁ … c_count, c_k(s) = Σ_j (-s)^j / (2j + k)!, from c_k = 1/k! - s c_{k+2}.

    Below one radian downwards from the series of the last two, above upwards from sine and cosine.
    """
    near = s < 1.0
    low, high = jnp.where(near, s, 0.0), jnp.where(near, 1.0, s)

    def series(k: int) -> Float[Array, "*p n"]:
        total = jnp.full_like(s, (-1.0) ** (TERMS - 1) / math.factorial(2 * (TERMS - 1) + k))
        for j in reversed(range(TERMS - 1)):
            total = total * low + (-1.0) ** j / math.factorial(2 * j + k)
        return total

    down = {count: series(count), count - 1: series(count - 1)}
    for k in range(count - 2, 0, -1):
        down[k] = 1 / math.factorial(k) - low * down[k + 2]
    angle = jnp.sqrt(high)
    up = {0: jnp.cos(angle), 1: jnp.sin(angle) / angle}
    for k in range(2, count + 1):
        up[k] = (1 / math.factorial(k - 2) - up[k - 2]) / high
    return [jnp.where(near, down[k], up[k]) for k in range(1, count + 1)]


def prefix_frames(first: Frames, steps: Frames, once: Once) -> Frames:
    """Where each of n steps starts, the first one at ``first``: products of all steps before."""
    count = steps.position.shape[-1]
    done = Frames(
        jnp.concatenate([first.rotation[..., None], steps.rotation[..., :-1]], axis=-1),
        jnp.concatenate([first.position[..., None], steps.position[..., :-1]], axis=-1),
    )
    span = 1
    while span < count:
        moved = Frames(*(part[..., :-span] for part in done)) @ Frames(
            *(part[..., span:] for part in done)
        )
        moved = once(moved)
        done = Frames(
            *(
                jnp.concatenate([kept[..., :span], new], axis=-1)
                for kept, new in zip(done, moved, strict=True)
            )
        )
        span *= 2
    return done


def prefix_sums(values: Float[Array, "k n"]) -> Float[Array, "k n"]:
    """Sums of all values up to each: within blocks, then over blocks."""
    rows, count = values.shape
    blocks = -(-count // BLOCK)
    if blocks == 1:
        return values @ np.triu(np.ones((count, count)))
    padded = jnp.pad(values, ((0, 0), (0, blocks * BLOCK - count))).reshape(rows * blocks, BLOCK)
    inside = (padded @ np.triu(np.ones((BLOCK, BLOCK)))).reshape(rows, blocks, BLOCK)
    before = inside[:, :, -1] @ np.triu(np.ones((blocks, blocks)), 1)
    return (inside + before[:, :, None]).reshape(rows, -1)[:, :count]
