"""Which of the six strains a rod may have, and on which functions each is spanned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.strain.basis import AbstractBasis, Legendre, named_basis

STRAINS = ("kx", "ky", "kz", "gx", "gy", "gz")
"""Twist, bending about y and z, stretch, shear along y and z."""

ROD_MODELS: dict[str, tuple[str, ...]] = {
    "rigid": (),
    "planar": ("kz",),
    "planar-extensible": ("kz", "gx"),
    "planar-reissner": ("kz", "gx", "gy"),
    "bending": ("ky", "kz"),
    "kirchhoff": ("kx", "ky", "kz"),
    "extensible-kirchhoff": ("kx", "ky", "kz", "gx"),
    "reissner": STRAINS,
}
"""Named rod models; planar ones move in the local x-y plane, rigid ones keep their shape at rest."""

AUTO_STRAINS = {
    "auto": ("kirchhoff", "reissner"),
    "planar-auto": ("planar", "planar-reissner"),
}
"""Names of a choice between two models: without stretch and shear, and with them."""

STRAIGHT = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
"""Strain of a straight, unstretched rod."""


@dataclass(frozen=True)
class StrainField:
    """Bases of the allowed strains, in the order of :data:`STRAINS`."""

    components: tuple[tuple[int, AbstractBasis], ...]

    @property
    def count(self) -> int:
        """Number of strain coordinates."""
        return sum(basis.count for _, basis in self.components)

    @property
    def degree(self) -> int:
        """Highest polynomial degree among the components."""
        return max((basis.degree for _, basis in self.components), default=0)

    @property
    def breaks(self) -> tuple[float, ...]:
        """All interior breaks, sorted."""
        return tuple(sorted({b for _, basis in self.components for b in basis.breaks}))

    @property
    def rows(self) -> tuple[int, ...]:
        """Strain component (0 … 5) of each coordinate."""
        return tuple(row for row, basis in self.components for _ in range(basis.count))

    def values(self, u: Any) -> Any:
        """Φ at the points ``u`` (n,): shape (n, 6, count)."""
        columns = [basis.values(u) for _, basis in self.components]
        if isinstance(u, np.ndarray):
            phi = np.zeros((len(u), 6, self.count))
            start = 0
            for (row, basis), value in zip(self.components, columns, strict=True):
                phi[:, row, start : start + basis.count] = value
                start += basis.count
            return phi
        import jax.numpy as jnp

        if not columns:
            return jnp.zeros((len(u), 6, 0))
        selector = np.zeros((6, self.count))
        selector[list(self.rows), np.arange(self.count)] = 1.0
        return jnp.concatenate(columns, axis=-1)[:, None, :] * selector


def strain_field(
    item: str,
    strains: str | tuple[str, ...] | list[str],
    basis: AbstractBasis | int | str | Mapping[str, AbstractBasis | int | str],
    breaks: tuple[float, ...] = (),
) -> StrainField:
    """The strain field a user asked for, or an error that says what is allowed.

    An integer basis is a number of Legendre modes; named ones have segments between ``breaks``.
    """
    if isinstance(strains, str):
        if strains not in ROD_MODELS:
            need = f"one of {', '.join(ROD_MODELS)}, or a tuple of strains from {STRAINS}"
            raise DescriptionError(item, "strains", strains, need)
        names = ROD_MODELS[strains]
    else:
        names = tuple(strains)
    unknown = [name for name in names if name not in STRAINS]
    if unknown or len(set(names)) != len(names) or (not names and strains != "rigid"):
        need = f"distinct names from {STRAINS}, at least one"
        raise DescriptionError(item, "strains", names, need)
    if isinstance(basis, Mapping):
        missing = sorted(set(names) ^ set(basis))
        if missing:
            need = f"one basis for each of the allowed strains {names}; check {missing}"
            raise DescriptionError(item, "basis", tuple(basis), need)
        chosen = dict(basis)
    else:
        chosen = dict.fromkeys(names, basis)
    components = tuple(
        (STRAINS.index(name), _as_basis(item, chosen[name], breaks))
        for name in STRAINS
        if name in chosen
    )
    return StrainField(components)


def _as_basis(item: str, basis: object, breaks: tuple[float, ...]) -> AbstractBasis:
    if isinstance(basis, AbstractBasis):
        return basis
    if isinstance(basis, str):
        return named_basis(item, basis, breaks)
    if isinstance(basis, int | np.integer) and not isinstance(basis, bool) and basis >= 1:
        return Legendre(int(basis) - 1)
    need = "a basis (Legendre, Chebyshev, Monomial, Piecewise…) or a number of modes >= 1"
    raise DescriptionError(item, "basis", basis, need)
