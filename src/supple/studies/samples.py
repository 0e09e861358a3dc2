"""Which values the parameters of a study take: grids, random and Latin-hypercube samples, lists."""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.reprs import brief

MOST = 100_000_000
"""Members of one study."""


class AbstractSamples(abc.ABC):
    """Values of named parameters, a row for each member of a study."""

    @property
    @abc.abstractmethod
    def names(self) -> tuple[str, ...]:
        """The parameters."""

    @property
    @abc.abstractmethod
    def table(self) -> np.ndarray:
        """Their values (members, parameters)."""

    def __len__(self) -> int:
        return len(self.table)

    def sample(self, member: int) -> dict[str, float]:
        """The parameters of one member."""
        return dict(zip(self.names, self.table[member].tolist(), strict=True))


@dataclass(frozen=True)
class Grid(AbstractSamples):
    """Every combination of the ``values`` of each parameter; the last one changes fastest."""

    values: Mapping[str, Any]

    __repr__ = brief

    def __post_init__(self) -> None:
        columns = _columns("Grid", self.values)
        size = np.prod([len(column) for column in columns.values()], dtype=float)
        if size > MOST:
            raise DescriptionError("Grid", "values", f"{size:.0f} members", f"at most {MOST}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    @cached_property
    def table(self) -> np.ndarray:
        columns = [np.asarray(own, dtype=float) for own in self.values.values()]
        return np.stack([part.ravel() for part in np.meshgrid(*columns, indexing="ij")], axis=1)


@dataclass(frozen=True)
class Listed(AbstractSamples):
    """The ``values`` of all parameters side by side: the first of each, the second of each, and so on."""

    values: Mapping[str, Any]

    __repr__ = brief

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in _columns("Listed", self.values).items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{count} of {name}" for name, count in lengths.items())
            raise DescriptionError("Listed", "values", told, "as many of each parameter")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    @cached_property
    def table(self) -> np.ndarray:
        return np.stack([np.asarray(own, dtype=float) for own in self.values.values()], axis=1)


@dataclass(frozen=True)
class _Ranges(AbstractSamples):
    """``count`` samples from ``ranges``, a (least, largest) for each parameter; ``seed`` chooses which.

    Parameters named in ``logarithmic`` are spread evenly over their logarithm.
    """

    ranges: Mapping[str, Any]
    count: int
    seed: int = 0
    logarithmic: Sequence[str] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        kind = type(self).__name__
        for name, pair in _columns(kind, self.ranges, "ranges").items():
            if len(pair) != 2 or not pair[0] < pair[1]:
                need = "two numbers, the least and the largest value"
                raise DescriptionError(kind, f"ranges.{name}", pair.tolist(), need)
        for name in _names(kind, "logarithmic", self.logarithmic):
            if name not in self.ranges:
                need = "one of: " + ", ".join(self.ranges)
                raise DescriptionError(kind, "logarithmic", name, need)
            if not np.all(np.asarray(self.ranges[name], dtype=float) > 0):
                need = "positive numbers, since it is logarithmic"
                raise DescriptionError(kind, f"ranges.{name}", self.ranges[name], need)
        for field, least in (("count", 1), ("seed", 0)):
            value: Any = getattr(self, field)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or not least <= value <= MOST:
                raise DescriptionError(kind, field, value, f"an integer, {least} … {MOST}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.ranges)

    @abc.abstractmethod
    def fractions(self) -> np.ndarray:
        """Places (count, parameters) in [0, 1]."""

    @cached_property
    def table(self) -> np.ndarray:
        unit, columns = self.fractions(), []
        for name, u in zip(self.names, unit.T, strict=True):
            low, high = (float(bound) for bound in self.ranges[name])
            if name in self.logarithmic:
                columns.append(low * (high / low) ** u)
            else:
                columns.append(low + (high - low) * u)
        return np.stack(columns, axis=1)


@dataclass(frozen=True, repr=False)
class RandomSamples(_Ranges):
    """``count`` independent samples, even over ``ranges``: a (least, largest) for each parameter.

    ``seed`` chooses which; parameters named in ``logarithmic`` are spread evenly over their logarithm.
    """

    def fractions(self) -> np.ndarray:
        return np.random.default_rng(self.seed).uniform(size=(self.count, len(self.ranges)))


@dataclass(frozen=True, repr=False)
class LatinHypercube(_Ranges):
    """``count`` samples from ``ranges`` of which each parameter has one in each of ``count`` even steps.

    ``seed`` chooses which; parameters named in ``logarithmic`` are spread evenly over their logarithm. An
    average over such samples is nearer to the true one than over as many independent ones.
    """

    def fractions(self) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        steps = np.tile(np.arange(self.count)[:, None], len(self.ranges))
        return (rng.permuted(steps, axis=0) + rng.uniform(size=steps.shape)) / self.count


Samples = Grid | Listed | RandomSamples | LatinHypercube


def _columns(kind: str, values: Any, field: str = "values") -> dict[str, np.ndarray]:
    """The numbers of each parameter, checked."""
    if not isinstance(values, Mapping) or not values:
        raise DescriptionError(kind, field, values, "a mapping from parameters to numbers")
    found = {}
    for name, own in values.items():
        try:
            found[name] = np.asarray(own, dtype=float)
        except (TypeError, ValueError):
            found[name] = np.zeros(0)
        good = found[name].ndim == 1 and found[name].size and np.all(np.isfinite(found[name]))
        if not isinstance(name, str) or not name or "/" in name:
            raise DescriptionError(kind, field, name, "names of parameters, without /")
        if not good:
            raise DescriptionError(kind, f"{field}.{name}", own, "a list of finite numbers")
    return found


def _names(kind: str, field: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise DescriptionError(kind, field, names, "a list of names of parameters")
    return tuple(names)
