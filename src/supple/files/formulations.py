"""Formulations as files have them: by name, or with what is chosen of them."""

from supple.files.common import number
from supple.files.forms import OneOf, Other, record
from supple.files.kinds import Flag, FunctionName, Integer, Text
from supple.robot.formulations import FORMULATIONS
from supple.shooting.settings import HISTORIES, ORIENTATIONS, RULES, Shooting

_NAME = Text("the name of a formulation", tuple(FORMULATIONS))

FORMULATION = OneOf(
    "the name of a formulation",
    {
        "shooting": record(
            Shooting,
            points=Integer("a number of nodes", least=5),
            segments=Integer("a number of segments", least=1),
            space=Text("a rule along rods", RULES),
            history=Text("a way to interpolate", HISTORIES),
            orientation=Text("what is integrated", ORIENTATIONS),
            rotary_inertia=Flag(),
            tolerance=number("of the adaptive rule"),
            law=FunctionName(
                "the name of a function, 'module:function', that says what rods are made of"
            ),
        )
    },
    {
        "named": Other(
            _NAME, lambda value: isinstance(value, str), lambda value: isinstance(value, str)
        )
    },
)
