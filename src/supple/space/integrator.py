"""How the orientations along a rod follow from its curvatures: R' = R κ̂.

Positions and all velocities, accelerations and stresses are then quadratures on the rod's nodes
(see :mod:`supple.space.grid`), so orientation is the only thing left to integrate, and it must be at
least as accurate as those quadratures.
"""

from dataclasses import dataclass

from supple.errors import DescriptionError
from supple.numeric import check_positive


@dataclass(frozen=True)
class Magnus:
    """Magnus expansion of order 4 or 6 between neighboring nodes, with ``substeps`` each."""

    order: int = 6
    substeps: int = 2

    def __post_init__(self) -> None:
        if self.order not in (4, 6):
            raise DescriptionError("Magnus", "order", self.order, "4 or 6")
        check_positive("Magnus", "substeps", self.substeps)
        if self.substeps != int(self.substeps):
            raise DescriptionError("Magnus", "substeps", self.substeps, "an integer >= 1")

    node_family = "gauss"


@dataclass(frozen=True)
class Spectral:
    """Collocation of the quaternion equation on Chebyshev nodes, as in the thesis (§3.8)."""

    node_family = "chebyshev"


@dataclass(frozen=True)
class RungeKutta:
    """Adaptive Runge-Kutta (Tsitouras 5(4)) to relative and absolute tolerance ``tolerance``."""

    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        check_positive("RungeKutta", "tolerance", self.tolerance)
        if self.tolerance >= 1:
            raise DescriptionError("RungeKutta", "tolerance", self.tolerance, "in (0, 1)")

    node_family = "gauss"


SpaceIntegrator = Magnus | Spectral | RungeKutta
