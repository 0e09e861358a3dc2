"""Robots to robot files."""

from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from supple.errors import DescriptionError
from supple.files.analyses import Sweep
from supple.files.edits import located
from supple.files.formulations import FORMULATION
from supple.files.items import ITEMS
from supple.files.schema import GRAVITY, OUTPUT, STUDIES, STUDY
from supple.files.studies import Settings, Simulate
from supple.files.text import unparse
from supple.robot.formulations import DEFAULT
from supple.robot.robot import STANDARD_GRAVITY, Robot


def dump(robot: Robot, settings: Settings | None = None) -> str:
    """A robot as the text of a file; ``load`` gives back an equal one.

    Functions of Python cannot be written: use :class:`Expression`, :class:`Motion`, :class:`LoadDensity`.
    """
    return unparse(as_data(robot, settings or Settings()))


def save(path: str | FilePath, robot: Robot, settings: Settings | None = None) -> FilePath:
    """Write a robot file."""
    path = FilePath(path)
    path.write_text(dump(robot, settings), encoding="utf-8")
    return path


def as_data(robot: Robot, settings: Settings) -> dict[str, Any]:
    """The data of a file."""
    data: dict[str, Any] = {"robot": robot.name}
    gravity = GRAVITY.write(robot.gravity, robot.name, "gravity")
    if tuple(gravity) != STANDARD_GRAVITY:
        data["gravity"] = gravity
    if robot.formulation != DEFAULT:
        data["formulation"] = FORMULATION.write(robot.formulation, robot.name, "formulation")
    sections: dict[str, dict[str, Any]] = {}
    for item in robot.items:
        section = next((name for name, record in ITEMS.items() if record.fits(item)), None)
        if section is None:
            need = "an item that files know: " + ", ".join(ITEMS)
            raise DescriptionError(item.name, "item", type(item).__name__, need)
        own = sections.setdefault(section, {})
        own[item.name] = ITEMS[section].write(item, item.name, "")
    data |= sections
    written = [name for section in sections.values() for name in section]
    order = [item.name for item in robot.items]
    if written != order:
        data["order"] = order
    studies: dict[str, Any] = {}
    for name, study in settings.studies.items():
        if isinstance(study, Sweep):
            need = (
                "studies of the robot alone: a dumped file has no parameters; keep RobotFile.text"
            )
            raise DescriptionError(robot.name, f"studies.{name}", study, need)
        if isinstance(study, Simulate):
            study = replace(study, events=located(robot, study.events))
        inner = STUDY.write(study, "studies", name)
        if inner == name or (isinstance(inner, dict) and list(inner) == [name]):
            data[name] = STUDIES[name].write(study, name, "")
        else:
            studies[name] = inner
    outputs = {name: OUTPUT.write(out, "outputs", name) for name, out in settings.outputs.items()}
    return (
        data | ({"studies": studies} if studies else {}) | ({"outputs": outputs} if outputs else {})
    )
