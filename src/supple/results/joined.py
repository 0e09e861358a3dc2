"""Arrays of several stretches of a run as one: end to end in time, with NaN where there is nothing."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from supple.errors import ArgumentError


def end_to_end(parts: Sequence[Any]) -> np.ndarray:
    """Columns one after the other; a single one is not copied."""
    return np.asarray(parts[0]) if len(parts) == 1 else np.concatenate(list(parts))


def with_gaps(what: str, parts: Sequence[Any], counts: Sequence[int]) -> Any:
    """Arrays (or tuples of arrays) end to end, with NaN for the instants of those that are None."""
    known = next(part for part in parts if part is not None)
    leaves, structure = jax.tree.flatten(known)

    def joined(index: int) -> np.ndarray:
        like = np.shape(leaves[index])[1:]
        filled = [
            np.full((count, *like), np.nan)
            if part is None
            else np.asarray(jax.tree.leaves(part)[index])
            for part, count in zip(parts, counts, strict=True)
        ]
        shapes = {x.shape[1:] for x in filled}
        if len(shapes) > 1:
            sizes = ", ".join(str(shape) for shape in sorted(shapes))
            need = "one stretch: result.part(i), or result.stretches[i]"
            raise ArgumentError(
                f"{what}: got stretches with shapes {sizes} an instant; need {need}"
            )
        return end_to_end(filled)

    return jax.tree.unflatten(structure, [joined(i) for i in range(len(leaves))])


def side_by_side(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Columns (n, m) end to end, filled with NaN up to the largest m."""
    most = max(part.shape[1] for part in parts)
    return end_to_end(
        [
            part
            if part.shape[1] == most
            else np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=np.nan)
            for part in parts
        ]
    )
