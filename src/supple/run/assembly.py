"""Close the loops of a robot: from a rough guess to a configuration in which its elasticity rests."""

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import ArgumentError, SolveError
from supple.mechanics.element_motion import retract
from supple.mechanics.law_check import unusable_at
from supple.model.constraints import STOP
from supple.model.model import JointGroup, Model
from supple.robot.formulations import second_order_of
from supple.solve.equilibrium import EquilibriumStatus, Rest, Ways, relax
from supple.solve.least_squares import least_squares
from supple.system.active_set import open_by

CLOSED = 1e-9
"""A described shape closed to this (m) is taken as it is; steps close what is left."""


@partial(jit, quick=True)
def relaxed(model: Model, q: Any, t: Any, let_go: Any = None) -> Rest:
    """Where a model comes to rest, without the one-sided equations that are let go."""
    return relax(second_order_of(model, "relaxed"), q, t, ways_of(model), let_go)


def ways_of(model: Model) -> Ways:
    """What a relaxation should know of the coordinates of joints."""
    lengths, balls, unheld = [], [], []
    for group in model.groups:
        none = np.zeros(group.size * group.nv, dtype=bool)
        if isinstance(group, JointGroup):
            own = np.isin(np.arange(group.nv), group.joint.lengths)
            lengths.append(np.tile(own, group.size))
            balls.append(np.tile(~own & (group.nq != group.nv), group.size))
            unheld.append((jnp.asarray(group.stiffness) == 0.0).reshape(-1))
        else:
            lengths.append(none)
            balls.append(none)
            unheld.append(jnp.asarray(none))
    return Ways(np.concatenate(lengths), np.concatenate(balls), jnp.concatenate(unheld))


_violation = jit(open_by, quick=True)


FLAT = 0.05
"""Share of a gap that a turn by a radian closes, to first order, at a minimum."""
STARTS = 4
"""Places from which the nearest closed configuration is looked for."""


class Closest(NamedTuple):
    """A configuration whose equations are least violated, by how much (m), and whether all searches ended."""

    q: Any
    left: np.ndarray
    minimum: bool

    @property
    def closed(self) -> bool:
        """Whether it fulfils all equations."""
        return bool(self.left.max() < CLOSED)


def closest(model: Model, q: Any, t: Any) -> Closest:
    """The configuration near q in which the equations of a robot are least violated.

    From q, and from a few places around it where that does not close them: minima that are not zero in all
    of them tell that the robot cannot be closed here.
    """
    shifts = np.random.default_rng(0).normal(size=(STARTS, model.nv)) * np.asarray(model.scale)
    best = Closest(q, np.full(model.holonomic, np.inf), True)
    for size, shift in enumerate(shifts):
        near, left, slope = _closest(model, jnp.asarray(q), t, 0.2 * size * shift)
        left, minimum = np.abs(np.asarray(left)), best.minimum and float(slope) < FLAT
        best = best._replace(minimum=minimum)
        if np.all(np.isfinite(left)) and left.max() < best.left.max():
            best = Closest(near, left, minimum)
        if best.left.max() < 0.1 * CLOSED:
            break
    return best


def _least_violated(model: Model, q: Any, t: Any, shift: Any) -> Any:
    """The end of a search, what is left of the equations (m), and which share of it a unit could close."""
    scale = jnp.asarray(model.scale)

    def moved(q: Any, y: Any) -> Any:
        return retract(model, q, scale * y)

    def left(q: Any) -> Any:
        return open_by(model.frozen_at(t), q, t)

    none = jnp.zeros(model.nv)
    found = least_squares(left, moved, none, retract(model, q, shift), 300).x
    gap, slope = left(found), jax.jacfwd(lambda y: left(moved(found, y)))(none)
    steepest = jnp.max(jnp.abs(gap @ slope)) / jnp.maximum(jnp.sum(gap**2), 1e-300)
    return found, gap, steepest


_closest = jit(_least_violated, quick=True)


def closed_at_rest(model: Model, q: np.ndarray, t: float) -> Rest:
    """The configuration itself if it is closed, or else the unloaded robot closed near it, at rest.

    Raises :class:`SolveError` if it cannot be closed.
    """
    left = _open_by(model, q, t)
    if left.max() < CLOSED:
        zero = jnp.zeros(model.nv)
        return Rest(jnp.asarray(q), None, jnp.ones((), dtype=bool), left, zero, zero, zero)
    unloaded = model.without_loads()
    rest = relaxed(unloaded, jnp.asarray(q), jnp.asarray(float(t)))
    if bool(rest.came_to_rest) and _open_by(model, rest.q, t).max() > CLOSED:
        # Imposed lengths and volumes rise with the loads: only the loads themselves are left out then.
        weightless = dataclasses.replace(
            model, gravity=np.zeros(3), loads=(), line_loads=(), stresses=()
        )
        rest = relaxed(weightless, rest.q, jnp.asarray(float(t)))
    if not bool(rest.came_to_rest):  # what nothing holds may have gone far
        near = closest(model, q, jnp.asarray(float(t)))
        if near.closed:
            zero = jnp.zeros(model.nv)
            return Rest(near.q, None, jnp.ones((), dtype=bool), near.left, zero, zero, zero)
        reason = unusable_at(model, jnp.asarray(q), jnp.zeros(model.nv), t)
        raise SolveError(f"{model.name}: {reason or open_message(model, near)}")
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


def open_message(model: Model, near: Closest) -> str:
    """Which closure stays open, by how much, and whether that is so wherever the robot moves."""
    name, gap = equation_name(model, near.left), f"{near.left.max():.3g} m"
    cure = "Start nearer, or check lengths, frames and joint types"
    if near.minimum:
        told = EquilibriumStatus.CANNOT_CLOSE.message
        return f"{told}: no motion brings {name} nearer than {gap}. {cure}"
    return f"{name} could not be closed: {gap} are left. {cure}"
