"""Sections and materials of rods."""

from supple.section.material import AbstractDamping as AbstractDamping
from supple.section.material import AbstractProperties as AbstractProperties
from supple.section.material import GivenProperties as GivenProperties
from supple.section.material import Material as Material
from supple.section.material import MatrixDamping as MatrixDamping
from supple.section.material import SectionMatrices as SectionMatrices
from supple.section.material import ShearViscosity as ShearViscosity
from supple.section.material import SolidProperties as SolidProperties
from supple.section.material import StiffnessDamping as StiffnessDamping
from supple.section.shape import AbstractShape as AbstractShape
from supple.section.shape import Circle as Circle
from supple.section.shape import Ellipse as Ellipse
from supple.section.shape import Rectangle as Rectangle
from supple.section.shape import SectionMoments as SectionMoments
from supple.section.shape import Tube as Tube
