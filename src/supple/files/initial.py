"""Where a study of a file starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.errors import ArgumentError, DescriptionError
from supple.mechanics.element_motion import neutral
from supple.model.model import Model
from supple.model.state import State
from supple.run.equilibrium import Equilibrium
from supple.run.start import initial_state
from supple.run.statics import assemble, equilibrium

PLACES = ("described", "assembled", "equilibrium")


@dataclass(frozen=True)
class Initial:
    """Where a run starts: as described, assembled (loops closed, unloaded) or in equilibrium; then changed.

    ``joints`` and ``coordinates`` set the joint of an item and the strain coordinates of a rod, by name;
    ``joint_rates`` and ``rates`` their velocities.
    """

    at: str = "described"
    joints: Mapping[str, Any] = field(default_factory=dict)
    coordinates: Mapping[str, Any] = field(default_factory=dict)
    joint_rates: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.at not in PLACES:
            raise DescriptionError("initial", "at", self.at, "one of: " + ", ".join(PLACES))

    def state(self, model: Model) -> State | Equilibrium | None:
        """The state, or None for the described one."""
        found = None
        if self.at != "described":
            found = (equilibrium if self.at == "equilibrium" else assemble)(model)
        if not any((self.joints, self.coordinates, self.joint_rates, self.rates)):
            return found
        q = np.array(neutral(model) if found is None else found.q)
        v = np.zeros(model.nv)
        topology = model.topology
        for given, slots, target in (
            (self.joints, topology.joint_slots, q),
            (self.coordinates, topology.rod_slots, q),
            (self.joint_rates, topology.joint_slots, v),
            (self.rates, topology.rod_slots, v),
        ):
            for name, values in given.items():
                slot = next((slot for slot in slots if slot.name == name), None)
                if slot is None:
                    known = ", ".join(slot.name for slot in slots) or "none"
                    raise ArgumentError(f"initial: got {name!r}; need one of: {known}")
                where = slot.q if target is q else slot.v
                numbers = np.atleast_1d(np.asarray(values, dtype=float))
                if numbers.shape != target[where].shape:
                    raise ArgumentError(
                        f"initial: {name}: got {len(numbers)} numbers; need {len(target[where])}"
                    )
                target[where] = numbers
        return initial_state(model, q, v)
