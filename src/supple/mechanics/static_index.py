"""Rows of an array chosen when the model is built.

Indices are known before compilation, so evenly spaced rows become slices, and no index needs a range check.
Scatters are loops on the CPU: they cost far more to compile and to run than slices, and than products with a
small constant matrix.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Shaped

from supple.arrays import Array

LARGEST_PRODUCT = 1 << 16
"""Entries of the constant matrix up to which it replaces a scatter."""


def _run(index: np.ndarray) -> slice | None:
    """The slice that an index stands for, if it counts up by one."""
    if len(index) and np.array_equal(index, index[0] + np.arange(len(index))):
        return slice(int(index[0]), int(index[0]) + len(index))
    return None


def _spaced(index: np.ndarray) -> slice | None:
    """The slice that an index stands for, if it counts up evenly."""
    if len(index) < 2:
        return _run(index)
    step = int(index[1] - index[0])
    if step > 0 and np.array_equal(index, index[0] + step * np.arange(len(index))):
        return slice(int(index[0]), int(index[-1]) + 1, step)
    return None


def _spread(size: int, index: np.ndarray) -> np.ndarray | None:
    """(size, m) matrix that carries m values to their rows, unless it would be large."""
    if size * len(index) > LARGEST_PRODUCT:
        return None
    return (np.arange(size)[:, None] == index[None, :]).astype(float)


def take(array: Shaped[Array, "n *k"], index: np.ndarray) -> Shaped[Array, "m *k"]:
    """Rows of an array."""
    array, run = jnp.asarray(array), _spaced(index)
    if run is not None:
        return array if len(index) == array.shape[0] else array[run]
    return array.at[index].get(mode="promise_in_bounds")


def put(
    array: Shaped[Array, "n *k"], index: np.ndarray, values: Shaped[Array, "m *k"]
) -> Shaped[Array, "n *k"]:
    """The array with some rows replaced; rows are chosen once."""
    if len(index) == 0:
        return array
    run = _run(index)
    if run is not None:
        return _overwrite(array, run, values)
    return array.at[index].set(values, mode="promise_in_bounds", unique_indices=True)


def add(
    array: Shaped[Array, "n *k"], index: np.ndarray, values: Shaped[Array, "m *k"]
) -> Shaped[Array, "n *k"]:
    """The array with values added to some rows, which may be chosen several times."""
    if len(index) == 0:
        return array
    run = _run(index)
    if run is not None:
        return _overwrite(array, run, array[run] + values)
    spread = _spread(array.shape[0], index)
    if spread is not None:
        return array + jnp.tensordot(spread, values, axes=1)
    return array.at[index].add(values, mode="promise_in_bounds")


def _overwrite(
    array: Shaped[Array, "n *k"], run: slice, values: Shaped[Array, "m *k"]
) -> Shaped[Array, "n *k"]:
    """The array with a slice of it replaced.

    Not by ``lax.dynamic_update_slice``: XLA may write it in place while the values are still being computed
    from the rows that they replace, and did so for a product of poses in a batch of one.
    """
    return jnp.concatenate([array[: run.start], values, array[run.stop :]])
