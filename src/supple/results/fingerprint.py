"""Short texts by which a robot is known again in another process: one for each of its parts.

Numbers count however they are written, functions by what they do (their code, the values it closes over and
the numbers of its module), and objects of others by their class only.
"""

import functools
import hashlib
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def fingerprints(robot: Any) -> dict[str, str]:
    """Of each item of a robot by its name, and of all else; of a model as a whole."""
    items = getattr(robot, "items", None)
    if items is None:
        return {"the model": fingerprint(robot)}
    found = {item.name: fingerprint(item) for item in items} | {
        "gravity": fingerprint(robot.gravity),
        "the order of items": fingerprint([item.name for item in items]),
    }
    if (
        robot.formulation != "strain"
    ):  # said only where it is not what it was before there were others
        found["the formulation"] = fingerprint(robot.formulation)
    return found


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of what is not the same."""
    names = list(dict.fromkeys([*before, *now]))
    return [name for name in names if before.get(name) != now.get(name)]


def fingerprint(value: Any) -> str:
    """Of anything that a description or a model holds."""
    digest = hashlib.sha256()
    _add(digest, value, ())
    return digest.hexdigest()[:16]


def _add(digest: Any, value: Any, inside: tuple[int, ...]) -> None:
    """Take a value in; ``inside`` are those around it, which it may refer back to."""
    if id(value) in inside:
        return
    inside = (*inside, id(value))
    numbers = _numbers(value)
    if numbers is not None:
        digest.update(f"n{numbers.shape}".encode() + numbers.tobytes())
    elif value is None or isinstance(value, str | bytes):
        digest.update(f"s{value!r};".encode())
    elif isinstance(value, Mapping):
        _add_all(digest, "m", [x for pair in value.items() for x in pair], inside)
    elif isinstance(value, list | tuple):
        _add_all(digest, "l", value, inside)
    elif isinstance(value, set | frozenset):
        _add_all(digest, "f", sorted(fingerprint(x) for x in value), inside)
    elif is_dataclass(value) and not isinstance(value, type):
        own = [(f.name, getattr(value, f.name, None)) for f in fields(value)]
        _add_all(digest, f"d{type(value).__qualname__}", own, inside)
    elif isinstance(value, types.CodeType):
        names = (*value.co_names, *value.co_freevars, *value.co_cellvars)
        digest.update(value.co_code)
        _add_all(digest, "c", (value.co_consts, names), inside)
    elif isinstance(value, types.FunctionType):
        cells = [_content(cell) for cell in value.__closure__ or ()]
        outer = [value.__globals__.get(name) for name in value.__code__.co_names]
        outer = [x for x in outer if _numbers(x) is not None]
        does = (value.__code__, value.__defaults__, value.__kwdefaults__, cells, outer)
        _add_all(digest, "p", does, inside)
    elif isinstance(value, types.MethodType):
        _add_all(digest, "b", (value.__func__, value.__self__), inside)
    elif isinstance(value, functools.partial):
        _add_all(digest, "q", (value.func, value.args, value.keywords), inside)
    elif hasattr(value, "__wrapped__"):
        _add_all(digest, "w", (value.__wrapped__,), inside)
    else:
        named = value if hasattr(value, "__qualname__") else type(value)
        name = getattr(named, "__qualname__", "")
        digest.update(f"o{getattr(named, '__module__', '')}.{name};".encode())


def _add_all(digest: Any, kind: str, values: Any, inside: tuple[int, ...]) -> None:
    digest.update(f"{kind}{len(values)}:".encode())
    for value in values:
        _add(digest, value, inside)


def _numbers(value: Any) -> np.ndarray | None:
    """Numbers as an array, also those of nested lists; None if it is something else."""
    plain = isinstance(value, bool | int | float | list | tuple | np.generic)
    if not plain and not hasattr(value, "__array__"):
        return None
    try:
        found = np.asarray(value)
    except Exception:  # ragged, or of others
        return None
    return found.astype(float) if found.dtype.kind in "biuf" else None


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled
        return None
