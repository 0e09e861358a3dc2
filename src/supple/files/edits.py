"""Events and edits as files have them.

Items that are added stand in the sections of a file. So do those that are changed, with only the fields that
change.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from supple.errors import DescriptionError
from supple.files.common import FRACTION, ITEM, POINT, ROTATION, number
from supple.files.forms import Fields, MapOf, OneOf, Record, Unmade, record
from supple.files.items import ITEMS
from supple.files.joints import JOINT
from supple.files.kinds import AbstractKind, Either, Flag, Integer, ListOf, Refused, Text
from supple.robot.edits import Add, Attach, Change, Lock, Release, Remove, Unlock
from supple.robot.robot import Robot
from supple.run.events import DIRECTIONS, QUANTITIES, Event, Sensed


class _Part(AbstractKind):
    """Some fields of an item: none is required."""

    def __init__(self, form: Record) -> None:
        self.form = form

    @cached_property
    def model(self) -> type[Fields]:
        fields: dict[str, Any] = {
            name: (kind.annotation(), Field(None, description=getattr(kind, "need", None)))
            for name, kind in self.form.kinds.items()
        }
        return create_model(f"{self.form.make.__name__}Part", __base__=Fields, **fields)

    def annotation(self) -> Any:
        return self.model

    def write(self, value: Any, item: str, field: str) -> dict[str, Any]:
        return {
            name: kind.write(value[name], item, f"{field}.{name}")
            for name, kind in self.form.kinds.items()
            if name in value
        }


def _of_sections(make: Callable[..., Any]) -> Callable[..., Any]:
    """A function of sections of items, which its form reads off its signature."""
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in ITEMS
    ]
    make.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return make


@_of_sections
def add(**sections: Mapping[str, Fields]) -> Add:
    """Further items, in the sections of a file."""
    found = []
    for section, form in ITEMS.items():
        for name, inner in sections.get(section, {}).items():
            try:
                found.append(form.build(inner, name))
            except Refused as refused:
                raise refused.inside(section, name) from None
    if not found:
        raise Refused(sections, "items, such as {bodies: {tool: {parent: arm, mass: 0.1}}}")
    return Add(*found)


@_of_sections
def change(**sections: Mapping[str, Fields]) -> Change:
    """Other values of some fields of an item, in its section."""
    found = [(name, inner) for own in sections.values() for name, inner in own.items()]
    if len(found) != 1:
        raise Refused(sections, "one item, such as {bodies: {tool: {mass: 0.1}}}")
    ((name, inner),) = found
    return Change(name, **inner.given())


@dataclass(frozen=True)
class _Located:
    """A change, and the section of its item, for the writer."""

    section: str
    change: Change


def _section_of(item: Any) -> str:
    return next(name for name, form in ITEMS.items() if form.fits(item))


def _added_apart(value: Add, item: str, field: str) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(ITEMS)
    for own in value.items:
        section = _section_of(own)
        found[section] = (found[section] or {}) | {own.name: own}
    return found


def _changed_apart(value: _Located, item: str, field: str) -> dict[str, Any]:
    own = {value.change.name: value.change.fields}
    return dict.fromkeys(ITEMS) | {value.section: own}


def _sensed_apart(value: Any, item: str, field: str) -> dict[str, Any]:
    if not isinstance(value, Sensed):
        need = "Sensed(quantity, of, …): a quantity can be written to a file, a function cannot"
        raise DescriptionError(item, field, value, need)
    return {name: getattr(value, name) for name in ("quantity", "of", "component", "threshold")}


EDIT = OneOf(
    "an edit",
    {
        "attach": record(
            Attach,
            item=ITEM,
            to=ITEM,
            joint=JOINT,
            name=Text("a name for the closure that holds it"),
            fraction=FRACTION,
            to_fraction=FRACTION,
            position=POINT,
            rotation=ROTATION,
        ),
        "release": record(Release, name=ITEM),
        "add": Record(
            add,
            {section: MapOf(Unmade(form)) for section, form in ITEMS.items()},
            fits=lambda value: isinstance(value, Add),
            apart=_added_apart,
        ),
        "remove": Record(
            lambda names: Remove(*((names,) if isinstance(names, str) else names)),
            {"names": ListOf(ITEM, "the name of an item, or several", True)},
            fits=lambda value: isinstance(value, Remove),
        ),
        "lock": record(Lock, name=ITEM),
        "unlock": record(Unlock, name=ITEM),
        "change": Record(
            change,
            {section: MapOf(_Part(form)) for section, form in ITEMS.items()},
            fits=lambda value: isinstance(value, _Located),
            apart=_changed_apart,
        ),
    },
)


class _OneOrMore(AbstractKind):
    """One value, or a list of them in order."""

    need = "one edit or several: " + ", ".join(EDIT.records)

    def annotation(self) -> Any:
        def several(value: Any) -> Any:
            return value if isinstance(value, list) else [value]

        def made(values: list[Any]) -> Any:
            return values[0] if len(values) == 1 else tuple(values)

        return Annotated[list[EDIT.annotation()], BeforeValidator(several), AfterValidator(made)]  # type: ignore[misc]

    def write(self, value: Any, item: str, field: str) -> Any:
        if isinstance(value, tuple):
            return [EDIT.write(edit, item, field) for edit in value]
        return EDIT.write(value, item, field)


WHEN = Record(
    Sensed,
    {
        "quantity": Text("what is looked at: " + ", ".join(QUANTITIES), tuple(QUANTITIES)),
        "of": ITEM,
        "component": Either(Text("x, y, z, or a number from 0", ("x", "y", "z")), Integer()),
        "threshold": number("taken off, so that zero is crossed"),
    },
    apart=_sensed_apart,
)
EVENT = record(
    Event,
    edit=_OneOrMore(),
    t=number("the time (s)"),
    when=WHEN,
    direction=Text("in which direction zero is crossed", DIRECTIONS),
    repeat=Flag("true to happen each time"),
)


def located(robot: Robot, events: Iterable[Event]) -> tuple[Event, ...]:
    """The events with changes that know the sections of their items, as they are written."""
    events = tuple(events)
    items = {item.name: item for item in robot.items}
    for event in events:
        for edit in event.edits:
            if isinstance(edit, Add):
                items |= {item.name: item for item in edit.items}

    def place(edit: Any) -> Any:
        if not isinstance(edit, Change):
            return edit
        if edit.name not in items:
            raise DescriptionError("change", "name", edit.name, "one of: " + ", ".join(items))
        return _Located(_section_of(items[edit.name]), edit)

    def placed(event: Event) -> Event:
        found = tuple(place(edit) for edit in event.edits)
        one = replace(event)  # its checks know no places of changes
        object.__setattr__(one, "edit", found if isinstance(event.edit, tuple) else found[0])
        return one

    return tuple(placed(event) for event in events)
