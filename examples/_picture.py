"""Pictures of the examples, in the style of :mod:`supple.plot`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from supple.plot.style import (
    BLUE as BLUE,
    GRAY as GRAY,
    GREEN as GREEN,
    ORANGE as ORANGE,
    RED as RED,
    plain_box as plain_box,
    settings,
    shades,
)

OUT = Path(__file__).resolve().parents[1] / "out"
SHADES = shades()
plt.rcParams.update(settings())


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
    """Draw centerlines (points, 3), pale to dark with their values; returns what a color bar needs."""
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


def save(fig: Figure, name: str) -> Path:
    """Write out/<name>.png and say so."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}.png"
    fig.savefig(path, dpi=150)
    plt.close(fig)
    print(f"picture: {path}")
    return path


def film(result: Any, name: str, speed: float = 1.0, fps: int = 15) -> Path:
    """Write out/<name>.gif, the robot as it moves, and say so."""
    from supple.view import to_film

    path = to_film(result, OUT / f"{name}.gif", speed=speed, fps=fps)
    print(f"film: {path}")
    return path
