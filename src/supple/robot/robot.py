"""A robot as a graph of named items, checked when it is described."""

from dataclasses import dataclass
from typing import Any

from supple.errors import DescriptionError
from supple.model.model import Model
from supple.numeric import check_vector
from supple.robot.items import (
    GROUND_NAME,
    Body,
    Chamber,
    Closure,
    Connect,
    Item,
    KnifeEdge,
    Marker,
    Prescribe,
    Rod,
    Rolling,
    Solid,
    Stress,
    Tendon,
    Wrench,
)

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
DEFAULT_ACCURACY = 1e-3


@dataclass(frozen=True, init=False)
class Robot:
    """Named rods, bodies, markers and loads; immutable.

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
        object.__setattr__(self, "items", tuple(items))
        object.__setattr__(self, "gravity", gravity)
        object.__setattr__(self, "name", name)
        check_vector(name, "gravity", gravity, (3,))
        _check_graph(self)

    @property
    def solids(self) -> tuple[Solid, ...]:
        """Rods, bodies and markers, each after its parent."""
        by_name = {i.name: i for i in self.items if isinstance(i, Rod | Body | Marker)}
        ordered: dict[str, Solid] = {}

        def visit(name: str | None) -> None:
            if name is not None and name not in ordered and name != GROUND_NAME:
                visit(by_name[name].parent)
                ordered[name] = by_name[name]

        for name in by_name:
            visit(name)
        return tuple(ordered.values())

    def __getitem__(self, name: str) -> Item:
        """The item of that name."""
        for item in self.items:
            if item.name == name:
                return item
        raise DescriptionError(self.name, "item", name, f"one of {[i.name for i in self.items]}")

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
            if item.name not in gone and not gone.intersection(_held_by(item))
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


def _held_by(item: Item) -> tuple[str, ...]:
    """Names of the items that a load or a closure cannot do without."""
    if isinstance(item, Closure | Connect):
        return item.on, item.to
    if isinstance(item, Tendon):
        return item.rods
    holders = Wrench | Stress | Prescribe | Chamber | KnifeEdge | Rolling
    return (item.on,) if isinstance(item, holders) else ()


def _check_closure(item: Closure, solids: dict[str, Solid]) -> None:
    for field, target, along in (("on", item.on, item.at), ("to", item.to, item.to_at)):
        if target not in solids and target != GROUND_NAME:
            known = ", ".join([*solids, GROUND_NAME])
            raise DescriptionError(item.name, field, target, f"one of: {known}")
        if along != 1.0 and not isinstance(solids.get(target), Rod):
            need = f"a rod to be on; {target!r} is not one"
            raise DescriptionError(item.name, "at" if field == "on" else "to_at", along, need)
    if item.on == item.to and item.at == item.to_at:
        raise DescriptionError(item.name, "to", item.to, "another frame than the one it starts on")


def _check_connected(robot: Robot, item: Solid) -> None:
    """Raise unless some connection reaches an item without a parent."""
    near = [c for c in robot.items if isinstance(c, Connect) and item.name in (c.on, c.to)]
    if isinstance(item, Marker) or not near:
        need = f"a parent, such as {GROUND_NAME!r}" + (
            "" if isinstance(item, Marker) else ", or a Connect that reaches it"
        )
        raise DescriptionError(item.name, "parent", None, need)


def _check_graph(robot: Robot) -> None:
    names: set[str] = set()
    for item in robot.items:
        if not isinstance(item, Item):
            need = (
                "Rod, Body, Marker, Closure, Connect, Prescribe, KnifeEdge, Rolling, Tendon, Chamber, "
                "Wrench or Stress items"
            )
            raise DescriptionError(robot.name, "items", item, need)
        if item.name in names:
            raise DescriptionError(item.name, "name", item.name, "a name used only once")
        names.add(item.name)
    solids = {i.name: i for i in robot.items if isinstance(i, Rod | Body | Marker)}
    if not any(isinstance(i, Rod | Body) for i in solids.values()):
        raise DescriptionError(robot.name, "items", len(robot.items), "at least one rod or body")
    joints = {i.name for i in robot.items if isinstance(i, Closure | Connect)}
    joints |= {i.joint_name for i in robot.items if isinstance(i, Rod | Body) and i.joint_name}
    for item in robot.items:
        if isinstance(item, Closure | Connect):
            on_rod = isinstance(solids.get(item.to), Rod)
            closure = item if isinstance(item, Closure) else item.closure(on_rod=on_rod)
            _check_closure(closure, solids)
            continue
        if isinstance(item, Prescribe) and item.on in joints:
            continue
        if isinstance(item, Tendon):
            for rod in item.rods:
                if not isinstance(solids.get(rod), Rod):
                    known = ", ".join(name for name, s in solids.items() if isinstance(s, Rod))
                    raise DescriptionError(item.name, "on", rod, f"a rod, one of: {known}")
            continue
        placed = isinstance(item, Rod | Body | Marker)
        if isinstance(item, Rod | Body | Marker) and item.parent is None:
            _check_connected(robot, item)
            continue
        target = item.parent if isinstance(item, Rod | Body | Marker) else item.on
        field = "parent" if placed else "on"
        if target not in solids and (target != GROUND_NAME or field == "on"):
            known = ", ".join([*solids] + ([GROUND_NAME] if field == "parent" else []))
            raise DescriptionError(item.name, field, target, f"one of: {known}")
        if isinstance(item, Stress | Chamber) and not isinstance(solids[target], Rod):
            raise DescriptionError(item.name, "on", target, "the name of a rod")
        along = item.at if not isinstance(item, Stress | Prescribe | Chamber) else 1.0
        if along != 1.0 and not isinstance(solids.get(target), Rod):
            raise DescriptionError(item.name, "at", along, f"a rod to be on; {target!r} is not one")
    for name in solids:
        seen = [name]
        parent = solids[name].parent
        while parent is not None and parent != GROUND_NAME:
            if parent in seen:
                cycle = " -> ".join([*seen, parent])
                raise DescriptionError(name, "parent", cycle, "parents that lead to the ground")
            seen.append(parent)
            parent = solids[parent].parent
