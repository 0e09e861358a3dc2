"""Laws of time that scale a load or drive a joint: small, differentiable, safe to trace."""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError


class AbstractLaw(eqx.Module):
    """A scalar function of time (s)."""

    @abc.abstractmethod
    def __call__(self, t: Float[Array, ""]) -> Float[Array, ""]:
        """Value at time t."""

    @property
    def corners(self) -> tuple[float, ...]:
        """Times at which the law is not smooth; error-controlled steps end there."""
        return ()


class Constant(AbstractLaw):
    """Always ``value``."""

    value: Any = 1.0

    def __call__(self, t: Float[Array, ""]) -> Float[Array, ""]:
        return jnp.asarray(self.value, dtype=float)


class Table(AbstractLaw):
    """Linear interpolation between ``(times, values)``, constant outside."""

    times: tuple[float, ...] = eqx.field(static=True)
    values: Any

    def __init__(self, times: Any, values: Any) -> None:
        self.times = tuple(float(t) for t in np.asarray(times, dtype=float))
        self.values = values
        increasing = all(a < b for a, b in zip(self.times, self.times[1:], strict=False))
        if not increasing or len(self.times) != len(values) or not self.times:
            need = "increasing times, with one value each"
            raise DescriptionError("Table", "times", self.times, need)

    def __call__(self, t: Float[Array, ""]) -> Float[Array, ""]:
        values = jnp.asarray(self.values, dtype=float)
        starts = np.array(self.times[:-1])
        # A sum of ramps: quicker to compile and to run than a search.
        passed = jnp.clip((t - starts) / np.diff(self.times), 0.0, 1.0)
        return values[0] + passed @ jnp.diff(values)

    @property
    def corners(self) -> tuple[float, ...]:
        return self.times


def triangle(start: float, peak: float, end: float, height: Any = 1.0) -> Table:
    """Zero until ``start``, up to ``height`` at ``peak``, zero from ``end``."""
    zero = 0.0 * height
    return Table(
        (start, peak, end),
        [zero, height, zero] if _plain(height) else jnp.stack([zero, height, zero]),
    )


def ramp(start: float, end: float, height: Any = 1.0) -> Table:
    """Zero until ``start``, linear up to ``height`` at ``end``, constant after."""
    zero = 0.0 * height
    return Table((start, end), [zero, height] if _plain(height) else jnp.stack([zero, height]))


def _plain(value: Any) -> bool:
    return isinstance(value, int | float)


class Function(AbstractLaw):
    """Your own function of time, written with ``jax.numpy``; ``kinks`` are its non-smooth times.

    Define the function once, in a module: a new one, such as a lambda in a loop, compiles anew.
    """

    function: Callable[[Any], Any] = eqx.field(static=True)
    kinks: tuple[float, ...] = eqx.field(static=True, default=())

    def __call__(self, t: Float[Array, ""]) -> Float[Array, ""]:
        return jnp.asarray(self.function(t), dtype=float)

    @property
    def corners(self) -> tuple[float, ...]:
        return self.kinks


def as_law(value: Any) -> AbstractLaw:
    """A law from a law, a number or a function of time."""
    if isinstance(value, AbstractLaw):
        return value
    if callable(value):
        return Function(value)
    return Constant(value)
