"""A robot on which nothing does work cannot gain energy: the check that splits steps that claim so.

The α family is unconditionally stable only for linear robots, and even there its velocities overshoot after
a release, by about a hundredth of ω h. With steps far beyond a robot's periods either can multiply its
energy: after the snap of a prototype with ρ∞ = 0.5, by orders of magnitude within a tenth of a second. The
check costs one evaluation of the energies, and only in steps that do not follow their motion, for robots
without loads, actuators, internal stresses, driven joints and rods that grow, and for schemes with numerical
damping: those without (trapezoidal rule, Gauss) keep the energy of linear vibrations, and take the step they
are given. The work of imposed coordinates follows from their multipliers.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from supple.arrays import Array
from supple.mechanics.energy import energies
from supple.model.constraints import COORDINATE
from supple.model.joints import DrivenJoint
from supple.model.model import JointGroup, Model, RodGroup
from supple.model.state import State

ROUND_OFF = 1e-9
"""Energy (relative to its parts) below which a gain says nothing."""


RESOLVED = 0.1
"""Largest (ω h)² or so of a step that follows its motion: such a step cannot gain much."""


class Ledger(NamedTuple):
    """Energies (J) of the run so far."""

    start: Float[Array, ""]
    """Total at the start, and the work of imposed coordinates since."""
    lowest: Float[Array, ""]
    """Lowest elastic plus gravitational energy; the start's excess over it is what can move."""


def is_passive(model: Model) -> bool:
    """Whether nothing but gravity, elasticity, friction and imposed coordinates does work on the robot."""
    driven = any(
        isinstance(g, JointGroup) and isinstance(g.joint, DrivenJoint) for g in model.groups
    )
    growing = any(isinstance(g, RodGroup) and g.growth is not None for g in model.groups)
    pulled = model.transmissions.size > 0
    return not (
        model.regulators
        or model.loads
        or model.line_loads
        or model.stresses
        or driven
        or growing
        or pulled
    )


def open_ledger(model: Model, state: State) -> Ledger | None:
    """Ledger of a run that starts here; None if the robot is not passive."""
    if not is_passive(model):
        return None
    energy = energies(model, state.q, state.v, state.t)
    return Ledger(energy.total, energy.elastic + energy.potential)


def audit(
    model: Model,
    ledger: Ledger,
    before: State,
    after: State,
    tolerance: Float[Array, ""] | float,
) -> tuple[Ledger, Bool[Array, ""]]:
    """Ledger after a step, and whether the total stays within its start.

    The limit is the start plus ``tolerance`` times the energy that was free to move so far. Steps that
    follow their motion are not looked at: the look costs as much as a fifth of a cheap step.
    """
    if model.prescribed.size:
        ledger = ledger._replace(start=ledger.start + _work(model, before, after))
    h = after.t - before.t
    scale = jnp.asarray(model.scale)
    change = jnp.max(jnp.abs(h * (after.a - before.a) / scale))
    resolved = change <= RESOLVED * jnp.max(jnp.abs(after.v / scale))
    return lax.cond(
        resolved,
        lambda: (ledger, jnp.ones((), dtype=bool)),
        lambda: _look(model, ledger, after, tolerance),
    )


def _work(model: Model, before: State, after: State) -> Float[Array, ""]:
    """Work (J) of imposed coordinates in a step, by the trapezoidal rule."""
    imposed = model.prescribed
    assert before.multipliers is not None
    assert after.multipliers is not None
    forces = (before.multipliers + after.multipliers)[model.constraints.rows(COORDINATE)]
    moved = imposed.values(after.t) - imposed.values(before.t)
    return -jnp.sum(forces * imposed.scale * moved) / 2


def _look(
    model: Model, ledger: Ledger, state: State, tolerance: Float[Array, ""] | float
) -> tuple[Ledger, Bool[Array, ""]]:
    energy = energies(model, state.q, state.v, state.t)
    lowest = jnp.minimum(ledger.lowest, energy.elastic + energy.potential)
    parts = energy.kinetic + energy.elastic + jnp.abs(energy.potential)
    limit = tolerance * (ledger.start - lowest) + ROUND_OFF * parts
    return Ledger(ledger.start, lowest), energy.total - ledger.start <= limit
