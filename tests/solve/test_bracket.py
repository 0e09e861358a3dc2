"""Roots between two places: found to round-off, from behind, also where a function jumps."""

import math

import pytest

from supple.solve.bracket import MOST, bracketed_root

CASES = {
    "line": (lambda x: x - 1 / 3, 0.0, 1.0, 1 / 3),
    "parabola": (lambda x: 0.05 - 9.81 / 2 * x**2, 0.0, 0.2, math.sqrt(0.1 / 9.81)),
    "cosine": (lambda x: math.cos(x), 1.0, 2.0, math.pi / 2),
    "steep": (lambda x: math.exp(x) - 1e-3, -20.0, 1.0, math.log(1e-3)),
    "flat": (lambda x: (x - 0.3) ** 5, 0.0, 1.0, 0.3),
    "jump": (lambda x: 1.0 if x > 0.3 else -1.0, 0.0, 1.0, 0.3),
    "far": (lambda x: x - 1000.1, 1000.0, 1001.0, 1000.1),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_roots(name, sign):
    f, a, b, root = CASES[name]
    calls = []

    def counted(x):
        calls.append(x)
        return sign * f(x)

    found, value = bracketed_root(counted, a, sign * f(a), b, sign * f(b))
    tolerance = 1e-3 if name == "flat" else 1e-15  # round-off of the function over its slope
    assert found == pytest.approx(root, rel=tolerance)
    assert value == sign * f(found)
    assert value * sign * f(b) >= 0  # behind the root
    assert len(calls) <= (MOST if name in ("flat", "jump") else 14)


def test_zero_at_the_end():
    assert bracketed_root(lambda x: x - 1.0, 0.0, -1.0, 1.0, 0.0) == (1.0, 0.0)


def test_no_finer_than_asked():
    calls = []

    def counted(x):
        calls.append(x)
        return math.cos(x)

    found, _ = bracketed_root(counted, 1.0, math.cos(1.0), 2.0, math.cos(2.0), 1e-3)
    assert found == pytest.approx(math.pi / 2, abs=1e-3)
    assert len(calls) <= 6
