"""Robot files to robots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from pydantic import ValidationError

from supple.errors import DescriptionError
from supple.expression import CONSTANTS
from supple.files.analyses import Build, Sweep
from supple.files.ensemble import Ensemble
from supple.files.forms import Fields
from supple.files.items import ITEMS
from supple.files.kinds import Context, Refused
from supple.files.outputs import ENERGIES
from supple.files.problems import Bare, FileError, Problem
from supple.files.review import ASKED, NAMED, Review
from supple.files.schema import (
    STUDIES,
    file_model,
    materials_adapter,
    parameter_adapter,
)
from supple.files.studies import PLAIN_NEED, ReleaseStudy, Settings, Study, is_plain
from supple.files.text import MAX_SIZE, Path, Source, parse
from supple.files.urdf import Urdf, read_urdf
from supple.robot.checks import GROUND_NAME
from supple.robot.formulations import DEFAULT, formulation_named
from supple.robot.robot import DEFAULT_ACCURACY, STANDARD_GRAVITY, Robot
from supple.section import Material
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
        return studies[study].run(self._build(), **options)

    def _build(self) -> Build:
        """What a study needs of the file."""
        data = {k: v for k, v in self.source.data.items() if k not in (*STUDIES, *ASKED)}
        again = self._again
        assert again is not None
        return Build(
            self.robot,
            self.parameters,
            self.settings.outputs,
            data,
            lambda values: again(values).robot,
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


def read_text(text: str, *, name: str, folder: FilePath, modules: Sequence[str] = ()) -> RobotFile:
    """The robot of a text; ``name`` is said in errors, URDF files are looked for in ``folder``."""
    return _load(text, name, folder, {}, {}, tuple(modules))


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
    review = Review(source)
    values = _parameters(source, parameters, review)
    review.tell()  # formulas need them
    materials = _materials(source, Context(values), review)
    context = Context(values, materials, functions, modules, folder)
    with np.errstate(all="ignore"):  # what overflows is found by the checks of its item
        fields = _fields(source, context, review)
        rigid = _urdf(fields, folder, review)
        items = _ordered(fields, _items(source, fields, rigid, review), review)
        robot = _robot(source, fields, items, review)
    _check_names(fields, items, review)
    settings = _settings(fields, values, review)
    review.tell()
    assert robot is not None

    def again(changed: Mapping[str, float]) -> RobotFile:
        return _load(text, name, folder, {**parameters, **changed}, functions, modules)

    found = RobotFile(robot, settings, source, text, values, folder, rigid.notes, again)
    _check_ensembles(fields, found, review)
    review.tell()
    return found


def _parameters(source: Source, given: Mapping[str, float], review: Review) -> dict[str, float]:
    written = source.data.get("parameters") or {}
    if not isinstance(written, dict):
        review.add(("parameters",), written, "a mapping from names to numbers")
        return {}
    for name in given:
        if name not in written:
            need = "one of: " + (", ".join(written) or "none: the file has no parameters")
            review.add(("parameters",), name, need)
    values: dict[str, float] = {}
    for name, value in written.items():
        path: Path = ("parameters", name)
        if not (name.isascii() and name.isidentifier()) or name in CONSTANTS:
            need = "letters, digits and _, not beginning with a digit, other than pi, tau and e"
            review.add(path, name, need)
        try:
            values[name] = parameter_adapter().validate_python(
                given.get(name, value), context=Context(values)
            )
        except ValidationError as error:
            review.add_refused(error, path)
    return values


def _materials(source: Source, context: Context, review: Review) -> dict[str, Any]:
    written = source.data.get("materials")
    if not isinstance(written, dict):  # told where the whole file is read
        return {}
    found: dict[str, Any] = {}
    for name, own in written.items():
        try:
            found |= materials_adapter().validate_python({name: own}, context=context)
            found[name].check(name)
        except ValidationError:  # told where the whole file is read
            found[name] = Material(
                E=1.0, density=1.0
            )  # so that what is made of it can be looked at
        except DescriptionError as error:
            review.add_description(
                error, ("materials", name), error.field.removeprefix("material.")
            )
    return found


def _fields(source: Source, context: Context, review: Review) -> Fields:
    """The file's fields, without those that are wrong."""
    data = source.data
    try:
        return file_model().model_validate(data, context=context)
    except ValidationError as error:
        wrong = review.add_refused(error)
    if not isinstance(data, dict):
        review.tell()
    data = dict(data)
    for path in wrong:
        section, name = (*path, None, None)[:2]
        own = data.get(section)
        if isinstance(own, dict) and name in own and (section in ITEMS or section in NAMED):
            data[section] = {key: value for key, value in own.items() if key != name}
            review.leave_out(str(name))
        elif not (isinstance(own, dict) and section in (*ITEMS, *NAMED) and name is not None):
            data.pop(section, None)
            for gone in own if isinstance(own, dict) and section in ITEMS else ():
                review.leave_out(str(gone))
    try:
        return file_model().model_validate(data, context=context)
    except ValidationError:
        review.tell()
        raise


def _urdf(fields: Any, folder: FilePath, review: Review) -> Urdf:
    if fields.urdf is None:
        return Urdf((), ())
    path = folder / fields.urdf.file
    if not path.is_file():
        review.add(("urdf",), fields.urdf.file, "the path of a URDF file, from where this file is")
        review.tell()
    return read_urdf(_content(path), str(path), fields.urdf, path.parent)


def _items(source: Source, fields: Any, rigid: Urdf, review: Review) -> dict[str, tuple[str, Any]]:
    """Section and item by name."""
    found: dict[str, tuple[str, Any]] = {item.name: ("urdf", item) for item in rigid.items}
    for section in source.data:
        record, own = ITEMS.get(section), getattr(fields, section, None)
        if record is None or own is None:
            continue
        for name, inner in own.items():
            path: Path = (section, name)
            if name in found:
                review.add(path, Bare(f"{name!r} in {found[name][0]} too"), "a name used only once")
                continue
            try:
                found[name] = (section, record.build(inner, name))
            except Refused as refused:
                review.add(review.within(path, str(refused.at[0])), refused.got, refused.need)
                review.leave_out(name)
    return found


def _ordered(
    fields: Any, items: dict[str, tuple[str, Any]], review: Review
) -> dict[str, tuple[str, Any]]:
    order = fields.order or ()
    for index, name in enumerate(order):
        if name not in items or name in order[:index]:
            need = "a name once" if name in items else "one of: " + ", ".join(items)
            review.add(("order", index), name, need)
    return {name: items[name] for name in order if name in items} | items


def _robot(
    source: Source, fields: Any, items: dict[str, tuple[str, Any]], review: Review
) -> Robot | None:
    """The robot; None where something was wrong with it."""
    name = fields.robot or "robot"
    gravity = STANDARD_GRAVITY if fields.gravity is None else fields.gravity
    items = dict(items)
    while not review.full:
        try:
            robot = Robot(
                *(item for _, item in items.values()),
                gravity=gravity,
                name=name,
                formulation=fields.formulation or DEFAULT,
            )
            # Told where it is written, before something else takes long to tell.
            formulation_named(robot.formulation).resolved(robot.items, DEFAULT_ACCURACY)
            return robot if not review.problems else None
        except DescriptionError as error:
            section, wrong = items.pop(error.item, ("urdf", None))
            path: Path = () if section == "urdf" else (section, error.item)
            if not (review.left_out and (error.got is None or not path)):
                review.add(
                    review.within(path, error.field) if path else path, error.got, error.need
                )
            if not path:
                return None
            if error.field == "parent" and wrong.parent != GROUND_NAME:  # the rest may hang on it
                items[error.item] = section, replace(wrong, parent=GROUND_NAME, fraction=1.0)
            else:
                review.leave_out(error.item)
    return None


def _check_names(fields: Any, items: dict[str, tuple[str, Any]], review: Review) -> None:
    """Note names in studies and outputs that no item has."""
    joints = [item.joint_name for _, item in items.values() if getattr(item, "joint_name", None)]
    known = [*items, *joints]
    for name, output in (fields.outputs or {}).items():
        named = ENERGIES if output.quantity == "energy" else known
        if output.of not in named:
            need = "one of: " + ", ".join(named)
            review.add(("outputs", name, output.quantity), output.of, need)
    studies = {("release",): fields.release, **_named_studies(fields)}
    for path, study in studies.items():
        for load in study.names if isinstance(study, ReleaseStudy) else ():
            if load not in items:
                review.add((*path, "loads"), load, "one of: " + ", ".join(items))


def _check_ensembles(fields: Any, found: RobotFile, review: Review) -> None:
    """Note parameters of ensembles that neither the file nor an item has."""
    for path, study in {("ensemble",): fields.ensemble, **_named_studies(fields)}.items():
        if isinstance(study, Ensemble):
            inside = path if path[0] == "ensemble" else (*path, "ensemble")
            for name, need in study.wrong_names(found._build()).items():
                review.add((*inside, *study.place_of(name)), name, need)


def _named_studies(fields: Any) -> dict[Path, Study]:
    return {("studies", name): study for name, study in (fields.studies or {}).items()}


def _settings(fields: Any, values: Mapping[str, float], review: Review) -> Settings:
    studies: dict[str, tuple[Path, Study]] = {}
    for name in STUDIES:
        own = getattr(fields, name)
        if own is not None:
            studies[name] = ((name,), own)
    for path, own in _named_studies(fields).items():
        name = str(path[-1])
        if name in studies:
            review.add(path, Bare(f"a second study {name!r}"), "each name only once")
        if not is_plain(name):
            review.add(path, name, PLAIN_NEED)
        studies[name] = (path, own)
    for path, study in studies.values():
        if isinstance(study, Sweep) and study.parameter not in values:
            need = "one of the file's parameters: " + (", ".join(values) or "none")
            review.add(path, study.parameter, need)
    review.tell()  # settings refuse such names, too
    return Settings(
        {name: study for name, (_, study) in studies.items()}, dict(fields.outputs or {})
    )
