"""Equilibria of robots whose rods are shot: from what is given, or from the robot in strain coordinates."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.model.model import Model
from supple.model.state import State
from supple.run.equilibrium import Equilibrium, outcome
from supple.run.rest import guess_of, solve, solved, told
from supple.run.shot import own_state, seen_at_nodes
from supple.run.start import initial_state
from supple.shooting.parts import parts_of
from supple.solve.equilibrium import EquilibriumStatus


def shot_equilibrium(model: Model, initial: Any, t: float, first_increment: float) -> Equilibrium:
    """From what is given, or else from where the robot in strain coordinates rests."""
    now, own = jnp.asarray(float(t)), own_state(model, initial)
    host = parts_of(model).host
    if own is None and not model.holonomic:
        guess = getattr(getattr(initial, "final", initial), "q", initial)
        own = seen_at_nodes(model, initial_state(host, guess, t=t))
    found = None
    if own is not None:
        forces = np.zeros(model.equations) if own.multipliers is None else own.multipliers
        forces = forces if model.equations else None
        found = solve(model, own.q, now, float(first_increment), forces)
    if found is None or int(found.status) == EquilibriumStatus.NOT_CONVERGED:
        first = None if own is not None else initial
        held = solved(host, guess_of(host, first, t), now, 1.0)
        if not held.ok and found is None:
            return replace(held, model=host)
        if held.ok:
            forces = held.multipliers if model.equations else None
            near = seen_at_nodes(model, State(now, held.q, held.v, held.v, forces))
            found = solve(model, near.q, now, 1.0, forces)
    assert found is not None
    status = EquilibriumStatus(int(found.status))
    status, message = told(model, found, now, status, None)
    return outcome(model, found, now, status, message)
