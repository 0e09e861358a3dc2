"""Stored runs of robot files, read back as results."""

from pathlib import Path
from typing import Any

from supple.errors import StateError
from supple.files.read import load
from supple.files.studies import Release, Simulate
from supple.files.write import dump
from supple.results.result import Result
from supple.results.store import Store
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.time.advance import Status


def about_run(robot: Robot, study: Simulate | Release, name: str, text: str) -> dict[str, Any]:
    """What a store keeps of the file that it comes from: its text, and its robot without parameters."""
    if isinstance(study, Release):
        robot = robot.removing(*([study.loads] if isinstance(study.loads, str) else study.loads))
    accuracy = DEFAULT_ACCURACY if study.accuracy is None else study.accuracy
    return {"file": text, "study": name, "description": dump(robot), "accuracy": accuracy}


def load_run(path: str | Path) -> Result:
    """The run of a robot file that ``supple run`` stored in a folder, whole or as far as it got."""
    store = Store(path)
    about = store.progress["about"]
    if "description" not in about:
        raise StateError(
            f"store: {store.path}: got a run without its robot; need one of supple run"
        )
    robot = load(about["description"]).robot
    status = Status[about.get("status", "INTERRUPTED")]
    return Result(
        model=robot.build(about["accuracy"]),
        **store.saved()._asdict(),
        status=status,
        message=about.get("message", status.message),
        rejected=about.get("rejected", 0),
        wall_seconds=about.get("wall_seconds", 0.0),
        settings={"stored": about["settings"]},
        description=robot,
    )


def find_run(path: str | Path) -> Path:
    """The stored run at a path, or the newest in a folder of runs."""
    path = Path(path)
    if Store(path).exists:
        return path
    found = [run for run in path.glob("*.run") if Store(run).exists] if path.is_dir() else []
    if not found:
        need = "the folder of a stored run, such as out/arm/simulate.run, or a folder with some"
        raise StateError(f"run: got {path}; need {need}")
    return max(found, key=lambda run: (run / "progress.json").stat().st_mtime)
