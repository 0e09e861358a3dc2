"""A short run as one pure function: differentiable, batchable, with a status per member."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float, Int

from supple.arrays import Array
from supple.model.model import Model
from supple.model.state import State
from supple.system.formulation import AbstractFormulation, everything_active
from supple.system.strain import Strain
from supple.time.advance import Status
from supple.time.scheme import AbstractScheme


class Rollout(NamedTuple):
    """States after each step (leading axis) and the status; a failed run stands still."""

    states: State
    status: Int[Array, ""]
    completed: Int[Array, ""]
    """Number of steps that succeeded."""


def rollout(
    model: Model | AbstractFormulation,
    state: State,
    scheme: AbstractScheme,
    dt: Float[Array, ""] | float,
    steps: int,
) -> Rollout:
    """``steps`` fixed steps of ``dt`` seconds; for ``jax.jit``, ``vmap``, ``grad``, ``jacfwd``."""
    h = jnp.asarray(dt, dtype=float)
    q, v = jnp.asarray(state.q), jnp.asarray(state.v)
    t = jnp.asarray(state.t, dtype=float)
    formulation = Strain(model) if isinstance(model, Model) else model
    everything = everything_active(formulation)
    begun, _ = formulation.consistent_state(q, v, t, state.multipliers)

    def once(carry, _):  # type: ignore[no-untyped-def]
        now, memory, status, count = carry
        step = scheme.step(formulation, now, memory, h, differentiable=True)
        alive = status == Status.DONE
        good = alive & step.converged
        status = jnp.where(alive & ~good, Status.NOT_CONVERGED, status)
        if everything is not None:
            taut = formulation.reconsider(step.state, everything)
            status = jnp.where(good & ~jnp.all(taut), Status.SLACK, status)
            good = good & jnp.all(taut)

        def keep(new: Any, old: Any) -> Any:
            return jax.tree.map(lambda a, b: jnp.where(good, a, b), new, old)

        after = keep(step.state, now)
        return (after, keep(step.memory, memory), status, count + good), after

    done, none = jnp.full((), Status.DONE, dtype=int), jnp.zeros((), dtype=int)
    carry = (begun, scheme.start(formulation, begun), done, none)
    (_, _, status, count), states = lax.scan(once, carry, None, length=steps)
    return Rollout(states, status, count)
