"""Functions of u = X/L in [0, 1] on which one strain component is spanned."""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError
from supple.numeric import check_positive, row_of
from supple.reprs import brief
from supple.tried import check_numbers, tried


class AbstractBasis(abc.ABC):
    """A finite set of scalar functions on [0, 1], smooth between its breaks."""

    @property
    @abc.abstractmethod
    def count(self) -> int:
        """Number of functions, that is of strain coordinates."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Interior points where the functions are not smooth; quadrature starts anew there."""
        return ()

    @property
    @abc.abstractmethod
    def degree(self) -> int:
        """Polynomial degree between breaks (an estimate for other functions); sizes the grid."""

    @abc.abstractmethod
    def values(self, u: Any) -> Any:
        """Values at the points ``u`` (n,), shape (n, count). Takes NumPy and JAX arrays."""


def _backend(u: Any) -> Any:
    return np if isinstance(u, np.ndarray) else jnp


def _check_order(name: str, order: object) -> None:
    if not isinstance(order, int | np.integer) or isinstance(order, bool) or order < 0:
        raise DescriptionError(name, "order", order, "an integer >= 0 (0 is a constant strain)")


def _recurrence(u: Any, order: int, step: Callable[[int, Any, Any, Any], Any]) -> Any:
    """Values of a three-term family on s = 2u - 1."""
    backend = _backend(u)
    s = 2 * u - 1
    terms = [backend.ones_like(s), s]
    for k in range(1, order):
        terms.append(step(k, s, terms[k], terms[k - 1]))
    return backend.stack(terms[: order + 1], axis=-1)


@dataclass(frozen=True)
class Legendre(AbstractBasis):
    """Legendre polynomials P₀ … P_order of 2u - 1; the default, best conditioned."""

    order: int

    __repr__ = brief

    def __post_init__(self) -> None:
        _check_order("Legendre", self.order)

    @property
    def count(self) -> int:
        return self.order + 1

    @property
    def degree(self) -> int:
        return self.order

    def values(self, u: Any) -> Any:
        return _recurrence(
            u, self.order, lambda k, s, p, q: ((2 * k + 1) * s * p - k * q) / (k + 1)
        )


@dataclass(frozen=True)
class Chebyshev(AbstractBasis):
    """Chebyshev polynomials T₀ … T_order of 2u - 1."""

    order: int

    __repr__ = brief

    def __post_init__(self) -> None:
        _check_order("Chebyshev", self.order)

    @property
    def count(self) -> int:
        return self.order + 1

    @property
    def degree(self) -> int:
        return self.order

    def values(self, u: Any) -> Any:
        return _recurrence(u, self.order, lambda k, s, p, q: 2 * s * p - q)


@dataclass(frozen=True)
class Monomial(AbstractBasis):
    """1, u, …, u^order. Ill conditioned beyond order 8 or so; Legendre spans the same space."""

    order: int

    __repr__ = brief

    def __post_init__(self) -> None:
        _check_order("Monomial", self.order)

    @property
    def count(self) -> int:
        return self.order + 1

    @property
    def degree(self) -> int:
        return self.order

    def values(self, u: Any) -> Any:
        return _backend(u).stack([u**k for k in range(self.order + 1)], axis=-1)


def _inside(u: Any, edges: tuple[float, ...], i: int) -> Any:
    """Which points are on segment i: its start is, its end only if it is the last one."""
    last = i == len(edges) - 2
    return (u >= edges[i]) & ((u <= edges[i + 1]) if last else (u < edges[i + 1]))


def _check_edges(
    name: str, segments: int | tuple[float, ...], field: str = "segments"
) -> tuple[float, ...]:
    """Edges 0 < … < 1 from a number of equal segments or from interior break points."""
    if isinstance(segments, int | np.integer):
        if segments < 1 or isinstance(segments, bool):
            raise DescriptionError(name, "segments", segments, "at least 1 segment")
        return tuple(np.linspace(0.0, 1.0, int(segments) + 1).tolist())
    need = "a number of segments, or interior breaks increasing strictly between 0 and 1"
    edges = (0.0, *row_of(name, field, segments, need), 1.0)
    if not all(a < b for a, b in pairwise(edges)):  # NaN compares false
        raise DescriptionError(name, field, segments, need)
    return edges


@dataclass(frozen=True)
class PiecewiseConstant(AbstractBasis):
    """One constant per segment; ``segments`` is their number or the interior breaks (u)."""

    segments: int | tuple[float, ...]

    __repr__ = brief

    def __post_init__(self) -> None:
        _check_edges("PiecewiseConstant", self.segments)

    @property
    def edges(self) -> tuple[float, ...]:
        """All segment ends, from 0 to 1."""
        return _check_edges("PiecewiseConstant", self.segments)

    @property
    def count(self) -> int:
        return len(self.edges) - 1

    @property
    def degree(self) -> int:
        return 0

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.edges[1:-1]

    def values(self, u: Any) -> Any:
        backend = _backend(u)
        inside = [_inside(u, self.edges, i) for i in range(self.count)]
        return backend.stack([backend.where(mask, 1.0, 0.0) for mask in inside], axis=-1)


@dataclass(frozen=True)
class PiecewiseLinear(AbstractBasis):
    """Continuous, linear on each segment: the coordinates are the values at the segment ends."""

    segments: int | tuple[float, ...]

    __repr__ = brief

    def __post_init__(self) -> None:
        _check_edges("PiecewiseLinear", self.segments)

    @property
    def edges(self) -> tuple[float, ...]:
        """All segment ends, from 0 to 1."""
        return _check_edges("PiecewiseLinear", self.segments)

    @property
    def count(self) -> int:
        return len(self.edges)

    @property
    def degree(self) -> int:
        return 1

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.edges[1:-1]

    def values(self, u: Any) -> Any:
        backend = _backend(u)
        edges = self.edges
        hats = []
        for i, center in enumerate(edges):
            hat = backend.ones_like(u)
            if i > 0:
                hat = backend.minimum(hat, (u - edges[i - 1]) / (center - edges[i - 1]))
            if i < len(edges) - 1:
                hat = backend.minimum(hat, (edges[i + 1] - u) / (edges[i + 1] - center))
            hats.append(backend.maximum(hat, 0.0))
        return backend.stack(hats, axis=-1)


@dataclass(frozen=True)
class PiecewiseLegendre(AbstractBasis):
    """Legendre polynomials on each segment, not tied to its neighbors: strains may jump between them.

    ``order`` is the highest on each segment, or one for each; ``segments`` as in :class:`PiecewiseLinear`.
    """

    order: int | tuple[int, ...]
    segments: int | tuple[float, ...]

    __repr__ = brief

    def __post_init__(self) -> None:
        pieces = len(_check_edges("PiecewiseLegendre", self.segments)) - 1
        given = self.order
        orders = given if isinstance(given, tuple | list) else (given,) * pieces
        for order in orders:
            _check_order("PiecewiseLegendre", order)
        if len(orders) != pieces:
            need = f"one order, or one for each of the {pieces} segments"
            raise DescriptionError("PiecewiseLegendre", "order", self.order, need)

    @property
    def edges(self) -> tuple[float, ...]:
        """All segment ends, from 0 to 1."""
        return _check_edges("PiecewiseLegendre", self.segments)

    @property
    def orders(self) -> tuple[int, ...]:
        """Highest order on each segment."""
        pieces = len(self.edges) - 1
        return tuple(self.order) if not isinstance(self.order, int) else (self.order,) * pieces

    @property
    def count(self) -> int:
        return sum(order + 1 for order in self.orders)

    @property
    def degree(self) -> int:
        return max(self.orders)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.edges[1:-1]

    def values(self, u: Any) -> Any:
        backend, edges = _backend(u), self.edges
        found = []
        for i, order in enumerate(self.orders):
            local = (u - edges[i]) / (edges[i + 1] - edges[i])
            inside = _inside(u, edges, i)
            # Far outside polynomials are huge, and their derivatives too: they are not computed there.
            own = Legendre(order).values(backend.where(inside, local, 0.5))
            found.append(backend.where(inside[..., None], own, 0.0))
        return backend.concatenate(found, axis=-1)


@dataclass(frozen=True)
class CustomBasis(AbstractBasis):
    """Your own functions: ``function(u)`` returns values of shape (n, size) for points u (n,).

    ``degree`` tells the grid how fast they vary (default: like polynomials of that count);
    ``breakpoints`` are interior u where they are not smooth.
    """

    function: Callable[[Any], Any]
    size: int
    resolution: int | None = None
    breakpoints: tuple[float, ...] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        _check_edges("CustomBasis", self.breakpoints, "breakpoints")
        if self.resolution is not None:
            check_positive("CustomBasis", "resolution", self.resolution)
        probe = np.linspace(0.0, 1.0, 5)
        need = f"a function of an array u (n,) -> (n, {self.size})"
        found = tried("CustomBasis", "function", self.function, (probe,), need, traced=False)
        check_numbers("CustomBasis", "function", found, [(5, self.size)], need)
        values = np.asarray(found, dtype=float)
        if values.shape != (5, self.size) or not np.all(np.isfinite(values)):
            need = f"finite values of shape (n, {self.size}) for points u (n,)"
            raise DescriptionError("CustomBasis", "function", values.shape, need)

    @property
    def count(self) -> int:
        return self.size

    @property
    def degree(self) -> int:
        return self.size if self.resolution is None else self.resolution

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.breakpoints

    def values(self, u: Any) -> Any:
        return self.function(u)


NAMED: dict[str, type[PiecewiseConstant] | type[PiecewiseLinear]] = {
    "pcc": PiecewiseConstant,
    "pcs": PiecewiseConstant,
    "piecewise-constant": PiecewiseConstant,
    "pls": PiecewiseLinear,
    "piecewise-linear": PiecewiseLinear,
}
"""Bases by the names of the literature: piecewise constant (curvature or strain), piecewise linear."""
CONSTANT = ("constant", "cc")
NAMES = (
    "'pcc', 'pcs', 'pls' with segments between the rod's breaks or, 'pcc:3', equal ones; 'constant'"
)


def named_basis(item: str, name: str, breaks: tuple[float, ...]) -> AbstractBasis:
    """A basis by its name: segments between ``breaks``, or as many equal ones as the name says."""
    kind, _, number = name.partition(":")
    if name in CONSTANT:
        return Legendre(0)
    if kind not in NAMED or (number and not (number.isascii() and number.isdigit())):
        raise DescriptionError(
            item, "basis", name, f"'auto', a number of modes, a basis, or {NAMES}"
        )
    if number:
        return NAMED[kind](int(number))
    return NAMED[kind](tuple(breaks) if breaks else 1)
