"""The rod benches, defined exactly, as data for the reference codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from planar_fem import PlanarRod
from spatial_fem import EndLoad, SpatialRod

GRAVITY = (9.81, 0.0)  # along the undeformed rod: it hangs
OUTPUTS = 1000  # uniform output intervals


@dataclass(frozen=True)
class PlanarCase:
    """A cantilever released from static equilibrium under a tip force."""

    rod: PlanarRod
    tip_force: tuple[float, float]
    duration: float


@dataclass(frozen=True)
class SpatialCase:
    """A free rod loaded at s = 0."""

    rod: SpatialRod
    load: EndLoad
    duration: float

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Initial positions of s = 0 and s = L."""
        length = self.rod.length
        return np.array([0.6 * length, 0.0, 0.0]), np.array([0.0, 0.8 * length, 0.0])


def triangular(peak: float, a: float, b: float) -> EndLoad:
    """Force (T / a, 0, 0) and moment (0, b T, T) with T up to ``peak`` at 2.5 s."""
    return EndLoad((1.0 / a, 0.0, 0.0), (0.0, b, 1.0), peak, (2.5, 5.0))


PLANAR = {
    "stiff-cantilever": PlanarCase(
        PlanarRod.circular(0.4, 8000.0, 2e11, 2e-3, GRAVITY), (0.0, 10.0), 1.0
    ),
    "stiff-cantilever-as-printed": PlanarCase(
        PlanarRod.circular(0.4, 8000.0, 2e9, 2e-3, GRAVITY), (0.0, 10.0), 0.35
    ),
    "heavy-string": PlanarCase(
        PlanarRod.circular(1.0, 1000.0, 1e6, 4e-3, GRAVITY), (0.0, 0.05), 1.0
    ),
    "soft-cantilever": PlanarCase(
        PlanarRod.circular(10.0, 7800.0, 1e11, 1e-2, GRAVITY), (0.0, 50.0), 10.0
    ),
}

SPATIAL = {
    "soft-flying-rod": SpatialCase(
        SpatialRod(10.0, (1e4,) * 3, (500.0,) * 3, 1.0, (10.0,) * 3),
        triangular(200.0, 10.0, 0.5),
        10.0,
    ),
    "stiff-flying-rod": SpatialCase(
        SpatialRod.circular(1.0, 1000.0, 1e6, 0.1), triangular(1.0, 1.0, 0.02), 10.0
    ),
}
