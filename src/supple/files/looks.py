"""How bodies look, as files have it: shapes and mesh files, whose paths begin where the robot file is."""

from dataclasses import dataclass
from typing import Any

from supple.files.common import AXIS, POINT, ROTATION, number, vector
from supple.files.forms import OneOf, Other, SeveralOf, record
from supple.files.kinds import AbstractLeaf, Context, Numbers, Text
from supple.robot.looks import Box, Cylinder, Mesh, Sphere


@dataclass(frozen=True)
class _MeshPath(AbstractLeaf):
    need: str = "the path of a mesh file (STL, OBJ, PLY, …), from where this file is"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.need}

    def read(self, value: Any, context: Context) -> str:
        return str(context.folder / Text(self.need).read(value, context))

    def write(self, value: Any, item: str, field: str) -> str:
        return str(value)


_PLACED = {"position": POINT, "rotation": ROTATION}
_ONE = OneOf(
    "a shape",
    {
        "box": record(Box, size=vector("the lengths along x, y, z (m)"), **_PLACED),
        "cylinder": record(Cylinder, radius=number("m"), length=number("m"), axis=AXIS, **_PLACED),
        "sphere": record(Sphere, radius=number("m"), **_PLACED),
        "mesh": record(
            Mesh, file=_MeshPath(), scale=Numbers("one number, or three", ((), (3,))), **_PLACED
        ),
    },
)
LOOK = OneOf(
    "a shape, or a list of shapes",
    _ONE.records,
    {
        "several": Other(
            SeveralOf(_ONE),
            lambda value: isinstance(value, list),
            lambda value: isinstance(value, tuple | list),
        )
    },
)
