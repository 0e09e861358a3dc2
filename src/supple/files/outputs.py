"""What a file reports of a result, by names of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from supple.numeric import asarray

ENERGIES = ("kinetic", "elastic", "potential", "total")
QUANTITIES: dict[str, Callable[[Any, str], Any]] = {
    "position": lambda result, name: result.position(name),
    "joint": lambda result, name: result.joint(name).position,
    "coordinates": lambda result, name: result.coordinates(name),
    "shape": lambda result, name: result.shape(name).position,
    "tendon_length": lambda result, name: result.tendon(name).length,
    "tension": lambda result, name: result.tendon(name).tension,
    "volume": lambda result, name: result.chamber(name).volume,
    "pressure": lambda result, name: result.chamber(name).pressure,
    "motor_torque": lambda result, name: result.motor(name).torque,
    "spring_tension": lambda result, name: result.spring(name).tension,
    "effort": lambda result, name: result.effort(name),
    "closure": lambda result, name: result.closure(name),
    "reaction": lambda result, name: result.reaction(name),
    "internal_wrench": lambda result, name: result.internal_wrench(name),
    "contact": lambda result, name: result.contact(name),
    "input": lambda result, name: result.input(name),
    "energy": lambda result, name: getattr(result.energies, name),
}
"""What a result can report about a named thing (energy: one of ENERGIES)."""


@dataclass(frozen=True)
class Output:
    """One quantity of one item."""

    quantity: str
    of: str

    def __call__(self, result: Any) -> Any:
        """Its values, over time where the result has instants."""
        return asarray(QUANTITIES[self.quantity](result, self.of))
