"""The commands that show robots, as a user meets them."""

import json
import urllib.request

import pytest

from supple.cli import viewing
from supple.files import stored_run
from supple.results.store import Store
from tests.cli.arm import ARM, call


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def seen(file, out):
    """A run that is looked at in a browser while it is computed, and afterwards."""
    addresses = []

    def look(viewer, wait=True):
        addresses.append(urllib.request.urlopen(viewer.url, timeout=10).status)
        viewer.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewing, "stay", look)
        patch.setattr(viewing, "PORT", 0)
        done = call("run", file, "--out", out, "--json", "--view")
    assert addresses == [200]
    return done


@pytest.fixture(scope="module")
def stored(folder):
    """A run on disk."""
    (folder / "arm.yaml").write_text(ARM)
    done = seen(folder / "arm.yaml", folder / "out")
    assert json.loads(done.stdout)["status"] == "DONE"
    return folder / "out"


def test_runs_that_fail_can_be_seen_too(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM.replace("dt: 0.01}", "dt: 0.01, max_steps: 4}"))
    done = seen(file, tmp_path / "out")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["status"] == "STEP_LIMIT"
    assert len(stored_run(tmp_path / "out").result.t) == 5


def test_runs_on_disk_come_back_with_their_robot(stored):
    run = stored_run(stored)
    assert run.result.ok
    assert len(run.result.t) == 11
    assert run.result.description == run.file.robot
    assert run.result.tendon("pull").tension[-1] == pytest.approx(1.0)


def test_runs_without_their_robot_are_refused_with_words(stored, tmp_path):
    nothing = call("view", tmp_path)
    assert nothing.exit_code == 2
    assert "need the folder of one stored run" in nothing.output
    Store(tmp_path / "bare.run").create({})
    bare = call("view", tmp_path / "bare.run")
    assert bare.exit_code == 2
    assert "without a robot file" in bare.output


def test_runs_are_saved_as_pages_and_films(stored, tmp_path):
    for name in ("run.html", "run.gif", "run.glb"):
        saved = call("view", stored, "--save", tmp_path / name, "--color", "bending moment")
        assert saved.exit_code == 0, saved.output
        assert saved.stdout.strip() == str(tmp_path / name)
    assert '"color":"bending moment"' in (tmp_path / "run.html").read_text()
    assert (tmp_path / "run.glb").read_bytes()[:4] == b"glTF"
    assert (tmp_path / "run.gif").read_bytes()[:4] == b"GIF8"
    for options, need in (
        (("--save", tmp_path / "run.avi"), "need a name that ends in .html, .mp4, .gif or .glb"),
        (("--color", "pink"), "need one of: plain, curvature"),
    ):
        wrong = call("view", stored, *options)
        assert wrong.exit_code == 2
        assert need in wrong.output


def test_viewers_and_live_robots_end_with_ctrl_c(folder, stored, monkeypatch):
    closed = []
    windows = viewing.stay

    def interrupted(seconds):
        raise KeyboardInterrupt

    def stay(window, wait=True):
        monkeypatch.setattr(viewing.time, "sleep", interrupted)
        windows(window, wait)
        monkeypatch.undo()
        closed.append(window)

    for words in (("view", stored), ("view", folder / "arm.yaml"), ("live", folder / "arm.yaml")):
        monkeypatch.setattr(viewing, "stay", stay)
        done = call(*words, "--port", "0")
        assert done.exit_code == 0, done.output
        assert "http://127.0.0.1:" in done.stderr
        assert closed.pop()._stopped.is_set()


def test_robots_are_exported_for_mujoco(folder, stored, tmp_path):
    done = call("export", folder / "arm.yaml", tmp_path / "arm.xml", "--pieces", "5")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(tmp_path / "arm.xml")
    assert "chains of 5 pieces" in (tmp_path / "arm.xml").read_text()
    wrong = call("export", folder / "arm.yaml", tmp_path / "arm.txt")
    assert wrong.exit_code == 2
    assert "need a name that ends in .xml" in wrong.output
