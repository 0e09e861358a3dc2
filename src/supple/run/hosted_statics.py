"""Equilibria of robots that begin where their host is: from what is given, or from where the host rests."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of
from supple.run.equilibrium import Equilibrium, outcome
from supple.run.hosted import own_state
from supple.run.rest import guess_of, solve, solved, told
from supple.run.start import initial_state
from supple.solve.equilibrium import EquilibriumStatus


def hosted_equilibrium(
    model: Model, host: Model, initial: Any, t: float, first_increment: float
) -> Equilibrium:
    """From what is given, or else from where the host rests."""
    now, own = jnp.asarray(float(t)), own_state(model, initial)
    seen = formulation_of(model).of_host
    if own is None and not model.holonomic:
        guess = getattr(getattr(initial, "final", initial), "q", initial)
        own = seen(initial_state(host, guess, t=t))
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
            near = seen(State(now, held.q, held.v, held.v, forces))
            found = solve(model, near.q, now, 1.0, forces)
    assert found is not None
    status = EquilibriumStatus(int(found.status))
    status, message = told(model, found, now, status, None)
    return outcome(model, found, now, status, message)
