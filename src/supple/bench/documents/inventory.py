"""The figures, tables and stated numbers of the documents, as plain data.

A file begins with what the document holds (its figures and tables, so that a test sees whether one is left
out). Rows follow, grouped by section: what is printed, its unit, where ours comes from (:mod:`.sources`), and
options: ``times`` (a factor on ours), ``within`` (relative, 1 % unless told), ``apart`` (absolute), ``range``
(what a text means by "about", "twice" …), ``most`` (ours is good if it is no larger), ``least`` (no
smaller), ``why``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

NUMBERS = ("000", "001", "002", "003", "004")
WITHIN = 0.01
"""How far ours may be from a printed number, relative, unless a row tells."""
OPTIONS = ("times", "within", "apart", "range", "most", "least", "why")


@dataclass(frozen=True)
class Entry:
    """A row before ours is known."""

    section: str
    item: str
    printed: float | str
    unit: str
    source: str | None
    times: float = 1.0
    within: float = WITHIN
    apart: float | None = None
    range: tuple[float, float] | None = None
    most: bool = False
    least: bool = False
    why: str = ""

    @property
    def name(self) -> str:
        """The item with its section, once."""
        if self.item.startswith((self.section, "Table")):
            return self.item
        return f"{self.section}, {self.item}"

    @property
    def kind(self) -> str:
        """Figure, table or number."""
        for kind, word in (("figure", "Fig. "), ("table", "Table ")):
            if self.item.startswith(word):
                return kind
        return "number"

    def agrees(self, ours: float | str | None) -> bool | None:
        """Whether ours is what is printed; None where that cannot be said."""
        if ours is None or isinstance(ours, str):
            return None if ours is None or isinstance(self.printed, str) else False
        if self.range is not None:
            return self.range[0] <= ours <= self.range[1]
        if isinstance(self.printed, str):
            return None
        if self.most or self.least:
            return ours <= self.printed if self.most else ours >= self.printed
        apart = self.within * abs(self.printed) if self.apart is None else self.apart
        return abs(ours - self.printed) <= apart * (1 + 1e-12)


@dataclass(frozen=True)
class Document:
    """A document: what it is, what it holds, and its rows."""

    number: str
    title: str
    figures: tuple[str, ...]
    tables: tuple[str, ...]
    systems: tuple[tuple[str, str, str], ...]
    """Where a system is described, what it is, what reproduces it."""
    entries: tuple[Entry, ...]


def _entry(section: str, row: list[Any]) -> Entry:
    item, printed, unit, source, *rest = row
    options: Mapping[str, Any] = rest[0] if rest else {}
    unknown = set(options) - set(OPTIONS)
    if unknown or len(rest) > 1:
        raise ValueError(f"{section}: {item}: unknown {sorted(unknown) or rest[1:]}")
    known: dict[str, Any] = {name: _floats(value) for name, value in options.items()}
    return Entry(section, item, _floats(printed), unit or "", source, **known)


def _floats(value: Any) -> Any:
    """Whole numbers and lists of YAML as floats and tuples."""
    if isinstance(value, list):
        return tuple(_floats(one) for one in value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def load(number: str) -> Document:
    """The inventory of a document: "000" … "004"."""
    path = resources.files("supple.bench.documents") / "data" / f"{number}.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    entries = tuple(_entry(section, row) for section, rows in data["rows"].items() for row in rows)
    return Document(
        number,
        data["title"],
        tuple(str(name) for name in data["figures"]),
        tuple(str(name) for name in data["tables"]),
        tuple(tuple(row) for row in data["systems"]),
        entries,
    )


def documents() -> tuple[Document, ...]:
    """All five."""
    return tuple(load(number) for number in NUMBERS)
