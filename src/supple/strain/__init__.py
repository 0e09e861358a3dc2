"""Strain bases and strain fields."""

from supple.strain.basis import AbstractBasis as AbstractBasis
from supple.strain.basis import Chebyshev as Chebyshev
from supple.strain.basis import CustomBasis as CustomBasis
from supple.strain.basis import Legendre as Legendre
from supple.strain.basis import Monomial as Monomial
from supple.strain.basis import PiecewiseConstant as PiecewiseConstant
from supple.strain.basis import PiecewiseLinear as PiecewiseLinear
from supple.strain.field import ROD_MODELS as ROD_MODELS
from supple.strain.field import STRAIGHT as STRAIGHT
from supple.strain.field import STRAINS as STRAINS
from supple.strain.field import StrainField as StrainField
from supple.strain.field import strain_field as strain_field
