"""Places that cannot be used, locales and interrupts: one line and an exit code, never a traceback."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from supple.cli import robots, viewing
from supple.files import load
from tests.cli.arm import ARM, call

COMMAND = [sys.executable, "-m", "supple_command"]
LIMIT_S, LIMIT_KB = 5.0, 2 * 1024 * 1024


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A robot file, a run of it, a file, a folder, and things that are not what they should be."""
    folder = tmp_path_factory.mktemp("places")
    (folder / "arm.yaml").write_text(ARM)
    (folder / "file").write_text("mine")
    (folder / "folder").mkdir()
    (folder / "folder" / "mine.txt").write_text("mine")
    (folder / "binary.yaml").write_bytes(bytes(range(256)))
    (folder / "loop").symlink_to(folder / "loop")
    assert call("run", folder / "arm.yaml", "--out", folder / "out").exit_code == 0
    return folder


def refused(found):
    """Exit code 2, and one line that says why."""
    assert found.exit_code == 2, (found.output, found.exception)
    assert found.exception is None or isinstance(found.exception, SystemExit)
    said = found.stderr.strip()
    assert said
    assert "Traceback" not in said
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    "words",
    [
        ("run", "arm.yaml", "--out", "file"),
        ("run", "arm.yaml", "--out", "file/under"),
        ("run", "arm.yaml", "--out", "loop"),
        ("run", "arm.yaml", "--out", "x" * 300),
        ("run", "folder"),
        ("run", "file/arm.yaml"),
        ("run", "binary.yaml"),
        ("run", "loop"),
        ("run", "x" * 300),
        ("check", "folder"),
        ("check", "none.yaml"),
        ("show", "loop"),
        ("statics", "folder"),
        ("plot", "file"),
        ("plot", "loop"),
        ("plot", "folder"),
        ("plot", "out", "--out", "file/arm.png"),
        ("plot", "out", "--out", "folder.png/"),
        ("view", "out", "--save", "file/arm.html"),
        ("view", "out", "--save", "file/arm.gif"),
        ("view", "folder"),
        ("view", "loop"),
        ("new", "tendon-arm", "file/arm.yaml"),
        ("new", "tendon-arm", "folder"),
        ("new", "tendon-arm", "x" * 300),
        ("live", "arm.yaml", "--dt", "-1"),
        ("live", "arm.yaml", "--dt", "nan"),
        ("live", "arm.yaml", "--speed", "0"),
        ("live", "folder"),
    ],
)
def test_places_that_cannot_be_used_are_told_in_one_line(place, monkeypatch, words):
    monkeypatch.chdir(place)
    monkeypatch.setattr(viewing, "PORT", 0)
    (place / "folder.png").mkdir(exist_ok=True)
    refused(call(*words))
    assert (place / "file").read_text() == "mine"
    assert (place / "folder" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("target", ["simulate.csv", "simulate.nc", "simulate.html"])
def test_a_folder_where_a_table_should_be(place, tmp_path, target):
    (tmp_path / target).mkdir(parents=True)
    kind = {"csv": "--csv", "nc": "--netcdf", "html": "--html"}[target.split(".")[1]]
    assert target in refused(call("run", place / "arm.yaml", "--out", tmp_path, kind))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder closed even to root")
def test_a_folder_that_may_not_be_written(place):
    refused(call("run", place / "arm.yaml", "--out", "/proc/self/out"))
    refused(call("new", "tendon-arm", "/proc/self/arm.yaml"))
    refused(call("plot", place / "out", "--out", "/proc/self/arm.png"))


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
def test_what_the_system_refuses_is_told(place, monkeypatch, error):
    def fail(file, allow):
        raise error

    monkeypatch.setattr(robots, "load_file", fail)
    for command in ("run", "show", "statics", "check"):
        refused(call(command, place / "arm.yaml"))


def test_a_damaged_run_is_told_by_the_commands_that_read_it(place, tmp_path):
    import shutil

    run = tmp_path / "arm.run"
    shutil.copytree(place / "out" / "simulate.run", run)
    shutil.rmtree(run / "data")
    shutil.rmtree(run / "cursors")
    for command in ("plot", "view"):
        assert "damaged after its first 0 of 11 instants" in refused(call(command, run))


def test_resume_with_another_robot_is_refused_and_with_the_same_goes_on(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    words = ("run", file, "--out", tmp_path / "out", "--resume", "--json")
    assert json.loads(call(*words).stdout)["status"] == "DONE"
    file.write_text("# the same, with a comment\n" + ARM.replace("length: 0.3", "length: 0.30"))
    assert json.loads(call(*words).stdout)["status"] == "DONE"
    file.write_text(ARM.replace("E: 1.0e8", "E: 2.0e8"))
    assert "another robot: not the same are arm;" in refused(call(*words))
    file.write_text(ARM.replace("dt: 0.01}", "dt: 0.01, initial: {coordinates: {arm: [0.5, 0]}}}"))
    assert "starts elsewhere" in refused(call(*words))


WORDS = [
    "new", "check", "show", "statics", "run", "view", "live", "plot", "schema", "examples", "version",
    "bench", "rods", "list", "tendon-arm", "arm.yaml", "file", "folder", "out", "loop", "binary.yaml",
    "none.yaml", "", "-", "--", "../x", "/", "é", "\udce9", "\0", "[/bold]", "{}", "-1", "0", "nan", "inf",
    "1e999", "99999999999999999999", "--json", "--out", "--study", "--resume", "--csv", "--netcdf", "--html",
    "--modes", "--at", "--what", "--save", "--color", "--speed", "--port", "--host", "--dt", "--no-wait",
    "--help", "-h", "--case", "--preset", "simulate", "simulate.run", "shapes,tensions", "arm.svg", "a.html",
    "a.gif", "127.0.0.1", "curvature", "x" * 5000,
]  # fmt: skip
SEEDS = [
    ["check", "arm.yaml", "--json"], ["show", "arm.yaml", "--modes", "1"], ["statics", "arm.yaml"],
    ["run", "arm.yaml", "--out", "out", "--json"], ["run", "arm.yaml", "--resume", "--csv"],
    ["plot", "out", "--what", "tensions", "--out", "arm.svg"], ["new", "tendon-arm", "mine.yaml"],
    ["view", "out", "--no-wait", "--port", "0"], ["live", "arm.yaml", "--no-wait", "--port", "0"],
    ["examples", "list", "--json"], ["bench", "rods", "--case", "none"], ["schema"],
]  # fmt: skip


def mutated(rng):
    words = list(rng.choice(SEEDS))
    for _ in range(rng.choice((1, 1, 2, 3))):
        k, kind = rng.randrange(len(words) + 1), rng.randrange(4)
        if kind == 0 and k < len(words):
            words[k] = rng.choice(WORDS)
        elif kind == 1:
            words.insert(k, rng.choice(WORDS))
        elif kind == 2 and k < len(words) and len(words) > 1:
            del words[k]
        elif k < len(words):
            letters = list(words[k]) or ["x"]
            letters[rng.randrange(len(letters))] = chr(rng.choice((*range(32, 127), 0, 233, 8232)))
            words[k] = "".join(letters)
    return words


def all_end_cleanly(count, seed, folder, monkeypatch):
    rng, codes = random.Random(seed), {}
    # What is not looked for here: windows that stay open, and benchmarks and examples that take their time.
    monkeypatch.setattr(viewing, "stay", lambda window, wait=True: window.close())
    monkeypatch.setattr(viewing, "PORT", 0)
    monkeypatch.setattr("supple.bench.rods.run_rods", lambda *_: iter(()))
    monkeypatch.setattr("supple.bench.cpr.run_cpr", lambda *_: iter(()))
    monkeypatch.setattr("supple.bench.actuation.run_actuation", lambda *_: iter(()))
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr("supple.cli.examples.subprocess.run", lambda *_, **__: done)
    monkeypatch.chdir(folder)
    for words in SEEDS:  # compiled once, whatever that takes
        call(*words)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        words = mutated(rng)
        if "live" in words or "view" in words:
            words = [w for w in words if w != "--wait"]
        begun = time.perf_counter()
        found = call(*words)
        taken = time.perf_counter() - begun
        codes[found.exit_code] = codes.get(found.exit_code, 0) + 1
        clean = found.exception is None or isinstance(found.exception, SystemExit)
        assert clean, (words, found.exception)
        assert found.exit_code in (0, 1, 2), (words, found.output)
        assert "Traceback" not in found.output, (words, found.output)
        # A template that was written before may be simulated, which takes as long as it takes.
        assert taken < LIMIT_S or found.exit_code == 0, (words, taken)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < LIMIT_KB
    return codes


@pytest.mark.usefixtures("unchecked")
def test_mutated_command_lines(place, monkeypatch):
    codes = all_end_cleanly(150, 1, place, monkeypatch)
    assert codes[0] > 10
    assert codes[2] > 50


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_five_thousand_mutated_command_lines(place, monkeypatch):
    codes = all_end_cleanly(5000, 2, place, monkeypatch)
    assert codes[2] > 1000


@pytest.mark.parametrize("after", [0.1, 0.4, 0.8, 1.2, 2.0])
def test_ctrl_c_in_the_first_seconds(place, tmp_path, after):
    file = tmp_path / "long.yaml"
    file.write_text(ARM.replace("duration: 0.1, dt: 0.01", "duration: 1000, dt: 1.0e-4"))
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = hear + "print('up', flush=True); import supple_command; supple_command.main()"
    words = [sys.executable, "-c", code, "run", str(file), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130, (printed, said)
    assert "Traceback" not in printed + said
    assert said.strip().splitlines()[-1].startswith("interrupted")


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_texts_are_utf_8_whatever_the_locale(tmp_path, locale):
    (tmp_path / "é.yaml").write_bytes(ARM.replace("robot: arm", "robot: été κ").encode())
    options = os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} | locale
    run = [*COMMAND, "run", "é.yaml", "--csv", "--out", "out"]
    for words in ([*COMMAND, "show", "é.yaml"], run, [*COMMAND, "new"], [*COMMAND, "--help"]):
        done = subprocess.run(words, cwd=tmp_path, env=options, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert "été κ" in subprocess.run(
        [*COMMAND, "show", "é.yaml"], cwd=tmp_path, env=options, capture_output=True, check=True
    ).stdout.decode("utf-8")
    assert load(tmp_path / "é.yaml").robot.name == "été κ"
