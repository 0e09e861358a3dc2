"""Stores damaged, taken by others or given another robot: an error that tells, or a right resume."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.results import store as stores
from supple.results.store import ROWS, Store
from supple.run import loop

DURATION, DT = 3.5, 1e-3
COUNT = 3501
FULL = COUNT // ROWS * ROWS


def pendulum(mass=1.0, force=1.0):
    body = sp.Body("bob", mass=mass, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y"))
    return sp.Robot(body, sp.Wrench("push", on="bob", force=(0.0, 0.0, force)))


def go(folder, *, resume=True, robot=None, **options):
    robot = pendulum() if robot is None else robot
    return sp.simulate(robot, DURATION, dt=DT, store=folder, resume=resume, **options)


def write_at_once(patch):
    """Every chunk of steps is written, whatever the clock says."""
    write = loop._Tape.write
    patch.setattr(loop._Tape, "write", lambda tape, cursor, now: write(tape, cursor, now=True))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run on disk, written as often as can be."""
    folder = tmp_path_factory.mktemp("stores") / "original"
    with pytest.MonkeyPatch.context() as patch:
        write_at_once(patch)
        return folder, go(folder, resume=False)


@pytest.fixture
def stored(original, tmp_path):
    return Path(shutil.copytree(original[0], tmp_path / "run"))


def flip(file, where=0.5):
    content = bytearray(file.read_bytes())
    content[int(where * len(content))] ^= 0x10
    file.write_bytes(content)


def truncate(file):
    os.truncate(file, file.stat().st_size // 2)


def newest(folder):
    return max((folder / "cursors").iterdir())


def chunk(folder, block, column="q"):
    tail = () if column == "t" else ("0",)
    return folder.joinpath("data", column, "c", str(block), *tail)


def edit(file, change):
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def make_folder(file):
    file.unlink()
    file.mkdir()


def all_but_the_first_cursor(folder):
    for piece in sorted((folder / "cursors").iterdir())[1:]:
        piece.unlink()


DAMAGE = {
    "progress truncated": lambda f: truncate(f / "progress.json"),
    "progress emptied": lambda f: (f / "progress.json").write_text(""),
    "progress deleted": lambda f: (f / "progress.json").unlink(),
    "progress a folder": lambda f: make_folder(f / "progress.json"),
    "progress a list": lambda f: (f / "progress.json").write_text("[1]"),
    "progress not text": lambda f: (f / "progress.json").write_bytes(b"\xff\xfe{}"),
    "progress with another count": lambda f: edit(
        f / "progress.json", lambda d: d.update(count=d["count"] - 7)
    ),
    "progress flipped": lambda f: flip(f / "progress.json", 0.9),
    "first chunk deleted": lambda f: chunk(f, 0).unlink(),
    "middle chunk deleted": lambda f: chunk(f, 1).unlink(),
    "last full chunk deleted": lambda f: chunk(f, 2).unlink(),
    "growing chunk deleted": lambda f: chunk(f, 3).unlink(),
    "all chunks deleted": lambda f: shutil.rmtree(f / "data" / "v" / "c"),
    "chunk truncated": lambda f: truncate(chunk(f, 1)),
    "chunk emptied": lambda f: chunk(f, 1).write_bytes(b""),
    "chunk flipped": lambda f: flip(chunk(f, 1)),
    "chunk of times flipped": lambda f: flip(chunk(f, 2, "t"), 0.8),
    "chunk a folder": lambda f: make_folder(chunk(f, 1)),
    "chunk of another column": lambda f: shutil.copy(chunk(f, 1, "v"), chunk(f, 1, "q")),
    "chunk of another block": lambda f: shutil.copy(chunk(f, 0), chunk(f, 1)),
    "column deleted": lambda f: shutil.rmtree(f / "data" / "a"),
    "shape shortened": lambda f: edit(
        f / "data" / "q" / "zarr.json", lambda d: d.update(shape=[1500, 1])
    ),
    "type changed": lambda f: edit(
        f / "data" / "q" / "zarr.json", lambda d: d.update(data_type="float32")
    ),
    "description of a column truncated": lambda f: truncate(f / "data" / "q" / "zarr.json"),
    "description of a column deleted": lambda f: (f / "data" / "q" / "zarr.json").unlink(),
    "description of the group deleted": lambda f: (f / "data" / "zarr.json").unlink(),
    "data deleted": lambda f: shutil.rmtree(f / "data"),
    "newest cursor deleted": lambda f: newest(f).unlink(),
    "newest cursor truncated": lambda f: truncate(newest(f)),
    "newest cursor flipped": lambda f: flip(newest(f), 0.3),
    "newest cursor of another instant": lambda f: shutil.copy(
        f / "cursors" / f"{2049:012d}.npz", newest(f)
    ),
    "only the first cursor left": all_but_the_first_cursor,
    "all cursors deleted": lambda f: shutil.rmtree(f / "cursors"),
    "newest cursor and its chunk deleted": lambda f: (newest(f).unlink(), chunk(f, 3).unlink()),
    "lock deleted": lambda f: (f / "writer.lock").unlink(),
    "leftovers of a kill": lambda f: (f / "progress.json.new").write_text("{"),
}
BEYOND_REPAIR = {
    "progress truncated", "progress emptied", "progress a list", "progress not text",
    "progress with another count", "progress flipped", "all cursors deleted",
}  # fmt: skip
"""An error tells; all else goes on and ends as if nothing had been."""


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_or_healed(original, stored, kind):
    whole = original[1]
    DAMAGE[kind](stored)
    store = Store(stored)
    readable = None
    try:
        found = store.saved()
    except sp.StoreError as error:
        readable, said = error.readable or 0, str(error)
        found = store.saved(readable) if readable else None
    if readable is None or found is not None:
        np.testing.assert_array_equal(found.q, whole.q[:readable])
    if found is not None and readable:
        assert f"first {readable} of {COUNT}" in said
    if kind in BEYOND_REPAIR:
        with pytest.raises(sp.StoreError, match="need"):
            go(stored)
        again = sp.simulate(pendulum(), 0.01, dt=DT, store=stored)  # but a new run may begin there
        np.testing.assert_array_equal(Store(stored).saved().q, again.q)
        return
    healed = go(stored)
    assert healed.ok
    np.testing.assert_array_equal(healed.q, whole.q)
    np.testing.assert_array_equal(healed.t, whole.t)
    for name in ("q", "v", "a", "newton"):
        np.testing.assert_array_equal(getattr(store.saved(), name), getattr(whole, name))


def test_damage_keeps_what_comes_before_it(stored):
    chunk(stored, 2).unlink()
    with pytest.raises(sp.StoreError, match=r"up to t = 2\.047 s") as told:
        Store(stored).saved()
    assert told.value.readable == 2 * ROWS
    chunk(stored, 1).unlink()
    taken = []
    go(stored, progress=lambda t, count: taken.append(count))
    assert taken[0] > ROWS  # not from the beginning


def test_a_cursor_for_every_block_and_the_newest(original):
    counts = [int(file.stem) for file in sorted((original[0] / "cursors").iterdir())]
    assert counts == [1, 1025, 2049, 3073, COUNT]


def test_another_robot_does_not_go_on(stored):
    with pytest.raises(sp.StoreError, match="another robot: not the same are bob;"):
        go(stored, robot=pendulum(mass=2.0))
    with pytest.raises(sp.StoreError, match="not the same are push;"):
        go(stored, robot=pendulum(force=2.0))
    with pytest.raises(sp.StoreError, match="not the same are the order of items, marker"):
        go(stored, robot=pendulum().adding(sp.Marker("marker", parent="bob")))
    same = sp.Robot(*pendulum().items, gravity=np.array([0.0, 0.0, -9.81]))
    assert go(stored, robot=same).ok


def test_another_start_does_not_go_on(stored):
    model = pendulum().build()
    with pytest.raises(sp.StoreError, match="starts elsewhere"):
        go(stored, initial=sp.initial_state(model, q=[0.3]))


def test_functions_are_known_by_what_they_do(tmp_path):
    def robot(size):
        body = sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y"))
        law = sp.Function(lambda t: size * t)
        return sp.Robot(body, sp.Wrench("push", on="bob", force=(0, 0, 1), law=law))

    sp.simulate(robot(1.0), 0.01, dt=DT, store=tmp_path / "run")
    assert sp.simulate(robot(1.0), 0.01, dt=DT, store=tmp_path / "run", resume=True).ok
    with pytest.raises(sp.StoreError, match="not the same are push"):
        sp.simulate(robot(2.0), 0.01, dt=DT, store=tmp_path / "run", resume=True)


def test_two_writers_are_not_let_in(stored):
    first, told = Store(stored), []
    first.note()

    def meanwhile(t, count):
        for resume in (True, False):
            with pytest.raises(sp.StoreError, match=f"another run is writing .*{os.getpid()}"):
                go(stored, resume=resume)
        told.append(count)

    newest(stored).unlink()
    assert go(stored, progress=meanwhile).ok
    assert told
    assert go(stored).ok  # the lock was given back


def test_a_crash_leaves_no_lock_behind(stored):
    code = (
        "import os, sys, signal\n"
        "from supple.results.store import Store\n"
        "store = Store(sys.argv[1]); store._lock.take(); print('has it', flush=True)\n"
        "sys.stdin.readline()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(stored)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "has it\n"
    with pytest.raises(sp.StoreError, match=f"process {process.pid}"):
        go(stored)
    process.kill()
    process.communicate()
    assert go(stored).ok


def as_locked(folder):
    (folder / "writer.lock").write_text("1")


def as_of_old(folder):
    """What the first format left."""
    (folder / "data" / "q").mkdir(parents=True)
    (folder / "data" / "zarr.json").write_text("{}")


def as_half_removed(folder):
    as_locked(folder)
    as_of_old(folder)
    (folder / "cursors").mkdir()


@pytest.mark.parametrize("leave", [lambda f: None, as_locked, as_of_old, as_half_removed])
@pytest.mark.parametrize("resume", [True, False])
def test_a_kill_in_the_first_moment_blocks_nothing(tmp_path, leave, resume):
    folder = tmp_path / "run"
    folder.mkdir()
    leave(folder)
    run = sp.simulate(pendulum(), 0.01, dt=DT, store=folder, resume=resume)
    np.testing.assert_array_equal(Store(folder).saved().q, run.q)


def test_a_run_killed_before_its_first_instant_goes_on(tmp_path):
    whole = sp.simulate(pendulum(), 0.01, dt=DT, store=tmp_path / "whole")
    about = Store(tmp_path / "whole").progress["about"]
    Store(tmp_path / "run").create(about)
    with pytest.raises(sp.StoreError, match="no instants yet"):
        Store(tmp_path / "run").saved()
    run = sp.simulate(pendulum(), 0.01, dt=DT, store=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(run.q, whole.q)


def test_only_what_is_ours_is_removed(stored):
    (stored / "notes.txt").write_text("mine")
    sp.simulate(pendulum(), 0.01, dt=DT, store=stored)
    assert (stored / "notes.txt").read_text() == "mine"
    thesis = stored.parent / "thesis"
    (thesis / "data").mkdir(parents=True)
    (thesis / "data" / "measured.csv").write_text("mine")
    with pytest.raises(sp.StoreError, match="need a new folder"):
        sp.simulate(pendulum(), 0.01, dt=DT, store=thesis)
    assert (thesis / "data" / "measured.csv").read_text() == "mine"


def test_places_that_cannot_be_written_are_told(tmp_path):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(sp.StoreError, match="need"):
            sp.simulate(pendulum(), 0.01, dt=DT, store=place)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    def fill(t, count):
        monkeypatch.setattr(np, "savez", full)

    write_at_once(monkeypatch)
    with pytest.raises(sp.StoreError, match="No space left on device"):
        go(tmp_path / "run", progress=fill)
    monkeypatch.undo()
    kept = Store(tmp_path / "run").saved()
    assert 1 < len(kept.t) < COUNT
    np.testing.assert_array_equal(go(tmp_path / "run").q[: len(kept.t)], kept.q)


def test_long_runs_stay_out_of_the_memory(tmp_path, monkeypatch):
    """Only the newest instants are kept; what is read back lies in files of which the system keeps parts."""
    held = []
    write = loop._Tape.write

    def watched(tape, cursor, now):
        write(tape, cursor, now=True)
        held.append(sum(len(piece.t) for piece in tape.chunks))

    monkeypatch.setattr(loop._Tape, "write", watched)
    monkeypatch.setattr(stores, "IN_MEMORY", 1000)
    run = go(tmp_path / "run")
    assert len(run) == COUNT
    assert max(held) <= loop.CHUNK
    assert isinstance(run.q, np.memmap)
    assert run.q.shape == (COUNT, 1)
    monkeypatch.undo()
    np.testing.assert_array_equal(run.q, sp.simulate(pendulum(), DURATION, dt=DT).q)
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "cursors", "data", "progress.json", "writer.lock",
    ]  # fmt: skip


def test_a_run_that_goes_on_no_longer_says_how_it_ended(stored):
    Store(stored).note(status="DONE", message="reached the end")
    newest(stored).unlink()

    def meanwhile(t, count):
        assert "status" not in Store(stored).progress["about"]

    assert go(stored, progress=meanwhile).ok
