"""A run on disk, written chunk by chunk: killed at any time, it stays readable and can go on.

A store is a folder with a zarr group ``data`` (one array for each column of the run, readable with
``xarray.open_zarr``) and ``progress.json``, which is replaced in one move after each chunk. It names how many
instants are good and which of two cursors belongs to them; whatever was written after it does not count.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from supple.errors import StateError
from supple.time.advance import Cursor, Saved

FORMAT = 1
ROWS = 1024
"""Instants in one file of an array."""
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


class Store:
    """A run being written, or read."""

    def __init__(self, path: str | Path, **about: Any) -> None:
        self.path = Path(path)
        self.about = about
        """What a new run says of itself, beside what is always said."""

    @property
    def exists(self) -> bool:
        """Whether there is a run."""
        return (self.path / "progress.json").is_file()

    def create(self, about: dict[str, Any]) -> None:
        """An empty run; an older one at the same place is replaced only if it is one of ours."""
        import shutil

        import zarr  # slow to import and not always needed

        if self.path.exists():
            ours = self.exists or not any(self.path.iterdir())
            if not ours:
                raise StateError(f"store: got {self.path}; need a new folder, or one of an old run")
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True)
        zarr.open_group(self.path / "data", mode="w", zarr_format=3)
        self._publish({"format": FORMAT, "count": 0, "slot": 0, "about": self.about | about})

    def append(self, saved: Saved, cursor: Cursor) -> None:
        """Add instants and the cursor after them."""
        import zarr

        group = zarr.open_group(self.path / "data", mode="r+")
        progress = self.progress
        count = progress["count"]
        for name, values in saved._asdict().items():
            values = np.asarray(values)
            if name not in group:
                group.create_array(
                    name,
                    shape=(0, *values.shape[1:]),
                    chunks=(ROWS, *(max(size, 1) for size in values.shape[1:])),
                    dtype=values.dtype,
                    dimension_names=DIMENSIONS[name],
                )
            array: Any = group[name]
            array.resize((count, *array.shape[1:]))  # what a killed run left behind
            array.append(values)
        slot = 1 - progress["slot"]
        leaves: dict[str, Any] = {
            f"leaf{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(cursor))
        }
        with (self.path / f"cursor{slot}.npz").open("wb") as file:
            np.savez(file, **leaves)
            file.flush()
            os.fsync(file.fileno())
        self._publish(progress | {"count": count + len(saved.t), "slot": slot})

    def note(self, **about: Any) -> None:
        """Add to what the store says of its run."""
        progress = self.progress
        self._publish(progress | {"about": progress["about"] | about})

    @property
    def progress(self) -> dict[str, Any]:
        """How far the run is: count of instants, about."""
        if not self.exists:
            raise StateError(f"store: got {self.path}; need the folder of a stored run")
        try:
            found = json.loads((self.path / "progress.json").read_text())
        except ValueError as error:
            raise StateError(f"store: {self.path}: progress.json is damaged ({error})") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise StateError(f"store: {self.path}: got format {found!r:.80}; need {FORMAT}")
        return found

    def saved(self) -> Saved:
        """All instants written so far."""
        import zarr

        count = self.progress["count"]
        group: Any = zarr.open_group(self.path / "data", mode="r")
        return Saved(**{name: np.asarray(group[name][:count]) for name in Saved._fields})

    def cursor(self, like: Any) -> Cursor:
        """The cursor after the last instant; ``like`` has its structure."""
        slot = self.progress["slot"]
        with np.load(self.path / f"cursor{slot}.npz", allow_pickle=False) as leaves:
            values = [leaves[f"leaf{i}"] for i in range(len(leaves.files))]
        shapes, structure = jax.tree.flatten(like)
        fits = len(values) == len(shapes) and all(
            np.shape(a) == np.shape(b) for a, b in zip(values, shapes, strict=True)
        )
        if not fits:
            need = "the robot and the settings of the run"
            raise StateError(f"store: {self.path}: its cursor does not fit; need {need}")
        found: Cursor = jax.tree.unflatten(structure, [jax.numpy.asarray(x) for x in values])
        return found

    def _publish(self, progress: dict[str, Any]) -> None:
        """Replace the progress in one move."""
        fresh = self.path / "progress.json.new"
        with fresh.open("w") as file:
            json.dump(progress, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path / "progress.json")
