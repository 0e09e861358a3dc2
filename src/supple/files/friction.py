"""Friction laws of joints and motors as files have them."""

from supple.files.common import number
from supple.files.forms import OneOf, Other, record
from supple.files.kinds import Formula, Numbers
from supple.model.friction import AbstractFriction, ArctanFriction, DryFriction
from supple.robot.formulas import FRICTION_VARIABLES, FormulaFriction

_LAWS = {
    "dry": record(
        DryFriction, largest=number("N m, N"), width=number("rad/s, m/s: nearly the largest beyond")
    ),
    "arctan": record(ArctanFriction, largest=number("N m, N"), sharpness=number("s/rad, s/m")),
    "formula": record(
        FormulaFriction,
        effort=Formula(f"a formula of {FRICTION_VARIABLES} (N m, N)", FRICTION_VARIABLES, None),
    ),
}


def friction(need: str) -> OneOf:
    """The largest dry friction, or a law."""
    plain = Other(
        Numbers(need),
        lambda value: not isinstance(value, dict),
        lambda value: not isinstance(value, AbstractFriction),
    )
    return OneOf(f"{need}, or a law", _LAWS, {"plain": plain})
