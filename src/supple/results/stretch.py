"""A part of a run with one model: its instants, and everything that follows from them on demand."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from supple.compile import jit
from supple.mechanics.element_motion import fastest_turn
from supple.mechanics.interpolation import AGREED, between_four
from supple.mechanics.readout import AbstractReadout
from supple.mechanics.regulation import regulated_model
from supple.model.inputs import input_slices, with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.system.active_set import open_by, open_rates
from supple.system.closing import brought_back
from supple.time.advance import Saved


def _since(counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Counts since the row before, of instants (in order) of which some are left out."""
    return np.maximum(np.diff(np.cumsum(counts)[rows], prepend=0), 0)


@dataclass(frozen=True, eq=False)
class Stretch(AbstractReadout):
    """Instants t (n,), q (n, nq), v (n, nv), a (n, nv) of one model, and how each was reached.

    ``newton``, ``substeps`` and ``update`` tell of the solver per instant.
    """

    model: Model
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    newton: np.ndarray
    substeps: np.ndarray
    update: np.ndarray
    multipliers: np.ndarray
    inputs: np.ndarray
    description: Any = None
    """The robot that was simulated, where it was given as one."""
    ended: tuple[int, ...] = ()
    """Which of the run's events ended it; none where it ends with its run."""

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "empty"
        return f"Stretch({self.model.name!r}, {len(self.t)} instants, {span})"

    @property
    def saved(self) -> Saved:
        """The columns."""
        return Saved(*(getattr(self, name) for name in Saved._fields))

    @property
    def final(self) -> State:
        """The last state."""
        t, q, v, a = (np.asarray(x[-1]) for x in (self.t, self.q, self.v, self.a))
        return State(t, q, v, a, self.multipliers[-1] if self.model.equations else None)

    def names(self, kind: str) -> tuple[str, ...]:
        """Names of the frames, rods, joints, tendons, chambers, motors, springs, efforts, closures, …"""
        model, own = self.model, self.model.transmissions
        if kind in ("tendon", "chamber", "motor", "spring"):
            return tuple(n for n, k in zip(own.names, own.kinds, strict=True) if k == kind)
        return {
            "frame": lambda: tuple(frame.name for frame in model.topology.frames),
            "rod": lambda: tuple(slot.name for slot in model.topology.rod_slots),
            "joint": lambda: tuple(slot.name for slot in model.topology.joint_slots),
            "effort": lambda: tuple(model.prescribed.names),
            "closure": lambda: tuple(model.closures.names),
            "reaction": lambda: tuple(
                slot.name for slot in (*model.topology.rod_slots, *model.topology.joint_slots)
            ),
            "stop": lambda: tuple(dict.fromkeys(model.stops.names)),
            "controller": lambda: tuple(one.name for one in model.regulators),
            "contact": lambda: tuple(slip.name for slip in model.slips),
            "input": lambda: tuple(input_slices(model)),
        }[kind]()

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at every instant, each with its inputs."""
        forces = self.multipliers if self.model.equations else None
        columns = self.t, self.q, self.v, self.a, forces
        return jax.tree.map(np.asarray, _every(quantity, fixed, self.model, self.inputs, columns))

    @cached_property
    def violation(self) -> np.ndarray:
        """How far each equation that closes a loop is from being fulfilled, (n, m) in m."""
        if self.model.holonomic == 0:
            return np.zeros((len(self.t), 0))
        return np.asarray(self.read(_gaps))

    @cached_property
    def violation_rate(self) -> np.ndarray:
        """How fast each equation is being left, (n, m) in m/s; those between velocities come last.

        Schemes hold the equations themselves at the end of every step, so that this is their error.
        """
        if self.model.equations == 0:
            return np.zeros((len(self.t), 0))
        return np.asarray(self.read(_gap_rates))

    def pick(self, rows: np.ndarray | slice) -> "Stretch":
        """The trajectory at some of its own instants."""
        return replace(self, **{name: getattr(self, name)[rows] for name in Saved._fields})

    def sample(self, times: np.ndarray) -> "Stretch":
        """The trajectory at other instants inside it, as good as at its own; loops stay closed.

        Polynomials of degree 8 through (q, v, a) at three instants, of degree 5 through those at two where
        something has jumped in between.
        """
        multipliers = _curved(times, self.t, self.multipliers)
        if len(self.t) == 1:
            left = np.zeros(len(times), dtype=int)
            rows = [np.repeat(x, len(times), axis=0) for x in (self.q, self.v, self.a)]
        else:
            left = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
            self._warn_of_turns(left)
            four = np.clip(left[:, None] + np.arange(-1, 3), 0, len(self.t) - 1)
            known = [x[four] for x in (self.t, self.q, self.v, self.a)]
            forces = multipliers if self.model.equations else None
            rows = [np.asarray(x) for x in _interpolate(self.model, times, forces, *known)]
        near = np.clip(np.searchsorted(self.t, times), 0, len(self.t) - 1)
        own = (self.t[near] == times)[:, None]  # the solver's own instants stay as they are
        columns = (self.q, self.v, self.a)
        rows = [np.where(own, x[near], row) for x, row in zip(columns, rows, strict=True)]
        return replace(
            self,
            t=times,
            q=rows[0],
            v=rows[1],
            a=rows[2],
            newton=_since(self.newton, near),
            substeps=_since(self.substeps, near),
            update=self.update[near],
            multipliers=multipliers,
            inputs=self.inputs[left],
        )

    def _warn_of_turns(self, left: np.ndarray) -> None:
        """Beyond half a turn two orientations do not tell which way something turned."""
        speeds = np.asarray(_batched_turn(self.model, self.v[left]))
        largest = np.max(speeds * (self.t[left + 1] - self.t[left]), initial=0.0)
        if largest > np.pi:
            warnings.warn(
                f"a joint turns by {largest:.3g} rad between two instants: orientations between them may "
                "be wrong. Name a shorter dt, or an accuracy",
                RuntimeWarning,
                stacklevel=3,
            )


def _curved(times: np.ndarray, t: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Columns (n, m) known at t, at other times: the mean of two parabolas where they agree, else a line."""
    if columns.shape[1] == 0:
        return np.zeros((len(times), 0))
    line = np.stack([np.interp(times, t, column) for column in columns.T], axis=1)
    if len(t) < 4:
        return line
    left = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    inside = (left > 0) & (left < len(t) - 2)
    four = np.clip(left[:, None] + np.arange(-1, 3), 0, len(t) - 1)
    u, y, now = t[four], columns[four], times[:, None]

    def parabola(k: int) -> np.ndarray:
        with np.errstate(all="ignore"):  # where two instants are one
            slope = (y[:, k + 1] - y[:, k]) / (u[:, k + 1, None] - u[:, k, None])
            later = (y[:, k + 2] - y[:, k + 1]) / (u[:, k + 2, None] - u[:, k + 1, None])
            bend = (later - slope) / (u[:, k + 2, None] - u[:, k, None])
            found: np.ndarray = y[:, k] + (now - u[:, k, None]) * (
                slope + (now - u[:, k + 1, None]) * bend
            )
        return found

    one, other = parabola(0), parabola(1)
    mean = (one + other) / 2
    good = inside[:, None] & (np.abs(one - other) <= AGREED * np.abs(mean - line))
    return np.where(good, mean, line)


@partial(jit, quick=True, static_argnames=("quantity", "fixed"))
def _every(quantity, fixed, model, inputs, columns):  # type: ignore[no-untyped-def]
    def one(inputs, columns):  # type: ignore[no-untyped-def]
        state = State(*columns)
        return quantity(regulated_model(with_inputs(model, inputs), state), state, *fixed)

    return jax.vmap(one)(inputs, columns)


def _gaps(model: Model, s: State) -> Any:
    return open_by(model, s.q, s.t, s.multipliers)


def _gap_rates(model: Model, s: State) -> Any:
    return open_rates(model, s.q, s.v, s.t, s.multipliers)


@jit
def _batched_turn(model, v):  # type: ignore[no-untyped-def]
    return jax.vmap(lambda v: fastest_turn(model, v))(v)


@jit
def _interpolate(model, times, multipliers, t, q, v, a):  # type: ignore[no-untyped-def]
    def one(time, forces, *known):  # type: ignore[no-untyped-def]
        q, v, a = between_four(model, time, *known)
        q, v = brought_back(model, q, v, time, forces)
        return q, v, a

    if multipliers is None:
        return jax.vmap(lambda time, *known: one(time, None, *known))(times, t, q, v, a)
    return jax.vmap(one)(times, multipliers, t, q, v, a)
