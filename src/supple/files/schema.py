"""The form of a whole file: items, studies, outputs, and its JSON Schema."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import Field, TypeAdapter, create_model

from supple.files.analyses import (
    Follow,
    Identify,
    InverseStaticsStudy,
    Linearize,
    ModesStudy,
    Statics,
    Sweep,
)
from supple.files.columns import Column
from supple.files.common import ITEM, POINT, ROTATION, number, vector
from supple.files.edits import EVENT, WHEN
from supple.files.ensemble import Ensemble
from supple.files.forms import Fields, MapOf, OneOf, Record, SeveralOf, Unmade, record
from supple.files.formulations import FORMULATION
from supple.files.initial import PLACES, Initial
from supple.files.items import ITEMS
from supple.files.joints import JOINT
from supple.files.kinds import (
    AbstractLeaf,
    Context,
    Integer,
    ListOf,
    Number,
    Numbers,
    Refused,
    Text,
)
from supple.files.outputs import QUANTITIES, Output
from supple.files.rods import MATERIAL_FIELDS
from supple.files.schemes import SCHEME
from supple.files.studies import ReleaseStudy, Simulate
from supple.files.urdf import UrdfImport
from supple.studies.samples import LatinHypercube, RandomSamples

_PLACE = Text("described, assembled or equilibrium", PLACES)
_STATES = MapOf(Numbers("numbers, one for each coordinate"), "a mapping from names to numbers")
_INITIAL = Record(
    Initial,
    {
        "at": _PLACE,
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
    "t_eval": Numbers("the instants (s) to report, or one number: their spacing"),
}
_SINGLE: dict[str, Record] = {
    "simulate": record(
        Simulate,
        **_RUN,
        initial=_INITIAL,
        max_steps=Integer("a number of steps", 1, 1_000_000_000),
        events=SeveralOf(EVENT),
        max_events=Integer("a number of events", 0, 1_000_000),
    ),
    "release": record(ReleaseStudy, loads=ListOf(ITEM, "loads to let go of", True), **_RUN),
    "statics": record(
        Statics,
        t=number("the time (s) of the loads"),
        accuracy=_RUN["accuracy"],
        first_increment=number("the first part of the load, up to 1"),
    ),
    "modes": record(
        ModesStudy,
        count=Integer("how many", least=1),
        at=_PLACE,
    ),
    "follow": record(
        Follow,
        until=number("where it ends: a time (s)"),
        since=number("where it begins: a time (s)"),
        duration_scale=number("the time (s) that weighs as much as a radian"),
        step=number("the first step along the branch"),
        largest=number("the largest step along the branch"),
        max_points=Integer("a number of points", 1, 100_000),
        switch=Integer("1: also branches that leave it; 2: and those that leave these", 0, 3),
    ),
    "inverse_statics": record(
        InverseStaticsStudy,
        frame=ITEM,
        targets=ListOf(POINT, "positions (m) of the frame, each (x, y, z)"),
        inputs=ListOf(Text("the name of an input"), "inputs that may change"),
        tolerance=number("the distance (m) that is near enough"),
    ),
    "linearize": record(
        Linearize, at=_PLACE, observe=MapOf(WHEN, "quantities of items by name: the outputs z")
    ),
}
"""Studies of one robot as it is."""
_RANGES = MapOf(Numbers("two numbers, the least and the largest value", ((2,),)), "ranges by name")
_SAMPLES = {
    "ranges": _RANGES,
    "count": Integer("how many", 1, 100_000_000),
    "seed": Integer("which ones", 0, 100_000_000),
    "logarithmic": ListOf(
        Text("the name of a parameter"), "parameters that are spread by logarithm"
    ),
}
STUDIES: dict[str, Record] = {
    **_SINGLE,
    "sweep": record(
        Sweep,
        parameter=Text("the name of a parameter of the file"),
        values=ListOf(Number(), "the values of the parameter"),
    ),
    "ensemble": record(
        Ensemble,
        of=OneOf("a study of one robot", _SINGLE),
        grid=MapOf(Column(), "values of parameters by name: every combination"),
        listed=MapOf(Column(), "values of parameters by name: side by side"),
        random=record(RandomSamples, **_SAMPLES),
        latin_hypercube=record(LatinHypercube, **_SAMPLES),
    ),
    "identify": record(
        Identify,
        rod=ITEM,
        points=ListOf(POINT, "measured points (m), each (x, y, z)"),
        fractions=ListOf(Number("a fraction of the rod's length"), "where each point is"),
        noise=number("the standard deviation (m) of a measured coordinate"),
        energy=number("the expected order of the elastic energy (J)"),
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


GRAVITY = vector("m/s²")


@cache
def file_model() -> type[Fields]:
    """The whole file."""
    optional: dict[str, tuple[Any, str]] = {
        "robot": (Text("the name of the robot").annotation(), "The robot's name."),
        "gravity": (GRAVITY.annotation(), "Gravity (m/s²), by default (0, 0, -9.81)."),
        "formulation": (
            FORMULATION.annotation(),
            "How the robot is computed, by default strain: strains on functions along whole rods.",
        ),
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
