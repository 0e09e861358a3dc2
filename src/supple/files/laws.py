"""Laws of time as files have them."""

from typing import Any

from supple.expression import Expression
from supple.files.common import KINKS, number
from supple.files.forms import OneOf, Other, Record, record
from supple.files.kinds import (
    ANY_SIZE,
    Formula,
    Numbers,
    Text,
    Varying,
)
from supple.model.laws import AbstractLaw, Constant, Function, Input, Spline, Table, ramp, triangle


def function_law(formula: Expression, kinks: tuple[float, ...] = ()) -> Function:
    """A formula of t whose non-smooth times are known."""
    return Function(formula, kinks)


def _function_apart(law: Function, item: str, field: str) -> dict[str, Any]:
    return {"formula": law.function, "kinks": law.kinks}


_LAWS = {
    "table": record(
        Table,
        times=Numbers("increasing times (s)"),
        values=Numbers("one value for each time", array=True),
    ),
    "spline": record(
        Spline,
        times=Numbers("at least four increasing times (s)"),
        values=Numbers("one value for each time", array=True),
    ),
    "ramp": record(
        ramp,
        start=number("the time (s) at which it starts to rise from 0"),
        end=number("the time (s) from which on it is constant"),
        height=number("its height from then on"),
    ),
    "triangle": record(
        triangle,
        start=number("the time (s) at which it starts to rise from 0"),
        peak=number("the time (s) of its peak"),
        end=number("the time (s) from which on it is 0"),
        height=number("its height"),
    ),
    "input": record(
        Input,
        name=Text("the name of an input that a controller sets"),
        value=Numbers("its value before the first call", array=True),
    ),
    "constant": record(Constant, value=Numbers("a number or several", array=True)),
    "function": Record(
        function_law,
        {
            "formula": Formula("a formula of t", "t", ANY_SIZE),
            "kinks": KINKS,
        },
        fits=lambda law: isinstance(law, Function),
        apart=_function_apart,
    ),
}


def law(need: str) -> OneOf:
    """A law of time."""
    need = f"{need}: a number, a formula of t, or a law"
    plain = Other(
        Varying(need, "t"),
        lambda value: not isinstance(value, dict) or list(value) == ["expression"],
        lambda value: not isinstance(value, AbstractLaw),
    )
    return OneOf(need, _LAWS, {"plain": plain})
