"""Every kind of study runs from a file, prints what it found and stores it with its outputs."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import supple as sp
from supple.cli.main import app
from supple.files import load

FILE = """\
robot: arm
parameters: {E: 2e9}
rods:
  arm:
    length: 0.4
    section: {circle: 0.003}
    material: {E: $E, density: 1100, damping: {stiffness: 0.01}}
    strains: planar
    basis: 2
tendons:
  left: {on: arm, offset: [0.01, 0], tension: {input: {name: pull, value: 2.0}}}
wrenches:
  push: {on: arm, force: [0, -0.2, 0], law: t}
gravity: [0, -9.81, 0]
simulate: {duration: 0.05, dt: 0.01}
statics: {t: 1}
modes: {count: 2, at: equilibrium}
linearize:
  at: equilibrium
  observe: {tip: {quantity: position, of: arm, component: y}}
sweep: {parameter: E, values: [1e9, 2e9]}
follow: {until: 1, step: 0.2}
inverse_statics: {frame: arm, targets: [[0.398, 0.016, 0]], tolerance: 1e-2}
identify: {rod: arm, points: [[0,0,0],[0.2,-0.01,0],[0.4,-0.04,0]], fractions: [0, 0.5, 1], energy: 0.01}
studies:
  sharp: {inverse_statics: {frame: arm, targets: [[9, 0, 0]]}}
outputs:
  tip: {position: arm}
  pull: {tension: left}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("studies")
    (path / "arm.yaml").write_text(FILE, encoding="utf-8")
    return path


def computed(folder, study, *options):
    words = ["run", str(folder / "arm.yaml"), "--study", study, "--out", str(folder / "out")]
    return CliRunner().invoke(app, [*words, *options])


def about(folder, study):
    answer = computed(folder, study, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.output.splitlines()[-1])


def table(path):
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    return rows[0], np.array(rows[1:], dtype=float)


@pytest.mark.parametrize(
    ("study", "keys", "rows"),
    [
        ("simulate", {"simulated_s", "steps"}, 6),
        ("statics", {"residual", "positions", "transmissions"}, 1),
        ("sweep", {"positions"}, 2),
        ("follow", {"t", "unstable", "special"}, None),
        ("inverse_statics", {"inputs", "error_m"}, 1),
    ],
)
def test_studies_with_outputs(folder, study, keys, rows):
    found = about(folder, study)
    assert keys <= set(found)
    names, values = table(found["written"]["outputs"])
    assert names[1:] == ["tip[0]", "tip[1]", "tip[2]", "pull"]
    assert len(values) == (len(found["t"]) if rows is None else rows)
    if study != "simulate":
        stored = json.loads((folder / "out" / f"{study}.json").read_text(encoding="utf-8"))
        tips = np.reshape(stored["outputs"]["tip"], (-1, 3))
        np.testing.assert_array_equal(values[:, 1:4], tips)


def test_they_find_what_python_finds(folder):
    robot = load(folder / "arm.yaml").robot
    held = sp.equilibrium(robot)
    loaded = sp.equilibrium(robot, t=1.0).position("arm")
    np.testing.assert_allclose(about(folder, "statics")["outputs"]["tip"], loaded, atol=1e-12)
    frequencies = sp.modes(robot, at=held, count=2).frequencies
    np.testing.assert_allclose(about(folder, "modes")["frequencies_hz"], frequencies, rtol=1e-9)
    poles = sp.linearize(robot, at=held).eigenvalues
    linear = about(folder, "linearize")
    told = [complex(*pole) for pole in linear["poles"]]
    np.testing.assert_allclose(np.sort_complex(told), np.sort_complex(poles), rtol=1e-6)
    # Slowly, the tip follows the tension as equilibria do.
    assert (linear["inputs"], linear["observed"]) == (["push", "pull"], ["tip"])
    A, B, C = (np.array(linear[name]) for name in "ABC")
    (folder / "pulled.yaml").write_text(FILE.replace("value: 2.0", "value: 2.01"), "utf-8")
    pulled = sp.equilibrium(load(folder / "pulled.yaml").robot).position("arm")
    slope = (pulled - held.position("arm"))[1] / 0.01
    assert (-C @ np.linalg.solve(A, B))[0, 1] == pytest.approx(slope, rel=1e-2)
    soft, stiff = about(folder, "sweep")["outputs"]["tip"]
    np.testing.assert_allclose(stiff, held.position("arm"), atol=1e-9)
    assert soft[1] > 1.5 * stiff[1] > 0
    fit = about(folder, "identify")
    assert fit["converged"] is True
    assert fit["residual_m"] < 5e-3


def test_what_fails_is_told_and_kept(folder):
    answer = computed(folder, "sharp", "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.output.splitlines()[-1])["status"] == "OUT_OF_REACH"
    assert (folder / "out" / "sharp.json").exists()


def test_in_words(folder):
    answer = computed(folder, "modes")
    assert answer.exit_code == 0
    assert "frequencies_hz" in answer.output
    assert "modes.json" in answer.output


def test_options_of_runs_are_refused_elsewhere(folder):
    answer = computed(folder, "modes", "--resume")
    assert answer.exit_code == 2
    assert "need a study that simulates" in answer.output


PILOT = """\
def act(t, seen, memory):
    return {"pull": 3.0}, memory


def sense(sensors):
    return ()
"""
CONTROLLED = (
    FILE
    + """\
controllers:
  pilot: {sense: "pilot_of_the_arm:sense", act: "pilot_of_the_arm:act", period: 0.01}
"""
)


def test_controllers_are_reached_through_modules_that_are_allowed(tmp_path):
    (tmp_path / "pilot_of_the_arm.py").write_text(PILOT, encoding="utf-8")
    (tmp_path / "arm.yaml").write_text(CONTROLLED, encoding="utf-8")
    refused = computed(tmp_path, "simulate")
    assert refused.exit_code == 2
    assert "that the caller allows" in refused.output
    answer = computed(tmp_path, "simulate", "--json", "--allow", "pilot_of_the_arm")
    assert answer.exit_code == 0, answer.output
    _, values = table(json.loads(answer.output.splitlines()[-1])["written"]["outputs"])
    assert values[-1, 4] == 3.0
