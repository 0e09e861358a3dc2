"""Rows of the inventory with our numbers, and how many there are of each kind."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from supple.bench.documents.inventory import Document, Entry, documents
from supple.bench.documents.sources import Sources, Value


@dataclass(frozen=True)
class Comparison:
    """A printed number beside ours."""

    document: str
    entry: Entry
    ours: Value
    agrees: bool | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "document": self.document,
            "item": self.entry.name,
            "printed": self.entry.printed,
            "ours": self.ours,
            "unit": self.entry.unit,
            "agrees": self.agrees,
            "why": self.entry.why,
        }


@dataclass(frozen=True)
class Count:
    """How much of a document is covered."""

    document: str
    figures: int
    tables: int
    numbers: int
    """Rows for numbers of the text and of tables."""
    rows: int
    agree: int
    disagree: int
    without_ours: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def compared(document: Document, sources: Sources) -> Iterator[Comparison]:
    """The rows of a document."""
    for entry in document.entries:
        ours = sources.find(entry.source)
        if isinstance(ours, float):
            ours *= entry.times
        name = f"{document.number} {document.title}"
        yield Comparison(name, entry, ours, entry.agrees(ours))


def count(document: Document, rows: list[Comparison]) -> Count:
    """What the rows of a document come to."""
    kinds = Counter(row.entry.kind for row in rows)
    return Count(
        f"{document.number} {document.title}",
        len(document.figures),
        len(document.tables),
        kinds["number"] + kinds["table"],
        len(rows),
        sum(row.agrees is True for row in rows),
        sum(row.agrees is False for row in rows),
        sum(row.ours is None for row in rows),
    )


def run_documents(sources: Sources, only: list[str] | None = None) -> Iterator[Comparison | Count]:
    """All rows, each document's counts after them."""
    for document in documents():
        if only and document.number not in only:
            continue
        rows = []
        for row in compared(document, sources):
            rows.append(row)
            yield row
        yield count(document, rows)
