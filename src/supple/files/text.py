"""YAML text to plain data with positions, and back.

The core of YAML 1.2: ``true`` and ``false`` are the only truth values (``on`` is a word), ``1e5`` is a
number. Tags, several documents and repeated keys are refused; so is whatever is too large, too deep, or grows
too much by aliases. The data holds nothing but mappings with text as keys, lists, text, numbers and truth
values.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import yaml

from supple.files.problems import Bare, FileError, Problem

MAX_SIZE = 2_000_000
"""Characters in a file."""
MAX_DEPTH = 24
"""Mappings and lists within each other."""
MAX_VALUES = 200_000
"""Values in a file, those of aliases counted each time."""
MAX_TEXT = 20_000
"""Characters of one text."""
MAX_NAME = 200
"""Characters of a name."""
MAX_DIGITS = 40
"""Characters of a number."""

_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}

Path = tuple[str | int, ...]
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the compiled one where there is one


@dataclass(frozen=True)
class Position:
    """Line and column, from 1, of a value; ``inside`` is where its text begins, if it is on one line."""

    line: int
    column: int
    inside: int | None = None


@dataclass(frozen=True)
class Source:
    """Data of a file, and where each value stands."""

    name: str
    data: Any = None
    positions: dict[Path, Position] = field(default_factory=dict)
    aliases: dict[Path, Path] = field(default_factory=dict)
    """Values that are written elsewhere in the file, and where."""

    def position(self, path: Path) -> Position:
        """Where a value is, or the nearest thing around it."""
        for count in range(1, len(path) + 1):
            origin = self.aliases.get(path[:count])
            if origin is not None:
                return self.position(origin + path[count:])
        while path and path not in self.positions:
            path = path[:-1]
        return self.positions.get(path, Position(0, 0))

    def problem(self, path: Path, got: Any, need: str, character: int | None = None) -> Problem:
        """A problem with a value, perhaps with one character of its text."""
        place = self.position(path)
        column = place.column
        if character is not None and place.inside is not None:
            column = place.inside + character
        return Problem(self.name, place.line, column, path_text(path), got, need)


def path_text(path: Path) -> str:
    """As ``tendons.left.offset[1]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass
class _Reader:
    """Builds data and positions from the parser's events."""

    name: str
    events: Iterator[Any]
    positions: dict[Path, Position] = field(default_factory=dict)
    aliases: dict[Path, Path] = field(default_factory=dict)
    anchors: dict[str, Any] = field(default_factory=dict)
    count: int = 0

    def refuse(self, mark: Any, path: Path, got: Any, need: str) -> FileError:
        place = Problem(self.name, mark.line + 1, mark.column + 1, path_text(path), got, need)
        return FileError([place])

    def place(self, event: Any, path: Path) -> None:
        mark = event.start_mark
        inside = None
        if isinstance(event, yaml.ScalarEvent) and event.style in (None, "", "'", '"'):
            inside = mark.column + 1 + (event.style in ("'", '"'))
            if event.end_mark.line != mark.line:
                inside = None
        self.positions[path] = Position(mark.line + 1, mark.column + 1, inside)

    def counted(self, event: Any, path: Path, more: int = 1) -> None:
        self.count += more
        if self.count > MAX_VALUES:
            got = Bare(f"more than {MAX_VALUES} values")
            raise self.refuse(event.start_mark, path, got, "a smaller file; fewer aliases")

    def value(self, event: Any, path: Path) -> Any:
        self.counted(event, path)
        if len(path) > MAX_DEPTH:
            got = Bare(f"more than {MAX_DEPTH} mappings and lists within each other")
            raise self.refuse(event.start_mark, path, got, "a flatter description")
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, path)
        if event.tag is not None and event.tag != "!":
            got = Bare(f"the tag {event.tag}")
            raise self.refuse(event.start_mark, path, got, "plain values without tags")
        self.place(event, path)
        if isinstance(event, yaml.ScalarEvent):
            if len(event.value) > MAX_TEXT:
                got = Bare(f"a text of {len(event.value)} characters")
                raise self.refuse(event.start_mark, path, got, f"at most {MAX_TEXT}")
            value = _scalar(event)
            size = 1
        else:
            before = self.count
            mapping = isinstance(event, yaml.MappingStartEvent)
            value = self.mapping(path) if mapping else self.sequence(path)
            size = 1 + self.count - before
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, path, size)
        return value

    def alias(self, event: Any, path: Path) -> Any:
        if event.anchor not in self.anchors:
            known = ", ".join(f"*{name}" for name in self.anchors) or "none is defined before it"
            raise self.refuse(event.start_mark, path, Bare(f"*{event.anchor}"), f"one of: {known}")
        value, origin, size = self.anchors[event.anchor]
        self.counted(event, path, size)
        self.aliases[path] = origin
        return value

    def mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = event.value if isinstance(event, yaml.ScalarEvent) else None
            if key is None or event.tag not in (None, "!"):
                got = Bare("something else than a name before the colon")
                raise self.refuse(event.start_mark, path, got, "a name")
            if len(key) > MAX_NAME:
                got = Bare(f"a name of {len(key)} characters")
                raise self.refuse(event.start_mark, path, got, f"at most {MAX_NAME}")
            if key in found:
                got = Bare(f"{key} a second time")
                raise self.refuse(event.start_mark, (*path, key), got, "each name only once")
            if key == "<<":
                need = (
                    "the fields themselves, or an alias of the whole value; YAML 1.2 has no merging"
                )
                raise self.refuse(event.start_mark, path, Bare("the merge key <<"), need)
            found[key] = self.value(next(self.events), (*path, key))
        return found

    def sequence(self, path: Path) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            found.append(self.value(event, (*path, len(found))))
        return found


def _scalar(event: Any) -> Any:
    text = event.value
    if event.style not in (None, ""):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def parse(text: str, name: str) -> Source:
    """Data of a text; ``name`` is the file's, for messages."""
    if len(text) > MAX_SIZE:
        got = Bare(f"{len(text)} characters")
        raise FileError([Problem(name, 0, 0, "", got, f"at most {MAX_SIZE}")])
    reader = _Reader(name, iter(()))
    try:
        reader.events = yaml.parse(text, Loader=_Parser)
        data: Any = None
        documents = 0
        for event in reader.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    got = Bare("a second document")
                    raise reader.refuse(event.start_mark, (), got, "one robot a file")
                data = reader.value(next(reader.events), ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        got = Bare(error.problem or error.context or "no YAML")
        need = (
            "YAML: names and values as 'name: value', lists as [a, b], text with : or # in quotes"
        )
        raise FileError([Problem(name, line, column, "", got, need)]) from None
    except yaml.YAMLError as error:
        got = Bare(str(error).splitlines()[0] if str(error) else "no text")
        raise FileError([Problem(name, 0, 0, "", got, "readable UTF-8 text")]) from None
    if not isinstance(data, dict):
        need = "a mapping such as 'robot: arm' with rods, bodies, …"
        raise FileError([Problem(name, 1, 1, "", data, need)])
    return Source(name, data, reader.positions, reader.aliases)


class _Dumper(yaml.SafeDumper):
    """Writes what :func:`parse` reads, and nothing else."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  # a table of yaml's own

    def ignore_aliases(self, data: Any) -> bool:
        return True


_PLAIN = "tag:yaml.org,2002:"
_Dumper.add_implicit_resolver(
    f"{_PLAIN}null",
    re.compile(
        r"^(|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"
    ),
    None,
)
_Dumper.add_implicit_resolver(f"{_PLAIN}float", re.compile(f"^({_FLOAT.pattern})$", re.ASCII), None)

WIDTH = 100


def unparse(data: dict[str, Any]) -> str:
    """Data as YAML: short values on one line, long ones indented."""
    node = _node(data, 0, level=0)
    return str(yaml.serialize(node, Dumper=_Dumper, width=10_000, allow_unicode=True))


def _node(value: Any, indent: int, level: int = 2) -> Any:
    """A node of the text; the file (level 0) and its sections (1) have one line for each name at least."""
    if isinstance(value, dict):
        section = level == 1 and any(isinstance(inner, dict) for inner in value.values())
        flow = level > 0 and not section and indent + _length(value) <= WIDTH
        pairs = [
            (_text(key), _node(inner, indent + (0 if flow else 2) + len(key) + 2, level + 1))
            for key, inner in value.items()
        ]
        return yaml.MappingNode(f"{_PLAIN}map", pairs, flow_style=flow)
    if isinstance(value, list | tuple):
        nodes = [_node(inner, indent + 2) for inner in value]
        records = any(isinstance(inner, dict) for inner in value)
        flow = not (records and indent + _length(value) > WIDTH)
        return yaml.SequenceNode(f"{_PLAIN}seq", nodes, flow_style=flow)
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return yaml.ScalarNode(f"{_PLAIN}null", "null" if value is None else str(value).lower())
    return yaml.ScalarNode(f"{_PLAIN}float", _number(value))


def _text(value: str) -> Any:
    return yaml.ScalarNode(f"{_PLAIN}str", value)


def _number(value: float | int) -> str:
    """The shortest text that is read as the same number."""
    if abs(value) < 1e6 and value == int(value) and str(value) != "-0.0":
        return str(int(value))
    if isinstance(value, int) or value == 0 or 1e-4 <= abs(value) < 1e6:
        return repr(value)
    if value != value or abs(value) == float("inf"):
        return {"inf": ".inf", "-inf": "-.inf"}.get(repr(value), ".nan")
    return np.format_float_scientific(value, trim="-", exp_digits=1).replace("e+", "e")


def _length(value: Any) -> int:
    """Roughly the characters on one line."""
    if isinstance(value, dict):
        return 2 + sum(len(key) + 4 + _length(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return 2 + sum(2 + _length(inner) for inner in value)
    if isinstance(value, str):
        return len(value) + 2
    return len(_number(value)) if isinstance(value, float) else 5
