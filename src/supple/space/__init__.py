"""Space discretisation of rods."""

from supple.space.grid import RodGrid as RodGrid
from supple.space.grid import rod_grid as rod_grid
from supple.space.integrator import Magnus as Magnus
from supple.space.integrator import RungeKutta as RungeKutta
from supple.space.integrator import SpaceIntegrator as SpaceIntegrator
from supple.space.integrator import Spectral as Spectral
