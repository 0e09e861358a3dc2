"""Parts of items as files have them: places, laws of time, sections, materials, bases, joints, schemes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.expression import Expression
from supple.files.forms import MapOf, OneOf, Other, Record, record
from supple.files.kinds import (
    ANY_SIZE,
    AbstractLeaf,
    Context,
    CountOrList,
    Either,
    Formula,
    Integer,
    ListOf,
    Number,
    Numbers,
    Refused,
    Text,
    Varying,
)
from supple.model.laws import AbstractLaw, Constant, Function, Input, Spline, Table, ramp, triangle
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
)
from supple.robot.placement import AXES
from supple.section import (
    Circle,
    Ellipse,
    GivenProperties,
    Material,
    MatrixDamping,
    Rectangle,
    ShearViscosity,
    StiffnessDamping,
    Tube,
)
from supple.solve.newton import NewtonSettings
from supple.space import Magnus, RungeKutta, Spectral
from supple.strain import (
    Chebyshev,
    CustomBasis,
    Legendre,
    Monomial,
    PiecewiseConstant,
    PiecewiseLinear,
)
from supple.strain.field import STRAINS
from supple.time.alpha import (
    GeneralizedAlpha,
    ImplicitEuler,
    generalized_alpha,
    hht,
    newmark,
    trapezoidal,
    wbz,
)
from supple.time.collocation import Collocation, gauss, radau
from supple.time.explicit import Explicit

POINT = Numbers("(x, y, z), three numbers", ((3,),))
ROTATION = Numbers(
    "a rotation vector (3, rad), a quaternion (w, x, y, z) or a matrix (3 x 3)",
    ((3,), (4,), (3, 3)),
)
AXIS = Either(
    Text("x, y, z, -x, -y, -z or three numbers", (*AXES, *(f"-{name}" for name in AXES))),
    Numbers("x, y, z, -x, -y, -z or three numbers", ((3,),)),
)
FRACTION = Number("a fraction of the rod's length, from 0 to 1")
COORDINATE = Integer("a number of a coordinate, from 0")
ITEM = Text("the name of an item")


def number(need: str) -> Number:
    """A number, and which."""
    return Number(f"a number, {need}")


# --- laws of time ---------------------------------------------------------------------------------


def function_law(formula: Expression, kinks: tuple[float, ...] = ()) -> Function:
    """A formula of t whose non-smooth times are known."""
    return Function(formula, tuple(kinks))


def _function_apart(law: Function, item: str, field: str) -> dict[str, Any]:
    return {"formula": law.function, "kinks": law.kinks}


_LAWS = {
    "table": record(
        Table,
        times=Numbers("increasing times (s)"),
        values=Numbers("one value for each time", array=True),
    ),
    "spline": record(
        Spline,
        times=Numbers("at least four increasing times (s)"),
        values=Numbers("one value for each time", array=True),
    ),
    "ramp": record(
        ramp,
        start=number("the time (s) at which it starts to rise from 0"),
        end=number("the time (s) from which on it is constant"),
        height=number("its height from then on"),
    ),
    "triangle": record(
        triangle,
        start=number("the time (s) at which it starts to rise from 0"),
        peak=number("the time (s) of its peak"),
        end=number("the time (s) from which on it is 0"),
        height=number("its height"),
    ),
    "input": record(
        Input,
        name=Text("the name of an input that a controller sets"),
        value=Numbers("its value before the first call", array=True),
    ),
    "constant": record(Constant, value=Numbers("a number or several", array=True)),
    "function": Record(
        function_law,
        {
            "formula": Formula("a formula of t", "t", ANY_SIZE),
            "kinks": Numbers("times (s) at which it is not smooth"),
        },
        fits=lambda law: isinstance(law, Function),
        apart=_function_apart,
    ),
}


def law(need: str) -> OneOf:
    """A law of time."""
    need = f"{need}: a number, a formula of t, or a law"
    plain = Other(
        Varying(need, "t"),
        lambda value: not isinstance(value, dict) or list(value) == ["expression"],
        lambda value: not isinstance(value, AbstractLaw),
    )
    return OneOf(need, _LAWS, {"plain": plain})


# --- sections, materials, strains -----------------------------------------------------------------


def profile(need: str) -> Varying:
    """A number that may vary along a rod."""
    return Varying(f"a number or a formula of u, {need}", "u")


SECTION = OneOf(
    "a section",
    {
        "circle": record(Circle, radius=profile("the radius (m)")),
        "tube": record(
            Tube, outer=profile("the outer radius (m)"), inner=profile("the inner radius (m)")
        ),
        "ellipse": record(
            Ellipse, semi_y=profile("the semi-axis along y (m)"), semi_z=profile("along z (m)")
        ),
        "rectangle": record(
            Rectangle, width_y=profile("the full width along y (m)"), width_z=profile("along z (m)")
        ),
    },
)
DAMPING = OneOf(
    "a damping",
    {
        "stiffness": record(StiffnessDamping, mu=number("μ (s) in D = μ H")),
        "viscosity": record(ShearViscosity, mu=number("the shear viscosity μ (Pa s)")),
        "matrix": record(MatrixDamping, values=Numbers("a matrix, 6 x 6", ((6, 6),))),
    },
)
MATERIAL_FIELDS = record(
    Material,
    E=profile("Young's modulus (Pa)"),
    density=profile("kg/m³"),
    G=profile("the shear modulus (Pa)"),
    nu=number("Poisson's ratio, instead of G"),
    damping=DAMPING,
)


@dataclass(frozen=True)
class _MaterialName(AbstractLeaf):
    need: str = "the name of one of the file's materials"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.need}

    def read(self, value: Any, context: Context) -> Material:
        if value not in context.materials:
            known = ", ".join(context.materials) or "none: the file has no materials"
            raise Refused(value, f"{{E: …, density: …}} or the name of a material, one of: {known}")
        return context.materials[value]

    def write(self, value: Any, item: str, field: str) -> str:
        raise NotImplementedError  # materials are written out


MATERIAL = OneOf(
    "a material",
    {},
    {
        "name": Other(_MaterialName(), lambda value: isinstance(value, str), lambda value: False),
        "fields": Other(MATERIAL_FIELDS, lambda value: True, lambda value: True),
    },
)
_MATRIX = Numbers("six numbers or a matrix, 6 x 6", ((6,), (6, 6)))
PROPERTIES = record(GivenProperties, stiffness=_MATRIX, inertia=_MATRIX, damping=_MATRIX)

_ORDER = Integer("the highest order")
_SEGMENTS = CountOrList("a number of segments, or the breaks between them")
_BASES = {
    "legendre": record(Legendre, order=_ORDER),
    "chebyshev": record(Chebyshev, order=_ORDER),
    "monomial": record(Monomial, order=_ORDER),
    "piecewise-constant": record(PiecewiseConstant, segments=_SEGMENTS),
    "piecewise-linear": record(PiecewiseLinear, segments=_SEGMENTS),
    "custom": record(
        CustomBasis,
        function=Formula("a formula of u with one entry for each function, [1, u]", "u", ANY_SIZE),
        size=Integer("the number of functions", least=1),
        resolution=Integer("the degree of polynomials that vary as fast"),
        breakpoints=ListOf(
            Number("a fraction of the length"), "fractions where they are not smooth"
        ),
    ),
}
_MODES = Integer("a number of modes", least=1)


_ONE_BASIS = OneOf(
    "a number of modes or a basis",
    _BASES,
    {
        "modes": Other(
            _MODES,
            lambda value: not isinstance(value, dict),
            lambda value: isinstance(value, int | np.integer),
        )
    },
)
BASIS = OneOf(
    "a number of modes, auto, a basis, or one for each strain",
    _BASES,
    {
        "strains": Other(
            MapOf(_ONE_BASIS, names=STRAINS),
            lambda value: isinstance(value, dict) and set(value) <= set(STRAINS) and bool(value),
            lambda value: hasattr(value, "items"),
        ),
        "auto": Other(
            Text("auto", ("auto",)), lambda value: value == "auto", lambda value: value == "auto"
        ),
        "modes": _ONE_BASIS.others["modes"],
    },
)
REST = Either(
    Formula("six entries, [κx, κy, κz, γx, γy, γz], numbers or one formula of u", "u", 6),
    Numbers("six numbers: κx, κy, κz (1/m), γx, γy, γz", ((6,),)),
)
SPACE = OneOf(
    "a space integrator",
    {
        "magnus": record(
            Magnus,
            order=Integer("4 or 6", 4, 6),
            substeps=Integer("steps between nodes", 1, 100),
        ),
        "spectral": record(Spectral),
        "runge-kutta": record(RungeKutta, tolerance=number("relative and absolute")),
    },
)

# --- joints ---------------------------------------------------------------------------------------

_EACH = Numbers("one number, or one for each coordinate")
_SPRING = {
    "stiffness": _EACH,
    "damping": _EACH,
    "rest": _EACH,
    "friction": _EACH,
    "friction_speed": _EACH,
}


def driven(position: Expression | None = None, rotation: Expression | None = None) -> Driven:
    """A motion prescribed by formulas of t."""
    given = {"position": position, "rotation": rotation}
    return Driven(Motion(**{name: text for name, text in given.items() if text is not None}))


def _driven_apart(joint: Driven, item: str, field: str) -> dict[str, Any]:
    if not isinstance(joint.motion, Motion):
        need = "Motion('[x, y, z]', '[rx, ry, rz]'): formulas can be written to a file, functions cannot"
        raise DescriptionError(item, f"{field}.motion", joint.motion, need)
    return {"position": joint.motion.position, "rotation": joint.motion.rotation}


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
        "free": record(Free),
        "driven": Record(
            driven,
            {
                "position": _vector_of_time("m"),
                "rotation": _vector_of_time("a rotation vector (rad)"),
            },
            fits=lambda joint: isinstance(joint, Driven),
            apart=_driven_apart,
        ),
    },
)

# --- time schemes --------------------------------------------------------------------------------

_NEWTON = {
    "newton": record(
        NewtonSettings,
        tolerance=number("of the update"),
        max_iterations=Integer("a number of iterations", least=1),
        reuse_below=number("a factor"),
        smallest_damping=number("a factor"),
    )
}
_RHO = number("the spectral radius at infinite frequency")


_STAGES = {"stages": Integer("2 or 3", 2, 3), **_NEWTON}


def _family(name: str) -> Callable[[Any], bool]:
    return lambda scheme: isinstance(scheme, Collocation) and scheme.family == name


SCHEME = OneOf(
    "a time scheme",
    {
        "generalized-alpha": record(generalized_alpha, rho=_RHO, **_NEWTON),
        "hht": record(hht, rho=_RHO, **_NEWTON),
        "wbz": record(wbz, rho=_RHO, **_NEWTON),
        "newmark": record(newmark, beta=number("β"), gamma=number("γ"), **_NEWTON),
        "trapezoidal": record(trapezoidal, **_NEWTON),
        "implicit-euler": record(ImplicitEuler, **_NEWTON),
        "gauss": Record(gauss, _STAGES, fits=_family("gauss")),
        "radau": Record(radau, _STAGES, fits=_family("radau")),
        "explicit": record(Explicit, method=Text("euler, rk4 or dopri5")),
        "alpha": record(
            GeneralizedAlpha,
            alpha_m=number("α_m"),
            alpha_f=number("α_f"),
            beta=number("β"),
            gamma=number("γ"),
            **_NEWTON,
        ),
    },
)
