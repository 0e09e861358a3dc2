"""Bifurcation diagrams: what a robot does along its branches of equilibria."""

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import ArgumentError
from supple.plot.style import BLUE, GRAY, ORANGE, RED, VIOLET, new_axes, styled
from supple.run.branch import Branch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = {"limit": (RED, "s"), "branch": (ORANGE, "o"), "flutter": (VIOLET, "^")}
"""Colors and marks of special points."""


def branches(
    branch: Branch,
    quantity: Callable[[Branch], Any] | None = None,
    *,
    label: str | None = None,
    axes: "Axes | None" = None,
) -> "Axes":
    """A quantity along a branch and those that leave from it, over time; dashed where it is unstable.

    ``quantity(branch)`` gives a number for each point, such as ``lambda b: b.position("arm")[:, 1]``; by
    default it is the coordinate of a place (in meters) that tells most: the one that changes most.
    """
    if quantity is None:
        quantity, label = _telling(branch)
    with styled():
        axes = new_axes() if axes is None else axes
        told: set[str] = set()
        for one in branch.all:
            values = np.asarray(quantity(one), dtype=float)
            if values.shape != (len(one),):
                need = f"one number for each of the {len(one)} points of a branch"
                raise ArgumentError(f"quantity: got the shape {values.shape}; need {need}")
            _draw(axes, one, values, told)
        axes.set(xlabel="time (s)", ylabel=label or "", title="Equilibria")
        axes.margins(0.06)
        if len(told) > 1:
            axes.legend(loc="best")
    return axes


def _draw(axes: "Axes", one: Branch, values: np.ndarray, told: set[str]) -> None:
    """One branch: runs of points that are alike, each as far as the special point at its end."""

    def first(name: str) -> str | None:
        new = name not in told
        told.add(name)
        return name if new else None

    t, y, stable = _with_special(one, values)
    edges = [0, *(np.flatnonzero(stable[1:] != stable[:-1]) + 1), len(stable)]
    for low, high in pairwise(edges):
        part = slice(low, high + 1)
        style = dict(color=BLUE, linewidth=2.0) if stable[low] else dict(color=GRAY, linestyle="--")
        axes.plot(t[part], y[part], label=first("stable" if stable[low] else "unstable"), **style)
    for point in one.special:
        color, mark = POINTS[point.kind]
        place = _at(one, values, point)
        axes.plot(point.t, place, mark, color=color, ms=6, zorder=4, label=first(point.kind))


def _with_special(one: Branch, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Times, values and whether each stretch after them is stable, with the special points between."""
    t, y = list(one.t), list(values)
    stable = list(one.stable[1:]) or [bool(one.stable[0])]  # of the stretch from each point on
    for point in reversed(one.special):
        t.insert(point.index + 1, point.t)
        y.insert(point.index + 1, _at(one, values, point))
        before = bool(one.stable[point.index])
        stable.insert(point.index, before)
    return np.array(t), np.array(y), np.array(stable)


def _at(one: Branch, values: np.ndarray, point: Any) -> float:
    """A value at a special point, by the arc between its neighbors."""
    low, high = point.index, min(point.index + 1, len(one) - 1)
    near = [np.linalg.norm(point.q - one.q[i]) + abs(point.t - one.t[i]) for i in (low, high)]
    share = near[0] / max(sum(near), 1e-300)
    return float(values[low] + share * (values[high] - values[low]))


def _telling(branch: Branch) -> tuple[Callable[[Branch], Any], str]:
    """The coordinate of a frame that changes most on all branches together."""
    if not branch.model.topology.frames:
        raise ArgumentError(
            "quantity: got None for a robot without frames; need a function of a branch"
        )
    best: tuple[float, str, int] = (-1.0, "", 0)
    for frame in branch.model.topology.frames:
        places = np.concatenate([one.position(frame.name) for one in branch.all])
        spans = np.ptp(places, axis=0)
        if spans.max() > best[0]:
            best = float(spans.max()), frame.name, int(np.argmax(spans))
    _, name, axis = best
    return (lambda one: one.position(name)[:, axis]), f"{name}, {'xyz'[axis]} (m)"
