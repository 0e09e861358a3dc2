"""Close the loops of a robot: from a rough guess to a configuration in which its elasticity rests."""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import SolveError, StateError
from supple.mechanics.law_check import unusable_at
from supple.model.model import Model
from supple.solve.equilibrium import Rest, relax
from supple.system.active_set import open_by

CLOSED = 1e-9
"""A described shape closed to this (m) is taken as it is; steps close what is left."""

relaxed = jit(relax, quick=True)
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
        reason = unusable_at(model, jnp.asarray(q), jnp.zeros(model.nv), t)
        raise SolveError(f"{model.name}: {reason or open_message(model, rest)}")
    return rest


def _open_by(model: Model, q: Any, t: float) -> np.ndarray:
    """Sizes of the violations of the equations between coordinates (m)."""
    return np.abs(np.asarray(_violation(model, jnp.asarray(q), jnp.asarray(float(t)))))


def check_closed(model: Model, q: np.ndarray, t: float) -> None:
    """Raise :class:`StateError` unless all loops are closed at q."""
    left = _open_by(model, q, t)
    if left.max() > 1e-6:
        raise StateError(
            f"start: {equation_name(model, left)} is open by {left.max():.3g} m; need a closed one, "
            "such as assembled(robot, start=…) or equilibrium(robot, start=…)"
        )


def equation_name(model: Model, left: np.ndarray) -> str:
    """The closure or imposed coordinate with the largest violation."""
    row, closures = int(np.argmax(left)), model.closures
    if row < closures.size:
        return f"closure {closures.names[closures.joint_of_row[row]]!r}"
    if row < model.imposed_rows.start:
        return f"imposed coordinate {model.prescribed.names[row - model.prescribed_rows.start]!r}"
    own = model.transmissions
    driven = own.imposed[row - model.imposed_rows.start]
    return f"{own.kinds[driven]} {own.names[driven]!r}"


def open_message(model: Model, rest: Rest) -> str:
    """Which closure stays open, and by how much."""
    left = np.abs(np.asarray(rest.violation))
    return (
        f"{equation_name(model, left)} could not be closed, or the closed robot did not come to rest: "
        f"{left.max():.3g} m are left. Start nearer, or check lengths, frames and joint types"
    )
