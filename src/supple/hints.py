"""Warnings that point at the user's line, however deep inside they are made."""

import sys
import warnings
from pathlib import Path

_INSIDE = str(Path(__file__).parent)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of whoever called into this library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level - 1)
