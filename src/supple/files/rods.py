"""What rods are made of, as files have it: sections, materials, bases, rest shapes, integrators."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.files.common import number
from supple.files.forms import MapOf, OneOf, Other, record
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
from supple.space import Magnus, RungeKutta, Spectral
from supple.strain import (
    Chebyshev,
    CustomBasis,
    Legendre,
    Monomial,
    PiecewiseConstant,
    PiecewiseLegendre,
    PiecewiseLinear,
)
from supple.strain.basis import CONSTANT, NAMED, NAMES
from supple.strain.field import STRAINS


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

    def write(self, value: Any, item: str, field: str) -> Any:
        return MATERIAL_FIELDS.write(value, item, field)  # names are not kept


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
    "piecewise-legendre": record(
        PiecewiseLegendre,
        order=CountOrList("the highest order, or one for each segment", least=0, whole=True),
        segments=_SEGMENTS,
    ),
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


_NAMED = Other(
    Text(f"a name of the literature, {NAMES}"),
    lambda value: isinstance(value, str) and value.partition(":")[0] in (*NAMED, *CONSTANT),
    lambda value: isinstance(value, str),
)
_ONE_BASIS = OneOf(
    "a number of modes or a basis",
    _BASES,
    {
        "named": _NAMED,
        "modes": Other(
            _MODES,
            lambda value: not isinstance(value, dict),
            lambda value: isinstance(value, int | np.integer),
        ),
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
        "named": _NAMED,
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
