"""Runs and equilibria of robots whose rods are shot: where they begin, and what they take for a guess.

Starts and guesses come from the same robot in strain coordinates, seen at the nodes.
"""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import ArgumentError
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.shooting.formulation import StrongForm
from supple.shooting.parts import parts_of
from supple.shooting.start import resampled, sampled
from supple.time.alpha import ImplicitEuler
from supple.time.multistep import Multistep, bdf2, bdf_alpha
from supple.time.scheme import AbstractScheme


def is_shot(model: Model) -> bool:
    """Whether the rods of a model are shot."""
    return model.fields is not None


def seen_at_nodes(model: Model, state: State) -> State:
    """A state of the robot in strain coordinates as one of the record."""
    return sampled(model, parts_of(model).host, state)


def own_state(model: Model, initial: Any) -> State | None:
    """What was given to start from, where it is a state of rods that were shot; None otherwise."""
    held = getattr(initial, "model", None)
    if isinstance(initial, Result):
        initial = initial.final
    if not hasattr(initial, "q"):
        if np.shape(initial) != (model.nq,):
            return None
        initial = State(np.zeros(()), np.asarray(initial, dtype=float), np.zeros(model.nv), None)
    if np.shape(initial.q) != (model.nq,) and not (held is not None and is_shot(held)):
        return None
    t = np.asarray(float(getattr(initial, "t", 0.0)))
    q = np.asarray(initial.q)
    v = getattr(initial, "v", None)
    v = np.zeros(len(q)) if v is None else np.asarray(v)
    if held is not None and is_shot(held) and held.topology != model.topology:
        return resampled(model, held, State(t, q, v, np.zeros_like(v)))
    forces = getattr(initial, "multipliers", None)
    known = forces is not None and np.size(forces) == model.equations > 0
    v = v if len(v) == model.nv else np.zeros(model.nv)
    return State(t, q, v, np.zeros(model.nv), np.asarray(forces) if known else None)


def default_scheme(*, fixed: bool) -> AbstractScheme:
    """Where none is named."""
    return bdf_alpha(-0.2) if fixed else bdf2()


def check_scheme(scheme: AbstractScheme) -> AbstractScheme:
    """The scheme, which must not need accelerations to start with."""
    if isinstance(scheme, Multistep | ImplicitEuler):
        return scheme
    need = (
        "one that begins from positions and velocities: bdf2(), bdf_alpha(α), of which α = -0.5 is the "
        "trapezoidal rule, bdf3() or 'implicit-euler'; or formulation='strain'"
    )
    raise ArgumentError(f"scheme: got {scheme!r} for a robot whose rods are shot; need {need}")


def refuse(model: Model, asking: str, cure: str = "formulation='strain'") -> None:
    """Raise for what robots whose rods are shot do not offer."""
    if is_shot(model):
        raise ArgumentError(f"{asking}: got a robot with formulation 'shooting'; need {cure}")


def unloaded(model: Model) -> Model:
    """The robot without loads."""
    found = StrongForm(model).loaded(jnp.zeros(())).record
    host = replace(parts_of(found).host, load_factor=np.zeros(()))
    assert found.fields is not None
    fields = replace(found.fields, parts=replace(parts_of(found), host=host))
    return replace(found, fields=fields)
