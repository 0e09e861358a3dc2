"""Fixed steps as pure functions: differentiable, batchable, with a status that is data.

Nothing is refined, repeated or thrown: a step that fails ends the motion, which stands still from there.
"""

from collections.abc import Callable
from dataclasses import replace
from math import isqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.model.constraints import ActiveSet
from supple.model.state import State
from supple.numeric import is_traced
from supple.solve.lockstep import Lockstep
from supple.system.active_set import CLOSE, should_hold
from supple.system.formulation import AbstractFormulation
from supple.system.implicit import SOLUTION
from supple.time.advance import MOST_CHANGES, Status, lawful
from supple.time.alpha import GeneralizedAlpha, ImplicitEuler
from supple.time.multistep import Multistep
from supple.time.scheme import AbstractScheme

FEW = 16
"""Steps up to which reverse mode keeps what it needs of each, instead of computing it again."""
KEPT = jax.checkpoint_policies.save_only_these_names(SOLUTION)
"""What reverse mode keeps of each step: where solves led, a few numbers. The rest follows without them."""
IDLE = 1e-6
"""Length of the steps of motions that have ended, over that of the others: they are easy, and not used."""


class Rollout(NamedTuple):
    """States after each step (leading axis) and the status; a failed run stands still."""

    states: State
    status: Int[Array, ""]
    completed: Int[Array, ""]
    """Number of steps that succeeded."""
    observations: Any = None
    """What was to be observed, after each step (leading axis)."""
    final: State | None = None
    """The last state."""

    @property
    def ok(self) -> Bool[Array, "*batch"]:
        """Whether it reached its end; in a batch, one for each member."""
        return self.status == Status.DONE

    def __str__(self) -> str:
        if is_traced(self.status):
            return "Rollout(traced)"
        kinds, counts = np.unique(np.asarray(self.status), return_counts=True)
        several = np.ndim(self.status) > 0
        told = (
            f"{f'{count} ' if several else ''}{Status(int(kind)).name}"
            for kind, count in zip(kinds, counts, strict=True)
        )
        steps = np.asarray(self.completed)
        span = f"{steps.min()}" if steps.min() == steps.max() else f"{steps.min()} … {steps.max()}"
        return f"Rollout({', '.join(told)}; {span} steps)"


class Stepped(NamedTuple):
    """A state that a step has led to, with all that the next one needs."""

    state: State
    status: Int[Array, ""]
    completed: Int[Array, ""]
    """Number of steps that succeeded."""
    memory: Any
    active: ActiveSet | None


def in_lockstep(scheme: AbstractScheme) -> AbstractScheme:
    """The scheme with its solves made for many motions side by side; itself where it has others."""
    if not isinstance(scheme, GeneralizedAlpha | ImplicitEuler | Multistep):
        return scheme
    own = scheme.newton
    return scheme if isinstance(own, Lockstep) else replace(scheme, newton=Lockstep(own.tolerance))


def begun(
    formulation: AbstractFormulation,
    scheme: AbstractScheme,
    state: State,
    status: Int[Array, ""] | Status = Status.DONE,
) -> Stepped:
    """The motion at its start, with velocities and accelerations that are allowed."""
    q, v = jnp.asarray(state.q), jnp.asarray(state.v)
    t = jnp.asarray(state.t, dtype=float)
    first, active = formulation.consistent_state(q, v, t, state.multipliers)
    status = jnp.where(lawful(formulation, first.t), status, Status.BAD_INPUT).astype(int)
    none = jnp.zeros((), dtype=int)
    return Stepped(first, status, none, scheme.start(formulation, first), active)


def stepped(
    formulation: AbstractFormulation, scheme: AbstractScheme, now: Stepped, h: Float[Array, ""]
) -> Stepped:
    """One step further, or where it was if that fails.

    Tendons that go slack or taut and joints that meet their stops do so at the ends of steps; derivatives are
    those of the motion with these events where they are.
    """
    alive = now.status == Status.DONE
    if isinstance(getattr(scheme, "newton", None), Lockstep):
        h = jnp.where(alive, h, IDLE * h)  # so that nobody waits for those that have ended
    settled = jnp.ones((), dtype=bool)
    active, own = now.active, formulation
    if active is not None:
        active, settled = _settled(formulation, scheme, now, h)
        active = jax.tree.map(lambda leaf: checkpoint_name(leaf, SOLUTION), active)
        own = formulation.with_active(active)
    step = scheme.step(own, now.state, now.memory, h, differentiable=True)
    usable = lawful(formulation, now.state.t + h)
    good = checkpoint_name(alive & step.converged & settled & usable, SOLUTION)
    status = jnp.where(alive & ~good, Status.NOT_CONVERGED, now.status)
    status = jnp.where(alive & ~usable, Status.BAD_INPUT, status)
    after, memory = step.state, step.memory
    if active is not None and now.active is not None:
        # What has just become active stops what would open it further.
        caught = jnp.any(active.held & ~now.active.held)
        fresh, first = formulation.consistent_state(after.q, after.v, after.t, after.multipliers)
        after, memory, active = _select(
            caught,
            (fresh, scheme.start(own, fresh), first),
            (after, memory, active),
        )
    kept = _select(good, (after, memory, active), (now.state, now.memory, now.active))
    after, memory, active = kept
    return Stepped(after, status, now.completed + good, memory, active)


Steered = Callable[[Stepped, Any], AbstractFormulation]
"""The formulation for the step that begins at a state, from this step's share of the inputs."""


def rolled_out(
    scheme: AbstractScheme,
    first: Stepped,
    h: Float[Array, ""],
    steps: int,
    steered: Steered,
    inputs: Any,
    observed: Callable[[AbstractFormulation, State], Any] | None,
) -> Rollout:
    """``steps`` fixed steps of ``h`` seconds, with ``inputs`` that have a leading axis of steps, or None.

    Reverse mode keeps the states at every √steps-th step and where each step's solve led, and computes what
    is between them again, without solving.
    """

    def once(now: Stepped, share: Any) -> tuple[Stepped, tuple[State, Any]]:
        formulation = steered(now, share)
        after = stepped(formulation, scheme, now, h)
        seen = None if observed is None else observed(formulation, after.state)
        return after, (after.state, seen)

    end, (states, seen) = _scanned(once, first, inputs, steps)
    return Rollout(states, end.status, end.completed, seen, end.state)


def _scanned(once: Any, first: Any, shares: Any, steps: int) -> Any:
    """``lax.scan``, in stretches of about √steps that reverse mode computes again."""
    if steps <= FEW:
        return lax.scan(once, first, shares, length=steps)
    length = isqrt(steps - 1) + 1
    count = -(-steps // length)
    missing = count * length - steps

    def padded(leaf: Array) -> Array:
        filled = jnp.concatenate([leaf, jnp.repeat(leaf[-1:], missing, axis=0)])
        return filled.reshape(count, length, *leaf.shape[1:])

    def maybe(now: Any, given: Any) -> Any:
        index, share = given
        if not missing:
            return once(now, share)
        shapes = jax.eval_shape(once, now, share)[1]
        nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        return lax.cond(index < steps, lambda: once(now, share), lambda: (now, nothing))

    def stretch(now: Any, given: Any) -> Any:
        return lax.scan(maybe, now, given, length=length)

    given = jnp.arange(count * length).reshape(count, length), jax.tree.map(padded, shares)
    again = jax.checkpoint(stretch, prevent_cse=False, policy=KEPT)
    end, rows = lax.scan(again, first, given, length=count)
    joined = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:steps], rows)
    return end, joined


def _settled(
    formulation: AbstractFormulation, scheme: AbstractScheme, now: Stepped, h: Float[Array, ""]
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
