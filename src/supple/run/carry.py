"""Carry a state from one model to another: a tool picked up, an object let go, a load removed."""

import numpy as np

from supple.errors import ArgumentError
from supple.mechanics.local import neutral
from supple.model.model import Model
from supple.model.state import State


def carry_over(state: State, old: Model, new: Model) -> State:
    """The state of ``new`` in which every rod and joint it shares with ``old`` moves as before.

    Items that are new start at rest in their joints; items that are gone are dropped. An item of the
    same name with other coordinates (another basis, another joint) is an error.
    """
    q, v = neutral(new), np.zeros(new.nv)
    for kind in ("joint_slots", "rod_slots"):
        known = {slot.name: slot for slot in getattr(old.topology, kind)}
        for slot in getattr(new.topology, kind):
            before = known.get(slot.name)
            if before is None:
                continue
            sizes = [(s.q_stop - s.q_start, s.v_stop - s.v_start) for s in (before, slot)]
            if sizes[0] != sizes[1]:
                raise ArgumentError(
                    f"{slot.name}: got {sizes[0][1]} coordinates; need {sizes[1][1]}. "
                    "Items that stay must keep their basis and joint."
                )
            q[slot.q] = np.asarray(state.q)[before.q]
            v[slot.v] = np.asarray(state.v)[before.v]
    return State(np.asarray(float(state.t)), q, v, np.zeros(new.nv))
