"""A run on disk, written chunk by chunk: killed at any time, it stays readable and can go on.

A store is a folder with

- ``writer.lock``: locked by whoever writes, by the system, so that a crash leaves no lock behind. It is the
  first thing written and stays: a folder that was killed in its first moment is known by it;
- ``data``: a zarr group with one array for each column (readable with ``xarray.open_zarr``);
- ``cursors/COUNT.npz``: from where to go on after so many instants, and the instants since the last full
  block of ``ROWS``. The first of each block and the newest are kept;
- ``progress.json``: replaced in one move after each chunk. It says how many instants count, with a checksum
  of each block; whatever was written after it does not count;
- ``stretch-001``, …: the further stretches of a run that events have edited, each a folder like this one,
  with the fingerprints of its own robot. Which events ended a stretch is said together with its last instant.

Full blocks are never written again. The block that still grows is also in its cursor file, so that nothing
depends on how zarr replaces a file: any zarr from 3.0.8 on will do. Damage is found by the checksums, and a
run goes on from the last cursor whose blocks are good.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from supple.errors import StoreError
from supple.results.lock import Lock
from supple.time.advance import Cursor, Saved

FORMAT = 2
ROWS = 1024
"""Instants in one file of an array, and in a block with a checksum of its own."""
SPAN = 64 * ROWS
"""Instants read at once."""
IN_MEMORY = 64_000_000
"""Bytes of a column beyond which it is read into a temporary file: the system keeps of it what is used."""
TRIES = 5
"""Looks at a store that is being written, before it is called damaged."""
ENDING = ("status", "message", "wall_seconds", "error", "refinements")
"""What is noted when a run has ended, and does not hold while it goes on."""
DIMENSIONS = {
    "t": ("time",),
    "q": ("time", "q"),
    "v": ("time", "v"),
    "a": ("time", "v"),
    "newton": ("time",),
    "substeps": ("time",),
    "update": ("time",),
    "multipliers": ("time", "equation"),
    "inputs": ("time", "input"),
}
FOLLOWING = "stretch-[0-9][0-9][0-9]*"
OWN = (
    "writer.lock", "progress.json", "progress.json.new", "data", "cursors",
    "cursor0.npz", "cursor1.npz",
)  # fmt: skip
"""All that a store writes, those of the first format too; whatever else is in its folder is not touched."""


def versions() -> dict[str, str]:
    """Versions of what computed a run."""
    from importlib.metadata import version

    return {name: version(name) for name in ("supple", "jax", "numpy")}


@dataclass(frozen=True)
class _Held:
    """What counts, as the writer knows it."""

    count: int
    blocks: tuple[int, ...]
    """Checksums; the last block may still grow."""
    tail: Saved | None
    """Instants since the last full block."""
    about: dict[str, Any]
    run: str
    """Name of the run, which is in its cursors too: those of other runs do not count."""
    first: bool = True
    """Whether the newest cursor is the first of its block, which is kept."""


class Store:
    """A run being written, or read."""

    def __init__(self, path: str | Path, **about: Any) -> None:
        self.path = Path(path)
        self.about = about
        """What a new run says of itself, beside what is always said."""
        self._lock = Lock(self.path / "writer.lock")
        self._held: _Held | None = None

    def following(self, number: int) -> Store:
        """A further stretch of the run of this folder; 0 is this one."""
        if number == 0:
            return self
        return Store(self.path / f"stretch-{number:03d}")

    def drop_after(self, number: int) -> None:
        """Take away the stretches after one: they are computed anew."""
        with self._written():
            for folder in sorted(self.path.glob(FOLLOWING), reverse=True):
                if int(folder.name.rpartition("-")[2]) > number:
                    _remove(folder / "progress.json")
                    _remove(folder)

    def hold(self) -> None:
        """Keep others from writing."""
        with self._written():
            self._lock.take()

    @property
    def exists(self) -> bool:
        """Whether there is a run."""
        return (self.path / "progress.json").is_file()

    def create(self, about: dict[str, Any]) -> None:
        """An empty run; an older one at the same place is replaced only if it is one of ours."""
        with self._written():
            if self.path.exists() and not self._ours():
                raise StoreError(self.path, "got a folder of others", "a new folder, or an old run")
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.take()
            for name in OWN:  # the lock stays, and progress goes first: without it there is no run
                if name != self._lock.path.name:
                    _remove(self.path / name)
            self.drop_after(0)
            told = versions() | self.about | about
            self._publish(_Held(0, (), None, told, secrets.token_hex(8)))

    def append(self, saved: Saved, cursor: Cursor, **about: Any) -> None:
        """Add instants and the cursor after them. Only after ``create`` or ``resumed``.

        ``about`` is added in the same moment to what the store says of its run.
        """
        held = self._held
        assert held is not None
        with self._written():
            rows = [np.asarray(x) for x in saved]
            tail = Saved(*rows) if held.tail is None else _joined(held.tail, Saved(*rows))
            full = held.count // ROWS  # blocks that never change again
            count = held.count + len(rows[0])
            starts = range(0, len(tail.t), ROWS)
            blocks = held.blocks[:full] + tuple(_sum(_part(tail, a, a + ROWS)) for a in starts)
            left = _part(tail, (count // ROWS - full) * ROWS, None)
            self._write_piece(
                held.run, count, left, cursor
            )  # first: what follows is not written in one move
            self._write_data(full * ROWS, tail)
            first = held.count == 0 or full < count // ROWS
            self._publish(_Held(count, blocks, left, held.about | about, held.run, first))
            if count > held.count and not held.first:
                self._piece(held.count).unlink(missing_ok=True)

    def note(self, **about: Any) -> None:
        """Add to what the store says of its run."""
        held = self._held
        if held is not None:
            with self._written():
                self._publish(replace(held, about=held.about | about))
            return
        with self._written():
            self._lock.take()
            try:
                found = self.progress
                told, blocks = found["about"] | about, tuple(found["blocks"])
                self._publish(_Held(found["count"], blocks, None, told, found["run"]))
            finally:
                self.release()

    def release(self) -> None:
        """Let others write."""
        self._held = None
        self._lock.release()

    @property
    def progress(self) -> dict[str, Any]:
        """How far the run is: count of instants, about."""
        if not self.exists:
            raise StoreError(self.path, "no run is there", "the folder of a stored run")
        anew = "to start anew: nothing tells what of `data` counts"
        try:
            found = json.loads((self.path / "progress.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            what = f"progress.json is damaged ({error})"
            raise StoreError(self.path, what, anew, readable=0) from error
        told = found.get("format") if isinstance(found, dict) else found
        if told != FORMAT:
            got = f"got format {told!r:.80}"
            raise StoreError(self.path, got, f"{FORMAT}: another version of Supple wrote it")
        if found.pop("check", None) != _check(found):
            what = "progress.json is damaged (its checksum differs)"
            raise StoreError(self.path, what, anew, readable=0)
        return found

    def saved(self, count: int | None = None) -> Saved:
        """All instants written so far, or the first ``count``; a StoreError where some are damaged."""
        progress = self.progress
        for _ in range(TRIES):
            good, found, _ = self._readable(progress)
            wanted = progress["count"] if count is None else min(count, progress["count"])
            if found is not None and good >= wanted:
                return _part(found, 0, wanted)
            before, progress = progress, self.progress
            if before == progress:  # it is not being written just now
                break
        if progress["count"] == 0:
            raise StoreError(self.path, "its run has no instants yet", "one that has begun")
        raise self._damaged(good, found, progress["count"])

    def resumed(self, like: Any) -> tuple[Cursor, Saved] | None:
        """The last cursor whose instants are all good, and these; None where there is nothing to go on from.

        Takes the lock, and drops what comes after. ``like`` has the structure of the cursor.
        """
        with self._written():
            self._lock.take()
            progress = self.progress
            count, blocks = progress["count"], progress["blocks"]
            good, found, sound = self._readable(progress)
            counts = self._counts()
            for at in reversed(counts):
                start = at // ROWS * ROWS
                if at > count or start > good:
                    continue
                try:
                    tail, leaves = self._read_piece(progress["run"], at)
                except Exception:  # damaged: whatever a reader raises
                    continue
                cursor = self._as_cursor(leaves, like)
                past = tail
                if start and found is not None:  # as it was read, if it was all good
                    past = found if len(found.t) == at else _joined(_part(found, 0, start), tail)
                sums = (*blocks[: start // ROWS], *([_sum(tail)] if len(tail.t) else []))
                if at < count or not sound:
                    for later in counts[counts.index(at) + 1 :]:
                        self._piece(later).unlink()
                    self._cut_data(start)
                    self._write_data(start, tail)
                first = not any(start <= older < at for older in counts)
                gone = ENDING if at == count else (*ENDING, "ended")
                about = {k: v for k, v in progress["about"].items() if k not in gone}
                self._publish(_Held(at, sums, tail, about, progress["run"], first))
                return cursor, past
            if count:
                raise self._damaged(good, found, count)
            return None

    def _damaged(self, good: int, found: Saved | None, count: int) -> StoreError:
        upto = f", up to t = {found.t[good - 1]:g} s" if good and found is not None else ""
        what = f"it is damaged after its first {good} of {count} instants{upto}"
        need = (
            "to go on with --resume (resume=True), which computes the rest again, or to start anew"
        )
        if good:
            need += f"; Store(path).saved({good}) reads those that are good"
        return StoreError(self.path, what, need, readable=good)

    def _readable(self, progress: dict[str, Any]) -> tuple[int, Saved | None, bool]:
        """How many instants from the first on are good, these, and whether ``data`` holds all of them."""
        import zarr  # slow to import and not always needed

        count, sums = progress["count"], progress["blocks"]
        good: Saved | None = None
        rows = 0
        try:
            group: Any = zarr.open_group(self.path / "data", mode="r")
        except Exception:  # damaged: whatever zarr raises
            group = None
        while rows < count:
            some = _rows(group, rows, min(rows + SPAN, count))
            if some is None:
                some = _rows(group, rows, min(rows + ROWS, count))
            read = 0 if some is None else len(some.t)
            whole = 0
            while some is not None and whole < read:
                block = _part(some, whole, whole + ROWS)
                if _sum(block) != sums[(rows + whole) // ROWS]:
                    break
                whole += len(block.t)
            if some is not None and whole:
                good = _fill(good, count, rows, _part(some, 0, whole))
            rows += whole
            if whole < read or not read:
                break
        sound = rows == count
        if not sound and rows // ROWS == count // ROWS:  # the block that grows is twice there
            try:
                tail, _ = self._read_piece(progress["run"], count)
            except Exception:
                pass
            else:
                if _sum(tail) == sums[-1]:
                    good = _fill(good, count, rows, tail)
                    rows += len(tail.t)
        return rows, None if good is None else _part(good, 0, rows), sound

    def _ours(self) -> bool:
        if not self.path.is_dir():
            return False
        if self.exists or self._lock.path.is_file():
            return True
        inside = {entry.name for entry in self.path.iterdir()}
        data = self.path / "data"
        if "data" in inside and data.is_dir():  # killed before it could say so: only what we write
            inside |= {entry.name for entry in data.iterdir()} - {"zarr.json", *Saved._fields}
        inside -= {folder.name for folder in self.path.glob(FOLLOWING)}
        return inside <= set(OWN)

    def _counts(self) -> list[int]:
        folder = self.path / "cursors"
        names = [f.stem for f in folder.glob("*.npz")] if folder.is_dir() else []
        return sorted(int(name) for name in names if name.isdecimal())

    def _piece(self, count: int) -> Path:
        return self.path / "cursors" / f"{count:012d}.npz"

    def _write_piece(self, run: str, count: int, tail: Saved, cursor: Cursor) -> None:
        leaves: dict[str, Any] = {
            f"leaf{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(cursor))
        }
        piece = self._piece(count)
        piece.parent.mkdir(exist_ok=True)
        with piece.open("wb") as file:
            np.savez(file, whose=np.array([run, str(count)]), **leaves, **tail._asdict())
            file.flush()
            os.fsync(file.fileno())

    def _read_piece(self, run: str, count: int) -> tuple[Saved, list[np.ndarray]]:
        """Instants since the last full block, and the leaves of the cursor; raises anything if damaged.

        The members of an npz file have checksums, which reading checks.
        """
        with self._piece(count).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            tail = Saved(**{name: file[name] for name in Saved._fields})
            leaves = [file[f"leaf{i}"] for i in range(len(file.files) - len(tail) - 1)]
            if file["whose"].tolist() != [run, str(count)] or len(tail.t) != count % ROWS:
                raise ValueError("it belongs to another run or another instant")
        return tail, leaves

    def _as_cursor(self, leaves: list[np.ndarray], like: Any) -> Cursor:
        shapes, structure = jax.tree.flatten(like)
        fits = len(leaves) == len(shapes) and all(
            np.shape(a) == np.shape(b) for a, b in zip(leaves, shapes, strict=True)
        )
        if not fits:
            need = "the robot and the settings of the run"
            raise StoreError(self.path, "its cursor does not fit", need)
        found: Cursor = jax.tree.unflatten(structure, [jax.numpy.asarray(x) for x in leaves])
        return found

    def _write_data(self, start: int, rows: Saved) -> None:
        """Write instants from the beginning of a block on."""
        import zarr

        group = zarr.open_group(self.path / "data", mode="a", zarr_format=3)
        for name, values in rows._asdict().items():
            if name not in group:
                group.create_array(
                    name,
                    shape=(0, *values.shape[1:]),
                    chunks=(ROWS, *(max(size, 1) for size in values.shape[1:])),
                    dtype=values.dtype,
                    dimension_names=DIMENSIONS[name],
                )
            array: Any = group[name]
            array.resize((start, *array.shape[1:]))
            array.append(values)

    def _cut_data(self, start: int) -> None:
        """Drop all from the beginning of a block on; nothing of it may be readable."""
        import zarr

        if start == 0:
            _remove(self.path / "data")
            return
        group: Any = zarr.open_group(self.path / "data", mode="r+")
        for name in Saved._fields:
            group[name].resize((start, *group[name].shape[1:]))

    @contextmanager
    def _written(self) -> Iterator[None]:
        """What the system refuses, in our words; who fails to write lets others."""
        try:
            yield
        except StoreError:
            self.release()
            raise
        except OSError as error:
            self.release()
            what = f"it cannot be written: {error.strerror or error}"
            need = "room and the right to write there, or another folder"
            raise StoreError(self.path, what, need) from error

    def _publish(self, held: _Held) -> None:
        """Replace the progress in one move."""
        progress = {
            "format": FORMAT, "run": held.run, "count": held.count, "blocks": list(held.blocks),
            "about": held.about,
        }  # fmt: skip
        fresh = self.path / "progress.json.new"
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(progress | {"check": _check(progress)}, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path / "progress.json")
        self._held = held


def _rows(group: Any, start: int, stop: int) -> Saved | None:
    """Instants from an open group, as many as are there in every column; None if they cannot be read."""
    try:
        found = Saved(*(np.asarray(group[name][start:stop]) for name in Saved._fields))
        fits = len({len(x) for x in found}) == 1
    except Exception:  # damaged: whatever zarr raises
        return None
    return found if fits and len(found.t) == stop - start else None


def _fill(saved: Saved | None, count: int, start: int, rows: Saved) -> Saved:
    """Columns for ``count`` instants with some filled in; large ones are files that nobody sees."""
    if saved is None:
        saved = Saved(*(_empty((count, *x.shape[1:]), x.dtype) for x in rows))
    for column, values in zip(saved, rows, strict=True):
        column[start : start + len(values)] = values
    return saved


def _empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    if np.prod(shape) * dtype.itemsize <= IN_MEMORY:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:  # as long as the array
        return np.memmap(file, dtype, "w+", shape=shape)


def _joined(first: Saved, second: Saved) -> Saved:
    return Saved(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def _part(saved: Saved, start: int, stop: int | None) -> Saved:
    return Saved(*(x[start:stop] for x in saved))


def _sum(saved: Saved) -> int:
    """Checksum of instants."""
    found = 0
    for column in saved:
        found = zlib.crc32(np.ascontiguousarray(column).tobytes(), found)
    return found


def _check(progress: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(progress, sort_keys=True).encode())


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
