"""Joints as files have them."""

from typing import Any

from supple.errors import DescriptionError
from supple.expression import Expression
from supple.files.common import AXIS, KINKS, number
from supple.files.forms import OneOf, Record, record
from supple.files.friction import friction
from supple.files.kinds import (
    Formula,
    Numbers,
)
from supple.robot.formulas import Motion
from supple.robot.joint import (
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

_EACH = Numbers("one number, or one for each coordinate")
_SPRING = {
    "stiffness": _EACH,
    "damping": _EACH,
    "rest": _EACH,
    "friction": friction("one number, or one for each coordinate"),
    "friction_speed": _EACH,
    "lower": _EACH,
    "upper": _EACH,
    "stop_stiffness": number("N m/rad, N/m"),
    "stop_damping": number("N m s/rad, N s/m"),
}


def driven(
    position: Expression | None = None,
    rotation: Expression | None = None,
    kinks: tuple[float, ...] = (),
) -> Driven:
    """A motion prescribed by formulas of t."""
    given = {"position": position, "rotation": rotation}
    motion = Motion(**{name: text for name, text in given.items() if text is not None})
    return Driven(motion, kinks)


def _driven_apart(joint: Driven, item: str, field: str) -> dict[str, Any]:
    if not isinstance(joint.motion, Motion):
        need = "Motion('[x, y, z]', '[rx, ry, rz]'): formulas can be written to a file, functions cannot"
        raise DescriptionError(item, f"{field}.motion", joint.motion, need)
    return {
        "position": joint.motion.position,
        "rotation": joint.motion.rotation,
        "kinks": joint.kinks,
    }


def _vector_of_time(need: str) -> Formula:
    return Formula(f"[…], a formula of t with three entries, {need}", "t", 3)


JOINT = OneOf(
    "a joint",
    {
        "fixed": record(Fixed),
        "revolute": record(Revolute, axis=AXIS, **_SPRING),
        "prismatic": record(Prismatic, axis=AXIS, **_SPRING),
        "helical": record(Helical, axis=AXIS, pitch=number("m/rad"), **_SPRING),
        "cylindrical": record(Cylindrical, axis=AXIS, **_SPRING),
        "universal": record(Universal, first=AXIS, second=AXIS, **_SPRING),
        "spherical": record(Spherical, damping=number("N m s/rad")),
        "planar": record(Planar, normal=AXIS, **_SPRING),
        "x_joint": record(
            XJoint,
            bar=number("m, of the base and of the top"),
            diagonal=number("m, more than the bar"),
            axis=AXIS,
            along=AXIS,
            **_SPRING,
        ),
        "free": record(Free),
        "driven": Record(
            driven,
            {
                "position": _vector_of_time("m"),
                "rotation": _vector_of_time("a rotation vector (rad)"),
                "kinks": KINKS,
            },
            fits=lambda joint: isinstance(joint, Driven),
            apart=_driven_apart,
        ),
    },
)
