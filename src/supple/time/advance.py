"""The compiled loop: advance a state through steps until a time, or by a number of attempts."""

import enum
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.compile import jit
from supple.mechanics.law_check import laws_finite
from supple.mechanics.local import fastest_turn
from supple.model.inputs import with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.system.active_set import can_slack, hold, reconsider, set_out
from supple.system.forward_dynamics import acceleration
from supple.time.control import ErrorControl, FixedStep, StepControl
from supple.time.feedback import Feedback, next_call, open_feedback, react
from supple.time.guard import Ledger, audit, is_passive, is_wild, open_ledger
from supple.time.scheme import AbstractScheme, Step

ACCUMULATION = 0.5
"""Errors of a run's n steps add up like n to this power: as a random walk, because vibrations turn their
sign. A step may therefore err by accuracy (h / duration)^ACCUMULATION."""
MOST_TURN = 2.0
"""Largest turn (rad) of a floating or spherical joint in a step chosen for an accuracy. A steady spin has no
error whatever the step, but beyond half a turn two orientations no longer tell which way it went."""
MOST_CHANGES = 8
"""Attempts at one step with other tendons taken for taut."""


class Status(enum.IntEnum):
    """How a run stands; the value says what to do next."""

    RUNNING = 0
    DONE = 1
    NOT_CONVERGED = 2
    INTERRUPTED = 4
    STEP_LIMIT = 5
    BAD_INPUT = 6
    SLACK = 7

    @property
    def message(self) -> str:
        """One sentence for people."""
        return {
            Status.RUNNING: "still running",
            Status.DONE: "reached the end",
            Status.NOT_CONVERGED: "a step did not converge at the smallest step allowed",
            Status.INTERRUPTED: "interrupted; continue from the last state",
            Status.STEP_LIMIT: "the limit on the number of steps was reached",
            Status.BAD_INPUT: "a controller or a law of time gave what cannot be used",
            Status.SLACK: "a tendon of imposed length would have to push, which rollouts cannot let go",
        }[self]


class Saved(NamedTuple):
    """A chunk of saved instants."""

    t: Float[Array, " n"]
    q: Float[Array, "n nq"]
    v: Float[Array, "n nv"]
    a: Float[Array, "n nv"]
    newton: Int[Array, " n"]
    """Newton iterations since the last instant."""
    substeps: Int[Array, " n"]
    """Attempted steps since the last instant (1 when nothing went wrong)."""
    update: Float[Array, " n"]
    """Scaled size of the last Newton update."""
    multipliers: Float[Array, "n m"]
    """Forces (N) of the model's equations."""
    inputs: Float[Array, "n k"]
    """What controllers said."""


class Taut(NamedTuple):
    """Which imposed coordinates a step takes for taut, and how often it has changed its mind."""

    held: Bool[Array, " n"]
    before: Bool[Array, " n"]
    """Those that were at the last state."""
    changes: Int[Array, ""]
    caught: Bool[Array, ""]
    """Whether one has just become taut: it stops what lengthens it, so the run must start anew there."""


class Cursor(NamedTuple):
    """Everything needed to go on: a run can stop at any cursor and continue from it."""

    state: State
    memory: Any
    h: Float[Array, ""]
    target: Int[Array, ""]
    """Fixed steps: index of the next grid instant."""
    status: Int[Array, ""]
    worst: Int[Array, ""]
    newton: Int[Array, ""]
    substeps: Int[Array, ""]
    rejected: Int[Array, ""]
    error: Float[Array, ""]
    """Previous error ratio, for the step controller."""
    ledger: Ledger | None
    """Energies so far, if the robot is passive and the scheme guarded."""
    feedback: Feedback
    """Inputs, and what controllers remember."""
    taut: Taut | None
    """Which tendons of imposed length are taut; None if they all must be."""


class _Loop(NamedTuple):
    cursor: Cursor
    saved: Saved
    filled: Int[Array, ""]
    tried: Int[Array, ""]


def begin(
    model: Model,
    scheme: AbstractScheme,
    state: State,
    h: Float[Array, ""],
    feedback: Feedback | None = None,
) -> Cursor:
    """Cursor at a state, its velocity consistent with closed loops, its acceleration with the loads."""
    forces = None
    if can_slack(model):
        forces = np.zeros(model.equations) if state.multipliers is None else state.multipliers
    t = jnp.asarray(state.t, dtype=float)
    feedback = open_feedback(model) if feedback is None else feedback
    return _begin(model, scheme, t, state.q, state.v, forces, h, feedback)


@partial(jit, quick=True, static_argnames=("scheme",))
def _begin(
    model: Model,
    scheme: AbstractScheme,
    t: Float[Array, ""],
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    multipliers: Float[Array, " n"] | None,
    h: Float[Array, ""],
    feedback: Feedback,
) -> Cursor:
    model = with_inputs(model, feedback.inputs)
    state, taut = set_out(model, q, v, t, multipliers)
    ledger = open_ledger(model, state) if scheme.guarded else None
    cursor = _cursor(model, scheme, state, taut, ledger, h, feedback)
    status = jnp.where(laws_finite(model, t), Status.RUNNING, Status.BAD_INPUT)
    return cursor._replace(status=status.astype(int))


def cursor_like(model: Model, scheme: AbstractScheme) -> Cursor:
    """Shapes of the cursors of a run."""

    def any_cursor() -> Cursor:
        one, zero = jnp.zeros(()), jnp.zeros(model.nv)
        forces = jnp.zeros(model.equations) if model.equations else None
        state = State(one, jnp.zeros(model.nq), zero, zero, forces)
        taut = jnp.ones(len(model.transmissions.imposed), dtype=bool) if can_slack(model) else None
        ledger = Ledger(one, one, one) if scheme.guarded and is_passive(model) else None
        return _cursor(model, scheme, state, taut, ledger, one, open_feedback(model))

    return jax.eval_shape(any_cursor)


def _cursor(
    model: Model,
    scheme: AbstractScheme,
    state: State,
    taut: Bool[Array, " n"] | None,
    ledger: Ledger | None,
    h: Float[Array, ""],
    feedback: Feedback,
) -> Cursor:
    zero = jnp.zeros((), dtype=int)
    return Cursor(
        state=state,
        memory=scheme.start(model, state),
        h=h,
        target=zero + 1,
        status=zero,
        worst=zero,
        newton=zero,
        substeps=zero,
        rejected=zero,
        error=jnp.ones(()),
        ledger=ledger,
        feedback=feedback,
        taut=None if taut is None else Taut(taut, taut, zero, zero > 0),
    )


def restart(model: Model, scheme: AbstractScheme, cursor: Cursor) -> Cursor:
    """The cursor after a load has jumped or bent, or a tendon become taut: no memory of the past."""
    fresh = begin(model, scheme, cursor.state, cursor.h, cursor.feedback)
    return cursor._replace(
        state=fresh.state, memory=fresh.memory, status=fresh.status, taut=fresh.taut
    )


@partial(jit, static_argnames=("scheme", "chunk"))
def advance(
    model: Model,
    scheme: AbstractScheme,
    control: StepControl,
    chunk: int,
    cursor: Cursor,
    start: Float[Array, ""],
    stop: Float[Array, ""],
    horizon: Float[Array, ""],
    attempts: Int[Array, ""],
) -> tuple[Cursor, Saved, Int[Array, ""]]:
    """Advance to ``stop`` or by so many attempted steps, at most ``chunk``; also says how many it saved.

    ``chunk`` is the size of what is saved, so another one compiles anew; ``attempts`` may change freely.
    ``horizon`` (s) is the duration over which an accuracy is wanted.
    """
    state = cursor.state
    empty = Saved(
        t=jnp.zeros(chunk),
        q=jnp.zeros((chunk, state.q.shape[0])),
        v=jnp.zeros((chunk, state.v.shape[0])),
        a=jnp.zeros((chunk, state.v.shape[0])),
        newton=jnp.zeros(chunk, dtype=int),
        substeps=jnp.zeros(chunk, dtype=int),
        update=jnp.zeros(chunk),
        multipliers=jnp.zeros((chunk, model.equations)),
        inputs=jnp.zeros((chunk, cursor.feedback.inputs.shape[0])),
    )

    def going(s: _Loop) -> Bool[Array, ""]:
        on = (s.tried < attempts) & (s.tried < chunk) & (s.cursor.status == Status.RUNNING)
        return on if s.cursor.taut is None else on & ~s.cursor.taut.caught

    def once(s: _Loop) -> _Loop:
        before, call = s.cursor, jnp.asarray(jnp.inf)
        if any(c.compiled for c in model.controls):
            before, call = _listen(model, scheme, control, s.cursor, start)
        now = with_inputs(model, before.feedback.inputs)
        if isinstance(control, FixedStep):
            cursor, save, update = _fixed(now, scheme, control, before, start, stop, call)
        else:
            cursor, save, update = _controlled(now, scheme, control, before, stop, call, horizon)
        if any(c.compiled for c in model.controls):
            usable = before.status == Status.RUNNING
            cursor, save = _select(usable, cursor, before), save & usable
        row = instant(cursor, update)
        # What is not to be kept is overwritten next time, or cut off at the end.
        saved = jax.tree.map(lambda kept, now: kept.at[s.filled].set(now), s.saved, row)
        zero = jnp.zeros((), dtype=int)
        cursor = cursor._replace(
            newton=jnp.where(save, zero, cursor.newton),
            substeps=jnp.where(save, zero, cursor.substeps),
        )
        return _Loop(cursor, saved, s.filled + save, s.tried + 1)

    none = jnp.zeros((), dtype=int)
    end = lax.while_loop(going, once, _Loop(cursor, empty, none, none))
    return end.cursor, end.saved, end.filled


def instant(cursor: Cursor, update: Float[Array, ""] | float = 0.0) -> Saved:
    """What is saved of a cursor, without the axis of instants."""
    state = cursor.state
    multipliers = jnp.zeros(0) if state.multipliers is None else state.multipliers
    return Saved(
        state.t,
        state.q,
        state.v,
        state.a,
        cursor.newton,
        cursor.substeps,
        update,
        multipliers,
        cursor.feedback.inputs,
    )


def _listen(
    model: Model,
    scheme: AbstractScheme,
    control: StepControl,
    c: Cursor,
    start: Float[Array, ""],
) -> tuple[Cursor, Float[Array, ""]]:
    """Call controllers that are due. Returns a cursor with the new inputs, and when the next one is due.

    Inputs that jump start anew from a consistent acceleration. Where a controller is called at every fixed
    step, steps go on as if its inputs were samples of something smooth: a fresh start would cost their order.
    """
    feedback, period = react(model, c.feedback, c.state, start)
    usable = jnp.all(jnp.isfinite(feedback.inputs))
    c = c._replace(
        feedback=feedback, status=jnp.where(usable, c.status, Status.BAD_INPUT).astype(int)
    )
    jumped = period > 0
    if isinstance(control, FixedStep):
        jumped = (period > 1.5 * control.dt) | (jumped & (c.state.t <= start))
    now = _held(with_inputs(model, feedback.inputs), c.taut)

    def fresh() -> tuple[State, Any]:
        old = c.state
        state = State(old.t, old.q, old.v, *acceleration(now, old.q, old.v, old.t))
        return state, scheme.start(now, state)

    state, memory = lax.cond(jumped & usable, fresh, lambda: (c.state, c.memory))
    return c._replace(state=state, memory=memory), next_call(model, feedback, start)


def _held(model: Model, taut: Taut | None) -> Model:
    """The model of the next attempt."""
    return model if taut is None else hold(model, taut.held)


def _look_again(
    model: Model, taut: Taut | None, solved: Bool[Array, ""], state: State
) -> tuple[Taut | None, Bool[Array, ""], Bool[Array, ""]]:
    """Whether tendons were rightly taken for taut or slack; whether to try the same step with others.

    Where it does not settle, shorter steps are tried.
    """
    if taut is None:
        return None, jnp.ones((), dtype=bool), jnp.zeros((), dtype=bool)
    now = reconsider(model, state.q, state.t, state.multipliers, taut.held)
    right = jnp.all(now == taut.held)
    again = solved & ~right & (taut.changes < MOST_CHANGES)
    held = jnp.where(again, now, taut.held)
    changes = jnp.where(again, taut.changes + 1, 0)
    return taut._replace(held=held, changes=changes), right, again


def _arrive(taut: Taut | None, good: Bool[Array, ""]) -> Taut | None:
    """What is taut after an attempt."""
    if taut is None:
        return None
    caught = good & jnp.any(taut.held & ~taut.before)
    return taut._replace(before=jnp.where(good, taut.held, taut.before), caught=caught)


def _select(flag: Bool[Array, ""], new: Any, old: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)


def _fixed(
    model: Model,
    scheme: AbstractScheme,
    control: FixedStep,
    c: Cursor,
    start: Float[Array, ""],
    stop: Float[Array, ""],
    call: Float[Array, ""],
) -> tuple[Cursor, Bool[Array, ""], Float[Array, ""]]:
    """One attempt towards the next grid instant, or the next call of a controller."""
    grid = start + c.target * control.dt
    call = jnp.where(jnp.abs(call - grid) < 1e-6 * control.dt, grid, call)
    goal = jnp.minimum(jnp.minimum(grid, stop), call)
    room = goal - c.state.t
    h = jnp.minimum(c.h, room)
    # A last sliver would cost a step of its own and amplify round-off.
    h = jnp.where(room - h < 1e-6 * control.dt, room, h)
    step = scheme.step(_held(model, c.taut), c.state, c.memory, h)
    lawful = laws_finite(model, c.state.t + h)
    solved = step.converged & _finite(step.state) & lawful
    taut, right, again = _look_again(model, c.taut, solved, step.state)
    good = solved & right
    hopeless = (h / 2 < control.dt * control.smallest) & ~again & ~good
    ledger = c.ledger
    # Splitting for energy's sake has an end: it must not fail a run that can go on.
    shortest = h / 2 < control.dt * control.smallest_for_energy
    if scheme.guarded:
        good = good & (~is_wild(model, c.state, step.state) | shortest)
    if ledger is not None:
        ledger, gain = audit(model, ledger, c.state, step.state, control.gain, c.target)
        good = good & ((gain <= 0.0) | shortest)
    arrived = good & (h == room)
    wanted = jnp.where(good, jnp.minimum(2 * h, control.dt), jnp.where(again, h, h / 2))
    cursor = _tried(c, step, taut, good, arrived, goal, stop, hopeless, lawful)
    # After a full step go on with full steps; inside a split step keep the shorter ones.
    wanted = jnp.where(arrived & (c.h >= control.dt), control.dt, wanted)
    cursor = cursor._replace(
        h=_next_h(cursor, h, wanted),
        # A run that ends between grid instants goes on to the next one when it is resumed.
        target=c.target + (arrived & (grid - goal < 1e-6 * control.dt)),
        ledger=_select(good, ledger, c.ledger),
    )
    return cursor, arrived & (goal >= jnp.minimum(grid, stop)), step.update


def _controlled(
    model: Model,
    scheme: AbstractScheme,
    control: ErrorControl,
    c: Cursor,
    stop: Float[Array, ""],
    call: Float[Array, ""],
    horizon: Float[Array, ""],
) -> tuple[Cursor, Bool[Array, ""], Float[Array, ""]]:
    """One attempt with the step the controller asks for, at most to the next call of a controller."""
    goal = jnp.minimum(stop, call)
    room = goal - c.state.t
    turning = MOST_TURN / jnp.maximum(fastest_turn(model, c.state.v), 1e-12)
    h = jnp.minimum(jnp.minimum(c.h, control.largest), turning)
    # Two equal steps to the end beat one long and one tiny one.
    h = jnp.where(h >= room, room, jnp.where(h > room / 2, room / 2, h))
    allowed = control.accuracy * (h / horizon) ** ACCUMULATION
    step = scheme.step(_held(model, c.taut), c.state, c.memory, h, budget=allowed)
    ratio = step.error / allowed
    lawful = laws_finite(model, c.state.t + h)
    solved = step.converged & _finite(step.state) & lawful
    taut, right, again = _look_again(model, c.taut, solved, step.state)
    good = solved & right & (ratio <= 1.0)
    arrived = good & (h == room)
    # Proportional-integral rule; the budget itself shrinks with h, hence the smaller power.
    power = scheme.error_order - ACCUMULATION
    now = jnp.maximum(ratio, 1e-10)
    growth = control.safety * now ** (-0.7 / power) * jnp.maximum(c.error, 1e-10) ** (0.3 / power)
    growth = jnp.where(
        good, jnp.clip(growth, 0.3, 4.0), jnp.clip(control.safety * now ** (-1.0 / power), 0.1, 0.8)
    )
    growth = jnp.where(again, 1.0, jnp.where(solved & right, growth, 0.35))
    # Slow convergence costs more than a shorter step.
    growth = jnp.where(good, jnp.minimum(growth, _affordable(step.iterations)), growth)
    hopeless = h * growth < control.smallest * horizon
    cursor = _tried(c, step, taut, good, arrived, goal, stop, hopeless, lawful)
    # A step cut short by the end says nothing about the step wanted after it.
    wanted = jnp.where(good & (h < 0.99 * c.h), jnp.maximum(h * growth, c.h), h * growth)
    cursor = cursor._replace(
        h=_next_h(cursor, h, wanted),
        target=c.target + good,
        error=jnp.where(good, now, c.error),
    )
    return cursor, good, step.update


def _tried(
    c: Cursor,
    step: Step,
    taut: Taut | None,
    good: Bool[Array, ""],
    arrived: Bool[Array, ""],
    goal: Float[Array, ""],
    stop: Float[Array, ""],
    hopeless: Bool[Array, ""],
    lawful: Bool[Array, ""],
) -> Cursor:
    """The cursor after an attempt, at ``goal`` if it has arrived; the next step is not chosen yet."""
    state = replace(step.state, t=jnp.where(arrived, goal, step.state.t))  # exactly
    status = jnp.where(
        good,
        jnp.where(arrived & (goal >= stop), Status.DONE, Status.RUNNING),
        jnp.where(hopeless, Status.NOT_CONVERGED, Status.RUNNING),
    )
    status = jnp.where(lawful, status, Status.BAD_INPUT)
    return c._replace(
        state=_select(good, state, c.state),
        memory=_select(good, step.memory, c.memory),
        status=status.astype(int),
        worst=step.worst,
        newton=c.newton + step.iterations,
        substeps=c.substeps + 1,
        rejected=c.rejected + ~good,
        taut=_arrive(taut, good),
    )


def _next_h(cursor: Cursor, tried: Float[Array, ""], wanted: Float[Array, ""]) -> Float[Array, ""]:
    """The next step, or the one with which a run failed: its end is where to look for the reason."""
    failed = (cursor.status == Status.NOT_CONVERGED) | (cursor.status == Status.BAD_INPUT)
    return jnp.where(failed, tried, wanted)


def _affordable(iterations: Int[Array, ""]) -> Float[Array, ""]:
    """Largest growth of the step after so many Newton iterations: none beyond eight."""
    return jnp.where(iterations <= 5, 4.0, jnp.where(iterations <= 8, 1.1, 0.8))


def _finite(state: State) -> Bool[Array, ""]:
    return jnp.all(jnp.isfinite(jnp.concatenate([state.q, state.v])))
