"""Joints that close loops, as equations between two frames.

With R and r the orientation and position of the outer frame seen from the inner one, every passive joint
forbids some motion by equations that are *linear* in the entries of R and r:

    Υ = A : R + b · r - c = 0

A revolute joint about n: e · R n = 0 for two directions e normal to n, and r = 0. No angle is extracted,
so nothing can wrap at π. Rows that turn are multiplied by a length, so that all Υ are metres and all
multipliers newtons.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose


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
