"""Where the elimination along a robot's graph cannot be trusted, one dense matrix takes over.

Pivots are chosen within a front, so that a matrix that is regular as a whole may have poor ones, and
refinement need not save every solution. A solve that failed beside such pivots is tried again with dense
matrices, where these are small enough; the model then says so.
"""

from functools import partial
from typing import Any

import jax.numpy as jnp

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of
from supple.system.combination import in_step
from supple.system.linear import FELL_BACK, with_dense_systems
from supple.system.second_order import AbstractSecondOrder


def dense_statics(model: Model, factors: Any) -> Model | None:
    """The model with dense matrices, if a static solve that ended with these factors wants them."""
    other = with_dense_systems(model)
    return other if other is not None and bool(factors.poor) else None


def dense_motion(model: Model, state: State, h: Any) -> Model | None:
    """The model with dense matrices, if steps from a state want them."""
    other = with_dense_systems(model)
    if other is None or not isinstance(formulation_of(model), AbstractSecondOrder):
        return None
    return other if bool(_doubtful(model, state, jnp.asarray(float(h)))) else None


@partial(jit, quick=True)
def _doubtful(model, state, h):  # type: ignore[no-untyped-def]
    """Whether the matrix of a step has poor pivots, or none."""
    formulation = formulation_of(model)
    assert isinstance(formulation, AbstractSecondOrder)
    zero = jnp.zeros(formulation.nv)
    c = Coordinates(state.q, zero, state.v, state.a, state.t, state.multipliers)
    systems = formulation.linearize(c, formulation.balance(c), (in_step(1 / h, 1 / h**2),))
    factors = systems[0].factorize()
    found = factors.solve(jnp.ones(formulation.nv + formulation.equations))
    return factors.poor | ~jnp.all(jnp.isfinite(found))


def fallback_note(model: Model) -> str:
    """What is said of a model that fell back; nothing of others."""
    return f"; linear systems: {model.linear}" if model.linear == FELL_BACK else ""
