"""Rods turned inside out: linear elasticity lets their stretch pass zero, which nothing real does."""

import warnings

import numpy as np

from supple.model.model import Model, RodGroup, Slot


def warn_if_inside_out(model: Model, q: np.ndarray) -> None:
    """Warn of rods whose stretch γx is not positive at some node, in any of the configurations (…, nq)."""
    if model.fields is not None:
        return  # where stretch vanishes, a rod that is shot does not converge
    for slot in model.topology.rod_slots:
        group = model.groups[slot.group]
        assert isinstance(group, RodGroup)
        grid, rows = group.grid, slice(slot.row, slot.row + slot.pieces)
        along, rest = np.asarray(grid.basis)[rows, :, 3], np.asarray(grid.rest)[rows, :, 3]
        if not along.any():
            continue
        own = q[..., slot.q].reshape(-1, slot.pieces, group.nv)
        stretch = (rest + np.einsum("tbm,bnm->tbn", own, along)).min(axis=0).reshape(-1)
        worst = int(np.argmin(stretch))
        if stretch[worst] <= 0:
            warnings.warn(
                f"{model.name}: rod {slot.name!r} is turned inside out at u = "
                f"{_fraction(slot, np.asarray(grid.points), worst):.2g}, "
                f"where its stretch falls to {stretch[worst]:.3g}. "
                "Linear elasticity does not hold there: check its modulus, density and loads",
                RuntimeWarning,
                stacklevel=3,
            )


def _fraction(slot: Slot, points: np.ndarray, node: int) -> float:
    """Fraction of a rod's length at a node, counted over its pieces."""
    piece, local = divmod(node, points.shape[1])
    share = float(points[slot.row + piece, local])
    if not slot.in_pieces:
        return share
    first, last = slot.edges[piece], slot.edges[piece + 1]
    return first + (last - first) * share
