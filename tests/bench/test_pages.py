"""Pages that are written from stored results tell what is stored."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from supple.bench import growth_page
from supple.bench.accuracy_cases import CASES
from supple.bench.accuracy_motions import MOTIONS
from supple.bench.compare import page as comparing, race
from supple.bench.robustness import CANTILEVERS, FACTORS, RODS, STEPS
from supple.bench.validation import checks, page as validating
from supple.bench.validation.checks import Check
from supple.cli.main import app

WRITTEN = {
    comparing.PAGE: comparing.page,
    validating.PAGE: validating.page,
    growth_page.PAGE: growth_page.page,
}


@pytest.mark.parametrize("path", WRITTEN)
def test_the_page_tells_what_is_stored(path):
    assert Path(path).read_text(encoding="utf-8") == WRITTEN[path]()


@pytest.mark.parametrize("path", [comparing.PICTURE, growth_page.PICTURE])
def test_the_pictures_are_there(path):
    assert Path(path).stat().st_size > 10_000


def test_stored_checks_are_whole_groups_and_hold():
    found = checks.stored()
    assert {"long", "loops"} <= set(found) <= set(checks.GROUPS)
    known = {
        "robustness": len(CANTILEVERS) * len(RODS) * len(FACTORS) * len(STEPS),
        "rest": len(CASES),
        "motion": len(MOTIONS),
    }
    for group, count in known.items():
        assert len(found.get(group, [])) in (0, count)
    held = [check.holds for of in found.values() for check in of]
    assert np.mean(held) > 0.9


def test_errors_that_are_no_numbers_do_not_hold():
    assert Check("a", "b", 1e-4, 1e-3).holds
    assert not Check("a", "b", 2e-3, 1e-3).holds
    assert not Check("a", "b", math.nan, 1e-3).holds


def test_powers_are_those_of_the_times():
    assert growth_page.power([1, 10, 100], [3.0, 300.0, 30000.0]) == pytest.approx(2.0)


def test_at_least_four_peers_are_stored():
    assert len(race.running(race.stored())) >= race.ENOUGH


def test_the_fastest_is_the_one_that_is_accurate_enough():
    rows = [race.Row("a", "", "t", "", error, wall) for error, wall in ((1e-1, 1.0), (1e-3, 5.0))]
    assert comparing.fastest(rows, 1e-2).wall_s == 5.0
    assert comparing.fastest(rows, 1.0).wall_s == 1.0
    assert comparing.fastest(rows, 1e-4) is None


def test_checks_are_computed_by_the_command(monkeypatch):
    monkeypatch.setitem(checks.GROUPS, "rest", lambda: [Check("a", "b", 1e-4, 1e-3)])
    monkeypatch.setitem(checks.GROUPS, "motion", lambda: [Check("a", "b", math.inf, 1e-3)])
    runner = CliRunner()
    found = runner.invoke(app, ["bench", "validation", "--only", "rest", "--json"])
    assert found.exit_code == 0
    assert json.loads(found.stdout)["holds"] is True
    monkeypatch.setitem(checks.GROUPS, "loops", lambda: [Check("a", "b", 1e-2, 1e-3)])
    missed = runner.invoke(app, ["bench", "validation", "--only", "loops", "--json"])
    assert missed.exit_code == 0  # it was measured
    assert json.loads(missed.stdout)["holds"] is False
    assert runner.invoke(app, ["bench", "validation", "--only", "motion"]).exit_code == 1
    assert runner.invoke(app, ["bench", "validation", "--only", "nothing"]).exit_code == 2
