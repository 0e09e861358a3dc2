"""What measurements tell about a robot: shapes of rods, planes of bending."""

from supple.identify.plane import FlatShape as FlatShape, flatten as flatten
from supple.identify.shape import ShapeFit as ShapeFit, fit_shape as fit_shape
