"""Short texts of descriptions: the call that makes them, without what is default anyway."""

from dataclasses import MISSING, fields
from typing import Any

import jax
import numpy as np


def brief(item: Any) -> str:
    """``Rod('arm', length=0.5, …)``: the fields of a dataclass that differ from their defaults."""
    own = sorted(fields(item), key=lambda field: field.kw_only is True)
    words = []
    for field in own:
        value = getattr(item, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if not field.repr or _same(value, default):
            continue
        text = short(value)
        words.append(text if field.name == "name" else f"{field.name}={text}")
    return f"{type(item).__name__}({', '.join(words)})"


def short(value: Any) -> str:
    """A value as one would write it."""
    if isinstance(value, jax.core.Tracer):
        return f"<traced {value.shape}>"
    if isinstance(value, float | np.floating):
        plain, power = f"{value:.12g}", np.format_float_scientific(value, trim="-", exp_digits=1)
        power = power.replace("e+", "e")
        return power if len(power) < len(plain) or float(plain) != value else plain
    if isinstance(value, tuple | list):
        inside = ", ".join(map(short, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {short(own)}" for key, own in value.items()) + "}"
    if isinstance(value, np.ndarray | jax.Array):
        array = np.asarray(value)
        if array.ndim == 0:
            return short(array.item())
        if array.size <= 9:
            return short(array.tolist())
        return f"<{'x'.join(map(str, array.shape))} numbers>"
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    return repr(value)


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    try:
        return bool(value == default)
    except (ValueError, TypeError, jax.errors.ConcretizationTypeError):
        return False  # arrays, or what is traced
