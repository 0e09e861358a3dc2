"""docs/validation.md from what is stored: checks, other simulators, the documents."""

import math
from collections.abc import Iterator

from supple.bench.compare import race
from supple.bench.compare.tasks import TASKS
from supple.bench.documents.compare import compared, count
from supple.bench.documents.inventory import documents
from supple.bench.documents.sources import Sources
from supple.bench.robustness import FACTORS, STEPS
from supple.bench.validation.checks import Check, stored

PAGE = "docs/validation.md"
INTRODUCTION = """# Validation

What Supple computes, against closed forms, published numbers, other formulations and other simulators: the
error of each check, how large it may be, ✓ where it holds. The page is written by

```sh
supple bench validation --store                # in a checkout: compute all checks, write this page
supple bench validation --store --only rest    # one group
```

and a test holds that it tells what is stored. Errors are displacements over the size of the robot where
nothing else is said.
"""
TITLES = {
    "rest": (
        "At rest",
        "`supple bench accuracy`: points along rods; the accuracy is asked for, modes are chosen by Supple.",
    ),
    "motion": (
        "In motion",
        "The largest distance over the whole motion; modes and steps are chosen by Supple for the accuracy.",
    ),
    "loops": (
        "A closed loop",
        "`supple bench cpr --robot rfrfr`; the tip over the whole motion (m).",
    ),
    "long": ("Long runs", "Undamped robots: what must stay, over its range."),
}
ROBUST = """## Stiffness and step

`supple bench robustness`: the released cantilevers, Young's modulus from a hundredth to ten thousand times
that of the benches, steps from one to a hundred milliseconds, most of which resolve nothing. Each run must
end, and must not gain energy: ✓ where it does, its most energy at most 5 % above the first.
"""
OTHERS = """## Other simulators

The finest run of each [simulator that was compared](benchmarks.md): how close codes that share nothing come
to the references. For the chain, the net, the arm and the fleet, references are Supple's own.
"""
PRINTED = """## Published numbers

Figures, tables and numbers of five documents beside ours, on the page of
[systems of the sources](systems.md); where they disagree, the reason is there.
"""


def page() -> str:
    """The whole page."""
    groups = stored()
    lines = [INTRODUCTION, *_counts(groups)]
    for name, (title, words) in TITLES.items():
        if name not in groups:
            continue
        lines += [f"## {title}\n", f"{words}\n"]
        lines += ["| check | against | error | at most | |", "|---|---|---|---|---|"]
        lines += [_row(check) for check in groups.get(name, [])]
        lines.append("")
        pictures = dict.fromkeys(c.picture for c in groups.get(name, []) if c.picture)
        lines += [f"![{picture.split('.')[0]}](gallery/{picture})\n" for picture in pictures]
    if "robustness" in groups:
        lines += [ROBUST, *_map(groups["robustness"])]
    lines += [OTHERS, *_others(), PRINTED, *_documents()]
    return "\n".join(lines) + "\n"


def _counts(groups: dict[str, list[Check]]) -> Iterator[str]:
    checks = [check for of in groups.values() for check in of]
    held = sum(check.holds for check in checks)
    yield f"{held} of {len(checks)} checks hold."
    failing = [check.name for check in checks if not check.holds]
    yield (f"Those that do not: {'; '.join(failing)}.\n" if failing else "")


def _number(value: float) -> str:
    return f"{value:.1e}" if math.isfinite(value) else "–"


def _row(check: Check) -> str:
    mark = "✓" if check.holds else "✗"
    cells = check.name, check.against, _number(check.error), f"{check.tolerance:.0e}", mark
    return "| " + " | ".join(cells) + " |"


def _map(checks: list[Check]) -> Iterator[str]:
    """A table for each cantilever and rod: factors of E down, steps across."""
    found = {check.name: check for check in checks}
    cases = dict.fromkeys(", ".join(name.split(", ")[:2]) for name in found)
    for case in cases:
        yield f"**{case}**\n"
        yield "| E × | " + " | ".join(f"{1e3 * dt:g} ms" for dt in STEPS) + " |"
        yield "|---" * (len(STEPS) + 1) + "|"
        for factor in FACTORS:
            cells = []
            for dt in STEPS:
                check = found[f"{case}, E × {factor:g}, {1e3 * dt:g} ms"]
                cells.append("✓" if check.holds else f"✗ {check.against} {_number(check.error)}")
            yield f"| {factor:g} | " + " | ".join(cells) + " |"
        yield ""


def _others() -> Iterator[str]:
    best: dict[tuple[str, str], float] = {}
    for row in race.stored():
        if row.error is not None and row.peer != "supple":
            key = row.task, row.peer
            best[key] = min(best.get(key, math.inf), row.error)
    peers = list(dict.fromkeys(peer for _, peer in best))
    yield "| task | " + " | ".join(peers) + " |"
    yield "|---" * (len(peers) + 1) + "|"
    for task in TASKS:
        cells = [_number(best.get((task, peer), math.nan)) for peer in peers]
        yield f"| {task} | " + " | ".join(cells) + " |"
    yield ""


def _documents() -> Iterator[str]:
    yield "| document | rows | agree | disagree | without ours |\n|---|---|---|---|---|"
    sources = Sources()
    for document in documents():
        c = count(document, list(compared(document, sources)))
        yield f"| {c.document} | {c.rows} | {c.agree} | {c.disagree} | {c.without_ours} |"
