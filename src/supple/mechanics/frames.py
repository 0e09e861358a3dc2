"""Poses, twists, accelerations and Jacobians of named frames and of points along rods."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import ArgumentError
from supple.lie import Pose, se3
from supple.mechanics.element_motion import Coordinates, group_rows, local_motion
from supple.mechanics.element_tangent import columns_of, own_columns, subspace_rates
from supple.mechanics.fields import (
    field_motion,
    field_rest,
    field_shape,
    field_values,
    in_body,
)
from supple.mechanics.kinematics import (
    Kinematics,
    frame_origin,
    inner_poses,
    kinematics,
    source_changes,
    source_rates,
)
from supple.model.model import GROUND, Frame, Model, RodGroup, Slot
from supple.space import RodGrid, piece_grid, rod_grid

_Named = TypeVar("_Named", Frame, Slot)


class FrameMotion(NamedTuple):
    """Motion of one frame: world pose, body twist η, its rate, body Jacobian J and its rate J̇.

    With coordinates x about q: η = J ẋ and η̇ = J ẍ + J̇ ẋ, but for what is driven.
    """

    pose: Pose
    twist: Float[Array, " 6"]
    acceleration: Float[Array, " 6"]
    jacobian: Float[Array, "6 nv"]
    jacobian_rate: Float[Array, "6 nv"]


class _Columns(NamedTuple):
    """World Jacobian of a sample, and its rate."""

    value: Float[Array, "6 m"]
    rate: Float[Array, "6 m"]


def find_frame(model: Model, name: str) -> Frame:
    """The frame of a named rod (its tip), body or marker."""
    return _named("frame", name, model.topology.frames)


def find_rod(model: Model, name: str) -> Slot:
    """The rod of that name."""
    return _named("rod", name, model.topology.rod_slots)


def find_joint(model: Model, name: str) -> Slot:
    """The joint of the item of that name."""
    return _named("joint", name, model.topology.joint_slots)


def find_transmission(model: Model, kind: str, name: str) -> int:
    """Index of the tendon, chamber, motor or spring of that name."""
    own = model.transmissions
    known = [n for n, k in zip(own.names, own.kinds, strict=True) if k == kind]
    if name not in known:
        raise _unknown(kind, name, known)
    return own.names.index(name)


def _named(kind: str, name: str, among: Sequence[_Named]) -> _Named:
    for found in among:
        if found.name == name:
            return found
    raise _unknown(kind, name, [one.name for one in among])


def _unknown(kind: str, name: str, known: Sequence[str]) -> ArgumentError:
    need = ", ".join(known) or f"none: the robot has no {kind}s"
    return ArgumentError(f"{kind}: got {name!r}; need one of: {need}")


def frame_motion(
    model: Model,
    name: str,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"] | None = None,
    a: Float[Array, " nv"] | None = None,
    t: Float[Array, ""] | float = 0.0,
    fraction: float | None = None,
) -> FrameMotion:
    """Motion of a named frame, or of the point at a ``fraction`` of a rod's length."""
    zero = jnp.zeros(model.nv)
    v = zero if v is None else jnp.asarray(v)
    a = zero if a is None else jnp.asarray(a)
    c = Coordinates(jnp.asarray(q), zero, v, a, jnp.asarray(t))
    if fraction is not None:
        return _point_motion(model, name, fraction, c)
    frame = find_frame(model, name)
    offset = Pose(
        jnp.asarray(model.frame_offsets.rotation)[frame.offset],
        jnp.asarray(model.frame_offsets.position)[frame.offset],
    )
    if frame.sample == GROUND:
        none = jnp.zeros((6, model.nv))
        return FrameMotion(offset, jnp.zeros(6), jnp.zeros(6), none, none)
    motion = kinematics(model, c)
    poses = motion.sample_poses()
    near = Pose(poses.rotation[frame.sample], poses.position[frame.sample]) @ offset
    return _in_body(
        near,
        Pose(near.rotation, near.position + motion.origin),
        motion.sample_twists()[frame.sample],
        motion.sample_accelerations()[frame.sample],
        _sample_columns(model, motion, frame.sample),
    )


def frame_poses(model: Model, q: Float[Array, " nq"], t: Float[Array, ""] | float = 0.0) -> Pose:
    """World poses of all named frames, in the order of ``model.topology.frames``."""
    zero = jnp.zeros(model.nv)
    motion = kinematics(model, Coordinates(q, zero, zero, zero, jnp.asarray(t)))
    samples = np.array([frame.sample for frame in model.topology.frames])
    found = motion.poses_at(samples) @ model.frame_offsets
    return Pose(found.rotation, found.position + motion.origin)


def rod_shape(
    model: Model,
    name: str,
    q: Float[Array, " nq"],
    points: Float[Array, " n"] | int = 41,
    t: Float[Array, ""] | float = 0.0,
) -> Pose:
    """World poses of a rod's sections at fractions ``points`` (or at that many even ones)."""
    model = model.with_lengths_at(jnp.asarray(t, dtype=float))
    slot = find_rod(model, name)
    u = np.linspace(0.0, 1.0, points) if isinstance(points, int) else np.asarray(points)
    if model.fields is not None:
        return field_shape(model, name, jnp.asarray(q), u)
    zero = jnp.zeros(model.nv)
    c = Coordinates(jnp.asarray(q), zero, zero, zero, jnp.asarray(t))
    origin = frame_origin(model, c.q)
    relative = [local_motion(model, i, c).pose for i in range(len(model.groups))]
    inner = inner_poses(model, relative, origin)
    element = model.topology.element_start[slot.group] + slot.row
    if slot.in_pieces:
        piece, arc, strain = _on_pieces(model, slot, c.q, u)
        start = Pose(inner.rotation[element + piece], inner.position[element + piece] + origin)
        return start @ se3.exp(arc[:, None] * strain)
    base = Pose(inner.rotation[element], inner.position[element] + origin)
    own = shape_from_start(rod_sampled_at(model, name, u), c.q[slot.q])
    return Pose(
        base.rotation @ own.rotation,
        base.position + own.position @ base.rotation.T,
    )


def shape_from_start(rod: RodGroup, q: Float[Array, " m"]) -> Pose:
    """Poses of one rod's further samples seen from its first section, for its own coordinates."""
    pose = rod.grid.poses(q, jnp.asarray(rod.length))
    nodes = rod.grid.count
    return Pose(pose.rotation[nodes:], pose.position[nodes:])


def rod_strain(
    model: Model, name: str, q: Float[Array, " nq"], points: Float[Array, " n"] | int = 41
) -> Float[Array, "n 6"]:
    """Strain (κx, κy, κz, γx, γy, γz) of a rod at fractions of its length."""
    slot = find_rod(model, name)
    u = np.linspace(0.0, 1.0, points) if isinstance(points, int) else np.asarray(points)
    if model.fields is not None:
        return field_values(model, name, jnp.asarray(q), u)[:, :6]
    if slot.in_pieces:
        return _on_pieces(model, slot, jnp.asarray(q), u, "right")[2]
    group = model.groups[slot.group]
    assert isinstance(group, RodGroup)
    grid = group.grid
    assert isinstance(grid, RodGrid)
    rest = grid.rest_profile(u) if grid.rest_profile else grid.rest[slot.row][:1]
    return rest + jnp.einsum("nim,m->ni", grid.field.values(u), jnp.asarray(q)[slot.q])


def rod_rest(model: Model, name: str, points: Float[np.ndarray, " n"]) -> Float[Array, "n 6"]:
    """Strain at rest at fractions of a rod's length."""
    if model.fields is not None:
        return field_rest(model, name, points)
    return rod_strain(model, name, jnp.zeros(model.nq), points)


def _on_pieces(
    model: Model,
    slot: Slot,
    q: Float[Array, " nq"],
    u: Float[np.ndarray, " n"],
    side: Literal["left", "right"] = "left",
) -> tuple[np.ndarray, Float[Array, " n"], Float[Array, "n 6"]]:
    """Which pieces of a rod fractions are on, how far (m), and strains there.

    Where two pieces meet, it is the one on that ``side``; bases of constants take the right one.
    """
    group = model.groups[slot.group]
    assert isinstance(group, RodGroup)
    check_fractions(slot, u)
    edges = np.array(slot.edges)
    piece = np.clip(np.searchsorted(edges, u, side=side) - 1, 0, slot.pieces - 1)
    share = (u - edges[piece]) / np.diff(edges)[piece]
    rows = slot.row + piece
    own = q[slot.q].reshape(slot.pieces, -1)[piece]
    basis, rest = (jnp.asarray(part)[rows, 0] for part in (group.grid.basis, group.grid.rest))
    strain = rest + jnp.einsum("nim,nm->ni", basis, own)
    return piece, share * jnp.asarray(group.length)[rows], strain


def check_fractions(slot: Slot, u: Float[np.ndarray, " n"]) -> None:
    """Raise unless all are on the rod."""
    outside = [place for place in u if not 0.0 <= place <= 1.0]
    if outside:
        raise ArgumentError(
            f"{slot.name}: fraction: got {outside[0]}; need fractions of the length in [0, 1]"
        )


def rod_sampled_at(model: Model, name: str, points: Float[np.ndarray, " n"]) -> RodGroup:
    """One rod of the model, alone and without a batch axis, sampled at fractions ``points``."""
    slot = find_rod(model, name)
    check_fractions(slot, points)
    group = model.groups[slot.group]
    assert isinstance(group, RodGroup)
    one = jax.tree.map(lambda leaf: leaf[slot.row], group)
    old = one.grid
    assert isinstance(old, RodGrid)
    rest = old.rest_profile if old.rest_profile else old.rest[0]
    count = old.weights.shape[0]
    edges = old.edges
    places = tuple(float(u) for u in points)
    new = rod_grid(old.field, rest, places, old.integrator, count // (len(edges) - 1), edges[1:-1])
    return eqx.tree_at(lambda rod: rod.grid, one, new)


def _point_motion(model: Model, name: str, fraction: float, c: Coordinates) -> FrameMotion:
    """Motion at a fraction of a rod's length: the tip's, less what the rod adds beyond the point."""
    if model.fields is not None:
        return _field_point(model, name, fraction, c)
    model = model.with_lengths_at(c.t)
    slot = find_rod(model, name)
    motion = kinematics(model, c)
    group, own = model.groups[slot.group], motion.groups[slot.group]
    assert isinstance(group, RodGroup)
    if slot.in_pieces:
        return _on_piece(model, motion, slot, fraction, c)
    nodes = group.grid.count
    tip = model.topology.sample_start[slot.group] + slot.row * group.samples + nodes
    rod = rod_sampled_at(model, name, np.array([fraction, 1.0]))
    beyond = rod.length * (rod.grid.integration[nodes] - rod.grid.integration[nodes + 1])
    along = own.local, own.sources, own.subspace
    xdot, xddot = (group_rows(model, slot.group, part) for part in (c.xdot, c.xddot))
    rates = source_rates(*along, xdot)
    changes = source_changes(*along, own.twist[:, :nodes], rates, xdot, xddot)
    twist = own.twist[slot.row, nodes] + beyond @ rates[slot.row]
    acceleration = own.acceleration[slot.row, nodes] + beyond @ changes[slot.row]
    columns = _Columns(
        *(
            whole.at[:, slot.v].add(jnp.einsum("d,dim->im", beyond, part[slot.row]))
            for whole, part in zip(
                _sample_columns(model, motion, tip),
                (own.subspace, subspace_rates(own)[0]),
                strict=True,
            )
        )
    )
    shape = rod_shape(model, name, c.q, np.array([fraction]), c.t)
    pose = Pose(shape.rotation[0], shape.position[0])
    return _in_body(
        Pose(pose.rotation, pose.position - motion.origin), pose, twist, acceleration, columns
    )


def _field_point(model: Model, name: str, fraction: float, c: Coordinates) -> FrameMotion:
    """Motion between the nodes of a rod; there is no Jacobian between them."""
    shape = field_shape(model, name, c.q, np.array([fraction]))
    pose = Pose(shape.rotation[0], shape.position[0])
    place = np.array([fraction])
    rate, change = (field_motion(model, name, part, place)[0] for part in (c.xdot, c.xddot))
    twist = in_body(pose, rate)
    turning = jnp.concatenate([jnp.zeros(3), jnp.cross(twist[:3], twist[3:])])
    unknown = jnp.full((6, model.nv), jnp.nan)
    return FrameMotion(pose, twist, in_body(pose, change) - turning, unknown, unknown)


def _on_piece(
    model: Model, motion: Kinematics, slot: Slot, fraction: float, c: Coordinates
) -> FrameMotion:
    """The same in a rod of pieces: one piece alone, sampled there, moves on what carries it."""
    group, own = model.groups[slot.group], motion.groups[slot.group]
    assert isinstance(group, RodGroup)
    piece, arc, _ = _on_pieces(model, slot, c.q, np.array([fraction]))
    row = slot.row + int(piece[0])
    tip = group.grid.count
    one = jax.tree.map(lambda leaf: jnp.asarray(leaf)[row], group)
    grid = piece_grid(group.grid.field, np.zeros(6), (0.0, 1.0), 2)
    share = jnp.concatenate([arc / one.length, jnp.ones(1)])
    points = jnp.concatenate([jnp.zeros(2), share])
    grid = eqx.tree_at(
        lambda g: (g.points, g.rest), grid, (points, one.grid.rest[:4] + jnp.zeros((4, 6)))
    )
    here = slice(
        slot.v_start + int(piece[0]) * group.nv, slot.v_start + (int(piece[0]) + 1) * group.nv
    )
    q, xdot, xddot = (
        c.q[slot.q_start + int(piece[0]) * group.nv :][: group.nv],
        c.xdot[here],
        c.xddot[here],
    )
    phi = grid.motion(q, xdot, xddot, one.length)
    pose = grid.poses(q, one.length)
    end = Pose(own.pose.rotation[row, tip], own.pose.position[row, tip])
    near = (
        end
        @ Pose(pose.rotation[3], pose.position[3]).inverse()
        @ Pose(pose.rotation[2], pose.position[2])
    )
    # What moves the tip less what the piece adds there is the motion of its start.
    columns = [se3.columns_to_world(g, phi.value[k]) for g, k in ((near, 2), (end, 3))]
    rates = [se3.columns_to_world(g, phi.rate[k]) for g, k in ((near, 2), (end, 3))]
    start = own.twist[row, tip] - columns[1] @ xdot
    twist = start + columns[0] @ xdot
    begins = own.acceleration[row, tip] - _changing(
        columns[1], rates[1], own.twist[row, tip], xdot, xddot
    )
    acceleration = begins + _changing(columns[0], rates[0], twist, xdot, xddot)
    sample = model.topology.sample_start[slot.group] + row * group.samples + tip
    whole = _sample_columns(model, motion, sample)
    changing = se3.ad_columns(twist, columns[0]) + rates[0]
    found = _Columns(whole.value.at[:, here].set(columns[0]), whole.rate.at[:, here].set(changing))
    pose = Pose(near.rotation, near.position + motion.origin)
    return _in_body(near, pose, twist, acceleration, found)


def _changing(
    columns: Float[Array, "6 m"],
    rates: Float[Array, "6 m"],
    twist: Float[Array, " 6"],
    xdot: Float[Array, " m"],
    xddot: Float[Array, " m"],
) -> Float[Array, " 6"]:
    """S ẍ + Ṡ ẋ with Ṡ = ad(V) S + Ad(g) Φ̇."""
    return columns @ xddot + rates @ xdot + se3.ad(twist, columns @ xdot)


def _in_body(
    near: Pose,
    pose: Pose,
    twist: Float[Array, " 6"],
    acceleration: Float[Array, " 6"],
    columns: _Columns,
) -> FrameMotion:
    """From world quantities about the origin that ``near`` is measured from.

    A = Ad(g) η̇, since ad(V) V = 0: the world acceleration carries back like a twist; the rate of the
    Jacobian does not.
    """
    turning = columns.rate - se3.ad_columns(twist, columns.value)
    back = jax.vmap(lambda column: se3.to_body(near, column), in_axes=1, out_axes=1)
    return FrameMotion(
        pose,
        se3.to_body(near, twist),
        se3.to_body(near, acceleration),
        back(columns.value),
        back(turning),
    )


def _sample_columns(model: Model, motion: Kinematics, sample: int) -> _Columns:
    """World Jacobian of one flat sample: own columns, and those of the samples its chain hangs on."""
    topology = model.topology
    found = jnp.zeros((2, 6, model.nv))
    while sample != GROUND:
        group, row, local = model.place(sample)
        columns = columns_of(model, group)[row]
        if len(columns):
            every, place = own_columns(motion.groups[group]), local % model.groups[group].samples
            own = jnp.stack([every.shift[row, place], every.shift_rate[row, place]])
            found = found.at[:, :, columns].set(own)
        sample = topology.attach[topology.element_start[group] + row]
    return _Columns(found[0], found[1])
