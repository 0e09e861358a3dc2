"""Studies of many robots from files: what Python finds, whole after a kill, failures as members."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray

import supple as sp
from supple.files import FileError, load
from tests.cli.arm import call

FILE = """\
robot: arm
parameters: {E: 2e9, size: 0.4}
rods:
  arm:
    length: $size
    section: {circle: 0.003}
    material: {E: $E, density: 1100, damping: {stiffness: 0.01}}
    strains: planar
    basis: 2
tendons:
  left: {on: arm, offset: [0.01, 0], tension: {input: {name: pull, value: 2.0}}}
wrenches:
  push: {on: arm, force: [0, -0.2, 0], law: t}
gravity: [0, -9.81, 0]
ensemble:
  grid: {E: [1e9, 2e9], left.offset[0]: {from: 0.005, to: 0.01, count: 2}}
  of: {statics: {t: 1}}
studies:
  map: {ensemble: {random: {ranges: {pull: [0, 3]}, count: 70, seed: 1}}}
  sizes: {ensemble: {listed: {size: [0.3, -1]}, of: modes}}
  lost: {ensemble: {listed: {size: [-1]}}}
  runs:
    ensemble: {random: {ranges: {E: [1e9, 2e9]}, count: 40}, of: {simulate: {duration: 0.2, dt: 1e-2}}}
  statics: {statics: {}}
outputs:
  tip: {position: arm}
""".replace("left.offset[0]:", '"left.offset[0]":')


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("ensembles")
    (path / "arm.yaml").write_text(FILE, encoding="utf-8")
    return path


def computed(folder, study, *options, command="study"):
    return call(command, folder / "arm.yaml", "--study", study, "--out", folder / "out", *options)


def stored(folder, study):
    return xarray.open_zarr(folder / "out" / f"{study}.study" / "data", chunks=None).load()


def test_members_are_what_single_studies_find(folder):
    """Parameters of the file and of items together; one dataset, the same from ``run``."""
    answer = computed(folder, "ensemble", "--json")
    assert answer.exit_code == 0, answer.output
    about = json.loads(answer.stdout)
    assert about["statuses"] == {"CONVERGED": 4}
    data = stored(folder, "ensemble")
    tendon = data["left.offset[0]"].values
    np.testing.assert_allclose(tendon, [0.005, 0.01, 0.005, 0.01])
    last = load(FILE.replace("offset: [0.01, 0]", "offset: [0.005, 0]"), parameters={"E": 1e9})
    held = sp.equilibrium(last.robot, t=1.0)
    np.testing.assert_allclose(data["tip"].values[0], held.position("arm"), atol=1e-12)
    again = computed(folder, "ensemble", command="run")
    assert again.exit_code == 0, again.output
    assert "4 members: 4 CONVERGED" in again.output
    assert stored(folder, "ensemble").identical(data)


def test_the_dataset_is_that_of_python(folder):
    answer = computed(folder, "map")
    assert answer.exit_code == 0, answer.output
    file = load(folder / "arm.yaml")
    samples = sp.RandomSamples({"pull": (0.0, 3.0)}, 70, seed=1)
    data = sp.study(file.robot, samples, outputs=file.settings.outputs)
    assert stored(folder, "map").identical(data)


def test_members_that_fail_are_told(folder):
    answer = computed(folder, "sizes")
    assert answer.exit_code == 0
    assert "1 DONE, 1 BAD_INPUT" in answer.output
    assert "got -1" in answer.output
    data = stored(folder, "sizes")
    assert data["frequencies"].values[0, 0] > 0
    assert np.isnan(data["frequencies"].values[1]).all()
    assert computed(folder, "lost").exit_code == 1


def test_a_study_that_was_killed_goes_on(folder):
    """The process is killed when the first members are on disk; the dataset is that of one never killed."""
    words = ["supple_command", "study", str(folder / "arm.yaml"), "--study", "runs"]
    out = folder / "killed"
    with subprocess.Popen(
        [sys.executable, "-m", *words, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        parts = out / "runs.study" / "parts"
        while not (parts.is_dir() and list(parts.glob("*.npz"))):
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    kept = sum(
        len(json.loads(str(np.load(part)["arr_0"]))["members"]) for part in parts.glob("*.npz")
    )
    assert 0 < kept < 40
    words = ("study", folder / "arm.yaml", "--study", "runs", "--json")
    for place, more in ((out, ("--resume",)), (folder / "whole", ())):
        answer = call(*words, "--out", place, *more)
        assert json.loads(answer.stdout)["statuses"] == {"DONE": 40}, answer.output
    killed, whole = (
        xarray.open_zarr(place / "runs.study" / "data", chunks=None).load()
        for place in (out, folder / "whole")
    )
    assert killed.identical(whole)


def test_another_file_is_refused_and_comments_do_not_count(folder, tmp_path):
    file, words = tmp_path / "arm.yaml", ("--study", "lost", "--out", tmp_path, "--resume")
    for text in (FILE, "# the same\n" + FILE.replace("0.003", "3.0e-3")):
        file.write_text(text, encoding="utf-8")
        assert call("study", file, *words).exit_code == 1  # its only member cannot be
    file.write_text(FILE.replace("0.003", "0.004"), encoding="utf-8")
    answer = call("study", file, *words)
    assert answer.exit_code == 2
    assert "not the same are arm, what depends on parameters" in answer.output


def test_a_scheduler_that_does_not_answer(folder, monkeypatch, tmp_path):
    monkeypatch.setattr("supple.studies.cluster.TIMEOUT", 0.2)
    answer = computed(folder, "map", "--scheduler", "tcp://127.0.0.1:9", "--out", tmp_path)
    assert answer.exit_code == 2
    assert "tcp://127.0.0.1:9', which does not answer" in answer.output
    assert not (tmp_path / "map.study").exists()


@pytest.mark.parametrize(
    ("command", "options", "need"),
    [
        ("study", ("--study", "statics"), "need one of: ensemble, map, sizes, lost, runs"),
        ("study", (), "need one of: ensemble"),
        ("run", ("--study", "map", "--html"), "--html: got it for --study map"),
    ],
)
def test_what_cannot_be_asked(folder, command, options, need):
    answer = call(command, folder / "arm.yaml", *options)
    assert answer.exit_code == 2
    assert need in answer.output


@pytest.mark.parametrize(
    ("ensemble", "place", "need"),
    [
        ("grid: {arm.lenght: [1]}", "ensemble.grid.arm.lenght", "length?"),
        ("grid: {e: [1]}", "ensemble.grid.e", "or a parameter of the file: E, size"),
        ("random: {ranges: {e: [1, 2]}, count: 2}", "random.ranges.e", "a path such as"),
        ("random: {ranges: {E: [2, 1]}, count: 2}", "random.ranges.E", "the least and the largest"),
        ("random: {ranges: {E: [1, 2]}, count: 0}", "random.count", "how many"),
        ("listed: {E: [1, 2], size: [1]}", "ensemble.listed", "as many of each"),
        ("grid: {E: {from: 1, to: 2}}", "grid.E", "{from: …, to: …, count: …}"),
        ("of: statics", "ensemble.samples", "one of: grid, listed, random, latin_hypercube"),
        ("{grid: {E: [1]}, listed: {E: [1]}}", "ensemble.samples", "one of: grid"),
        ("{grid: {E: [1]}, of: {sweep: {parameter: E, values: [1]}}}", "of", "one of simulate"),
    ],
)
def test_what_cannot_be_sampled_is_told_by_check(ensemble, place, need):
    inner = ensemble if ensemble.startswith("{") else f"{{{ensemble}}}"
    text = FILE[: FILE.index("ensemble:")] + f"studies: {{many: {{ensemble: {inner}}}}}\n"
    with pytest.raises(FileError) as told:
        load(text)
    assert need in str(told.value)
    assert place in str(told.value)


def test_ensembles_are_methods_of_files_too():
    data = load(FILE).run("sizes", threads=1)
    assert list(data["status"].values) == ["DONE", "BAD_INPUT"]
