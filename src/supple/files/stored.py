"""Runs on disk that hold their robot file: read back as results."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supple.errors import ArgumentError
from supple.files.read import RobotFile, read_text
from supple.files.studies import ReleaseStudy
from supple.results.result import Result, Stats
from supple.results.run_error import RunError
from supple.results.store import Store
from supple.results.stretch import Stretch
from supple.robot.resolution import from_data
from supple.robot.robot import DEFAULT_ACCURACY
from supple.run.continued import stored_stretches
from supple.time.advance import Status


@dataclass(frozen=True)
class StoredRun:
    """A run as far as it was written, and the file it was made from."""

    result: Result
    file: RobotFile
    path: Path


def _stats(stretches: Sequence[Stretch], about: dict[str, Any]) -> Stats:
    """What a run took, from its instants and from what was noted at its end."""
    rejected = int(about.get("rejected", 0))
    return Stats(
        steps=sum(int(one.substeps.sum()) for one in stretches) - rejected,
        rejected=rejected,
        newton_iterations=sum(int(one.newton.sum()) for one in stretches),
        wall_seconds=float(about.get("wall_seconds", 0.0)),
    )


def stored_run(path: str | Path, modules: Sequence[str] | None = None) -> StoredRun:
    """The run in a folder that ``supple run`` wrote, or in the only ``.run`` folder inside it."""
    folder = Path(path)
    found = [folder] if Store(folder).exists else sorted(folder.glob("*.run"))
    if len(found) != 1:
        known = ", ".join(str(run) for run in found) or "none is there"
        raise ArgumentError(f"{folder}: need the folder of one stored run ({known})")
    store = Store(found[0])
    about = store.progress["about"]
    if "file" not in about or "study" not in about:
        need = "one that `supple run` wrote, with its robot file inside"
        raise ArgumentError(f"{found[0]}: got a run without a robot file; need {need}")
    file = read_text(
        about["file"],
        name=str(found[0]),
        folder=Path(about.get("folder", ".")),
        modules=modules or (),
    )
    study = file.settings.studies[about["study"]]
    robot = file.robot.removing(*study.names) if isinstance(study, ReleaseStudy) else file.robot
    accuracy = getattr(study, "accuracy", None)
    asked = DEFAULT_ACCURACY if accuracy is None else accuracy
    if about.get("resolution"):  # begun again on finer rods
        robot = from_data(robot.resolved(asked), about["resolution"])
    model = robot.build(asked)
    events = tuple(getattr(study, "events", ()))
    stretches = stored_stretches(store, robot, model, events, accuracy)
    status = Status[about.get("status", "INTERRUPTED")]
    result = Result(
        stretches,
        status=status,
        message=about.get("message", status.message),
        stats=_stats(stretches, about),
        settings={},
        known_error=RunError.from_dict(about.get("error") or {}),
        refinements=int(about.get("refinements", 0)),
    )
    return StoredRun(result, file, found[0])
