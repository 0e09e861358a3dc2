"""Joints as users write them. Coordinates start at zero; springs and dampers act on them."""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.model import joints, orientation_joints, special_joints
from supple.model.closures import Rows, no_shift, no_turn
from supple.model.friction import AbstractFriction, DryFriction, friction_rows
from supple.model.linkages import AntiParallelogram
from supple.numeric import (
    Scalar,
    asarray,
    check_number,
    check_positive,
    check_vector,
    is_traced,
    times_of,
)
from supple.reprs import brief
from supple.robot.checks import check_friction
from supple.robot.placement import unit_axis
from supple.tried import check_numbers, number, tried

Axis = str | Sequence[float]


@dataclass(frozen=True)
class Bounds:
    """Stops of a joint's coordinates: bounds, and how they yield (None: not at all)."""

    lower: np.ndarray | Any
    upper: np.ndarray | Any
    stiffness: Any = None
    damping: Any = 0.0


class AbstractJointSpec(abc.ABC):
    """A joint between an item and its parent."""

    @abc.abstractmethod
    def make(self, item: str) -> joints.AbstractJoint | None:
        """The joint of the model, or None for a rigid connection."""

    @property
    def links(self) -> tuple[str, ...]:
        """Names of its further moving parts, on which items may sit."""
        return ()

    def spring(self) -> tuple[Any, Any, Any]:
        """Stiffness, rest value and damping of the coordinates: zero unless the joint has them."""
        return 0.0, 0.0, 0.0

    def dry(self, count: int) -> AbstractFriction | None:
        """Friction law with a row of numbers for each of ``count`` bearings; None without."""
        return None

    def rubs(self) -> bool:
        """Whether it has dry friction."""
        return False

    def bounds(self, count: int) -> Bounds | None:
        """Stops of its ``count`` coordinates; None without any."""
        return None

    def reversed(self) -> "AbstractJointSpec | None":
        """The joint from its outer to its inner frame, with the same coordinates; None if there is none."""
        return None

    def keeps_coordinates(self) -> bool:
        """Whether it needs coordinates where it closes a loop: it turns without end, springs or damps."""
        springs = any(is_traced(value) or np.any(np.asarray(value)) for value in self.spring()[::2])
        return springs or self.rubs() or self.bounds(1) is not None

    def closing_rows(self, item: str, length: float) -> Rows:
        """Its equations where it closes a loop without coordinates of its own (``length`` in m)."""
        joint = self.make(item)
        rows = joint.closing_rows(length) if joint else no_turn(length) + no_shift(np.eye(3))
        if rows is None:
            need = "a joint that holds something, such as Spherical()"
            raise DescriptionError(item, "joint", self, need)
        return rows


def _turned_round(axis: Axis) -> tuple[float, ...]:
    return tuple(-unit_axis("connection", "joint.axis", axis))


@dataclass(frozen=True, kw_only=True)
class _Spring:
    """Spring, damper and dry friction in each coordinate: N m/rad, N m s/rad, N m (or N/m, N s/m, N).

    Dry friction is smooth: ``friction`` · tanh(speed / ``friction_speed``), against the motion; or a law,
    such as :class:`ArctanFriction`, of the speed. ``lower`` and ``upper`` (rad, m) are stops: hard ones that
    take away all speed at once, or compliant ones with ``stop_stiffness`` (N m/rad, N/m) and ``stop_damping``
    beyond them.
    """

    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    rest: Scalar = 0.0
    friction: Scalar | AbstractFriction = 0.0
    friction_speed: Scalar = 1e-2
    lower: Scalar | None = None
    upper: Scalar | None = None
    stop_stiffness: Scalar | None = None
    stop_damping: Scalar = 0.0

    def bounds(self, count: int) -> Bounds | None:
        """Stops of the coordinates, one bound each."""
        if self.lower is None and self.upper is None:
            return None
        lower, upper = (
            asarray(bound) + np.zeros(count) if bound is not None else np.full(count, default)
            for bound, default in ((self.lower, -np.inf), (self.upper, np.inf))
        )
        return Bounds(lower, upper, self.stop_stiffness, self.stop_damping)

    def dry(self, count: int) -> AbstractFriction | None:
        """Friction law of ``count`` coordinates, or pivots."""
        if not self.rubs():
            return None
        if isinstance(self.friction, AbstractFriction):
            return friction_rows(self.friction, count)
        rows = np.zeros(count)
        return DryFriction(asarray(self.friction) + rows, asarray(self.friction_speed) + rows)

    def rubs(self) -> bool:
        if isinstance(self.friction, AbstractFriction) or is_traced(self.friction):
            return True
        return bool(np.any(np.asarray(self.friction)))

    def spring(self) -> tuple[Any, Any, Any]:
        """Stiffness, rest value and damping of the coordinates."""
        return self.stiffness, self.rest, self.damping

    def check_spring(self, item: str, count: int) -> None:
        """Raise unless each is one number, or one for each of ``count`` coordinates."""
        for name in ("stiffness", "damping", "rest", "friction", "friction_speed"):
            value = getattr(self, name)
            if isinstance(value, AbstractFriction):
                check_friction(item, f"joint.{name}", value, loaded=False)
                continue
            shape = (count,) if np.ndim(value) else ()
            array = check_vector(item, f"joint.{name}", value, shape)
            if name != "rest" and not is_traced(array) and np.any(array < 0):
                raise DescriptionError(item, f"joint.{name}", value, "numbers >= 0")
            if name == "friction_speed" and not is_traced(array) and np.any(array == 0):
                raise DescriptionError(item, f"joint.{name}", value, "a speed > 0")
        check_positive(item, "joint.stop_damping", self.stop_damping, allow_zero=True)
        self._check_bounds(item, count)

    def _check_bounds(self, item: str, count: int) -> None:
        for name in ("lower", "upper"):
            value = getattr(self, name)
            if value is None or is_traced(value):
                continue
            try:
                numbers = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                numbers = np.asarray(np.nan)
            if numbers.shape not in ((), (count,)) or np.any(np.isnan(numbers)):
                need = f"one number, or one for each of {count} coordinates (infinite for no stop)"
                raise DescriptionError(item, f"joint.{name}", value, need)
        bounds = self.bounds(count)
        if bounds is None:
            if self.stop_stiffness is not None:
                need = "lower, upper or both: bounds beyond which it acts"
                raise DescriptionError(item, "joint.stop_stiffness", self.stop_stiffness, need)
            return
        if not is_traced((bounds.lower, bounds.upper)) and np.any(bounds.lower >= bounds.upper):
            need = f"less than joint.upper, which is {self.upper!r}"
            raise DescriptionError(item, "joint.lower", self.lower, need)
        if self.stop_stiffness is not None:
            check_positive(item, "joint.stop_stiffness", self.stop_stiffness)


@dataclass(frozen=True)
class Fixed(AbstractJointSpec):
    """Rigid connection."""

    def make(self, item: str) -> None:
        return None

    def reversed(self) -> AbstractJointSpec:
        return self


@dataclass(frozen=True)
class Revolute(_Spring, AbstractJointSpec):
    """Hinge about an axis (rad)."""

    axis: Axis = "z"

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        self.check_spring(item, 1)
        return joints.RevoluteJoint(unit_axis(item, "joint.axis", self.axis))

    def reversed(self) -> AbstractJointSpec:
        return replace(self, axis=_turned_round(self.axis))


@dataclass(frozen=True)
class Prismatic(_Spring, AbstractJointSpec):
    """Slider along an axis (m)."""

    axis: Axis = "x"

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        self.check_spring(item, 1)
        return joints.PrismaticJoint(unit_axis(item, "joint.axis", self.axis))

    def reversed(self) -> AbstractJointSpec:
        return replace(self, axis=_turned_round(self.axis))


@dataclass(frozen=True)
class Helical(_Spring, AbstractJointSpec):
    """Screw about an axis: ``pitch`` meters of advance per radian."""

    axis: Axis = "x"
    pitch: Scalar = 0.0

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        self.check_spring(item, 1)
        check_number(item, "joint.pitch", self.pitch, "a finite number (m/rad)")
        pitch = self.pitch if is_traced(self.pitch) else np.asarray(self.pitch, dtype=float)
        return joints.HelicalJoint(unit_axis(item, "joint.axis", self.axis), pitch)

    def reversed(self) -> AbstractJointSpec:
        return replace(self, axis=_turned_round(self.axis))

    def keeps_coordinates(self) -> bool:
        return True


@dataclass(frozen=True)
class Cylindrical(_Spring, AbstractJointSpec):
    """Turns about (rad) and slides along (m) one axis."""

    axis: Axis = "x"

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        self.check_spring(item, 2)
        return joints.CylindricalJoint(unit_axis(item, "joint.axis", self.axis))

    def reversed(self) -> AbstractJointSpec:
        return replace(self, axis=_turned_round(self.axis))


@dataclass(frozen=True)
class Universal(_Spring, AbstractJointSpec):
    """Two crossing hinges: the first axis is fixed to the parent, the second to the child."""

    first: Axis = "y"
    second: Axis = "z"

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        self.check_spring(item, 2)
        first = unit_axis(item, "joint.first", self.first)
        second = unit_axis(item, "joint.second", self.second)
        if np.linalg.norm(np.cross(first, second)) < 1e-9:
            raise DescriptionError(item, "joint.second", self.second, "not parallel to the first")
        return joints.UniversalJoint(first, second)


@dataclass(frozen=True)
class Spherical(AbstractJointSpec):
    """Ball joint; v is the body angular velocity. ``damping`` in N m s/rad."""

    damping: Scalar = 0.0

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        check_positive(item, "joint.damping", self.damping, allow_zero=True)
        return orientation_joints.SphericalJoint()

    def spring(self) -> tuple[Any, Any, Any]:
        return 0.0, 0.0, self.damping

    def reversed(self) -> AbstractJointSpec:
        return self


@dataclass(frozen=True)
class Planar(_Spring, AbstractJointSpec):
    """Slides in a plane (m, m) and turns about its normal (rad)."""

    normal: Axis = "z"

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        self.check_spring(item, 3)
        normal = unit_axis(item, "joint.normal", self.normal)
        # The in-plane axes follow the item's own: x and y for the normal z, and so on round.
        main = int(np.argmax(np.abs(normal)))
        helper = np.eye(3)[(main + 1) % 3]
        first = helper - normal * (normal @ helper)
        first = first / np.linalg.norm(first)
        return joints.PlanarJoint(first, np.cross(normal, first), normal)


@dataclass(frozen=True)
class XJoint(_Spring, AbstractJointSpec):
    """An anti-parallelogram: a top bar on two ``diagonal`` bars (m) that cross, on a base as long as the top.

    ``bar`` (m) is the length of base and top, less than that of the diagonals. The item is placed where the
    middle of the base is, and is the top: the joint carries its frame to the middle of that, also at rest.
    The coordinate is the angle of the top (rad) about ``axis``, the normal of the plane; ``along`` points
    from base to top. Seen against ``axis``, with ``along`` upwards, a positive angle turns the top to the
    left.

    Items sit on its diagonals by ``link="left"`` or ``"right"``, the side on which they begin: frames at
    their middles, with ``along`` along the diagonal. Damping and friction act in each of the four pivots,
    springs and stops on the coordinate. At ± π the bars are flat, where a real one may become a
    parallelogram.
    """

    bar: Scalar
    diagonal: Scalar
    axis: Axis = "z"
    along: Axis = "x"

    __repr__ = brief

    @property
    def links(self) -> tuple[str, ...]:
        return AntiParallelogram.links

    def make(self, item: str) -> joints.AbstractJoint:
        self.check_spring(item, 1)
        check_positive(item, "joint.bar", self.bar)
        check_positive(item, "joint.diagonal", self.diagonal)
        if not is_traced((self.bar, self.diagonal)) and self.diagonal <= self.bar:
            need = f"more than joint.bar, which is {self.bar!r}"
            raise DescriptionError(item, "joint.diagonal", self.diagonal, need)
        normal = unit_axis(item, "joint.axis", self.axis)
        first = unit_axis(item, "joint.along", self.along)
        if abs(normal @ first) > 1e-9:
            raise DescriptionError(
                item, "joint.along", self.along, "a direction normal to the axis"
            )
        axes = np.stack([first, np.cross(normal, first), normal], axis=1)
        return AntiParallelogram(asarray(self.bar), asarray(self.diagonal), axes)

    def keeps_coordinates(self) -> bool:
        return True


@dataclass(frozen=True)
class Free(AbstractJointSpec):
    """No connection: the item floats. v = (body angular velocity, velocity in the parent)."""

    def make(self, item: str) -> joints.AbstractJoint:
        return orientation_joints.FreeJoint()


@dataclass(frozen=True)
class Driven(AbstractJointSpec):
    """Prescribed motion: ``motion(t)`` returns (position (3), rotation vector (3)) in the parent.

    Write it with ``jax.numpy``; velocities and accelerations are derived from it. Define it once, in a
    module: a new function, such as a lambda in a loop, recompiles. ``kinks`` are times (s) at which it is
    not smooth.
    """

    motion: Callable[[Any], tuple[Any, Any]]
    kinks: Any = ()

    __repr__ = brief

    def make(self, item: str) -> joints.AbstractJoint:
        need = "a function of t -> (position (3,), rotation vector (3,)), written with jax.numpy"
        found = tried(item, "joint.motion", self.motion, (number(),), need)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise DescriptionError(item, "joint.motion", found, need)
        for part in found:
            check_numbers(item, "joint.motion", part, [(3,)], need)
        return special_joints.DrivenJoint(self.motion, times_of(item, "joint.kinks", self.kinks))

    def keeps_coordinates(self) -> bool:
        return True
