"""The comparison with other simulators: what is asked, what answers become, what the command says."""

import json
import textwrap
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from supple.bench.compare import race, tasks
from supple.bench.compare.environments import NotInstalled
from supple.bench.compare.race import Row, run_compare, run_one
from supple.bench.compare.simulators import SIMULATORS, SUPPLE, Simulator
from supple.bench.compare.tasks import TASKS, section
from supple.cli.main import app

QUICK = "stiff-flying-rod"
"""A task whose numbers need no computation."""


def fake(folder: Path, body: str, resolution: object = 1) -> Simulator:
    """A simulator whose script does this, in our own Python."""
    script = folder / "script.py"
    common = str(Path(race.__file__).parent / "peers")
    script.write_text(f"import sys; sys.path.insert(0, {common!r})\n" + textwrap.dedent(body))
    return Simulator("fake", None, str(script), {QUICK: ([[resolution]], [])})


@pytest.mark.parametrize("name", TASKS)
def test_references_fit_their_tasks(name):
    task = TASKS[name]
    expected = {"chain-200": 200, "net-200": 110, "fleet-1000": 1000}.get(name, tasks.INSTANTS)
    assert task.reference().shape == (expected, 3)
    assert np.isfinite(task.reference()).all()


@pytest.mark.parametrize(
    "name", ["stiff-flying-rod", "soft-flying-rod", "chain-200", "net-200", "rfrfr"]
)
def test_tasks_are_plain_numbers(name):
    numbers = TASKS[name].as_dict()
    assert json.loads(json.dumps(numbers))["duration"] == TASKS[name].duration
    assert {"EI", "mass", "length", "times"} <= set(numbers)


def test_sections_are_those_of_circles():
    found = section(0.05, 1e6, 0.3, 1000.0)
    assert found["EA"] == pytest.approx(1e6 * np.pi * 0.05**2)
    assert found["GJ"] / found["EI"] == pytest.approx(1 / 1.3)
    assert found["polar"] == 2 * found["inertia"]


def test_every_simulator_runs_a_task_or_says_why_not():
    for one in SIMULATORS.values():
        assert (Path(race.__file__).parent / "peers" / one.script).exists()
        assert set(one.runs) | set(one.without) <= set(TASKS)
        for task in TASKS:
            usual, _ = one.runs.get(task, ([], []))
            assert usual or one.why_not(task) != "not tried", (one.name, task)
    assert len([one for one in SIMULATORS.values() if one.runs]) - 1 >= race.ENOUGH
    assert set(SUPPLE.runs) == set(TASKS)


def answered(tmp_path, body):
    (row,) = run_one(fake(tmp_path, body), TASKS[QUICK], False, tmp_path)
    return row


def test_an_answer_becomes_a_row_with_its_error(tmp_path):
    tip = (TASKS[QUICK].reference() + np.array([0.0, 0.0, 0.02])).tolist()
    body = f"""
    import common
    common.serve("numpy", lambda task, resolution: ("words", lambda: {tip}))
    """
    row = answered(tmp_path, body)
    assert row.status == "DONE"
    assert row.error == pytest.approx(0.02)
    assert row.settings == "words"
    assert 0 <= row.wall_s < row.cold_s
    assert row.ratio == row.wall_s / 10.0
    assert 5 < row.memory_mb < 500


def test_failures_are_rows_with_reasons(tmp_path, monkeypatch):
    assert "boom" in answered(tmp_path, "raise SystemExit('boom')").why
    body = """
    import common
    def fails(task, resolution):
        raise FloatingPointError("the motion is not finite")
    common.serve("numpy", fails)
    """
    row = answered(tmp_path, body)
    assert (row.status, row.why) == ("FAILED", "FloatingPointError: the motion is not finite")
    far = body.replace(
        'raise FloatingPointError("the motion is not finite")',
        "return 'x', lambda: [[9.0] * 3] * 201",
    )
    assert answered(tmp_path, far).status == "FAILED"
    monkeypatch.setattr(race, "LIMIT", 0.5)
    assert answered(tmp_path, "import time; time.sleep(60)").status == "TIMEOUT"


def test_what_pip_does_not_install_is_a_row(tmp_path, monkeypatch):
    def refused(one):
        raise NotInstalled("No matching distribution found")

    monkeypatch.setattr(race, "python_of", refused)
    (row,) = run_one(SIMULATORS["exudyn"], TASKS[QUICK], False, tmp_path)
    assert (row.status, row.why) == ("NOT_INSTALLED", "No matching distribution found")


def test_the_command_fails_below_four_running_peers(monkeypatch):
    done = Row("exudyn", "1", QUICK, "8", 1e-2, 1.0, 0.1, 1.0, 50.0)
    monkeypatch.setattr(race, "run_compare", lambda *_: iter([done]))
    runner = CliRunner()
    found = runner.invoke(app, ["bench", "compare", "--json"])
    assert found.exit_code == 1
    assert json.loads(found.stdout.splitlines()[0])["peer"] == "exudyn"
    assert "need 4" in found.stderr
    assert runner.invoke(app, ["bench", "compare", "--peer", "exudyn"]).exit_code == 0
    assert runner.invoke(app, ["bench", "compare", "--peer", "nobody"]).exit_code == 2


def test_supple_itself_is_compared_whatever_is_asked_for(monkeypatch):
    monkeypatch.setattr(race, "run_one", lambda one, task, *_: iter([one.name, task.name]))
    assert list(run_compare([QUICK], ["mujoco"])) == ["supple", QUICK, "mujoco", QUICK]
