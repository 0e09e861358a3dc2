"""Operations for one member as operations for many, whose axis is the last: what becomes of their parameters.

Axes are counted from the first, so most of them stay what they are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

_ENTRYWISE = """
add add_any sub mul div rem max min pow atan2 nextafter and or xor not neg sign floor ceil round
exp exp2 log log1p expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt rsqrt cbrt
square logistic erf erfc is_finite abs integer_pow eq ne lt le gt ge select_n clamp
convert_element_type stop_gradient name copy copy_p real imag reduce_precision
"""
ENTRYWISE = frozenset(_ENTRYWISE.split())
"""Operations on entries."""

_SAME = """
squeeze split rev concatenate stack reduce_sum reduce_max reduce_min reduce_and reduce_or reduce_prod
argmax argmin cumsum cumprod cummax cummin
"""
"""Operations whose parameters stay as they are."""


class Value(NamedTuple):
    """An array, and whether its last axis is that of the members."""

    array: Any
    many: bool


def of_all(value: Value, count: int) -> Any:
    """An array of all members."""
    if value.many:
        return value.array
    array = jnp.asarray(value.array)
    return lax.broadcast_in_dim(array, (*array.shape, count), tuple(range(array.ndim)))


def with_members(equation: Any, own: list[Value], count: int) -> tuple[Any, list[Any]] | None:
    """The operation with the axis of members, and the arrays that it takes; None where no rule is known."""
    name = equation.primitive.name
    if name not in _CHANGED or (params := _CHANGED[name](equation, own, count)) is None:
        return None
    arrays = [one.array for one in own]
    if name in ("concatenate", "stack"):
        arrays = [of_all(one, count) for one in own]
    elif name == "dynamic_slice":
        arrays = [arrays[0], *_places(equation, arrays, 1)]
    elif name == "dynamic_update_slice":
        both = [of_all(one, count) for one in own[:2]]
        arrays = [*both, *_places(equation, arrays, 2)]
    elif name in ("scatter", "scatter-add"):
        arrays = [of_all(own[0], count), arrays[1], of_all(own[2], count)]
    return equation.replace(params=dict(equation.params) | params), arrays


def _places(equation: Any, arrays: list[Any], first: int) -> list[Any]:
    """Where a slice begins, with the first member; some versions of JAX have plain numbers there."""
    kind = equation.invars[first].aval.dtype
    return [*(jnp.asarray(place, kind) for place in arrays[first:]), np.zeros((), kind)]


def _broadcast(equation: Any, own: list[Value], count: int) -> dict[str, Any]:
    shape = equation.params["shape"]
    axes = (*equation.params["broadcast_dimensions"], len(shape))
    return {"shape": (*shape, count), "broadcast_dimensions": axes}


def _slice(equation: Any, own: list[Value], count: int) -> dict[str, Any]:
    params = equation.params
    strides = params["strides"]
    return {
        "start_indices": (*params["start_indices"], 0),
        "limit_indices": (*params["limit_indices"], count),
        "strides": None if strides is None else (*strides, 1),
    }


def _reshape(equation: Any, own: list[Value], count: int) -> dict[str, Any] | None:
    if equation.params["dimensions"] is not None:
        return None
    return {"new_sizes": (*equation.params["new_sizes"], count)}


def _dynamic(equation: Any, own: list[Value], count: int) -> dict[str, Any] | None:
    """Slices at places that all members share."""
    first = 1 if equation.primitive.name == "dynamic_slice" else 2
    if any(one.many for one in own[first:]):
        return None
    sizes = equation.params.get("slice_sizes")
    return {} if first == 2 else {"slice_sizes": (*sizes, count)}


def _gather(equation: Any, own: list[Value], count: int) -> dict[str, Any] | None:
    """Entries at places that all members share."""
    if own[1].many:
        return None
    numbers = equation.params["dimension_numbers"]
    last = len(equation.outvars[0].aval.shape)
    return {
        "dimension_numbers": numbers._replace(offset_dims=(*numbers.offset_dims, last)),
        "slice_sizes": (*equation.params["slice_sizes"], count),
    }


def _scatter(equation: Any, own: list[Value], count: int) -> dict[str, Any] | None:
    """Entries put at places that all members share."""
    if own[1].many:
        return None
    numbers = equation.params["dimension_numbers"]
    last = len(equation.invars[2].aval.shape)
    return {
        "dimension_numbers": numbers._replace(
            update_window_dims=(*numbers.update_window_dims, last)
        )
    }


def _as_it_was(equation: Any, own: list[Value], count: int) -> dict[str, Any]:
    return {}


_CHANGED: dict[str, Callable[[Any, list[Value], int], dict[str, Any] | None]] = {
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "slice": _slice,
    "transpose": lambda equation, own, count: {
        "permutation": (*equation.params["permutation"], len(equation.params["permutation"]))
    },
    "pad": lambda equation, own, count: (
        None if own[1].many else {"padding_config": (*equation.params["padding_config"], (0, 0, 0))}
    ),
    "dynamic_slice": _dynamic,
    "dynamic_update_slice": _dynamic,
    "gather": _gather,
    "scatter": _scatter,
    "scatter-add": _scatter,
} | dict.fromkeys(_SAME.split(), _as_it_was)
"""What changes in the parameters of an operation; None where these operands have no rule."""
