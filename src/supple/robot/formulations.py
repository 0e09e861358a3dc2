"""Formulations by name: how the rods of a robot are described, and what solvers see of its model."""

from collections.abc import Callable
from typing import NamedTuple

from supple.errors import DescriptionError
from supple.model.model import Model
from supple.robot.items import Rod
from supple.robot.pieces import in_pieces
from supple.system.second_order import AbstractSecondOrder
from supple.system.strain import Strain

DEFAULT = "strain"


class Formulation(NamedTuple):
    """One way to compute robots."""

    resolved: Callable[[Rod, float], Rod]
    """A rod with what is left open settled for an accuracy, as this formulation needs it."""
    of_model: Callable[[Model], AbstractSecondOrder]
    """What solvers see of a model."""
    about: str
    """In a few words, for people."""


FORMULATIONS: dict[str, Formulation] = {
    "strain": Formulation(
        Rod.settled, Strain, "strains on smooth functions along whole rods: few coordinates"
    ),
    "pcs": Formulation(
        in_pieces, Strain, "pieces of constant strain, in closed form: cost linear in their number"
    ),
}


def check_formulation(item: str, name: object) -> None:
    """Raise unless this is the name of a formulation."""
    if name not in FORMULATIONS:
        known = "; ".join(f"{key!r} ({one.about})" for key, one in FORMULATIONS.items())
        raise DescriptionError(item, "formulation", name, f"one of: {known}")


def formulation_of(model: Model) -> AbstractSecondOrder:
    """What solvers see of a model, by the formulation that it was built for."""
    return FORMULATIONS[model.formulation].of_model(model)
