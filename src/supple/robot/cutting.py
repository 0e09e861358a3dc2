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
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.robot.actuators import Motor
from supple.robot.checks import GROUND_NAME
from supple.robot.closing import closing_rows, keeps_coordinates
from supple.robot.items import Body, Closure, Connect, Marker, Prescribe, Rod
from supple.robot.joint import (
    AbstractJointSpec,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Prismatic,
    Revolute,
    Spherical,
)
from supple.robot.placement import unit_axis
from supple.robot.robot import Item


def cut_open(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items with every :class:`Connect` made either the joint of an item or a :class:`Closure`."""
    items = tuple(items)
    solids: dict[str, Any] = {i.name: i for i in items if isinstance(i, Rod | Body | Marker)}
    waiting = {name for name, item in solids.items() if item.parent is None}
    connections = {i.name: i for i in items if isinstance(i, Connect)}
    driven = {i.on for i in items if isinstance(i, Prescribe | Motor)}
    depth = {GROUND_NAME: 0}
    for name in solids:
        if name not in waiting:
            _add_depth(solids, name, depth)
    carriers: set[str] = set()
    while waiting:
        reaching = [
            (_worth(c, driven, depth), c, child)
            for c in connections.values()
            if (child := _carried(c, solids, waiting)) is not None
        ]
        if not reaching:
            # Nothing leads on: the first that waits floats, and others may hang on it.
            name = next(name for name in solids if name in waiting)
            solids[name] = replace(solids[name], parent=GROUND_NAME, joint=Free())
            depth[name] = 1
        else:
            _, connection, name = max(reaching, key=lambda found: found[0])
            solids[name] = _hung(_closure(connection, solids), solids[name])
            depth[name] = depth[solids[name].parent] + 1
            carriers.add(connection.name)
        waiting.remove(name)
    for connection in connections.values():
        if connection.cut is False and connection.name not in carriers:
            need = "None or True: no item without a parent can hang on this joint"
            raise DescriptionError(connection.name, "cut", False, need)
    kept: list[Item] = []
    for item in items:
        if isinstance(item, Connect):
            if item.name not in carriers:
                kept.append(_closure(item, solids))
        else:
            kept.append(solids.get(item.name, item))
    return tuple(kept)


def _closure(connection: Connect, solids: dict[str, Any]) -> Closure:
    return connection.closure(on_rod=isinstance(solids.get(connection.to), Rod))


def _add_depth(solids: dict[str, Any], name: str, depth: dict[str, int]) -> None:
    """Number an item, and those it is on, by how many are between it and the ground, or what waits."""
    above = []
    while name not in depth and solids[name].parent is not None:
        above.append(name)
        name = solids[name].parent
    for count, own in enumerate(reversed(above), start=depth.get(name, 0) + 1):
        depth[own] = count


def _worth(
    c: Connect, driven: set[str | None], depth: dict[str, int]
) -> tuple[bool, bool, int, int]:
    """What speaks for carrying an item by this joint, strongest first."""
    keeps = c.name in driven or keeps_coordinates(c.joint)
    held = 6 if keeps else len(closing_rows(c.name, c.joint, 1.0))
    nearest = min(depth[name] for name in (c.on, c.to) if name in depth)
    return c.cut is False, keeps, held, -nearest


def _carried(c: Connect, solids: dict[str, Any], waiting: set[str]) -> str | None:
    """The waiting item that a connection could carry now; None if there is none."""
    if c.cut or (c.on in waiting) == (c.to in waiting):
        return None
    forward = c.to in waiting
    name, at = (c.to, c.to_at) if forward else (c.on, c.at)
    if isinstance(solids[name], Rod) and at != 0.0:
        return None
    return name if forward or _reversed(c.joint) is not None else None


def _hung(c: Closure, item: Any) -> Any:
    """The item on the joint of a connection, given as a closure."""
    if c.to == item.name:
        return replace(
            item,
            parent=c.on,
            at=c.at,
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
        at=c.to_at,
        position=c.to_position,
        rotation=c.to_rotation,
        joint=_reversed(c.joint),
        joint_position=c.position,
        joint_rotation=c.rotation,
        joint_name=c.name,
    )


def _reversed(joint: AbstractJointSpec) -> AbstractJointSpec | None:
    """The joint from its outer to its inner frame, with the same coordinates; None if there is none."""
    if isinstance(joint, Fixed | Spherical):
        return joint
    if isinstance(joint, Revolute | Prismatic | Helical | Cylindrical):
        axis = -np.asarray(unit_axis("connection", "joint.axis", joint.axis))
        return replace(joint, axis=tuple(axis))
    return None
