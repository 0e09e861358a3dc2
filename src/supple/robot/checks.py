"""Checks that several items share; each names the item, the value and what is allowed."""

from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.expression import Expression
from supple.model.friction import AbstractFriction
from supple.model.laws import AbstractEffortLaw, AbstractLaw, Function, as_law
from supple.numeric import check_number, is_traced
from supple.tried import check_numbers, number, tried

GROUND_NAME = "ground"
LONGEST_NAME = 200
"""Characters of a name."""


def check_name(name: object) -> None:
    """Raise unless an item's name can be one."""
    if not isinstance(name, str) or not name or name == GROUND_NAME:
        need = f"a non-empty name other than {GROUND_NAME!r}"
        raise DescriptionError("item", "name", name, need)
    check_printable("item", "name", name)


def check_printable(item: str, field: str, name: str) -> None:
    """Raise unless a name is one line of text: it is printed, drawn, and read by programs."""
    if len(name) > LONGEST_NAME or not name.isprintable():
        need = f"at most {LONGEST_NAME} printable characters"
        raise DescriptionError(item, field, name[: LONGEST_NAME + 1], need)


def check_law(item: str, field: str, law: Any, *, vector: int = 0, effort: bool = False) -> None:
    """Raise unless a value is a number, a law or a function of time that begins with a finite number.

    With ``vector`` the law may also give so many numbers, with ``effort`` it may follow the coordinate.
    """
    if isinstance(law, AbstractEffortLaw):
        _check_effort(item, field, law, effort)
        return
    if not isinstance(law, AbstractLaw) and not callable(law):
        check_number(item, field, law, "a law, a function of time, or a finite number")
        return
    check_first(item, field, law, vector=vector)


def _check_effort(item: str, field: str, law: AbstractEffortLaw, allowed: bool) -> None:
    """Raise unless an effort law can be traced, gives one number, and stands where one may."""
    name = type(law).__name__
    if not allowed:
        need = "a law of time: efforts may follow as a tension, a pressure or a torque only"
        raise DescriptionError(item, field, name, need)
    need = "a law of (t, length, rate), written with jax.numpy, that gives one number"
    found = tried(item, field, law, (number(), number(), number()), need)
    check_numbers(item, field, found, [()], need)


def check_friction(item: str, field: str, law: AbstractFriction, *, loaded: bool) -> None:
    """Raise unless a friction law can be traced, gives one number, and takes energy out.

    Only where something is ``loaded`` may it depend on a load.
    """
    need = "a law of (speed, load), written with jax.numpy, that gives one number"
    found = tried(item, field, law, (number(), number()), need)
    check_numbers(item, field, found, [()], need)
    if is_traced(law):
        return
    tries = [(speed, load) for speed in (-3.0, -0.1, 0.1, 3.0) for load in (0.0, -2.0, 2.0)]
    for speed, load in tries:
        effort = float(law(np.asarray(speed), np.asarray(load)))
        if not effort * speed >= 0:
            need = (
                f"a law against the motion: it gives {effort:.3g} at the speed {speed}, load {load}"
            )
            raise DescriptionError(item, field, type(law).__name__, need)
        if not loaded and effort != float(law(np.asarray(speed), np.zeros(()))):
            need = "a law of the speed alone: the load of a joint is not known, that of a motor is"
            raise DescriptionError(item, field, type(law).__name__, need)


def check_first(
    item: str, field: str, law: Any, *, positive: bool = False, vector: int = 0
) -> None:
    """Raise unless a law of time begins with a finite (positive) number."""
    need = "a law whose value at t = 0 is a finite number" + (" > 0" if positive else "")
    shapes = [(), (vector,)] if vector else [()]
    own = law.function if isinstance(law, Function) else law
    if _is_foreign(own):
        words = "a function of time t, written with jax.numpy, that gives one number"
        words += f", or {vector}" if vector else ""
        check_numbers(item, field, tried(item, field, own, (number(),), words), shapes, words)
    first = tried(item, field, as_law(law), (np.zeros(()),), need, traced=False)
    if is_traced(first):
        return
    value = np.asarray(first)
    finite = value.shape in shapes and bool(np.all(np.isfinite(value)))
    if not finite or (positive and value <= 0):
        raise DescriptionError(item, field, value.tolist(), need)


def _is_foreign(law: Any) -> bool:
    """Whether a law is a user's own: ours, and formulas, can always be traced."""
    ours = isinstance(law, Expression) or type(law).__module__ == AbstractLaw.__module__
    return callable(law) and not ours


def check_fraction(item: str, field: str, value: Any) -> None:
    """Raise unless a value is a place along a rod."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise DescriptionError(item, field, value, "a fraction of the rod's length in [0, 1]")
