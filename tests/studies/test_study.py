"""Studies find what single computations find; failures are members; what was interrupted goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray

import supple as sp
from supple.studies.mapped import CHUNK, program_of
from supple.studies.member import Job
from supple.studies.parameters import WithParameters
from tests.studies.robots import arm, product

LENGTHS = {"arm.length": [0.1, 0.2, 0.3, 0.4, 10.0, 0.5], "arm.material.E": [1, 2, 3, 4, 5, 6]}


def stored(path: Path) -> xarray.Dataset:
    return xarray.open_zarr(path / "data", chunks=None).load()


@pytest.fixture(scope="module")
def columns():
    """Equilibria of an arm: pulled and pushed; member 5 is a column beyond buckling, 66 cannot be."""
    count = CHUNK + 6
    rng = np.random.default_rng(0)
    upright = np.arange(count) == 5
    samples = sp.Listed(
        {
            "pull": np.where(upright, 0.0, rng.uniform(0.0, 3.0, count)),
            "arm.material.E": rng.uniform(1e9, 3e9, count),
            "push.force[0]": np.where(upright, -4.0, 0.0),
            "push.force[1]": np.where(upright, 0.0, rng.uniform(-0.3, 0.3, count)),
            "gravity[1]": np.where(upright, 0.0, -9.81),
            "arm.length": np.where(np.arange(count) == 66, -0.4, 0.4),
        }
    )
    return samples, sp.study(arm(), samples)


def test_equilibria_are_those_of_single_solves(columns):
    samples, data = columns
    describe = WithParameters(arm(), samples.names)
    for member in (0, 1, 69):
        held = sp.equilibrium(describe(samples.sample(member)))
        one = data.isel(member=member)
        assert str(one["status"].values) == held.status.name
        assert str(one["message"].values) == held.message
        tip = one["position"].sel(frame="arm")
        np.testing.assert_allclose(tip, held.position("arm"), atol=1e-12)
        np.testing.assert_allclose(one["configuration"], held.q, atol=1e-10)
        np.testing.assert_allclose(one["tension"].sel(tendon="left"), held.tendon("left").tension)
    np.testing.assert_array_equal(data["pull"], samples.values["pull"])
    assert data["position"].attrs["units"] == "m"


def test_an_unstable_equilibrium_is_left_as_ever(columns):
    samples, data = columns
    describe = WithParameters(arm(), samples.names)
    with pytest.warns(RuntimeWarning, match="unstable"):
        held = sp.equilibrium(describe(samples.sample(5)))
    assert abs(held.position("arm")[1]) > 0.1
    one = data.isel(member=5)
    assert str(one["status"].values) == held.status.name == "RELAXED"
    assert "unstable" in str(one["message"].values)
    np.testing.assert_allclose(one["position"].sel(frame="arm"), held.position("arm"), atol=1e-9)


def test_a_member_that_cannot_be_has_a_status(columns):
    _, data = columns
    assert data["ok"].values.sum() == CHUNK + 5
    failed = data.isel(member=66)
    assert not failed["ok"]
    assert str(failed["status"].values) == "BAD_INPUT"
    assert "arm: length: got -0.4" in str(failed["message"].values)
    assert np.isnan(failed["position"].values).all()
    assert data.attrs["complete"] == 1


@pytest.mark.parametrize(
    ("robot", "compute"),
    [
        (arm(), partial(sp.equilibrium, accuracy=1e-6)),
        (arm(), product),
        (arm().replacing(sp.Rod("arm", 0.4, sp.Circle(3e-3), sp.Material(2e9, 1e3))), None),
        (arm().with_formulation("shooting"), None),
    ],
    ids=["accuracy", "something else", "auto", "another formulation"],
)
def test_no_program_is_made_where_members_may_differ(robot, compute, request):
    first = {"arm.length": 0.4}
    describe = WithParameters(robot, first)
    job = Job(describe, compute or sp.equilibrium, None, request.node.name, first)
    assert program_of(job) is None


def test_runs_have_their_instants():
    samples = {"arm.material.E": [1e9, 2e9], "pull": [0.5, 1.0]}
    run = partial(sp.simulate, duration=0.02, dt=0.01, t_eval=0.01)
    data = sp.study(arm(), samples, run, {"tip": lambda result: result.position("arm")})
    np.testing.assert_allclose(data["time"], [0.0, 0.01, 0.02])
    assert data["tip"].dims == ("member", "time", "tip_0")
    assert set(data["status"].values) == {"DONE"}
    describe = WithParameters(arm(), samples)
    alone = run(describe({"arm.material.E": 2e9, "pull": 1.0}))
    np.testing.assert_array_equal(data["tip"].isel(member=1), alone.position("arm"))


def several(robot):
    length = robot["arm"].length
    return {"row": np.arange(int(10 * length)), "double": 2 * length, "z": 1j * length}


def test_members_of_different_lengths_are_filled_up():
    data = sp.study(arm(), {"arm.length": [0.2, 0.4]}, several)
    np.testing.assert_array_equal(data["row"], [[0, 1, np.nan, np.nan], [0, 1, 2, 3]])
    np.testing.assert_array_equal(data["double"], [0.4, 0.8])
    np.testing.assert_array_equal(data["z"], [0.2j, 0.4j])


def test_a_function_makes_the_robot(tmp_path):
    def made(sample):
        return arm(gravity=(0.0, sample["g"], 0.0))

    data = sp.study(made, {"g": [-1.0, -2.0]}, lambda r: r.gravity[1], store=tmp_path / "s")
    np.testing.assert_array_equal(data["value"], [-1.0, -2.0])
    assert data.identical(stored(tmp_path / "s"))


def test_an_interrupted_study_goes_on(tmp_path):
    whole = sp.study(arm(), LENGTHS, product)
    assert str(whole["message"].values[4]) == "ValueError: too long"
    told = []

    def stop(done, total, failed):
        told.append((done, total, failed))
        if done == 3:
            raise KeyboardInterrupt

    path = tmp_path / "s"
    part = sp.study(arm(), LENGTHS, product, store=path, threads=1, progress=stop)
    assert part.attrs["complete"] == 0
    assert (part["status"] == "PENDING").sum() >= 1
    assert stored(path).identical(part)
    assert told[-1][:2] == (3, 6)
    again = sp.study(arm(), LENGTHS, product, store=path, resume=True)
    assert again.identical(whole)
    assert stored(path).identical(whole)


def test_a_study_that_was_killed_goes_on(tmp_path, monkeypatch):
    log, path = tmp_path / "log", tmp_path / "s"
    code = (
        "import supple as sp, numpy as np; from tests.studies.robots import arm, product;"
        f"sp.study(arm(), {{'arm.length': np.linspace(.1, .4, 150)}}, product, store={str(path)!r},"
        " threads=2)"
    )
    environment = os.environ | {"LOG": str(log), "NAP": "0.02"}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        parts = path / "parts"
        while not (parts.is_dir() and list(parts.glob("*.npz"))):
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    kept = sum(
        len(json.loads(str(np.load(part)["arr_0"]))["members"]) for part in parts.glob("*.npz")
    )
    assert 0 < kept < 150
    samples = {"arm.length": np.linspace(0.1, 0.4, 150)}
    monkeypatch.setenv("LOG", str(again := tmp_path / "again"))
    data = sp.study(arm(), samples, product, store=path, resume=True)
    assert len(again.read_text().splitlines()) == 150 - kept
    assert data.identical(sp.study(arm(), samples, product))


def test_what_is_damaged_is_computed_again(tmp_path):
    path = tmp_path / "s"
    data = sp.study(arm(), LENGTHS, product, store=path)
    part = next((path / "parts").glob("*.npz"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 255
    part.write_bytes(content)
    (path / "parts" / "00000099.new").write_bytes(b"half")
    assert sp.study(arm(), LENGTHS, product, store=path, resume=True).identical(data)
    (path / "study.json").write_text("{")
    with pytest.raises(sp.StoreError, match=r"study\.json is damaged"):
        sp.study(arm(), LENGTHS, product, store=path, resume=True)


def test_another_study_is_refused(tmp_path):
    path = tmp_path / "s"
    sp.study(arm(), LENGTHS, product, store=path)
    for robot, samples, compute, match in (
        (arm((0.0, 0.0, 0.0)), LENGTHS, product, "not the same are gravity"),
        (arm(), {"arm.length": [0.1]}, product, "not the same are the samples"),
        (arm(), LENGTHS, several, "not the same are what is computed"),
    ):
        with pytest.raises(sp.StoreError, match=match):
            sp.study(robot, samples, compute, store=path, resume=True)
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "mine.txt").write_text("keep me")
    with pytest.raises(sp.StoreError, match="a folder of others"):
        sp.study(arm(), LENGTHS, product, store=tmp_path / "others")

    def busy(*_):
        with pytest.raises(sp.StoreError, match="another run is writing"):
            sp.study(arm(), LENGTHS, product, store=path)

    sp.study(arm(), LENGTHS, product, store=path, progress=busy)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"samples": {"arn.length": [1.0]}}, "arm\\? a path"),
        ({"samples": {"arm.length": [1.0], "pull": [1.0, 2.0]}}, "as many of each"),
        ({"robot": "arm.yaml"}, "need a Robot, or a function"),
        ({"compute": "simulate"}, "need a function of a robot"),
        ({"outputs": {"tip": "arm"}}, "outputs: tip: got 'arm'"),
        ({"threads": 0}, "need a number of threads"),
        ({"cluster": "tcp://127.0.0.1:9", "threads": 2}, "need one of them"),
    ],
    ids=["parameter", "lengths", "robot", "compute", "outputs", "threads", "both"],
)
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_studied(tmp_path, changes, match):
    given = {"robot": arm(), "samples": {"arm.length": [0.4]}, "store": tmp_path / "s"} | changes
    with pytest.raises((sp.ArgumentError, sp.DescriptionError), match=match):
        sp.study(**given)
    assert not (tmp_path / "s").exists()


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_the_study_and_keeps_what_there_is(tmp_path, monkeypatch):
    monkeypatch.setenv("NAP", "0.05")

    def stop(done, total, failed):
        if done == 2:
            signal.raise_signal(signal.SIGINT)

    samples = {"arm.length": np.linspace(0.1, 0.4, 50)}
    data = sp.study(arm(), samples, product, store=tmp_path / "s", threads=2, progress=stop)
    assert 2 <= data["ok"].values.sum() < 50
