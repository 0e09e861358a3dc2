"""Which elements a dense tangent couples: those that hang on others, carry others, or are asked for.

Motors, sliders and legs on the ground that carry nothing have all there is of them in blocks of their own;
matrices over all elements and coordinates leave them out and stay small.
"""

from functools import lru_cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.model.model import GROUND, Model, Topology

Sizes = tuple[tuple[int, int], ...]
"""Elements of each group, and coordinates of each of them."""


class Reach(NamedTuple):
    """Some groups of a robot, whole, with their elements and coordinates numbered anew."""

    groups: tuple[int, ...]
    rows: dict[int, np.ndarray]
    """Where the elements of each group are among those of all of them, ..."""
    columns: dict[int, np.ndarray]
    """... and (b, m) their coordinates."""
    attach: np.ndarray
    """Flat sample that each element hangs on, or GROUND."""
    parent: tuple[int, ...]
    coordinates: np.ndarray
    """Where all that are counted here are in the robot's own numbering."""
    all_coordinates: int

    @property
    def elements(self) -> int:
        """Number of elements."""
        return len(self.parent)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    def expand(self, rows: Float[Array, "*k w"]) -> Float[Array, "*k nv"]:
        """What is known in these coordinates, in all of the robot."""
        if self.width == self.all_coordinates:
            return rows
        if self.width == 0:
            return jnp.zeros((*rows.shape[:-1], self.all_coordinates))
        first, last = int(self.coordinates[0]), int(self.coordinates[-1])
        if last - first + 1 == self.width:
            beside = [(0, 0)] * (rows.ndim - 1)
            return jnp.pad(rows, [*beside, (first, self.all_coordinates - 1 - last)])
        return rows @ np.eye(self.all_coordinates)[self.coordinates]

    def expand_square(self, matrix: Float[Array, "*k w w"]) -> Float[Array, "*k nv nv"]:
        """The same for both axes of matrices."""
        return jnp.swapaxes(self.expand(jnp.swapaxes(self.expand(matrix), -1, -2)), -1, -2)


def reach_of(model: Model, samples: np.ndarray | None = None) -> Reach:
    """The groups that are linked with others, and those of some flat samples."""
    sizes = tuple((group.size, group.nv) for group in model.groups)
    asked = () if samples is None else tuple(sorted({int(s) for s in samples}))
    return _reach(model.topology, sizes, asked)


@lru_cache(maxsize=64)
def _reach(topology: Topology, sizes: Sizes, samples: tuple[int, ...]) -> Reach:
    attach = np.array(topology.attach, dtype=int)
    first_sample = np.array(topology.sample_start)

    def group_at(sample: int) -> int:
        return int(np.searchsorted(first_sample, sample, side="right")) - 1

    linked = {group_at(s) for s in (*samples, *attach.tolist()) if s != GROUND}
    groups = []
    for i, (count, _) in enumerate(sizes):
        start = topology.element_start[i]
        if i in linked or np.any(attach[start : start + count] != GROUND):
            groups.append(i)
    rows, columns, kept, coordinates = {}, {}, [], []
    elements = width = 0
    for i in groups:
        count, nv = sizes[i]
        rows[i] = elements + np.arange(count)
        columns[i] = width + np.arange(count * nv).reshape(count, nv)
        kept.append(topology.element_start[i] + np.arange(count))
        coordinates.append(topology.v_start[i] + np.arange(count * nv))
        elements, width = elements + count, width + count * nv
    every = np.concatenate([np.zeros(0, dtype=int), *kept])
    new = np.full(topology.elements, GROUND)
    new[every] = np.arange(elements)
    parents = [GROUND if p == GROUND else int(new[p]) for p in np.array(topology.parent)[every]]
    return Reach(
        groups=tuple(groups),
        rows=rows,
        columns=columns,
        attach=attach[every],
        parent=tuple(parents),
        coordinates=np.concatenate([np.zeros(0, dtype=int), *coordinates]),
        all_coordinates=topology.nv,
    )
