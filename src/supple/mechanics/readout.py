"""What can be read of a robot at a state, by the names of its items: poses, strains, wrenches, energies.

One list of accessors serves results (n instants), branches (n equilibria), equilibria and sensors (one
state): each of them only says how a pure function of a model and a state is evaluated there. Arrays have a
leading axis of instants where there are several.
"""

import abc
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import ArgumentError
from supple.lie import Pose, se3
from supple.mechanics.closures import closure_motion, outer_wrenches
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.energy import Energies, Momentum, energies, momentum
from supple.mechanics.fields import field_values
from supple.mechanics.frames import (
    FrameMotion,
    find_frame,
    find_joint,
    find_rod,
    find_transmission,
    frame_motion,
    frame_poses,
    rod_shape,
    rod_strain,
)
from supple.mechanics.kinematics import kinematics
from supple.mechanics.section_wrenches import Held, internal_wrenches, reactions
from supple.mechanics.slips import slip_motions, slip_multipliers
from supple.mechanics.transmissions import transmission_motion
from supple.model.constraints import CLOSURE, COORDINATE, STOP
from supple.model.inputs import find_input, input_vector
from supple.model.model import Model
from supple.model.state import State

POINTS = 41
"""Sections of a rod where none are named."""
AXES = ("world", "item")

Fractions = int | float | Sequence[float] | np.ndarray
"""Fractions of a rod's length, or a number of even ones."""


class JointReading(NamedTuple):
    """Of a joint: configuration numbers (rad, m, quaternions first) and velocities (rad/s, m/s)."""

    position: Float[Array, "*b nq"]
    velocity: Float[Array, "*b nv"]


class TendonReading(NamedTuple):
    """Of a tendon or a spring: length (m), tension (N), rate of the length (m/s)."""

    length: Float[Array, "*b"]
    tension: Float[Array, "*b"]
    rate: Float[Array, "*b"]


class ChamberReading(NamedTuple):
    """Of a fluid chamber: volume (m³), gauge pressure (Pa), rate of the volume (m³/s)."""

    volume: Float[Array, "*b"]
    pressure: Float[Array, "*b"]
    rate: Float[Array, "*b"]


class MotorReading(NamedTuple):
    """Of a motor, at its joint: coordinate (rad, m), torque (N m, N), velocity (rad/s, m/s)."""

    position: Float[Array, "*b"]
    torque: Float[Array, "*b"]
    velocity: Float[Array, "*b"]


class AbstractReadout(abc.ABC):
    """Everything that follows from the states of a robot.

    Subclasses have the ``model``, configurations ``q`` (…, nq) and velocities ``v`` (…, nv), and say how a
    quantity is evaluated.
    """

    model: Model
    q: Any
    v: Any

    @abc.abstractmethod
    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at each state; ``fixed`` can be hashed."""

    @cached_property
    def poses(self) -> dict[str, Pose]:
        """World pose of every named frame: rod tips, bodies, markers."""
        found = self.read(_poses)
        return {
            frame.name: Pose(found.rotation[..., i, :, :], found.position[..., i, :])
            for i, frame in enumerate(self.model.topology.frames)
        }

    def pose(self, name: str, fraction: float | None = None) -> Pose:
        """World pose of a rod's tip, a body or a marker, or of the point at a fraction of a rod."""
        if fraction is None:
            find_frame(self.model, name)
            return self.poses[name]
        found = self.shape(name, (fraction,))
        return Pose(found.rotation[..., 0, :, :], found.position[..., 0, :])

    def position(self, name: str, fraction: float | None = None) -> Float[Array, "*b 3"]:
        """World position (…, 3) of such a frame."""
        return self.pose(name, fraction).position

    def twist(self, name: str, fraction: float | None = None) -> Float[Array, "*b 6"]:
        """Body twist (…, 6) of such a frame: angular (rad/s), then linear (m/s)."""
        if fraction is not None:
            return self.frame(name, fraction).twist
        i = self.model.topology.frames.index(find_frame(self.model, name))
        return self._twists[..., i, :]

    def frame(self, name: str, fraction: float | None = None) -> FrameMotion:
        """Pose, twist, acceleration and Jacobian (…, 6, nv) of such a frame, in its own axes."""
        find_rod(self.model, name) if fraction is not None else find_frame(self.model, name)
        return self.read(_frame, name, None if fraction is None else float(fraction))

    def shape(self, name: str, fractions: Fractions = POINTS) -> Pose:
        """World poses of a rod's sections: rotation (…, k, 3, 3), position (…, k, 3)."""
        return self.read(_shape, name, self._checked(name, fractions))

    def strain(self, name: str, fractions: Fractions = POINTS) -> Float[Array, "*b k 6"]:
        """Strain (…, k, 6) along a rod: curvatures (1/m), then stretch and shears."""
        return self.read(_strain, name, self._checked(name, fractions))

    def variables(self, name: str, fractions: Fractions = POINTS) -> Float[Array, "*b k z"]:
        """Variables (…, k, z) along a rod with a law of its own (``Shooting(law=…)``); none of others."""
        return self.read(_variables, name, self._checked(name, fractions))

    def internal_wrench(self, name: str, fractions: Fractions = POINTS) -> Float[Array, "*b k 6"]:
        """Wrench (…, k, 6) that a rod's part beyond each section exerts on the part before.

        Moment (N m), then force (N), at the section and in its axes. It is what the balance of the part
        beyond needs, so that also inextensible rods have a tension. Tendons in channels and the fluid of
        chambers run through the section and are part of it; where something hangs on the rod or pulls at it,
        it is the wrench just before.
        """
        return self.read(internal_wrenches, name, self._checked(name, fractions))

    def reaction(self, name: str, axes: str = "world") -> Float[Array, "*b 6"]:
        """Wrench (…, 6) that what an item hangs on exerts on it: at the base, what the ground carries.

        Moment (N m) about the joint, or about the first section of a rod that is clamped, then force (N); in
        the world's axes, or with ``axes="item"`` in those of the item there. Items that are fixed to another
        one have none of their own.
        """
        topology = self.model.topology
        slots = {slot.name: slot for slot in (*topology.rod_slots, *topology.joint_slots)}
        if name not in slots:
            raise _unknown("reaction", name, tuple(slots), "nothing has a joint or bends")
        slot = slots[name]
        return _seen(self._reactions, topology.element_start[slot.group] + slot.row, axes)

    def closure(self, name: str, axes: str = "item") -> Float[Array, "*b 6"]:
        """Wrench (…, 6) that a closing joint exerts on its outer item, at the joint's outer frame.

        Moment (N m), then force (N), in the axes of that frame, or with ``axes="world"`` in the world's.
        Equations that are left out, since the robot fulfils them anyway (``model.closures.dropped``), have no
        wrench that could be known: they count as zero. A door on two hinges has one on the first alone.
        """
        names = self.model.closures.names
        if name not in names:
            raise _unknown("closure", name, names, "no loop is closed")
        return _seen(self._closures, names.index(name), axes)

    def contact(self, name: str, axes: str = "item") -> Float[Array, "*b 6"]:
        """Wrench (…, 6) that a knife edge or a rolling contact exerts on its item, at its frame.

        Moment (N m), then force (N), in the axes of that frame, or with ``axes="world"`` in the world's.
        """
        names = tuple(slip.name for slip in self.model.slips)
        if name not in names:
            raise _unknown("contact", name, names, "nothing is kept from slipping")
        return _seen(self._contacts, names.index(name), axes)

    def effort(self, name: str) -> Float[Array, "*b"]:
        """Generalized force (…) that an imposed coordinate needs (N m for angles, N for lengths)."""
        names = self.model.prescribed.names
        if name not in names:
            raise _unknown("effort", name, names, "no coordinate is imposed")
        return self._efforts[..., names.index(name)]

    def stop(self, name: str) -> Float[Array, "*b k"]:
        """Efforts (N m for angles, N for lengths) of the hard stops of a joint on its coordinates."""
        names = tuple(dict.fromkeys(self.model.stops.names))
        if name not in names:
            raise _unknown("stop", name, names, "no joint has a hard stop")
        slot = find_joint(self.model, name)
        return self._stops[..., slot.v]

    def coordinates(self, name: str) -> Float[Array, "*b k"]:
        """Configuration numbers (…, k) of a named rod's strains."""
        return self.q[..., find_rod(self.model, name).q]

    def joint(self, name: str) -> JointReading:
        """Configuration and velocity of the joint of an item, or of a winch."""
        slot = find_joint(self.model, name)
        return JointReading(self.q[..., slot.q], self.v[..., slot.v])

    def controller(self, name: str) -> Float[Array, "*b k"]:
        """States (…, k) of a continuous controller."""
        known = {one.name: one for one in self.model.regulators}
        if name not in known:
            raise _unknown(
                "controller", name, tuple(known), "the robot has no continuous controllers"
            )
        return self.q[..., np.array(known[name].q_index, dtype=int)]

    def tendon(self, name: str) -> TendonReading:
        """Length (m), tension (N) and rate (m/s) of a tendon."""
        length, effort, rate = self._transmission("tendon", name)
        return TendonReading(length, -effort, rate)

    def spring(self, name: str) -> TendonReading:
        """Length (m), tension (N) and rate (m/s) of a spring."""
        length, effort, rate = self._transmission("spring", name)
        return TendonReading(length, -effort, rate)

    def chamber(self, name: str) -> ChamberReading:
        """Volume (m³), gauge pressure (Pa) and rate (m³/s) of a fluid chamber."""
        return ChamberReading(*self._transmission("chamber", name))

    def motor(self, name: str) -> MotorReading:
        """Joint coordinate (rad, m), torque (N m, N) and velocity (rad/s, m/s) at the joint of a motor."""
        return MotorReading(*self._transmission("motor", name))

    def input(self, name: str) -> Float[Array, "..."]:
        """What an input says, (…, *its shape)."""
        where, shape = find_input(self.model, name)
        found = self._inputs[..., where]
        return found.reshape((*found.shape[:-1], *shape))

    @cached_property
    def energies(self) -> Energies:
        """Kinetic, elastic and gravitational energy (…) in J."""
        return self.read(_energies)

    @cached_property
    def momentum(self) -> Momentum:
        """Angular and linear momentum and mass center, each (…, 3)."""
        return self.read(_momentum)

    def _checked(self, name: str, fractions: Fractions) -> tuple[float, ...]:
        find_rod(self.model, name)
        if isinstance(fractions, int | np.integer):
            if fractions < 1:
                raise ArgumentError(f"fractions: got {fractions}; need a number of sections > 0")
            return tuple(np.linspace(0.0, 1.0, int(fractions)).tolist())
        return tuple(np.atleast_1d(np.asarray(fractions, dtype=float)).tolist())

    def _transmission(self, kind: str, name: str) -> tuple[Any, Any, Any]:
        own = find_transmission(self.model, kind, name)
        length, effort, rate = self._transmissions
        return length[..., own], effort[..., own], rate[..., own]

    @cached_property
    def _twists(self) -> Any:
        return self.read(_frame_twists)

    @cached_property
    def _reactions(self) -> Held:
        return self.read(reactions)

    @cached_property
    def _closures(self) -> Held:
        return self.read(_closing)

    @cached_property
    def _contacts(self) -> Held:
        return self.read(_touching)

    @cached_property
    def _stops(self) -> Any:
        return self.read(_stop_efforts)

    @cached_property
    def _efforts(self) -> Any:
        return self.read(_imposed_efforts)

    @cached_property
    def _transmissions(self) -> tuple[Any, Any, Any]:
        return self.read(_transmission_values)

    @cached_property
    def _inputs(self) -> Any:
        return self.read(_input_values)


def _unknown(what: str, name: str, names: tuple[str, ...], none: str) -> ArgumentError:
    known = ", ".join(names) or f"none: {none}"
    return ArgumentError(f"{what}: got {name!r}; need one of: {known}")


def _seen(held: Held, index: int, axes: str) -> Any:
    """One of several wrenches, in the axes of its frame or in those of the world."""
    if axes not in AXES:
        raise ArgumentError(f"axes: got {axes!r}; need one of: {', '.join(AXES)}")
    wrench, rotation = held.wrench[..., index, :], held.rotation[..., index, :, :]
    if axes == "item":
        return wrench
    parts = (wrench[..., :3, None], wrench[..., 3:, None])
    use = np if isinstance(wrench, np.ndarray) else jnp
    return use.concatenate([(rotation @ part)[..., 0] for part in parts], axis=-1)


# The quantities: pure functions of a model and one of its states.


def _still(model: Model, s: State) -> Coordinates:
    zero = jnp.zeros(model.nv)
    return Coordinates(s.q, zero, zero, zero, s.t)


def _poses(model: Model, s: State) -> Pose:
    return frame_poses(model, s.q, s.t)


def _frame(model: Model, s: State, name: str, fraction: float | None) -> FrameMotion:
    return frame_motion(model, name, s.q, s.v, s.a, s.t, fraction)


def _frame_twists(model: Model, s: State) -> Float[Array, "k 6"]:
    zero = jnp.zeros(model.nv)
    motion = kinematics(model, Coordinates(s.q, zero, s.v, zero, s.t))
    samples = np.array([frame.sample for frame in model.topology.frames])
    return se3.to_body(motion.poses_at(samples) @ model.frame_offsets, motion.twists_at(samples))


def _shape(model: Model, s: State, name: str, fractions: tuple[float, ...]) -> Pose:
    return rod_shape(model, name, s.q, np.array(fractions), s.t)


def _strain(model: Model, s: State, name: str, fractions: tuple[float, ...]) -> Float[Array, "k 6"]:
    return rod_strain(model, name, s.q, np.array(fractions))


def _variables(
    model: Model, s: State, name: str, fractions: tuple[float, ...]
) -> Float[Array, "k z"]:
    if model.fields is None:
        return jnp.zeros((len(fractions), 0))
    return field_values(model, name, s.q, np.array(fractions))[:, 18:]


def _energies(model: Model, s: State) -> Energies:
    return energies(model, s.q, s.v, s.t)


def _momentum(model: Model, s: State) -> Momentum:
    return momentum(model, s.q, s.v, s.t)


def _transmission_values(model: Model, s: State) -> tuple[Any, Any, Any]:
    c = Coordinates(s.q, jnp.zeros(model.nv), s.v, jnp.zeros(model.nv), s.t, s.multipliers)
    drives = tuple(effort.drive for effort in model.transmissions.efforts)
    model = replace(model, transmissions=replace(model.transmissions, efforts=drives))
    found = transmission_motion(model, c, kinematics(model, c))
    return found.length, found.effort, found.rate


def _input_values(model: Model, s: State) -> Float[Array, " k"]:
    return jnp.asarray(input_vector(model))


def _imposed_efforts(model: Model, s: State) -> Float[Array, " n"]:
    assert s.multipliers is not None
    return -s.multipliers[model.constraints.rows(COORDINATE)] * jnp.asarray(model.prescribed.scale)


def _stop_efforts(model: Model, s: State) -> Float[Array, " nv"]:
    assert s.multipliers is not None
    forces = -jnp.asarray(model.stops.side) * s.multipliers[model.constraints.rows(STOP)]
    return jnp.zeros(model.nv).at[np.array(model.stops.v_index)].add(forces)


def _closing(model: Model, s: State) -> Held:
    at = closure_motion(model, kinematics(model, _still(model, s)))
    forces = (
        jnp.zeros(0) if s.multipliers is None else s.multipliers[model.constraints.rows(CLOSURE)]
    )
    return Held(-outer_wrenches(model.closures, at, forces)[0], at.outer.rotation)


def _touching(model: Model, s: State) -> Held:
    if not model.slips or s.multipliers is None:
        raise ArgumentError("contact: got a robot at rest; need a run: statics leaves contacts out")
    at = slip_motions(model, kinematics(model, _still(model, s)))
    own = slip_multipliers(model, s.multipliers)
    wrenches = [-one.rows.T @ force for one, force in zip(at, own, strict=True)]
    return Held(jnp.stack(wrenches), jnp.stack([one.pose.rotation for one in at]))
