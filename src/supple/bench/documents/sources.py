"""Where our numbers come from.

``robot NAME PATH`` is a number in the description of a shipped robot (entries of vectors as in
"push.force.1"), ``constant MODULE.NAME`` one in the module of ``supple.robots`` that builds it,
``quick NAME | KEY`` one that a function of :mod:`.quick` computes in seconds, ``long NAME | KEY`` one of
:mod:`.long`, ``example NAME | KEY`` one that an example of a checkout finds, ``says TEXT`` a word or a name.
Results of quick, long and example are kept in ``results.json`` with the command that makes them, and computed
again where that is asked for.
"""

import importlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.studies.parameters import places_of

Value = float | str | None
STORED = ("quick", "long", "example")


def _file() -> Path:
    return Path(str(resources.files("supple.bench.documents") / "data" / "results.json"))


def command(kind: str, name: str) -> str:
    """What computes a group of numbers again."""
    if kind == "example":
        return f"python -m examples.{name.replace('/', '.')}"
    return f"supple bench documents --full --only {name}"


@dataclass
class Sources:
    """Looks numbers up; groups of the kinds ``again`` are computed anew, the others read."""

    again: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    told: Callable[[str], None] = lambda _: None
    results: dict[str, Any] = field(default_factory=dict)
    _robots: dict[str, Any] = field(default_factory=dict)
    _fresh: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if _file().exists():
            self.results = json.loads(_file().read_text(encoding="utf-8"))

    def find(self, source: str | None) -> Value:
        """Our number for a row; None where there is none."""
        if source is None:
            return None
        kind, _, rest = source.partition(" ")
        if kind == "says":
            return rest
        if kind == "robot":
            name, _, path = rest.partition(" ")
            return self._described(name, path)
        if kind == "constant":
            return _constant(rest)
        if kind not in STORED:
            raise ArgumentError(f"source: got {source!r}; need robot, constant, says, {STORED}")
        name, _, key = rest.partition(" | ")
        return self._stored(kind, name, key)

    def _described(self, name: str, path: str) -> float:
        if name not in self._robots:
            from supple.bench.documents.shipped import ROBOTS

            self._robots[name] = ROBOTS[name]()
        robot = self._robots[name]
        (place, *_) = places_of(robot, re.sub(r"\.(\d+)\b", r"[\1]", path))
        value: Any = robot
        if place.item is not None:
            value = next(item for item in robot.items if item.name == place.item)
        else:
            value = robot.gravity
        for step in place.steps:
            value = value[step] if isinstance(step, int | np.integer) else _field(value, step)
        value = getattr(value, "value", value)
        return float(value)

    def _stored(self, kind: str, name: str, key: str) -> Value:
        group = f"{kind} {name}"
        asked = not self.only or name in self.only
        if kind in self.again and asked and group not in self._fresh:
            self.told(f"{group} …")
            begun = time.perf_counter()
            values = compute(kind, name)
            self.results[group] = {
                "command": command(kind, name),
                "seconds": round(time.perf_counter() - begun, 1),
                "values": {key: _plain(value) for key, value in values.items()},
            }
            self._fresh.add(group)
        found = self.results.get(group, {}).get("values", {})
        if key not in found:
            return None
        value: Value = found[key]
        return value

    def store(self) -> None:
        """Keep what was found."""
        text = json.dumps(self.results, indent=1, ensure_ascii=False, sort_keys=True)
        _file().write_text(text + "\n", encoding="utf-8")


def compute(kind: str, name: str) -> Mapping[str, Any]:
    """The numbers of a group, by computing them."""
    if kind == "example":
        try:
            example = importlib.import_module(f"examples.{name.replace('/', '.')}")
        except ModuleNotFoundError as error:
            need = "the root of a checkout of the repository as working directory"
            raise ArgumentError(f"example {name}: not found ({error}); need {need}") from error
        more = getattr(example, "told", dict)
        return {**example.run(), **more()}
    module = importlib.import_module(f"supple.bench.documents.{kind}")
    found: Mapping[str, Any] = module.GROUPS[name]()
    return found


def _plain(value: Any) -> Any:
    """A number with the digits that are worth keeping."""
    if value is None or isinstance(value, str):
        return value
    return float(f"{float(value):.6g}")


def _field(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, Mapping) else getattr(value, name)


def _constant(path: str) -> float:
    """A number of a module of the robots: "swimmer.TENSIONS.0"."""
    module, _, rest = path.partition(".")
    head, *steps = rest.split(".")
    value = getattr(importlib.import_module(f"supple.robots.{module}"), head)
    for step in steps:
        value = value[int(step)] if re.fullmatch(r"-?\d+", step) else value[step]
    return float(value)
