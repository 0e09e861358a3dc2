"""Rods turned inside out: linear elasticity lets their stretch pass zero, which nothing real does."""

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.hints import warn
from supple.model.model import Model, RodGroup, Slot
from supple.numeric import is_traced


def stretches(model: Model, q: Any) -> Iterator[tuple[Slot, Any]]:
    """Stretch γx of each rod at the nodes of its pieces, in all of the configurations (…, nq)."""
    if model.fields is not None:
        return  # where stretch vanishes, a rod that is shot does not converge
    for slot in model.topology.rod_slots:
        group = model.groups[slot.group]
        assert isinstance(group, RodGroup)
        backend: Any = jnp if is_traced((q, group.grid.rest)) else np
        grid, rows = group.grid, slice(slot.row, slot.row + slot.pieces)
        along = np.asarray(grid.basis)[rows, :, 3]
        if along.any():
            own = q[..., slot.q].reshape(-1, slot.pieces, group.nv)
            rest = backend.asarray(grid.rest)[rows, :, 3]
            yield slot, rest + backend.einsum("tbm,bnm->tbn", own, along)


def warn_if_inside_out(model: Model, q: np.ndarray) -> None:
    """Warn of rods whose stretch γx is not positive at some node, in any of the configurations (…, nq)."""
    for slot, every in stretches(model, q):
        stretch = every.min(axis=0).reshape(-1)
        worst = int(np.argmin(stretch))
        if stretch[worst] <= 0:
            group = model.groups[slot.group]
            assert isinstance(group, RodGroup)
            place = _fraction(slot, np.asarray(group.grid.points), worst)
            warn(
                f"{model.name}: rod {slot.name!r} is turned inside out at u = {place:.2g}, "
                f"where its stretch falls to {stretch[worst]:.3g}. "
                "Linear elasticity does not hold there: check its modulus, density and loads",
                RuntimeWarning,
            )


def _fraction(slot: Slot, points: np.ndarray, node: int) -> float:
    """Fraction of a rod's length at a node, counted over its pieces."""
    piece, local = divmod(node, points.shape[1])
    share = float(points[slot.row + piece, local])
    if not slot.in_pieces:
        return share
    first, last = slot.edges[piece], slot.edges[piece + 1]
    return first + (last - first) * share
