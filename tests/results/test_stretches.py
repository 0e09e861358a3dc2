"""Runs of several stretches: joined by name, as labeled data, on disk, after a kill, in pictures."""

import gc
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray

import supple as sp
from supple.results.store import Store
from supple.run import loop
from supple.view import to_html
from supple.view.drawing import drawing_of
from supple.view.film import Painter
from supple.view.gltf import glb_of
from supple.view.scene import scene_of

DURATION, DT = 0.6, 1e-3


def low(sensors):
    return sensors.position("box")[2] + 0.62


def robot():
    arm = sp.Body(
        "arm", mass=1.0, inertia=(1e-2,) * 3, com=(0.25, 0.0, 0.0), joint=sp.Revolute("y")
    )
    box = sp.Body("box", parent="arm", position=(0.5, 0.0, 0.0), mass=0.2, inertia=(1e-3,) * 3)
    return sp.Robot(arm, box, sp.Spring("spring", on="ground", to="arm", to_position=(0.3, 0.0, 0.0),
                                        position=(0.3, 0.0, 0.5), stiffness=5.0))  # fmt: skip


def events():
    return [
        sp.Event(t=0.2, edit=sp.Release("box")),
        sp.Event(when=low, direction="falling", edit=sp.Attach("box", "ground", sp.Spherical())),
        sp.Event(t=0.45, edit=[sp.Remove("box"), sp.Add(sp.Marker("eye", parent="arm"))]),
    ]


def simulate(**options):
    return sp.simulate(robot(), DURATION, dt=DT, events=events(), **options)


@pytest.fixture(scope="module")
def run():
    found = simulate()
    assert found.ok
    assert [one.ended for one in found.stretches] == [(0,), (1,), (2,), ()]
    return found


def same(first, second):
    """Bit by bit."""
    assert len(first.stretches) == len(second.stretches)
    for one, other in zip(first.stretches, second.stretches, strict=True):
        for a, b in zip(one.saved, other.saved, strict=True):
            np.testing.assert_array_equal(a, b)
    return True


def test_items_are_joined_by_name(run):
    counts = [len(one) for one in run.stretches]
    assert len(run) == sum(counts) == len(run.t)
    assert run.names("frame") == ("arm", "box", "eye")
    assert "4 stretches" in repr(run)
    np.testing.assert_array_equal(np.isnan(run.position("box")[:, 0]), run.stretch == 3)
    np.testing.assert_array_equal(np.isnan(run.position("eye")[:, 0]), run.stretch < 3)
    assert np.isfinite(run.position("arm")).all()
    np.testing.assert_array_equal(np.isnan(run.closure("box on ground")[:, 0]), run.stretch != 2)
    assert run.spring("spring")[1].shape == run.t.shape
    assert run.poses["box"].rotation.shape == (len(run), 3, 3)
    np.testing.assert_array_equal(
        run.joint("arm").position[run.stretch == 1], run.part(1).joint("arm").position
    )
    assert run.joint("box").position.shape == (len(run), 7)
    assert run.violation.shape == (len(run), 3)
    assert run.model is run.stretches[-1].model
    with pytest.raises(sp.ArgumentError, match=r"result.stretches\[i\].q"):
        run.q  # noqa: B018
    with pytest.raises(sp.ArgumentError, match="need one of: arm, box, eye"):
        run.position("tool")
    picked = run.pick(slice(None, None, 50))
    np.testing.assert_array_equal(picked.t, run.t[::50])
    times = np.array([0.0, 0.1, 0.2, 0.21, 0.4, 0.6])
    sampled = run.sample(times)
    np.testing.assert_array_equal(sampled.t, times)
    np.testing.assert_array_equal(
        sampled.stretch, [0, 0, 1, 1, 2, 3]
    )  # an edit's instant is after it
    again = simulate(t_eval=times)
    np.testing.assert_allclose(again.position("arm"), sampled.position("arm"), rtol=1e-12)


def test_labels_and_files(run, tmp_path):
    data = run.dataset(5)
    np.testing.assert_array_equal(data["stretch"], run.stretch)
    np.testing.assert_array_equal(data["position"].sel(frame="box"), run.position("box"))
    np.testing.assert_array_equal(
        data["configuration"].sel(q="arm.joint.0"), run.joint("arm").position[:, 0]
    )
    np.testing.assert_array_equal(
        data["closure_wrench"].sel(closure="box on ground"), run.closure("box on ground")
    )
    assert data["newton_iterations"].dtype.kind == "i"
    assert list(data["frame"].values) == ["arm", "box", "eye"]
    table = np.genfromtxt(run.to_csv(tmp_path / "run.csv"), delimiter=",", names=True)
    np.testing.assert_allclose(table["position_box_z"], run.position("box")[:, 2], rtol=1e-12)
    back = xarray.open_dataset(run.to_netcdf(tmp_path / "run.nc"), engine="scipy")
    np.testing.assert_array_equal(back["position"], data["position"])
    with np.load(run.save(tmp_path / "run.npz")) as file:
        np.testing.assert_array_equal(file["q/1"], run.stretches[1].q)
        np.testing.assert_array_equal(file["position/box"], run.position("box"))
    assert "4 stretches" not in sp.plot.overview(run).get_label()
    assert "<img" in run._repr_html_()


def test_pictures_show_what_exists(run, tmp_path):
    drawing = drawing_of(run, 61)
    there = {solid.name: np.isfinite(solid.position[:, 0]) for solid in drawing.solids[:2]}
    assert there["arm"].all()
    times = drawing.t - drawing.t[0]
    np.testing.assert_array_equal(there["box"], times < 0.45)
    assert np.isfinite(drawing.points).all()
    assert np.isfinite(drawing.seen).all()
    scene_of(drawing)
    glb_of(drawing)
    painter = Painter(drawing, size=(320, 240))
    shots = [painter.picture(frame) for frame in (0, 30, 60)]
    assert all(shot.std() > 5 for shot in shots)
    assert to_html(run, tmp_path / "run.html").stat().st_size > 10_000
    assert len(drawing_of(run.pick(np.arange(150, 260))).t) == 109  # an edit's instant only once


def test_a_run_resumed_in_memory_is_the_same(run):
    for steps in (100, 205, 400):
        part = simulate(max_steps=steps, throw=False)
        assert part.status == sp.Status.STEP_LIMIT
        assert same(sp.resume(part), run)
    assert same(sp.resume(simulate_until(0.3), 0.3), run)


def simulate_until(duration):
    return sp.simulate(robot(), duration, dt=DT, events=events())


class Killed(BaseException):
    """The process has died here."""


def counting(patch, when):
    """Die before (even) or after (odd) the disk operation of half this number; counts them."""
    count = [0]
    for name in ("_publish", "_write_piece", "_write_data"):
        whole = getattr(Store, name)

        def part(store, *args, whole=whole):
            count[0] += 1
            if count[0] == when // 2 and when % 2 == 0:
                raise Killed
            found = whole(store, *args)
            if count[0] == when // 2:
                raise Killed
            return found

        patch.setattr(Store, name, part)
    return count


@pytest.mark.parametrize(
    "every", [17, pytest.param(1, marks=pytest.mark.slow)], ids=["some writes", "all writes"]
)
def test_a_run_killed_at_a_write_goes_on_as_if_it_had_not_been(run, tmp_path, monkeypatch, every):
    write = loop._Tape.write

    def at_once(tape, cursor, now, **about):
        write(tape, cursor, now=True, **about)

    monkeypatch.setattr(loop._Tape, "write", at_once)
    monkeypatch.setattr(loop, "_next_attempts", lambda attempts, seconds: 50)  # not by the clock
    with pytest.MonkeyPatch.context() as patch:
        count = counting(patch, 0)
        assert same(simulate(store=tmp_path / "whole", progress=lambda t, n: None), run)
    assert count[0] > 30, count
    for when in range(2, 2 * count[0] + 2, every):
        folder = tmp_path / f"run{when}"
        with pytest.MonkeyPatch.context() as patch:
            counting(patch, when)
            with pytest.raises(Killed):
                simulate(store=folder, progress=lambda t, n: None)
        gc.collect()  # a dead process holds no lock
        assert same(simulate(store=folder, resume=True), run)
        assert same(simulate(store=folder, resume=True), run)  # once it is whole, too


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[2])
from tests.results.test_stretches import simulate
import time
print(simulate(store=sys.argv[1], resume=True, progress=lambda t, n: time.sleep(0.05)).status.name)
"""


def test_a_killed_process(run, tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-c", SCRIPT, str(folder), os.getcwd()]
    process = subprocess.Popen(command)
    second, deadline = folder / "stretch-001" / "progress.json", time.monotonic() + 120
    while not second.exists():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert same(simulate(store=folder, resume=True), run)
    found = xarray.open_zarr(folder / "stretch-002" / "data", consolidated=False)
    np.testing.assert_array_equal(found["q"].values, run.stretches[2].q)


def test_stores_of_other_events_and_damaged_stretches(run, tmp_path):
    folder = tmp_path / "run"
    simulate(store=folder)
    other = [sp.Event(t=0.2, edit=sp.Release("box"))]
    with pytest.raises(sp.StoreError, match="other events"):
        sp.simulate(robot(), DURATION, dt=DT, store=folder, resume=True, events=other)
    content = folder / "stretch-001" / "data" / "q" / "c" / "0" / "0"
    broken = bytearray(content.read_bytes())
    broken[len(broken) // 2] ^= 0x10
    content.write_bytes(broken)
    for piece in (folder / "stretch-001" / "cursors").glob("*.npz"):
        piece.write_bytes(
            piece.read_bytes()[:-50] if piece.stem > "000000000100" else piece.read_bytes()
        )
    assert same(simulate(store=folder, resume=True), run)
    sp.simulate(robot(), 0.01, dt=DT, store=folder)  # a new run takes the old stretches away
    assert not list(folder.glob("stretch-*"))


def test_instants_that_are_asked_for_count_all_steps_between_them():
    fine = sp.simulate(robot(), DURATION, dt=0.01)
    few = sp.simulate(robot(), DURATION, dt=0.01, t_eval=0.1)
    assert len(few) < len(fine)
    for one in (few, fine.sample(few.t)):
        assert one.newton.sum() == fine.newton.sum() == fine.stats.newton_iterations
        assert one.substeps.sum() == fine.substeps.sum()
