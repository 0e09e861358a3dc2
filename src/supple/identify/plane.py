"""The plane in which a measured rod bends."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.lie import Pose


@dataclass(frozen=True, eq=False)
class FlatShape:
    """A curve in its own plane."""

    points: np.ndarray
    """(n, 3) seen from ``frame``, with z = 0: from the origin, about along x at first, then towards +y."""
    frame: Pose
    """The plane as a right-handed frame: origin at the first point, z its normal."""
    off: float
    """Root mean square distance of the measured points from the plane (m)."""


def flatten(points: Any) -> FlatShape:
    """Project points (n, 3) along a rod, from its base, onto the plane nearest to them.

    The plane is spanned by the two largest singular vectors of the points about their mean. Points on a
    straight line leave its normal open: any plane through the line will do.
    """
    measured = np.asarray(points, dtype=float)
    if measured.ndim != 2 or measured.shape[1] != 3 or len(measured) < 3:
        raise ArgumentError(
            f"points: got shape {measured.shape}; need (n, 3) with at least 3 points"
        )
    if not np.all(np.isfinite(measured)):
        raise ArgumentError("points: got numbers that are not finite; leave such points out")
    mean = measured.mean(axis=0)
    _, sizes, axes = np.linalg.svd(measured - mean)
    if sizes[0] == 0:
        raise ArgumentError("points: got the same point several times; need points along a rod")
    flat = (measured - mean) @ axes[:2].T
    # The tangent at the first point, from a quartic in the point's number: noise averages out.
    number = np.linspace(0.0, 1.0, len(flat))
    degree = min(4, len(flat) - 1)
    slope = np.polynomial.polynomial.polyfit(number, flat, degree)[1]
    x = slope / np.linalg.norm(slope)
    away = flat - flat[0]
    bend = np.sum(away @ np.array([-x[1], x[0]]))
    y = np.array([-x[1], x[0]]) * (1.0 if bend >= 0 else -1.0)
    rotation = np.stack([x @ axes[:2], y @ axes[:2], np.cross(x @ axes[:2], y @ axes[:2])], axis=1)
    origin = mean + flat[0] @ axes[:2]
    plane = np.stack([away @ x, away @ y, np.zeros(len(flat))], axis=1)
    return FlatShape(plane, Pose(rotation, origin), float(sizes[2] / np.sqrt(len(flat))))
