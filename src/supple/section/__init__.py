"""Sections and materials of rods."""

from supple.section.material import (
    AbstractDamping as AbstractDamping,
    AbstractProperties as AbstractProperties,
    GivenProperties as GivenProperties,
    Material as Material,
    MatrixDamping as MatrixDamping,
    SectionMatrices as SectionMatrices,
    ShearViscosity as ShearViscosity,
    SolidProperties as SolidProperties,
    StiffnessDamping as StiffnessDamping,
)
from supple.section.shape import (
    AbstractShape as AbstractShape,
    Circle as Circle,
    Ellipse as Ellipse,
    Rectangle as Rectangle,
    SectionMoments as SectionMoments,
    Tube as Tube,
)
