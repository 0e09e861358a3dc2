"""Quantities with units are answered with the number to write, wherever a number belongs."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.units import in_si, number_to_write
from tests.files.everything import ROBOTS

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("200 GPa", 2e11, "Pa"),
        ("5mm", 5e-3, "m"),
        ("90 deg", np.pi / 2, "rad"),
        ("90°", np.pi / 2, "rad"),
        ("7.8 g/cm^3", 7800, "kg/m³"),
        ("-2 N/mm²", -2e6, "N/m²"),
        ("1 Nm", 1, "N m"),
        ("3 N m", 3, "N m"),
        ("10 rpm", np.pi / 3, "rad/s"),
        ("2 bar", 2e5, "Pa"),
        ("5 µm", 5e-6, "m"),
        ("1 min", 60, "s"),
    ],
)
def test_units(text, number, unit):
    value, name = in_si(text)
    assert value == pytest.approx(number, rel=1e-11)
    assert name == unit


@pytest.mark.parametrize("text", ["5", "arm", "2*pi", "5 foo", "$radius mm", "", "rod 1", "1 2"])
def test_what_is_no_quantity(text):
    assert in_si(text) is None
    assert number_to_write(text) == ""


def with_units(thing: Any) -> Any:
    """A description with a unit in each of its numbers in turn."""
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        numbers = np.asarray(value) if isinstance(value, int | float | tuple) else None
        if isinstance(value, bool) or numbers is None or not numbers.size:
            continue
        if numbers.dtype.kind in "fi":
            unit = "5 mm" if numbers.ndim == 0 else ("5 mm", *value[1:])
            yield (
                field.name,
                lambda name=field.name, unit=unit: dataclasses.replace(thing, **{name: unit}),
            )


def places() -> Any:
    """Every number of every kind of item and part, once: a robot and how to spoil it."""
    seen = set()
    for robot in ROBOTS.values():
        for item in robot.items:
            for part in (None, *(f.name for f in dataclasses.fields(item))):
                thing = item if part is None else getattr(item, part)
                if isinstance(thing, type) or not dataclasses.is_dataclass(thing):
                    continue
                for field, spoilt in with_units(thing):
                    key = f"{type(thing).__name__}.{field}"
                    if key in seen or thing.__class__.__module__ == "supple.model.laws":
                        continue
                    seen.add(key)
                    yield pytest.param(robot, item, part, spoilt, id=key)


@pytest.mark.parametrize(("robot", "item", "part", "spoilt"), list(places()))
def test_text_where_a_number_belongs(robot, item, part, spoilt):
    def build():
        changed = spoilt() if part is None else dataclasses.replace(item, **{part: spoilt()})
        robot.replacing(changed).build()

    with pytest.raises(sp.DescriptionError, match="; need "):
        build()
