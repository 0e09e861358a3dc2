"""Coordinates, moment arms and efforts of transmissions, and what they add to the balance and its tangent.

An effort u that lengthens ℓ asks the generalized force -u ∂ℓ/∂q of the robot: a tension -u pulls it together.
Affine parts and channels have moment arms of their own; segments act as pairs of forces on their end points.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, so3
from supple.mechanics import static_index
from supple.mechanics.element_motion import Coordinates, group_rows
from supple.mechanics.kinematics import Kinematics
from supple.mechanics.transmission_layout import GroupSlots
from supple.model.constraints import LENGTH
from supple.model.efforts import Imposed, Input
from supple.model.model import Model
from supple.model.transmissions import Channels, Rubbing, Segments, TendonBends


class Lines(NamedTuple):
    """Segments now: end points about the origin of the motion (m), directions, lengths (m), rates (m/s)."""

    inner: Float[Array, "s 3"]
    outer: Float[Array, "s 3"]
    direction: Float[Array, "s 3"]
    length: Float[Array, " s"]
    rate: Float[Array, " s"]
    share: Float[Array, " s"]
    """Tension over that at the tendon's start: 1 without friction."""


class ChannelMotion(NamedTuple):
    """Channels now, each in the coordinates of its own rod."""

    x: Float[Array, "p m"]
    xdot: Float[Array, "p m"]
    arms: Float[Array, "p m"]
    """∂ℓ/∂q."""
    pushes: Float[Array, "p m"]
    """What tensions at the start of the tendon act along: the arms, less what friction takes of them."""
    beyond: Float[Array, " p"]
    """Rate (m/s) at which the tendon slides at the end of the channel."""
    lost: Float[Array, " p"]
    """Logarithm of the tension at the start of the channel over that at the start of the tendon."""


class TransmissionMotion(NamedTuple):
    """Coordinates, their rates, efforts and how these change, and the parts of all transmissions."""

    length: Float[Array, " k"]
    rate: Float[Array, " k"]
    effort: Float[Array, " k"]
    by_length: Float[Array, " k"]
    """∂u/∂ℓ."""
    by_rate: Float[Array, " k"]
    """∂u/∂ℓ̇."""
    gap: Float[Array, " n"]
    """How far imposed coordinates are from their laws (m)."""
    channels: ChannelMotion
    lines: Lines


def channel_motion(model: Model, c: Coordinates) -> TransmissionMotion:
    """The same without straight lines, which alone depend on where things are."""
    return transmission_motion(model, c, None)


def transmission_motion(
    model: Model, c: Coordinates, motion: Kinematics | None
) -> TransmissionMotion:
    """Everything about the transmissions at a motion; imposed ones take their efforts from multipliers."""
    own = model.transmissions
    x = flat_coordinates(model, c.q) + c.x
    channels, channel_length = _channels(own.channels, x, c.xdot)
    lines = _lines(model, motion)
    length, rate = jnp.asarray(own.constant), jnp.zeros(own.size)
    if own.affine.size:
        arms, of = jnp.asarray(own.affine.arms), np.array(own.affine.of)
        here, moving = (own_coordinates(own.affine.spans, arms.shape[1], v) for v in (x, c.xdot))
        length = static_index.add(length, of, jnp.sum(arms * here, axis=1))
        rate = static_index.add(rate, of, jnp.sum(arms * moving, axis=1))
    if own.channels.size:
        of = np.array(own.channels.of)
        length = static_index.add(length, of, channel_length)
        rate = static_index.add(rate, of, jnp.sum(channels.arms * channels.xdot, axis=1))
    if own.segments.size:
        of = np.array(own.segments.of)
        length, rate = (
            static_index.add(length, of, lines.length),
            static_index.add(rate, of, lines.rate),
        )
    value, slope = jax.jvp(own.inputs, (c.t,), (jnp.ones_like(c.t),))
    effort, by_length, by_rate, gap = _efforts(model, c, length, rate, value, slope)
    return TransmissionMotion(length, rate, effort, by_length, by_rate, gap, channels, lines)


def transmission_energy(
    model: Model, q: Float[Array, " nq"], t: Float[Array, ""], motion: Kinematics
) -> Float[Array, ""]:
    """Elastic energy (J) in cables, springs and gas."""
    own = model.transmissions
    zero = jnp.zeros(model.nv)
    found = transmission_motion(model, Coordinates(q, zero, zero, zero, t), motion)
    value = own.inputs(t)
    total = jnp.zeros(())
    for effort, members in zip(own.efforts, own.members, strict=True):
        index = np.array(members)
        given = Input(static_index.take(value, index), jnp.zeros(len(index)), model.load_factor)
        total = total + jnp.sum(effort.energy(static_index.take(found.length, index), given))
    return total


def line_wrenches(model: Model, at: TransmissionMotion) -> Float[Array, "s 6"]:
    """World wrench that each segment asks of its outer sample; the inner one gives it."""
    lines = at.lines
    force = line_tensions(model, at)[:, None] * lines.direction
    return jnp.concatenate([jnp.cross(lines.outer, force), force], axis=-1)


def line_tensions(model: Model, at: TransmissionMotion) -> Float[Array, " s"]:
    """Tension (N) in each segment."""
    return -at.effort[np.array(model.transmissions.segments.of, dtype=int)] * at.lines.share


def line_laws(
    model: Model, at: TransmissionMotion
) -> tuple[Float[Array, "s 6 6"], Float[Array, "s 6 6"]]:
    """World matrices Q_b, Q_a: the wrenches of the outer sample b and of -a change by Q (ζ_b - ζ_a).

    In axes fixed to b, a motion (θ, d) of b against a turns the force T e by T (e × θ + (d - e e·d) / ℓ).
    """
    lines = at.lines
    tension = line_tensions(model, at)[:, None, None]
    direction = lines.direction
    across = jnp.eye(3) - direction[:, :, None] * direction[:, None, :]
    below = jnp.concatenate([so3.hat(direction), across / lines.length[:, None, None]], axis=-1)
    change = tension * jnp.concatenate([jnp.zeros_like(below), below], axis=-2)
    wrench = jnp.concatenate([jnp.zeros_like(direction), tension[:, :, 0] * direction], axis=-1)
    there = Pose(jnp.broadcast_to(jnp.eye(3), across.shape), lines.outer)
    of_inner = change - se3.coad_matrix(wrench)
    return se3.matrix_to_world(there, change), se3.matrix_to_world(there, of_inner)


def slot_force(model: Model, at: TransmissionMotion, slots: GroupSlots) -> Float[Array, "b m"]:
    """Generalized forces that affine parts and channels ask of the elements of a group."""
    own = model.transmissions
    forces = part_rows(
        model,
        -static_index.take(at.effort, np.array(own.channels.of, dtype=int))[:, None]
        * at.channels.pushes,
        -static_index.take(at.effort, np.array(own.affine.of, dtype=int))[:, None]
        * own.affine.arms,
    )
    batch, count, most = slots.parts.shape
    if most == 0:
        return jnp.zeros((batch, forces.shape[1]))
    return chosen(forces, slots.parts.reshape(batch, count * most)).sum(axis=1)


def part_rows(
    model: Model, channels: Float[Array, "p m"], affine: Float[Array, "a k"]
) -> Float[Array, "parts widest"]:
    """Numbers of channels and then of affine parts, in one list of rows."""
    own = model.transmissions
    width = max(group.nv for group in model.groups)
    parts = [
        jnp.pad(part, ((0, 0), (0, width - part.shape[1])))
        for part, size in ((channels, own.channels.size), (affine, own.affine.size))
        if size
    ]
    if not parts:
        return jnp.zeros((0, width))
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def chosen(values: Float[Array, "n *k"], index: np.ndarray) -> Float[Array, "..."]:
    """Rows of an array; zero for the number behind the last one, or a negative one."""
    size = len(values)
    flat = np.where(index < 0, size, index).reshape(-1)
    if np.any(flat == size):
        values = jnp.concatenate([values, jnp.zeros_like(values, shape=(1, *values.shape[1:]))])
    return static_index.take(values, flat).reshape(*index.shape, *values.shape[1:])


def own_coordinates(
    spans: tuple[tuple[int, int], ...], width: int, vector: Float[Array, " nv"]
) -> Float[Array, "p m"]:
    """Coordinates of the element of each part, padded with zeros."""
    bounds = np.array(spans, dtype=int).reshape(-1, 2)
    index = bounds[:, :1] + np.arange(width)
    return chosen(vector, np.where(index < bounds[:, 1:], index, -1))


def before(of: tuple[int, ...], values: Float[Array, " p"]) -> Float[Array, " p"]:
    """Sum of the values of earlier parts of the same transmission, whose parts follow each other."""
    if len(set(of)) == len(of):
        return jnp.zeros_like(values)
    own = np.array(of)
    begins = np.concatenate([[True], own[1:] != own[:-1]])
    first = np.maximum.accumulate(np.where(begins, np.arange(len(own)), 0))
    running = jnp.cumsum(values) - values
    return running - static_index.take(running, first)


def after(of: tuple[int, ...], values: Float[Array, " p"]) -> Float[Array, " p"]:
    """Sum of the values of later parts of the same transmission."""
    return before(of[::-1], values[::-1])[::-1]


def flat_coordinates(model: Model, q: Float[Array, " nq"]) -> Float[Array, " nv"]:
    """Configuration numbers at the places of their velocity coordinates; zero where these differ."""
    parts = [
        group_rows(model, i, q, configuration=True).reshape(-1)
        if group.nq == group.nv
        else jnp.zeros(group.size * group.nv)
        for i, group in enumerate(model.groups)
    ]
    return jnp.concatenate(parts)


def _efforts(
    model: Model,
    c: Coordinates,
    length: Float[Array, " k"],
    rate: Float[Array, " k"],
    value: Float[Array, " k"],
    slope: Float[Array, " k"],
) -> tuple[Float[Array, " k"], Float[Array, " k"], Float[Array, " k"], Float[Array, " n"]]:
    """Efforts, their derivatives by length and by rate, and the gaps of imposed coordinates."""
    own = model.transmissions
    parts: list[tuple[Float[Array, " m"], ...]] = []
    gap = jnp.zeros(0)
    for law, members in zip(own.efforts, own.members, strict=True):
        index = np.array(members)
        now, now_rate = static_index.take(length, index), static_index.take(rate, index)
        given = Input(
            static_index.take(value, index), static_index.take(slope, index), model.load_factor
        )
        if isinstance(law, Imposed):
            none = jnp.zeros(len(index))
            forces = (
                none if c.multipliers is None else c.multipliers[model.constraints.rows(LENGTH)]
            )
            parts.append((-law.scale * forces, none, none))
            gap = law.gap(now, given)
            continue
        one = jnp.ones(len(index))
        effort, by_length = jax.jvp(lambda x: law(x, now_rate, given), (now,), (one,))  # noqa: B023
        by_rate = jax.jvp(lambda x: law(now, x, given), (now_rate,), (one,))[1]  # noqa: B023
        parts.append((effort, by_length, by_rate))
    order = np.argsort(np.concatenate([np.array(m, dtype=int) for m in own.members]))
    effort, by_length, by_rate = (
        static_index.take(jnp.concatenate([part[i] for part in parts]), order) for i in range(3)
    )
    return effort, by_length, by_rate, gap


def tangents(
    channels: Channels, x: Float[Array, "p m"]
) -> tuple[Float[Array, "p n 3"], Float[Array, "p n"]]:
    """Unit tangents and stretches |Γ| along the channels."""
    gamma = channels.straight + jnp.einsum("pnim,pm->pni", channels.slope, x)
    size = jnp.sqrt(jnp.sum(gamma**2, axis=-1))
    return gamma / size[..., None], size


def channel_arms(
    channels: Channels, x: Float[Array, "p m"]
) -> tuple[Float[Array, "p m"], Float[Array, " p"]]:
    """Moment arms and lengths of channels."""
    tangent, size = tangents(channels, x)
    arms = jnp.einsum("pn,pnim,pni->pm", channels.weights, channels.slope, tangent)
    return arms, jnp.sum(channels.weights * size, axis=1)


def _channels(
    channels: Channels, x: Float[Array, " nv"], xdot: Float[Array, " nv"]
) -> tuple[ChannelMotion, Float[Array, " p"]]:
    """Channels now, and their lengths."""
    if channels.size == 0:
        none, zero = jnp.zeros((0, 0)), jnp.zeros(0)
        return ChannelMotion(none, none, none, none, zero, zero), zero
    width = channels.slope.shape[-1]
    here, moving = (own_coordinates(channels.spans, width, vector) for vector in (x, xdot))
    arms, length = channel_arms(channels, here)
    zero = jnp.zeros(channels.size)
    if channels.rubbing is None:
        return ChannelMotion(here, moving, arms, arms, zero, zero), length
    beyond = after(channels.of, jnp.sum(arms * moving, axis=1))
    pushes, losses = rubbed(channels, here, moving, beyond)
    lost = before(channels.of, losses)
    return ChannelMotion(here, moving, arms, jnp.exp(lost)[:, None] * pushes, beyond, lost), length


def rubbed(
    channels: Channels,
    x: Float[Array, "p m"],
    xdot: Float[Array, "p m"],
    beyond: Float[Array, " p"],
) -> tuple[Float[Array, "p m"], Float[Array, " p"]]:
    """Moment arms weighted by the tension over that at the channel's start; the logarithm of it at its end.

    A point of the tendon slides in its channel at the rate ν by which the length beyond it changes. The
    channel turns the tendon by |t′ + κ × t| a meter, and friction changes the tension by that angle:
    T′ = T |t′ + κ × t| (μ tanh(ν / speed) + β ν), less towards the end when the tendon is pulled.
    """
    rub = channels.rubbing
    assert isinstance(rub, Rubbing)
    tangent, _ = tangents(channels, x)
    along = jnp.einsum("pnim,pni->pnm", channels.slope, tangent)
    stretching = jnp.einsum("pnm,pm->pn", along, xdot)
    passed = jnp.einsum("pnk,pk->pn", rub.integration, stretching)
    whole = jnp.sum(channels.weights * stretching, axis=1)
    sliding = (whole + beyond)[:, None] - passed
    curvature = rub.turning_rest + jnp.einsum("pnim,pm->pni", rub.turning, x)
    turned = jnp.einsum("pnk,pki->pni", rub.differentiation, tangent) + jnp.cross(
        curvature, tangent
    )
    turning = jnp.sqrt(jnp.sum(turned**2, axis=-1) + SMALLEST_TURNING**2)
    changing = turning * rub.grip(sliding)
    factor = jnp.exp(jnp.einsum("pnk,pk->pn", rub.integration, changing))
    pushes = jnp.einsum("pn,pnm->pm", channels.weights * factor, along)
    return pushes, jnp.sum(channels.weights * changing, axis=1)


SMALLEST_TURNING = 1e-6
"""Turning (rad/m, rad) below which it no longer counts: a straight tendon has no kink in its tangent."""
LARGEST_CHORD = 1 - 1e-9
"""A tendon that turns back upon itself is still differentiable."""


def _lines(model: Model, motion: Kinematics | None) -> Lines:
    segments = model.transmissions.segments
    if segments.size == 0 or motion is None:
        none = jnp.zeros((0, 3))
        return Lines(none, none, none, none[:, 0], none[:, 0], none[:, 0])
    inner, outer = _points(model, motion, False), _points(model, motion, True)
    apart = outer - inner
    length = jnp.sqrt(jnp.sum(apart**2, axis=-1))
    direction = apart / length[:, None]
    speed = point_velocity(model, motion, True) - point_velocity(model, motion, False)
    rate = jnp.sum(direction * speed, axis=-1)
    return Lines(inner, outer, direction, length, rate, _shares(segments, direction, rate))


def _shares(
    segments: Segments, direction: Float[Array, "s 3"], rate: Float[Array, " s"]
) -> Float[Array, " s"]:
    """Tension in each segment over that at the tendon's start.

    The tendon slides over a corner at the rate ν by which the length beyond it changes; friction multiplies
    its tension by exp(angle (μ tanh(ν / speed) + β ν)), less than one when the tendon is pulled.
    """
    corners = segments.corners
    if corners is None:
        return jnp.ones_like(rate)
    angle = corner_angles(corners, direction)
    changes = angle * corners.grip(corner_speeds(segments, rate))
    listed = static_index.add(jnp.zeros(segments.size), np.array(corners.leaving), changes)
    return jnp.exp(listed + before(segments.of, listed))


def corner_speeds(segments: Segments, rate: Float[Array, " s"]) -> Float[Array, " c"]:
    """Speeds (m/s) at which tendons slide over corners: the rate of all that is beyond."""
    assert segments.corners is not None
    return static_index.take(rate + after(segments.of, rate), np.array(segments.corners.leaving))


def corner_angles(corners: TendonBends, direction: Float[Array, "s 3"]) -> Float[Array, " c"]:
    """Angles (rad) by which tendons turn at corners."""
    return angle_between(corner_turns(corners, direction))


def corner_turns(corners: TendonBends, direction: Float[Array, "s 3"]) -> Float[Array, "c 3"]:
    """Change of the tendons' directions at corners."""
    before, after = (np.array(side) for side in (corners.arriving, corners.leaving))
    return static_index.take(direction, after) - static_index.take(direction, before)


def angle_between(turned: Float[Array, "*c 3"]) -> Float[Array, "*c"]:
    """The angle (rad) between two directions that differ by this."""
    half = 0.5 * jnp.sqrt(jnp.sum(turned**2, axis=-1) + SMALLEST_TURNING**2)
    return 2 * jnp.arcsin(jnp.minimum(half, LARGEST_CHORD))


def _points(model: Model, motion: Kinematics, outer: bool) -> Float[Array, "s 3"]:
    """End points of segments, about the origin of the motion."""
    segments = model.transmissions.segments
    samples, points = (
        (segments.outer_sample, segments.outer)
        if outer
        else (segments.inner_sample, segments.inner)
    )
    pose = motion.poses_at(np.array(samples))
    return pose.position + jnp.einsum("sij,sj->si", pose.rotation, points)


def point_velocity(model: Model, motion: Kinematics, outer: bool) -> Float[Array, "s 3"]:
    """Velocities of the end points of segments (m/s)."""
    segments = model.transmissions.segments
    samples = segments.outer_sample if outer else segments.inner_sample
    twist = motion.twists_at(np.array(samples))
    return twist[:, 3:] + jnp.cross(twist[:, :3], _points(model, motion, outer))
