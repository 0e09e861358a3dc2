"""The compiled loop: advance a state through steps until a time, or by a number of attempts."""

import enum
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.compile import jit
from supple.mechanics.law_check import laws_finite
from supple.model.constraints import ActiveSet
from supple.model.state import State
from supple.system.active_set import CLOSE, should_hold
from supple.system.formulation import AbstractFormulation
from supple.time.control import ErrorControl, FixedStep, StepControl
from supple.time.energy_guard import EnergyBudget, audit, goes_far, is_passive, is_wild, open_budget
from supple.time.feedback import Feedback, next_call, open_feedback, react
from supple.time.scheme import AbstractScheme, Step

ACCUMULATION = 0.5
"""Errors of a run's n steps add up like n to this power: as a random walk, because vibrations turn their
sign. A step may therefore err by accuracy (h / duration)^ACCUMULATION."""
MOST_TURN = 2.0
"""Largest turn (rad) of a floating or spherical joint in a step chosen for an accuracy. A steady spin has no
error whatever the step, but beyond half a turn two orientations no longer tell which way it went."""
MOST_CHANGES = 12
"""Attempts at one step with other equations taken for active, or shortened to where a gap closes."""


class Status(enum.IntEnum):
    """How a run stands; the value says what to do next."""

    RUNNING = 0
    DONE = 1
    NOT_CONVERGED = 2
    INTERRUPTED = 4
    STEP_LIMIT = 5
    BAD_INPUT = 6
    SLACK = 7
    EDIT_FAILED = 8
    EVENT_LIMIT = 9
    OPEN = 10
    NOT_RESOLVED = 11

    @property
    def ok(self) -> bool:
        """Whether the run reached its end."""
        return self in (Status.DONE, Status.NOT_RESOLVED)

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
            Status.EDIT_FAILED: "an event could not edit the robot",
            Status.EVENT_LIMIT: "the limit on the number of events was reached",
            Status.NOT_RESOLVED: "reached the end, with a larger error than asked for",
            Status.OPEN: "a loop was open at the start, or could not be closed",
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


class OneSidedState(NamedTuple):
    """One-sided equations in a run: which are taken for active, and what a step found of them."""

    active: ActiveSet
    gap: Float[Array, " k"]
    """At the last state (m), ..."""
    rate: Float[Array, " k"]
    """... and how fast it closes (m/s)."""
    changes: Int[Array, ""]
    """How often the present step was tried again with others, or shorter."""
    caught: Bool[Array, ""]
    """Whether a gap has just closed: the run must start anew there, without what would open it further."""


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
    spent: Float[Array, ""]
    """Sum of the squares of the steps' errors; zero at fixed steps, which do not estimate any."""
    ledger: EnergyBudget | None
    """Energies so far, if the robot is passive and the scheme guarded."""
    feedback: Feedback
    """Inputs, and what controllers remember."""
    one_sided: OneSidedState | None
    """Which one-sided equations are active; None without any."""


class _Loop(NamedTuple):
    cursor: Cursor
    saved: Saved
    filled: Int[Array, ""]
    tried: Int[Array, ""]


def begin(
    formulation: AbstractFormulation,
    scheme: AbstractScheme,
    state: State,
    h: Float[Array, ""],
    feedback: Feedback | None = None,
) -> Cursor:
    """Cursor at a state, its velocity consistent with closed loops, its acceleration with the loads."""
    forces = None  # they only matter where they tell what is active
    if formulation.active_first is not None:
        known = state.multipliers
        forces = formulation.any_state().multipliers if known is None else known
    t = jnp.asarray(state.t, dtype=float)
    feedback = open_feedback(formulation) if feedback is None else feedback
    return _begin(formulation, scheme, t, state.q, state.v, forces, h, feedback)


@partial(jit, quick=True, static_argnames=("scheme",))
def _begin(
    formulation: AbstractFormulation,
    scheme: AbstractScheme,
    t: Float[Array, ""],
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    multipliers: Float[Array, " n"] | None,
    h: Float[Array, ""],
    feedback: Feedback,
) -> Cursor:
    formulation = formulation.with_inputs(feedback.inputs)
    state, active = formulation.consistent_state(q, v, t, multipliers)
    ledger = None
    if scheme.guarded and formulation.guarded is not None:
        ledger = open_budget(formulation.guarded, state)
    cursor = _cursor(formulation, scheme, state, active, ledger, h, feedback)
    status = jnp.where(lawful(formulation, t), Status.RUNNING, Status.BAD_INPUT)
    return cursor._replace(status=status.astype(int))


def lawful(formulation: AbstractFormulation, t: Float[Array, ""]) -> Bool[Array, ""]:
    """Whether all laws of time can be used at time t, as far as the formulation tells them."""
    model = formulation.guarded
    return jnp.ones((), dtype=bool) if model is None else laws_finite(model, t)


def cursor_like(formulation: AbstractFormulation, scheme: AbstractScheme) -> Cursor:
    """Shapes of the cursors of a run."""

    def any_cursor() -> Cursor:
        one, state = jnp.zeros(()), formulation.any_state()
        model = formulation.guarded
        watched = scheme.guarded and model is not None and is_passive(model)
        ledger = EnergyBudget(one, one, one, one) if watched else None
        active = formulation.active_first
        feedback = open_feedback(formulation)
        return _cursor(formulation, scheme, state, active, ledger, one, feedback)

    return jax.eval_shape(any_cursor)


def _cursor(
    formulation: AbstractFormulation,
    scheme: AbstractScheme,
    state: State,
    active: ActiveSet | None,
    ledger: EnergyBudget | None,
    h: Float[Array, ""],
    feedback: Feedback,
) -> Cursor:
    zero = jnp.zeros((), dtype=int)
    one_sided = None
    if active is not None:
        seen = formulation.one_sided(state)
        one_sided = OneSidedState(active, seen.gap, seen.rate, zero, zero > 0)
    return Cursor(
        state=state,
        memory=scheme.start(formulation, state),
        h=h,
        target=zero + 1,
        status=zero,
        worst=zero,
        newton=zero,
        substeps=zero,
        rejected=zero,
        error=jnp.ones(()),
        spent=jnp.zeros(()),
        ledger=ledger,
        feedback=feedback,
        one_sided=one_sided,
    )


def restart(formulation: AbstractFormulation, scheme: AbstractScheme, cursor: Cursor) -> Cursor:
    """The cursor after a load has jumped or bent, or a gap has closed: no memory of the past."""
    fresh = begin(formulation, scheme, cursor.state, cursor.h, cursor.feedback)
    return cursor._replace(
        state=fresh.state, memory=fresh.memory, status=fresh.status, one_sided=fresh.one_sided
    )


@partial(jit, static_argnames=("scheme", "chunk"))
def advance(
    formulation: AbstractFormulation,
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
        multipliers=jnp.zeros((chunk, 0 if state.multipliers is None else len(state.multipliers))),
        inputs=jnp.zeros((chunk, cursor.feedback.inputs.shape[0])),
    )

    def going(s: _Loop) -> Bool[Array, ""]:
        on = (s.tried < attempts) & (s.tried < chunk) & (s.cursor.status == Status.RUNNING)
        return on if s.cursor.one_sided is None else on & ~s.cursor.one_sided.caught

    def once(s: _Loop) -> _Loop:
        before, call = s.cursor, jnp.asarray(jnp.inf)
        if any(c.compiled for c in formulation.controls):
            before, call = _listen(formulation, scheme, control, s.cursor, start)
        now = formulation.with_inputs(before.feedback.inputs)
        if isinstance(control, FixedStep):
            cursor, save, update = _fixed(now, scheme, control, before, start, stop, call)
        else:
            cursor, save, update = _controlled(now, scheme, control, before, stop, call, horizon)
        if any(c.compiled for c in formulation.controls):
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
    formulation: AbstractFormulation,
    scheme: AbstractScheme,
    control: StepControl,
    c: Cursor,
    start: Float[Array, ""],
) -> tuple[Cursor, Float[Array, ""]]:
    """Call controllers that are due. Returns a cursor with the new inputs, and when the next one is due.

    Inputs that jump start anew from a consistent acceleration. Where a controller is called at every fixed
    step, steps go on as if its inputs were samples of something smooth: a fresh start would cost their order.
    """
    feedback, period = react(formulation, c.feedback, c.state, start)
    usable = jnp.all(jnp.isfinite(feedback.inputs))
    c = c._replace(
        feedback=feedback, status=jnp.where(usable, c.status, Status.BAD_INPUT).astype(int)
    )
    jumped = period > 0
    if isinstance(control, FixedStep):
        jumped = (period > 1.5 * control.dt) | (jumped & (c.state.t <= start))
    now = _held(formulation.with_inputs(feedback.inputs), c.one_sided)

    def fresh() -> tuple[State, Any]:
        state = now.with_acceleration(c.state)
        return state, scheme.start(now, state)

    state, memory = lax.cond(jumped & usable, fresh, lambda: (c.state, c.memory))
    return c._replace(state=state, memory=memory), next_call(formulation, feedback, start)


def _held(formulation: AbstractFormulation, now: OneSidedState | None) -> AbstractFormulation:
    """The formulation of the next attempt."""
    return formulation if now is None else formulation.with_active(now.active)


class _Look(NamedTuple):
    """What an attempt tells of the one-sided equations."""

    after: OneSidedState | None
    right: Bool[Array, ""]
    """Whether what was taken for active was so."""
    again: Bool[Array, ""]
    """Whether to try once more from the same state, ..."""
    h: Float[Array, ""]
    """... with this step."""


def _look(
    formulation: AbstractFormulation,
    now: OneSidedState | None,
    solved: Bool[Array, ""],
    state: State,
    h: Float[Array, ""],
) -> _Look:
    """Whether one-sided equations were rightly taken for active or not.

    One that had to pull the wrong way is let go, and the step tried again. Where a gap closed on the way, the
    step is shortened so that it ends there; where it was closed from the start, the run starts anew there.
    If that does not settle, shorter steps are tried.
    """
    yes, no = jnp.ones((), dtype=bool), jnp.zeros((), dtype=bool)
    if now is None:
        return _Look(None, yes, no, h)
    near = CLOSE * formulation.length
    seen, held = formulation.one_sided(state), now.active.held
    keeps = should_hold(seen, held, near)
    lets_go = held & ~keeps
    beyond = ~held & keeps
    blocked = jnp.any(beyond & (now.gap > -near) & (now.rate > near))
    # Newton from beyond the place where the gap closes.
    way = jnp.where(seen.rate > 0, seen.gap / jnp.where(seen.rate > 0, seen.rate, 1.0), h / 2)
    shorter = jnp.clip(h - jnp.max(jnp.where(beyond, way, 0.0)), 0.05 * h, 0.98 * h)
    right = ~jnp.any(lets_go | beyond)
    again = solved & ~right & ~blocked & (now.changes < MOST_CHANGES)
    freed = again & jnp.any(lets_go)
    arrived = ~held & (seen.gap > -near) & (seen.rate > 0)
    after = OneSidedState(
        active=now.active._replace(held=jnp.where(freed, held & ~lets_go, held)),
        gap=jnp.where(solved & right, seen.gap, now.gap),
        rate=jnp.where(solved & right, seen.rate, now.rate),
        changes=jnp.where(again, now.changes + 1, 0),
        caught=solved & (blocked | (right & jnp.any(arrived))),
    )
    return _Look(after, right, again, jnp.where(freed, h, shorter))


def _select(flag: Bool[Array, ""], new: Any, old: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)


def _fixed(
    formulation: AbstractFormulation,
    scheme: AbstractScheme,
    control: FixedStep,
    c: Cursor,
    start: Float[Array, ""],
    stop: Float[Array, ""],
    call: Float[Array, ""],
) -> tuple[Cursor, Bool[Array, ""], Float[Array, ""]]:
    """One attempt towards the next grid instant, or the next call of a controller."""
    grid = start + c.target * control.dt
    # An end that differs from a grid instant by round-off alone is one.
    grid = jnp.where(jnp.abs(grid - stop) < 1e-6 * control.dt, stop, grid)
    call = jnp.where(jnp.abs(call - grid) < 1e-6 * control.dt, grid, call)
    goal = jnp.minimum(jnp.minimum(grid, stop), call)
    room = goal - c.state.t
    h = jnp.minimum(c.h, room)
    # A last sliver would cost a step of its own and amplify round-off.
    h = jnp.where(room - h < 1e-6 * control.dt, room, h)
    step = scheme.step(_held(formulation, c.one_sided), c.state, c.memory, h)
    usable = lawful(formulation, c.state.t + h)
    solved = step.converged & _finite(step.state) & usable
    look = _look(formulation, c.one_sided, solved, step.state, h)
    good = solved & look.right
    hopeless = (h / 2 < control.dt * control.smallest) & ~look.again & ~_caught(look.after) & ~good
    # Splitting for energy's sake has an end: it must not fail a run that can go on.
    shortest = h / 2 < control.dt * control.smallest_for_energy
    ledger, model = c.ledger, formulation.guarded
    if scheme.guarded and model is not None:
        far = (c.h < control.dt) & goes_far(model, c.state, step.state)
        good = good & (~(is_wild(model, c.state, step.state) | far) | shortest)
    if ledger is not None:
        assert model is not None
        ledger, gain = audit(model, ledger, c.state, step.state, control.gain, c.target)
        good = good & ((gain <= 0.0) | shortest)
    arrived = good & (h == room)
    wanted = jnp.where(good, jnp.minimum(2 * h, control.dt), jnp.where(look.again, look.h, h / 2))
    cursor = _tried(c, step, look.after, good, arrived, goal, stop, hopeless, usable)
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
    formulation: AbstractFormulation,
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
    turning = MOST_TURN / jnp.maximum(formulation.fastest_turn(c.state.v), 1e-12)
    h = jnp.minimum(jnp.minimum(c.h, control.largest), turning)
    # Two equal steps to the end beat one long and one tiny one.
    h = jnp.where(h >= room, room, jnp.where(h > room / 2, room / 2, h))
    allowed = control.accuracy * (h / horizon) ** ACCUMULATION
    step = scheme.step(_held(formulation, c.one_sided), c.state, c.memory, h, budget=allowed)
    ratio = step.error / allowed
    usable = lawful(formulation, c.state.t + h)
    solved = step.converged & _finite(step.state) & usable
    look = _look(formulation, c.one_sided, solved & (ratio <= 1.0), step.state, h)
    good = solved & look.right & (ratio <= 1.0)
    arrived = good & (h == room)
    # Proportional-integral rule; the budget itself shrinks with h, hence the smaller power.
    power = scheme.error_order - ACCUMULATION
    now = jnp.maximum(ratio, 1e-10)
    growth = control.safety * now ** (-0.7 / power) * jnp.maximum(c.error, 1e-10) ** (0.3 / power)
    growth = jnp.where(
        good, jnp.clip(growth, 0.3, 4.0), jnp.clip(control.safety * now ** (-1.0 / power), 0.1, 0.8)
    )
    growth = jnp.where(look.again, look.h / h, jnp.where(solved & look.right, growth, 0.35))
    # Slow convergence costs more than a shorter step.
    growth = jnp.where(good, jnp.minimum(growth, _affordable(step.iterations)), growth)
    hopeless = (h * growth < control.smallest * horizon) & ~_caught(look.after)
    cursor = _tried(c, step, look.after, good, arrived, goal, stop, hopeless, usable)
    # A step cut short by the end says nothing about the step wanted after it.
    wanted = jnp.where(good & (h < 0.99 * c.h), jnp.maximum(h * growth, c.h), h * growth)
    cursor = cursor._replace(
        h=_next_h(cursor, h, wanted),
        target=c.target + good,
        error=jnp.where(good, now, c.error),
        spent=c.spent + jnp.where(good, step.error**2, 0.0),
    )
    return cursor, good, step.update


def _tried(
    c: Cursor,
    step: Step,
    one_sided: OneSidedState | None,
    good: Bool[Array, ""],
    arrived: Bool[Array, ""],
    goal: Float[Array, ""],
    stop: Float[Array, ""],
    hopeless: Bool[Array, ""],
    usable: Bool[Array, ""],
) -> Cursor:
    """The cursor after an attempt, at ``goal`` if it has arrived; the next step is not chosen yet."""
    state = replace(step.state, t=jnp.where(arrived, goal, step.state.t))  # exactly
    status = jnp.where(
        good,
        jnp.where(arrived & (goal >= stop), Status.DONE, Status.RUNNING),
        jnp.where(hopeless, Status.NOT_CONVERGED, Status.RUNNING),
    )
    status = jnp.where(usable, status, Status.BAD_INPUT)
    return c._replace(
        state=_select(good, state, c.state),
        memory=_select(good, step.memory, c.memory),
        status=status.astype(int),
        worst=step.worst,
        newton=c.newton + step.iterations,
        substeps=c.substeps + 1,
        rejected=c.rejected + ~good,
        one_sided=one_sided,
    )


def _caught(after: OneSidedState | None) -> Bool[Array, ""]:
    return jnp.zeros((), dtype=bool) if after is None else after.caught


def _next_h(cursor: Cursor, tried: Float[Array, ""], wanted: Float[Array, ""]) -> Float[Array, ""]:
    """The next step, or the one with which a run failed: its end is where to look for the reason."""
    failed = (cursor.status == Status.NOT_CONVERGED) | (cursor.status == Status.BAD_INPUT)
    return jnp.where(failed, tried, wanted)


def _affordable(iterations: Int[Array, ""]) -> Float[Array, ""]:
    """Largest growth of the step after so many Newton iterations: none beyond eight."""
    return jnp.where(iterations <= 5, 4.0, jnp.where(iterations <= 8, 1.1, 0.8))


def _finite(state: State) -> Bool[Array, ""]:
    return jnp.all(jnp.isfinite(jnp.concatenate([state.q, state.v])))
