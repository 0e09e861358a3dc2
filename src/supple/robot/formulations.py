"""Formulations by name: how the rods of a robot are described, and what solvers see of its model."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from supple.errors import ArgumentError, DescriptionError
from supple.model.model import Model
from supple.robot.graph import Item
from supple.robot.items import Rod
from supple.robot.pieces import in_pieces
from supple.robot.resolution import each_rod, resolved_items
from supple.robot.shot import shot
from supple.shooting.formulation import StrongForm
from supple.shooting.settings import Shooting
from supple.system.formulation import AbstractFormulation
from supple.system.second_order import AbstractSecondOrder
from supple.system.strain import Strain

DEFAULT = "strain"


class Formulation(NamedTuple):
    """One way to compute robots."""

    resolved: Callable[[Sequence[Any], float], tuple[Any, ...]]
    """Items with what rods leave open settled for an accuracy, as this formulation needs it."""
    of_model: Callable[[Model], AbstractFormulation]
    """What solvers see of a model."""
    about: str
    """In a few words, for people."""
    finished: Callable[[Sequence[Item], Model, Any], Model] | None = None
    """The model it solves, from the items, the robot's model, and what was chosen of the formulation."""


FORMULATIONS: dict[str, Formulation] = {
    "strain": Formulation(
        resolved_items, Strain, "strains on smooth functions along whole rods: few coordinates"
    ),
    "pcs": Formulation(
        each_rod(in_pieces),
        Strain,
        "pieces of constant strain, in closed form: cost linear in their number",
    ),
    "shooting": Formulation(
        each_rod(Rod.settled),
        StrongForm,
        "the strong form: implicit in time, a boundary-value problem along the rods; see Shooting",
        shot,
    ),
}


def formulation_name(chosen: str | Shooting) -> str:
    """The name of a formulation, which may be chosen by its name or by its settings."""
    return "shooting" if isinstance(chosen, Shooting) else chosen


def formulation_named(chosen: str | Shooting) -> Formulation:
    """A formulation by its name or its settings."""
    return FORMULATIONS[formulation_name(chosen)]


def check_formulation(item: str, chosen: object) -> None:
    """Raise unless this is the name of a formulation, or settings of one."""
    if isinstance(chosen, Shooting) or (isinstance(chosen, str) and chosen in FORMULATIONS):
        return
    known = "; ".join(f"{key!r} ({one.about})" for key, one in FORMULATIONS.items())
    raise DescriptionError(item, "formulation", chosen, f"one of: {known}")


def formulation_of(model: Model) -> AbstractFormulation:
    """What solvers see of a model, by the formulation that it was built for."""
    return FORMULATIONS[model.formulation].of_model(model)


def second_order_of(model: Model, asking: str) -> AbstractSecondOrder:
    """The same for what needs mass, damping and stiffness apart, such as vibration modes."""
    found = formulation_of(model)
    if isinstance(found, AbstractSecondOrder):
        return found
    raise ArgumentError(
        f"{asking}: got a robot with formulation {model.formulation!r}; "
        "need formulation='strain', which has mass, damping and stiffness apart"
    )
