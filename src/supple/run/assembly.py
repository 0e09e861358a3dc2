"""Close the loops of a robot: from a rough guess to a configuration in which its elasticity rests."""

import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import ArgumentError, SolveError
from supple.model.constraints import STOP
from supple.model.model import Model
from supple.solve.equilibrium import Rest, relax
from supple.system.active_set import open_by
from supple.system.strain import Strain

CLOSED = 1e-9
"""A described shape closed to this (m) is taken as it is; steps close what is left."""


@partial(jit, quick=True)
def relaxed(model: Model, q: Any, t: Any) -> Rest:
    """Where a model comes to rest."""
    return relax(Strain(model), q, t)


_violation = jit(open_by, quick=True)


def closed_at_rest(model: Model, q: np.ndarray, t: float) -> Rest:
    """The configuration itself if it is closed, or else the unloaded robot closed near it, at rest.

    Raises :class:`SolveError` if it cannot be closed.
    """
    left = _open_by(model, q, t)
    if left.max() < CLOSED:
        return Rest(jnp.asarray(q), None, jnp.ones((), dtype=bool), left)
    unloaded = eqx.tree_at(lambda m: m.load_factor, model, np.zeros(()))
    rest = relaxed(unloaded, jnp.asarray(q), jnp.asarray(float(t)))
    if bool(rest.came_to_rest) and _open_by(model, rest.q, t).max() > CLOSED:
        # Imposed lengths and volumes rise with the loads: only the loads themselves are left out then.
        weightless = dataclasses.replace(
            model, gravity=np.zeros(3), loads=(), line_loads=(), stresses=()
        )
        rest = relaxed(weightless, rest.q, jnp.asarray(float(t)))
    if not bool(rest.came_to_rest):
        raise SolveError(f"{model.name}: {open_message(model, rest)}")
    return rest


def _open_by(model: Model, q: Any, t: float) -> np.ndarray:
    """Sizes of the violations of the equations between coordinates (m)."""
    return np.abs(np.asarray(_violation(model, jnp.asarray(q), jnp.asarray(float(t)))))


def check_closed(model: Model, q: np.ndarray, t: float) -> None:
    """Raise :class:`ArgumentError` unless all loops are closed at q."""
    left = _open_by(model, q, t)
    if left.max() > 1e-6 and model.constraints.kind[int(np.argmax(left))] == STOP:
        raise ArgumentError(
            f"initial: it is beyond the {equation_name(model, left)} by {left.max():.3g} (rad or m); "
            "need a start within the bounds of all joints"
        )
    if left.max() > 1e-6:
        raise ArgumentError(
            f"initial: {equation_name(model, left)} is open by {left.max():.3g} m; need a closed one, "
            "such as assemble(robot, initial=…) or equilibrium(robot, initial=…)"
        )


def equation_name(model: Model, left: np.ndarray) -> str:
    """Whose equation has the largest violation."""
    return model.constraints.owner[int(np.argmax(left))]


def open_message(model: Model, rest: Rest) -> str:
    """Which closure stays open, and by how much."""
    left = np.abs(np.asarray(rest.violation))
    return (
        f"{equation_name(model, left)} could not be closed, or the closed robot did not come to rest: "
        f"{left.max():.3g} m are left. Start nearer, or check lengths, frames and joint types"
    )
