"""The comparison itself: each simulator, task and resolution in a process of its own, one after the other."""

import json
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from supple.bench.compare.environments import NotInstalled, python_of, settings
from supple.bench.compare.simulators import SIMULATORS, Simulator
from supple.bench.compare.tasks import TASKS, Task

LIMIT, FULL_LIMIT = 180.0, 600.0
"""Seconds that one process may take."""
ENOUGH = 4
"""Peers that must run for a comparison to be one."""
FINEST: dict[str, list[Any]] = {
    "arm": [1e-6], "chain-200": [4, 800], "net-200": [3, 400], "fleet-1000": [5, 0.00125],
}  # fmt: skip
"""Supple's resolutions behind the references that no other formulation gives."""


@dataclass(frozen=True)
class Row:
    """One line of the table; numbers that are not known are None."""

    peer: str
    version: str
    task: str
    resolution: str
    error: float | None = None
    wall_s: float | None = None
    ratio: float | None = None
    cold_s: float | None = None
    memory_mb: float | None = None
    status: str = "DONE"
    why: str = ""
    settings: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def run_compare(
    tasks: list[str] | None = None, peers: list[str] | None = None, full: bool = False
) -> Iterator[Row]:
    """All rows as they come; Supple always runs."""
    wanted = [one for one in SIMULATORS.values() if not peers or one.name in ("supple", *peers)]
    with tempfile.TemporaryDirectory() as caches:
        for name in tasks or TASKS:
            for one in wanted:
                yield from run_one(one, TASKS[name], full, Path(caches))


def run_one(one: Simulator, task: Task, full: bool, caches: Path) -> Iterator[Row]:
    """The rows of one simulator and task."""
    begun = Row(one.name, "", task.name, "")
    usual, more = one.runs.get(task.name, ([], []))
    resolutions = [*usual, *more] if full else usual
    if not resolutions:
        yield replace(begun, status="NOT_RUN", why=one.why_not(task.name))
        return
    try:
        python = python_of(one)
    except NotInstalled as error:
        yield replace(begun, status="NOT_INSTALLED", why=str(error))
        return
    for resolution in resolutions:
        row = replace(begun, resolution=" × ".join(map(_word, resolution)))
        limit = FULL_LIMIT if full else LIMIT
        answer = asked(one, python, task, resolution, caches, limit)
        yield compared(row, answer, one, task)


def _word(part: Any) -> str:
    return part if isinstance(part, str) else f"{part:g}"


def asked(
    one: Simulator, python: Path, task: Task, resolution: list[Any], caches: Path, limit: float
) -> dict[str, Any]:
    """What a simulator's script answers, or why it does not."""
    numbers = _numbers(task.name) | {"resolution": resolution, "started": time.time()}
    script = resources.files("supple.bench.compare") / "peers" / one.script
    try:
        done = subprocess.run(
            [str(python), str(script)], input=json.dumps(numbers), capture_output=True, text=True,
            timeout=limit, env=settings(caches), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"status": "TIMEOUT", "why": f"not ready after {limit:.0f} s"}
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        words = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return {"status": "FAILED", "why": f"exit {done.returncode}: {words}"[:300]}
    return found | ({"status": "FAILED"} if "why" in found else {})


@cache
def _numbers(task: str) -> dict[str, Any]:
    return TASKS[task].as_dict()


def compared(row: Row, answer: dict[str, Any], one: Simulator, task: Task) -> Row:
    """The row, with the error against the reference."""
    known = answer.get("versions", {}).get(one.package or "supple", "")
    row = replace(
        row, version=known, memory_mb=answer.get("memory_mb"), settings=answer.get("settings", "")
    )
    if "status" in answer:
        return replace(row, status=answer["status"], why=answer["why"])
    found, wanted = np.asarray(answer["positions"]), task.reference()
    error = float(np.linalg.norm(found - wanted, axis=-1).max() / task.scale)
    row = replace(
        row,
        wall_s=answer["wall_s"],
        ratio=answer["wall_s"] / task.duration,
        cold_s=answer["cold_s"],
    )
    if not error < 1:  # also where it is no number
        return replace(row, status="FAILED", why=f"off by {error:.3g}: no solution of this task")
    return replace(row, error=error)


def running(rows: list[Row]) -> set[str]:
    """The peers that did at least one task."""
    return {row.peer for row in rows if row.status == "DONE"} - {"supple"}


def machine() -> dict[str, str]:
    """Where and when this was measured."""
    kind = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [x for x in info.read_text(encoding="utf-8").splitlines() if "model name" in x]
        kind = names[0].split(":")[1].strip() if names else kind
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {
        "date": date.today().isoformat(), "processor": kind, "system": platform.system(),
        "python": platform.python_version(), "jax": version("jax"), "load": f"{load:.1f}",
    }  # fmt: skip


def stored_file() -> Path:
    """Where rows of the last comparison that was to be kept lie."""
    return Path(str(resources.files("supple.bench") / "data" / "compare.json"))


def store(rows: list[Row]) -> None:
    """Keep rows, with the machine; those of other tasks and peers stay."""
    kept = stored() if stored_file().exists() else []
    done = {(row.task, row.peer) for row in rows}
    all_of_them = [row for row in kept if (row.task, row.peer) not in done] + rows
    places = (
        {name: k for k, name in enumerate(TASKS)},
        {name: k for k, name in enumerate(SIMULATORS)},
    )
    all_of_them.sort(key=lambda row: (places[0][row.task], places[1][row.peer]))
    values = {"machine": machine(), "rows": [row.as_dict() for row in all_of_them]}
    text = json.dumps(values, indent=1, ensure_ascii=False)
    stored_file().write_text(text + "\n", encoding="utf-8")


def stored() -> list[Row]:
    """The rows that are kept."""
    values = json.loads(stored_file().read_text(encoding="utf-8"))
    return [Row(**row) for row in values["rows"]]


def make_references() -> None:
    """Compute the references again that are Supple's own finest; takes some minutes."""
    found, one = {}, SIMULATORS["supple"]
    with tempfile.TemporaryDirectory() as caches:
        for name, resolution in FINEST.items():
            answer = asked(one, python_of(one), TASKS[name], resolution, Path(caches), 1200.0)
            found[name] = np.round(np.asarray(answer["positions"]), 9)
    np.savez_compressed(stored_file().with_suffix(".npz"), allow_pickle=False, **found)


if __name__ == "__main__":
    make_references()
