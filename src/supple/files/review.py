"""All that is wrong with a file, in one pass.

What cannot be read is left out, and the rest is read; what only follows from that is not told.
"""

from typing import Any

from pydantic import ValidationError

from supple.errors import DescriptionError
from supple.files.problems import SHOWN, FileError, Problem
from supple.files.text import Path, Source

NAMED = ("studies", "outputs", "materials", "parameters")
"""Sections beside those of items whose entries have names."""
ASKED = ("studies", "outputs")
"""Sections that say nothing of the robot."""


class Review:
    """The problems of one file so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.left_out: set[str] = set()
        """Names that the file has, but that could not be read."""

    def add(self, path: Path, got: Any, need: str, character: int | None = None) -> None:
        """Note what is wrong, unless it is a name that was left out."""
        if isinstance(got, str) and got in self.left_out:
            return
        self.problems.append(self.source.problem(path, got, need, character))

    def add_refused(self, error: ValidationError, prefix: Path = ()) -> list[Path]:
        """Note all that pydantic refused, and return where."""
        paths = []
        for line in error.errors(include_url=False):
            context = line.get("ctx", {})
            ours = line["type"] == "supple"
            loc = (*prefix, *line["loc"], *(context["at"] if ours else ()))
            got = context["got"] if ours else line["input"]
            need = context["need"] if ours else line["msg"]
            path = placed(self.source.data, loc)
            self.add(path, got, need, context.get("character") if ours else None)
            paths.append(path)
        return paths

    def add_description(self, error: DescriptionError, path: Path, field: str) -> None:
        """Note what an item refused about a field."""
        self.add(self.within(path, field), error.got, error.need)

    def within(self, path: Path, field: str) -> Path:
        """The path of a field as items name it ("section.radius"), through the names of kinds."""
        return _within(self.source.data, path, field)

    def leave_out(self, name: str) -> None:
        """What refers to it is not wrong for that."""
        self.left_out.add(name)

    @property
    def full(self) -> bool:
        """Whether there are more problems than anyone reads at once."""
        return len(self.problems) > SHOWN

    def tell(self) -> None:
        """Raise what was found, in the order of the file."""
        if self.problems:
            raise FileError(sorted(self.problems, key=lambda one: (one.line, one.column)))


def placed(data: Any, loc: Path) -> Path:
    """The path in the data that pydantic's path, with the names of its unions, means."""
    path: Path = ()
    for index, part in enumerate(loc):
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if inside:
            data = data[part]
            path = (*path, part)
        elif index == len(loc) - 1 and isinstance(data, dict):
            path = (*path, part)  # something that is missing
    return path


def _within(data: Any, path: Path, field: str) -> Path:
    """The path of a field as items name it ("section.radius"), through the names of kinds."""
    for part in path:
        data = data[part]
    for part in field.split(",")[0].split("."):
        if (
            isinstance(data, dict)
            and part == "section"
            and part not in data
            and "properties" in data
        ):
            part = "properties"
        if isinstance(data, dict) and part not in data and len(data) == 1:
            kind, inner = next(iter(data.items()))
            if not isinstance(inner, dict) or part in inner:
                path, data = (*path, kind), inner
        if isinstance(data, dict):
            path, data = (*path, part), data.get(part)
    return path
