"""Formulations that begin where another one is: what was given to start from, and what they do not offer.

Starts and guesses of such a robot come from its *host*, the same robot in other coordinates.
"""

from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.robot.formulations import formulation_of


def hosted(model: Model) -> bool:
    """Whether a robot's starts and guesses come from a host."""
    return formulation_of(model).host is not None


def own_state(model: Model, initial: Any) -> State | None:
    """What was given to start from, where it is a state of such a robot itself; None otherwise."""
    held = getattr(initial, "model", None)
    if isinstance(initial, Result):
        initial = initial.final
    if not hasattr(initial, "q"):
        if np.shape(initial) != (model.nq,):
            return None
        initial = State(np.zeros(()), np.asarray(initial, dtype=float), np.zeros(model.nv), None)
    other = held if held is not None and hosted(held) else None
    if np.shape(initial.q) != (model.nq,) and other is None:
        return None
    t = np.asarray(float(getattr(initial, "t", 0.0)))
    q = np.asarray(initial.q)
    v = getattr(initial, "v", None)
    v = np.zeros(len(q)) if v is None else np.asarray(v)
    if other is not None and other.topology != model.topology:
        return formulation_of(model).adopted(other, State(t, q, v, np.zeros_like(v)))
    forces = getattr(initial, "multipliers", None)
    known = forces is not None and np.size(forces) == model.equations > 0
    v = v if len(v) == model.nv else np.zeros(model.nv)
    return State(t, q, v, np.zeros(model.nv), np.asarray(forces) if known else None)


def refuse(model: Model, asking: str, cure: str = "formulation='strain'") -> None:
    """Raise for what such robots do not offer."""
    if hosted(model):
        raise ArgumentError(
            f"{asking}: got a robot with formulation {model.formulation!r}; need {cure}"
        )
