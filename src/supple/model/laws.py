"""Laws of time that scale a load or drive a joint: small, differentiable, safe to trace."""

import abc
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.numeric import asarray, is_traced, stack, times_of
from supple.reprs import brief


class AbstractLaw(eqx.Module):
    """A function of time (s): one number, or several where a load takes several."""

    @abc.abstractmethod
    def __call__(self, t: Float[Array, ""]) -> Float[Array, "*n"]:
        """Value at time t."""

    __repr__ = brief

    @property
    def corners(self) -> tuple[float, ...]:
        """Times at which the law is not smooth; error-controlled steps end there."""
        return ()


class AbstractEffortLaw(eqx.Module):
    """An actuator of your own: a tension, pressure or torque that follows the coordinate it drives.

    Give it as ``tension`` of a tendon, ``pressure`` of a chamber or ``torque`` of a motor. Its fields are
    numbers (or static); derivatives come from automatic differentiation. Statics raises it with the loads.
    """

    __repr__ = brief

    @abc.abstractmethod
    def __call__(
        self, t: Float[Array, ""], length: Float[Array, ""], rate: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Tension (N), pressure (Pa) or torque (N m) at time t, of a length (m), volume or angle."""

    def energy(self, t: Float[Array, ""], length: Float[Array, ""]) -> Float[Array, ""]:
        """Elastic energy (J) that it stores: none unless said."""
        return jnp.zeros(())

    @property
    def kinks(self) -> tuple[float, ...]:
        """Times (s) at which it is not smooth."""
        return ()


class Clock(AbstractLaw):
    """The time itself (s), for efforts that need it."""

    kinks: tuple[float, ...] = eqx.field(static=True, default=())

    def __call__(self, t: Float[Array, ""]) -> Float[Array, ""]:
        return jnp.asarray(t, dtype=float)

    @property
    def corners(self) -> tuple[float, ...]:
        return self.kinks


class Constant(AbstractLaw):
    """Always ``value``."""

    value: Any = 1.0

    def __call__(self, t: Float[Array, ""]) -> Float[Array, "*n"]:
        return jnp.asarray(self.value, dtype=float)


class Input(AbstractLaw):
    """What a controller says: constant between its calls, ``value`` (a number or an array) before the first.

    Laws of one ``name`` are one input.
    """

    name: str = eqx.field(static=True)
    value: Any

    def __init__(self, name: str, value: Any = 0.0) -> None:
        if not name:
            raise DescriptionError("Input", "name", name, "a non-empty name")
        self.name = name
        self.value = value

    def __call__(self, t: Float[Array, ""]) -> Float[Array, "*n"]:
        return jnp.asarray(self.value, dtype=float)


class Table(AbstractLaw):
    """Linear interpolation between ``(times, values)``, constant outside."""

    times: tuple[float, ...] = eqx.field(static=True)
    values: Any

    def __init__(self, times: Any, values: Any) -> None:
        need = "increasing times, with one value each"
        try:
            given = np.asarray(times, dtype=float)
        except (TypeError, ValueError):  # text, or lists of several lengths
            raise DescriptionError("Table", "times", times, need) from None
        fits = given.ndim == 1 and np.ndim(values) > 0 and len(given) == len(values) > 0
        if not fits or not np.all(np.isfinite(given)) or np.any(np.diff(given) <= 0):
            raise DescriptionError("Table", "times", times, need)
        self.times = tuple(given.tolist())
        self.values = values

    def __call__(self, t: Float[Array, ""]) -> Float[Array, "*n"]:
        values = jnp.asarray(self.values, dtype=float)
        starts = np.array(self.times[:-1])
        # A sum of ramps: quicker to compile and to run than a search.
        passed = (_within(t, starts, np.array(self.times[1:])) - starts) / np.diff(self.times)
        return values[0] + passed @ jnp.diff(values, axis=0)

    @property
    def corners(self) -> tuple[float, ...]:
        return self.times


def _within(t: Any, start: Any, end: Any) -> Any:
    """The time held within [start, end); at both ends its derivative is that of what follows.

    Runs start, and start anew, at corners: there the halves that ``jnp.clip`` takes would be wrong.
    """
    return jnp.where(t < start, start, jnp.where(t >= end, end, t))


class Spline(AbstractLaw):
    """Cubic spline through ``(times, values)``: smooth in its first two derivatives, constant outside.

    For measured data: its derivatives are what an imposed motion needs.
    """

    times: tuple[float, ...] = eqx.field(static=True)
    values: Float[Array, " m"]
    coefficients: Float[Array, "4 n"] = eqx.field(repr=False)

    def __init__(self, times: Any, values: Any) -> None:
        times, values = np.asarray(times, dtype=float), asarray(values)
        if times.shape != values.shape or times.ndim != 1 or np.any(np.diff(times) <= 0):
            need = "increasing times, with one value each"
            raise DescriptionError("Spline", "times", np.shape(times), need)
        if len(times) < 4 or not (is_traced(values) or np.all(np.isfinite(values))):
            raise DescriptionError("Spline", "values", len(times), "at least 4 finite values")
        self.times = tuple(times.tolist())
        self.values = values
        from scipy.interpolate import CubicSpline  # slow to import and rarely needed

        if is_traced(values):  # a spline is linear in what it passes through
            self.coefficients = CubicSpline(times, np.eye(len(times))).c @ values
        else:
            self.coefficients = CubicSpline(times, values).c

    def __call__(self, t: Float[Array, ""]) -> Float[Array, ""]:
        times = np.array(self.times)
        inside = _within(t, times[0], times[-1])
        piece = jnp.clip(jnp.sum(inside >= times) - 1, 0, len(times) - 2)
        s = inside - jnp.asarray(times)[piece]
        a, b, c, d = jnp.asarray(self.coefficients)[:, piece]
        return ((a * s + b) * s + c) * s + d

    @property
    def corners(self) -> tuple[float, ...]:
        return (self.times[0], self.times[-1])


def smooth(times: Any, values: Any, cutoff: float) -> Spline:
    """A spline through evenly sampled data, low-pass filtered at ``cutoff`` (Hz) without delay."""
    times = np.asarray(times, dtype=float)
    steps = np.diff(times)
    if len(times) < 16 or np.any(np.abs(steps - steps.mean()) > 1e-6 * steps.mean()):
        need = "at least 16 instants at an even spacing"
        raise DescriptionError("smooth", "times", len(times), need)
    if not 0 < cutoff < 0.5 / steps.mean():
        need = f"a frequency between 0 and {0.5 / steps.mean():.3g} Hz"
        raise DescriptionError("smooth", "cutoff", cutoff, need)
    from scipy.signal import butter, filtfilt  # slow to import and rarely needed

    numerator, denominator = butter(4, cutoff, fs=1 / steps.mean())
    return Spline(times, filtfilt(numerator, denominator, np.asarray(values, dtype=float)))


def triangle(start: float, peak: float, end: float, height: Any = 1.0) -> Table:
    """Zero until ``start`` (s), up to ``height`` at ``peak``, zero from ``end``."""
    zero = 0.0 * height
    return Table(
        (start, peak, end),
        [zero, height, zero] if _plain(height) else jnp.stack([zero, height, zero]),
    )


def ramp(start: float, end: float, height: Any = 1.0) -> Table:
    """Zero until ``start`` (s), linear up to ``height`` at ``end`` (s), constant after."""
    zero = 0.0 * height
    return Table((start, end), [zero, height] if _plain(height) else jnp.stack([zero, height]))


def _plain(value: Any) -> bool:
    return isinstance(value, int | float)


class Function(AbstractLaw):
    """Your own function of time, written with ``jax.numpy``; ``kinks`` are its non-smooth times.

    Define the function once, in a module: a new one, such as a lambda in a loop, recompiles.
    """

    function: Callable[[Any], Any] = eqx.field(static=True)
    kinks: tuple[float, ...] = eqx.field(
        static=True, default=(), converter=partial(times_of, "Function", "kinks")
    )

    def __call__(self, t: Float[Array, ""]) -> Float[Array, "*n"]:
        return jnp.asarray(self.function(t), dtype=float)

    @property
    def corners(self) -> tuple[float, ...]:
        return self.kinks


def as_law(value: Any) -> AbstractLaw:
    """A law from a law, a number or a function of time."""
    if isinstance(value, AbstractLaw):
        return value
    if isinstance(value, AbstractEffortLaw):
        return Clock(tuple(value.kinks))
    if callable(value):
        return Function(value)
    return Constant(value)


class Laws(eqx.Module):
    """Many laws, one number each: those of one form are computed together, so that programs stay small."""

    batches: tuple[AbstractLaw, ...]
    members: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Which laws each batch stands for; of several, numbers have a first axis more."""

    @property
    def size(self) -> int:
        """Number of laws."""
        return sum(len(members) for members in self.members)

    @property
    def corners(self) -> tuple[float, ...]:
        """Times at which some law is not smooth."""
        return tuple(corner for law in self.batches for corner in law.corners)

    def __call__(self, t: Float[Array, ""]) -> Float[Array, " n"]:
        """What all laws say at time t."""
        if not self.batches:
            return jnp.zeros(0)
        parts = []
        for law, members in zip(self.batches, self.members, strict=True):
            if len(members) == 1:
                parts.append(law(t)[None])
            elif not jax.tree.leaves(law):
                parts.append(jnp.broadcast_to(law(t), (len(members),)))
            else:
                parts.append(jax.vmap(lambda one: one(t))(law))
        order = np.argsort(np.concatenate([np.array(m) for m in self.members]), kind="stable")
        listed = jnp.concatenate(parts)
        return listed if np.array_equal(order, np.arange(len(order))) else listed[order]


def batched(laws: list[AbstractLaw]) -> Laws:
    """Laws of one form together; inputs, which controllers set one by one, stay alone."""
    found: dict[Any, list[int]] = {}
    for i, law in enumerate(laws):
        leaves, form = jax.tree.flatten(law)
        alone = i if any(isinstance(x, Input) for x in _inside(law)) else -1
        found.setdefault((form, alone, tuple(np.shape(x) for x in leaves)), []).append(i)
    batches = [
        laws[own[0]]
        if len(own) == 1
        else jax.tree.map(lambda *leaves: stack(leaves), *(laws[i] for i in own))
        for own in found.values()
    ]
    return Laws(tuple(batches), tuple(tuple(own) for own in found.values()))


def _inside(law: AbstractLaw) -> list[Any]:
    return jax.tree.leaves(law, is_leaf=lambda leaf: isinstance(leaf, Input))
