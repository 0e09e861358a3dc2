"""What a robot looks like: its rods at several instants, the path of a frame, strains along rods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import ArgumentError
from supple.plot.style import (
    BLUE,
    GRAY,
    RED,
    as_text,
    color_bar,
    new_axes,
    plain_box,
    plain_plane,
    shades,
    styled,
)
from supple.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRAINS = ("kx", "ky", "kz", "gx", "gy", "gz")
STRAIN_NAMES = ("torsion κx", "curvature κy", "curvature κz", "stretch γx", "shear γy", "shear γz")
FLAT = 1e-6
"""A motion whose extent in one direction is below this fraction of its largest is planar."""


def tip_of(result: Result) -> str:
    """The frame that is described last: the tip, the tool, the plate."""
    return result.names("frame")[-1]


def rods_of(result: Result) -> list[str]:
    """Names of the rods."""
    return list(result.names("rod"))


def plane_of(points: np.ndarray) -> str:
    """Plane ("xy", "xz", "yz") parallel to which the points (n, 3) lie, or "xyz" for all of space."""
    extent = np.ptp(points[~np.isnan(points[:, 0])], axis=0)  # some are missing where an item is
    flat = extent <= FLAT * max(float(extent.max()), 1e-300)
    if flat.sum() != 1:
        # On a line, or in space; a line is drawn in the plane of its own and the next axis.
        if flat.sum() < 2:
            return "xyz"
        along = int(np.argmax(extent))
        return "xz" if along != 1 else "xy"
    return "".join(letter for letter, gone in zip("xyz", flat, strict=True) if not gone)


def _instants(result: Result, count: int) -> np.ndarray:
    """Indices of about ``count`` instants, evenly spaced in time."""
    times = np.linspace(result.t[0], result.t[-1], min(count, len(result)))
    return np.unique(np.searchsorted(result.t, times - 1e-12).clip(0, len(result) - 1))


def shapes(
    result: Result,
    rods: Sequence[str] = (),
    *,
    count: int = 10,
    plane: str | None = None,
    tip: str | None = "last",
    axes: Any = None,
) -> "Axes":
    """Rods and bodies at ``count`` instants, pale to dark, and the path of a ``tip`` frame (None: none).

    ``plane`` is "xy", "xz", "yz", or "xyz" for a view in space (which needs 3-D axes); by default it follows
    from the motion.
    """
    chosen = _instants(result, count)
    names = list(rods) or rods_of(result)
    lines = {name: result.shape(name, 61).position[chosen] for name in names}
    bodies = _bodies(result)
    dots = {name: result.position(name)[chosen] for name in bodies}
    every = np.concatenate([x.reshape(-1, 3) for x in (*lines.values(), *dots.values())])
    frame = tip_of(result) if tip == "last" else tip
    way = None if frame is None else result.position(frame)
    plane = plane or _fitting_plane(axes, every if way is None else np.concatenate([every, way]))
    with styled():
        if axes is None:
            axes = new_axes("3d" if plane == "xyz" else None, (6.0, 4.6))
        columns = ["xyz".index(letter) for letter in plane]
        colors = shades()
        for order in range(len(chosen)):
            share = order / max(len(chosen) - 1, 1)
            look = {"color": colors(share), "zorder": 2 + share}
            for line in lines.values():
                axes.plot(*line[order][:, columns].T, linewidth=1.8, **look)
            for dot in dots.values():
                axes.plot(*dot[order][columns, None], "o", markersize=4.0, **look)
        if way is not None:
            axes.plot(*way[:, columns].T, color=RED, linewidth=0.8, zorder=1)
        if plane == "xyz":
            plain_box(axes, every[~np.isnan(every[:, 0])])
        else:
            plain_plane(axes, plane)
        span = f"{result.t[0]:g} … {result.t[-1]:g} s"
        axes.set_title(f"{as_text(result.model.name)}, {span}, pale to dark")
    return axes


def path(
    result: Result, frame: str | None = None, *, plane: str | None = None, axes: Any = None
) -> "Axes":
    """Path (m) of a frame, of the last one by default, from a ring to a dot."""
    frame = tip_of(result) if frame is None else frame
    way = result.position(frame)
    plane = plane or _fitting_plane(axes, way)
    columns = ["xyz".index(letter) for letter in plane]
    with styled():
        axes = new_axes("3d" if plane == "xyz" else None, (4.6, 4.0)) if axes is None else axes
        axes.plot(*way[:, columns].T, color=BLUE, linewidth=1.2)
        axes.plot(*way[:1, columns].T, "o", markerfacecolor="white", color=GRAY)
        axes.plot(*way[-1:, columns].T, "o", color=RED)
        if plane == "xyz":
            plain_box(axes, way[~np.isnan(way[:, 0])])
        else:
            plain_plane(axes, plane)
        axes.set_title(f"Path of {as_text(frame)}")
    return axes


def strains(
    result: Result,
    rod: str | None = None,
    component: str | None = None,
    *,
    count: int = 8,
    axes: Any = None,
) -> "Axes":
    """Strain along a rod at ``count`` instants, pale to dark.

    ``component`` is one of kx, ky, kz (1/m) and gx, gy, gz; by default, and with the first rod, the one that
    changes most (a meter of curvature counts as much as a stretch of one).
    """
    names = rods_of(result)
    if not names:
        raise ArgumentError(f"plot: got a run of {result.model.name!r}; need one with a rod")
    rod = names[0] if rod is None else rod
    values = result.strain(rod, 61)
    if component is None:
        index = int(np.argmax(np.ptp(values[~np.isnan(values[:, 0, 0])], axis=(0, 1))))
    elif component in STRAINS:
        index = STRAINS.index(component)
    else:
        raise ArgumentError(f"component: got {component!r}; need one of: {', '.join(STRAINS)}")
    chosen = _instants(result, count)
    with styled():
        axes = new_axes() if axes is None else axes
        colors = shades()
        u = np.linspace(0.0, 1.0, values.shape[1])
        for order, i in enumerate(chosen):
            axes.plot(u, values[i, :, index], color=colors(order / max(len(chosen) - 1, 1)))
        unit = "1/m" if index < 3 else "-"
        axes.set(xlabel="fraction of the length", ylabel=f"{STRAIN_NAMES[index]} ({unit})")
        axes.set_title(f"Strain of {as_text(rod)}")
        color_bar(axes, result.t[chosen], "time (s)")
    return axes


def _bodies(result: Result) -> list[str]:
    """Frames that are not tips of rods."""
    rods = set(rods_of(result))
    return [name for name in result.names("frame") if name not in rods]


def _fitting_plane(axes: Any, points: np.ndarray) -> str:
    """The plane for given axes, or the one that the points ask for."""
    plane = plane_of(points)
    if axes is None or hasattr(axes, "zaxis"):
        return "xyz" if axes is not None else plane
    if plane != "xyz":
        return plane
    extent = np.ptp(points[~np.isnan(points[:, 0])], axis=0)
    return "".join(letter for i, letter in enumerate("xyz") if i != int(np.argmin(extent)))
