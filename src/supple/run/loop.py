"""The loop of a run: compiled chunks, reports by the clock, writes to disk, interruption."""

import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.model.model import Model
from supple.results.result import Result, Stats
from supple.results.store import Store
from supple.run.message import found_reason, run_message
from supple.run.outside import ControllerFailed, Outside
from supple.system.strain import Strain
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
    """What a run is to do, and who hears of it."""

    model: Model
    scheme: AbstractScheme
    control: StepControl
    duration: float
    outside: Outside
    max_steps: int = 10_000_000
    progress: Progress | None = None
    watch: Watch | None = None
    disk: Store | None = None
    before: Stats | None = None
    """Of the run that this one continues, where it is not all in its instants."""
    description: Any = None

    @property
    def settings(self) -> dict[str, Any]:
        """What a result keeps, so that its run can be continued."""
        return {name: getattr(self, name) for name in ("scheme", "control", "duration", "outside")}

    def corners(self, begun: float) -> list[float]:
        """Instants inside the run (s) that an error-controlled step must not cross."""
        if not isinstance(self.control, ErrorControl):
            return []
        return [c for c in self.model.corners if begun < c < begun + self.duration]


class _Tape:
    """The instants of a run, chunk by chunk, in memory or on disk."""

    def __init__(self, past: Saved, disk: Store | None) -> None:
        self.chunks, self.disk = [past], disk
        self.stored, self.stored_at = 1, 0.0
        """Chunks on disk, and since when: a write costs as much as many steps."""

    def write(self, cursor: Cursor, *, now: bool) -> None:
        """Write what is not on disk yet, if it is due."""
        due = now or clock.perf_counter() - self.stored_at >= PERIOD
        if self.disk is not None and due and self.stored < len(self.chunks):
            self.disk.append(_joined(self.chunks[self.stored :]), cursor)
            self.chunks, self.stored = self.chunks[-1:], 1  # long runs would fill the memory
            self.stored_at = clock.perf_counter()

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


def _stats_of(past: Saved) -> Stats:
    """What instants tell of the steps that led to them; attempts count as steps here."""
    return Stats(steps=int(past.substeps.sum()), newton_iterations=int(past.newton.sum()))


def saved_at(cursor: Cursor) -> Saved:
    """The one instant of a cursor, as a chunk."""
    return Saved(*(np.asarray(x)[None] for x in instant(cursor)))


def carry_out(plan: Plan, cursor: Cursor, past: Saved) -> Result:
    """Go on from a cursor to the end of the plan, a failure or Ctrl-C; keeps everything computed so far."""
    model, outside = plan.model, plan.outside
    formulation = Strain(model)
    begun = float(past.t[0])
    stop, corners = begun + plan.duration, plan.corners(begun)
    tape, count = _Tape(past, plan.disk), len(past.t) - 1
    started = reported = clock.perf_counter()
    attempts = CHUNK if plan.progress is None and plan.watch is None else FIRST
    status, reason = Status.RUNNING, ""
    before = _stats_of(past) if plan.before is None else plan.before
    newton, attempts_made = before.newton_iterations, before.steps + before.rejected

    def outcome(saved: Saved) -> Result:
        return Result(
            model=model,
            **saved._asdict(),
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
            description=plan.description,
        )

    try:
        while status == Status.RUNNING and count < plan.max_steps:
            now = float(cursor.state.t)
            if now >= stop:  # a run on disk that had come to its end
                status = Status.DONE
                break
            feedback, period = outside.react(model, cursor.state, cursor.feedback)
            cursor = cursor._replace(feedback=feedback)
            if now in corners or _jumps(plan, cursor, period, begun):
                cursor = restart(formulation, plan.scheme, cursor)
            wall = min([c for c in corners if c > now] + [stop, outside.next_call()])
            called = clock.perf_counter()
            after, saved, found = advance(
                formulation,
                plan.scheme,
                plan.control,
                CHUNK,
                cursor,
                jnp.asarray(begun),
                jnp.asarray(wall),
                jnp.asarray(float(plan.duration)),
                jnp.asarray(min(attempts, plan.max_steps - count)),
            )
            number = int(found)  # waits; a run interrupted here goes on from the cursor before
            tape.chunks.append(Saved(*(np.asarray(x)[:number] for x in saved)))
            cursor, count = after, count + number
            newton += int(tape.chunks[-1].newton.sum())
            attempts_made += int(tape.chunks[-1].substeps.sum())
            status = Status(int(cursor.status))
            if status == Status.DONE and wall < stop:
                status = Status.RUNNING
                cursor = cursor._replace(status=jnp.zeros((), dtype=int))
            ended, looked = status != Status.RUNNING, clock.perf_counter()
            tape.write(cursor, now=ended)
            attempts = _next_attempts(attempts, looked - called)
            if ended or looked - reported >= PERIOD:
                reported = looked
                if plan.progress is not None:
                    plan.progress(float(cursor.state.t), count)
                if plan.watch is not None and number:
                    plan.watch(outcome(tape.chunks[-1]))
        if status == Status.RUNNING:
            status = Status.STEP_LIMIT
        status, reason = found_reason(model, status, cursor)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except ControllerFailed as error:
        status, reason = Status.BAD_INPUT, str(error)
    tape.cut(float(cursor.state.t))
    tape.write(cursor, now=True)
    return outcome(tape.whole())


def _jumps(plan: Plan, cursor: Cursor, period: float, begun: float) -> bool:
    """Whether accelerations jump here: a gap has closed, or a controller just called acts anew.

    Not for controllers called about every step of a run at fixed steps: there the scheme smooths them.
    """
    control, now = plan.control, float(cursor.state.t)
    sampled = isinstance(control, FixedStep) and period < 1.5 * control.dt and now > begun
    caught = cursor.one_sided is not None and bool(cursor.one_sided.caught)
    return caught or (period > 0 and not sampled)


def _next_attempts(attempts: int, seconds: float) -> int:
    """Attempts that should take PERIOD, if the last took ``seconds``; changes at most fourfold."""
    wanted = attempts * PERIOD / max(seconds, 1e-9)
    return int(np.clip(wanted, max(attempts // 4, 1), min(4 * attempts, CHUNK)))
