"""Sums along the tree: from the ground to each element, and over each element's subtree.

Small trees use one product with a constant matrix. Larger ones use pointer jumping: in round r every
element adds the sum of the element 2^r above it, so that log2(depth) rounds reach the ground; subtree
sums are the same rounds transposed and in reverse order.
"""

from functools import lru_cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Inexact

from supple.arrays import Array
from supple.mechanics import static_index
from supple.model.model import GROUND

LARGEST_MATRIX = 48
"""Elements up to which one product with a matrix is used."""

Parents = tuple[int, ...]


def sum_along_tree(parents: Parents, steps: Inexact[Array, "e *k"]) -> Inexact[Array, "e *k"]:
    """Sum of the steps of each element and all its ancestors."""
    if len(parents) <= LARGEST_MATRIX:
        return jnp.tensordot(jnp.asarray(path_matrix(parents)), steps, axes=1)
    for moving, above in _rounds(parents):
        added = static_index.take(steps, moving) + static_index.take(steps, above)
        steps = static_index.put(steps, moving, added)
    return steps


def sum_over_subtrees(parents: Parents, totals: Inexact[Array, "e *k"]) -> Inexact[Array, "e *k"]:
    """Sum of the totals of each element and all its descendants."""
    if len(parents) <= LARGEST_MATRIX:
        return jnp.tensordot(jnp.asarray(path_matrix(parents).T), totals, axes=1)
    for moving, above in reversed(_rounds(parents)):
        totals = static_index.add(totals, above, static_index.take(totals, moving))
    return totals


@lru_cache(maxsize=64)
def depth_of(parents: Parents) -> int:
    """Elements in the longest way from the ground outward; parents may be numbered after their children."""
    above, depth = np.array(parents), 0
    standing = np.arange(len(parents))
    while standing.size:
        standing, depth = above[standing], depth + 1
        standing = standing[standing != GROUND]
    return depth


@lru_cache(maxsize=64)
def path_matrix(parents: Parents) -> np.ndarray:
    """(E, E) matrix, 1 where the column's element is the row's or one of its ancestors."""
    path = np.eye(len(parents))
    for e, parent in enumerate(parents):
        while parent != GROUND:
            path[e, parent] = 1.0
            parent = parents[parent]
    return path


@lru_cache(maxsize=64)
def _rounds(parents: Parents) -> list[tuple[np.ndarray, np.ndarray]]:
    """Which elements move in each round, and the elements that they then jump to."""
    found, above = [], np.array(parents)
    while np.any(above != GROUND):
        moving = np.flatnonzero(above != GROUND)
        found.append((moving, above[moving]))
        above = np.where(above == GROUND, GROUND, above[above])
    return found
