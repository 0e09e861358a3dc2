"""The inventory of the documents: complete, explained, and its page current."""

from pathlib import Path

import pytest

from supple.bench.documents import beams
from supple.bench.documents.compare import Comparison, Count, compared, run_documents
from supple.bench.documents.inventory import NUMBERS, Entry, load
from supple.bench.documents.page import page
from supple.bench.documents.sources import Sources

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def stored() -> Sources:
    return Sources()


def test_page_is_current(stored: Sources) -> None:
    shown = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    assert shown == page(stored), "run: supple bench documents --store"


@pytest.mark.parametrize("number", NUMBERS)
def test_every_figure_and_table_has_a_row(number: str) -> None:
    document = load(number)
    items = [entry.item for entry in document.entries]
    for kind, names in (("Fig.", document.figures), ("Table", document.tables)):
        for name in names:
            ends = (":", " ", ",")
            assert any(item.startswith(tuple(f"{kind} {name}{end}" for end in ends)) for item in items), (
                kind, name,
            )  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_rows_without_agreement_say_why(number: str, stored: Sources) -> None:
    for row in compared(load(number), stored):
        if row.agrees is not True and not (row.ours is None and row.entry.source):
            assert row.entry.why, row.entry.name


def test_at_most_a_tenth_lacks_ours() -> None:
    entries = [entry for number in NUMBERS for entry in load(number).entries]
    assert 10 * sum(entry.source is None for entry in entries) <= len(entries)


def test_stored_numbers_are_those_of_the_code(stored: Sources) -> None:
    for key, value in beams.twisted().items():
        assert stored.results["quick flexion_torsion"]["values"][key] == pytest.approx(
            value, rel=1e-5
        )


def test_counts_come_last(stored: Sources) -> None:
    rows = list(run_documents(stored, ["001"]))
    assert isinstance(rows[-1], Count)
    assert all(isinstance(row, Comparison) for row in rows[:-1])
    assert rows[-1].figures == 15


@pytest.mark.parametrize(
    ("ours", "options", "agrees"),
    [
        (1.005, {}, True),
        (1.02, {}, False),
        (1.02, {"within": 0.03}, True),
        (0.5, {"most": True}, True),
        (1.5, {"most": True}, False),
        (3.0, {"range": (2.0, 4.0)}, True),
        (None, {}, None),
        ("a word", {}, False),
    ],
)
def test_agreement(ours: float | str | None, options: dict, agrees: bool | None) -> None:
    assert Entry("§", "x", 1.0, "", None, **options).agrees(ours) is agrees
