"""The bench commands: what they print, for programs to read and for people."""

import json
from dataclasses import replace

import jax
import pytest
from typer.testing import CliRunner

from supple.bench import actuation, cpr, rods
from supple.cli.main import app

KEYS = {
    "case", "preset", "n_dof", "steps", "compile_s", "wall_s", "simulated_s", "ratio", "tip_error",
    "newton_per_step", "status",
}  # fmt: skip


@pytest.fixture(autouse=True)
def short_benches(monkeypatch):
    """One bench of each kind, over a few steps; the cache that the commands switch off is put back."""
    before = jax.config.jax_enable_compilation_cache
    name = "soft-cantilever"
    monkeypatch.setattr(rods, "CASES", {name: replace(rods.CASES[name], duration=0.1)})
    monkeypatch.setattr(cpr, "CASES", (replace(cpr.CASES[0], duration=0.05),))
    name = "finger-air"
    monkeypatch.setattr(actuation, "CASES", {name: replace(actuation.CASES[name], duration=0.1)})
    yield
    jax.config.update("jax_enable_compilation_cache", before)


def run(*words):
    return CliRunner().invoke(app, ["bench", *words])


def test_rods_as_json_and_as_a_table():
    found = run("rods", "--preset", "thesis", "--repeats", "1", "--json")
    assert found.exit_code == 0
    (row,) = [json.loads(line) for line in found.stdout.splitlines()]
    assert set(row) == KEYS
    assert (row["case"], row["preset"], row["status"]) == ("soft-cantilever", "thesis", "DONE")
    assert (row["n_dof"], row["steps"], row["simulated_s"]) == (3, 10, 0.1)
    assert row["ratio"] == pytest.approx(row["wall_s"] / row["simulated_s"])
    assert row["compile_s"] > 0
    assert 0 < row["tip_error"] < 0.1
    assert 1 <= row["newton_per_step"] < 10
    table = run("rods", "--preset", "thesis", "--repeats", "1")
    head, line = table.stdout.splitlines()
    assert set(head.split()) < KEYS
    assert line.split()[:2] == ["soft-cantilever", "thesis"]
    assert line.endswith("DONE")


def test_closed_loops_as_json():
    found = run("cpr", "--repeats", "1", "--json")
    assert found.exit_code == 0
    (row,) = [json.loads(line) for line in found.stdout.splitlines()]
    assert set(row) == KEYS | {"closure_violation", "legs"}
    assert (row["case"], row["legs"], row["steps"], row["status"]) == ("rfrfr", 2, 5, "DONE")
    assert row["closure_violation"] < 1e-10
    assert row["tip_error"] < 0.01


def test_driven_robots_as_json():
    found = run("actuation", "--repeats", "1", "--json")
    assert found.exit_code == 0
    (row,) = [json.loads(line) for line in found.stdout.splitlines()]
    assert set(row) == KEYS
    assert (row["case"], row["steps"], row["status"]) == ("finger-air", 10, "DONE")
    assert 0 < row["tip_error"] < 1e-2


def test_pieces_as_json():
    found = run("pcs", "--case", "kirchhoff", "--pieces", "1", "--repeats", "1", "--json")
    assert found.exit_code == 0
    (row,) = [json.loads(line) for line in found.stdout.splitlines()]
    assert {
        "case",
        "N",
        "forward_dynamics_us",
        "inverse_dynamics_us",
        "error_vs_dense",
        "ratio",
    } <= (set(row))
    assert (row["case"], row["N"], row["n_dof"], row["status"]) == ("kirchhoff", 1, 3, "DONE")
    assert row["error_vs_dense"] < 1e-9
    assert row["memory_kb"] > 1


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("rods", "--case", "bridge"), "--case: got 'bridge'; need one of: soft-cantilever"),
        (("rods", "--preset", "fast"), "--preset: got 'fast'; need one of: thesis"),
        (("actuation", "--case", "bridge"), "--case: got 'bridge'; need one of: finger-air"),
        (("cpr", "--robot", "bridge"), "--robot: got 'bridge'; need one of: rfrfr"),
    ],
)
def test_unknown_choices_are_named_with_the_known_ones(words, part):
    found = run(*words)
    assert found.exit_code == 2
    assert part in found.output
