"""One look for all the pictures of the examples."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

OUT = Path(__file__).resolve().parents[1] / "out"
BLUE, RED, GREEN, ORANGE, GREY = "#2563a8", "#b8323c", "#2e8b6f", "#d98324", "#8a8f98"
SHADES = matplotlib.colors.LinearSegmentedColormap.from_list(
    "supple", ["#b9cde3", "#5f98cb", "#2563a8", "#122a4d"]
)
STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": "#55585f",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.prop_cycle": matplotlib.cycler(color=[BLUE, RED, GREEN, ORANGE, GREY]),
    "grid.color": "#e6e8ec",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
}
plt.rcParams.update(STYLE)


def figure(
    rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[Figure, Any]:
    """A figure with its axes (rows, columns), laid out without overlaps."""
    return plt.subplots(rows, columns, figsize=size, layout="constrained", **options)


def snapshots(
    axes: Axes,
    shapes: Sequence[np.ndarray],
    values: Iterable[float],
    plane: str = "xy",
    log: bool = False,
) -> Any:
    """Draw centrelines (points, 3), pale to dark with their values; returns what a colour bar needs."""
    i, j = ("xyz".index(letter) for letter in plane)
    values, norm = _scale(values, log)
    for shape, value in zip(shapes, values, strict=True):
        axes.plot(shape[:, i], shape[:, j], color=SHADES(norm(value)), linewidth=1.8)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=f"{plane[0]} (m)", ylabel=f"{plane[1]} (m)")
    return matplotlib.cm.ScalarMappable(norm, SHADES)


def snapshots_3d(
    axes: Any, shapes: Sequence[np.ndarray], values: Iterable[float], log: bool = False
) -> Any:
    """The same in space, with one scale for the three axes."""
    values, norm = _scale(values, log)
    for shape, value in zip(shapes, values, strict=True):
        axes.plot(*shape.T, color=SHADES(norm(value)), linewidth=1.8)
    plain_box(axes, np.concatenate(list(shapes)))
    return matplotlib.cm.ScalarMappable(norm, SHADES)


def _scale(values: Iterable[float], log: bool) -> tuple[np.ndarray, Any]:
    array = np.asarray(list(values), dtype=float)
    norm = matplotlib.colors.LogNorm if log else matplotlib.colors.Normalize
    return array, norm(array.min(), array.max())


def plain_box(axes: Any, points: np.ndarray, zoom: float = 1.1) -> None:
    """A 3-D box round the points (n, 3) with equal scales, pale walls and few ticks."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.05 * (high - low).max()
    span = np.maximum(high - low, 0.25 * (high - low).max()) / 2 + room
    middle = (low + high) / 2
    limits = [(m - s, m + s) for m, s in zip(middle, span, strict=True)]
    axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
    axes.set_box_aspect(2 * span, zoom=zoom)
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color("#f7f8fa")
        axis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
        axis._axinfo["grid"].update(color="#e6e8ec", linewidth=0.7)
    axes.tick_params(labelsize=7, pad=0)


def save(fig: Figure, name: str) -> Path:
    """Write out/<name>.png and say so."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}.png"
    fig.savefig(path, dpi=150)
    plt.close(fig)
    print(f"picture: {path}")
    return path
