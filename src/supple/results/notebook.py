"""How a result shows itself in a notebook: a short table, and its rods at a few instants."""

from __future__ import annotations

import base64
import html
import io
from typing import Any

import numpy as np

Result = Any
"""A :class:`supple.results.result.Result`, which imports this file."""
SHAPES = 7
"""Instants of the picture."""


def as_html(result: Result) -> str:
    """A table and a picture, as a notebook shows them."""
    span = f"{result.t[0]:g} … {result.t[-1]:g} s" if len(result.t) else "empty"
    rows = {
        "robot": result.model.name,
        "rods, joints": f"{len(result.names('rod'))}, {len(result.names('joint'))}",
        "degrees of freedom": str(result.model.nv),
        "time": f"{span}, {len(result.t)} instants",
        "status": f"{result.status.name}: {result.message}",
        "error": _error(result),
        "Newton iterations": f"{result.stats.newton_per_step:.2f} a step",
        "computed in": f"{result.stats.wall_seconds:.3g} s",
    }
    cells = "".join(
        f"<tr><th style='text-align:left'>{name}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    return (
        "<div style='display:flex;flex-wrap:wrap;align-items:center'>"
        f"<table>{cells}</table>{_picture(result) if len(result.t) else ''}</div>"
    )


def _error(result: Result) -> str:
    """The estimates, as far as they are known already."""
    known = result.known_error
    if known is None:
        return "not estimated yet"
    parts = [f"{value:.1g} in {name}" for name, value in known._asdict().items() if value == value]
    return " and ".join(parts) + " of its size" if parts else "not known"


def _picture(result: Result) -> str:
    """Rods from pale (first) to dark (last), and the paths of the frames, as an inline image."""
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = result.pick(np.linspace(0, len(result.t) - 1, SHAPES).round().astype(int))
    figure = Figure(figsize=(3.6, 3.2), dpi=90)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot(projection="3d")
    rods = [shown.shape(name).position for name in shown.names("rod")]
    frames = [shown.position(name) for name in shown.names("frame")]
    for k in range(SHAPES):
        color = colormaps["Blues"](0.25 + 0.65 * k / (SHAPES - 1))
        for rod in rods:
            axes.plot(*rod[k].T, color=color, lw=1.6)
    for path in frames:
        axes.plot(*path.T, ".", color="#b5442c", ms=2.5)
    every = np.concatenate([part.reshape(-1, 3) for part in (*rods, *frames)])
    every = every[~np.isnan(every[:, 0])]  # where an item does not exist
    middle, half = (every.min(0) + every.max(0)) / 2, np.ptp(every, axis=0).max() / 2 or 1.0
    axes.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    axes.set(zlim=(middle[2] - half, middle[2] + half), xlabel="x (m)", ylabel="y (m)")
    axes.set_zlabel("z (m)")
    axes.locator_params(nbins=4)
    axes.tick_params(labelsize=7)
    axes.set_box_aspect((1, 1, 1), zoom=0.92)
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return f"<img alt='shapes over time' src='data:image/png;base64,{data}'>"
