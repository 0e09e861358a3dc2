"""Numbers over time: what each item tells when it is picked, and the plots beside the picture."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from supple.model.joints import (
    CylindricalJoint,
    HelicalJoint,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    UniversalJoint,
)
from supple.robot.items import Body, Marker, Rod
from supple.view.places import Places

UNITS: dict[type, tuple[str, ...]] = {
    RevoluteJoint: ("rad",),
    PrismaticJoint: ("m",),
    HelicalJoint: ("rad",),
    CylindricalJoint: ("rad", "m"),
    UniversalJoint: ("rad", "rad"),
    PlanarJoint: ("m", "m", "rad"),
}
"""Units of the coordinates of joints; those of others are no plain numbers."""
XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class Number:
    """A number of an item over time, (t, k), its unit, and the names of its k parts if there are several."""

    item: str
    name: str
    unit: str
    values: np.ndarray
    parts: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Plot:
    """Curves (t,) of one unit, by name."""

    title: str
    unit: str
    curves: dict[str, np.ndarray]


def numbers_of(places: Places) -> list[Number]:
    """What each item tells."""
    return [*_of_frames(places), *_of_joints(places), *_of_drives(places), *_of_closures(places)]


def _of_frames(places: Places) -> Iterator[Number]:
    for item in places.robot.items:
        if isinstance(item, Rod | Body | Marker):
            what = "tip" if isinstance(item, Rod) else "position"
            position = np.asarray(places.result.poses[item.name].position)
            yield Number(item.name, what, "m", position, XYZ)


def _of_joints(places: Places) -> Iterator[Number]:
    result = places.result
    for slot in result.model.topology.joint_slots:
        group = result.model.groups[slot.group]
        units = UNITS.get(type(getattr(group, "joint", None)), ())
        for column, unit in enumerate(units):
            name = "joint" if len(units) == 1 else f"joint {column + 1}"
            values = result.q[:, slot.q_start + column]
            yield Number(slot.name, name, unit, values[:, None])


_DRIVES = {
    "tendon": (("length", "m", 1.0), ("tension", "N", 1.0)),
    "spring": (("length", "m", 1.0), ("tension", "N", 1.0)),
    "chamber": (("volume", "mL", 1e6), ("pressure", "kPa", 1e-3)),
    "motor": (("coordinate", "rad, m", 1.0), ("torque", "N m, N", 1.0)),
}


def _of_drives(places: Places) -> Iterator[Number]:
    own = places.result.model.transmissions
    for name, kind in zip(own.names, own.kinds, strict=True):
        if kind not in _DRIVES:
            continue
        for (what, unit, factor), values in zip(
            _DRIVES[kind], getattr(places.result, kind)(name)[:2], strict=True
        ):
            yield Number(name, what, unit, factor * np.asarray(values)[:, None])


def _of_closures(places: Places) -> Iterator[Number]:
    own = places.result.model.closures
    needed = [name for k, name in enumerate(own.names) if k in own.joint_of_row]
    for name in needed:  # of others no wrench is known
        wrench = places.result.closure(name)
        yield Number(name, "force", "N", wrench[:, 3:], XYZ)
        yield Number(name, "moment", "N m", wrench[:, :3], XYZ)


def plots_of(places: Places, *, energies: bool = True) -> list[Plot]:
    """What changes most tellingly: what drives the robot, how it moves, its energies."""
    numbers, found = numbers_of(places), []
    for title, name, unit in (
        ("Tensions", "tension", "N"),
        ("Pressures", "pressure", "kPa"),
        ("Motors", "torque", "N m, N"),
        ("Joints", "joint", "rad"),
        ("Slides", "joint", "m"),
    ):
        curves = {
            number.item if number.name == name else f"{number.item} {number.name[6:]}": values
            for number in numbers
            if number.name.split()[0] == name and number.unit == unit
            for values in number.values.T
        }
        if curves:
            found.append(Plot(title, unit, curves))
    tips = [number for number in numbers if number.parts == XYZ and number.unit == "m"]
    if tips:
        tip = tips[-1]
        found.append(
            Plot(f"Position of {tip.item}", "m", dict(zip(XYZ, tip.values.T, strict=True)))
        )
    forces = [number for number in numbers if number.name == "force"]
    if forces:
        sizes = {force.item: np.linalg.norm(force.values, axis=1) for force in forces}
        found.append(Plot("Forces of closures", "N", sizes))
    if energies:
        own = places.result.energies
        names = ("kinetic", "elastic", "potential", "total")
        curves = {name: np.asarray(getattr(own, name)) for name in names}
        found.append(Plot("Energy", "J", curves))
    return found
