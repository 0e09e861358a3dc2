"""A short run as one pure function: differentiable, batchable, with a status per member."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float, Int

from supple.arrays import Array
from supple.mechanics.law_check import laws_finite
from supple.model.model import Model
from supple.model.state import State
from supple.system.active_set import can_slack, reconsider
from supple.system.forward_dynamics import set_going
from supple.time.advance import Status
from supple.time.scheme import AbstractScheme


class Rollout(NamedTuple):
    """States after each step (leading axis) and the status; a failed run stands still."""

    states: State
    status: Int[Array, ""]
    completed: Int[Array, ""]
    """Number of steps that succeeded."""


def rollout(
    model: Model, state: State, scheme: AbstractScheme, dt: Float[Array, ""] | float, steps: int
) -> Rollout:
    """``steps`` fixed steps of ``dt`` seconds; for ``jax.jit``, ``vmap``, ``grad``, ``jacfwd``."""
    h = jnp.asarray(dt, dtype=float)
    q, v = jnp.asarray(state.q), jnp.asarray(state.v)
    t = jnp.asarray(state.t, dtype=float)
    begun = set_going(model, q, v, t)
    everything = jnp.ones(len(model.transmissions.imposed), dtype=bool)

    def once(carry, _):  # type: ignore[no-untyped-def]
        now, memory, status, count = carry
        step = scheme.step(model, now, memory, h, differentiable=True)
        alive = status == Status.DONE
        lawful = laws_finite(model, now.t + h)
        good = alive & step.converged & lawful
        status = jnp.where(alive & ~good, Status.NOT_CONVERGED, status)
        status = jnp.where(alive & ~lawful, Status.BAD_INPUT, status)
        if can_slack(model):
            end = step.state
            taut = reconsider(model, end.q, end.t, end.multipliers, everything)
            status = jnp.where(good & ~jnp.all(taut), Status.SLACK, status)
            good = good & jnp.all(taut)

        def keep(new: Any, old: Any) -> Any:
            return jax.tree.map(lambda a, b: jnp.where(good, a, b), new, old)

        after = keep(step.state, now)
        return (after, keep(step.memory, memory), status, count + good), after

    done = jnp.where(laws_finite(model, t), Status.DONE, Status.BAD_INPUT).astype(int)
    none = jnp.zeros((), dtype=int)
    carry = (begun, scheme.start(model, begun), done, none)
    (_, _, status, count), states = lax.scan(once, carry, None, length=steps)
    return Rollout(states, status, count)
