"""Linear systems along rods: segments of a piece become one, pair by pair.

What a segment does to small changes is told between its two ends: given the displacement and twist z where it
begins, the wrench w that acts where it ends, and the efforts u of lines, it answers with z where it ends, the
wrench where it begins, and what each line gained in length,

    (z₁, w₀, ℓ) = M (z₀, w₁, u) + what is left over.

Two that follow each other are one again, after z and w between them are eliminated (Redheffer's star
product). Seen this way a rod is clamped at its start and pulled at its end, which is well-posed however long
it is: no number grows along it, as it does where starts are followed to ends. Pairs of one level are a batch,
so that a rod of n segments takes log n levels.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.shooting.layout import Layout

Z, W, L = slice(0, 12), slice(12, 18), slice(18, None)
"""Displacement with twist, wrench, lines: rows of answers, and columns of what is given."""
_Z, _W = np.r_[0:6, 12:18], np.arange(6, 12)
"""The same at the start of a segment."""


class Level(NamedTuple):
    """Pairs that become one: their nodes, and where what is between them and around them is found."""

    left: np.ndarray
    right: np.ndarray
    first: np.ndarray
    """Segment where a pair begins."""
    middle: np.ndarray
    """Segment where its right part begins."""
    after: np.ndarray
    """Segment behind it; behind the last of piece p that is number s + p."""


@dataclass(frozen=True)
class Plan:
    """In which order the segments of pieces become one; the segments are the first nodes."""

    layout: Layout

    @cached_property
    def _found(self) -> tuple[tuple[Level, ...], np.ndarray]:
        at = self.layout
        # Of each piece: node, first segment and segment behind.
        rows = [
            [(s, s, s + 1 if s < last else at.size + p) for s in range(first, last + 1)]
            for p, (first, last) in enumerate(zip(at.starts, at.ends, strict=True))
        ]
        count, levels = at.size, []
        while any(len(row) > 1 for row in rows):
            pairs, shorter = [], []
            for row in rows:
                merged = []
                for (a, first, _), (b, middle, after) in zip(row[::2], row[1::2], strict=False):
                    pairs.append((a, b, first, middle, after))
                    merged.append((count, first, after))
                    count += 1
                shorter.append([*merged, *(row[-1:] if len(row) % 2 else [])])
            levels.append(Level(*np.array(pairs).T))
            rows = shorter
        return tuple(levels), np.array([row[0][0] for row in rows])

    @property
    def levels(self) -> tuple[Level, ...]:
        """Pairs, level by level."""
        return self._found[0]

    @property
    def tops(self) -> np.ndarray:
        """Node of each whole piece."""
        return self._found[1]


class Condensed(eqx.Module):
    """Pieces as wholes, and what leads back to their segments."""

    whole: Float[Array, "p n n"]
    """M of the pieces."""
    leaves: Float[Array, "s n 18"]
    """What is left over at the end of a segment, as its answer."""
    up: tuple[Float[Array, "_ m 18"], ...]
    """For each level: z and w between its pairs, then what they add to the answers of the pair."""
    down: tuple[Float[Array, "_ 18 n"], ...]
    """z and w between pairs, from what is given of the pair."""
    plan: Plan = eqx.field(static=True)

    def gathered(
        self, left: Float[Array, "s 18"]
    ) -> tuple[Float[Array, "p n"], list[Float[Array, "_ 18"]]]:
        """Answers of the pieces to what is left over at the ends of segments, and (z, w) between pairs."""
        answers = jnp.einsum("snk,sk->sn", self.leaves, left)
        between = []
        for level, up in zip(self.plan.levels, self.up, strict=True):
            a, b = answers[level.left], answers[level.right]
            found = jnp.einsum("nmk,nk->nm", up, jnp.concatenate([a[:, Z], b[:, W]], axis=1))
            between.append(found[:, :18])
            whole = jnp.concatenate([b[:, Z], a[:, W], a[:, L] + b[:, L]], axis=1)
            answers = jnp.concatenate([answers, whole + found[:, 18:]])
        return answers[self.plan.tops], between

    def spread(
        self,
        starts: Float[Array, "p 18"],
        ends: Float[Array, "p 6"],
        lines: Float[Array, " k"],
        between: list[Float[Array, "_ 18"]],
    ) -> Float[Array, "s 18"]:
        """(z, w) at the starts of all segments, from those of the pieces and the wrenches at their ends."""
        at = self.plan.layout
        states = jnp.zeros((at.size + len(ends), 18)).at[at.starts].set(starts)
        states = states.at[at.size :, W].set(ends)
        for level, down, own in reversed(
            list(zip(self.plan.levels, self.down, between, strict=True))
        ):
            pulls = jnp.broadcast_to(lines, (len(own), len(lines)))
            given = jnp.concatenate([states[level.first, Z], states[level.after, W], pulls], axis=1)
            states = states.at[level.middle].set(jnp.einsum("nij,nj->ni", down, given) + own)
        return states[: at.size]


def condensed(plan: Plan, leads: Float[Array, "s n n"]) -> Condensed:
    """From the derivatives of the ends of segments by their starts and the efforts of lines."""
    s, n = leads.shape[:2]
    inverse = jnp.linalg.inv(leads[:, _W[:, None], _W])
    by_w = leads[:, :, _W]
    others = np.r_[_Z, 18:n]
    # The wrench where a segment begins, and with it all that is at its end.
    back = -inverse @ leads[:, _W[:, None], others]
    w = jnp.concatenate([back[:, :, :12], inverse, back[:, :, 12:]], axis=2)
    given = jnp.concatenate(
        [leads[:, :, _Z], jnp.zeros((s, n, 6)), leads[:, :, np.arange(18, n)]], axis=2
    )
    end = given + by_w @ w
    nodes = jnp.concatenate([end[:, _Z], w, end[:, 18:]], axis=1)
    carried = by_w @ inverse
    answers = jnp.concatenate([carried[:, _Z], inverse, carried[:, 18:]], axis=1)
    minus = jnp.pad(-jnp.eye(12), ((0, n - 12), (0, 0)))
    leaves = jnp.concatenate([jnp.broadcast_to(minus, (s, n, 12)), answers], axis=2)
    up, down = [], []
    for level in plan.levels:
        whole, back, between = _joined(nodes[level.left], nodes[level.right])
        nodes = jnp.concatenate([nodes, whole])
        up.append(back)
        down.append(between)
    return Condensed(nodes[plan.tops], leaves, tuple(up), tuple(down), plan)


def _joined(a: Float[Array, "b n n"], b: Float[Array, "b n n"]) -> tuple[Array, Array, Array]:
    """M of pairs, what leads to (z, w) between them from what is left over, and from what is given."""
    count, n, _ = a.shape
    K, turned = b[:, W, Z], a[:, Z, W]
    N = jnp.linalg.inv(jnp.eye(6) - K @ turned)
    none = jnp.zeros((count, n, 6))
    # What is given of the pair: z of the left one, w of the right one, and u of both.
    a0 = jnp.concatenate([a[:, :, Z], none, a[:, :, L]], axis=2)
    b1 = jnp.concatenate([jnp.zeros((count, n, 12)), b[:, :, W], b[:, :, L]], axis=2)
    w = N @ (K @ a0[:, Z] + b1[:, W])
    z = a0[:, Z] + turned @ w
    by_w, by_z = a[:, 12:, W], jnp.concatenate([b[:, Z, Z], b[:, L, Z]], axis=1)
    of_z, of_w = b1[:, Z] + by_z[:, :12] @ z, a0[:, W] + by_w[:, :6] @ w
    of_lines = a0[:, L] + b1[:, L] + by_w[:, 6:] @ w + by_z[:, 12:] @ z
    whole = jnp.concatenate([of_z, of_w, of_lines], axis=1)
    # The same for what is left over: z of the left one, w of the right one.
    own_w = N @ jnp.concatenate([K, jnp.broadcast_to(jnp.eye(6), (count, 6, 6))], axis=2)
    own_z = jnp.eye(12, 18) + turned @ own_w
    added = [by_z[:, :12] @ own_z, by_w[:, :6] @ own_w, by_w[:, 6:] @ own_w + by_z[:, 12:] @ own_z]
    back = jnp.concatenate([own_z, own_w, *added], axis=1)
    return whole, back, jnp.concatenate([z, w], axis=1)
