"""Joints that close loops, as equations between two frames.

With R and r the orientation and position of the outer frame seen from the inner one, every passive joint
forbids some motion by equations that are *linear* in the entries of R and r:

    Υ = A : R + b · r - c = 0

A revolute joint about n: e · R n = 0 for two directions e normal to n, and r = 0. No angle is extracted,
so nothing can wrap at π. Rows that turn are multiplied by a length, so that all Υ are meters and all
multipliers newtons.
"""

from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose

Rows = list[tuple[np.ndarray, np.ndarray, float]]
"""Equations A : R + b · r = c, each as A (3, 3), b (3,) and c."""


def no_shift(directions: np.ndarray) -> Rows:
    """No displacement along some directions of the inner frame."""
    return [(np.zeros((3, 3)), direction, 0.0) for direction in directions]


def no_turn(length: float) -> Rows:
    """The vector of (R - Rᵀ)/2, that is sin θ times the axis of rotation."""
    rows: Rows = []
    for i, j in ((2, 1), (0, 2), (1, 0)):
        row = np.zeros((3, 3))
        row[i, j], row[j, i] = length / 2, -length / 2
        rows.append((row, np.zeros(3), 0.0))
    return rows


def aligned(axis: Any, length: float) -> Rows:
    """The axis keeps its direction: no component along two normals."""
    turned = [length * np.outer(normal, np.asarray(axis)) for normal in normals(axis)]
    return [(row, np.zeros(3), 0.0) for row in turned]


def crossed(first: Any, second: Any, length: float) -> Rows:
    """The second axis, fixed to the outer frame, keeps its angle with the first."""
    a, b = np.asarray(first), np.asarray(second)
    return [(length * np.outer(a, b), np.zeros(3), length * a @ b)]


def normals(axis: Any) -> np.ndarray:
    """Two unit vectors normal to an axis and to each other."""
    axis = np.asarray(axis, dtype=float)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


class Closures(eqx.Module):
    """All closing joints of a robot: k joints, n equations."""

    inner: Pose
    """Frames of the k joints in the frames of the samples they are fixed to (or of the ground)."""
    outer: Pose
    turning: Float[Array, "n 3 3"]
    """A (m)."""
    shift: Float[Array, "n 3"]
    """b."""
    value: Float[Array, " n"]
    """c (m)."""
    inner_sample: tuple[int, ...] = eqx.field(static=True)
    """Flat samples of the inner frames, or GROUND."""
    outer_sample: tuple[int, ...] = eqx.field(static=True)
    joint_of_row: tuple[int, ...] = eqx.field(static=True)
    """The joint of each equation."""
    names: tuple[str, ...] = eqx.field(static=True)
    dropped: tuple[str, ...] = eqx.field(static=True, default=())
    """Equations left out because the robot's structure fulfils them already."""

    @property
    def size(self) -> int:
        """Number of equations."""
        return len(self.joint_of_row)

    def gather(self) -> np.ndarray:
        """(k, n) matrix that sums over the rows of each joint."""
        rows = np.array(self.joint_of_row, dtype=int)
        return (rows[None, :] == np.arange(len(self.names))[:, None]).astype(float)


def no_closures() -> Closures:
    """The closures of a tree."""
    nothing = Pose(np.zeros((0, 3, 3)), np.zeros((0, 3)))
    return Closures(
        nothing, nothing, np.zeros((0, 3, 3)), np.zeros((0, 3)), np.zeros(0), (), (), (), ()
    )
