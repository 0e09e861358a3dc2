"""Strain bases and strain fields."""

from supple.strain.basis import (
    AbstractBasis as AbstractBasis,
    Chebyshev as Chebyshev,
    CustomBasis as CustomBasis,
    Legendre as Legendre,
    Monomial as Monomial,
    PiecewiseConstant as PiecewiseConstant,
    PiecewiseLegendre as PiecewiseLegendre,
    PiecewiseLinear as PiecewiseLinear,
)
from supple.strain.field import (
    AUTO_STRAINS as AUTO_STRAINS,
    ROD_MODELS as ROD_MODELS,
    STRAIGHT as STRAIGHT,
    STRAINS as STRAINS,
    StrainField as StrainField,
    strain_field as strain_field,
)
