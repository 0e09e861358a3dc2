"""A robot as a graph of named items, checked when it is described."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, get_args

import jax
import numpy as np

from supple.brief import short
from supple.errors import DescriptionError
from supple.model.model import Model
from supple.numeric import check_vector
from supple.robot.actuators import Chamber, Motor, Spring, Tendon
from supple.robot.checks import GROUND_NAME, check_printable
from supple.robot.controller import ContinuousController, Controller
from supple.robot.custom import AbstractLineLoad, AbstractLoad
from supple.robot.items import (
    Body,
    Closure,
    Connection,
    KnifeEdge,
    Marker,
    PrescribedCoordinate,
    Rod,
    RollingContact,
    Solid,
)
from supple.robot.loads import (
    ActiveStress,
    Buoyancy,
    DistributedLoad,
    Drag,
    PlaneFriction,
    Swimming,
    Wrench,
)
from supple.robot.surfaces import on_surfaces

Item = (
    Rod | Body | Marker | Closure | Connection | PrescribedCoordinate | KnifeEdge | RollingContact
    | Tendon | Chamber | Motor | Spring
    | Wrench | PlaneFriction | ActiveStress | DistributedLoad | Drag | Buoyancy | Swimming | Controller
    | ContinuousController
    | AbstractLoad | AbstractLineLoad
)  # fmt: skip

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
DEFAULT_ACCURACY = 1e-3
MOST_ENTRIES = 100_000_000
"""Numbers in the arrays of all rods together."""
MOST_ITEMS = 5000
"""Items of a robot: matrices of so many bodies just fit into a machine."""


@dataclass(frozen=True, init=False)
class Robot:
    """Named rods, bodies, joints, actuators and loads under ``gravity`` (m/s², (3,)); immutable.

    >>> robot = Robot(
    ...     Rod("arm", length=0.5, section=Circle(2e-3), material=Material(E=2e11, density=7800)),
    ...     Body("tool", parent="arm", mass=0.05),
    ...     Wrench("pull", on="tool", force=(0, 1, 0)),
    ... )
    """

    items: tuple[Item, ...]
    gravity: Any
    name: str

    def __init__(self, *items: Item, gravity: Any = STANDARD_GRAVITY, name: str = "robot") -> None:
        object.__setattr__(self, "items", on_surfaces(items))
        object.__setattr__(self, "gravity", gravity)
        object.__setattr__(self, "name", name)
        if not isinstance(name, str):
            raise DescriptionError("robot", "name", name, "a text")
        check_printable("robot", "name", name)
        check_vector(name, "gravity", gravity, (3,))
        _check_graph(self)

    def __repr__(self) -> str:
        lines = [repr(item) for item in self.items]
        if self.gravity is not STANDARD_GRAVITY:
            lines.append(f"gravity={short(self.gravity)}")
        return (
            "Robot(\n" + "".join(f"    {line},\n" for line in [*lines, f"name={self.name!r}"]) + ")"
        )

    def __eq__(self, other: object) -> bool:
        """Whether all is the same: names, numbers (however they are written), laws, and the order."""
        return _same(self, other) if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, *(item.name for item in self.items)))

    @property
    def solids(self) -> tuple[Solid, ...]:
        """Rods, bodies and markers, each after its parent."""
        by_name = {i.name: i for i in self.items if isinstance(i, Rod | Body | Marker)}
        ordered: dict[str, Solid] = {}
        for item in by_name.values():
            way: list[Solid] = []  # from an item towards the ground, as far as it is new
            above: Solid | None = item
            while above is not None and above.name not in ordered:
                way.append(above)
                above = by_name.get(above.parent or GROUND_NAME)
            ordered |= {new.name: new for new in reversed(way)}
        return tuple(ordered.values())

    def __getitem__(self, name: str) -> Item:
        """The item of that name."""
        if name not in self._by_name:
            raise DescriptionError(self.name, "item", name, f"one of {[*self._by_name]}")
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Item]:
        return {item.name: item for item in self.items}

    def adding(self, *items: Item) -> "Robot":
        """A robot with further items: a grasped object, a tool, a load."""
        return Robot(*self.items, *items, gravity=self.gravity, name=self.name)

    def removing(self, *names: str) -> "Robot":
        """A robot without the named items and everything that hangs on them."""
        for name in names:
            self[name]
        gone = set(names)
        for item in self.solids:
            if item.parent in gone:
                gone.add(item.name)
        kept = [
            item
            for item in self.items
            if item.name not in gone and not gone.intersection(getattr(item, "holds", ()))
        ]
        return Robot(*kept, gravity=self.gravity, name=self.name)

    def replacing(self, *items: Item) -> "Robot":
        """A robot with the items of the same names replaced."""
        new = {item.name: item for item in items}
        for name in new:
            self[name]
        kept = [new.get(item.name, item) for item in self.items]
        return Robot(*kept, gravity=self.gravity, name=self.name)

    def build(self, accuracy: float = DEFAULT_ACCURACY) -> Model:
        """The immutable model that everything else computes with.

        ``accuracy`` (displacement error over size) settles what rods leave to "auto".
        """
        from supple.robot.build import build_model
        from supple.robot.cutting import cut_open

        items = [i.resolved(accuracy) if isinstance(i, Rod) else i for i in self.items]
        return build_model(Robot(*cut_open(items), gravity=self.gravity, name=self.name))


def _check_connected(item: Solid, reached: set[str]) -> None:
    """Raise unless some connection reaches an item without a parent."""
    if isinstance(item, Marker) or item.name not in reached:
        need = f"a parent, such as {GROUND_NAME!r}" + (
            "" if isinstance(item, Marker) else ", or a Connection that reaches it"
        )
        raise DescriptionError(item.name, "parent", None, need)


def _same(a: Any, b: Any) -> bool:
    """Equality of descriptions; vectors may be tuples, lists or arrays."""
    if isinstance(a, _VECTOR) and isinstance(b, _VECTOR):
        if isinstance(a, np.ndarray | jax.Array) or isinstance(b, np.ndarray | jax.Array):
            return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if is_dataclass(a) and type(a) is type(b):
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)


_VECTOR = (tuple, list, np.ndarray, jax.Array)


def _check_graph(robot: Robot) -> None:
    if len(robot.items) > MOST_ITEMS:
        raise DescriptionError(robot.name, "items", len(robot.items), f"at most {MOST_ITEMS}")
    names: set[str] = set()
    for given in robot.items:
        if not isinstance(given, Item):
            known = ", ".join(kind.__name__ for kind in get_args(Item))
            raise DescriptionError(robot.name, "items", given, f"items, each one of: {known}")
        if given.name in names:
            raise DescriptionError(given.name, "name", given.name, "a name used only once")
        names.add(given.name)
    solids = {i.name: i for i in robot.items if isinstance(i, Solid)}
    entries = sum(item.entries for item in robot.items if isinstance(item, Rod))
    if entries > MOST_ENTRIES:
        need = f"fewer rods, nodes or modes: arrays of at most {MOST_ENTRIES:.0e} numbers"
        raise DescriptionError(robot.name, "items", entries, need)
    if not any(isinstance(i, Rod | Body) for i in solids.values()):
        raise DescriptionError(robot.name, "items", len(robot.items), "at least one rod or body")
    motors = {i.name: i for i in robot.items if isinstance(i, Motor)}
    reached = {name for i in robot.items if isinstance(i, Connection) for name in i.holds}
    joints = {i.name for i in robot.items if isinstance(i, Closure | Connection)}
    joints |= {i.joint_name for i in robot.items if isinstance(i, Rod | Body) and i.joint_name}
    for given in robot.items:
        item: Any = given
        if isinstance(item, Connection):
            item = item.closure(on_rod=isinstance(solids.get(item.to), Rod))
        if isinstance(item, Solid):
            if item.parent is None:
                _check_connected(item, reached)
                continue
            _check_target(item.name, "parent", item.parent, item.fraction, "place", solids)
        elif isinstance(item, Closure | Spring):
            _check_target(item.name, "on", item.on, item.fraction, "place", solids)
            _check_target(item.name, "to", item.to, item.to_fraction, "place", solids)
            if (
                item.on == item.to
                and item.fraction == item.to_fraction
                and isinstance(item, Closure)
            ):
                need = "another frame than the one it starts on"
                raise DescriptionError(item.name, "to", item.to, need)
        elif not (isinstance(item, PrescribedCoordinate | Motor) and item.on in joints):
            fraction = (
                item.fraction
                if isinstance(
                    item, Wrench | PlaneFriction | KnifeEdge | RollingContact | AbstractLoad
                )
                else 1.0
            )
            held = item.items if isinstance(item, Tendon) else item.holds
            for target in held:
                _check_target(item.name, "on", target, fraction, item.needs, solids)
        if isinstance(item, Tendon) and item.winch is not None and item.winch not in motors:
            known = ", ".join(motors) or "none: the robot has no motors"
            raise DescriptionError(item.name, "winch", item.winch, f"a motor, one of: {known}")
    good = {
        GROUND_NAME,
        None,
    }  # what is known to lead to the ground, or to an item without a parent
    for name in solids:
        seen: dict[str | None, None] = {}
        above: str | None = name
        while above not in good:
            if above in seen:
                cycle = " -> ".join(map(str, [*seen, above]))
                raise DescriptionError(name, "parent", cycle, "parents that lead to the ground")
            seen[above] = None
            above = solids[str(above)].parent
        good |= set(seen)


def _check_target(
    item: str, field: str, target: str, fraction: float, needs: str, solids: dict[str, Solid]
) -> None:
    """Raise unless an item can be on another: on a "rod", a "solid", or a "place" (also the ground)."""
    if target not in solids and (target != GROUND_NAME or needs != "place"):
        known = ", ".join([*solids] + ([GROUND_NAME] if needs == "place" else []))
        raise DescriptionError(item, field, target, f"one of: {known}")
    if needs == "rod" and not isinstance(solids[target], Rod):
        known = ", ".join(name for name, solid in solids.items() if isinstance(solid, Rod))
        raise DescriptionError(item, field, target, f"a rod, one of: {known}")
    if fraction != 1.0 and not isinstance(solids.get(target), Rod):
        where = "to_fraction" if field == "to" else "fraction"
        raise DescriptionError(item, where, fraction, f"a rod to be on; {target!r} is not one")
