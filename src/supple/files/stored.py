"""Runs on disk that hold their robot file: read back as results."""

from dataclasses import dataclass
from pathlib import Path

from supple.errors import StateError
from supple.files.read import RobotFile, read_text
from supple.files.studies import Release
from supple.results.result import Result
from supple.results.store import Store
from supple.robot.robot import DEFAULT_ACCURACY
from supple.run.continued import stored_stretches
from supple.time.advance import Status


@dataclass(frozen=True)
class StoredRun:
    """A run as far as it was written, and the file it was made from."""

    result: Result
    file: RobotFile
    path: Path


def stored_run(path: str | Path) -> StoredRun:
    """The run in a folder that ``supple run`` wrote, or in the only ``.run`` folder inside it."""
    folder = Path(path)
    found = [folder] if Store(folder).exists else sorted(folder.glob("*.run"))
    if len(found) != 1:
        known = ", ".join(str(run) for run in found) or "none is there"
        raise StateError(f"{folder}: need the folder of one stored run ({known})")
    store = Store(found[0])
    about = store.progress["about"]
    if "file" not in about or "study" not in about:
        need = "one that `supple run` wrote, with its robot file inside"
        raise StateError(f"{found[0]}: got a run without a robot file; need {need}")
    file = read_text(about["file"], name=str(found[0]), folder=Path(about.get("folder", ".")))
    study = file.settings.studies[about["study"]]
    robot = file.robot.removing(*study.names) if isinstance(study, Release) else file.robot
    accuracy = getattr(study, "accuracy", None)
    model = robot.build(DEFAULT_ACCURACY if accuracy is None else accuracy)
    events = tuple(getattr(study, "events", ()))
    stretches = stored_stretches(store, robot, model, events, accuracy)
    status = Status[about.get("status", "INTERRUPTED")]
    result = Result(
        stretches,
        status=status,
        message=about.get("message", status.message),
        rejected=0,
        wall_seconds=about.get("wall_seconds", 0.0),
        settings={},
    )
    return StoredRun(result, file, found[0])
