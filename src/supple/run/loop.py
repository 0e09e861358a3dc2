"""The loop of a run: compiled chunks, reports by the clock, writes to disk, interruption."""

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.errors import SuppleError
from supple.model.kinks import kinks_between
from supple.model.model import Model
from supple.results.result import Result, Stats
from supple.results.store import Store
from supple.results.stretch import Stretch
from supple.robot.formulations import formulation_of
from supple.run.crossings import Lookout, pending
from supple.run.events import Event
from supple.run.fallback import dense_motion
from supple.run.message import found_reason, run_message
from supple.run.python_controllers import ControllerFailed, Outside
from supple.time.advance import Cursor, Saved, Status, advance, instant, restart
from supple.time.control import ErrorControl, FixedStep, StepControl
from supple.time.scheme import AbstractScheme

Progress = Callable[[float, int], None]
"""Called with the simulated time (s) and the number of steps so far."""
Watch = Callable[[Result], None]
"""Called with the newest instants of a run that goes on."""

CHUNK = 256
"""Most steps between two looks at the clock."""
FIRST = 8
"""Steps before the first report, where reports are wanted."""
PERIOD = 0.25
"""Seconds between reports and between writes to a store, and the longest wait for Ctrl-C."""


@dataclass(frozen=True)
class Plan:
    """What a stretch of a run is to do, and who hears of it.

    A run with events is a sequence of stretches; ``begun`` and ``duration`` are those of the whole run.
    """

    model: Model
    scheme: AbstractScheme
    control: StepControl
    begun: float
    duration: float
    outside: Outside
    max_steps: int = 10_000_000
    progress: Progress | None = None
    watch: Watch | None = None
    disk: Store | None = None
    before: Stats | None = None
    """Of the run that this one continues, where it is not all in its instants."""
    description: Any = None
    accuracy: float | None = None
    """For the models of robots that events have edited."""
    events: Sequence[Event] = ()
    max_events: int = 1000
    earlier: tuple[Stretch, ...] = ()
    """The stretches before this one."""
    given: Any = None
    """The robot as it was given, where the rods of ``description`` are finer; ..."""
    resolution: dict[str, Any] | None = None
    """... and how fine, as plain data."""
    quiet: bool = False
    """Whether nothing is warned of."""

    @property
    def settings(self) -> dict[str, Any]:
        """What a result keeps, so that its run can be continued."""
        names = ["scheme", "control", "duration", "outside"]
        names += ["accuracy", "events", "max_events"] if self.events else []
        return {name: getattr(self, name) for name in names}

    @property
    def corners(self) -> list[float]:
        """Instants inside the run (s) that an error-controlled step must not cross."""
        if not isinstance(self.control, ErrorControl):
            return []
        end = self.begun + self.duration
        return kinks_between(self.model, self.begun, end)


class _Tape:
    """The instants of a run, chunk by chunk, in memory or on disk."""

    def __init__(self, past: Saved, disk: Store | None) -> None:
        self.chunks, self.disk, self.count = [past], disk, len(past.t)
        self.stored, self.stored_at = 1, 0.0
        """Chunks on disk, and since when: a write costs as much as many steps."""

    def write(self, cursor: Cursor, *, now: bool, **about: Any) -> None:
        """Write what is not on disk yet, if it is due; ``about`` counts from the same moment on."""
        due = now or clock.perf_counter() - self.stored_at >= PERIOD
        if self.disk is not None and due and self.stored < len(self.chunks):
            self.disk.append(_joined(self.chunks[self.stored :]), cursor, **about)
            self.chunks, self.stored = self.chunks[-1:], 1  # long runs would fill the memory
            self.stored_at = clock.perf_counter()
        elif self.disk is not None and about:
            self.disk.note(**about)

    def append(self, rows: Saved) -> None:
        """Further instants."""
        self.chunks.append(rows)
        self.count += len(rows.t)

    def __len__(self) -> int:
        return self.count

    def whole(self) -> Saved:
        """All instants."""
        return _joined(self.chunks) if self.disk is None else self.disk.saved()

    def cut(self, t: float) -> None:
        """Drop a chunk that goes beyond t: the run was interrupted before its cursor could follow."""
        newest = self.chunks[-1].t
        if len(newest) and newest[-1] > t:
            self.chunks.pop()


def _joined(chunks: list[Saved]) -> Saved:
    return Saved(*(np.concatenate(parts) for parts in zip(*chunks, strict=True)))


def _stats_of(parts: Sequence[Saved | Stretch]) -> Stats:
    """What instants tell of the steps that led to them; attempts count as steps here."""
    return Stats(
        steps=sum(int(part.substeps.sum()) for part in parts),
        newton_iterations=sum(int(part.newton.sum()) for part in parts),
    )


def first_step(control: StepControl, duration: float) -> jax.Array:
    """The step to begin with (s): that of the grid, or a small one that grows."""
    h = control.dt if isinstance(control, FixedStep) else min(control.largest, duration) * 1e-4
    return jnp.asarray(h, dtype=float)  # never weakly typed


def saved_at(cursor: Cursor) -> Saved:
    """The one instant of a cursor, as a chunk."""
    return Saved(*(np.asarray(x)[None] for x in instant(cursor)))


def carry_out(plan: Plan, cursor: Cursor, past: Saved) -> Result:
    """Go on from a cursor to the end of the plan, an event, a failure or Ctrl-C.

    Keeps everything computed so far. A stretch that events have ended says so, and its run is RUNNING.
    """
    model, outside = plan.model, plan.outside
    stop, corners = plan.begun + plan.duration, plan.corners
    tape, count = _Tape(past, plan.disk), len(past.t) - 1 + sum(map(len, plan.earlier))
    started = reported = clock.perf_counter()
    attempts = CHUNK if plan.progress is None and plan.watch is None else FIRST
    status, reason = Status.RUNNING, ""
    ended: tuple[int, ...] = ()
    before = _stats_of([*plan.earlier, past]) if plan.before is None else plan.before
    newton, attempts_made = before.newton_iterations, before.steps + before.rejected
    wait, lookout = None, None
    if plan.events:
        first = Saved(*(x[:1] for x in past))
        wait = pending(plan.events, model, first, plan.earlier)
        lookout = Lookout(model, wait, cursor, past) if wait.crossings else None

    def outcome(saved: Saved, earlier: tuple[Stretch, ...] = ()) -> Result:
        return Result(
            (*earlier, Stretch(model, *saved, description=plan.description, ended=ended)),
            status=status,
            message=run_message(model, status, cursor, reason),
            stats=Stats(
                attempts_made + int(cursor.substeps) - int(cursor.rejected),
                int(cursor.rejected),
                newton + int(cursor.newton),
                before.wall_seconds + clock.perf_counter() - started,
            ),
            settings=plan.settings,
            cursor=cursor,
        )

    try:
        while status == Status.RUNNING and count < plan.max_steps:
            now = float(cursor.state.t)
            if now >= stop:  # a run on disk that had come to its end
                status = Status.DONE
                break
            if wait is not None:
                ended = wait.due(now) + (wait.at_once if len(tape) == 1 else ())
                if ended:
                    break
            feedback, period = outside.react(model, cursor.state, cursor.feedback)
            cursor = cursor._replace(feedback=feedback)
            if now in corners or _jumps(plan, cursor, period):
                cursor = restart(formulation_of(model), plan.scheme, cursor)
            wall = min([c for c in corners if c > now] + [stop, outside.next_call()])
            if wait is not None:
                wall = min(wall, wait.next_time(now))
            if lookout is not None:
                lookout.settle(cursor)
            called = clock.perf_counter()
            after, rows = _advanced(plan, cursor, wall, min(attempts, plan.max_steps - count))
            fired: tuple[int, ...] = ()
            if lookout is not None and len(rows.t):
                hit = lookout.look(rows, partial(_ahead, plan), wall)
                if hit is not None:
                    rows = _joined([Saved(*(x[: hit.rows] for x in rows)), hit.more])
                    after, fired = hit.cursor, hit.fired
                elif int(after.substeps) and int(after.status) == Status.RUNNING:
                    # Back to the last instant: where events are found must not depend on chunks.
                    made = int(rows.substeps.sum()) - int(cursor.substeps)
                    after, _ = _ahead(plan, cursor, made, wall)
            tape.append(rows)
            cursor, count, ended = after, count + len(rows.t), fired
            newton += int(rows.newton.sum())
            attempts_made += int(rows.substeps.sum())
            status = Status(int(cursor.status))
            if status == Status.DONE and float(cursor.state.t) < stop:
                status = Status.RUNNING
                cursor = cursor._replace(status=jnp.zeros((), dtype=int))
            other = _instead(plan, cursor) if status == Status.NOT_CONVERGED else None
            if other is not None:
                plan, model, status = replace(plan, model=other), other, Status.RUNNING
                h = first_step(plan.control, plan.duration)
                cursor = cursor._replace(status=jnp.zeros((), dtype=int), h=h)
                cursor = restart(formulation_of(model), plan.scheme, cursor)
            if ended:
                break
            over, looked = status != Status.RUNNING, clock.perf_counter()
            if lookout is None or over or not int(cursor.substeps):
                tape.write(cursor, now=over)
            attempts = _next_attempts(attempts, looked - called)
            if over or looked - reported >= PERIOD:
                reported = looked
                if plan.progress is not None:
                    plan.progress(float(cursor.state.t), count)
                if plan.watch is not None and len(rows.t):
                    plan.watch(outcome(tape.chunks[-1]))
        if status == Status.RUNNING and not ended:
            status = Status.STEP_LIMIT
        status, reason = found_reason(model, status, cursor)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except ControllerFailed as error:
        status, reason = Status.BAD_INPUT, str(error)
    except SuppleError as error:
        if lookout is None:
            raise
        status, reason = Status.EDIT_FAILED, str(error)
    if lookout is not None and status in (Status.STEP_LIMIT, Status.INTERRUPTED):
        cursor = lookout.anchor if int(cursor.substeps) else cursor
    tape.cut(float(cursor.state.t))
    tape.write(cursor, now=True, **({"ended": list(ended)} if ended else {}))
    return outcome(tape.whole(), plan.earlier)


def _advanced(plan: Plan, cursor: Cursor, wall: float, attempts: int) -> tuple[Cursor, Saved]:
    """The cursor after so many attempts, at most at a time, and the instants on the way."""
    after, saved, found = advance(
        formulation_of(plan.model),
        plan.scheme,
        plan.control,
        CHUNK,
        cursor,
        jnp.asarray(plan.begun),
        jnp.asarray(wall),
        jnp.asarray(float(plan.duration)),
        jnp.asarray(attempts),
    )
    number = int(found)  # waits; a run interrupted here goes on from the cursor before
    return after, Saved(*(np.asarray(x)[:number] for x in saved))


def _instead(plan: Plan, cursor: Cursor) -> Model | None:
    """The model with other linear systems, where those at hand may be why a run failed."""
    h = plan.control.dt if isinstance(plan.control, FixedStep) else cursor.h
    return dense_motion(plan.model, cursor.state, h)


def _ahead(plan: Plan, cursor: Cursor, attempts: int | None, until: float) -> tuple[Cursor, Saved]:
    """As the run would go on from a cursor: by so many attempts, or (None) until a time."""
    chunks, left = [], attempts
    while left is None or left > 0:
        if cursor.one_sided is not None and bool(cursor.one_sided.caught):
            cursor = restart(formulation_of(plan.model), plan.scheme, cursor)
        some = CHUNK if left is None else min(left, CHUNK)
        before = int(cursor.substeps)
        cursor, rows = _advanced(plan, cursor, until, some)
        chunks.append(rows)
        if left is not None:
            left -= int(rows.substeps.sum()) + int(cursor.substeps) - before
        if int(cursor.status) != Status.RUNNING:
            break
    return cursor, _joined(chunks)


def _jumps(plan: Plan, cursor: Cursor, period: float) -> bool:
    """Whether accelerations jump here: a gap has closed, or a controller just called acts anew.

    Not for controllers called about every step of a run at fixed steps: there the scheme smooths them.
    """
    control, now = plan.control, float(cursor.state.t)
    sampled = isinstance(control, FixedStep) and period < 1.5 * control.dt and now > plan.begun
    caught = cursor.one_sided is not None and bool(cursor.one_sided.caught)
    return caught or (period > 0 and not sampled)


def _next_attempts(attempts: int, seconds: float) -> int:
    """Attempts that should take PERIOD, if the last took ``seconds``; changes at most fourfold."""
    wanted = attempts * PERIOD / max(seconds, 1e-9)
    return int(np.clip(wanted, max(attempts // 4, 1), min(4 * attempts, CHUNK)))
