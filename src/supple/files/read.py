"""Robot files to robots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from pydantic import ValidationError

from supple.errors import DescriptionError
from supple.expression import CONSTANTS
from supple.files.forms import Fields
from supple.files.items import ITEMS
from supple.files.kinds import Context, Refused
from supple.files.problems import Bare, FileError, Problem
from supple.files.schema import (
    STUDIES,
    file_model,
    materials_adapter,
    parameter_adapter,
)
from supple.files.studies import PLAIN_NEED, Settings, Study, Sweep, is_plain
from supple.files.text import MAX_SIZE, Path, Source, parse
from supple.files.urdf import Urdf, read_urdf
from supple.robot.formulations import DEFAULT, formulation_named
from supple.robot.items import Rod
from supple.robot.robot import DEFAULT_ACCURACY, STANDARD_GRAVITY, Robot
from supple.spelling import spelled


@dataclass(frozen=True)
class RobotFile:
    """A robot and what to compute with it, as a file says."""

    robot: Robot
    settings: Settings
    source: Source = field(repr=False)
    """The data of the file, and where each value stands."""
    text: str = field(repr=False)
    parameters: Mapping[str, float] = field(default_factory=dict)
    folder: FilePath = FilePath()
    """Where files that it names are."""
    notes: tuple[str, ...] = ()
    """What could not be taken over."""
    _again: Callable[..., "RobotFile"] | None = field(default=None, repr=False, compare=False)

    def with_parameters(self, **parameters: float) -> "RobotFile":
        """The file with other values of its parameters."""
        assert self._again is not None
        return self._again(parameters)

    def run(self, study: str | None = None, **options: Any) -> Any:
        """Compute a study by name; without one, the only one of the file.

        Options are those of :func:`supple.simulate`, for studies that simulate: ``progress``, ``store``, …;
        ``throw`` is also one of equilibria.
        """
        studies = self.settings.studies
        if study is None and len(studies) == 1:
            study = next(iter(studies))
        if study is None or study not in studies:
            known = ", ".join(studies) or "none: add simulate: {duration: …} to the file"
            raise DescriptionError(self.robot.name, "study", study, f"one of: {known}")
        return studies[study].run(
            lambda **values: (self.with_parameters(**values) if values else self).robot, **options
        )

    def reported(self, result: Any) -> dict[str, np.ndarray]:
        """The outputs of the file, of a result."""
        return {name: output(result) for name, output in self.settings.outputs.items()}


@spelled
def load(
    source: str | FilePath,
    *,
    parameters: Mapping[str, float] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    modules: Sequence[str] = (),
) -> RobotFile:
    """The robot of a file, or of a text with at least one line break.

    ``parameters`` replace those of the file. ``functions`` are those that controllers may name; functions
    of ``modules`` may be named as "module:function" and are imported. Raises :class:`FileError` with
    everything that is wrong.
    """
    if isinstance(source, str) and "\n" in source:
        text, name, folder = source, "text", FilePath()
    else:
        path = FilePath(source)
        text, name, folder = _content(path), str(path), path.parent
    return _load(text, name, folder, parameters or {}, functions or {}, tuple(modules))


def read_text(text: str, *, name: str, folder: FilePath) -> RobotFile:
    """The robot of a text; ``name`` is said in errors, URDF files are looked for in ``folder``."""
    return _load(text, name, folder, {}, {}, ())


def _content(path: FilePath) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(4 * MAX_SIZE + 1)
        return content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = Problem(str(path), 0, 0, "", Bare(reason), "a readable text file (UTF-8)")
        raise FileError([problem]) from None


def _load(
    text: str,
    name: str,
    folder: FilePath,
    parameters: Mapping[str, float],
    functions: Mapping[str, Callable[..., Any]],
    modules: tuple[str, ...],
) -> RobotFile:
    source = parse(text, name)
    problems: list[Problem] = []
    values = _parameters(source, parameters, problems)
    materials = _materials(source, Context(values), problems)
    context = Context(values, materials, functions, modules, folder)
    if problems:
        raise FileError(problems)
    with np.errstate(all="ignore"):  # what overflows is found by the checks of its item
        fields = _fields(source, context)
        rigid = _urdf(source, fields, folder)
        items = _items(source, fields, rigid, problems)
        robot = _robot(source, fields, _ordered(source, fields, items, problems), problems)
    settings = _settings(source, fields, values, problems)

    def again(changed: Mapping[str, float]) -> RobotFile:
        return _load(text, name, folder, {**parameters, **changed}, functions, modules)

    return RobotFile(robot, settings, source, text, values, folder, rigid.notes, again)


def _problems(source: Source, error: ValidationError, prefix: Path = ()) -> list[Problem]:
    found = []
    for line in error.errors(include_url=False):
        context = line.get("ctx", {})
        ours = line["type"] == "supple"
        loc = (*prefix, *line["loc"], *(context["at"] if ours else ()))
        got = context["got"] if ours else line["input"]
        need = context["need"] if ours else line["msg"]
        path = placed(source.data, loc)
        found.append(source.problem(path, got, need, context.get("character") if ours else None))
    return found


def placed(data: Any, loc: Path) -> Path:
    """The path in the data that pydantic's path, with the names of its unions, means."""
    path: Path = ()
    for index, part in enumerate(loc):
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if inside:
            data = data[part]
            path = (*path, part)
        elif index == len(loc) - 1 and isinstance(data, dict):
            path = (*path, part)  # something that is missing
    return path


def _within(data: Any, path: Path, field: str) -> Path:
    """The path of a field as items name it ("section.radius"), through the names of kinds."""
    for part in path:
        data = data[part]
    for part in field.split(",")[0].split("."):
        if (
            isinstance(data, dict)
            and part == "section"
            and part not in data
            and "properties" in data
        ):
            part = "properties"
        if isinstance(data, dict) and part not in data and len(data) == 1:
            kind, inner = next(iter(data.items()))
            if not isinstance(inner, dict) or part in inner:
                path, data = (*path, kind), inner
        if isinstance(data, dict):
            path, data = (*path, part), data.get(part)
    return path


def _parameters(
    source: Source, given: Mapping[str, float], problems: list[Problem]
) -> dict[str, float]:
    written = source.data.get("parameters") or {}
    if not isinstance(written, dict):
        need = "a mapping from names to numbers"
        problems.append(source.problem(("parameters",), written, need))
        return {}
    for name in given:
        if name not in written:
            need = "one of: " + (", ".join(written) or "none: the file has no parameters")
            problems.append(source.problem(("parameters",), name, need))
    values: dict[str, float] = {}
    for name, value in written.items():
        path: Path = ("parameters", name)
        if not (name.isascii() and name.isidentifier()) or name in CONSTANTS:
            need = "letters, digits and _, not beginning with a digit, other than pi, tau and e"
            problems.append(source.problem(path, name, need))
        try:
            values[name] = parameter_adapter().validate_python(
                given.get(name, value), context=Context(values)
            )
        except ValidationError as error:
            problems += _problems(source, error, path)
    return values


def _materials(source: Source, context: Context, problems: list[Problem]) -> dict[str, Any]:
    written = source.data.get("materials")
    if written is None:
        return {}
    try:
        found: dict[str, Any] = materials_adapter().validate_python(written, context=context)
    except ValidationError as error:
        problems += _problems(source, error, ("materials",))
        return {}
    for name, material in found.items():
        try:
            material.check(name)
        except DescriptionError as error:
            path = _within(source.data, ("materials", name), error.field.removeprefix("material."))
            problems.append(source.problem(path, error.got, error.need))
    return found


def _fields(source: Source, context: Context) -> Fields:
    try:
        return file_model().model_validate(source.data, context=context)
    except ValidationError as error:
        raise FileError(_problems(source, error)) from None


def _urdf(source: Source, fields: Any, folder: FilePath) -> Urdf:
    if fields.urdf is None:
        return Urdf((), ())
    path = folder / fields.urdf.file
    if not path.is_file():
        need = "the path of a URDF file, from where this file is"
        raise FileError([source.problem(("urdf",), fields.urdf.file, need)])
    return read_urdf(_content(path), str(path), fields.urdf, path.parent)


def _items(
    source: Source, fields: Fields, rigid: Urdf, problems: list[Problem]
) -> dict[str, tuple[str, Any]]:
    """Section and item by name."""
    found: dict[str, tuple[str, Any]] = {item.name: ("urdf", item) for item in rigid.items}
    for section in source.data:
        record, own = ITEMS.get(section), getattr(fields, section, None)
        if record is None or own is None:
            continue
        for name, inner in own.items():
            path: Path = (section, name)
            if name in found:
                got = Bare(f"{name!r} in {found[name][0]} too")
                problems.append(source.problem(path, got, "a name used only once"))
                continue
            try:
                found[name] = (section, record.build(inner, name))
            except Refused as refused:
                place = _within(source.data, path, str(refused.at[0]))
                problems.append(source.problem(place, refused.got, refused.need))
    if problems:
        raise FileError(problems)
    return found


def _ordered(
    source: Source, fields: Any, items: dict[str, tuple[str, Any]], problems: list[Problem]
) -> dict[str, tuple[str, Any]]:
    order = fields.order or ()
    for index, name in enumerate(order):
        if name not in items or name in order[:index]:
            need = "a name once" if name in items else "one of: " + ", ".join(items)
            problems.append(source.problem(("order", index), name, need))
    if problems:
        raise FileError(problems)
    return {name: items[name] for name in order} | items


def _robot(
    source: Source, fields: Any, items: dict[str, tuple[str, Any]], problems: list[Problem]
) -> Robot:
    name = fields.robot or "robot"
    gravity = STANDARD_GRAVITY if fields.gravity is None else fields.gravity
    try:
        robot = Robot(
            *(item for _, item in items.values()),
            gravity=gravity,
            name=name,
            formulation=fields.formulation or DEFAULT,
        )
        # Told where it is written, before something else takes long to tell.
        for item in robot.items:
            if isinstance(item, Rod):
                formulation_named(robot.formulation).resolved(item, DEFAULT_ACCURACY)
        return robot
    except DescriptionError as error:
        path: Path = ()
        if error.item in items and items[error.item][0] != "urdf":
            path = _within(source.data, (items[error.item][0], error.item), error.field)
        raise FileError([source.problem(path, error.got, error.need)]) from error


def _settings(
    source: Source, fields: Any, values: Mapping[str, float], problems: list[Problem]
) -> Settings:
    studies: dict[str, tuple[Path, Study]] = {}
    for name in STUDIES:
        own = getattr(fields, name)
        if own is not None:
            studies[name] = ((name,), own)
    for name, own in (fields.studies or {}).items():
        if name in studies:
            got = Bare(f"a second study {name!r}")
            problems.append(source.problem(("studies", name), got, "each name only once"))
        if not is_plain(name):
            problems.append(source.problem(("studies", name), name, PLAIN_NEED))
        studies[name] = (("studies", name), own)
    for path, study in studies.values():
        if isinstance(study, Sweep) and study.parameter not in values:
            need = "one of the file's parameters: " + (", ".join(values) or "none")
            problems.append(source.problem(path, study.parameter, need))
    if problems:
        raise FileError(problems)
    return Settings(
        {name: study for name, (_, study) in studies.items()}, dict(fields.outputs or {})
    )
