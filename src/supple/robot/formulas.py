"""Functions of several arguments that some items take, written as formulas."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx

from supple.errors import DescriptionError
from supple.expression import Expression
from supple.lie import Pose
from supple.model.friction import AbstractFriction

FRICTION_VARIABLES = "speed, load"
"""What friction may depend on."""
LINE_VARIABLES = "t, X, position[3], rotation[3][3], twist[6]"
"""What a load along a rod may depend on."""


def formula(item: str, field: str, text: str | Expression, variables: str, size: int) -> Expression:
    """A vector formula of given variables and size, or an error."""
    found = text if isinstance(text, Expression) else Expression(text, variables)
    expected = tuple(name.strip() for name in variables.split(","))
    if found.variables != expected or found.size != size:
        need = f"[…] with {size} entries, a formula of {variables}"
        raise DescriptionError(item, field, found.text, need)
    return found


@dataclass(frozen=True)
class Motion:
    """A motion for :class:`Driven`: formulas of t for position (m) and rotation vector (rad).

    ``Driven(Motion("[0.1*sin(t), 0, 0]", "[0, 0, 0]"))``
    """

    position: Expression | str = "[0, 0, 0]"
    rotation: Expression | str = "[0, 0, 0]"

    def __post_init__(self) -> None:
        for field in ("position", "rotation"):
            found = formula("Motion", field, getattr(self, field), "t", 3)
            object.__setattr__(self, field, found)

    def __call__(self, t: Any) -> tuple[Any, Any]:
        """Position and rotation vector at time t."""
        return self.position(t), self.rotation(t)  # type: ignore[operator]  # made Expressions


@dataclass(frozen=True)
class LoadDensity:
    """A formula for :class:`DistributedLoad`: moment (N m/m) and force (N/m) along a rod, six entries.

    It may use t, X (m), position[0…2] (m) and rotation[i][j] in space, and twist[0…5] (rad/s, m/s) of the
    section: ``DistributedLoad("grass", on="rod", density=LoadDensity("[0, 0, 0, 0, 0, -50*position[2]]"))``
    """

    density: Expression | str

    def __post_init__(self) -> None:
        found = formula("LoadDensity", "density", self.density, LINE_VARIABLES, 6)
        object.__setattr__(self, "density", found)

    def __call__(self, t: Any, X: Any, pose: Pose, twist: Any) -> Any:
        """Load a meter (6,) on one section."""
        return self.density(t, X, pose.position, pose.rotation, twist)  # type: ignore[operator]


class FormulaFriction(AbstractFriction):
    """A friction law as a formula of ``speed`` and ``load``: ``FormulaFriction("0.2*tanh(speed/0.01)")``."""

    effort: Expression | str = eqx.field(static=True)

    def __init__(self, effort: Expression | str) -> None:
        given = effort if isinstance(effort, Expression) else Expression(effort, FRICTION_VARIABLES)
        if given.variables != ("speed", "load") or given.size is not None:
            need = f"one formula of {FRICTION_VARIABLES}"
            raise DescriptionError("FormulaFriction", "effort", given.text, need)
        self.effort = given

    def __call__(self, speed: Any, load: Any) -> Any:
        """Effort (N m, N) against a speed (rad/s, m/s)."""
        return self.effort(speed, load)  # type: ignore[operator]  # made an Expression
