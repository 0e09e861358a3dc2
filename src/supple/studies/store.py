"""A study on disk: killed at any time, it goes on with the members that are missing.

A folder with

- ``writer.lock``: locked by whoever writes, by the system, so that a crash leaves no lock behind;
- ``study.json``: what the study is known again by, with a checksum;
- ``parts/NUMBER.npz``: members as they ended, each file written aside and published in one move. Arrays of
  an npz file have checksums, which reading checks; a part that is damaged is computed again;
- ``data``: the dataset of all members so far (zarr), made from the parts when a study ends or is interrupted.
"""

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import StoreError
from supple.results.fingerprint import changed
from supple.results.lock import Lock
from supple.studies.member import Member
from supple.studies.readings import Reading

if TYPE_CHECKING:
    import xarray

FORMAT = 1
OWN = ("writer.lock", "study.json", "study.json.new", "parts", "data", "data.new", "data.old")


class StudyStore:
    """A study being written."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = Lock(self.path / "writer.lock")
        self._study = ""
        """Fingerprint of the study, which is in its parts too: those of others do not count."""
        self._parts = 0

    def begin(self, known_by: Mapping[str, str], resume: bool) -> list[Member]:
        """Take the folder; the members that are there already, if the study is to go on.

        ``known_by`` are fingerprints of all that a study is. One that is not to go on replaces an older one.
        """
        with self._written():
            if self.path.exists() and not self._ours():
                need = "a new folder, or that of an old study"
                raise StoreError(self.path, "got a folder of others", need)
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.take()
            self._study = f"{_checksum(known_by):08x}"
            if resume and (self.path / "study.json").is_file():
                self._check_same(known_by)
                return self._members()
            for name in OWN:
                if name != self._lock.path.name:
                    _remove(self.path / name)
            (self.path / "parts").mkdir()
            told = {"format": FORMAT, "known_by": dict(known_by)}
            self._publish("study.json", json.dumps(told | {"check": _checksum(told)}).encode())
            return []

    def append(self, members: Iterable[Member]) -> None:
        """Keep members that have ended: a part for each kind of what they told."""
        kinds: dict[str, list[Member]] = {}
        for member in members:
            kinds.setdefault(_signature(member), []).append(member)
        with self._written():
            for signature, own in kinds.items():
                self._write_part(signature, own)

    def publish(self, data: "xarray.Dataset") -> None:
        """Write the dataset, in place of an older one."""
        new, place, old = (self.path / name for name in ("data.new", "data", "data.old"))
        with self._written():
            for path in (new, old):
                _remove(path)
            # Format 2 has texts; in format 3 they are not specified yet.
            data.to_zarr(new, mode="w", zarr_format=2, consolidated=True)
            if place.exists():
                place.rename(old)
            new.rename(place)
            _remove(old)

    def release(self) -> None:
        """Let others write."""
        self._lock.release()

    def _ours(self) -> bool:
        if not self.path.is_dir():
            return False
        inside = {entry.name for entry in self.path.iterdir()}
        return inside <= set(OWN)

    def _check_same(self, known_by: Mapping[str, str]) -> None:
        try:
            found = json.loads((self.path / "study.json").read_text(encoding="utf-8"))
            good = found.pop("check") == _checksum(found)
        except (OSError, ValueError, AttributeError, KeyError):
            good = False
        if not good:
            raise StoreError(self.path, "study.json is damaged", "to start anew")
        if found["format"] != FORMAT:
            need = f"{FORMAT}: another version of Supple wrote it"
            raise StoreError(self.path, f"got format {found['format']!r}", need)
        other = changed(found["known_by"], known_by)
        if other:
            what = f"it is another study: not the same are {', '.join(other)}"
            raise StoreError(self.path, what, "the study it was begun with, or to start anew")

    def _members(self) -> list[Member]:
        """Members of all good parts; damaged parts are taken away."""
        found: dict[int, Member] = {}
        for path in sorted((self.path / "parts").glob("*")):
            try:
                own = self._read_part(path)
            except Exception:  # damaged, or not yet published: whatever a reader raises
                _remove(path)
                continue
            self._parts = max(self._parts, int(path.stem) + 1)
            found |= {member.number: member for member in own}
        return [found[number] for number in sorted(found)]

    def _write_part(self, signature: str, members: list[Member]) -> None:
        about = {
            "study": self._study,
            "signature": signature,
            "members": [(m.number, m.status, m.ok, m.message) for m in members],
        }
        columns = [
            np.stack([np.asarray(m.readings[name].values) for m in members])
            for name in members[0].readings
        ]
        path = self.path / "parts" / f"{self._parts:08d}.npz"
        aside = path.with_suffix(".new")
        with aside.open("wb") as file:
            np.savez(file, np.array(json.dumps(about)), *columns)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        self._parts += 1

    def _read_part(self, path: Path) -> list[Member]:
        """The members of a part; raises anything if it is damaged or of another study."""
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(str(file["arr_0"]))
            kinds = json.loads(about["signature"])
            columns = [file[f"arr_{1 + i}"] for i in range(len(kinds))]
        if about["study"] != self._study:
            raise ValueError("it belongs to another study")
        like = {
            name: Reading(tuple(dims), None, tuple((d, tuple(own)) for d, own in labels), units)
            for name, dims, labels, units, *_ in kinds
        }
        return [
            Member(
                number,
                status,
                ok,
                message,
                {
                    name: own._replace(values=column[row])
                    for (name, own), column in zip(like.items(), columns, strict=True)
                },
            )
            for row, (number, status, ok, message) in enumerate(about["members"])
        ]

    def _publish(self, name: str, content: bytes) -> None:
        aside = self.path / f"{name}.new"
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.path / name)

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
            what = f"cannot be written ({error.strerror or error})"
            raise StoreError(self.path, what, "another place, or room there") from error


def _signature(member: Member) -> str:
    """What a member told of, without the numbers."""
    return json.dumps(
        [
            (name, own.dims, own.labels, own.units, np.shape(own.values), str(own.values.dtype))
            for name, own in member.readings.items()
        ]
    )


def _checksum(told: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
