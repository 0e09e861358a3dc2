"""The core of a linear system: what is left when all trees have been eliminated.

A small core is one matrix. A larger one, such as the junctions of a net, is ordered by levels: everything
that is coupled with a level belongs to it or to one of its neighbors, so that blocks on three diagonals
hold it all.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Inexact

from supple.arrays import Array
from supple.system.lu import COORDINATE, LU, UNIT, Units, factorize_yielding, units

WHOLE = 160
"""Unknowns up to which the core is one matrix."""

Parts = list[tuple[np.ndarray, Inexact[Array, "_ _ _"]]]
"""Blocks, with the places of their rows and columns in the core."""


@dataclass(frozen=True, eq=False)
class CoreLayout:
    """Where the unknowns of the core are: ``levels`` levels of ``width``, padded."""

    levels: int
    width: int
    level: np.ndarray
    """(n,) level of each unknown, ..."""
    offset: np.ndarray
    """... and its place there."""

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.level)

    @property
    def places(self) -> np.ndarray:
        """(n,) places of the unknowns in the padded levels, one after the other."""
        return self.level * self.width + self.offset


def core_layout(sizes: list[int], cliques: Iterable[Iterable[int]]) -> CoreLayout:
    """Levels of a core whose blocks have these sizes; blocks of one clique are all coupled."""
    total = sum(sizes)
    level = np.zeros(len(sizes), dtype=int)
    if total > WHOLE:
        level = _levels(len(sizes), cliques)
    filled = np.zeros(int(level.max(initial=0)) + 1, dtype=int)
    offset = np.zeros(len(sizes), dtype=int)
    for block, size in enumerate(sizes):
        offset[block] = filled[level[block]]
        filled[level[block]] += size
    of = np.repeat(np.arange(len(sizes)), sizes)
    within = np.concatenate([np.arange(size) for size in sizes]) if sizes else np.zeros(0, int)
    return CoreLayout(len(filled), int(filled.max(initial=0)), level[of], offset[of] + within)


def _levels(count: int, cliques: Iterable[Iterable[int]]) -> np.ndarray:
    """Distance of every block from one at the edge of the graph, part by part."""
    near: list[set[int]] = [set() for _ in range(count)]
    for clique in cliques:
        members = set(clique)
        for block in members:
            near[block] |= members
    level = np.full(count, -1)
    first = 0
    for block in range(count):
        if level[block] >= 0:
            continue
        start = block
        for _ in range(3):  # towards a block at the edge
            found = _distances(near, start)
            start = max(found, key=lambda b: (found[b], -len(near[b])))
        for other, distance in _distances(near, start).items():
            level[other] = first + distance
        first = int(level.max()) + 1
    return level


def _distances(near: list[set[int]], start: int) -> dict[int, int]:
    found, waiting = {start: 0}, deque([start])
    while waiting:
        block = waiting.popleft()
        for other in near[block]:
            if other not in found:
                found[other] = found[block] + 1
                waiting.append(other)
    return found


class Core(eqx.Module):
    """Blocks left of, on and right of the diagonal, for each level."""

    blocks: Inexact[Array, "levels 3 width width"]
    layout: CoreLayout = eqx.field(static=True)

    def plus(self, parts: Parts) -> "Core":
        """With more blocks added."""
        layout, flat = self.layout, self.blocks.reshape(-1)
        width = layout.width
        for places, part in parts:
            level, offset = layout.level[places], layout.offset[places]
            side = level[:, None, :] - level[:, :, None] + 1
            row = (level[:, :, None] * 3 + side) * width + offset[:, :, None]
            index = row * width + offset[:, None, :]
            flat = flat.at[index.reshape(-1)].add(part.reshape(-1), mode="promise_in_bounds")
        return Core(flat.reshape(self.blocks.shape), layout)

    def apply(self, vector: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """The product with a vector."""
        x = _padded(self.layout, vector)
        around = jnp.pad(x, ((1, 1), (0, 0)))
        found = sum(
            jnp.einsum("lij,lj->li", self.blocks[:, k], around[k : k + self.layout.levels])
            for k in range(3)
        )
        return jnp.asarray(found).reshape(-1)[self.layout.places]

    def factorize(self, size: Float[Array, ""], sorts: np.ndarray) -> "CoreFactors":
        """LU factors, level by level.

        ``size`` is that of the rows of balance, ``sorts`` what each unknown is.
        """
        layout = self.layout
        padded = np.full(layout.levels * layout.width, UNIT)
        padded[layout.places] = sorts
        own = jnp.diagonal(self.blocks[:, 1], axis1=-2, axis2=-1).reshape(-1)
        moving = jnp.where(padded == COORDINATE, jnp.abs(own), 0.0)
        size = jnp.maximum(size, jnp.max(moving, initial=0.0))
        of = units(jnp.broadcast_to(size, layout.levels), padded.reshape(layout.levels, -1))

        def once(above: Any, at: Any) -> Any:
            left, diagonal, right, of = at
            factors, poor = factorize_yielding(diagonal - left @ above, of)
            above = factors.solve(right)
            return above, (factors, above, poor)

        left, diagonal, right = (self.blocks[:, k, None] for k in range(3))
        of = Units(*(part[:, None] for part in of))
        if layout.levels == 1:
            factors, poor = factorize_yielding(diagonal[0], jax.tree.map(lambda x: x[0], of))
            factors = jax.tree.map(lambda part: part[None], factors)
            return CoreFactors(left, factors, right, poor, layout)
        none = jnp.zeros_like(diagonal[0])
        _, (factors, above, poor) = lax.scan(once, none, (left, diagonal, right, of))
        return CoreFactors(left, factors, above, poor, layout)


class CoreFactors(eqx.Module):
    """Factors of the diagonal blocks as they are when their turn comes; what is right of them, solved."""

    left: Inexact[Array, "levels 1 width width"]
    factors: LU
    right: Inexact[Array, "levels 1 width width"]
    poor: Bool[Array, "*levels 1"]
    layout: CoreLayout = eqx.field(static=True)

    def solve(self, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """Solution of A x = b."""
        layout = self.layout
        rows = _padded(layout, b)[:, None, :, None]
        if layout.levels == 1:
            found = jax.tree.map(lambda part: part[0], self.factors).solve(rows[0])
            return found[0, layout.offset, 0]

        def inward(above: Any, at: Any) -> Any:
            left, factors, own = at
            found = factors.solve(own - left @ above)
            return found, found

        def outward(below: Any, at: Any) -> Any:
            right, own = at
            found = own - right @ below
            return found, found

        dtype = jnp.result_type(self.factors.lu.dtype, b.dtype)
        none = jnp.zeros((1, layout.width, 1), dtype=dtype)
        _, first = lax.scan(inward, none, (self.left, self.factors, rows.astype(dtype)))
        _, found = lax.scan(outward, none, (self.right, first), reverse=True)
        return found.reshape(-1)[layout.places]


def empty_core(layout: CoreLayout, dtype: Any) -> Core:
    """A core of nothing but equations x = 0 at the places that pad it."""
    blocks = np.zeros((layout.levels, 3, layout.width, layout.width))
    used = np.zeros(layout.levels * layout.width, dtype=bool)
    used[layout.places] = True
    free = np.flatnonzero(~used)
    blocks[free // layout.width, 1, free % layout.width, free % layout.width] = 1.0
    return Core(jnp.asarray(blocks, dtype=dtype), layout)


def _padded(layout: CoreLayout, vector: Inexact[Array, " n"]) -> Inexact[Array, "levels width"]:
    flat = jnp.zeros(layout.levels * layout.width, dtype=vector.dtype)
    flat = flat.at[layout.places].set(vector, mode="promise_in_bounds", unique_indices=True)
    return flat.reshape(layout.levels, layout.width)
