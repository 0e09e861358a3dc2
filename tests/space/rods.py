"""An independent integration of a rod's poses, and poses from Supple's grids."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

from supple.space import RodGrid
from tests.tools import jit

_rotations = jit(lambda grid, q, length: grid.rotations(q, length))


def grid_poses(grid: RodGrid, q: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Rotations and positions at all points of a grid (positions by its quadrature)."""
    rotation = np.asarray(_rotations(grid, q, np.asarray(length)))
    count = len(grid.weights)
    stretch = np.asarray(grid.rest)[:, 3:] + np.asarray(grid.basis)[:, 3:] @ q
    tangent = np.einsum("nij,nj->ni", rotation[:count], stretch)
    return rotation, length * np.asarray(grid.integration) @ tangent


def integrated_pose(
    strain: Callable[[float], np.ndarray],
    stop: float,
    length: float,
    breaks: tuple[float, ...] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """Pose at u = stop of a rod with the strain ``strain(u)``, by DOP853 between the breaks."""

    def rate(u: float, y: np.ndarray, low: float, high: float) -> np.ndarray:
        inside = min(max(u, low + 1e-12), high - 1e-12)
        xi = length * strain(inside)
        rotation = y[:9].reshape(3, 3)
        return np.concatenate([(rotation @ np.cross(np.eye(3), xi[:3])).ravel(), rotation @ xi[3:]])

    y = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    edges = [0.0, *(b for b in breaks if b < stop), stop]
    for a, b in pairwise(edges):
        if b > a:
            options = dict(method="DOP853", rtol=1e-13, atol=1e-14, args=(a, b))
            y = solve_ivp(rate, (a, b), y, **options).y[:, -1]
    return y[:9].reshape(3, 3), y[9:]
