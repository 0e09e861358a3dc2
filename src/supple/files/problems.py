"""What is wrong in a file: where, what was found, and what is needed instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from supple.errors import DescriptionError

SHOWN = 20
"""Problems told at once."""
LONGEST = 2000
"""Characters of what is needed: lists of names may be long."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, at a place of the file (line and column from 1; 0 where unknown)."""

    file: str
    line: int
    column: int
    path: str
    got: Any
    need: str

    def __str__(self) -> str:
        """As ``arm.yaml:7:12: tendons.left.offset: got …; need …``."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        found = self.got if isinstance(self.got, Bare) else _shortened(repr(self.got))
        path, need = _shortened(self.path), _shortened(self.need, LONGEST)
        text = ": ".join(part for part in (place, path, f"got {found}; need {need}") if part)
        return _printable(text)


class Bare(str):
    """Words about what was found, rather than the value itself."""


class FileError(DescriptionError):
    """A robot file cannot be used; ``problems`` tells all that was found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        first = problems[0]
        super().__init__(first.file, first.path, first.got, first.need)
        lines = [str(problem) for problem in problems[:SHOWN]]
        if len(problems) > SHOWN:
            lines.append(f"and {len(problems) - SHOWN} more")
        self.args = ("\n".join(lines),)


def _printable(text: str) -> str:
    """One line, without what a terminal would obey: files are written by others."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _shortened(text: str, limit: int = 100) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
