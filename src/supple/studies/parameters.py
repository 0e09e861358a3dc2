"""Parameters of a robot by their paths: "arm.length", "arm.material.E", "push.force[1]", an input's name.

A path begins with the name of an item, or is ``gravity``; then follow fields as Python and files have them,
numbers in brackets count entries of vectors. The name of an :class:`Input` stands for its value wherever it
acts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

import jax
import numpy as np

from supple.errors import ArgumentError
from supple.model.laws import AbstractLaw, Input
from supple.robot.robot import Robot
from supple.spelling import meant

Step = str | int
GRAVITY = "gravity"
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


class Place(NamedTuple):
    """Where a number is: in an item (in the robot itself: None), after some steps."""

    item: str | None
    steps: tuple[Step, ...]


def places_of(robot: Robot, path: str) -> tuple[Place, ...]:
    """Where the parameter of a path is; an input may act at several places. Raises where there is none."""
    found = [place for place, law in inputs_of(robot) if law.name == _head(path)]
    if found:
        steps = _steps(path, path[len(_head(path)) :])
        return tuple(Place(place.item, (*place.steps, "value", *steps)) for place in found)
    if re.match(rf"{GRAVITY}(\[|$)", path):
        return (Place(None, _steps(path, path[len(GRAVITY) :])),)
    names = [item.name for item in robot.items]
    own = [name for name in names if path.startswith((f"{name}.", f"{name}["))]
    if not own:
        inputs = dict.fromkeys(law.name for _, law in inputs_of(robot))
        known = list(dict.fromkeys([*names, *inputs, GRAVITY]))
        likely = meant(path.partition(".")[0], known)
        need = f"{likely}a path such as 'arm.length' that begins with one of: {', '.join(known)}"
        raise ArgumentError(f"parameter: got {path!r}; need {need}")
    name = max(own, key=len)
    return (Place(name, _steps(path, path[len(name) :])),)


def _head(path: str) -> str:
    """The path without the entries of vectors at its end."""
    return re.sub(r"(\[\d+\])+$", "", path)


def _steps(path: str, rest: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            need = "fields after dots and entries in brackets: 'arm.material.E', 'push.force[1]'"
            raise ArgumentError(f"parameter: got {path!r}; need {need}")
        steps.append(found[1] if found[2] is None else int(found[2]))
        at = found.end()
    return tuple(steps)


def inputs_of(robot: Robot) -> Iterator[tuple[Place, Input]]:
    """The inputs of a robot, with where they are."""
    for item in robot.items:
        for steps, law in _inputs_in(item):
            yield Place(item.name, steps), law


def _inputs_in(value: Any) -> Iterator[tuple[tuple[Step, ...], Input]]:
    if isinstance(value, Input):
        yield (), value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for steps, law in _inputs_in(getattr(value, field.name, None)):
                yield (field.name, *steps), law


class WithParameters:
    """A robot as a function of some of its parameters: ``sample`` (values by path) -> Robot."""

    def __init__(self, robot: Robot, paths: Iterable[str]) -> None:
        self.robot = robot
        self.places = {path: places_of(robot, path) for path in paths}

    def __call__(self, sample: Mapping[str, Any]) -> Robot:
        """The robot with these values; they may be traced."""
        robot, items = self.robot, {item.name: item for item in self.robot.items}
        gravity = robot.gravity
        for path, value in sample.items():
            for item, steps in self.places[path]:
                if item is None:
                    gravity = _changed(gravity, steps, value, path)
                else:
                    items[item] = _changed(items[item], steps, value, path)
        return Robot(
            *items.values(), gravity=gravity, name=robot.name, formulation=robot.formulation
        )


def _changed(owner: Any, steps: tuple[Step, ...], value: Any, path: str) -> Any:
    """What ``owner`` becomes with another number after some steps."""
    if not steps:
        return _number(owner, value, path)
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        parts = owner.tolist() if isinstance(owner, np.ndarray) else owner
        if not isinstance(parts, Sequence) or isinstance(parts, str) or first >= len(parts):
            count = len(parts) if isinstance(parts, Sequence) and not isinstance(parts, str) else 0
            need = f"an entry that is there, not [{first}] of {count}"
            raise ArgumentError(f"parameter: got {path!r}; need {need}")
        parts = list(parts)
        parts[first] = _changed(parts[first], rest, value, path)
        return tuple(parts)
    if isinstance(owner, Mapping) and first in owner:
        return {**owner, first: _changed(owner[first], rest, value, path)}
    names = [field.name for field in fields(owner)] if is_dataclass(owner) else []
    if first not in names:
        known = sorted(_numbers_in(owner))
        likely = meant(first, [*known, *names])
        need = f"{likely}one of: {', '.join(known) or 'none, it is a number'}"
        raise ArgumentError(f"parameter: got {path!r}, of which {first!r} is unknown; need {need}")
    new = _changed(getattr(owner, first), rest, value, path)
    return replace(owner, **{first: new})


def _number(before: Any, value: Any, path: str) -> Any:
    """The new value of a number; of a law that is one number, the law with it."""
    if isinstance(before, AbstractLaw) and hasattr(before, "value"):
        own: Any = before
        return replace(own, value=_number(own.value, value, path))
    plain = isinstance(before, int | float | np.number | jax.Array) and np.ndim(before) == 0
    if before is not None and (isinstance(before, bool) or not plain):
        inside = sorted(_numbers_in(before))
        need = f"a number in it: {', '.join(inside) or 'there is none'}"
        raise ArgumentError(f"parameter: got {path!r}, which is no number; need {need}")
    if isinstance(before, int) and not isinstance(value, jax.core.Tracer) and value == int(value):
        return int(value)  # counts are whole
    return value


def _numbers_in(value: Any, depth: int = 3) -> Iterator[str]:
    """Paths of the numbers in something, for people."""
    if not depth:
        return
    own: Mapping[str, Any] = {}
    if is_dataclass(value) and not isinstance(value, type):
        own = {f".{field.name}": getattr(value, field.name, None) for field in fields(value)}
    elif isinstance(value, Mapping):
        own = {f".{name}": part for name, part in value.items()}
    elif isinstance(value, list | tuple | np.ndarray) and len(value) <= 6:
        own = {f"[{i}]": part for i, part in enumerate(value)}
    for step, part in own.items():
        if isinstance(part, int | float | np.number) and not isinstance(part, bool):
            yield step.removeprefix(".")
        else:
            yield from (
                f"{step}.{inner}".removeprefix(".").replace(".[", "[")
                for inner in _numbers_in(part, depth - 1)
            )
