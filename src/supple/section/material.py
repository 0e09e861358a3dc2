"""What a rod is made of: elasticity, density and damping, and the sectional matrices they give."""

import abc
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.errors import DescriptionError
from supple.numeric import (
    Profile,
    Scalar,
    asarray,
    check_number,
    check_positive,
    check_vector,
    is_traced,
    on_grid,
    stack,
)
from supple.reprs import brief
from supple.section.shape import AbstractShape, SectionMoments


class SectionMatrices(NamedTuple):
    """Per unit length, at each of n points: stiffness, inertia and damping, each (n, 6, 6)."""

    stiffness: Any
    inertia: Any
    damping: Any


class AbstractDamping(abc.ABC):
    """Internal damping: stress proportional to strain rate."""

    @abc.abstractmethod
    def matrix(self, moments: SectionMoments, stiffness: Any) -> Any:
        """Damping matrix (n, 6, 6) from the section's moments and stiffness (n, 6, 6)."""

    @abc.abstractmethod
    def check(self, item: str) -> None:
        """Raise a :class:`DescriptionError` naming ``item`` for impossible values."""


@dataclass(frozen=True)
class StiffnessDamping(AbstractDamping):
    """D = μ H with μ in seconds."""

    mu: Scalar

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "damping.mu", self.mu, allow_zero=True)

    def matrix(self, moments: SectionMoments, stiffness: Any) -> Any:
        return self.mu * stiffness


@dataclass(frozen=True)
class ShearViscosity(AbstractDamping):
    """D = diag(μJx, 3μJy, 3μJz, 3μA, μA, μA) with shear viscosity μ in Pa s."""

    mu: Scalar

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "damping.mu", self.mu, allow_zero=True)

    def matrix(self, moments: SectionMoments, stiffness: Any) -> Any:
        m, mu = moments, self.mu
        return _diagonal(
            mu * m.torsion,
            3 * mu * m.second_y,
            3 * mu * m.second_z,
            3 * mu * m.area,
            mu * m.area,
            mu * m.area,
        )


@dataclass(frozen=True)
class MatrixDamping(AbstractDamping):
    """A given 6x6 damping matrix (N m² s for curvatures, N s for stretch and shear)."""

    values: Any

    __repr__ = brief

    def check(self, item: str) -> None:
        matrix = check_vector(item, "damping.values", self.values, (6, 6))
        if not is_traced(matrix) and np.linalg.eigvalsh((matrix + matrix.T) / 2)[0] < -1e-12:
            raise DescriptionError(item, "damping.values", self.values, "no negative eigenvalue")

    def matrix(self, moments: SectionMoments, stiffness: Any) -> Any:
        return 0.0 * stiffness + asarray(self.values)


class AbstractProperties(abc.ABC):
    """Everything per unit length a rod needs, by whatever way it was given."""

    @abc.abstractmethod
    def matrices(self, u: np.ndarray) -> SectionMatrices:
        """Sectional matrices at the points ``u``."""

    @abc.abstractmethod
    def check(self, item: str) -> None:
        """Raise a :class:`DescriptionError` naming ``item`` for impossible values."""


@dataclass(frozen=True)
class Material:
    """Isotropic linear material: Young's modulus E (Pa), density (kg/m³), and G (Pa) or ν.

    E, G and the density are numbers, or functions of u for a graded material.
    """

    E: Profile
    density: Profile
    G: Profile | None = None
    nu: Scalar | None = None
    damping: AbstractDamping | None = None

    __repr__ = brief

    def shear_modulus(self, u: np.ndarray) -> Any:
        """G as given, or E / (2 (1 + ν)) with ν = 0.3 unless given, at the points ``u``."""
        if self.G is not None:
            return on_grid(self.G, u)
        return on_grid(self.E, u) / (2 * (1 + (0.3 if self.nu is None else self.nu)))

    def check(self, item: str) -> None:
        """Raise a :class:`DescriptionError` naming ``item`` for impossible values."""
        check_positive(item, "material.E", self.E, allow_zero=True)  # E = 0 is a string
        check_positive(item, "material.density", self.density)
        if self.G is not None and self.nu is not None:
            raise DescriptionError(item, "material", (self.G, self.nu), "G or nu, not both")
        if self.G is not None:
            check_positive(item, "material.G", self.G, allow_zero=True)
        if self.nu is not None and not is_traced(self.nu):
            check_number(item, "material.nu", self.nu, "a number in (-1, 0.5]")
            if not -1 < float(self.nu) <= 0.5:
                raise DescriptionError(item, "material.nu", self.nu, "a number in (-1, 0.5]")
        if self.damping is not None:
            if not isinstance(self.damping, AbstractDamping):
                need = "StiffnessDamping(…), ShearViscosity(…) or MatrixDamping(…)"
                raise DescriptionError(item, "material.damping", self.damping, need)
            self.damping.check(item)


@dataclass(frozen=True)
class SolidProperties(AbstractProperties):
    """A shape cut from a material."""

    shape: AbstractShape
    material: Material

    def check(self, item: str) -> None:
        self.shape.check(item)
        self.material.check(item)

    def matrices(self, u: np.ndarray) -> SectionMatrices:
        m = self.shape.moments(u)
        E, rho = (on_grid(value, u) for value in (self.material.E, self.material.density))
        G = self.material.shear_modulus(u)
        stiffness = _diagonal(
            G * m.torsion, E * m.second_y, E * m.second_z, E * m.area, G * m.area, G * m.area
        )
        mass = rho * m.area
        inertia = _diagonal(rho * m.polar, rho * m.second_y, rho * m.second_z, mass, mass, mass)
        damper = self.material.damping
        damping = 0.0 * stiffness if damper is None else damper.matrix(m, stiffness)
        return SectionMatrices(stiffness, inertia, damping)


@dataclass(frozen=True)
class GivenProperties(AbstractProperties):
    """Sectional matrices given directly, each as a diagonal (6,) or a matrix (6, 6).

    Units: stiffness N m² (curvatures) and N (stretch, shear); inertia kg m and kg/m.
    """

    stiffness: Any
    inertia: Any
    damping: Any = (0.0,) * 6

    __repr__ = brief

    def check(self, item: str) -> None:
        for field in ("stiffness", "inertia", "damping"):
            matrix = _square(item, f"section.{field}", getattr(self, field))
            if is_traced(matrix):
                continue
            if not np.allclose(matrix, matrix.T):
                raise DescriptionError(item, f"section.{field}", matrix, "a symmetric matrix")
            lowest = np.linalg.eigvalsh(matrix)[0]
            if lowest < -1e-12 * max(1.0, float(np.abs(matrix).max())):
                raise DescriptionError(item, f"section.{field}", lowest, "no negative eigenvalue")
            if field == "inertia" and np.any(np.diag(matrix)[3:] <= 0):
                raise DescriptionError(item, "section.inertia", matrix, "a positive mass per meter")

    def matrices(self, u: np.ndarray) -> SectionMatrices:
        each = [_square("rod", f, getattr(self, f)) for f in ("stiffness", "inertia", "damping")]
        ones = np.ones((len(u), 1, 1))
        return SectionMatrices(*(ones * matrix for matrix in each))


def _square(item: str, field: str, value: Any) -> Any:
    """A (6, 6) array from a diagonal or a matrix."""
    if np.shape(value) == (6,):
        return np.eye(6) * check_vector(item, field, value, (6,))
    return check_vector(item, field, value, (6, 6))


def _diagonal(*entries: Any) -> Any:
    """(n, 6, 6) diagonal matrices from six arrays (n,)."""
    return np.eye(6) * stack(entries, axis=-1)[:, :, None]
