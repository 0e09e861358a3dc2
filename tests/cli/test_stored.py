"""Stored runs: interrupted and continued by hand, drawn; and the list of examples."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from supple.cli import examples
from supple.files import load, stored_run
from supple.results.store import Store
from tests.cli.test_robots import ARM, call

# A suite started in the background ignores Ctrl-C, and so would the processes it starts.
HEAR = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
SUPPLE = [sys.executable, "-c", HEAR + "from supple.cli.main import app; app()"]
LONG = ARM.replace("duration: 0.1, dt: 0.01", "duration: 1, dt: 1.0e-4")


@pytest.fixture
def stored(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    assert call("run", file, "--out", tmp_path / "out").exit_code == 0
    return tmp_path / "out"


def test_ctrl_c_ends_a_run_cleanly_and_resume_finishes_it(tmp_path):
    file, out = tmp_path / "arm.yaml", tmp_path / "out"
    file.write_text(LONG)
    words = [*SUPPLE, "run", str(file), "--out", str(out)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    store = Store(out / "simulate.run")
    deadline = time.monotonic() + 120
    while not (store.exists and store.progress["count"] > 100):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130, (printed, said)
    assert "go on with --resume" in said
    assert "Traceback" not in printed + said
    part = stored_run(out / "simulate.run").result
    assert part.status.name == "INTERRUPTED"
    assert 100 < len(part) < 10_001
    done = call("run", file, "--out", out, "--resume", "--json")
    assert json.loads(done.output)["steps"] == 10_000
    whole = load(LONG).run()
    np.testing.assert_array_equal(stored_run(out / "simulate.run").result.q, whole.q)


def test_ctrl_c_before_the_first_step_says_so(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    # The interrupt comes while the file is read: nothing has been computed.
    code = (
        "import os, signal\n"
        "import supple.files as files\n"
        "files.load = lambda file, **options: os.kill(os.getpid(), signal.SIGINT)\n"
        "from supple.cli.main import app\n"
        "app()"
    )
    words = [sys.executable, "-c", HEAR + code, "run", str(file), "--out", str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr.strip().splitlines() == ["interrupted"]
    assert not (tmp_path / "out").exists()


def test_a_stored_run_is_read_back_with_its_robot(stored):
    found = stored_run(stored / "simulate.run").result
    whole = load(ARM).run()
    assert found.ok
    np.testing.assert_array_equal(found.q, whole.q)
    assert found.description == load(ARM).robot
    np.testing.assert_array_equal(found.position("arm"), whole.position("arm"))
    about = Store(stored / "simulate.run").progress["about"]
    assert about["file"] == ARM
    assert {"supple", "jax", "numpy", "settings", "study"} <= set(about)


def test_a_released_load_is_gone_from_the_stored_robot(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(
        ARM.replace("simulate: {", "release: {loads: pull, ").replace("tension: 1", "tension: 0.1")
    )
    assert call("run", file, "--out", tmp_path / "out").exit_code == 0
    found = stored_run(tmp_path / "out").result
    assert [item.name for item in found.description.items] == ["arm"]
    assert np.abs(found.q[0]).max() > 0


def test_plots_of_a_stored_run(stored, tmp_path):
    drawn = call("plot", stored)
    assert drawn.exit_code == 0
    assert (stored / "simulate.png").stat().st_size > 10_000
    target = tmp_path / "pictures" / "arm.svg"
    words = ("plot", stored / "simulate.run", "--what", "tensions,energies", "--out", target)
    about = json.loads(call(*words, "--json").output)
    assert about["written"] == str(target)
    assert about["what"] == ["tensions", "energies"]
    assert "multipliers" not in about["known"]
    assert "<svg" in target.read_text()[:1000]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--what", "tenson"), "what: got 'tenson'; need one of: shapes"),
        (("--out", "arm.bmp"), "need a file that ends with .png"),
    ],
)
def test_bad_words_of_plot_are_told(stored, words, part):
    found = call("plot", stored, *words)
    assert found.exit_code == 2
    assert part in found.output
    nothing = call("plot", stored / "none")
    assert nothing.exit_code == 2
    assert "need the folder of one stored run" in nothing.output


def test_examples_are_listed_and_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    groups = json.loads(call("examples", "--json").output)
    assert "tendon-arm" in groups["templates"]
    assert groups["robots"]["rfrfr.rfrfr"].startswith("Two steel rods")
    assert all(words for group in groups.values() for words in group.values())
    assert "closed_loops/01_rfrfr" in groups["examples"]
    assert call("examples", "run", "tendon-arm").exit_code == 0
    assert (tmp_path / "out" / "tendon-arm" / "simulate.run").is_dir()
    unknown = call("examples", "run", "octopus")
    assert unknown.exit_code == 2
    assert "fluidic-finger" in unknown.output.partition("need one of: ")[2]


def test_examples_of_a_checkout_give_their_own_exit_code(tmp_path, monkeypatch):
    file = tmp_path / "bad.py"
    file.write_text('"""An example that fails."""\nraise SystemExit(1)\n')
    monkeypatch.setattr(examples, "_files", lambda: {"group/bad": file})
    assert call("examples", "run", "bad").exit_code == 1
    assert "An example that fails." in call("examples").output


def test_exit_codes_are_documented_where_they_are_looked_for():
    assert "130 interrupted" in " ".join(call("--help").output.replace("│", " ").split())
