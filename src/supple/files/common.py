"""Values that many items have: points, rotations, axes, fractions, names."""

from supple.files.kinds import (
    Either,
    Integer,
    Number,
    Numbers,
    Text,
)
from supple.robot.placement import AXES

_SIDES = (*AXES, *(f"-{name}" for name in AXES))


def number(need: str) -> Number:
    """A number, and which."""
    return Number(f"a number, {need}")


def vector(need: str) -> Numbers:
    """Three numbers, and which."""
    return Numbers(f"three numbers, {need}", ((3,),))


POINT = vector("x, y, z (m)")
ROTATION = Numbers(
    "a rotation vector (3, rad), a quaternion (w, x, y, z) or a matrix (3 x 3)",
    ((3,), (4,), (3, 3)),
)
AXIS = Either(
    Text("x, y, z, -x, -y, -z or three numbers", _SIDES),
    Numbers("x, y, z, -x, -y, -z or three numbers", ((3,),)),
)
PLACE = Either(Text("a side of a body with a shape: x, y, z, -x, -y, -z", _SIDES), POINT)
FRACTION = Number("a fraction of the rod's length, from 0 to 1")
COORDINATE = Integer("a number of a coordinate, from 0")
ITEM = Text("the name of an item")
KINKS = Numbers("times (s) at which it is not smooth")
