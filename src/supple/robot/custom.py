"""Items of your own: loads at points and along rods, and joints, given to a robot as any other.

Each is an ``equinox.Module``: its fields are numbers (or static), one method says what it does, written with
``jax.numpy``. Derivatives come from automatic differentiation; other numbers never recompile.
"""

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model import joints, special_joints
from supple.numeric import asarray, check_vector, is_traced
from supple.reprs import brief
from supple.robot.checks import check_fraction, check_name
from supple.robot.joint import AbstractJointSpec
from supple.robot.references import RefersToOne
from supple.tried import check_numbers, number, tried

AT_HOME = 1e-9
"""How far (m, rad) a joint may be from where it moves nothing with all its coordinates at zero."""


class AbstractLoad(eqx.Module, RefersToOne):
    """A load of your own at a point of item ``on``: subclass it, add fields, and say its ``wrench``.

    ``fraction`` is that of a rod's length, ``position`` (m) a point in the frame there. A friction law is a
    load too: it knows the velocity of its point.
    """

    name: str = eqx.field(static=True)
    on: str = eqx.field(static=True)
    fraction: float = eqx.field(static=True, default=1.0, kw_only=True)
    position: Any = eqx.field(default=(0.0, 0.0, 0.0), kw_only=True)

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    @abc.abstractmethod
    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        """Moment (N m) about the point and force (N), in the world's axes.

        ``pose`` is that of the point in the world, ``twist`` its body twist: angular (rad/s), then linear
        velocity (m/s), in its own axes.
        """

    @property
    def kinks(self) -> tuple[float, ...]:
        """Times (s) at which it is not smooth."""
        return ()

    def __check_init__(self) -> None:
        check_name(self.name)
        check_fraction(self.name, "fraction", self.fraction)
        check_vector(self.name, "position", self.position, (3,))
        _check_numbers(self, self.name)
        _check_shape(self, "wrench", (_POINT, _TWIST), (6,))


class AbstractLineLoad(eqx.Module, RefersToOne):
    """A load of your own along the rod ``on``: subclass it, add fields, and say its ``density``."""

    name: str = eqx.field(static=True)
    on: str = eqx.field(static=True)

    needs: ClassVar[str] = "rod"

    __repr__ = brief

    @abc.abstractmethod
    def density(
        self, t: Float[Array, ""], X: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        """Moment and force a meter (N m/m, N/m) at arc length X (m), in the world's axes.

        ``pose`` and ``twist`` are those of the section, as in :meth:`AbstractLoad.wrench`.
        """

    @property
    def kinks(self) -> tuple[float, ...]:
        """Times (s) at which it is not smooth."""
        return ()

    def __check_init__(self) -> None:
        check_name(self.name)
        _check_numbers(self, self.name)
        _check_shape(self, "density", (np.zeros(()), _POINT, _TWIST), (6,))


class AbstractJoint(eqx.Module, AbstractJointSpec):
    """A joint of your own: subclass it, name the ``size`` of its coordinates, and say its ``pose``.

    ``lengths`` says which of its coordinates are lengths (m); the others are taken for angles (rad). Override
    ``spring`` to give its coordinates stiffness, rest values and damping.
    """

    size: eqx.AbstractClassVar[int]
    lengths: ClassVar[tuple[int, ...]] = ()

    __repr__ = brief

    @abc.abstractmethod
    def pose(self, x: Float[Array, " size"]) -> Pose:
        """Pose of the item seen from its parent; with all coordinates at zero it moves nothing."""

    def make(self, item: str) -> joints.AbstractJoint:
        """The joint of the model."""
        _check_numbers(self, item)
        need = f"a function of coordinates ({self.size},) -> Pose, written with jax.numpy"
        tried(item, "joint.pose", self.pose, (number(self.size),), need)
        home = tried(item, "joint.pose", self.pose, (np.zeros(self.size),), need, traced=False)
        if not isinstance(home, Pose):
            raise DescriptionError(item, "joint.pose", home, need)
        found = Pose(*(jax.numpy.asarray(part) for part in home))
        shapes = found.rotation.shape, found.position.shape
        if shapes != ((3, 3), (3,)):
            need = "Pose(rotation (3, 3), position (3,))"
            raise DescriptionError(item, "joint.pose", shapes, need)
        if not is_traced(found):
            off = max(np.abs(found.rotation - np.eye(3)).max(), np.abs(found.position).max())
            if not off < AT_HOME:
                need = "no motion with all coordinates at zero; use position and rotation for that"
                raise DescriptionError(item, "joint.pose", float(off), need)
        return special_joints.GivenJoint(jax.tree.map(asarray, self))

    def keeps_coordinates(self) -> bool:
        """Always: no equations between its two frames are known."""
        return True


_POINT = Pose(np.eye(3), np.zeros(3))
_TWIST = np.zeros(6)


def _check_numbers(item: Any, name: str) -> None:
    """Raise unless all fields are numbers, or static."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(item):
        try:
            good = is_traced(leaf) or np.asarray(leaf).dtype.kind in "fiub"
        except Exception:
            good = False
        if not good:
            field = jax.tree_util.keystr(path).lstrip(".")
            need = "a number or an array; declare other fields with equinox.field(static=True)"
            raise DescriptionError(name, field, leaf, need)


def _check_shape(item: Any, method: str, given: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    """Raise unless a method can be traced and gives numbers of a shape."""
    need = f"a method written with jax.numpy that gives {shape} numbers"
    found = tried(item.name, method, getattr(item, method), (np.zeros(()), *given), need)
    check_numbers(item.name, method, found, [shape], need)
