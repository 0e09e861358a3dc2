"""Whole figures: an overview of a run, or a choice of plots beside each other."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import ArgumentError
from supple.plot import histories as h, spaces
from supple.plot.style import styled
from supple.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: dict[str, Callable[..., Any]] = {
    "shapes": spaces.shapes,
    "path": spaces.path,
    "position": h.position,
    "strains": spaces.strains,
    "energies": h.energies,
    "angles": h.angles,
    "tensions": h.tensions,
    "lengths": h.lengths,
    "pressures": h.pressures,
    "volumes": h.volumes,
    "torques": h.torques,
    "efforts": h.efforts,
    "multipliers": h.multipliers,
    "gaps": h.gaps,
    "newton": h.newton,
    "residuals": h.residuals,
}
"""All plots of a run, by name."""
SPATIAL = ("shapes", "path")
DRIVES = ("tensions", "pressures", "torques", "angles", "multipliers", "position")
"""What an overview shows of how a robot is driven: the first of these that it has."""


def fitting(result: Result) -> list[str]:
    """The plots that make sense for a run: tensions where there are tendons, and so on."""
    has = {
        "strains": bool(result.names("rod")),
        "angles": bool(h.turning(result)),
        "efforts": bool(result.names("effort")),
        "multipliers": bool(result.names("closure") or result.names("contact")),
        "gaps": any(one.model.holonomic for one in result.stretches),
    }
    for kind, names in (
        ("tendon", ("tensions", "lengths")),
        ("chamber", ("pressures", "volumes")),
        ("motor", ("torques",)),
    ):
        has |= dict.fromkeys(names, bool(result.names(kind)))
    return [name for name in KINDS if has.get(name, True)]


def figure(result: Result, what: Sequence[str]) -> "Figure":
    """The plots of these names beside each other."""
    unknown = [name for name in what if name not in KINDS]
    if unknown or not what:
        got = unknown[0] if unknown else ""
        raise ArgumentError(f"what: got {got!r}; need one of: {', '.join(fitting(result))}")
    columns = 1 if len(what) == 1 else 2 if len(what) <= 4 else 3
    rows = -(-len(what) // columns)
    with styled() as plt:
        fig: Figure = plt.figure(figsize=(5.2 * columns, 3.4 * rows), layout="constrained")
        grid = fig.add_gridspec(rows, columns)
        for place, name in zip(grid, what, strict=False):  # type: ignore[call-overload]
            _draw(fig, place, result, name)
    return fig


def overview(result: Result) -> "Figure":
    """One figure of a run: shapes, energies, how it is driven, strains, and how hard the solver worked."""
    known = fitting(result)
    drive = next(name for name in DRIVES if name in known)
    small = ["energies", drive, "strains" if "strains" in known else "path", "newton"]
    with styled() as plt:
        fig: Figure = plt.figure(figsize=(12.0, 5.8), layout="constrained")
        grid = fig.add_gridspec(2, 3, width_ratios=(1.25, 1, 1), wspace=0.08)
        _draw(fig, grid[:, 0], result, "shapes")
        for i, name in enumerate(small):
            _draw(fig, grid[i // 2, 1 + i % 2], result, name)
    return fig


def _draw(fig: "Figure", place: Any, result: Result, name: str) -> None:
    space = False
    if name in SPATIAL:
        points = result.position(spaces.tip_of(result))
        if name == "shapes":
            own = [result.shape(rod, 9).position.reshape(-1, 3) for rod in spaces.rods_of(result)]
            points = np.concatenate([points, *own])
        space = spaces.plane_of(points) == "xyz"
    KINDS[name](result, axes=fig.add_subplot(place, projection="3d" if space else None))
