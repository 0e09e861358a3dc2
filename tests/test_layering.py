"""Imports between the parts of Supple point one way only, from what users see to the mathematics."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "supple"

# Lowest first. A part may import from lower ones and from itself; parts on one line are neighbors
# that do not know each other, except for the small tools in the first, which may.
LAYERS = (
    (
        "errors",
        "hints",
        "spelling",
        "tried",
        "arrays",
        "reprs",
        "numeric",
        "compile",
        "threads",
        "configuration",
        "expression",
        "units",
    ),
    ("lie",),
    ("strain", "section"),
    ("space",),
    ("model",),
    ("mechanics",),
    ("system",),
    ("solve",),
    ("time",),
    ("results",),
    ("shooting",),
    ("robot",),
    ("run",),
    ("fleet",),
    ("studies",),
    ("view", "plot"),
    ("identify",),
    ("robots", "files"),
    ("bench",),
    ("cli",),
)
LEVEL = {part: level for level, layer in enumerate(LAYERS) for part in layer}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """Parts of supple that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            modules = [node.module or ""]
            if node.module == "supple":
                modules = [f"supple.{alias.name}" for alias in node.names]
        else:
            continue
        names = [m.split(".") for m in modules if m.split(".")[0] == "supple"]
        found |= {name[1] if len(name) > 1 else "" for name in names}
    return found


FILES = sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def test_there_is_something_to_check():
    assert len(FILES) > 40
    assert imported_parts(SOURCE / "space" / "grid.py") >= {"strain", "numeric"}


def test_every_part_has_its_layer():
    assert {part_of(path) for path in FILES} <= set(LEVEL)


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(SOURCE)) for p in FILES])
def test_imports_point_downwards(path):
    own = part_of(path)
    for part in imported_parts(path) - {own}:
        assert part in LEVEL, f"{path.name} imports supple itself or an unknown part: {part!r}"
        lower = LEVEL[part] < LEVEL[own] or LEVEL[part] == LEVEL[own] == 0
        assert lower, f"{own} must not import {part}"


def module_of(path: Path) -> str:
    """Dotted name of a file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_files(path: Path, known: set[str]) -> set[str]:
    """Files of supple that a file imports, inside functions and for types too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("supple"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in known else str(node.module) for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return (found & known) - {module_of(path)}


def test_files_import_each_other_in_one_direction():
    known = {module_of(path) for path in FILES}
    waiting = {module_of(path): imported_files(path, known) for path in FILES}
    while free := {name for name, needs in waiting.items() if not needs & waiting.keys()}:
        waiting = {name: needs for name, needs in waiting.items() if name not in free}
    assert not waiting, f"files that import each other, or such files: {sorted(waiting)}"
