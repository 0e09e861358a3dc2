"""Rods turned inside out: linear elasticity lets their stretch pass zero, which nothing real does."""

import warnings

import numpy as np

from supple.model.model import Model, RodGroup


def warn_if_inside_out(model: Model, q: np.ndarray) -> None:
    """Warn of rods whose stretch γx is not positive at some node, in any of the configurations (…, nq)."""
    if model.fields is not None:
        return  # where stretch vanishes, a rod that is shot does not converge
    for slot in model.topology.rod_slots:
        group = model.groups[slot.group]
        assert isinstance(group, RodGroup)
        grid = group.grid
        along, rest = np.asarray(grid.basis)[slot.row, :, 3], np.asarray(grid.rest)[slot.row, :, 3]
        if not along.any():
            continue
        stretch = (rest + q[..., slot.q] @ along.T).reshape(-1, len(rest)).min(axis=0)
        worst = int(np.argmin(stretch))
        if stretch[worst] <= 0:
            warnings.warn(
                f"{model.name}: rod {slot.name!r} is turned inside out at u = "
                f"{grid.points[slot.row, worst]:.2g}, where its stretch falls to {stretch[worst]:.3g}. "
                "Linear elasticity does not hold there: check its modulus, density and loads",
                RuntimeWarning,
                stacklevel=3,
            )
