"""A part of a run with one model: its instants, and everything that follows from them on demand."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from supple.compile import jit
from supple.errors import StateError
from supple.lie import Pose
from supple.mechanics.energy import Energies, Momentum, energies, momentum
from supple.mechanics.frames import (
    find_frame,
    find_joint,
    find_rod,
    find_transmission,
    frame_poses,
    rod_shape,
    rod_strain,
)
from supple.mechanics.interpolation import between
from supple.mechanics.inverse_dynamics import closing_wrenches
from supple.mechanics.local import fastest_turn
from supple.mechanics.slips import slip_forces
from supple.mechanics.transmissions import transmission_state
from supple.model.constraints import COORDINATE
from supple.model.inputs import find_input, input_slices, with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.system.active_set import open_by, open_rates
from supple.time.advance import Saved


@dataclass(frozen=True, eq=False)
class Stretch:
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
            "contact": lambda: tuple(slip.name for slip in model.slips),
            "input": lambda: tuple(input_slices(model)),
        }[kind]()

    @cached_property
    def poses(self) -> dict[str, Pose]:
        """World pose of every named frame at every instant (rotation (n, 3, 3), position (n, 3))."""
        found = _batched_poses(self.model, self.inputs, self.q, self.t)
        return {
            frame.name: Pose(np.asarray(found.rotation[:, i]), np.asarray(found.position[:, i]))
            for i, frame in enumerate(self.model.topology.frames)
        }

    def position(self, name: str) -> np.ndarray:
        """World position (n, 3) of a rod's tip, a body or a marker."""
        find_frame(self.model, name)
        return np.asarray(self.poses[name].position)

    def shape(self, name: str, points: int = 41) -> Pose:
        """World poses of a rod's sections: rotation (n, points, 3, 3), position (n, points, 3)."""
        find_rod(self.model, name)
        shapes = _batched_shapes(self.model, name, points, self.inputs, self.q, self.t)
        return Pose(*(np.asarray(x) for x in shapes))

    def strain(self, name: str, points: int = 41) -> np.ndarray:
        """Strain (n, points, 6) along a rod: curvatures (1/m), then stretch and shears."""
        find_rod(self.model, name)
        return np.asarray(_batched_strains(self.model, name, points, self.q))

    def coordinates(self, name: str) -> np.ndarray:
        """Configuration numbers (n, k) of a named rod's strains."""
        return self.q[:, find_rod(self.model, name).q]

    def joint(self, name: str) -> np.ndarray:
        """Configuration numbers (n, k) of a named item's joint."""
        return self.q[:, find_joint(self.model, name).q]

    @cached_property
    def energies(self) -> Energies:
        """Kinetic, elastic and gravitational energy (n,) in J."""
        found = _batched_energies(self.model, self.inputs, self.q, self.v, self.t)
        return Energies(*(np.asarray(x) for x in found))

    @cached_property
    def momentum(self) -> Momentum:
        """Angular and linear momentum and mass centre, each (n, 3)."""
        found = _batched_momentum(self.model, self.inputs, self.q, self.v, self.t)
        return Momentum(*(np.asarray(x) for x in found))

    @cached_property
    def violation(self) -> np.ndarray:
        """How far each equation that closes a loop is from being fulfilled, (n, m) in m."""
        if self.model.holonomic == 0:
            return np.zeros((len(self.t), 0))
        return np.asarray(
            _batched_violation(self.model, self.inputs, self.q, self.t, self.multipliers)
        )

    @cached_property
    def violation_rate(self) -> np.ndarray:
        """How fast each equation is being left, (n, m) in m/s; those between velocities come last.

        Schemes hold the equations themselves at the end of every step, so that this is their error.
        """
        if self.model.equations == 0:
            return np.zeros((len(self.t), 0))
        return np.asarray(
            _batched_rates(self.model, self.inputs, self.q, self.v, self.t, self.multipliers)
        )

    def contact(self, name: str) -> np.ndarray:
        """Wrench (n, 6) that a knife edge or a rolling contact exerts on its item, at and in its frame.

        Moment (N m), then force (N).
        """
        names = tuple(slip.name for slip in self.model.slips)
        if name not in names:
            known = ", ".join(names) or "none: nothing is kept from slipping"
            raise StateError(f"contact: got {name!r}; need one of: {known}")
        wrenches = _batched_contacts(self.model, self.inputs, self.q, self.t, self.multipliers)
        return np.asarray(wrenches)[:, names.index(name)]

    def effort(self, name: str) -> np.ndarray:
        """Generalised force (n,) that an imposed coordinate needs (N m for angles, N for lengths)."""
        imposed = self.model.prescribed
        if name not in imposed.names:
            known = ", ".join(imposed.names) or "none: no coordinate is imposed"
            raise StateError(f"effort: got {name!r}; need one of: {known}")
        i = imposed.names.index(name)
        return (
            -self.multipliers[:, self.model.constraints.rows(COORDINATE)][:, i]
            * np.asarray(imposed.scale)[i]
        )

    def tendon(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Length (n,) in m and tension (n,) in N of a tendon."""
        length, effort = self._transmission("tendon", name)
        return length, -effort

    def chamber(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Volume (n,) in m³ and gauge pressure (n,) in Pa of a fluid chamber."""
        return self._transmission("chamber", name)

    def motor(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Joint coordinate (n,) in rad (m) and torque (n,) in N m (N) at the joint of a motor."""
        return self._transmission("motor", name)

    def spring(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Length (n,) in m and tension (n,) in N of a spring."""
        length, effort = self._transmission("spring", name)
        return length, -effort

    def _transmission(self, kind: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        own = find_transmission(self.model, kind, name)
        columns = self.inputs, self.q, self.v, self.t, self.multipliers
        length, effort = _batched_transmissions(self.model, *columns)
        return np.asarray(length)[:, own], np.asarray(effort)[:, own]

    def input(self, name: str) -> np.ndarray:
        """What an input said, (n, …)."""
        where, shape = find_input(self.model, name)
        return self.inputs[:, where].reshape(len(self.t), *shape)

    def closure(self, name: str) -> np.ndarray:
        """Wrench (n, 6) that a closing joint exerts on its outer item, at and in the joint's outer frame.

        Moment (N m), then force (N). Equations that are left out, since the robot fulfils them anyway
        (``model.closures.dropped``), have no wrench that could be known: they count as zero. A door on two
        hinges has one on the first alone.
        """
        names = self.model.closures.names
        if name not in names:
            known = ", ".join(names) or "none: no loop is closed"
            raise StateError(f"closure: got {name!r}; need one of: {known}")
        wrenches = _batched_wrenches(self.model, self.inputs, self.q, self.t, self.multipliers)
        return np.asarray(wrenches)[:, names.index(name)]

    def picked(self, rows: np.ndarray | slice) -> "Stretch":
        """The trajectory at some of its own instants."""
        return replace(self, **{name: getattr(self, name)[rows] for name in Saved._fields})

    def sampled(self, times: np.ndarray) -> "Stretch":
        """The trajectory at other instants inside it, by quintic interpolation of (q, v, a)."""
        if len(self.t) == 1:
            left = np.zeros(len(times), dtype=int)
            rows = [np.repeat(x, len(times), axis=0) for x in (self.q, self.v, self.a)]
        else:
            left = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
            self._warn_of_turns(left)
            ends = [(x[left], x[left + 1]) for x in (self.t, self.q, self.v, self.a)]
            rows = [np.asarray(x) for x in _interpolate(self.model, times, *ends)]
        near = np.clip(np.searchsorted(self.t, times), 0, len(self.t) - 1)
        return replace(
            self,
            t=times,
            q=rows[0],
            v=rows[1],
            a=rows[2],
            newton=self.newton[near],
            substeps=self.substeps[near],
            update=self.update[near],
            multipliers=_linear(times, self.t, self.multipliers),
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


def _linear(times: np.ndarray, t: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Columns (n, m) known at t, at other times."""
    found = [np.interp(times, t, column) for column in columns.T]
    return np.stack(found, axis=1) if found else np.zeros((len(times), 0))


def _over_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a model and a state, for all instants of a result, each with its inputs."""

    @jit
    def every(model: Model, inputs: Any, *columns: Any) -> Any:
        return jax.vmap(lambda u, *state: function(with_inputs(model, u), *state))(inputs, *columns)

    return every


_batched_transmissions = _over_time(transmission_state)
_batched_violation = _over_time(open_by)
_batched_rates = _over_time(open_rates)
_batched_wrenches = _over_time(closing_wrenches)
_batched_contacts = _over_time(slip_forces)
_batched_poses = _over_time(frame_poses)
_batched_energies = _over_time(energies)
_batched_momentum = _over_time(momentum)


@partial(jit, static_argnames=("name", "points"))
def _batched_shapes(model, name, points, inputs, q, t):  # type: ignore[no-untyped-def]
    def one(inputs, q, t):  # type: ignore[no-untyped-def]
        return rod_shape(with_inputs(model, inputs), name, q, points, t)

    return jax.vmap(one)(inputs, q, t)


@partial(jit, static_argnames=("name", "points"))
def _batched_strains(model, name, points, q):  # type: ignore[no-untyped-def]
    return jax.vmap(lambda q: rod_strain(model, name, q, points))(q)


@jit
def _batched_turn(model, v):  # type: ignore[no-untyped-def]
    return jax.vmap(lambda v: fastest_turn(model, v))(v)


@jit
def _interpolate(model, times, t, q, v, a):  # type: ignore[no-untyped-def]
    return jax.vmap(lambda *interval: between(model, *interval))(times, t, q, v, a)
