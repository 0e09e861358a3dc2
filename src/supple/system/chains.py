"""Forward dynamics of a chain of pieces of constant strain, in time linear in their number.

For a robot that is one rod in pieces, on the ground or on a joint, with bodies and loads at ends of pieces
and tendons along it, accelerations need no general machinery: every array has the pieces on its last axis,
sections are written out (:mod:`supple.space.sections`), and the chain is condensed by
:mod:`halving <supple.system.halving>`. Equations (14)-(22) of the notes on piecewise constant strain (004)
say the same of one piece after the other; here the outward recursions are prefix sums and the inward one is
a tree.

What is not such a chain goes along the graph (:mod:`supple.system.elimination`), with the same result.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3
from supple.lie.frames import Frames, Once, ad, ad_transpose, apply, cross, fitted
from supple.mechanics.element_motion import Coordinates, group_rows, local_motion
from supple.mechanics.inverse_dynamics import element_force, inertial_wrench
from supple.mechanics.kinematics import frame_origin, source_changes, source_rates
from supple.mechanics.transmission_layout import layout_of
from supple.mechanics.transmissions import channel_motion, slot_force
from supple.model.model import GROUND, JointGroup, Model, RodGroup
from supple.model.special_joints import StateJoint
from supple.space import PieceGrid
from supple.space.sections import (
    Block,
    Sections,
    column_blocks,
    prefix_frames,
    prefix_sums,
    sections,
)
from supple.system import halving
from supple.system.halving import Ends, product, times, transposed_product

ROOT = -1
"""Stands for what carries the chain where a piece is meant."""


class Chain(NamedTuple):
    """The groups of the pieces and of the joint that they hang on (-1 for none), and where things hang."""

    pieces: int
    joint: int
    bodies: tuple[int, ...]
    """At the end of which piece each body is, ..."""
    loads: tuple[int, ...]
    """... and each load; ROOT for the joint."""


def chain_of(model: Model) -> Chain | None:
    """The chain that a robot is; None if it is something else."""
    topology, groups = model.topology, model.groups
    rods = [i for i, g in enumerate(groups) if isinstance(g, RodGroup)]
    joints = [i for i, g in enumerate(groups) if isinstance(g, JointGroup)]
    if len(rods) != 1 or len(joints) > 1 or len(topology.rod_slots) != 1:
        return None
    pieces, joint = rods[0], joints[0] if joints else -1
    group = groups[pieces]
    assert isinstance(group, RodGroup)
    if not isinstance(group.grid, PieceGrid) or group.added is not None:
        return None
    if model.equations or model.regulators or model.line_loads or model.transmissions.segments.size:
        return None
    first, start = topology.element_start[pieces], topology.sample_start[pieces]
    ends = start + group.samples * np.arange(group.size) + group.grid.count
    root = GROUND
    if joint >= 0:
        carrier = groups[joint]
        assert isinstance(carrier, JointGroup)
        root = topology.sample_start[joint]
        on_ground = topology.attach[topology.element_start[joint]] == GROUND
        if carrier.size > 1 or isinstance(carrier.joint, StateJoint) or not on_ground:
            return None
    attach = np.array(topology.attach)[first : first + group.size]
    if attach[0] != root or np.any(attach[1:] != ends[:-1]):
        return None
    places = {int(sample): k for k, sample in enumerate(ends)} | {root: ROOT}
    bodies, loads = model.bodies.sample, [load.sample for load in model.loads]
    if not all(sample in places for sample in (*bodies, *loads)):
        return None
    found = [tuple(places[sample] for sample in held) for held in (bodies, loads)]
    return Chain(pieces, joint, *found)


class _Root(NamedTuple):
    """What carries the first piece: its motion without accelerations of its own, and how these move it."""

    pose: Pose
    twist: Float[Array, " 6"]
    acceleration: Float[Array, " 6"]
    subspace: Float[Array, "6 j"]


class _Lumps(NamedTuple):
    """World inertia of bodies and wrenches asked for by them and by loads, at one end."""

    inertia: Float[Array, "6 6"]
    wrench: Float[Array, " 6"]


class _Gram(NamedTuple):
    """Of each piece, seen from its start: masses of its own coordinates and of what enters, and wrenches."""

    own: Float[Array, "m m n"]
    mixed: Float[Array, "6 m n"]
    whole: Float[Array, "6 6 n"]
    residual: Float[Array, "m n"]
    wrench: Float[Array, "6 n"]


def chain_acceleration(model: Model, chain: Chain, c: Coordinates) -> Float[Array, " nv"]:
    """ẍ of a chain at x, ẋ and t."""
    group = model.groups[chain.pieces]
    assert isinstance(group, RodGroup)
    assert isinstance(group.grid, PieceGrid)
    strains = group.grid.field.rows
    origin, tip, once = frame_origin(model, c.q), group.grid.count, Once(c.t)
    root, forces = _root(model, chain, c, origin), _forces(model, chain, c)
    columns = jnp.moveaxis(jnp.asarray(group.grid.basis)[:, 0], 0, -1)
    q = group_rows(model, chain.pieces, c.q, configuration=True)
    q = (q + group_rows(model, chain.pieces, c.x)).T
    strain = jnp.asarray(group.grid.rest)[:, 0].T + times(columns, q)
    rate = times(columns, group_rows(model, chain.pieces, c.xdot).T)
    points = jnp.asarray(group.grid.points)[:, : tip + 1]
    found = sections(strain, rate, (jnp.asarray(group.length)[:, None] * points).T, once)

    # Outward: where pieces start, their twists and their accelerations without q̈.
    end, nodes = _some(found, tip), _some(found, slice(0, tip))
    element = model.topology.element_start[chain.pieces]
    first = root.pose @ Pose(*(jnp.asarray(part)[element] for part in model.offsets))
    base = prefix_frames(Frames(*first), end.frames, once)
    added, growth = once(end.frames.twists_out(end.rate)), once(end.frames.twists_out(end.change))
    added = once(base.twists_out(added))
    before = root.twist[:, None] + prefix_sums(added) - added
    change = once(ad(before + added, added) + base.twists_out(growth))
    drift = root.acceleration[:, None] + prefix_sums(change) - change
    before, drift = once((before, drift))

    # What a piece asks for, seen from its start and then in the world.
    gravity = jnp.pad(model.load_factor * jnp.asarray(model.gravity), (3, 0))[:, None]
    weights = jnp.asarray(group.length)[:, None] * group.grid.weights
    gram = _gram(
        nodes,
        _sectional(group, group.inertia, weights),
        base.twists_in(before),
        base.twists_in(drift - gravity),
        strains,
        once,
    )
    own, residual = gram.own, gram.residual + forces[chain.pieces].T
    moves = base.twists_out(once(end.frames.twists_out(end.columns(strains))))
    asks, asked = base.wrenches_out(gram.mixed), base.wrenches_out(gram.wrench)
    half = once(base.wrenches_out(gram.whole))
    carried = base.wrenches_out(jnp.swapaxes(half, 0, 1))
    moves, asks, carried, asked = once((moves, asks, carried, asked))
    tips = base @ end.frames
    held = _lumps(model, chain, c, origin, tips, before + added, drift + change, root)
    if lumps := {k: lump for k, lump in held.items() if k != ROOT}:
        places = np.array(list(lumps))
        more = jnp.stack([lump.inertia for lump in lumps.values()], axis=-1)
        wrench = jnp.stack([lump.wrench for lump in lumps.values()], axis=-1)
        here = moves[..., places]
        push = product(more, here)
        own = own.at[..., places].add(transposed_product(here, push))
        asks = asks.at[..., places].add(push)
        carried = carried.at[..., places].add(more)
        residual = residual.at[..., places].add(transposed_product(here, wrench[:, None])[:, 0])
        asked = asked.at[..., places].add(wrench)

    # Inward: own coordinates first, then the pieces in pairs.
    right = [jnp.swapaxes(moves, 0, 1), jnp.swapaxes(asks, 0, 1), residual[:, None]]
    own, load = once((own, jnp.concatenate(right, axis=1)))
    solved = halving.solve(own, load, once)
    by_end, by_base, free = solved[:, :6], solved[:, 6:12], solved[:, 12]
    by_end, by_base, free = once((by_end, by_base, free))
    ends = Ends(
        np.eye(6)[:, :, None] - product(moves, by_base),
        product(moves, by_end),
        carried - product(asks, by_base),
        -times(moves, free),
        asked - times(asks, free),
    )
    whole, levels = halving.condense(once(ends), once)

    # Outward again: the joint, then the pieces.
    start, moved = jnp.zeros(6), []
    if chain.joint >= 0:
        below = held.get(ROOT, _Lumps(jnp.zeros((6, 6)), jnp.zeros(6)))
        mass = root.subspace.T @ (whole.D[..., 0] + below.inertia) @ root.subspace
        push = root.subspace.T @ (whole.d[..., 0] + below.wrench) + forces[chain.joint][0]
        carrier = model.groups[chain.joint]
        assert isinstance(carrier, JointGroup)
        if carrier.armature is not None:
            mass = mass + jnp.diag(jnp.asarray(carrier.armature)[0])
        accelerated = -jnp.linalg.solve(mass, push)
        start = root.subspace @ accelerated
        moved.append((chain.joint, accelerated))
    entering, wanted = halving.expand(levels, start[:, None], jnp.zeros((6, 1)))
    entering, wanted = once((entering[:, : group.size], wanted[:, : group.size]))
    pieces = -free - times(by_base, entering) - times(by_end, wanted)
    moved.append((chain.pieces, pieces.T.reshape(-1)))
    return jnp.concatenate([part for _, part in sorted(moved, key=lambda pair: pair[0])])


def _some(found: Sections, which: int | slice) -> Sections:
    """Sections at some of the arc lengths."""
    rotation, position = (part[..., which, :] for part in found.frames)
    return Sections(Frames(rotation, position), *(part[..., which, :] for part in found[1:]))


def _gram(
    nodes: Sections,
    inertia: Float[Array, "..."],
    twist: Float[Array, "6 n"],
    acceleration: Float[Array, "6 n"],
    strains: tuple[int, ...],
    once: Once,
) -> _Gram:
    """Σ Xᵀ (I X, F) over the nodes of each piece: masses, and what a motion without q̈ asks for.

    X are the body twists of a node by the piece's own coordinates and by what enters at its start.
    """
    frames = nodes.frames
    inverse = jnp.swapaxes(frames.rotation, 0, 1)
    lever = jnp.swapaxes(cross(fitted(frames.position, frames.rotation[0]), frames.rotation), 0, 1)
    inverse, lever = once((inverse, lever))

    def entering(x: Float[Array, "6 n"]) -> Float[Array, "6 p n"]:
        """``Ad(g)⁻¹ x``."""
        angular = apply(inverse, x[:3, None])
        return jnp.concatenate([angular, apply(lever, x[:3, None]) + apply(inverse, x[3:, None])])

    speed = once(entering(twist) + nodes.rate)
    change = once(entering(acceleration) + ad(speed, nodes.rate) + nodes.change)
    momentum = once(_weighed(inertia, speed))
    force = once(_weighed(inertia, change) - ad_transpose(speed, momentum))
    own = column_blocks(nodes, strains)
    base: list[Block] = [(inverse, lever), (None, inverse)]
    weighed = [once(_weighed_block(inertia, block)) for block in (*own, *base)]
    first = len(own)

    def row(left: Block, right: list[Block]) -> Float[Array, "i j n"]:
        return jnp.concatenate([once(_paired(left, block)) for block in right], axis=1)

    def rows(left: list[Block], right: list[Block]) -> Float[Array, "i j n"]:
        return jnp.concatenate([row(block, right) for block in left])

    load: list[Block] = [(force[:3, None], force[3:, None])]
    return _Gram(
        once(rows(own, weighed[:first])),
        once(rows(base, weighed[:first])),
        once(rows(base, weighed[first:])),
        rows(own, load)[:, 0],
        rows(base, load)[:, 0],
    )


def _paired(a: Block, b: Block) -> Float[Array, "i j n"]:
    """Σ aᵀ b over angular and linear parts and nodes."""
    terms = [
        x[k, :, None, p] * y[k, None, :, p]
        for x, y in zip(a, b, strict=True)
        if x is not None and y is not None
        for k in range(3)
        for p in range(x.shape[2])
    ]
    return sum(terms[1:], terms[0])


def _weighed_block(matrices: Float[Array, "..."], block: Block) -> Block:
    """Matrices of sections times some columns."""
    upper, lower = block
    if matrices.ndim == 3:
        heavy = fitted(matrices, lower[0])
        return None if upper is None else heavy[:3] * upper, heavy[3:] * lower
    whole = jnp.concatenate([jnp.zeros_like(lower) if upper is None else upper, lower])
    found = apply(matrices, whole)
    return found[:3], found[3:]


def _sectional(
    group: RodGroup, matrices: Float[Array, "n p 6 6"], weights: Float[Array, "n p"]
) -> Float[Array, "..."]:
    """Matrices of sections at the nodes, weighted: (6, 6, nodes, pieces), or (6, nodes, pieces) diagonals."""
    count = group.grid.count
    matrices = jnp.asarray(matrices)[:, :count]
    if group.diagonal:
        entries = [matrices[:, :, k, k] * weights[:, :count] for k in range(6)]
        return jnp.stack([entry.T for entry in entries])
    return jnp.transpose(matrices * weights[:, :count, None, None], (2, 3, 1, 0))


def _weighed(matrices: Float[Array, "..."], x: Float[Array, "6 ..."]) -> Float[Array, "6 ..."]:
    """Such matrices times vectors."""
    if matrices.ndim == 3:
        return fitted(matrices, x[0]) * x
    return apply(matrices, x)


def _root(model: Model, chain: Chain, c: Coordinates, origin: Float[Array, " 3"]) -> _Root:
    """The ground, or the joint on it."""
    if chain.joint < 0:
        return _Root(Pose(jnp.eye(3), -origin), jnp.zeros(6), jnp.zeros(6), jnp.zeros((6, 0)))
    local = local_motion(model, chain.joint, c)
    element = model.topology.element_start[chain.joint]
    rotation, position = (jnp.asarray(part)[element] for part in model.offsets)
    pose = Pose(rotation, position - origin) @ Pose(*(part[0, 0] for part in local.pose))
    sources = Pose(pose.rotation[None, None], pose.position[None, None])
    subspace = se3.columns_to_world(sources, local.subspace)
    xdot = group_rows(model, chain.joint, c.xdot)
    rates = source_rates(local, sources, subspace, xdot)
    changes = source_changes(local, sources, subspace, rates, rates, xdot, jnp.zeros_like(xdot))
    return _Root(pose, rates[0, 0], changes[0, 0], subspace[0, 0])


def _forces(model: Model, chain: Chain, c: Coordinates) -> list[Float[Array, "b m"]]:
    """Elastic, damping and driving forces of all groups: what no motion of others changes."""
    parts = [
        _section_forces(model, i, c) if i == chain.pieces else element_force(model, i, c)
        for i in range(len(model.groups))
    ]
    if model.transmissions.size == 0:
        return parts
    driven, slots = channel_motion(model, c), layout_of(model).groups
    return [
        part if own is None else part + slot_force(model, driven, own)[:, : part.shape[1]]
        for part, own in zip(parts, slots, strict=True)
    ]


def _section_forces(model: Model, index: int, c: Coordinates) -> Float[Array, "b m"]:
    """Those of pieces: stresses are constant along them, but for sections that vary."""
    group = model.groups[index]
    assert isinstance(group, RodGroup)
    if not group.diagonal or model.stresses:
        return element_force(model, index, c)
    weights = jnp.asarray(group.length)[:, None] * group.grid.weights
    columns = jnp.moveaxis(jnp.asarray(group.grid.basis)[:, 0], 0, -1)
    q = group_rows(model, index, c.q, configuration=True) + group_rows(model, index, c.x)
    stress = _sectional(group, group.stiffness, weights).sum(axis=1) * times(columns, q.T)
    if group.damping is not None:
        rate = times(columns, group_rows(model, index, c.xdot).T)
        stress = stress + _sectional(group, group.damping, weights).sum(axis=1) * rate
    return transposed_product(columns, stress[:, None])[:, 0].T


def _lumps(
    model: Model,
    chain: Chain,
    c: Coordinates,
    origin: Float[Array, " 3"],
    tips: Frames,
    twists: Float[Array, "6 n"],
    accelerations: Float[Array, "6 n"],
    root: _Root,
) -> dict[int, _Lumps]:
    """Bodies and loads by the piece at whose end they are."""
    gravity = jnp.pad(model.load_factor * jnp.asarray(model.gravity), (3, 0))
    found: dict[int, _Lumps] = {}

    def motion(place: int) -> tuple[Pose, Float[Array, " 6"], Float[Array, " 6"]]:
        if place == ROOT:
            return root.pose, root.twist, root.acceleration
        pose = Pose(tips.rotation[..., place], tips.position[..., place])
        return pose, twists[:, place], accelerations[:, place]

    def add(place: int, inertia: Array, wrench: Array) -> None:
        before = found.get(place)
        if before is not None:
            inertia, wrench = before.inertia + inertia, before.wrench + wrench
        found[place] = _Lumps(inertia, wrench)

    for i, place in enumerate(chain.bodies):
        pose, twist, acceleration = motion(place)
        pose = pose @ Pose(*(jnp.asarray(part)[i] for part in model.bodies.offset))
        own = jnp.asarray(model.bodies.inertia)[i]
        wrench = inertial_wrench(pose, own, twist, acceleration, gravity)
        add(place, se3.matrix_to_world(pose, own), wrench)
    for load, place in zip(model.loads, chain.loads, strict=True):
        pose, twist, _ = motion(place)
        pose = pose @ load.offset
        seen = Pose(pose.rotation, pose.position + origin)
        wrench = se3.wrench_to_world(pose, load.wrench(c.t, seen, se3.to_body(pose, twist)))
        add(place, jnp.zeros((6, 6)), -model.load_factor * wrench)
    return found
