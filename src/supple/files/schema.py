"""The form of robot files: for each class of the Python API its fields, and how each is written."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import Field, TypeAdapter, create_model

from supple.errors import DescriptionError
from supple.expression import Expression
from supple.files.forms import Fields, MapOf, OneOf, Record, Unmade, item, record
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
from supple.files.parts import (
    BASIS,
    COORDINATE,
    FRACTION,
    ITEM,
    JOINT,
    MATERIAL,
    MATERIAL_FIELDS,
    POINT,
    PROPERTIES,
    REST,
    ROTATION,
    SCHEME,
    SECTION,
    SPACE,
    law,
    number,
)
from supple.files.studies import (
    PLACES,
    QUANTITIES,
    ModesStudy,
    Output,
    Release,
    Simulate,
    Start,
    Statics,
    Sweep,
)
from supple.files.urdf import UrdfImport
from supple.robot.actuators import Chamber, Motor, Spring, Tendon
from supple.robot.controller import Controller
from supple.robot.formulas import LINE_VARIABLES, LoadDensity
from supple.robot.items import Body, Closure, Marker, Prescribe, Rod
from supple.robot.loads import Buoyancy, Distributed, Drag, Stress, Swimming, Wrench

# --- items ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Offset(AbstractLeaf):
    """(y, z), a formula of u, or one of these (or a point) for each item."""

    need: str = '(y, z) in metres, a formula of u such as "[0.01*(1 - u), 0]", or one for each item'

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


_PLACE = {
    "parent": Text("the name of the item it is on, or ground"),
    "at": FRACTION,
    "position": POINT,
    "rotation": ROTATION,
}
_TO = {"to_at": FRACTION, "to_position": POINT}
_SPAN = {"start": FRACTION, "end": FRACTION}

ITEMS: dict[str, Record] = {
    "rods": item(
        Rod,
        length=number("the length (m)"),
        section=SECTION,
        material=MATERIAL,
        properties=PROPERTIES,
        strains=ListOf(Text("a rod model, or strains"), "a rod model, or a list of strains", True),
        basis=BASIS,
        rest=REST,
        joint=JOINT,
        nodes=Integer("a number of nodes", least=2),
        breaks=ListOf(
            Number("a fraction of the length"), "fractions where something is not smooth"
        ),
        space=SPACE,
        growth=law("the length over its first value"),
        **_PLACE,
    ),
    "bodies": item(
        Body,
        mass=number("kg"),
        inertia=Numbers("(Ixx, Iyy, Izz) or a matrix, kg m²", ((3,), (3, 3))),
        com=POINT,
        joint=JOINT,
        **_PLACE,
    ),
    "markers": item(Marker, **_PLACE),
    "closures": item(
        Closure,
        on=ITEM,
        to=ITEM,
        joint=JOINT,
        at=FRACTION,
        position=POINT,
        rotation=ROTATION,
        **_TO,
        to_rotation=ROTATION,
    ),
    "prescribed": item(
        Prescribe,
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
        offset=Numbers("(y, z) in metres", ((2,),)),
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
        friction=number("N m"),
        friction_speed=number("rad/s"),
    ),
    "springs": item(
        Spring,
        on=ITEM,
        to=ITEM,
        stiffness=number("N/m"),
        damping=number("N s/m"),
        length=number("the length at rest (m)"),
        at=FRACTION,
        position=POINT,
        **_TO,
    ),
    "wrenches": item(
        Wrench,
        on=ITEM,
        force=POINT,
        moment=POINT,
        at=FRACTION,
        position=POINT,
        follower=Flag(),
        law=law("a factor, or six"),
    ),
    "stresses": item(
        Stress,
        on=ITEM,
        stress=Formula("[…], a formula of X and t with six entries (N m, N)", "X, t", 6),
    ),
    "distributed": item(
        Distributed, on=ITEM, density=_Density(), follower=Flag(), law=law("a factor")
    ),
    "drags": item(
        Drag,
        on=ITEM,
        linear=Numbers("one number or three", ((), (3,))),
        quadratic=Numbers("one number or three", ((), (3,))),
        current=POINT,
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
}
"""Section of a file: the form of its items."""

# --- studies --------------------------------------------------------------------------------------

_STATES = MapOf(Numbers("numbers, one for each coordinate"), "a mapping from names to numbers")
_START = Record(
    Start,
    {
        "at": Text("described, assembled or equilibrium", PLACES),
        "joints": _STATES,
        "coordinates": _STATES,
        "joint_rates": _STATES,
        "rates": _STATES,
    },
    alone=True,
)
_RUN = {
    "duration": number("s"),
    "dt": number("the step (s)"),
    "accuracy": number("the displacement error over the robot's size"),
    "scheme": SCHEME,
    "output": Numbers("the spacing (s) of reported instants, or these"),
}
STUDIES: dict[str, Record] = {
    "simulate": record(
        Simulate,
        **_RUN,
        start=_START,
        max_steps=Integer("a number of steps", 1, 1_000_000_000),
    ),
    "release": record(Release, loads=ListOf(ITEM, "loads to let go of", True), **_RUN),
    "statics": record(
        Statics,
        t=number("the time (s) of the loads"),
        accuracy=_RUN["accuracy"],
        first_increment=number("the first part of the load, up to 1"),
    ),
    "sweep": record(
        Sweep,
        parameter=Text("the name of a parameter of the file"),
        values=ListOf(Number(), "the values of the parameter"),
    ),
    "modes": record(
        ModesStudy,
        count=Integer("how many", least=1),
        at=Text("described, assembled or equilibrium", PLACES),
    ),
}
STUDY = OneOf("a study", STUDIES)


@dataclass(frozen=True)
class _OutputKind(AbstractLeaf):
    need: str = "{quantity: name}, such as {position: tool}; quantities: " + ", ".join(QUANTITIES)

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: {"type": "string"} for name in QUANTITIES},
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
            "description": self.need,
        }

    def read(self, value: Any, context: Context) -> Output:
        if not isinstance(value, dict) or len(value) != 1:
            raise Refused(value, self.need)
        ((quantity, of),) = value.items()
        if quantity not in QUANTITIES or not isinstance(of, str):
            raise Refused(value, self.need)
        return Output(quantity, of)

    def write(self, value: Any, item: str, field: str) -> dict[str, str]:
        return {value.quantity: value.of}


# --- the file -------------------------------------------------------------------------------------

OUTPUT = _OutputKind()
PARAMETERS = MapOf(Number("a number, or a formula of the parameters before it"))
URDF = Record(
    UrdfImport,
    {
        "file": Text("the path of a URDF file, from where this file is"),
        "joint": JOINT,
        "position": POINT,
        "rotation": ROTATION,
    },
    alone=True,
)


@cache
def file_model() -> type[Fields]:
    """The whole file."""
    optional: dict[str, tuple[Any, str]] = {
        "robot": (Text("the name of the robot").annotation(), "The robot's name."),
        "gravity": (POINT.annotation(), "Gravity (m/s²), by default (0, 0, -9.81)."),
        "parameters": (PARAMETERS.annotation(), "Numbers to be used as $name."),
        "materials": (
            MapOf(MATERIAL_FIELDS).annotation(),
            "Materials that rods name.",
        ),
        "urdf": (URDF.annotation(), "Links and joints of a URDF file; items may be on its links."),
    }
    for section, form in ITEMS.items():
        about = (form.make.__doc__ or "").splitlines()[0]
        optional[section] = (MapOf(Unmade(form)).annotation(), about)
    optional["order"] = (
        ListOf(ITEM, "names of items").annotation(),
        "Order of the items, where it is not that of the file.",
    )
    for name, form in STUDIES.items():
        optional[name] = (form.annotation(), f"A study named {name}.")
    optional["studies"] = (MapOf(STUDY).annotation(), "Further studies by name.")
    optional["outputs"] = (MapOf(OUTPUT).annotation(), "Quantities to report, by name.")
    fields: dict[str, Any] = {
        name: (annotation, Field(None, description=about))
        for name, (annotation, about) in optional.items()
    }
    return create_model("RobotFile", __base__=Fields, __doc__="A robot of Supple.", **fields)


@cache
def materials_adapter() -> TypeAdapter:
    """Reads the materials of a file, which come before what names them."""
    return TypeAdapter(MapOf(MATERIAL_FIELDS).annotation())


@cache
def parameter_adapter() -> TypeAdapter:
    """Reads one parameter."""
    return TypeAdapter(Number("a number, or a formula of the parameters before it").annotation())


def json_schema() -> dict[str, Any]:
    """JSON Schema of robot files, for editors."""
    schema = file_model().model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Supple robot file"
    return schema
