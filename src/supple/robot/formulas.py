"""Functions of several arguments that some items take, written as formulas."""

from dataclasses import dataclass
from typing import Any

from supple.errors import DescriptionError
from supple.expression import Expression
from supple.lie import Pose

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
        """Load a metre (6,) on one section."""
        return self.density(t, X, pose.position, pose.rotation, twist)  # type: ignore[operator]
