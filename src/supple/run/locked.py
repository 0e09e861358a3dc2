"""Loops that lock: free to move to first order, held to second, so that no finite force carries a load.

A straight rod that cannot stretch, between two places that cannot come nearer, is the plainest case: pulled
aside it would need an infinite tension. There the equations c(x) depend on each other, wᵀ c'(x) = 0 for a
self-stress w. Motions u with c' u = 0 meet wᵀ c''(u, u), and where that is of one sign they are impossible;
forces along them are met by no multipliers, since c'ᵀ λ has no part there.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates, retract
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.model.model import Model
from supple.system.active_set import open_by

LARGEST = 200
"""Unknowns of the largest robot that is looked at: the matrices are dense."""
CLOSED = 1e-9
"""Gap (m) up to which a loop is closed."""
DEPENDENT = 1e-9
"""Share of the largest singular value below which equations depend on each other."""
CURVED = 1e-6
"""Share of the largest curvature, over coordinates of unit size, from which on motions are held."""
FELT = 1e-8
"""Share of the forces on the robot from which on one along locked motions counts."""


def why_locked(model: Model, q: Any, t: Any) -> str | None:
    """Which loops lock a robot against what acts on it, and a cure; None where none do."""
    if not model.holonomic or len(model.constraints.one_sided) or model.nv > LARGEST:
        return None  # what may open does not lock
    at, now = jnp.asarray(q), jnp.asarray(t)
    gaps, first, force = (np.asarray(x) for x in _first_order(model, at, now))
    if not all(np.all(np.isfinite(x)) for x in (gaps, first, force)):
        return None
    if np.abs(gaps).max() > CLOSED:  # loops drawn open tell nothing of the closed robot
        return None
    left, sizes, right = np.linalg.svd(first)
    rank = int(np.sum(sizes > DEPENDENT * sizes.max(initial=0.0)))
    stresses, free = left[:, rank:], right[rank:].T
    if stresses.shape[1] == 0 or free.shape[1] == 0:
        return None
    for stress in stresses.T:
        second = np.asarray(_second_order(model, at, now, jnp.asarray(stress), jnp.asarray(free)))
        values, motions = np.linalg.eigh((second + second.T) / 2)
        held = np.abs(values) > CURVED * max(np.abs(values).max(), CURVED)
        if not np.any(held) or np.unique(np.sign(values[held])).size > 1:
            continue
        along = free @ motions[:, held]
        if np.linalg.norm(along.T @ force) > FELT * np.linalg.norm(force):
            return _told(model, np.abs(stress))
    return None


def _told(model: Model, share: np.ndarray) -> str:
    involved = np.flatnonzero(share > 1e-3 * share.max())
    owners = dict.fromkeys(np.array(model.constraints.owner)[involved].tolist())
    return (
        f"{' and '.join(owners)} lock the robot where it is: its rods lie so straight that they could only "
        "give by stretching, and no finite force carries what acts on them. Give them stretch "
        "(strains='reissner' or 'auto'), a curved rest shape, or a closing joint that slides"
    )


def _gaps(model: Model, q: Any, t: Any, y: Any) -> Any:
    return open_by(model, retract(model, q, jnp.asarray(model.scale) * y), t, None)


def _at_first_order(model: Model, q: Any, t: Any) -> tuple[Any, Any, Any]:
    """How far equations are open, how fast they open with unit coordinates, and the forces on these."""
    zero = jnp.zeros(model.nv)
    force = inverse_dynamics(model.frozen_at(t), Coordinates(q, zero, zero, zero, t))
    first = jax.jacfwd(lambda y: _gaps(model, q, t, y))(zero)
    return _gaps(model, q, t, zero), first, jnp.asarray(model.scale) * force


def _at_second_order(model: Model, q: Any, t: Any, stress: Any, free: Any) -> Any:
    """How a self-stress works to second order along free motions."""
    still = jnp.zeros(free.shape[1])
    return jax.hessian(lambda z: stress @ _gaps(model, q, t, free @ z))(still)


_first_order = jit(_at_first_order, quick=True)
_second_order = jit(_at_second_order, quick=True)
