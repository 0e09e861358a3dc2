"""Edits: what can be done to a robot while it moves. Each is a function from a robot to another one.

Some depend on where things are: what is attached or locked stays where it is. Velocities are no part of an
edit: those that the new robot forbids are changed by the run, as by an inelastic impact.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.reprs import brief, short
from supple.robot.checks import GROUND_NAME
from supple.robot.graph import Item
from supple.robot.items import Body, Closure, Connection, PrescribedCoordinate, Rod, Solid
from supple.robot.joint import AbstractJointSpec, Fixed, Free, Spherical
from supple.robot.placement import placement
from supple.robot.robot import Robot


@runtime_checkable
class Sight(Protocol):
    """Where things are, as :class:`Sensors` tell it."""

    def pose(self, name: str, fraction: float | None = None) -> Pose:
        """World pose of an item, or of the point at a fraction of a rod."""

    def joint(self, name: str) -> tuple[Any, Any]:
        """Configuration and velocity of the joint of an item."""


class AbstractEdit(abc.ABC):
    """A change of a robot."""

    adds: ClassVar[bool] = False
    """Whether it brings items that did not exist before."""

    @abc.abstractmethod
    def applied(self, robot: Robot, seen: Sight) -> Robot:
        """The changed robot."""


@dataclass(frozen=True)
class Attach(AbstractEdit):
    """Hold an ``item`` by a joint where it is now, on item ``to`` (or the ground).

    The joint closes a loop: it is a :class:`Closure` called ``name`` ("ITEM on TO" by default), between the
    frame at ``position`` (m) and ``rotation`` of the item and whatever is there of the other. ``fraction``
    and ``to_fraction`` are of the lengths of rods.
    """

    item: str
    to: str
    joint: AbstractJointSpec = field(default_factory=Fixed)
    name: str | None = None
    fraction: float = 1.0
    to_fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)

    adds: ClassVar[bool] = True
    __repr__ = brief

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        item = _solid(robot, "item", self.item)
        name = self.name or f"{self.item} on {self.to}"
        if self.to != GROUND_NAME:
            _solid(robot, "to", self.to)
        own = placement(name, self.position, self.rotation)
        held = _pose(seen, item, self.fraction) @ own
        if self.to != GROUND_NAME:
            held = _pose(seen, robot[self.to], self.to_fraction).inverse() @ held
        return robot.adding(
            Closure(
                name,
                on=self.to,
                to=self.item,
                joint=self.joint,
                fraction=self.to_fraction,
                position=np.asarray(held.position),
                rotation=np.asarray(held.rotation),
                to_fraction=self.fraction,
                to_position=self.position,
                to_rotation=self.rotation,
            )
        )


@dataclass(frozen=True)
class Release(AbstractEdit):
    """Let go of something: of a rod or body, which then floats with all that hangs on it; or of a load.

    Of a body that floats already, closures that hold it are taken away. Any other item (a closure, a wrench,
    a tendon, an imposed coordinate) is removed.
    """

    name: str

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        item: Any = _known(robot, "name", self.name)
        if not isinstance(item, Rod | Body):
            return robot.removing(self.name)
        if isinstance(item.joint, Free) or item.parent is None:
            held = [
                one.name
                for one in robot.items
                if isinstance(one, Closure | Connection) and self.name in one.refers_to
            ]
            if not held or item.parent is None:
                need = "something that is held" + (f" (by one of {held})" if held else "")
                raise DescriptionError("Release", "name", self.name, need)
            return robot.removing(*held)
        zero = (0.0, 0.0, 0.0)
        floating = replace(
            item,
            parent=GROUND_NAME,
            link=None,
            fraction=1.0,
            position=zero,
            rotation=zero,
            joint=Free(),
            joint_position=zero,
            joint_rotation=zero,
        )
        return robot.replacing(floating)


@dataclass(frozen=True, init=False)
class Add(AbstractEdit):
    """Further items. Those that hang on others move with them: their joints are at rest."""

    items: tuple[Item, ...]

    adds: ClassVar[bool] = True

    def __init__(self, *items: Item) -> None:
        object.__setattr__(self, "items", items)

    def __repr__(self) -> str:
        return f"Add({', '.join(map(repr, self.items))})"

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        return robot.adding(*self.items)


@dataclass(frozen=True, init=False)
class Remove(AbstractEdit):
    """Take the named items away, and everything that hangs on them."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)

    def __repr__(self) -> str:
        return f"Remove({', '.join(map(repr, self.names))})"

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        for name in self.names:
            _known(robot, "names", name)
        return robot.removing(*self.names)


@dataclass(frozen=True)
class Lock(AbstractEdit):
    """Hold the joint of an item where it is now.

    Its coordinates are imposed by items called "NAME locked" (with a number where there are several), whose
    efforts the result tells; ball joints and floating items are held by a closure of that name.
    """

    name: str

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        item: Any = _solid(robot, "name", self.name)
        if not isinstance(item, Rod | Body) or isinstance(item.joint, Fixed):
            raise DescriptionError(
                "Lock", "name", self.name, "a rod or a body on a joint that moves"
            )
        if isinstance(item.joint, Free | Spherical):
            at = 0.0 if isinstance(item, Rod) else 1.0
            parent = item.parent or GROUND_NAME
            held = Attach(self.name, parent, Fixed(), f"{self.name} locked", at, item.fraction)
            return held.applied(robot, seen)
        values = np.atleast_1d(np.asarray(seen.joint(item.joint_name or item.name)[0]))
        several = len(values) > 1
        return robot.adding(
            *(
                PrescribedCoordinate(
                    f"{self.name} locked" + (f" {k}" if several else ""),
                    on=self.name,
                    value=float(value),
                    coordinate=k,
                )
                for k, value in enumerate(values)
            )
        )


@dataclass(frozen=True)
class Unlock(AbstractEdit):
    """Let a joint move again that :class:`Lock` holds."""

    name: str

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        own = f"{self.name} locked"
        held = [
            item.name
            for item in robot.items
            if isinstance(item, PrescribedCoordinate | Closure)
            and (item.name == own or item.name.rpartition(" ")[0] == own)
        ]
        if not held:
            locked = [
                item.name.partition(" locked")[0]
                for item in robot.items
                if isinstance(item, PrescribedCoordinate | Closure) and " locked" in item.name
            ]
            need = "one of: " + (", ".join(locked) or "none: no joint is locked")
            raise DescriptionError("Unlock", "name", self.name, need)
        return robot.removing(*held)


@dataclass(frozen=True, init=False)
class Change(AbstractEdit):
    """Other values of some fields of an item: ``Change("tool", mass=0.2)``."""

    name: str
    fields: Mapping[str, Any]

    def __init__(self, name: str, /, **values: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "fields", values)

    def __repr__(self) -> str:
        words = [f"{key}={short(value)}" for key, value in self.fields.items()]
        return f"Change({', '.join([repr(self.name), *words])})"

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        item: Any = _known(robot, "name", self.name)
        known = [own.name for own in fields(item) if own.name != "name"]
        for key in self.fields:
            if key not in known:
                raise DescriptionError(self.name, "Change", key, "one of: " + ", ".join(known))
        return robot.replacing(replace(item, **self.fields))


def _known(robot: Robot, what: str, name: str) -> Item:
    names = [item.name for item in robot.items]
    if name not in names:
        raise DescriptionError(robot.name, what, name, "one of: " + ", ".join(names))
    return robot[name]


def _solid(robot: Robot, what: str, name: str) -> Solid:
    item = _known(robot, what, name)
    if not isinstance(item, Solid):
        known = ", ".join(one.name for one in robot.items if isinstance(one, Solid))
        raise DescriptionError(robot.name, what, name, f"a rod, body or marker, one of: {known}")
    return item


def _pose(seen: Sight, item: Item, fraction: float) -> Pose:
    return seen.pose(item.name, fraction if isinstance(item, Rod) else None)
