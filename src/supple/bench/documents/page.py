"""docs/systems.md, from the inventory and the stored results."""

from collections.abc import Iterator

from supple.bench.documents.compare import Comparison, compared, count
from supple.bench.documents.inventory import Document, documents
from supple.bench.documents.sources import Sources

INTRODUCTION = """# Systems of the sources

Supple grew out of five documents. This page lists every system in them with the example that reproduces it,
and every figure, table and stated number with what Supple finds: ✓ agrees, ✗ does not, and the last column
says why; · where a picture is lost or a text gives no number to compare with. Parameters are read from the
descriptions of the shipped robots; all else is computed. What was open or misprinted in a source is on the
page of [misprints](misprints.md).

The page is written by `supple bench documents --full --store`, and `supple bench documents --json` prints the
same rows with all that takes seconds computed anew. Times are those of one core of the machine that stored
them.
"""
OTHERS = (
    ("soft tentacle on a turntable", "demo"),
    ("Delta-like robot, loops closed in the middle of rods", "closed_loops/04_delta"),
    ("two-section tendon arm that draws a circle by inverse statics", "actuation/06_tendon_arm"),
    (
        "three sections with four cables each, in pieces of constant strain",
        "actuation/09_three_sections",
    ),
)
FOLDERS = ("statics/", "dynamics/", "closed_loops/", "actuation/", "benches/", "symbolic/", "demo")
MARKS = {True: "✓", False: "✗", None: "·"}


def number(value: float | str | None) -> str:
    """A value in a cell."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value.replace("|", "\\|")
    return f"{value:.4g}"


def _row(row: Comparison) -> str:
    entry = row.entry
    cells = (
        entry.item.replace("|", "\\|"),
        number(entry.printed),
        number(row.ours),
        entry.unit,
        MARKS[row.agrees],
        entry.why.replace("|", "\\|"),
    )
    return "| " + " | ".join(cells) + " |"


def _links(how: str) -> str:
    """Names of examples as links to the gallery."""
    words = []
    for word in how.split(" "):
        name = word.strip(",;")
        if name.startswith(FOLDERS):
            word = word.replace(name, f"[{name}](gallery.md#{name.replace('/', '').lower()})")
        words.append(word)
    return " ".join(words)


def _document(document: Document, rows: list[Comparison]) -> Iterator[str]:
    yield f"## {document.number}: {document.title}\n"
    yield "| where | system | reproduced by |\n|---|---|---|"
    yield from (f"| {where} | {what} | {_links(how)} |" for where, what, how in document.systems)
    section = None
    for row in rows:
        if row.entry.section != section:
            section = row.entry.section
            yield f"\n### {document.number}, {section}\n"
            yield "| item | printed | ours | unit | | why |\n|---|---|---|---|---|---|"
        yield _row(row)
    yield ""


def page(sources: Sources | None = None) -> str:
    """The whole page."""
    sources = sources or Sources()
    found = [(document, list(compared(document, sources))) for document in documents()]
    lines = [INTRODUCTION]
    lines.append(
        "| document | figures | tables | numbers | rows | agree | disagree | without ours |"
        "\n|---|---|---|---|---|---|---|---|"
    )
    for document, rows in found:
        c = count(document, rows)
        cells = (
            c.document,
            c.figures,
            c.tables,
            c.numbers,
            c.rows,
            c.agree,
            c.disagree,
            c.without_ours,
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines.append("")
    for document, rows in found:
        lines.extend(_document(document, rows))
    lines.append("## Not from the sources\n\n| system | example |\n|---|---|")
    lines.extend(f"| {what} | {_links(how)} |" for what, how in OTHERS)
    return "\n".join(lines) + "\n"
