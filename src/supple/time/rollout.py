"""A short run as one pure function: differentiable, batchable, with a status per member."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.model.constraints import ActiveSet
from supple.model.model import Model
from supple.model.state import State
from supple.system.active_set import CLOSE, should_hold
from supple.system.formulation import AbstractFormulation
from supple.system.strain import Strain
from supple.time.advance import MOST_CHANGES, Status, lawful
from supple.time.named import scheme_named
from supple.time.scheme import AbstractScheme


class Rollout(NamedTuple):
    """States after each step (leading axis) and the status; a failed run stands still."""

    states: State
    status: Int[Array, ""]
    completed: Int[Array, ""]
    """Number of steps that succeeded."""


class _Carry(NamedTuple):
    state: State
    memory: Any
    active: ActiveSet | None
    status: Int[Array, ""]
    completed: Int[Array, ""]


def rollout(
    model: Model | AbstractFormulation,
    state: State,
    scheme: AbstractScheme | str,
    dt: Float[Array, ""] | float,
    steps: int,
) -> Rollout:
    """``steps`` fixed steps of ``dt`` seconds; for ``jax.jit``, ``vmap``, ``grad``, ``jacfwd``.

    Tendons that go slack or taut and joints that meet their stops do so at the ends of steps; derivatives are
    those of the motion with these events where they are.
    """
    formulation = Strain(model) if isinstance(model, Model) else model
    scheme = scheme_named(scheme)
    h = jnp.asarray(dt, dtype=float)
    q, v = jnp.asarray(state.q), jnp.asarray(state.v)
    t = jnp.asarray(state.t, dtype=float)
    begun, active = formulation.consistent_state(q, v, t, state.multipliers)

    def once(now: _Carry, _: None) -> tuple[_Carry, State]:
        settled = jnp.ones((), dtype=bool)
        active, own = now.active, formulation
        if active is not None:
            active, settled = _settled(formulation, scheme, now, h)
            own = formulation.with_active(active)
        step = scheme.step(own, now.state, now.memory, h, differentiable=True)
        alive = now.status == Status.DONE
        usable = lawful(formulation, now.state.t + h)
        good = alive & step.converged & settled & usable
        status = jnp.where(alive & ~good, Status.NOT_CONVERGED, now.status)
        status = jnp.where(alive & ~usable, Status.BAD_INPUT, status)
        after, memory = step.state, step.memory
        if active is not None and now.active is not None:
            # What has just become active stops what would open it further.
            caught = jnp.any(active.held & ~now.active.held)
            fresh, first = formulation.consistent_state(
                after.q, after.v, after.t, after.multipliers
            )
            after, memory, active = _select(
                caught,
                (fresh, scheme.start(own, fresh), first),
                (after, memory, active),
            )
        kept = _select(good, (after, memory, active), (now.state, now.memory, now.active))
        after, memory, active = kept
        return _Carry(after, memory, active, status, now.completed + good), after

    done = jnp.where(lawful(formulation, begun.t), Status.DONE, Status.BAD_INPUT).astype(int)
    none = jnp.zeros((), dtype=int)
    carry = _Carry(begun, scheme.start(formulation, begun), active, done, none)
    end, states = lax.scan(once, carry, None, length=steps)
    return Rollout(states, end.status, end.completed)


def _settled(
    formulation: AbstractFormulation, scheme: AbstractScheme, now: _Carry, h: Float[Array, ""]
) -> tuple[ActiveSet, Bool[Array, ""]]:
    """The one-sided equations that are active in a step, and whether that could be found out."""
    formulation, now, h = lax.stop_gradient((formulation, now, h))
    assert now.active is not None
    close = CLOSE * formulation.length

    class Try(NamedTuple):
        held: Bool[Array, " k"]
        right: Bool[Array, ""]
        tries: Int[Array, ""]

    def going(s: Try) -> Bool[Array, ""]:
        return ~s.right & (s.tries < MOST_CHANGES)

    def attempt(s: Try) -> Try:
        own = formulation.with_active(ActiveSet(s.held, jnp.where(s.held, offset, 0.0)))
        seen = own.one_sided(scheme.step(own, now.state, now.memory, h).state)
        held = should_hold(seen, s.held, close)
        return Try(held, jnp.all(held == s.held), s.tries + 1)

    offset = jnp.where(now.active.held, now.active.offset, 0.0)
    start = Try(now.active.held, jnp.zeros((), dtype=bool), jnp.zeros((), dtype=int))
    end = lax.while_loop(going, attempt, start)
    return ActiveSet(end.held, jnp.where(end.held, offset, 0.0)), end.right


def _select(flag: Bool[Array, ""], new: Any, old: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)
