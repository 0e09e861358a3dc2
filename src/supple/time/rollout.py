"""A short run as one pure function: differentiable, batchable, with a status per member."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float, Int

from supple.arrays import Array
from supple.mechanics.forward_dynamics import acceleration, allowed_velocity
from supple.model.model import Model
from supple.model.state import State
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
    v = allowed_velocity(model, q, v, t)
    begun = State(t, q, v, *acceleration(model, q, v, t))

    def once(carry, _):  # type: ignore[no-untyped-def]
        now, memory, alive, count = carry
        step = scheme.step(model, now, memory, h, differentiable=True)
        good = alive & step.converged

        def keep(new: Any, old: Any) -> Any:
            return jax.tree.map(lambda a, b: jnp.where(good, a, b), new, old)

        after = keep(step.state, now)
        return (after, keep(step.memory, memory), good, count + good), after

    carry = (begun, scheme.start(model, begun), jnp.ones((), dtype=bool), jnp.zeros((), dtype=int))
    (_, _, alive, count), states = lax.scan(once, carry, None, length=steps)
    return Rollout(states, jnp.where(alive, Status.DONE, Status.NOT_CONVERGED), count)
