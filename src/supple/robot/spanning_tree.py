"""Where a robot drawn as a graph is cut: which connections carry items and which close loops.

The tree grows from the ground and from everything that has a parent. Of all connections that reach an item
without one it takes next the one that must not be cut, then one whose joint keeps coordinates of its own (a
motor, a spring, a screw), then the one that would need the most equations as a closure (so that ball joints
are cut before hinges, and hinges before clamps), then the one nearest to the ground. A rod is carried by its
first section only, because its shape is measured from there. An item that nothing can carry floats, and all
its connections close loops; to have a platform float instead of being carried by a limb, give it
``joint=Free()`` and a parent.
"""

from collections.abc import Iterable
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

from supple.errors import DescriptionError
from supple.robot.actuators import Motor
from supple.robot.checks import GROUND_NAME
from supple.robot.graph import Item
from supple.robot.items import Body, Closure, Connection, Marker, PrescribedCoordinate, Rod
from supple.robot.joint import Free


def cut_open(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items with every :class:`Connection` made either the joint of an item or a :class:`Closure`."""
    items = tuple(items)
    solids: dict[str, Any] = {i.name: i for i in items if isinstance(i, Rod | Body | Marker)}
    waiting = {name for name, item in solids.items() if item.parent is None}
    connections = {i.name: i for i in items if isinstance(i, Connection)}
    driven = {i.on for i in items if isinstance(i, PrescribedCoordinate | Motor)}
    depth = {GROUND_NAME: 0}
    for name in solids:
        if name not in waiting:
            _add_depth(solids, name, depth)
    around: dict[str, list[tuple[int, Connection]]] = {}
    for order, c in enumerate(connections.values()):
        for name in {c.on, c.to}:
            around.setdefault(name, []).append((order, c))
    carriers: set[str] = set()
    reaching: list[tuple[tuple[int, ...], Connection, str]] = []

    def reach(placed: str) -> None:
        """Note the connections that lead from a placed item to one that waits; the best comes first."""
        for order, c in around.get(placed, ()):
            child = _carried(c, solids, waiting)
            if child is not None:
                heappush(reaching, ((*_cost(c, driven, depth[placed]), order), c, child))

    for name in depth:
        reach(name)
    in_order = iter([name for name in solids if name in waiting])
    while waiting:
        while reaching and reaching[0][2] not in waiting:
            heappop(reaching)
        if not reaching:
            # Nothing leads on: the first that waits floats, and others may hang on it.
            name = next(name for name in in_order if name in waiting)
            solids[name] = replace(solids[name], parent=GROUND_NAME, joint=Free())
            depth[name] = 1
        else:
            _, connection, name = heappop(reaching)
            solids[name] = _hung(_closure(connection, solids), solids[name])
            depth[name] = depth[solids[name].parent] + 1
            carriers.add(connection.name)
        waiting.remove(name)
        reach(name)
    for connection in connections.values():
        if connection.cut is False and connection.name not in carriers:
            need = "None or True: no item without a parent can hang on this joint"
            raise DescriptionError(connection.name, "cut", False, need)
    kept: list[Item] = []
    for item in items:
        if isinstance(item, Connection):
            if item.name not in carriers:
                kept.append(_closure(item, solids))
        else:
            kept.append(solids.get(item.name, item))
    return tuple(kept)


def _closure(connection: Connection, solids: dict[str, Any]) -> Closure:
    return connection.closure(on_rod=isinstance(solids.get(connection.to), Rod))


def _add_depth(solids: dict[str, Any], name: str, depth: dict[str, int]) -> None:
    """How far an item is from the ground, or from one that waits; and those it hangs on."""
    way = []
    while name not in depth and solids[name].parent is not None:
        way.append(name)
        name = solids[name].parent
    start = depth.get(name, 0)
    for count, item in enumerate(reversed(way), start + 1):
        depth[item] = count


def _cost(c: Connection, driven: set[str | None], nearest: int) -> tuple[bool, bool, int, int]:
    """What speaks against carrying an item by this joint, strongest first."""
    keeps = c.name in driven or c.joint.keeps_coordinates()
    held = 6 if keeps else len(c.joint.closing_rows(c.name, 1.0))
    return c.cut is not False, not keeps, -held, nearest


def _carried(c: Connection, solids: dict[str, Any], waiting: set[str]) -> str | None:
    """The waiting item that a connection could carry now; None if there is none."""
    if c.cut or (c.on in waiting) == (c.to in waiting):
        return None
    forward = c.to in waiting
    name, fraction = (c.to, c.to_fraction) if forward else (c.on, c.fraction)
    if isinstance(solids[name], Rod) and fraction != 0.0:
        return None
    return name if forward or c.joint.reversed() is not None else None


def _hung(c: Closure, item: Any) -> Any:
    """The item on the joint of a connection, given as a closure."""
    if c.to == item.name:
        return replace(
            item,
            parent=c.on,
            fraction=c.fraction,
            position=c.position,
            rotation=c.rotation,
            joint=c.joint,
            joint_position=c.to_position,
            joint_rotation=c.to_rotation,
            joint_name=c.name,
        )
    return replace(
        item,
        parent=c.to,
        fraction=c.to_fraction,
        position=c.to_position,
        rotation=c.to_rotation,
        joint=c.joint.reversed(),
        joint_position=c.position,
        joint_rotation=c.rotation,
        joint_name=c.name,
    )
