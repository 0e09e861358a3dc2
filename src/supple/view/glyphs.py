"""Small things that show what joins and drives a robot: hinges, motors, closures, discs, clamps, wheels."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from supple.lie import Pose
from supple.robot.actuators import Motor, Tendon
from supple.robot.checks import GROUND_NAME
from supple.robot.items import (
    Body,
    Closure,
    Connection,
    KnifeEdge,
    Place,
    PrescribedCoordinate,
    Rod,
    RollingContact,
)
from supple.robot.joint import (
    AbstractJointSpec,
    Cylindrical,
    Driven,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    XJoint,
)
from supple.robot.meshes import (
    SQUARE,
    Mesh,
    ball,
    circle,
    encloses,
    joined,
    leaves_at,
    nearest_point,
    prism,
)
from supple.robot.placement import along, placement, unit_axis
from supple.view.places import Places, Strut, fractions, moved

SMALL = 0.012
"""Half length of a joint over the size of the robot."""


def glyphs_of(places: Places, surfaces: Mapping[str, list[Mesh]]) -> Iterator[Strut]:
    """All of them; ``surfaces`` are those of the bodies, in their own frames."""
    driven = {
        item.on
        for item in places.robot.items
        if isinstance(item, Motor | PrescribedCoordinate) and item.on
    }
    for item in places.robot.items:
        if isinstance(item, Rod | Body) and item.parent is not None:
            yield from _carried(places, item, driven, surfaces)
            yield from _reaching(places, surfaces, item.name, item.place)
            own = Place(item.name, 1.0, item.joint_position, (0.0, 0.0, 0.0))
            if isinstance(item, Body):
                yield from _reaching(places, surfaces, item.name, own)
        elif isinstance(item, Closure | Connection):
            yield from _closed(places, item, driven)
            inner, outer = _ends(places, item)
            yield from _reaching(places, surfaces, item.name, inner)
            yield from _reaching(places, surfaces, item.name, outer)
        elif isinstance(item, RollingContact | KnifeEdge):
            yield _contact(places, item)
        elif isinstance(item, Tendon) and item.winch is not None:
            yield _drum(places, item)
    yield from _discs(places)


def _bar(axis: Any, radius: float, length: float, outline: np.ndarray | None = None) -> Mesh:
    """A round bar, or one over another outline, along an axis."""
    vertices, faces = prism(circle() if outline is None else outline)
    way = axis if isinstance(axis, str) else np.asarray(axis, dtype=float).tolist()
    turn = np.asarray(placement("bar", np.zeros(3), along(way)).rotation)
    return (vertices * np.array([length, radius, radius])) @ turn.T, faces


def _ball(radius: float) -> Mesh:
    vertices, faces = ball()
    return radius * vertices, faces


def _joint(
    name: str,
    joint: AbstractJointSpec,
    size: float,
    inner: Pose,
    outer: Pose,
    kind: str,
    hidden: Callable[[np.ndarray], float] = lambda axis: 0.0,
) -> Iterator[Strut]:
    """What a joint looks like: a pin, a slide, a ball, crossed pins, a plate.

    ``hidden`` tells how much of a pin along an axis is inside bodies: it comes out of their surface.
    """
    if isinstance(joint, Fixed | Free | Driven):
        return
    axis: Any = unit_axis(name, "axis", getattr(joint, "axis", "z"))
    thick = 1.3 if kind == "motor" else 1.0
    if isinstance(joint, Revolute):
        inside = hidden(axis)
        pin = _bar(axis, 0.7 * thick * size, max(2.6 * size, 2 * inside + 0.8 * size))
        core = _bar(axis, 0.35 * size, max(3.6 * size, 2 * inside + 1.6 * size))
        yield Strut(name, kind, joined([pin, core]), outer)
    elif isinstance(joint, Prismatic):
        yield Strut(name, kind, _bar(axis, 1.6 * thick * size, 2.4 * size, SQUARE), inner)
        yield Strut(name, kind, _bar(axis, 0.8 * size, 5.0 * size, SQUARE), outer)
    elif isinstance(joint, Helical | Cylindrical):
        yield Strut(name, kind, _bar(axis, 0.9 * thick * size, 2.0 * size), inner)
        yield Strut(name, kind, _bar(axis, 0.45 * size, 5.0 * size), outer)
    elif isinstance(joint, Universal):
        for field, pose in (("first", inner), ("second", outer)):
            cross = unit_axis(name, field, getattr(joint, field))
            yield Strut(name, kind, _bar(cross, 0.4 * size, 3.0 * size), pose)
    elif isinstance(joint, Spherical):
        yield Strut(name, kind, _ball(thick * size), outer)
    elif isinstance(joint, XJoint):
        aside = np.cross(axis, unit_axis(name, "along", joint.along)) * float(joint.bar) / 2
        pins = [
            (vertices + side * aside, faces)
            for vertices, faces in [_bar(axis, 0.5 * thick * size, 2.4 * size)]
            for side in (-1.0, 1.0)
        ]
        for pose in (inner, outer):
            yield Strut(name, kind, joined(pins), pose)
    elif isinstance(joint, Planar):
        normal = unit_axis(name, "normal", joint.normal)
        yield Strut(name, kind, _bar(normal, 6.0 * size, 0.3 * size, SQUARE), inner)


def _size(places: Places, *items: str) -> float:
    """Half length of a joint: what can be seen, and more than the rods it joins."""
    return max([SMALL * places.size] + [1.15 * places.radius(name) for name in items])


def _outer(places: Places, item: Rod | Body) -> Pose:
    """The frame of an item's joint that moves with the item."""
    own = placement(item.name, item.joint_position, item.joint_rotation)
    start = places.pose(item.name, 0.0 if isinstance(item, Rod) else 1.0)
    return moved(start, own)


def _carried(
    places: Places, item: Rod | Body, driven: set[str], surfaces: Mapping[str, list[Mesh]]
) -> Iterator[Strut]:
    """The joint that carries an item; a clamp where a rod is fixed to the ground."""

    def hidden(axis: np.ndarray) -> float:
        own = placement(item.name, item.joint_position, item.joint_rotation)
        place, way = np.asarray(own.position), np.asarray(own.rotation) @ axis
        found = [0.0]
        for mesh in surfaces.get(item.name, ()):
            start = 0.98 * place + 0.02 * mesh[0].mean(
                axis=0
            )  # a joint on the surface is inside too
            if encloses(mesh, start):
                found += [leaves_at(mesh, start, side * way) for side in (1, -1)]
        return max(found)

    inner, outer = places.frame(item.name, item.place), _outer(places, item)
    kind = "motor" if driven & {item.name, item.joint_name or item.name} else "joint"
    size = _size(places, item.name, item.place.parent)
    yield from _joint(item.name, item.joint, size, inner, outer, kind, hidden)
    if isinstance(item, Rod) and isinstance(item.joint, Fixed) and item.parent == GROUND_NAME:
        wide = max(1.8 * places.radius(item.name), SMALL * places.size)
        vertices, faces = _bar("x", wide, 0.4 * wide)
        yield Strut(item.name, "clamp", (vertices - np.array([0.2 * wide, 0.0, 0.0]), faces), inner)


def _ends(places: Places, item: Closure | Connection) -> tuple[Place, Place]:
    """Where a closing joint begins and ends."""
    if isinstance(item, Connection):
        item = item.closure(on_rod=item.to in places.shapes)
    return item.inner, item.outer


def _closed(places: Places, item: Closure | Connection, driven: set[str]) -> Iterator[Strut]:
    inner, outer = (places.frame(item.name, place) for place in _ends(places, item))
    size = _size(places, item.on, item.to)
    kind = "motor" if item.name in driven else "closure"
    if isinstance(item.joint, Fixed):
        yield Strut(item.name, kind, _bar("x", 1.6 * size, 1.6 * size, SQUARE), outer)
    yield from _joint(item.name, item.joint, size, inner, outer, kind)


def _reaching(
    places: Places, surfaces: Mapping[str, list[Mesh]], name: str, place: Place
) -> Iterator[Strut]:
    """A strut from a point of a body's frame to its surface, where the point is outside."""
    meshes = surfaces.get(place.parent)
    if not meshes:
        return
    point = np.asarray(placement(name, place.position, (0.0, 0.0, 0.0)).position, dtype=float)
    if any(encloses(mesh, point) for mesh in meshes):
        return
    feet = [nearest_point(mesh, point) for mesh in meshes]
    foot = min(feet, key=lambda near: float(np.linalg.norm(near - point)))
    length = float(np.linalg.norm(foot - point))
    if length < 1e-3 * places.size:
        return
    vertices, faces = _bar((foot - point) / length, 0.35 * SMALL * places.size, length)
    mesh = (vertices + (foot + point) / 2, faces)
    yield Strut(place.parent, "body", mesh, places.pose(place.parent))


def _contact(places: Places, item: RollingContact | KnifeEdge) -> Strut:
    """A ball or wheel of its radius; a thin blade for an edge."""
    pose = places.pose(item.on, item.fraction)
    place = Pose(pose.rotation, places.point(item.on, item.fraction, item.position))
    if isinstance(item, KnifeEdge):
        across = unit_axis(item.name, "across", item.across)
        size = SMALL * places.size
        return Strut(item.name, "contact", _bar(across, 4 * size, 0.3 * size, SQUARE), place)
    radius = float(item.radius)
    if item.axle is None:
        return Strut(item.name, "contact", _ball(radius), place)
    axle = unit_axis(item.name, "axle", item.axle)
    return Strut(item.name, "contact", _bar(axle, radius, 0.2 * radius), place)


def _drum(places: Places, item: Tendon) -> Strut:
    """The drum of a winch, where its tendon begins."""
    start = places.route(item, 0)[:, 0]
    pose = Pose(places.pose(item.items[0], item.start).rotation, start)
    return Strut(
        str(item.winch), "motor", _bar("y", float(item.drum), 0.8 * float(item.drum)), pose
    )


def _discs(places: Places) -> Iterator[Strut]:
    """Discs on a rod that its tendons pass, a little wider than the farthest of these."""
    wide: dict[tuple[str, float], float] = {}
    for item in places.robot.items:
        if not isinstance(item, Tendon) or item.discs is None:
            continue
        for index, name in enumerate(item.items):
            if name not in places.shapes:
                continue
            u = fractions(item, index)
            for at, offset in zip(u, item.offsets(name, u), strict=True):
                key = name, round(float(at), 6)
                reach = 1.15 * float(np.linalg.norm(offset))
                wide[key] = max(wide.get(key, 1.2 * places.radius(name)), reach)
    for (name, at), radius in wide.items():
        mesh = _bar("x", radius, max(0.12 * radius, 0.004 * places.size))
        yield Strut(name, "disc", mesh, places.pose(name, at))
