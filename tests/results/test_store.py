"""Runs on disk: readable at any time, continued after a kill, and as labeled data."""

import json
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

SCRIPT = """
import sys
import numpy as np
import supple as sp

def pendulum():
    body = sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y"))
    return sp.Robot(body, sp.Wrench("push", on="bob", force=(0.0, 0.0, 1.0)))

if __name__ == "__main__":
    run = sp.simulate(pendulum(), float(sys.argv[2]), dt=1e-3, store=sys.argv[1], resume=True)
    np.save(sys.argv[1] + ".npy", run.q)
    print(run.status.name)
"""
DURATION = 60.0


def pendulum():
    body = sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y"))
    return sp.Robot(body, sp.Wrench("push", on="bob", force=(0.0, 0.0, 1.0)))


def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path):
    script, folder = tmp_path / "run.py", tmp_path / "run.zarr"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(folder), str(DURATION)]
    process = subprocess.Popen(command, env=os.environ)
    store = Store(folder)
    deadline = time.monotonic() + 120
    while not (store.exists and store.progress["count"] > 1000):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = store.saved()
    assert 1000 < len(kept.t) < 60_000
    np.testing.assert_allclose(np.diff(kept.t), 1e-3, rtol=1e-6)
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "DONE"
    whole = sp.simulate(pendulum(), DURATION, dt=1e-3)
    np.testing.assert_array_equal(np.load(f"{folder}.npy"), whole.q)
    np.testing.assert_array_equal(store.saved().q, whole.q)


def test_what_was_written_after_the_last_good_chunk_does_not_count(tmp_path):
    """A kill between an array and the progress leaves a longer array behind."""
    import zarr

    folder = tmp_path / "run.zarr"
    half = sp.simulate(pendulum(), 0.5, dt=1e-3, store=folder)
    group = zarr.open_group(folder / "data", mode="r+")
    group["q"].append(np.full((7, 1), np.nan))
    store = Store(folder)
    np.testing.assert_array_equal(store.saved().q, half.q)
    about = store.progress["about"]
    store.note(settings=about["settings"].replace("duration=0.5", "duration=1.0"))
    whole = sp.simulate(pendulum(), 1.0, dt=1e-3, store=folder, resume=True)
    np.testing.assert_array_equal(whole.q, sp.simulate(pendulum(), 1.0, dt=1e-3).q)
    found = xarray.open_zarr(folder / "data", consolidated=False)
    assert found["q"].dims == ("time", "q")
    np.testing.assert_array_equal(found["q"].values, whole.q)


def test_folders_and_settings_that_do_not_fit_are_refused(tmp_path):
    folder = tmp_path / "run.zarr"
    sp.simulate(pendulum(), 0.1, dt=1e-3, store=folder)
    with pytest.raises(sp.StoreError, match="need those it holds"):
        sp.simulate(pendulum(), 0.1, dt=2e-3, store=folder, resume=True)
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.tex").write_text("mine")
    with pytest.raises(sp.StoreError, match="need a new folder"):
        sp.simulate(pendulum(), 0.1, dt=1e-3, store=other)
    assert (other / "chapter.tex").read_text() == "mine"
    (folder / "progress.json").write_text("{")
    with pytest.raises(sp.StoreError, match="damaged"):
        sp.simulate(pendulum(), 0.1, dt=1e-3, store=folder, resume=True)
    (folder / "progress.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(sp.StoreError, match="need 2"):
        Store(folder).saved()


def test_datasets_are_labeled_and_exported(tmp_path):
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(5e-3), strains="planar", basis=2,
                 material=sp.Material(E=1e8, density=1000.0))  # fmt: skip
    robot = sp.Robot(
        rod,
        sp.Body("tool", parent="arm", mass=0.01),
        sp.Tendon("pull", on="arm", offset=(4e-3, 0.0), tension=1.0),
    )
    run = sp.simulate(robot, 0.05, dt=1e-2)
    data = run.dataset(11)
    np.testing.assert_allclose(data["position"].sel(frame="tool"), run.position("tool"))
    np.testing.assert_allclose(
        data["centerline"].sel(rod="arm", u=1.0), run.position("arm"), atol=1e-9
    )
    np.testing.assert_allclose(data["tension"].sel(tendon="pull"), 1.0)
    assert data["time"].attrs["units"] == "s"
    assert data.attrs["status"] == "DONE"
    again = xarray.open_dataset(run.to_netcdf(tmp_path / "run.nc"), engine="scipy")
    np.testing.assert_allclose(again["velocity"], run.v)
    lines = run.to_csv(tmp_path / "run.csv").read_text().splitlines()
    assert len(lines) == len(run.t) + 1
    header, last = lines[0].split(","), lines[-1].split(",")
    assert float(last[header.index("tension pull")]) == pytest.approx(1.0)
    assert float(last[header.index("position tool z")]) == pytest.approx(
        run.position("tool")[-1, 2]
    )
