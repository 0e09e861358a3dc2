"""When the events of a run happen: times, and zeros of sensed quantities, found within steps.

Instants are looked at after they were computed, with a few points between them by interpolation, so that a
quantity that crosses twice within a step is seen. Where a sign changes, the run goes back to the instant
before and takes a shorter step, whose length is the root of the quantity after it: what is found is a state
of the scheme itself, not of an interpolation, and does not depend on how a run was cut into chunks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.compile import jit
from supple.errors import ArgumentError, DescriptionError, SuppleError
from supple.mechanics.interpolation import between
from supple.mechanics.regulation import regulated_model
from supple.mechanics.sensing import Sensors
from supple.model.inputs import with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.results.stretch import Stretch
from supple.run.events import Event
from supple.solve.bracket import bracketed_root
from supple.time.advance import Cursor, Saved, instant

INSIDE = 7
"""Points looked at between two instants."""
BATCH = 32
"""Steps looked at at once: one size, one program."""
TOGETHER = 1e-12
"""Of the time (and of a second): events nearer to each other than this happen at once."""

Ahead = Callable[[Cursor, int | None, float], tuple[Cursor, Saved]]
"""From a cursor, by so many attempts or (None) until a time: the cursor there, and the instants before."""


class Hit(NamedTuple):
    """Where a run must stop for its events."""

    cursor: Cursor
    rows: int
    """Instants that come before, of those looked at."""
    more: Saved
    """Instants from the last of these on, the event's own included."""
    fired: tuple[int, ...]


@dataclass(frozen=True)
class Pending:
    """The events that can still happen in a stretch, and on which side of zero their quantities start."""

    events: Sequence[Event]
    times: dict[int, float]
    crossings: tuple[int, ...]
    sides: np.ndarray
    at_once: tuple[int, ...] = ()
    """Those that happen at the very start."""

    def due(self, t: float) -> tuple[int, ...]:
        """Events whose time has come."""
        slack = TOGETHER * max(1.0, abs(t))
        return tuple(i for i, at in self.times.items() if at <= t + slack)

    def next_time(self, t: float) -> float:
        """The next given time after t (s)."""
        return min((at for at in self.times.values() if at > t), default=np.inf)


def pending(
    events: Sequence[Event], model: Model, first: Saved, before: Sequence[Stretch]
) -> Pending:
    """What can happen in a stretch that begins at an instant, after stretches that ended by events.

    A quantity that an edit carries to the other side has crossed. An event whose item does not exist waits
    for it, if some edit may bring it.
    """
    fired = {i for one in before for i in one.ended}
    times = {i: float(e.t) for i, e in enumerate(events) if e.t is not None and i not in fired}
    awake = [i for i, e in enumerate(events) if e.when is not None and (e.repeat or i not in fired)]
    missing = {i: missing_item(model, events[i], first) for i in awake}
    for i in awake:
        if (error := missing[i]) is not None and not any(event.may_add for event in events):
            raise error
    crossings = tuple(i for i in awake if missing[i] is None)
    sides = np.zeros(len(crossings), dtype=int)
    at_once = []
    for k, i in enumerate(crossings):
        event = events[i]
        now = _sign(sensed(model, event, first, -1))
        sides[k] = now
        if not before:
            continue
        last, rows = before[-1], before[-1].saved
        if i in last.ended:  # it has just crossed: which side that is does not depend on round-off
            came_from = _sign(sensed(last.model, event, rows, -2)) if len(rows.t) > 1 else -now
            sides[k] = {"rising": 1, "falling": -1}.get(event.direction, -came_from)
            continue
        existed = missing_item(last.model, event, rows) is None
        came_from = _sign(sensed(last.model, event, rows, -1)) if existed else 0
        if now and _crosses(event, came_from, now):
            at_once.append(i)
        sides[k] = now or came_from
    return Pending(events, times, crossings, sides, tuple(at_once))


def missing_item(model: Model, event: Event, rows: Saved) -> ArgumentError | None:
    """Why an event has nothing to look at, if the item does not exist."""
    row = Saved(*(np.asarray(x)[-1] for x in rows))
    try:
        jax.eval_shape(lambda model, row: _value(model, event.when, row), model, row)
    except ArgumentError as error:
        return error
    except SuppleError:
        raise
    except Exception as error:  # of the user's function
        need = "a function of Sensors, written with jax.numpy, that returns a number"
        raise DescriptionError("event", "when", error, need) from error
    return None


def sensed(model: Model, event: Event, rows: Saved, index: int) -> float:
    """What an event looks at, at one of some instants."""
    row = Saved(*(np.asarray(x)[index] for x in rows))
    return float(_one(model, event.when, row))


class Lookout:
    """Looks for crossings among the instants of a stretch as they come in."""

    def __init__(self, model: Model, due: Pending, cursor: Cursor, past: Saved) -> None:
        self.model, self.due = model, due
        self.anchor = cursor
        """The cursor at the last instant that was looked at: from there steps are tried again."""
        self.sides = due.sides.tolist()
        for k, i in enumerate(due.crossings):
            if len(past.t) > 1:
                values = _at(model, due.events[i].when, past)
                self.sides[k] = _last_side(self.sides[k], values[1:])

    def settle(self, cursor: Cursor) -> None:
        """The cursor from which the run goes on."""
        if int(cursor.substeps) == 0:
            self.anchor = cursor

    def look(self, rows: Saved, ahead: Ahead, wall: float) -> Hit | None:
        """The first event among the instants since the anchor; ``ahead`` steps again, at most to ``wall``."""
        events, crossings = self.due.events, self.due.crossings
        first = _rows(instant(self.anchor))
        nodes = Saved(*(np.concatenate(pair) for pair in zip(first, rows, strict=True)))
        values = [_inside(self.model, events[i].when, nodes) for i in crossings]
        for step in range(len(rows.t)):
            found: list[tuple[float, int, Cursor, Saved]] = []
            for k, i in enumerate(crossings):
                inner = values[k][step]
                places = _changes(events[i], self.sides[k], inner)
                if places:
                    hit = self._locate(events[i], step, places, nodes, ahead, wall)
                    if hit is not None:
                        found.append((hit[0], i, *hit[1:]))
                self.sides[k] = _last_side(self.sides[k], inner[1:])
            if found:
                t, _, cursor, more = min(found, key=lambda one: one[0])
                slack = TOGETHER * max(1.0, abs(t))
                fired = {i for other, i, *_ in found if other <= t + slack}
                return Hit(cursor, step, more, tuple(sorted({*fired, *self.due.due(t)})))
        return None

    def _locate(
        self,
        event: Event,
        step: int,
        places: list[tuple[int, int, int]],
        nodes: Saved,
        ahead: Ahead,
        wall: float,
    ) -> tuple[float, Cursor, Saved] | None:
        """Where within a step an event happens: its time, the cursor there and the instants on the way."""
        attempts = int(nodes.substeps[1 : step + 1].sum())
        start, _ = ahead(self.anchor, attempts, wall) if attempts else (self.anchor, None)
        t = np.linspace(float(nodes.t[step]), float(nodes.t[step + 1]), INSIDE + 2)
        t[-1] = float(nodes.t[step + 1])
        tried: dict[float, tuple[Cursor, Saved]] = {}

        def after(time: float) -> float:
            if time <= t[0]:
                return sensed(self.model, event, _rows(instant(start)), -1)
            cursor, rows = tried[time] = ahead(start, None, time)
            if float(cursor.state.t) < time:
                return np.nan
            return sensed(self.model, event, rows, -1)

        for left, right, side in places:
            a, b = float(t[left]), float(t[right])
            fa, fb = after(a), after(b)
            if _sign(fa) != side or _sign(fb) == side or np.isnan(fb):
                continue  # seen by interpolation only, or a step that does not converge
            root, _ = bracketed_root(after, a, fa, b, fb)
            return root, *tried[root]
        return None


def _changes(event: Event, side: int, values: np.ndarray) -> list[tuple[int, int, int]]:
    """Parts of a step in which an event may happen, and on which side its quantity is before.

    The sign of the first value, at the start of the step, may be round-off; ``side`` is known. Last comes the
    whole step: what is on the other side after it has crossed, wherever interpolation has seen it.
    """
    found, came_from = [], side
    for part, value in enumerate(values[1:]):
        now = _sign(value)
        if now != side and _crosses(event, side, now):
            found.append((part, part + 1, side))
        side = now or side
    if _sign(values[-1]) != came_from and _crosses(event, came_from, _sign(values[-1])):
        found.append((0, len(values) - 1, came_from))
    return found


def _crosses(event: Event, before: int, now: int) -> bool:
    """Whether an event happens where its quantity leaves a side, for zero or for the other one."""
    if before == 0 or now == before:
        return False
    return event.direction == "both" or (before < 0) == (event.direction == "rising")


def _last_side(side: int, values: np.ndarray) -> int:
    """The side on which a quantity was last; zero is on none."""
    told = [_sign(value) for value in values if _sign(value)]
    return told[-1] if told else side


def _sign(value: float) -> int:
    return 0 if np.isnan(value) else int(np.sign(value))


def _rows(row: Saved) -> Saved:
    return Saved(*(np.asarray(x)[None] for x in row))


def _inside(model: Model, when: Any, nodes: Saved) -> np.ndarray:
    """What an event looks at in each step: (steps, INSIDE + 2), both ends included."""
    count = len(nodes.t) - 1
    found = []
    for start in range(0, count, BATCH):
        rows = np.minimum(np.arange(start, start + BATCH), count - 1)
        left, right = (Saved(*(x[i] for x in nodes)) for i in (rows, rows + 1))
        found.append(np.asarray(_over_steps(model, when, left, right))[: count - start])
    return np.concatenate(found)


def _at(model: Model, when: Any, rows: Saved) -> np.ndarray:
    """What an event looks at, at each of some instants."""
    found = []
    for start in range(0, len(rows.t), BATCH):
        some = np.minimum(np.arange(start, start + BATCH), len(rows.t) - 1)
        found.append(np.asarray(_over_rows(model, when, Saved(*(x[some] for x in rows)))))
    return np.concatenate(found)[: len(rows.t)]


def _value(model: Model, when: Any, row: Saved) -> Float[Array, ""]:
    forces = row.multipliers if model.equations else None
    state = State(row.t, row.q, row.v, row.a, forces)
    now = regulated_model(with_inputs(model, row.inputs), state)
    value = jnp.asarray(when(Sensors(now, state)), dtype=float)
    if value.shape != ():
        raise DescriptionError("event", "when", f"shape {value.shape}", "one number")
    return value


_one = jit(_value, quick=True, static_argnames=("when",))


@partial(jit, quick=True, static_argnames=("when",))
def _over_rows(model: Model, when: Any, rows: Saved) -> Float[Array, " n"]:
    return jax.vmap(lambda row: _value(model, when, row))(rows)


@partial(jit, quick=True, static_argnames=("when",))
def _over_steps(model: Model, when: Any, left: Saved, right: Saved) -> Float[Array, "n k"]:
    def one(a: Saved, b: Saved) -> Float[Array, " k"]:
        now = with_inputs(model, b.inputs)

        def inside(s: Float[Array, ""]) -> Float[Array, ""]:
            t = a.t + s * (b.t - a.t)
            q, v, rate = between(
                now, t, *((getattr(a, x), getattr(b, x)) for x in ("t", "q", "v", "a"))
            )
            forces = a.multipliers + s * (b.multipliers - a.multipliers)
            return _value(model, when, b._replace(t=t, q=q, v=v, a=rate, multipliers=forces))

        s = jnp.linspace(0.0, 1.0, INSIDE + 2)[1:-1]
        ends = [_value(model, when, x)[None] for x in (a, b)]
        return jnp.concatenate([ends[0], jax.vmap(inside)(s), ends[1]])

    return jax.vmap(one)(left, right)
