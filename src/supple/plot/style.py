"""One look for all plots: colors, lines, boxes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, GREEN, ORANGE, GRAY = "#2563a8", "#b8323c", "#2e8b6f", "#d98324", "#8a8f98"
VIOLET, TEAL = "#7251a8", "#2a9fb5"
CYCLE = (BLUE, RED, GREEN, ORANGE, VIOLET, TEAL, GRAY)
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
    "grid.color": "#e6e8ec",
    "grid.linewidth": 0.7,
    "legend.facecolor": "white",
    "legend.edgecolor": "none",
    "legend.framealpha": 0.75,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
}


def settings() -> Any:
    """The style as matplotlib's rcParams."""
    from cycler import cycler

    return STYLE | {"axes.prop_cycle": cycler(color=CYCLE)}


@contextmanager
def styled() -> Iterator[Any]:
    """Matplotlib's pyplot with the style on, for what is drawn inside."""
    import matplotlib.pyplot as plt

    with plt.rc_context(settings()):
        yield plt


def shades() -> Any:
    """Colors from pale (early, small) to dark (late, large)."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#b9cde3", "#5f98cb", "#2563a8", "#122a4d"]
    return LinearSegmentedColormap.from_list("supple", stops)


def new_axes(projection: str | None = None, size: tuple[float, float] = (5.6, 3.6)) -> "Axes":
    """Axes in a figure of their own."""
    with styled() as plt:
        fig = plt.figure(figsize=size, layout="constrained")
        axes: Axes = fig.add_subplot(projection=projection)
        return axes


def color_bar(axes: "Axes", values: np.ndarray, label: str) -> Any:
    """A narrow bar that says what shades mean."""
    import matplotlib

    norm = matplotlib.colors.Normalize(float(values.min()), float(values.max()))
    mappable = matplotlib.cm.ScalarMappable(norm, shades())
    fig: Figure | None = axes.figure  # type: ignore[assignment]
    assert fig is not None
    bar = fig.colorbar(mappable, ax=axes, shrink=0.75, aspect=28, pad=0.02, label=label)
    bar.outline.set_visible(False)
    return bar


def plain_box(axes: Any, points: np.ndarray, zoom: float = 1.1) -> None:
    """A 3-D box round the points (n, 3) with equal scales, pale walls and few ticks."""
    import matplotlib

    low, high = points.min(axis=0), points.max(axis=0)
    largest = max(float((high - low).max()), 1e-12)
    span = np.maximum(high - low, 0.25 * largest) / 2 + 0.05 * largest
    middle = (low + high) / 2
    limits = [(m - s, m + s) for m, s in zip(middle, span, strict=True)]
    axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
    axes.set_box_aspect(2 * span, zoom=zoom)
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    for axis, own in zip((axes.xaxis, axes.yaxis, axes.zaxis), span, strict=True):
        axis.set_pane_color("#f7f8fa")
        ticks = max(2, round(4 * float(own / span.max())))
        axis.set_major_locator(matplotlib.ticker.MaxNLocator(ticks))
        axis._axinfo["grid"].update(color="#e6e8ec", linewidth=0.7)
    axes.tick_params(labelsize=7, pad=0)


def plain_plane(axes: "Axes", plane: str) -> None:
    """Two axes in meters with one scale."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel=f"{plane[0]} (m)", ylabel=f"{plane[1]} (m)")
    axes.locator_params(axis="x", nbins=6)


def as_text(name: str) -> str:
    """A name as matplotlib shows it letter by letter: no formula between dollars, no hidden label."""
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def legend(axes: "Axes") -> None:
    """A legend, where there is something to tell apart; above the curves, which make room for it."""
    count = len(axes.get_legend_handles_labels()[1])
    if not 1 < count <= 12:
        return
    rows = -(-count // 4)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.15 * rows * (high - low))
    axes.legend(loc="upper center", ncols=-(-count // rows), columnspacing=1.0, handlelength=1.2)
