"""Equations that hold in one direction only: which of them are active.

With gap g and multiplier λ: g ≤ 0, λ ≥ 0, and one of them vanishes. A tendon of imposed length that can only
pull is slack or has a tension, a joint is within its bounds or its stop pushes. A solve takes one of the two
for granted for each; whoever asked for it looks afterwards and, where that was wrong, asks again. In a run an
inactive equation whose gap closes is an impact: the step is shortened to end there, and velocities that
would open the gap further are taken away.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from supple.arrays import Array
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import gaps, gaps_in, violation
from supple.mechanics.kinematics import a_moment_later, kinematics
from supple.model.constraints import ActiveSet
from supple.model.model import Model
from supple.model.state import State
from supple.system.error_norm import characteristic_length
from supple.system.forward_dynamics import (
    acceleration,
    project_velocity,
    start_motion,
    violation_rates,
)

CLOSE = 1e-9
"""Of the robot's size: gaps (m) that are taken for closed."""
WEAK = 1e-9
"""Multiplier (N) below which none is meant: round-off."""


class OneSided(NamedTuple):
    """One-sided equations at a state: gaps (m), their rates (m/s), multipliers (N)."""

    gap: Float[Array, " k"]
    rate: Float[Array, " k"]
    force: Float[Array, " k"]


def hold(model: Model, active: ActiveSet | None) -> Model:
    """The model with these of its one-sided equations taken for active."""
    return model if active is None else dataclasses.replace(model, active=active)


def active_first(model: Model) -> ActiveSet | None:
    """What a solve that knows nothing takes for active: tendons are taut, stops far away."""
    table = model.constraints
    if len(table.one_sided) == 0:
        return None
    return ActiveSet(jnp.array(table.active_first), jnp.zeros(len(table.one_sided)))


def one_sided(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
) -> OneSided:
    """How the one-sided equations stand; without multipliers, as if none held."""
    rows = model.constraints.one_sided
    zero = jnp.zeros(model.nv)
    motion = kinematics(model.with_lengths_at(t), Coordinates(q, zero, v, zero, t))

    def later(s: Float[Array, ""]) -> Float[Array, " k"]:
        c = Coordinates(q, s * v, v, zero, t + s)
        return gaps_in(model, c, a_moment_later(motion, s))[rows]

    gap, rate = jax.jvp(later, (jnp.zeros(()),), (jnp.ones(()),))
    force = jnp.zeros_like(gap) if multipliers is None else multipliers[rows]
    return OneSided(gap, rate, force)


def should_hold(
    seen: OneSided, held: Bool[Array, " k"], close: Float[Array, ""] | float
) -> Bool[Array, " k"]:
    """Which should have been active, after a solve that took ``held`` for it."""
    return jnp.where(held, seen.force > -WEAK, seen.gap > close)


def active_at(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
    close: Float[Array, ""] | float,
) -> ActiveSet | None:
    """Which one-sided equations hold at rest, judged by gaps and multipliers; one just closed does."""
    rows = model.constraints.one_sided
    if len(rows) == 0:
        return None
    gap = gaps(model, q, t)[rows]
    force = jnp.zeros_like(gap) if multipliers is None else multipliers[rows]
    return ActiveSet((force > WEAK) | (gap > -close), jnp.zeros_like(gap))


def open_by(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None = None,
) -> Float[Array, " m"]:
    """Residual of the equations between coordinates (m): zero for one-sided ones that are let go."""
    held = active_at(model, q, t, multipliers, CLOSE * characteristic_length(model))
    return violation(hold(model, held), q, t)


def open_rates(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None = None,
) -> Float[Array, " m"]:
    """How fast the equations of a robot are being left (m/s): zero in an exact motion."""
    held = active_at(model, q, t, multipliers, CLOSE * characteristic_length(model))
    return violation_rates(hold(model, held), q, v, t)


def consistent_state(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
    near: Float[Array, ""] | float,
) -> tuple[State, ActiveSet | None]:
    """The state with which a motion begins, and which one-sided equations are active there.

    q is kept. Velocities that equations forbid are taken away as by an inelastic impact: those of loops,
    imposed motions and contacts always, those of one-sided equations where their gap is closed and closing
    further. Accelerations and multipliers follow from the balance; one-sided equations that would have to
    pull the wrong way are let go.
    """
    if active_first(model) is None:
        return start_motion(model, q, v, t), None
    fixed = lax.stop_gradient((model, q, v, t, multipliers, near))
    stopped, active = lax.stop_gradient(_sets_at_start(*fixed))
    v = project_velocity(hold(model, stopped), q, v, t)
    return State(t, q, v, *acceleration(hold(model, active), q, v, t)), active


def _sets_at_start(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
    near: Float[Array, ""] | float,
) -> tuple[ActiveSet, ActiveSet]:
    """Equations that stop velocities where a motion begins, and those that hold from there on."""
    seen = one_sided(model, q, v, t, multipliers)
    closed = (seen.gap > -near) | (seen.force > WEAK)
    stopped = ActiveSet(closed & ((seen.rate > 0) | (seen.force > WEAK)), seen.gap)
    v = project_velocity(hold(model, stopped), q, v, t)
    rate = one_sided(model, q, v, t, multipliers).rate

    def pulls(s: tuple[Bool[Array, " k"], Bool[Array, ""]]) -> Bool[Array, ""]:
        return ~s[1]

    def release(
        s: tuple[Bool[Array, " k"], Bool[Array, ""]],
    ) -> tuple[Bool[Array, " k"], Bool[Array, ""]]:
        found = acceleration(hold(model, ActiveSet(s[0], seen.gap)), q, v, t).multipliers
        assert found is not None
        keeps = s[0] & (found[model.constraints.one_sided] > -WEAK)
        return keeps, jnp.all(keeps == s[0])

    held = closed & (stopped.held | (rate >= -near))
    held, _ = lax.while_loop(pulls, release, (held, jnp.zeros((), dtype=bool)))
    return stopped, ActiveSet(held, jnp.where(held, seen.gap, 0.0))
