"""A robot as a graph: its items, checked, and its solids in the order of a tree."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from supple.errors import DescriptionError
from supple.robot.actuators import Chamber, Motor, Spring, Tendon
from supple.robot.checks import GROUND_NAME
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

Item = (
    Rod | Body | Marker | Closure | Connection | PrescribedCoordinate | KnifeEdge | RollingContact
    | Tendon | Chamber | Motor | Spring
    | Wrench | PlaneFriction | ActiveStress | DistributedLoad | Drag | Buoyancy | Swimming | Controller
    | ContinuousController
    | AbstractLoad | AbstractLineLoad
)  # fmt: skip

MOST_ENTRIES = 100_000_000
"""Numbers in the arrays of all rods together."""
MOST_ITEMS = 5000
"""Items of a robot: matrices of so many bodies just fit into a machine."""


@dataclass(frozen=True)
class Graph:
    """Items under a gravity: what a model is built from, after loops have been cut open."""

    items: tuple[Item, ...]
    gravity: Any
    name: str
    formulation: str = "strain"

    @property
    def in_pieces(self) -> bool:
        """Whether its rods are chains of pieces of constant strain."""
        return self.formulation == "pcs"

    @cached_property
    def solids(self) -> tuple[Solid, ...]:
        """Rods, bodies and markers, each after its parent."""
        return parents_first(self.items)


def parents_first(items: Iterable[Item]) -> tuple[Solid, ...]:
    """Rods, bodies and markers, each after its parent."""
    by_name = {i.name: i for i in items if isinstance(i, Rod | Body | Marker)}
    ordered: dict[str, Solid] = {}
    for item in by_name.values():
        way: list[Solid] = []  # from an item towards the ground, as far as it is new
        above: Solid | None = item
        while above is not None and above.name not in ordered:
            way.append(above)
            above = by_name.get(above.parent or GROUND_NAME)
        ordered |= {new.name: new for new in reversed(way)}
    return tuple(ordered.values())


def check_graph(robot: Graph) -> None:
    """Raise unless names are single, targets exist, and parents lead to the ground."""
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
    reached = {name for i in robot.items if isinstance(i, Connection) for name in i.refers_to}
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
            _check_link(item, solids.get(item.parent))
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
            held = item.items if isinstance(item, Tendon) else item.refers_to
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


def _check_link(item: Solid, parent: Solid | None) -> None:
    """Raise unless the joint of the parent has the part that an item sits on."""
    if item.link is None or (isinstance(parent, Rod | Body) and parent.parent is None):
        return  # no part, or the parent's joint is not known yet
    known = parent.joint.links if isinstance(parent, Rod | Body) else ()
    if item.link not in known:
        need = f"None, or a moving part of the joint of {item.parent!r}: "
        need += " or ".join(map(repr, known)) or "it has none"
        raise DescriptionError(item.name, "link", item.link, need)
    if item.fraction != 1.0:
        raise DescriptionError(item.name, "fraction", item.fraction, "1 on a part of a joint")


def _check_connected(item: Solid, reached: set[str]) -> None:
    """Raise unless some connection reaches an item without a parent."""
    if item.link is not None:
        raise DescriptionError(item.name, "link", item.link, "None, or a parent with such a part")
    if isinstance(item, Marker) or item.name not in reached:
        need = f"a parent, such as {GROUND_NAME!r}" + (
            "" if isinstance(item, Marker) else ", or a Connection that reaches it"
        )
        raise DescriptionError(item.name, "parent", None, need)
