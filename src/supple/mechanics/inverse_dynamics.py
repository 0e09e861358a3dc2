"""Inverse dynamics: the generalized forces that a motion needs beyond the robot's own.

    f = w [I (A - γ) - ad(V)ᵀ I V] - external        at every sample
    λ = Wᵀ f                                         at every source
    R = Sᵀ λ + K (q - q₀) + D q̇ + internal actuation

R = 0 is the balance every solver works on: statics with ẋ = ẍ = 0, a time step with the scheme's
ẋ(x) and ẍ(x).
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, small
from supple.mechanics import static_index
from supple.mechanics.activity import relieved
from supple.mechanics.closures import (
    ClosureMotion,
    closure_motion,
    closure_wrenches,
)
from supple.mechanics.element_motion import Coordinates, group_rows
from supple.mechanics.joint_forces import joint_force, joint_tangent
from supple.mechanics.kinematics import GroupMotion, Kinematics, kinematics
from supple.mechanics.sliding import MaterialMotion, material_motion
from supple.mechanics.slips import SlipMotion, slip_motions, slip_wrenches
from supple.mechanics.transmission_layout import layout_of
from supple.mechanics.transmissions import (
    TransmissionMotion,
    line_wrenches,
    slot_force,
    transmission_motion,
)
from supple.mechanics.tree import sum_over_subtrees
from supple.model.constraints import CLOSURE, COORDINATE, STOP
from supple.model.loads import AbstractLineLoad, InternalStress
from supple.model.model import GROUND, JointGroup, Model, RodGroup


class Balance(NamedTuple):
    """Everything the tangent needs again after one evaluation of the balance."""

    residual: Float[Array, " nv"]
    motion: Kinematics
    wrench: tuple[Float[Array, "b p 6"], ...]
    """Wrench each sample asks of its element, subtrees hanging on it included."""
    stress: tuple[Float[Array, "b d 6"], ...]
    """Wᵀ f: weight times stress at rod nodes, the joint wrench at joints."""
    closures: ClosureMotion | None
    """Closing joints, where their multipliers were given."""
    violation: Float[Array, " n"]
    """Of the equations between coordinates (m), then of those between velocities (m/s)."""
    transmissions: TransmissionMotion | None
    slips: list[SlipMotion]
    """Contacts that may not slip, where their multipliers were given."""
    material: tuple[MaterialMotion | None, ...]
    """Motion of the material at the nodes of rods; None for joints."""


def inverse_dynamics(model: Model, c: Coordinates) -> Float[Array, " nv"]:
    """Residual of the balance (N, N m, and their like for strains)."""
    return balance(model, c).residual


def gaps(model: Model, q: Float[Array, " nq"], t: Float[Array, ""]) -> Float[Array, " n"]:
    """How far each equation between coordinates is from being fulfilled (m), whether it must be or not."""
    zero = jnp.zeros(model.nv)
    c = Coordinates(q, zero, zero, zero, t)
    return gaps_in(model, c, kinematics(model, c))


def violation(model: Model, q: Float[Array, " nq"], t: Float[Array, ""]) -> Float[Array, " n"]:
    """Residual of the equations between coordinates (m): zero for those that are let go."""
    return relieved(model, gaps(model, q, t), None)


def gaps_in(model: Model, c: Coordinates, motion: Kinematics) -> Float[Array, " n"]:
    """The same where the motion is at hand."""
    parts = [jnp.zeros(0)]
    if model.closures.size:
        parts.append(closure_motion(model, motion).violation)
    if model.prescribed.size:
        parts.append(_off_course(model, c))
    if len(model.transmissions.imposed):
        parts.append(transmission_motion(model, c, motion).gap)
    if model.stops.size:
        parts.append(_beyond_stops(model, c))
    return jnp.concatenate(parts)


def _off_course(model: Model, c: Coordinates) -> Float[Array, " n"]:
    """How far imposed coordinates are from their laws (m)."""
    imposed = model.prescribed
    now = c.q[np.array(imposed.q_index)] + c.x[np.array(imposed.v_index)]
    return imposed.scale * (now - imposed.values(c.t))


def _beyond_stops(model: Model, c: Coordinates) -> Float[Array, " n"]:
    """How far joints are beyond their stops (m); negative within them."""
    stops = model.stops
    now = c.q[np.array(stops.q_index)] + c.x[np.array(stops.v_index)]
    return stops.side * (now - stops.bound)


def equations(model: Model, c: Coordinates) -> Float[Array, " nv_and_n"]:
    """Balance, then the violations: what vanishes in every motion of a robot with such equations."""
    state = balance(model, c)
    return jnp.concatenate([state.residual, state.violation])


@partial(jax.jit, inline=True)
def balance(model: Model, c: Coordinates) -> Balance:
    """Evaluate the balance and keep the intermediate fields."""
    model = model.with_lengths_at(c.t)
    motion = kinematics(model, c)
    gravity = jnp.concatenate([jnp.zeros(3), model.load_factor * jnp.asarray(model.gravity)])
    material = tuple(
        material_motion(model, i, m, c) if isinstance(model.groups[i], RodGroup) else None
        for i, m in enumerate(motion.groups)
    )
    own = [
        _rod_wrench(g, m, moved, gravity) if isinstance(g, RodGroup) else jnp.zeros_like(m.twist)
        for g, m, moved in zip(model.groups, motion.groups, material, strict=True)
    ]
    own = _add_bodies(model, motion, gravity, own)
    own = _add_loads(model, motion, c.t, own)
    own = _add_line_loads(model, motion, c.t, own)
    closures, own = _add_closures(model, motion, c, own)
    slips, own = _add_slips(model, motion, c, own)
    transmissions, own = _add_lines(model, motion, c, own)
    wrench = _add_subtrees(model, own)
    stress = tuple(
        jnp.einsum("bpd,bpi->bdi", m.local.integration, f)
        for m, f in zip(motion.groups, wrench, strict=True)
    )
    parts = [
        jnp.einsum("bdim,bdi->bm", m.subspace, s) + element_force(model, i, c)
        for i, (m, s) in enumerate(zip(motion.groups, stress, strict=True))
    ]
    if transmissions is not None:
        parts = _add_slots(model, transmissions, parts)
    residual = jnp.concatenate([part.reshape(-1) for part in parts])
    violations = [jnp.zeros(0)]
    if closures is not None:
        violations.append(closures.violation)
    if model.prescribed.size and c.multipliers is not None:
        effort = c.multipliers[model.constraints.rows(COORDINATE)] * model.prescribed.scale
        residual = static_index.add(residual, np.array(model.prescribed.v_index), effort)
        violations.append(_off_course(model, c))
    if transmissions is not None and c.multipliers is not None:
        violations.append(transmissions.gap)
    if model.stops.size and c.multipliers is not None:
        effort = c.multipliers[model.constraints.rows(STOP)] * model.stops.side
        residual = static_index.add(residual, np.array(model.stops.v_index), effort)
        violations.append(_beyond_stops(model, c))
    violations += [slip.speed for slip in slips]
    return Balance(
        residual,
        motion,
        tuple(wrench),
        stress,
        closures,
        relieved(model, jnp.concatenate(violations), c.multipliers),
        transmissions,
        slips,
        material,
    )


def inertial_wrench(
    pose: Pose,
    inertia: Float[Array, "*b 6 6"],
    twist: Float[Array, "*b 6"],
    acceleration: Float[Array, "*b 6"],
    gravity: Float[Array, " 6"],
) -> Float[Array, "*b 6"]:
    """d(I V)/dt minus weight; all in the world frame but the inertia, which stays in that of the body.

    There it is constant, and two products with vectors are less work than turning it.
    """
    own_twist = se3.to_body(pose, twist)
    momentum = small.times(inertia, own_twist)
    push = small.times(inertia, se3.to_body(pose, acceleration - gravity))
    return se3.wrench_to_world(pose, push - se3.ad_transpose(own_twist, momentum))


def element_force(model: Model, index: int, c: Coordinates) -> Float[Array, "b m"]:
    """Elastic, damping, rotor and internally actuated generalized forces of one group."""
    group = model.groups[index]
    q = group_rows(model, index, c.q, configuration=True)
    x, xdot = group_rows(model, index, c.x), group_rows(model, index, c.xdot)
    if isinstance(group, JointGroup):
        return joint_force(group, q, x, xdot, group_rows(model, index, c.xddot))
    force = jnp.einsum("bmn,bn->bm", element_stiffness(model, index), q + x)
    viscous = rod_viscosity(group)
    if viscous is not None:
        force = force + jnp.einsum("bmn,bn->bm", viscous, xdot)
    for actuation in model.stresses:
        if actuation.group == index:
            pushed = model.load_factor * _stress_force(group, actuation, c.t)
            force = force.at[actuation.row].add(pushed)
    return force


def element_tangent(
    model: Model, index: int, c: Coordinates
) -> tuple[Float[Array, "b m m"], Float[Array, "b m m"]]:
    """Derivatives of :func:`element_force` by x and by ẋ."""
    group = model.groups[index]
    if isinstance(group, JointGroup):
        q = group_rows(model, index, c.q, configuration=True)
        return joint_tangent(
            group, q, group_rows(model, index, c.x), group_rows(model, index, c.xdot)
        )
    elastic, viscous = element_stiffness(model, index), rod_viscosity(group)
    return elastic, jnp.zeros_like(elastic) if viscous is None else viscous


def element_stiffness(model: Model, index: int) -> Float[Array, "b m m"]:
    """Constant stiffness matrices of the elements of a group: of rods, and of springs in joints."""
    group = model.groups[index]
    if isinstance(group, JointGroup):
        return jnp.eye(group.nv) * group.stiffness[:, :, None]
    return _projected(group, group.stiffness)


def rod_viscosity(group: RodGroup) -> Float[Array, "b m m"] | None:
    """Constant damping matrices of the rods of a group; None if undamped."""
    return None if group.damping is None else _projected(group, group.damping)


def _projected(group: RodGroup, matrix: Float[Array, "b n 6 6"]) -> Float[Array, "b m m"]:
    """∫ Φᵀ H Φ dX."""
    basis = group.grid.basis
    weighted = (group.length[:, None] * group.grid.weights)[:, :, None, None] * matrix
    return jnp.einsum("bnim,bnij,bnjk->bmk", basis, weighted, basis)


def _stress_force(
    group: RodGroup, actuation: InternalStress, t: Float[Array, ""]
) -> Float[Array, " m"]:
    """∫ Φᵀ Λ dX of an internal stress on one rod of a group."""
    row = actuation.row
    count = group.grid.weights.shape[1]
    length = group.length[row]
    stress = actuation.at(group.arc_lengths[row, :count], t)
    weights = length * group.grid.weights[row]
    return jnp.einsum("nim,ni,n->m", group.grid.basis[row], stress, weights)


def node_inertia(group: RodGroup) -> Float[Array, "b d 6 6"]:
    """Inertia a meter at the nodes, in their frames, with that of fluid that moves with them."""
    return group.inertia if group.added is None else group.inertia + group.added


def inertia_at_nodes(
    group: RodGroup, motion: GroupMotion, inertia: Float[Array, "b d 6 6"]
) -> Float[Array, "b d 6 6"]:
    """World inertia of rod nodes, weighted, from that a meter in their frames."""
    weights = group.length[:, None] * group.grid.weights
    return weights[..., None, None] * se3.matrix_to_world(motion.sources, inertia)


def _rod_wrench(
    group: RodGroup,
    motion: GroupMotion,
    material: MaterialMotion | None,
    gravity: Float[Array, " 6"],
) -> Float[Array, "b p 6"]:
    assert material is not None
    pose = motion.sources
    twist, acceleration = material
    nodes = inertial_wrench(pose, node_inertia(group), twist, acceleration, gravity)
    if group.added is not None:  # fluid has no weight in itself
        weight = small.times(group.added, se3.to_body(pose, jnp.broadcast_to(gravity, twist.shape)))
        nodes = nodes + se3.wrench_to_world(pose, weight)
    weights = group.length[:, None] * group.grid.weights
    extra = motion.twist.shape[1] - twist.shape[1]
    return jnp.pad(weights[..., None] * nodes, ((0, 0), (0, extra), (0, 0)))


def body_poses(model: Model, motion: Kinematics) -> Pose:
    """World poses of the rigid bodies' frames."""
    return motion.poses_at(np.array(model.bodies.sample)) @ model.bodies.offset


def _add_bodies(
    model: Model,
    motion: Kinematics,
    gravity: Float[Array, " 6"],
    own: list[Float[Array, "_ _ 6"]],
) -> list[Float[Array, "_ _ 6"]]:
    if model.bodies.size == 0:
        return own
    samples = np.array(model.bodies.sample)
    wrench = inertial_wrench(
        body_poses(model, motion),
        model.bodies.inertia,
        motion.twists_at(samples),
        static_index.take(motion.sample_accelerations(), samples),
        gravity,
    )
    return add_at_samples(own, samples, wrench)


def _add_loads(
    model: Model, motion: Kinematics, t: Float[Array, ""], own: list[Float[Array, "_ _ 6"]]
) -> list[Float[Array, "_ _ 6"]]:
    if not model.loads:
        return own
    poses, twists = motion.sample_poses(), motion.sample_twists()
    wrenches = []
    for load in model.loads:
        pose = Pose(poses.rotation[load.sample], poses.position[load.sample]) @ load.offset
        seen = Pose(pose.rotation, pose.position + motion.origin)  # loads see the world's pose
        wrench = load.wrench(t, seen, se3.to_body(pose, twists[load.sample]))
        wrenches.append(-model.load_factor * se3.wrench_to_world(pose, wrench))
    samples = np.array([load.sample for load in model.loads])
    return add_at_samples(own, samples, jnp.stack(wrenches))


class Sections(NamedTuple):
    """Sections of r rods, as a load sees them: weights (m), arc lengths (m), poses, body twists."""

    samples: np.ndarray
    """Their samples in the group's own numbering, all in one row."""
    weights: Float[Array, "r n"]
    X: Float[Array, "r n"]
    near: Pose
    """About the origin of the motion."""
    pose: Pose
    twist: Float[Array, "r n 6"]


def load_sections(model: Model, motion: Kinematics, load: AbstractLineLoad) -> Sections:
    """The sections that a load along rods acts on."""
    group, own = model.groups[load.group], motion.groups[load.group]
    assert isinstance(group, RodGroup)
    chosen, count = np.array(load.rows), group.grid.weights.shape[1]
    rotation, position, twist, places = (
        static_index.take(part, chosen)[:, :count]
        for part in (own.pose.rotation, own.pose.position, own.twist, group.arc_lengths)
    )
    near = Pose(rotation, position)
    length = static_index.take(group.length, chosen)[:, None]
    return Sections(
        samples=(group.samples * chosen[:, None] + np.arange(count)).reshape(-1),
        weights=length * static_index.take(group.grid.weights, chosen),
        X=places,
        near=near,
        pose=Pose(near.rotation, near.position + motion.origin),
        twist=se3.to_body(near, twist),
    )


def on_sections(load: AbstractLineLoad, method: str, t: Float[Array, ""], at: Sections) -> Any:
    """A method of a load for all sections of all its rods."""

    def one(load: AbstractLineLoad, X: Any, pose: Pose, twist: Any) -> Any:
        def section(node: Any, X: Any, pose: Pose, twist: Any) -> Any:
            return getattr(load, method)(node, t, X, pose, twist)

        return jax.vmap(section)(load.nodes, X, pose, twist)

    return jax.vmap(one)(load, at.X, at.pose, at.twist)


def _add_line_loads(
    model: Model, motion: Kinematics, t: Float[Array, ""], own: list[Float[Array, "_ _ 6"]]
) -> list[Float[Array, "_ _ 6"]]:
    own = list(own)
    for load in model.line_loads:
        at = load_sections(model, motion, load)
        density = on_sections(load, "density", t, at)
        wrench = -model.load_factor * at.weights[..., None] * se3.wrench_to_world(at.near, density)
        own[load.group] = add_sections(own[load.group], at, wrench)
    return own


def add_sections(
    part: Float[Array, "b p *k"], at: Sections, values: Float[Array, "r n *k"]
) -> Float[Array, "b p *k"]:
    """Add values of some rods' sections to those of a group's samples."""
    flat = part.reshape(-1, *part.shape[2:])
    return static_index.add(flat, at.samples, values.reshape(-1, *values.shape[2:])).reshape(
        part.shape
    )


def _add_closures(
    model: Model, motion: Kinematics, c: Coordinates, own: list[Float[Array, "_ _ 6"]]
) -> tuple[ClosureMotion | None, list[Float[Array, "_ _ 6"]]]:
    if model.closures.size == 0 or c.multipliers is None:
        return None, own
    at = closure_motion(model, motion)
    wrenches = closure_wrenches(model, at, c.multipliers[model.constraints.rows(CLOSURE)])
    closures = model.closures
    return at, _add_between(own, closures.outer_sample, closures.inner_sample, wrenches)


def _add_lines(
    model: Model, motion: Kinematics, c: Coordinates, own: list[Float[Array, "_ _ 6"]]
) -> tuple[TransmissionMotion | None, list[Float[Array, "_ _ 6"]]]:
    """Transmissions now, and the forces of those that pull along straight lines."""
    if model.transmissions.size == 0:
        return None, own
    at = transmission_motion(model, c, motion)
    segments = model.transmissions.segments
    if segments.size:
        own = _add_between(
            own, segments.outer_sample, segments.inner_sample, line_wrenches(model, at)
        )
    return at, own


def _add_slots(
    model: Model, at: TransmissionMotion, parts: list[Float[Array, "_ _"]]
) -> list[Float[Array, "_ _"]]:
    """Generalized forces of the groups, with those of channels and affine parts of transmissions."""
    layout = layout_of(model)
    return [
        part if slots is None else part + slot_force(model, at, slots)[:, : part.shape[1]]
        for part, slots in zip(parts, layout.groups, strict=True)
    ]


def _add_between(
    own: list[Float[Array, "_ _ 6"]],
    outer: tuple[int, ...],
    inner: tuple[int, ...],
    wrenches: Float[Array, "k 6"],
) -> list[Float[Array, "_ _ 6"]]:
    """Wrenches asked of outer samples and given by inner ones; the ground needs nothing."""
    for samples, sign in ((outer, 1.0), (inner, -1.0)):
        moving = np.flatnonzero(np.array(samples) != GROUND)
        own = add_at_samples(
            own, np.array(samples)[moving], sign * static_index.take(wrenches, moving)
        )
    return own


def _add_slips(
    model: Model, motion: Kinematics, c: Coordinates, own: list[Float[Array, "_ _ 6"]]
) -> tuple[list[SlipMotion], list[Float[Array, "_ _ 6"]]]:
    if not model.slips or c.multipliers is None:
        return [], own
    at = slip_motions(model, motion)
    samples = np.array([slip.sample for slip in model.slips])
    return at, add_at_samples(own, samples, slip_wrenches(model, at, c.multipliers))


def _add_subtrees(model: Model, own: list[Float[Array, "_ _ 6"]]) -> list[Float[Array, "_ _ 6"]]:
    """Add to each sample what the elements hanging on it ask for, descendants included."""
    topology = model.topology
    if topology.all_on_ground:
        return own
    totals = jnp.concatenate([part.sum(axis=1) for part in own])
    asked = sum_over_subtrees(topology.parent, totals)
    attach = np.array(topology.attach)
    hanging = np.flatnonzero(attach != GROUND)
    return add_at_samples(own, attach[hanging], static_index.take(asked, hanging))


def add_at_samples(
    parts: list[Float[Array, "_ _ *k"]], samples: np.ndarray, values: Float[Array, "n *k"]
) -> list[Float[Array, "_ _ *k"]]:
    """Scatter flat-sample values into the groups' sample arrays."""
    result, start = [], 0
    for part in parts:
        count = part.shape[0] * part.shape[1]
        here = np.flatnonzero((samples >= start) & (samples < start + count))
        if len(here):
            flat = part.reshape(count, *part.shape[2:])
            added = static_index.add(flat, samples[here] - start, static_index.take(values, here))
            part = added.reshape(part.shape)
        result.append(part)
        start += count
    return result
