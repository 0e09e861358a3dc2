"""YAML: numbers and words as YAML 1.2 has them, positions, limits."""

import math
import time

import pytest

from supple.files.problems import FileError
from supple.files.text import MAX_SIZE, parse, unparse

VALUES = [
    ("1e5", 1e5), ("1E-3", 1e-3), ("1.", 1.0), (".5", 0.5), ("-2", -2), ("+3", 3), ("007", 7),
    ("true", True), ("False", False), ("on", "on"), ("yes", "yes"), ("no", "no"), ("null", None),
    ("~", None), ("", None), (".inf", math.inf), ("-.INF", -math.inf), ("0x10", "0x10"),
    ("1_000", "1_000"), ("12:30", "12:30"), ("'1e5'", "1e5"), ('"a b"', "a b"), ("$r*2", "$r*2"),
    ("2024-01-01", "2024-01-01"), ("[1, a, [2]]", [1, "a", [2]]), ("{a: {b: 1}}", {"a": {"b": 1}}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text or "empty" for text, _ in VALUES])
def test_values(text, value):
    found = parse(f"key: {text}\n", "x").data["key"]
    assert found == value
    assert type(found) is type(value)


def test_what_is_written_is_read():
    data = {
        "robot": "arm: 1 # no comment",
        "words": ["true", "null", "1e5", "", "- a", "é", "a\nb", "on", " x "],
        "numbers": [1, -2.5, 1e300, 5e-324, 1 / 3, 0.1 + 0.2, 123456789.123, -0.0, 1e6, 1e-5],
        "long": {
            f"key {i}": {"value": [i] * 40, "inner": {"a": True, "b": False}} for i in range(3)
        },
        "empty": {"list": [], "mapping": {}},
    }
    assert parse(unparse(data), "x").data == data


def test_positions():
    text = "a:\n  b: [1, 'two', {c: 3}]\n  d: *x\n".replace("*x", "4")
    source = parse(text, "x")
    place = source.position(("a", "b", 2, "c"))
    assert (place.line, place.column) == (2, 21)
    assert source.position(("a", "b", 1)).inside == 11
    assert source.position(("a", "d", "nothing")).line == 3


def test_aliases_point_to_where_they_are_written():
    source = parse("a: &x {b: 1}\nc: *x\n", "x")
    assert source.data["c"] == {"b": 1}
    assert source.position(("c", "b")).line == 1


def refused(text):
    begun = time.process_time()
    with pytest.raises(FileError) as error:
        parse(text, "x")
    assert time.process_time() - begun < 5.0
    return str(error.value)


def test_bombs():
    doubling = "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]\n" for i in range(1, 9))
    assert "more than 200000 values" in refused("l0: &l0 [1, 1]\n" + doubling)
    many = "a: &a [1]\nb: [" + "*a, " * 150_000 + "]\n"
    assert "more than 200000 values" in refused(many)
    assert "within each other" in refused("a: " + "[" * 100_000)
    assert "within each other" in refused("a: " + "{a: " * 100_000)
    assert "within each other" in refused("\n".join(" " * i + "a:" for i in range(200)))
    assert "characters" in refused("a" * (MAX_SIZE + 1))
    assert "none is defined" in refused("a: &a [*a]\n")


def test_long_digits_stay_text():
    assert parse("a: " + "9" * 1000, "x").data["a"] == "9" * 1000


def test_control_characters():
    assert "need readable UTF-8 text" in refused("a: \x00\n") or "need YAML" in refused("a: \x00\n")
