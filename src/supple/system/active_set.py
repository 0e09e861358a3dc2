"""Tendons of imposed length that can only pull: each is taut or slack.

A taut one is as long as is imposed, its multiplier the tension: ℓ - goal = 0, T ≥ 0. A slack one is
shorter and has none: T = 0, ℓ - goal ≤ 0. A solve takes one of the two for granted; whoever asked for it
looks afterwards and, where that was wrong, asks again.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float

from supple.arrays import Array
from supple.mechanics.inverse_dynamics import violation
from supple.model.model import Model
from supple.model.state import State
from supple.system.forward_dynamics import (
    Acceleration,
    acceleration,
    project_velocity,
    start_motion,
    violation_rates,
)

CLOSE = 1e-9
"""Of a tendon's length: what it may be too long."""
WEAK = 1e-9
"""Tension (N) below which none is meant: round-off."""


def can_slack(model: Model) -> bool:
    """Whether some tendon of imposed length can only pull."""
    return len(_cables(model)) > 0


def one_sided(model: Model) -> int:
    """Number of equations that one active set speaks of; zero where none can be let go."""
    return len(model.transmissions.imposed) if can_slack(model) else 0


def hold(model: Model, taut: Bool[Array, " k"]) -> Model:
    """The model with these of its imposed coordinates taken for taut."""
    held = jnp.asarray(taut, dtype=float)
    return eqx.tree_at(lambda m: m.transmissions.imposing.taut, model, held)


def taut_at(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
) -> Bool[Array, " k"]:
    """Which imposed coordinates hold, judged by their tensions and lengths; a tendon just taut does."""
    tension, excess = _tension_and_excess(model, q, t, multipliers)
    return _always(model) | (tension > WEAK) | (excess > -_close(model))


def reconsider(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
    taut: Bool[Array, " k"],
) -> Bool[Array, " k"]:
    """Which should have been taken for taut after a solve that took ``taut`` for it."""
    tension, excess = _tension_and_excess(model, q, t, multipliers)
    return _always(model) | jnp.where(taut, tension > -WEAK, excess > _close(model))


def open_by(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None = None,
) -> Float[Array, " m"]:
    """How far the equations of a robot are from being fulfilled (m); a slack tendon's is."""
    return violation(as_it_is(model, q, t, multipliers), q, t)


def open_rates(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None = None,
) -> Float[Array, " m"]:
    """How fast the equations of a robot are being left (m/s): zero in an exact motion."""
    return violation_rates(as_it_is(model, q, t, multipliers), q, v, t)


def consistent_state(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None = None,
) -> tuple[State, Bool[Array, " k"] | None]:
    """A state with the velocity, acceleration and multipliers that it must have, and which tendons are taut.

    A tendon that becomes taut stops what lengthens it at once; one that would push is slack.
    """
    if not can_slack(model):
        return start_motion(model, q, v, t), None
    taut = taut_at(model, q, t, multipliers)
    own = model.imposed_rows
    lengthening = violation_rates(model, q, v, t)[own] > 0
    tension, _ = _tension_and_excess(model, q, t, multipliers)
    stopped = taut & (_always(model) | (tension > WEAK) | lengthening)
    v = project_velocity(hold(model, stopped), q, v, t)

    def pushes(s: tuple[Bool[Array, " k"], Acceleration, Bool[Array, ""]]) -> Bool[Array, ""]:
        return ~s[2]

    def release(
        s: tuple[Bool[Array, " k"], Acceleration, Bool[Array, ""]],
    ) -> tuple[Bool[Array, " k"], Acceleration, Bool[Array, ""]]:
        found = acceleration(hold(model, s[0]), q, v, t)
        assert found.multipliers is not None
        keeps = s[0] & (_always(model) | (found.multipliers[own] > -WEAK))
        return keeps, found, jnp.all(keeps == s[0])

    none = Acceleration(jnp.zeros(model.nv), jnp.zeros(model.equations))
    taut, found, _ = lax.while_loop(pushes, release, (taut, none, jnp.zeros((), dtype=bool)))
    return State(t, q, v, *found), taut


def as_it_is(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
) -> Model:
    """The model with the tendons held that are taut at a state."""
    return hold(model, taut_at(model, q, t, multipliers)) if can_slack(model) else model


def _tension_and_excess(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " m"] | None,
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    own = model.imposed_rows
    everything = hold(model, jnp.ones(len(model.transmissions.imposed), dtype=bool))
    excess = violation(everything, q, t)[own]
    return jnp.zeros_like(excess) if multipliers is None else multipliers[own], excess


def _cables(model: Model) -> np.ndarray:
    """Places of tendons that can only pull among the imposed coordinates."""
    own = model.transmissions
    return np.flatnonzero(np.array([own.cables[i] for i in own.imposed], dtype=bool))


def _always(model: Model) -> np.ndarray:
    """Imposed coordinates that hold whatever the sign of their effort."""
    return ~np.isin(np.arange(len(model.transmissions.imposed)), _cables(model))


def _close(model: Model) -> Float[Array, " k"]:
    law = model.transmissions.imposing
    assert law is not None
    return CLOSE * jnp.abs(law.scale * law.start)
