"""Space discretization of rods."""

from supple.space.grid import RodGrid as RodGrid, rod_grid as rod_grid
from supple.space.integrator import (
    Magnus as Magnus,
    RungeKutta as RungeKutta,
    SpaceIntegrator as SpaceIntegrator,
    Spectral as Spectral,
)
from supple.space.piece import PieceGrid as PieceGrid, piece_grid as piece_grid
