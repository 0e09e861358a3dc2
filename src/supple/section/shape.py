"""Cross-sections of a rod: area, second moments and torsion constant along u = X/L.

Local y and z span the section. ``second_y`` is ∫ z² dA (bending about y), ``second_z`` is ∫ y² dA.
Dimensions are numbers or functions of u.
"""

import abc
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.errors import DescriptionError
from supple.numeric import Profile, check_positive, is_traced, on_grid
from supple.reprs import brief


class SectionMoments(NamedTuple):
    """Moments of a section at each point: area (m²), second moments and torsion constant (m⁴)."""

    area: Any
    second_y: Any
    second_z: Any
    torsion: Any

    @property
    def polar(self) -> Any:
        """∫ (y² + z²) dA, the inertia about the tangent per unit density."""
        return self.second_y + self.second_z


class AbstractShape(abc.ABC):
    """A cross-section shape."""

    @abc.abstractmethod
    def moments(self, u: np.ndarray) -> SectionMoments:
        """Moments at the points ``u``."""

    @abc.abstractmethod
    def check(self, item: str) -> None:
        """Raise a :class:`DescriptionError` naming ``item`` if a dimension is impossible."""

    @abc.abstractmethod
    def outline(self, u: np.ndarray, sides: int = 24) -> np.ndarray:
        """Outer contour (n, sides, 2) in local y and z (m) at the points ``u``, for pictures."""


def _ellipse(semi_y: Any, semi_z: Any, sides: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(sides) / sides
    y, z = np.asarray(semi_y)[:, None], np.asarray(semi_z)[:, None]
    return np.stack([y * np.cos(angle), z * np.sin(angle)], axis=-1)


@dataclass(frozen=True)
class Circle(AbstractShape):
    """Solid circle of the given radius (m)."""

    radius: Profile

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "section.radius", self.radius)

    def outline(self, u: np.ndarray, sides: int = 24) -> np.ndarray:
        return _ellipse(on_grid(self.radius, u), on_grid(self.radius, u), sides)

    def moments(self, u: np.ndarray) -> SectionMoments:
        r = on_grid(self.radius, u)
        second = math.pi * r**4 / 4
        return SectionMoments(math.pi * r**2, second, second, 2 * second)


@dataclass(frozen=True)
class Tube(AbstractShape):
    """Hollow circle: outer and inner radius (m)."""

    outer: Profile
    inner: Profile

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "section.outer", self.outer)
        check_positive(item, "section.inner", self.inner, allow_zero=True)
        u = np.linspace(0.0, 1.0, 33)
        wall = on_grid(self.outer, u) - on_grid(self.inner, u)
        if not is_traced(wall) and not np.all(wall > 0):
            raise DescriptionError(item, "section.inner", self.inner, "less than section.outer")

    def outline(self, u: np.ndarray, sides: int = 24) -> np.ndarray:
        return _ellipse(on_grid(self.outer, u), on_grid(self.outer, u), sides)

    def moments(self, u: np.ndarray) -> SectionMoments:
        a, b = on_grid(self.outer, u), on_grid(self.inner, u)
        second = math.pi * (a**4 - b**4) / 4
        return SectionMoments(math.pi * (a**2 - b**2), second, second, 2 * second)


@dataclass(frozen=True)
class Ellipse(AbstractShape):
    """Solid ellipse with semi-axes along local y and z (m)."""

    semi_y: Profile
    semi_z: Profile

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "section.semi_y", self.semi_y)
        check_positive(item, "section.semi_z", self.semi_z)

    def outline(self, u: np.ndarray, sides: int = 24) -> np.ndarray:
        return _ellipse(on_grid(self.semi_y, u), on_grid(self.semi_z, u), sides)

    def moments(self, u: np.ndarray) -> SectionMoments:
        a, b = on_grid(self.semi_y, u), on_grid(self.semi_z, u)
        return SectionMoments(
            math.pi * a * b,
            math.pi * a * b**3 / 4,
            math.pi * a**3 * b / 4,
            math.pi * a**3 * b**3 / (a**2 + b**2),
        )


@dataclass(frozen=True)
class Rectangle(AbstractShape):
    """Solid rectangle: full widths along local y and z (m); torsion after Saint-Venant."""

    width_y: Profile
    width_z: Profile

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "section.width_y", self.width_y)
        check_positive(item, "section.width_z", self.width_z)

    def outline(self, u: np.ndarray, sides: int = 24) -> np.ndarray:
        half = np.stack([on_grid(self.width_y, u), on_grid(self.width_z, u)], axis=-1) / 2
        # Points along the edges, so that every outline has as many.
        angle = 2 * np.pi * (np.arange(sides) + 0.5) / sides
        round_ = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        square = round_ / np.abs(round_).max(axis=-1, keepdims=True)
        return half[:, None] * square

    def moments(self, u: np.ndarray) -> SectionMoments:
        a, b = on_grid(self.width_y, u), on_grid(self.width_z, u)
        return SectionMoments(a * b, a * b**3 / 12, b * a**3 / 12, _rectangle_torsion(a, b))


def _rectangle_torsion(a: Any, b: Any) -> Any:
    """Saint-Venant torsion constant; the series converges like n⁻⁵ and tanh → 1."""
    import jax.numpy as jnp

    backend: Any = jnp if is_traced((a, b)) else np
    long, short = backend.maximum(a, b), backend.minimum(a, b)
    series = 0.0
    for n in range(1, 40, 2):
        series = series + backend.tanh(n * math.pi * long / (2 * short)) / n**5
    return long * short**3 / 3 * (1 - 192 * short / (math.pi**5 * long) * series)
