"""Pages of the documentation as programs: their Python blocks, and what each prints.

A block of Python that is followed by a block of text prints that text. ``python -m tests.docs.pages`` runs
all pages and writes what they print into them.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
PAGES = [
    "docs/start.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guide").glob("*.md")),
    "docs/robots.md",
    "docs/extending.md",
    "docs/gradients.md",
]


def printed(page: str) -> list[tuple[str, str | None, str]]:
    """Each block of a page, run one after the other: code, promised text, printed text."""
    found = []
    space: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer((ROOT / page).read_text()):
        code, text = block.groups()
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, page, "exec"), space)
        found.append((code, text, output.getvalue()))
    return found


def write(page: str) -> None:
    """Put what the blocks of a page print below them."""
    outputs = iter(printed(page))

    def block(match: re.Match[str]) -> str:
        _, text, output = next(outputs)
        if text is None:
            return match[0]
        return f"```python\n{match[1]}```\n\n```text\n{output}```\n"

    path = ROOT / page
    path.write_text(BLOCK.sub(block, path.read_text()))


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for page in sys.argv[1:] or PAGES:
            write(page)
