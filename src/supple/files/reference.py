"""Every field of robot files as Markdown, made from the forms themselves.

``python -m supple.files.reference docs/files.md`` renews the reference in that page.
"""

import sys
from pathlib import Path

from supple.expression import CONSTANTS, FUNCTIONS
from supple.files.edits import EDIT, EVENT, WHEN
from supple.files.forms import MapOf, OneOf, Record
from supple.files.items import ITEMS
from supple.files.joints import JOINT
from supple.files.kinds import AbstractKind
from supple.files.laws import law
from supple.files.looks import LOOK
from supple.files.rods import BASIS, DAMPING, MATERIAL_FIELDS, PROPERTIES, SECTION, SPACE
from supple.files.schema import STUDIES, URDF
from supple.files.schemes import SCHEME
from supple.files.text import unparse

MARK = "<!-- reference: made by python -m supple.files.reference docs/files.md -->"


def _about(kind: AbstractKind) -> str:
    if isinstance(kind, MapOf | OneOf) or not isinstance(kind, Record):
        return getattr(kind, "need", "") or getattr(getattr(kind, "other", None), "need", "")
    return "a mapping: " + ", ".join(f"`{name}`" for name in kind.kinds)


def _default(record: Record, name: str) -> str:
    if name in record.required:
        return "required"
    value = record.defaults[name]
    if value is None or value == {} or value == () or value == float("inf") or callable(value):
        return ""
    written = unparse({"x": record.kinds[name].write(value, "", "")})
    return f"`{written.removeprefix('x: ').strip()}`"


def _table(title: str, record: Record) -> list[str]:
    summary = (record.make.__doc__ or "").splitlines()[0]
    lines = [f"### {title}", "", summary, ""]
    if record.kinds:
        lines += ["| field | what | default |", "|---|---|---|"]
        for name, kind in record.kinds.items():
            words = _about(kind).replace("][", "]\\[")  # or Markdown sees a link
            lines.append(f"| `{name}` | {words} | {_default(record, name)} |")
        lines.append("")
    return lines


def _choices(title: str, one_of: OneOf) -> list[str]:
    lines = [f"### {title}", "", "| name | fields, the first may be given alone |", "|---|---|"]
    for name, record in one_of.records.items():
        fields = [
            f"`{field}` ({_about(kind)})" if field != "newton" else "`newton`"
            for field, kind in record.kinds.items()
        ]
        lines.append(f"| `{name}` | {'; '.join(fields) or 'none'} |")
    return [*lines, ""]


def reference() -> str:
    """The reference."""
    lines: list[str] = []
    for section, record in ITEMS.items():
        lines += _table(section, record)
    lines += _table("material", MATERIAL_FIELDS) + _table("properties", PROPERTIES)
    lines += _choices("section", SECTION) + _choices("damping", DAMPING) + _choices("basis", BASIS)
    lines += _choices("space", SPACE) + _choices("joint", JOINT) + _choices("shape", LOOK)
    lines += _choices("laws of time", law(""))
    lines += _choices("scheme", SCHEME)
    for name, record in STUDIES.items():
        lines += _table(name, record)
    lines += _table("events", EVENT) + _table("when", WHEN) + _choices("edit", EDIT)
    lines += _table("urdf", URDF)
    lines += ["### Formulas", "", f"Constants: {', '.join(f'`{name}`' for name in CONSTANTS)}.", ""]
    lines += ["| function | |", "|---|---|"]
    lines += [f"| `{name}` | {about} |" for name, (_, _, _, about) in FUNCTIONS.items()]
    lines += ["| `where` | a comparison, the value where it holds, the value elsewhere |", ""]
    return "\n".join(lines)


def renewed(page: str) -> str:
    """A page with what follows the mark replaced by the reference."""
    return page[: page.index(MARK) + len(MARK)] + "\n\n" + reference()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(renewed(target.read_text(encoding="utf-8")), encoding="utf-8")
