"""The commands on robot files, as a user meets them."""

import json

import pytest

from tests.cli.arm import ARM, call

BAD = ARM.replace("length: 0.3", "length: -0.3").replace("tension: 1", "tenson: 1")


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    return file


def test_templates_are_listed_written_and_not_overwritten(tmp_path):
    listed = call("new")
    assert "tendon-arm" in listed.output
    target = tmp_path / "mine.yaml"
    assert call("new", "tendon-arm", target).exit_code == 0
    assert "tendons:" in target.read_text()
    again = call("new", "tendon-arm", target)
    assert again.exit_code == 2
    assert "exists" in again.output
    unknown = call("new", "octopus")
    assert unknown.exit_code == 2
    assert "need one of: " in unknown.output


def test_check_tells_all_that_is_wrong_with_its_place(tmp_path, arm):
    good = call("check", arm, "--json")
    assert json.loads(good.output) == {
        "ok": True, "robot": "arm", "n_dof": 2, "studies": ["simulate"],
    }  # fmt: skip
    bad = tmp_path / "bad.yaml"
    bad.write_text(BAD)
    found = call("check", bad)
    assert found.exit_code == 2
    assert "bad.yaml:" in found.output
    assert "tenson" in found.output
    assert "Traceback" not in found.output
    missing = call("check", tmp_path / "none.yaml")
    assert missing.exit_code == 2
    assert "Traceback" not in missing.output


def test_show_prints_the_tree_and_its_numbers(arm):
    shown = call("show", arm)
    assert "2 degrees of freedom" in shown.output
    about = json.loads(call("show", arm, "--json", "--modes", "1").output)
    assert about["tree"][0]["name"] == "arm"
    assert about["frequencies_hz"][0] > 1.0
    assert about["mass_kg"] == pytest.approx(1000 * 3.14159 * 0.005**2 * 0.3, rel=1e-4)


def test_statics_prints_where_it_rests(arm):
    held = json.loads(call("statics", arm, "--json").output)
    assert held["status"] == "CONVERGED"
    assert 0 <= held["error"] <= 1e-3
    assert held["transmissions"]["pull"]["tension"] == pytest.approx(1.0)
    assert "arm" in call("statics", arm).output


def test_runs_are_written_continued_and_exported(arm, tmp_path):
    words = ("run", arm, "--out", tmp_path / "out", "--json")
    first = call(*words, "--csv", "--netcdf")
    about = json.loads(first.output)
    assert first.exit_code == 0
    assert about["status"] == "DONE"
    assert about["steps"] == 10
    assert (tmp_path / "out" / "simulate.csv").exists()
    progress = json.loads((tmp_path / "out" / "simulate.run" / "progress.json").read_text())
    assert progress["count"] == 11
    assert progress["about"]["file"] == ARM
    again = json.loads(call(*words, "--resume").output)
    assert again["steps"] == 10
    wrong = call("run", arm, "--study", "hold")
    assert wrong.exit_code == 2
    assert "need one of: simulate" in wrong.output


def test_the_schema_is_printed():
    assert json.loads(call("schema").output)["properties"]["rods"]
