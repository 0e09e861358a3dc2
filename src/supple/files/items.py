"""Items as files have them: for each class of the Python API its fields, and how each is written."""

from dataclasses import dataclass
from typing import Any

from supple.errors import DescriptionError
from supple.expression import Expression
from supple.files.common import (
    AXIS,
    COORDINATE,
    FRACTION,
    ITEM,
    KINKS,
    PLACE,
    POINT,
    ROTATION,
    number,
    vector,
)
from supple.files.forms import Record, item
from supple.files.friction import friction
from supple.files.joints import JOINT
from supple.files.kinds import (
    AbstractLeaf,
    Context,
    CountOrList,
    Either,
    Flag,
    Formula,
    FunctionName,
    Integer,
    ListOf,
    Memory,
    Number,
    Numbers,
    Refused,
    Text,
)
from supple.files.laws import law
from supple.files.looks import LOOK
from supple.files.rods import BASIS, MATERIAL, PROPERTIES, REST, SECTION, SPACE
from supple.robot.actuators import Chamber, Motor, Spring, Tendon
from supple.robot.controller import ContinuousController, Controller
from supple.robot.formulas import LINE_VARIABLES, LoadDensity
from supple.robot.items import (
    Body,
    Closure,
    Connection,
    KnifeEdge,
    Marker,
    PrescribedCoordinate,
    Rod,
    RollingContact,
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


@dataclass(frozen=True)
class _Offset(AbstractLeaf):
    """(y, z), a formula of u, or one of these (or a point) for each item."""

    need: str = '(y, z) in meters, a formula of u such as "[0.01*(1 - u), 0]", or one for each item'

    @property
    def schema(self) -> dict[str, Any]:
        return {"description": self.need, "type": ["array", "string", "object"]}

    def _one(self) -> Either:
        return Either(Formula(self.need, "u", 2), Numbers(self.need, ((2,), (3,))))

    def read(self, value: Any, context: Context) -> Any:
        if not isinstance(value, dict):
            return Either(Formula(self.need, "u", 2), Numbers(self.need, ((2,),))).read(
                value, context
            )
        found = {}
        for name, inner in value.items():
            try:
                found[name] = self._one().read(inner, context)
            except Refused as refused:
                raise refused.inside(name) from None
        return found

    def write(self, value: Any, item: str, field: str) -> Any:
        if hasattr(value, "items"):
            return {
                name: self.write(inner, item, f"{field}.{name}") for name, inner in value.items()
            }
        if callable(value):
            return Formula(self.need, "u", 2).write(value, item, field)
        return Numbers(self.need).write(value, item, field)


@dataclass(frozen=True)
class _Density(AbstractLeaf):
    need: str = f"[…], a formula with six entries (moment N m/m, force N/m), of {LINE_VARIABLES}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.need}

    def read(self, value: Any, context: Context) -> LoadDensity:
        return LoadDensity(Formula(self.need, LINE_VARIABLES, 6).read(value, context))

    def write(self, value: Any, item: str, field: str) -> str:
        inner = value.density if isinstance(value, LoadDensity) else value
        if not isinstance(inner, Expression):
            need = "LoadDensity('[…]'): a formula can be written to a file, a function cannot"
            raise DescriptionError(item, field, value, need)
        return inner.text


@dataclass(frozen=True)
class _Parent(AbstractLeaf):
    """A name, or "none" for an item that connections put in its place."""

    need: str = "the name of the item it is on, ground, or none where a connection carries it"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.need}

    def read(self, value: Any, context: Context) -> str | None:
        name = Text(self.need).read(value, context)
        return None if name == "none" else name

    def write(self, value: Any, item: str, field: str) -> str:
        if value == "none":
            raise DescriptionError(item, field, value, "another name: in files, none is no parent")
        return "none" if value is None else str(value)


_PLACE = {
    "parent": _Parent(),
    "fraction": FRACTION,
    "position": PLACE,
    "rotation": ROTATION,
    "link": Text("a moving part of the parent's joint, such as left or right of an x_joint"),
}
_JOINTED = {
    "joint": JOINT,
    "joint_position": PLACE,
    "joint_rotation": ROTATION,
    "joint_name": Text("a name for the joint"),
}
_TO = {"to_fraction": FRACTION, "to_position": POINT}
_SPAN = {"start": FRACTION, "end": FRACTION}

ITEMS: dict[str, Record] = {
    "rods": item(
        Rod,
        length=number("the length (m)"),
        section=SECTION,
        material=MATERIAL,
        properties=PROPERTIES,
        strains=ListOf(
            Text("a rod model, or strains"),
            "a rod model, or a list of strains; auto where none and no basis is named, else kirchhoff",
            True,
        ),
        basis=BASIS,
        rest=REST,
        **_JOINTED,
        nodes=Integer("a number of nodes", least=2),
        breaks=ListOf(
            Number("a fraction of the length"), "fractions where something is not smooth"
        ),
        space=SPACE,
        growth=law("the length over its first value"),
        slides=Flag("true for a rod that is pushed out of its base"),
        **_PLACE,
    ),
    "bodies": item(
        Body,
        mass=number("kg"),
        inertia=Numbers("(Ixx, Iyy, Izz) or a matrix, kg m²", ((3,), (3, 3))),
        com=POINT,
        shape=LOOK,
        **_JOINTED,
        **_PLACE,
    ),
    "markers": item(Marker, shape=LOOK, **_PLACE),
    "closures": item(
        Closure,
        on=ITEM,
        to=ITEM,
        joint=JOINT,
        fraction=FRACTION,
        position=PLACE,
        rotation=ROTATION,
        to_fraction=FRACTION,
        to_position=PLACE,
        to_rotation=ROTATION,
    ),
    "connections": item(
        Connection,
        on=ITEM,
        to=ITEM,
        joint=JOINT,
        fraction=FRACTION,
        position=PLACE,
        rotation=ROTATION,
        to_fraction=FRACTION,
        to_position=PLACE,
        to_rotation=ROTATION,
        cut=Flag("true to close a loop, false to carry; chosen if left out"),
    ),
    "knife_edges": item(KnifeEdge, on=ITEM, across=AXIS, fraction=FRACTION, position=POINT),
    "rolling_contacts": item(
        RollingContact,
        on=ITEM,
        radius=number("m"),
        axle=AXIS,
        normal=AXIS,
        fraction=FRACTION,
        position=POINT,
    ),
    "prescribed_coordinates": item(
        PrescribedCoordinate,
        on=ITEM,
        value=law("the coordinate (rad, m, 1/m)"),
        coordinate=COORDINATE,
        of=Text("joint or rod", ("joint", "rod")),
    ),
    "tendons": item(
        Tendon,
        on=ListOf(ITEM, "an item, or a list of items in a row", True),
        offset=_Offset(),
        tension=law("the tension (N)"),
        pull=law("by how much it is shortened (m)"),
        stiffness=number("N/m"),
        damping=number("N s/m"),
        **_SPAN,
        discs=CountOrList("a number of discs, or the fraction of the length of each", 2),
        winch=Text("the name of a motor"),
        drum=number("the radius of the drum (m)"),
        push=Flag(),
        friction=number("the Capstan coefficient"),
        friction_speed=number("m/s"),
        viscous=number("s/m"),
    ),
    "chambers": item(
        Chamber,
        on=ITEM,
        area=number("m²"),
        offset=Numbers("(y, z) in meters", ((2,),)),
        pressure=law("the pressure (Pa)"),
        volume=law("the volume (m³)"),
        gas=law("the content n R T (J)"),
        **_SPAN,
    ),
    "motors": item(
        Motor,
        on=ITEM,
        coordinate=COORDINATE,
        torque=law("the torque (N m, N)"),
        position=law("the position (rad, m)"),
        velocity=law("the velocity (rad/s, m/s)"),
        stiffness=number("N m/rad"),
        damping=number("N m s/rad"),
        limit=number("the largest torque (N m)"),
        inertia=number("kg m²"),
        gear=number("the gear ratio"),
        viscous=number("N m s/rad"),
        friction=friction("N m"),
        friction_speed=number("rad/s"),
    ),
    "springs": item(
        Spring,
        on=ITEM,
        to=ITEM,
        stiffness=number("N/m"),
        damping=number("N s/m"),
        length=number("the length at rest (m)"),
        fraction=FRACTION,
        position=POINT,
        **_TO,
    ),
    "wrenches": item(
        Wrench,
        on=ITEM,
        force=vector("N"),
        moment=vector("N m"),
        fraction=FRACTION,
        position=POINT,
        follower=Flag(),
        law=law("a factor, or six"),
    ),
    "plane_frictions": item(
        PlaneFriction,
        on=ITEM,
        friction=number("N"),
        damping=number("N s/m"),
        friction_speed=number("m/s"),
        normal=AXIS,
        fraction=FRACTION,
        position=POINT,
    ),
    "active_stresses": item(
        ActiveStress,
        on=ITEM,
        stress=Formula("[…], a formula of X and t with six entries (N m, N)", "X, t", 6),
        kinks=KINKS,
    ),
    "distributed_loads": item(
        DistributedLoad, on=ITEM, density=_Density(), follower=Flag(), law=law("a factor")
    ),
    "drags": item(
        Drag,
        on=ITEM,
        linear=Numbers("one number or three (N s/m², of a body N s/m)", ((), (3,))),
        quadratic=Numbers("one number or three (kg/m², of a body kg/m)", ((), (3,))),
        current=vector("the velocity of the fluid (m/s)"),
    ),
    "buoyancies": item(
        Buoyancy,
        on=ITEM,
        density=number("kg/m³"),
        volume=number("m³"),
        position=POINT,
    ),
    "swimming": item(Swimming, on=ListOf(ITEM, "rods from head to tail"), density=number("kg/m³")),
    "controllers": item(
        Controller,
        act=FunctionName(),
        sense=FunctionName(),
        period=number("s"),
        memory=Memory(),
        compiled=Flag(),
    ),
    "continuous_controllers": item(
        ContinuousController,
        act=FunctionName(),
        sense=FunctionName(),
        rate=FunctionName(),
        state=Numbers("where each of its states begins"),
    ),
}
"""Section of a file: the form of its items."""
