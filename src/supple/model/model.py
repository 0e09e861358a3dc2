"""The model: immutable arrays and static structure, built once from a robot's description.

A model is a list of *elements*: joints and rods. Each carries its inner frame to one or more sample
frames and owns some coordinates. Elements of one kind and shape form a group and are computed as one
batch. Samples of all groups are also numbered in one flat list; bodies, loads and further elements hang
on them.
"""

import dataclasses
from bisect import bisect_right
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose
from supple.model.closures import Closures
from supple.model.constraints import ActiveSet, Constraints, make_constraints
from supple.model.control import Control
from supple.model.fields import RodFields
from supple.model.friction import AbstractFriction
from supple.model.joints import AbstractJoint
from supple.model.laws import AbstractLaw
from supple.model.loads import AbstractLineLoad, AbstractPointLoad, InternalStress
from supple.model.prescribed import Prescribed
from supple.model.regulators import Regulator
from supple.model.slips import AbstractSlip
from supple.model.special_joints import DrivenJoint
from supple.model.stops import Stops
from supple.model.transmissions import Transmissions
from supple.space import PieceGrid, RodGrid

GROUND = -1
"""Stands for the world where a sample or an element is meant."""
FAR = 1e30
"""A bound (rad, m) that no joint reaches."""


class RodGroup(eqx.Module):
    """Rods of one shape, or pieces of rods: same strain field, same grid sizes."""

    grid: RodGrid | PieceGrid
    length: Float[Array, "*b"]
    """(m)."""
    stiffness: Float[Array, "*b n 6 6"]
    """H of the sections at the nodes (N m² for curvatures, N for stretch and shears)."""
    damping: Float[Array, "*b n 6 6"] | None
    """D of the sections (N m² s, N s); None for undamped rods."""
    inertia: Float[Array, "*b n 6 6"]
    """Of a meter, in the axes of the section (kg m, kg/m)."""
    added: Float[Array, "*b n 6 6"] | None = None
    """Inertia a meter of fluid that moves with the sections but has no weight; None without."""
    growth: AbstractLaw | None = None
    """Length over its first value, as a law of time; None for rods of constant length."""
    growth_rates: tuple[Float[Array, "*b"], Float[Array, "*b"]] | None = None
    """Rate and acceleration of the length over the length, at the time of :meth:`Model.with_lengths_at`."""
    slope: Float[Array, "*b n 6 m"] | None = None
    """Derivative of the basis by u at the nodes, for rods that slide out of their base; None for others."""
    start: Float[Array, "*b"] | None = None
    """Arc length (m) at which each piece of a rod begins; None for whole rods."""
    diagonal: bool = eqx.field(static=True, default=False)
    """Whether stiffness, damping and inertia of the sections are known to be diagonal."""

    @property
    def size(self) -> int:
        """Number of rods."""
        return self.length.shape[0]

    def with_length_at(self, t: Float[Array, ""]) -> "RodGroup":
        """The group with the lengths of time t, and how they change."""
        if self.growth is None:
            return self

        def one(law: AbstractLaw) -> tuple[Array, Array, Array]:
            def rate(t: Float[Array, ""]) -> tuple[Array, Array]:
                return jax.jvp(law, (t,), (jnp.ones_like(t),))

            (value, first), (_, second) = jax.jvp(rate, (t,), (jnp.ones_like(t),))
            return value, first / value, second / value

        value, first, second = jax.vmap(one, axis_size=self.size)(self.growth)
        return dataclasses.replace(
            self, length=self.length * value, growth=None, growth_rates=(first, second)
        )

    @property
    def nv(self) -> int:
        """Coordinates of each rod."""
        return self.grid.basis.shape[-1]

    @property
    def nq(self) -> int:
        """Configuration numbers of each rod, the same as its coordinates."""
        return self.nv

    @property
    def samples(self) -> int:
        """Samples of each rod."""
        return self.grid.points.shape[1]

    @property
    def arc_lengths(self) -> Float[Array, "*b p"]:
        """Arc lengths (m) of the samples, from the start of the whole rod."""
        own = self.length[:, None] * self.grid.points
        return own if self.start is None else self.start[:, None] + own


class JointGroup(eqx.Module):
    """Joints of one kind, with optional linear springs and dampers in their coordinates."""

    joint: AbstractJoint
    stiffness: Float[Array, "*b nv"]
    """Of springs (N m/rad, N/m)."""
    rest: Float[Array, "*b nq"]
    """Where springs rest (rad, m)."""
    damping: Float[Array, "*b bearings"] | None
    """At the bearings (N m s/rad, N s/m); None for undamped joints."""
    friction: AbstractFriction | None = None
    """Of the pivots inside, or of the coordinates where there are none: a row of numbers for each."""
    armature: Float[Array, "*b nv"] | None = None
    """Inertia (kg m², kg) of motors that turn with the coordinates, as these feel it; None without."""
    bumpers: Float[Array, "*b 4 nv"] | None = None
    """Compliant stops: lower and upper bounds (rad, m), stiffness and damping beyond them; None without."""

    @property
    def size(self) -> int:
        """Number of joints."""
        return self.stiffness.shape[0]

    @property
    def nv(self) -> int:
        """Velocity coordinates of each joint."""
        return self.joint.nv

    @property
    def nq(self) -> int:
        """Configuration numbers of each joint."""
        return self.joint.nq

    @property
    def samples(self) -> int:
        """The outer frame of a joint, and those of its links."""
        return 1 + len(self.joint.links)


Group = RodGroup | JointGroup


class Bodies(eqx.Module):
    """Rigid bodies, each fixed to a sample: pose in the sample's frame and 6x6 body inertia."""

    offset: Pose
    inertia: Float[Array, "nb 6 6"]
    sample: tuple[int, ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        """Number of bodies."""
        return len(self.sample)


@dataclass(frozen=True)
class Slot:
    """Where a named rod or joint lives: its group, its row there, its ranges in q and v."""

    name: str
    group: int
    row: int
    q_start: int
    q_stop: int
    v_start: int
    v_stop: int
    edges: tuple[float, ...] = ()
    """Where the pieces of a rod begin and end (u), neighboring rows of the group; none for whole rods."""

    @property
    def in_pieces(self) -> bool:
        """Whether this is a rod in pieces of constant strain."""
        return len(self.edges) > 0

    @property
    def pieces(self) -> int:
        """Elements that it consists of."""
        return max(len(self.edges) - 1, 1)

    @property
    def q(self) -> slice:
        """Range in the configuration vector."""
        return slice(self.q_start, self.q_stop)

    @property
    def v(self) -> slice:
        """Range in the velocity vector."""
        return slice(self.v_start, self.v_stop)


@dataclass(frozen=True)
class Frame:
    """A named frame: a flat sample (or the ground) and the index of its constant offset."""

    name: str
    sample: int
    offset: int


@dataclass(frozen=True)
class Topology:
    """Static structure: how elements hang together and where things are numbered."""

    parent: tuple[int, ...]
    """Parent element of each element, or GROUND."""
    attach: tuple[int, ...]
    """Flat sample each element hangs on, or GROUND."""
    element_start: tuple[int, ...]
    """First element of each group."""
    sample_start: tuple[int, ...]
    """First flat sample of each group."""
    q_start: tuple[int, ...]
    """First configuration number of each group."""
    v_start: tuple[int, ...]
    """First velocity coordinate of each group."""
    nq: int
    nv: int
    joint_slots: tuple[Slot, ...]
    rod_slots: tuple[Slot, ...]
    frames: tuple[Frame, ...]
    floating: int
    """Flat configuration index of the position of the first free joint on the ground, or -1."""
    floating_element: int
    """The element of that joint, or -1."""

    @property
    def elements(self) -> int:
        """Number of elements."""
        return len(self.parent)

    @property
    def all_on_ground(self) -> bool:
        """Whether no element hangs on another: everything decouples into blocks."""
        return all(p == GROUND for p in self.parent)


class Model(eqx.Module):
    """A robot ready to be computed. Arrays may be differentiated or batched; the rest is static."""

    groups: tuple[Group, ...]
    offsets: Pose
    """Pose of each element's inner frame in the frame of the sample it hangs on."""
    frame_offsets: Pose
    bodies: Bodies
    closures: Closures
    prescribed: Prescribed
    transmissions: Transmissions
    stops: Stops
    slips: tuple[AbstractSlip, ...]
    active: ActiveSet | None
    """Which one-sided equations are taken for active; None where there are none."""
    loads: tuple[AbstractPointLoad, ...]
    line_loads: tuple[AbstractLineLoad, ...]
    stresses: tuple[InternalStress, ...]
    controls: tuple[Control, ...]
    regulators: tuple[Regulator, ...]
    gravity: Float[Array, " 3"]
    load_factor: Float[Array, ""]
    """Multiplies gravity, loads and internal stresses; statics raises it from 0 to 1."""
    scale: Float[Array, " nv"]
    """Size of a harmless change of each coordinate; convergence is measured in these units."""
    topology: Topology = eqx.field(static=True)
    name: str = eqx.field(static=True)
    linear: str = eqx.field(static=True, default="dense (small)")
    """How its linear systems are solved: structured or dense, and why; for people."""
    fields: RodFields | None = None
    """Where rods that are known at nodes keep what is known there; None where rods are elements."""
    formulation: str = eqx.field(static=True, default="strain")
    """Name of the formulation it was built for."""
    load_names: tuple[str, ...] = eqx.field(static=True, default=())
    """Whose the ``loads`` are, in their order."""

    def __repr__(self) -> str:
        rods = [slot.name for slot in self.topology.rod_slots]
        others = [f.name for f in self.topology.frames if f.name not in rods]
        lists = {
            "rods": rods,
            "bodies and markers": others,
            "closures": self.closures.names,
            "driven by": self.transmissions.names,
        }
        words = [f"{self.nv} degrees of freedom"]
        if self.linear != "dense (small)":
            words += [f"linear systems: {self.linear}"]
        words += [f"{self.equations} equations"] if self.equations else []
        words += [f"{head}: {', '.join(names)}" for head, names in lists.items() if names]
        return f"Model({self.name!r}: {'; '.join(words)})"

    def with_lengths_at(self, t: Float[Array, ""]) -> "Model":
        """The model with rods as long as they are at time t; itself if none changes its length."""
        if self.fields is not None and self.fields.grows:
            fields, ratios = self.fields.with_lengths_at(t)
            own = self.bodies.size - len(fields.lumped)
            mass = jnp.ones(self.bodies.size).at[own:].set(ratios[np.array(fields.lumped)])
            inertia = self.bodies.inertia * mass[:, None, None]
            bodies = dataclasses.replace(self.bodies, inertia=inertia)
            return dataclasses.replace(self, fields=fields, bodies=bodies)
        if not any(isinstance(g, RodGroup) and g.growth is not None for g in self.groups):
            return self
        groups = tuple(g.with_length_at(t) if isinstance(g, RodGroup) else g for g in self.groups)
        return dataclasses.replace(self, groups=groups)

    def without_loads(self) -> "Model":
        """The model with none of its loads, gravity neither."""
        found = dataclasses.replace(self, load_factor=np.zeros(()))
        if self.fields is None:
            return found
        return dataclasses.replace(found, fields=self.fields.without_loads())

    def frozen_at(self, t: Float[Array, ""]) -> "Model":
        """The model as it is at time t, with nothing growing or driven further: for statics.

        Equations between velocities say nothing about a robot at rest, and are left out.
        """

        def rest(g: Group) -> Group:
            if isinstance(g, RodGroup):
                return dataclasses.replace(g, growth_rates=None)
            if isinstance(g.joint, DrivenJoint):
                return dataclasses.replace(g, joint=dataclasses.replace(g.joint, still=True))
            return g

        groups = tuple(rest(g) for g in self.with_lengths_at(t).groups)
        return dataclasses.replace(self, groups=groups, slips=())

    def place(self, sample: int) -> tuple[int, int, int]:
        """Group, element in it, and sample in the group's own numbering, of a flat sample."""
        starts = self.topology.sample_start
        group = bisect_right(starts, sample) - 1
        local = sample - starts[group]
        return group, local // self.groups[group].samples, local

    @property
    def nq(self) -> int:
        """Length of the configuration vector q."""
        return self.topology.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom, the length of v."""
        return self.topology.nv

    @property
    def constraints(self) -> Constraints:
        """The table of all equations beside the balance."""
        closures, own = self.closures, self.transmissions
        return make_constraints(
            tuple(closures.names[k] for k in closures.joint_of_row),
            self.prescribed.names,
            tuple((f"{own.kinds[i]} {own.names[i]!r}", own.cables[i]) for i in own.imposed),
            self.stops.names,
            tuple((slip.name, slip.size) for slip in self.slips),
        )

    @property
    def equations(self) -> int:
        """Number of equations, each with a multiplier; their order is that of :attr:`constraints`."""
        return self.constraints.size

    @property
    def holonomic(self) -> int:
        """Number of equations between coordinates."""
        return self.constraints.holonomic

    @property
    def corners(self) -> tuple[float, ...]:
        """Times at which some load, or some law that drives the robot, is not smooth; sorted."""
        found = {c for load in self.loads for c in load.corners}
        found |= {c for load in self.line_loads for c in load.corners}
        found |= {c for stress in self.stresses for c in stress.kinks}
        joints = [g.joint for g in self.groups if isinstance(g, JointGroup)]
        found |= {c for joint in joints if isinstance(joint, DrivenJoint) for c in joint.kinks}
        laws = [g.growth for g in self.groups if isinstance(g, RodGroup) and g.growth is not None]
        corners = [law.corners for law in laws]
        if self.fields is not None:
            corners.append(self.fields.parts.host.corners)
        corners += [self.prescribed.laws.corners, self.transmissions.laws.corners]
        return tuple(sorted(found.union(*corners)))
