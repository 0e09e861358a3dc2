"""Every example, on a small scale: each returns its errors, and each error has a limit."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from examples._check import check, failures

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FILES = sorted(
    path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*.py") if not path.name.startswith("_")
)
NEEDS = {"symbolic/01_cantilever_by_hand.py": "sympy"}


def load(file: Path) -> ModuleType:
    if file.as_posix() in NEEDS:
        pytest.importorskip(NEEDS[file.as_posix()])
    return importlib.import_module(".".join(["examples", *file.with_suffix("").parts]))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.as_posix())
def test_quick_run_meets_its_limits(file: Path) -> None:
    example = load(file)
    errors = example.run(quick=True)
    assert errors
    check(errors, example.LIMITS)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.as_posix())
def test_full_run_meets_all_its_limits(file: Path) -> None:
    example = load(file)
    errors = example.run()
    assert set(errors) == set(example.LIMITS)
    check(errors, example.LIMITS)


def test_a_missed_limit_is_told() -> None:
    limits = {"tip": 1e-3}
    assert failures({"tip": 1e-4}, limits) == []
    assert failures({"tip": 2e-3}, limits) == ["tip: 2.00e-03, limit 1.00e-03"]
    assert failures({"tip": float("nan")}, limits) == ["tip: nan, limit 1.00e-03"]
    assert failures({"angle": 0.0}, limits) == ["no limit for 'angle'"]
