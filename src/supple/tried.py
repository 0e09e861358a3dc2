"""Functions of users, called once when they are described, with values that are traced as in a run.

What would be an error of JAX many frames deep, or a wrong result, is told where the function was given.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from supple.errors import DescriptionError
from supple.reprs import short


class _Words(str):
    """Words about what was found, rather than the value itself."""

    def __repr__(self) -> str:
        return str(self)


def number(*shape: int) -> jax.ShapeDtypeStruct:
    """An argument of so many numbers, whose values are not known."""
    return jax.ShapeDtypeStruct(shape, float)


def tried(
    item: str,
    field: str,
    function: Callable[..., Any],
    given: Sequence[Any],
    need: str,
    *,
    traced: bool = True,
) -> Any:
    """What a function gives for ``given``: values, or with ``traced`` only their shapes.

    Raises :class:`DescriptionError` with the cure where it cannot be called like that.
    """
    check_arguments(item, field, function, len(given), need)
    try:
        if traced:  # by a function of Python: JAX takes no others, such as np.sin itself
            return jax.eval_shape(lambda *args: function(*args), *given)
        return function(*given)
    except Exception as error:
        told = f"{need}; it raised {_shortened(error)}{_cure(error)}"
        raise DescriptionError(item, field, _Words(short(function)), told) from error


def check_arguments(
    item: str, field: str, function: Callable[..., Any], count: int, need: str
) -> None:
    """Raise unless a function can be called with so many arguments."""
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):  # written in C
        return
    try:
        parameters.bind(*range(count))
    except TypeError as error:
        told = f"{need}: {count} argument{'s' * (count > 1)}; this one takes {parameters} ({error})"
        raise DescriptionError(item, field, _Words(short(function)), told) from None


def check_numbers(
    item: str, field: str, found: Any, shapes: Sequence[tuple[int, ...]], need: str
) -> None:
    """Raise unless what a function gave, also as a list of parts, are real numbers of one of some shapes."""
    try:
        whole = jax.eval_shape(jnp.asarray, found)
    except (TypeError, ValueError):
        raise DescriptionError(item, field, found, need) from None
    if jnp.issubdtype(whole.dtype, jnp.complexfloating):
        raise DescriptionError(item, field, _Words("complex numbers"), f"{need}, real numbers")
    if whole.shape not in shapes:
        raise DescriptionError(item, field, whole.shape, need)


def _cure(error: Exception) -> str:
    """What is to be written instead."""
    if isinstance(error, jax.errors.TracerArrayConversionError):
        return "; use jax.numpy instead of numpy (jnp.sin instead of np.sin)"
    if isinstance(error, jax.errors.TracerBoolConversionError):
        return "; its values are not known when it is compiled: jnp.where(condition, a, b) instead of if"
    if isinstance(error, jax.errors.TracerIntegerConversionError):
        return "; an index or a count that depends on its values: jnp.take, or jnp.where instead"
    if isinstance(error, jax.errors.ConcretizationTypeError):
        return "; use jax.numpy instead of float(), int() and math (jnp.sin instead of math.sin)"
    if isinstance(error, ValueError) and "truth value of an array" in str(error):
        return "; it gets all points at once: np.where(condition, a, b) instead of if"
    if isinstance(error, TypeError) and "arrays can be converted" in str(error):
        return "; it gets all points at once: np.sin instead of math.sin"
    return ""


def _shortened(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    name = type(error).__name__
    return f"{name}: {text}" if len(text) <= 160 else f"{name}: {text[:159]}…"
