"""Mappings in robot files: the fields of one class, or one of several classes by name.

Forms are made from the classes themselves, so that a word means the same in a file and in Python: what has a
default there may be left out here, and is left out when it is written.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cached_property
from typing import Annotated, Any, Union

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import InitErrorDetails

from supple.errors import DescriptionError
from supple.files.kinds import AbstractKind, AbstractLeaf, Refused
from supple.files.problems import Bare
from supple.spelling import meant


class Fields(BaseModel):
    """Fields of a mapping; unknown and missing ones are told with what is known."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: Any, handler: Callable[[Any], Any]) -> Any:
        if isinstance(data, dict):  # "name:" without a value is the same as no such line
            data = {key: value for key, value in data.items() if value is not None}
        try:
            return handler(data)
        except ValidationError as error:
            raise explained(error, cls) from None

    def given(self) -> dict[str, Any]:
        """What the file says, by the names of Python."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def explained(error: ValidationError, model: type[BaseModel]) -> ValidationError:
    """The same error with our words for unknown and missing names and wrong types."""
    names = [field.alias or name for name, field in model.model_fields.items()]
    lines: list[InitErrorDetails] = []
    for line in error.errors(include_url=False):
        refused = None
        if len(line["loc"]) == 1 and line["type"] == "extra_forbidden":
            refused = Refused(
                Bare(f"the unknown name {line['loc'][0]!r}"), choice(line["loc"][0], names)
            )
        elif len(line["loc"]) == 1 and line["type"] == "missing":
            about = next(
                field.description or ""
                for name, field in model.model_fields.items()
                if line["loc"][0] in (name, field.alias)
            )
            refused = Refused(Bare("nothing"), about)
        elif line["type"] in ("model_type", "model_attributes_type", "dict_type"):
            refused = Refused(line["input"], "a mapping with names among: " + ", ".join(names))
        if refused is not None:
            kind: Any = refused.as_pydantic()
        elif line["type"] == "supple":
            context = line["ctx"]
            kind = Refused(
                context["got"], context["need"], context["at"], context["character"]
            ).as_pydantic()
        else:
            kind = Refused(line["input"], line["msg"]).as_pydantic()
        lines.append(InitErrorDetails(type=kind, loc=line["loc"], input=line["input"]))
    return ValidationError.from_exception_data(model.__name__, lines)


def choice(word: object, known: Iterable[str]) -> str:
    """One of several names, the likely one first."""
    names = list(known)
    return f"{meant(str(word), names)}one of: {', '.join(names)}"


class Record(AbstractKind):
    """Fields that make one object: ``make`` is its class, or a function that returns one.

    ``fits`` tells which objects are written in this form (by default those of the class), and ``apart`` gives
    their fields back where these are not attributes of the same names. With ``alone=True`` the first field
    may stand for all. ``skip`` are parameters that are not fields of the file.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        kinds: Mapping[str, AbstractKind],
        *,
        fits: Callable[[Any], bool] | None = None,
        apart: Callable[[Any, str, str], Mapping[str, Any]] | None = None,
        alone: bool = False,
        skip: tuple[str, ...] = (),
    ) -> None:
        self.make = make
        self.fits = (lambda value: type(value) is make) if fits is None else fits
        self.apart = apart
        self.alone = alone
        self.kinds = dict(kinds)
        parameters = inspect.signature(make).parameters
        self.defaults = {name: parameters[name].default for name in kinds}
        for own in fields(make) if is_dataclass(make) else ():
            if own.default_factory is not MISSING and own.name in kinds:
                self.defaults[own.name] = own.default_factory()
        missing = set(parameters) - set(kinds) - set(skip)
        assert not missing, f"{make.__name__} has fields that its form does not know: {missing}"

    @property
    def first(self) -> str | None:
        """The field that may be given alone, without its name."""
        return next(iter(self.kinds), None)

    @property
    def required(self) -> list[str]:
        """The fields without defaults."""
        empty = inspect.Parameter.empty
        return [name for name, default in self.defaults.items() if default is empty]

    @cached_property
    def model(self) -> type[Fields]:
        """The fields as a pydantic model."""
        annotated: dict[str, Any] = {}
        for name, kind in self.kinds.items():
            about = getattr(kind, "need", None)
            default = ... if name in self.required else None
            annotated[name] = (kind.annotation(), Field(default, description=about))
        name = "".join(part.title() for part in self.make.__name__.split("_"))
        doc = inspect.cleandoc(self.make.__doc__ or "").split("\n\n")[0]
        return create_model(name, __base__=Fields, __doc__=doc, **annotated)

    def build(self, given: Fields, *args: Any) -> Any:
        """The object, or :class:`Refused` by its own checks."""
        try:
            return self.make(*args, **given.given())
        except DescriptionError as error:
            raise Refused(error.got, error.need, (error.field.split(",")[0],)) from error

    def annotation(self) -> Any:
        def expanded(value: Any) -> Any:
            alone = self.alone and value is not None and not isinstance(value, dict)
            return {self.first: value} if alone else value

        def made(given: Fields) -> Any:
            try:
                return self.build(given)
            except Refused as refused:
                raise refused.as_pydantic() from None

        return Annotated[self.model, BeforeValidator(expanded), AfterValidator(made), _Alone(self)]

    def write(self, value: Any, item: str, field: str) -> Any:
        """What differs from the defaults."""
        apart = None if self.apart is None else self.apart(value, item, field)
        found: dict[str, Any] = {}
        for name, kind in self.kinds.items():
            own = getattr(value, name) if apart is None else apart[name]
            default = self.defaults[name]
            if (own is None and default is None) or _is_default(own, default):
                continue
            found[name] = kind.write(own, item, f"{field}.{name}" if field else name)
        return (
            found[self.first]
            if self.alone and self.first and list(found) == [self.first]
            else found
        )


def record(make: Callable[..., Any], /, **kinds: AbstractKind) -> Record:
    """The form of a class whose objects have its fields as attributes."""
    return Record(make, kinds)


def item(make: Callable[..., Any], /, **kinds: AbstractKind) -> Record:
    """The form of an item, whose name comes before its fields."""
    return Record(make, kinds, skip=("name",))


class Unmade(AbstractKind):
    """The fields of a record, to be made later, when more is known."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def annotation(self) -> Any:
        return self.record.model

    def write(self, value: Any, item: str, field: str) -> Any:
        return self.record.write(value, item, field)


class _Alone:
    """Adds the first field alone to the JSON Schema."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> Any:
        full = handler(core)
        first = self.record.kinds.get(self.record.first or "")
        alone = self.record.alone and isinstance(first, AbstractLeaf)
        return {"anyOf": [first.schema, full]} if alone else full  # type: ignore[union-attr]


def _is_default(value: Any, default: Any) -> bool:
    if default is inspect.Parameter.empty:
        return False
    if isinstance(default, tuple) and not isinstance(value, str) and not callable(value):
        return np.shape(value) == np.shape(default) and bool(np.all(np.asarray(value) == default))
    if isinstance(default, bool | str) or isinstance(value, bool | str):
        return value is default or (isinstance(value, str) and value == default)
    if isinstance(default, int | float):
        return isinstance(value, int | float) and value == default
    return type(value) is type(default) and bool(value == default)


@dataclass(frozen=True)
class Other:
    """Another way to write a value, beside ``{name: …}``, where ``fits`` says so of data or an object."""

    kind: AbstractKind
    fits: Callable[[Any], bool]
    written: Callable[[Any], bool]


class OneOf(AbstractKind):
    """One of several records by its name, ``{circle: {radius: 0.01}}``, or another way to write it.

    Short forms: ``{circle: 0.01}`` for the first field alone, ``spectral`` where no field is needed.
    """

    def __init__(
        self,
        need: str,
        records: Mapping[str, Record],
        others: Mapping[str, Other] | None = None,
    ) -> None:
        self.need = need
        self.records = dict(records)
        self.others = dict(others or {})

    def _expanded(self, value: Any) -> Any:
        """Short forms written out."""
        if isinstance(value, str) and value in self.records and not self.records[value].required:
            return {value: {}}
        if isinstance(value, dict) and len(value) == 1:
            ((name, inner),) = value.items()
            if name in self.records and inner is None:
                return {name: {}}
            if name in self.records and not isinstance(inner, dict) and self.records[name].first:
                return {name: {self.records[name].first: inner}}
        return value

    def _chosen(self, value: Any) -> str | None:
        for name, other in self.others.items():
            if other.fits(value):
                return name
        if isinstance(value, dict) and len(value) == 1:
            name = next(iter(value))
            return name if name in self.records else None
        return None

    def annotation(self) -> Any:
        options = [
            Annotated[other.kind.annotation(), Tag(name)] for name, other in self.others.items()
        ]
        options += [
            Annotated[self._named(name, record), Tag(name)] for name, record in self.records.items()
        ]
        return Annotated[
            Union[tuple(options)],  # noqa: UP007  # made of a list
            Discriminator(self._chosen),
            BeforeValidator(self._checked),
            _Shorthands(self),
        ]

    def _named(self, name: str, record: Record) -> Any:
        model = create_model(
            f"{record.model.__name__}_", __base__=Fields, content=(record.model, Field(alias=name))
        )

        def made(found: Any) -> Any:
            try:
                return record.build(found.content)
            except Refused as refused:
                raise refused.inside(name).as_pydantic() from None

        return Annotated[model, AfterValidator(made)]

    def _checked(self, value: Any) -> Any:
        value = self._expanded(value)
        if self._chosen(value) is None:
            raise Refused(value, self._needs(value)).as_pydantic()
        return value

    def _needs(self, value: Any) -> str:
        word = next(iter(value), "") if isinstance(value, dict) else value
        if isinstance(value, str) and value in self.records:
            needed = ", ".join(f"{name}: …" for name in self.records[value].required)
            return f"{{{value}: {{{needed}}}}}"
        likely = meant(str(word), self.records)
        example = f"{{{next(iter(self.records))}: …}}"
        return f"{self.need}; {likely}one of {', '.join(self.records)}, as in {example}"

    def write(self, value: Any, item: str, field: str) -> Any:
        for other in self.others.values():
            if other.written(value):
                return other.kind.write(value, item, field)
        name = next((name for name, record in self.records.items() if record.fits(value)), None)
        if name is None:
            raise DescriptionError(item, field, value, self.need)
        record = self.records[name]
        inner = record.write(value, item, field)
        if not inner:
            return name
        alone = list(inner) == [record.first] and not isinstance(inner[record.first], dict)
        return {name: inner[record.first] if alone else inner}


class _Shorthands:
    """Adds the short forms to the JSON Schema."""

    def __init__(self, one_of: OneOf) -> None:
        self.one_of = one_of

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> Any:
        full = handler(core)
        if "oneOf" in full:  # a text may be a name and a formula
            full["anyOf"] = full.pop("oneOf")
        words = [name for name, record in self.one_of.records.items() if not record.required]
        short: list[dict[str, Any]] = [{"enum": words}] if words else []
        for name, record in self.one_of.records.items():
            kind = record.kinds[record.first] if record.first else None
            if isinstance(kind, AbstractLeaf):
                short.append(
                    {
                        "type": "object",
                        "properties": {name: kind.schema},
                        "required": [name],
                        "additionalProperties": False,
                    }
                )
        return {"anyOf": [full, *short], "description": self.one_of.need}


@dataclass(frozen=True)
class SeveralOf(AbstractKind):
    """A list of values of one kind, as a tuple."""

    kind: AbstractKind

    def annotation(self) -> Any:
        return Annotated[list[self.kind.annotation()], AfterValidator(tuple)]  # type: ignore[misc]

    def write(self, value: Any, item: str, field: str) -> list[Any]:
        return [self.kind.write(entry, item, field) for entry in value]


@dataclass(frozen=True)
class MapOf(AbstractKind):
    """A mapping from names to values of one kind; ``names`` limits them."""

    kind: AbstractKind
    need: str = "a mapping from names to values"
    names: tuple[str, ...] = ()

    def annotation(self) -> Any:
        def checked(value: Any) -> Any:
            if not isinstance(value, dict):
                raise Refused(value, self.need).as_pydantic()
            for name in value:
                if self.names and name not in self.names:
                    got = Bare(f"the unknown name {name!r}")
                    raise Refused(got, choice(name, self.names), (name,)).as_pydantic()
            return value

        return Annotated[dict[str, self.kind.annotation()], BeforeValidator(checked)]  # type: ignore[misc]

    def write(self, value: Any, item: str, field: str) -> dict[str, Any]:
        return {name: self.kind.write(v, item, f"{field}.{name}") for name, v in value.items()}
