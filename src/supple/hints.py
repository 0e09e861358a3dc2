"""Warnings that point at the user's line, however deep inside they are made."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import jaxtyping


class Hint(UserWarning):
    """Something that is allowed and almost certainly not meant; told once.

    ``warnings.simplefilter("ignore", supple.Hint)`` or SUPPLE_HINTS=off keeps it silent.
    """


_INSIDE = tuple(str(Path(str(own)).parent) for own in (__file__, jaxtyping.__file__))
"""Folders that are not the user's: this library, and the wrappers of checked signatures."""


_told: set[str] = set()


def hint(message: str) -> None:
    """Give a hint, once in a process."""
    if message in _told or os.environ.get("SUPPLE_HINTS", "").lower() in ("off", "0", "no"):
        return
    _told.add(message)
    warn(f"{message} (supple.Hint tells how to switch hints off)", Hint)


_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect what is warned of in this thread, instead of telling it; hints are still told."""
    texts: list[str] = []
    before = _collected.set(texts)
    try:
        yield texts
    finally:
        _collected.reset(before)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of whoever called into this library."""
    texts = _collected.get()
    if texts is not None and category is not Hint:
        texts.append(message)
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
