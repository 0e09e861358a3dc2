"""Arithmetic that works on plain numbers (NumPy, no compilation) and on traced values (JAX).

Descriptions are differentiable: a length or a modulus may be a JAX tracer. Checks apply to concrete
numbers only; a traced value is somebody's derivative or batch and cannot be looked at.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError

Scalar = Any  # float, NumPy scalar, JAX array or tracer
Profile = Any  # a scalar, or a function of u in [0, 1]


def is_traced(value: object) -> bool:
    """Whether ``value`` holds a JAX tracer, whose number is not known yet."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))


def stack(values: Sequence[Any], axis: int = 0) -> Any:
    """``stack`` in NumPy, or in JAX if anything is traced."""
    backend = jnp if is_traced(list(values)) else np
    return backend.stack([backend.asarray(v, dtype=float) for v in values], axis=axis)


def asarray(value: Any) -> Any:
    """``asarray`` in NumPy, or in JAX if anything is traced."""
    return (jnp if is_traced(value) else np).asarray(value, dtype=float)


def on_grid(profile: Profile, u: np.ndarray) -> Any:
    """Values of a scalar or of a function of u on the points ``u``."""
    values = profile(u) if callable(profile) else profile
    return asarray(values) + 0.0 * u


def check_positive(item: str, field: str, value: Profile, *, allow_zero: bool = False) -> None:
    """Raise unless a number, or a function sampled on [0, 1], is finite and positive."""
    need = "a finite number >= 0" if allow_zero else "a finite number > 0"
    if callable(value):
        samples = _sampled(item, field, value)
        if is_traced(samples):
            return
        need += " at every u in [0, 1]"
    elif is_traced(value):
        return
    else:
        samples = _as_float(item, field, value, need)
        if np.ndim(samples):
            raise DescriptionError(item, field, value, "one number, not several")
    good = np.isfinite(samples) & (samples >= 0 if allow_zero else samples > 0)
    if not np.all(good):
        bad = np.asarray(samples)[~good].flat[0] if np.ndim(samples) else samples
        raise DescriptionError(item, field, float(bad), need)


def check_vector(item: str, field: str, value: Any, shape: tuple[int, ...]) -> Any:
    """Return ``value`` as an array of the given shape with finite entries, or raise."""
    if is_traced(value):
        array: Any = jnp.asarray(value)
    else:
        need = f"{_count(shape)} finite numbers, shape {shape}"
        try:
            raw = np.asarray(value)
            if raw.dtype.kind in "USO":  # NumPy would turn text into numbers
                raise TypeError
            array = raw.astype(float)
        except (TypeError, ValueError):
            raise DescriptionError(item, field, value, need) from None
        if array.shape == shape and not np.all(np.isfinite(array)):
            raise DescriptionError(item, field, value, need)
    if array.shape != shape:
        raise DescriptionError(item, field, value, f"shape {shape}, not {array.shape}")
    return array


def check_number(item: str, field: str, value: Any, need: str = "a finite number") -> None:
    """Raise unless a value is one finite number (or traced)."""
    if is_traced(value):
        return
    number = _as_float(item, field, value, need)
    if np.ndim(number) or not np.isfinite(number):
        raise DescriptionError(item, field, value, need)


def times_of(item: str, field: str, value: Any) -> tuple[float, ...]:
    """Instants (s) as a tuple: none, one or several finite numbers."""
    return row_of(item, field, value, "times (s): finite numbers")


def row_of(item: str, field: str, value: Any, need: str) -> tuple[float, ...]:
    """None, one or several finite numbers as a tuple."""
    numbers = _as_float(item, field, value, need)
    if np.ndim(numbers) > 1 or not np.all(np.isfinite(numbers)):
        raise DescriptionError(item, field, value, need)
    return tuple(np.atleast_1d(numbers).tolist())


def _count(shape: tuple[int, ...]) -> str:
    return " x ".join(str(n) for n in shape)


def _as_float(item: str, field: str, value: Any, need: str) -> np.ndarray:
    if isinstance(value, bool | str) or value is None:
        raise DescriptionError(item, field, value, need)
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise DescriptionError(item, field, value, need) from None


def _sampled(item: str, field: str, function: Callable[[np.ndarray], Any]) -> Any:
    u = np.linspace(0.0, 1.0, 33)
    try:
        return on_grid(function, u)
    except (TypeError, ValueError, IndexError) as error:
        need = f"a function of u in [0, 1] that takes an array and returns one value each ({error})"
        raise DescriptionError(item, field, function, need) from None
