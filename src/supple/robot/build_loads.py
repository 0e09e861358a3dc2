"""From loads as users write them to those of the model."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model.laws import Constant
from supple.model.loads import (
    AbstractLineLoad,
    AbstractPointLoad,
    DeadLine,
    GivenLine,
    GivenLoad,
    InternalStress,
    LineDrag,
    LineLoad,
    PointDrag,
    PointWrench,
    SlidingFriction,
    Wake,
)
from supple.model.model import GROUND, Group, RodGroup
from supple.numeric import asarray, is_traced, stack, times_of
from supple.robot.attachments import Attachment, Attachments, Element
from supple.robot.custom import AbstractLineLoad as UserLineLoad, AbstractLoad
from supple.robot.graph import Graph
from supple.robot.items import Rod
from supple.robot.loads import (
    ActiveStress,
    Buoyancy,
    DistributedLoad,
    Drag,
    PlaneFriction,
    Swimming,
    Wrench,
)
from supple.robot.placement import unit_axis
from supple.section.added import added_mass

PointLoad = Callable[[int, Pose], AbstractPointLoad]
"""A load that waits for its sample and its pose there."""


class Placed(NamedTuple):
    """A load at a point, and whose it is."""

    seat: Attachment
    make: PointLoad
    name: str


def point_loads_of(robot: Graph, seating: Attachments) -> list[Placed]:
    """Loads at points, each with the seat it acts on; the ground does not move, so none act on it."""
    found: list[Placed] = []
    for item in robot.items:
        if isinstance(item, Wrench):
            seat = seating.at_point(item.on, item.fraction, item.position)
            found.append(Placed(seat, _wrench(item), item.name))
        elif isinstance(item, PlaneFriction):
            seat = seating.at_point(item.on, item.fraction, item.position)
            found.append(Placed(seat, _sliding(item), item.name))
        elif isinstance(item, AbstractLoad):
            seat = seating.at_point(item.on, item.fraction, item.position)
            found.append(Placed(seat, _given(item), item.name))
        elif isinstance(item, Drag) and item.on not in seating.starts:
            found.append(Placed(seating.on(item.on), _point_drag(item), item.name))
        elif isinstance(item, Buoyancy) and item.on not in seating.starts:
            seat = seating.at_point(item.on, 1.0, item.position)
            found.append(Placed(seat, _point_buoyancy(item, robot), item.name))
        elif isinstance(item, Swimming):
            found.append(Placed(seating.on(item.on[-1]), _wake(item, seating), item.name))
    return [load for load in found if load.seat.element != GROUND]


def line_loads_of(
    robot: Graph, seating: Attachments, groups: list[Group]
) -> tuple[AbstractLineLoad, ...]:
    """Loads along rods."""
    found: list[AbstractLineLoad] = []
    for item in robot.items:
        kinds = DistributedLoad | Drag | Buoyancy | UserLineLoad
        if not isinstance(item, kinds) or item.on not in seating.starts:
            continue
        found += [_line_load(robot, item, element, groups) for element in seating.rods[item.on]]
    return _batched(found)


def _line_load(robot: Graph, item: Any, element: Element, groups: list[Group]) -> AbstractLineLoad:
    """A load along a rod, or what of it acts on one piece."""
    place = element.group, (element.row,)
    if isinstance(item, DistributedLoad):
        law, names = item.time_law(), (item.name,)
        return LineLoad(*place, None, item.density, law, item.follower, names)
    if isinstance(item, UserLineLoad):
        return GivenLine(*place, None, jax.tree.map(asarray, item))
    if isinstance(item, Drag):
        return LineDrag(*place, None, *_coefficients(item), asarray(item.current))
    group, rod = groups[element.group], element.rod
    assert isinstance(group, RodGroup)
    assert rod is not None
    first, last = element.span or (0.0, 1.0)
    points = np.asarray(group.grid.points)[element.row, : group.grid.weights.shape[1]]
    weight = _displaced(item, rod, first + (last - first) * points)
    return DeadLine(*place, -weight[:, None] * asarray(robot.gravity))


def _batched(loads: list[AbstractLineLoad]) -> tuple[AbstractLineLoad, ...]:
    """Loads of one kind on one group as one."""
    batches: dict[Any, list[AbstractLineLoad]] = {}
    for load in loads:
        alike = jax.tree.structure(_renamed(load, (), ()))
        batches.setdefault(alike, []).append(load)
    found = []
    for batch in batches.values():
        rows = tuple(row for load in batch for row in load.rows)
        names = tuple(n for load in batch if isinstance(load, LineLoad) for n in load.names)
        same = [_renamed(load, rows, names) for load in batch]
        found.append(jax.tree.map(lambda *leaves: stack(leaves), *same))
    return tuple(found)


def _renamed(
    load: AbstractLineLoad, rows: tuple[int, ...], names: tuple[str, ...]
) -> AbstractLineLoad:
    """The load on other rods, of other items."""
    if isinstance(load, LineLoad):
        return dataclasses.replace(load, rows=rows, names=names)
    return dataclasses.replace(load, rows=rows)


def stresses_of(robot: Graph, seating: Attachments) -> tuple[InternalStress, ...]:
    """Internal stresses of rods."""
    found = []
    for item in robot.items:
        if isinstance(item, ActiveStress):
            kinks = times_of(item.name, "kinks", item.kinks)
            found += [
                InternalStress(element.group, element.row, item.stress, kinks, item.name)
                for element in seating.rods[item.on]
            ]
    return tuple(found)


def add_swimming(item: Swimming, seating: Attachments) -> None:
    """Let the rods of a swimmer carry the mass of the fluid around them."""
    for name in item.on:
        pieces = seating.rods[name]
        rod = pieces[0].rod
        assert rod is not None
        if any(row >= 3 for row in pieces[0].strain_field().rows):
            need = "rods that neither stretch nor shear: strains='kirchhoff', 'planar' or 'rigid'"
            raise DescriptionError(item.name, "on", name, need)
        for element in pieces:
            element.added = item.density
        if rod.section is None or added_mass(rod.section, np.zeros(1)) is None:
            need = "rods with circular or elliptic sections"
            raise DescriptionError(item.name, "on", name, need)


def _wrench(item: Wrench) -> PointLoad:
    moment, force = asarray(item.moment), asarray(item.force)
    backend: Any = jnp if is_traced((moment, force)) else np
    value = backend.concatenate([moment, force])
    law, follower, name = item.time_law(), item.follower, item.name
    return lambda sample, offset: PointWrench(sample, offset, value, law, follower, name)


def _given(item: AbstractLoad) -> PointLoad:
    own = jax.tree.map(asarray, item)
    return lambda sample, offset: GivenLoad(sample, offset, own)


def _sliding(item: PlaneFriction) -> PointLoad:
    normal = unit_axis(item.name, "normal", item.normal)
    numbers = [asarray(x) for x in (item.friction, item.damping, item.friction_speed)]
    return lambda sample, offset: SlidingFriction(sample, offset, normal, *numbers)


def _coefficients(item: Drag) -> tuple[Any, Any]:
    return asarray(item.linear) + np.zeros(3), asarray(item.quadratic) + np.zeros(3)


def _point_drag(item: Drag) -> PointLoad:
    linear, quadratic = _coefficients(item)
    current = asarray(item.current)
    return lambda sample, offset: PointDrag(sample, offset, linear, quadratic, current)


def _point_buoyancy(item: Buoyancy, robot: Graph) -> PointLoad:
    if not is_traced(item.volume) and item.volume == 0:
        need = "the volume (m³) that the body displaces"
        raise DescriptionError(item.name, "volume", item.volume, need)
    force = -item.density * item.volume * asarray(robot.gravity)
    backend: Any = jnp if is_traced(force) else np
    value = backend.concatenate([np.zeros(3), force])
    return lambda sample, offset: PointWrench(
        sample, offset, value, Constant(1.0), False, item.name
    )


def _displaced(item: Buoyancy, rod: Rod, u: np.ndarray) -> Any:
    """Mass a meter (kg/m) of the fluid that a rod displaces."""
    if rod.section is None:
        need = "a rod with a section, whose area is known"
        raise DescriptionError(item.name, "on", item.on, need)
    return item.density * asarray(rod.section.moments(u).area)


def _wake(item: Swimming, seating: Attachments) -> PointLoad:
    rod = seating.rods[item.on[-1]][0].rod
    assert rod is not None
    assert rod.section is not None
    tail = item.density * added_mass(rod.section, np.ones(1))[0]
    added = tail[np.array([4, 5]), np.array([4, 5])]
    return lambda sample, offset: Wake(sample, offset, added)
