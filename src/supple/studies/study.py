"""``supple.study``: one computation for many robots."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.errors import ArgumentError
from supple.results.fingerprint import fingerprint, fingerprints
from supple.robot.robot import Robot
from supple.run.statics import equilibrium
from supple.studies.cluster import as_completed_on, connected
from supple.studies.dataset import as_dataset
from supple.studies.mapped import CHUNK, members, program_of
from supple.studies.member import Job, Member, Row
from supple.studies.parameters import WithParameters
from supple.studies.readings import Outputs
from supple.studies.samples import AbstractSamples, Listed
from supple.studies.store import StudyStore
from supple.threads import as_completed

if TYPE_CHECKING:
    import xarray

Describe = Callable[[Mapping[str, float]], Robot]
Progress = Callable[[int, int, int], None]
ENOUGH = CHUNK
"""Members from which on it is worth to compile a program for them."""
SAVED_EVERY = 1.0
"""Seconds after which what has ended is written."""
MOST_TASKS = 10_000
"""Tasks that a scheduler is given at once, if that can be."""


def study(
    robot: Robot | Describe,
    samples: AbstractSamples | Mapping[str, Any],
    compute: Callable[[Robot], Any] = equilibrium,
    outputs: Outputs | None = None,
    *,
    store: str | Path | None = None,
    resume: bool = False,
    threads: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> "xarray.Dataset":
    """Compute something for many robots: a dataset with the dimension ``member``.

    ``samples`` (:class:`Grid`, :class:`RandomSamples`, :class:`LatinHypercube`, :class:`Listed`, or a mapping
    as of ``Listed``) name parameters by their paths: "arm.length", "arm.material.E", "push.force[1]",
    "gravity[2]", the name of an input. ``robot`` may also be a function that makes a robot of a mapping from
    names to values; then names are its own affair.
    ``compute`` is any function of a robot: :func:`equilibrium`, or ``functools.partial(simulate, duration=1,
    dt=0.01)``. ``outputs`` are functions of what it returns, by name; without them, all there is to know of
    runs, equilibria and branches is kept, or the numbers that ``compute`` returned.
    A member that fails has its ``status`` and ``message``, and NaN; it never ends the study.
    ``store`` is a folder: a study that was interrupted or killed goes on there with ``resume=True`` and ends
    with the same dataset, which is in its ``data`` (zarr). It runs on ``threads`` (one a core), or on the
    Dask workers of the scheduler at the address ``cluster``. ``progress`` is called with the numbers of
    members that ended, of all, and of those that failed. Ctrl-C ends it with what there is.
    """
    given = samples if isinstance(samples, AbstractSamples) else Listed(samples)
    job, known_by = _job(robot, given, compute, outputs)
    if threads is not None and threads < 1:
        raise ArgumentError(f"study: threads: got {threads!r}; need a number of threads")
    if cluster is not None:
        if threads is not None:
            raise ArgumentError("study: got threads and a cluster; need one of them")
        connected(cluster).close()  # before a store is touched
    disk = None if store is None else StudyStore(store)
    found = {m.number: m for m in (disk.begin(known_by, resume) if disk is not None else ())}
    try:
        _compute(job, given, found, disk, threads, cluster, progress)
        data = as_dataset(given, found, getattr(robot, "name", getattr(robot, "__name__", "")))
        if disk is not None:
            disk.publish(data)
    finally:
        if disk is not None:
            disk.release()
    return data


def _job(
    robot: Robot | Describe,
    samples: AbstractSamples,
    compute: Callable[[Robot], Any],
    outputs: Outputs | None,
) -> tuple[Job, dict[str, str]]:
    """What is to be done, and fingerprints by which it is known again."""
    if isinstance(robot, Robot):
        describe: Describe = WithParameters(robot, samples.names)
        known_by = fingerprints(robot)
    elif callable(robot):
        describe = robot
        known_by = dict(getattr(robot, "known_by", {"the robot": fingerprint(robot)}))
    else:
        need = "a Robot, or a function that makes one of a mapping from names to values"
        raise ArgumentError(f"robot: got {type(robot).__name__}; need {need}")
    if not callable(compute):
        need = "a function of a robot, such as supple.equilibrium"
        raise ArgumentError(f"compute: got {compute!r}; need {need}")
    for name, output in (outputs or {}).items():
        if not callable(output):
            raise ArgumentError(f"outputs: {name}: got {output!r}; need a function of the result")
    known_by |= {"what is computed": fingerprint(compute), "the outputs": fingerprint(outputs)}
    first = _first(describe, samples) if len(samples) >= ENOUGH else None
    token = fingerprint([known_by, samples.names])  # other samples take the same program
    known_by |= {"the samples": fingerprint([samples.names, samples.table])}
    return Job(describe, compute, outputs, token, first), known_by


def _first(describe: Describe, samples: AbstractSamples) -> dict[str, float] | None:
    """The parameters of the first member whose robot can be described."""
    for number in range(len(samples)):
        try:
            describe(samples.sample(number))
        except Exception:  # a member that will fail
            continue
        return samples.sample(number)
    return None


def _compute(
    job: Job,
    samples: AbstractSamples,
    found: dict[int, Member],
    disk: StudyStore | None,
    threads: int | None,
    cluster: str | None,
    progress: Progress | None,
) -> None:
    """Compute the members that are missing; Ctrl-C ends it."""
    missing = [number for number in range(len(samples)) if number not in found]
    failed = sum(not member.ok for member in found.values())
    fresh: list[Member] = []
    saved = time.monotonic()
    try:
        for own in _ended(job, samples, missing, threads, cluster):
            found |= {member.number: member for member in own}
            failed += sum(not member.ok for member in own)
            fresh += own
            if disk is not None and time.monotonic() - saved > SAVED_EVERY:
                disk.append(fresh)
                fresh, saved = [], time.monotonic()
            if progress is not None:
                progress(len(found), len(samples), failed)
    except KeyboardInterrupt:
        pass
    finally:
        if disk is not None and fresh:
            disk.append(fresh)


def _ended(
    job: Job,
    samples: AbstractSamples,
    missing: Sequence[int],
    threads: int | None,
    cluster: str | None,
) -> Iterator[list[Member]]:
    """Members as they end, a few at once."""
    if not missing:
        return
    size = CHUNK if program_of(job) is not None else 1
    if cluster is not None:
        size = max(size, -(-len(missing) // MOST_TASKS))
    rows: Iterator[Row] = ((number, samples.sample(number)) for number in missing)
    chunks = iter(lambda: list(islice(rows, size)), [])
    if cluster is not None:
        yield from as_completed_on(cluster, job, chunks)
    else:
        for _, own in as_completed(lambda chunk: members(job, chunk), chunks, threads):
            yield own
