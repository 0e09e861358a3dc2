"""Coordinates, moment arms and efforts of transmissions, and what they add to the balance and its tangent.

An effort u that lengthens ℓ asks the generalised force -u ∂ℓ/∂q of the robot: a tension -u pulls it together.
Affine parts and channels have moment arms of their own; segments act as pairs of forces on their end points.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, so3
from supple.mechanics import rows
from supple.mechanics.kinematics import Kinematics, kinematics
from supple.mechanics.local import Coordinates, group_rows
from supple.model.efforts import Imposed, Input
from supple.model.model import Model
from supple.model.transmissions import Corners, Rubbing, Segments


class Lines(NamedTuple):
    """Segments now: end points about the origin of the motion (m), directions, lengths (m), rates (m/s)."""

    inner: Float[Array, "s 3"]
    outer: Float[Array, "s 3"]
    direction: Float[Array, "s 3"]
    length: Float[Array, " s"]
    rate: Float[Array, " s"]
    share: Float[Array, " s"]
    """Tension over that at the tendon's start: 1 without friction."""


class LineColumns(NamedTuple):
    """How segments change with the coordinates."""

    arms: Float[Array, "s nv"]
    """∂ℓ/∂q."""
    arm_rates: Float[Array, "s nv"]
    """Their time derivatives."""
    turning: Float[Array, "s 3 nv"]
    """Change of the directions."""


class TransmissionMotion(NamedTuple):
    """Coordinates, their rates, moment arms, efforts and how these change."""

    length: Float[Array, " k"]
    rate: Float[Array, " k"]
    arms: Float[Array, "k nv"]
    """∂ℓ/∂q of affine parts and channels; segments are not in it."""
    pushes: Float[Array, "k nv"]
    """What the efforts act along: the moment arms, less what friction takes of them."""
    effort: Float[Array, " k"]
    by_length: Float[Array, " k"]
    """∂u/∂ℓ."""
    by_rate: Float[Array, " k"]
    """∂u/∂ℓ̇."""
    gap: Float[Array, " n"]
    """How far imposed coordinates are from their laws (m)."""
    lines: Lines


def transmission_motion(model: Model, c: Coordinates, motion: Kinematics) -> TransmissionMotion:
    """Everything about the transmissions at a motion; imposed ones take their efforts from multipliers."""
    own = model.transmissions
    x = flat_coordinates(model, c.q) + c.x
    arms, channel_length = _arms_and_lengths(model, x)
    lines = _lines(model, motion)
    length = own.constant + own.arms @ x + channel_length
    rate = arms @ c.xdot
    if own.segments.size:
        gather = own.gather(own.segments.of)
        length, rate = length + gather @ lines.length, rate + gather @ lines.rate
    value, slope = jax.jvp(own.inputs, (c.t,), (jnp.ones_like(c.t),))
    effort, by_length, by_rate, gap = _efforts(model, c, length, rate, value, slope)
    pushes = arms if own.channels.rubbing is None else _pushes(model, x, c.xdot)
    return TransmissionMotion(length, rate, arms, pushes, effort, by_length, by_rate, gap, lines)


def transmission_state(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " n"],
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Coordinates (m, m³, rad) and efforts (N, Pa, N m) of all transmissions at a state."""
    zero = jnp.zeros(model.nv)
    c = Coordinates(q, zero, v, zero, t, multipliers if model.equations else None)
    found = transmission_motion(model, c, kinematics(model, c))
    return found.length, found.effort


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
        given = Input(rows.take(value, index), jnp.zeros(len(index)), model.load_factor)
        total = total + jnp.sum(effort.energy(rows.take(found.length, index), given))
    return total


def line_wrenches(model: Model, at: TransmissionMotion) -> Float[Array, "s 6"]:
    """World wrench that each segment asks of its outer sample; the inner one gives it."""
    lines = at.lines
    force = _line_tensions(model, at)[:, None] * lines.direction
    return jnp.concatenate([jnp.cross(lines.outer, force), force], axis=-1)


def _line_tensions(model: Model, at: TransmissionMotion) -> Float[Array, " s"]:
    return -at.effort[np.array(model.transmissions.segments.of)] * at.lines.share


def line_laws(
    model: Model, at: TransmissionMotion
) -> tuple[Float[Array, "s 6 6"], Float[Array, "s 6 6"]]:
    """World matrices Q_b, Q_a: the wrenches of the outer sample b and of -a change by Q (ζ_b - ζ_a).

    In axes fixed to b, a motion (θ, d) of b against a turns the force T e by T (e × θ + (d - e e·d) / ℓ).
    """
    lines = at.lines
    tension = _line_tensions(model, at)[:, None, None]
    direction = lines.direction
    across = jnp.eye(3) - direction[:, :, None] * direction[:, None, :]
    below = jnp.concatenate([so3.hat(direction), across / lines.length[:, None, None]], axis=-1)
    change = tension * jnp.concatenate([jnp.zeros_like(below), below], axis=-2)
    wrench = jnp.concatenate([jnp.zeros_like(direction), tension[:, :, 0] * direction], axis=-1)
    there = Pose(jnp.broadcast_to(jnp.eye(3), across.shape), lines.outer)
    of_inner = change - se3.coad_matrix(wrench)
    return se3.matrix_to_world(there, change), se3.matrix_to_world(there, of_inner)


def line_columns(
    model: Model,
    at: TransmissionMotion,
    motion: Kinematics,
    apart: tuple[Float[Array, "s 6 nv"], Float[Array, "s 6 nv"]],
    apart_rate: tuple[Float[Array, "s 6 nv"], Float[Array, "s 6 nv"]],
) -> LineColumns:
    """How segments change, from the world Jacobians of both samples and their time derivatives."""
    lines = at.lines
    points = lines.outer, lines.inner
    speeds = [_point_velocity(model, motion, side) for side in (True, False)]
    (moved_b, moved_a), (rate_b, rate_a) = (
        [_at_point(p, J) for p, J in zip(points, pair, strict=True)] for pair in (apart, apart_rate)
    )
    # d/dt of (v + ω × p) per coordinate also moves the point p.
    rate_b = rate_b - jnp.cross(speeds[0][:, :, None], apart[0][:, :3], axis=1)
    rate_a = rate_a - jnp.cross(speeds[1][:, :, None], apart[1][:, :3], axis=1)
    e, moved = lines.direction, moved_b - moved_a
    turning = (speeds[0] - speeds[1] - lines.rate[:, None] * e) / lines.length[:, None]
    arms = jnp.einsum("si,sim->sm", e, moved)
    rates = jnp.einsum("si,sim->sm", e, rate_b - rate_a)
    rates = rates + jnp.einsum("si,sim->sm", turning, moved)
    turned = (moved - e[:, :, None] * arms[:, None, :]) / lines.length[:, None, None]
    return LineColumns(arms, rates, turned)


def corner_tangent(
    model: Model, at: TransmissionMotion, columns: LineColumns
) -> tuple[Float[Array, "nv nv"], Float[Array, "nv nv"]]:
    """What friction at corners adds to K and C by changing the shares of tension."""
    segments = model.transmissions.segments
    corners = segments.corners
    assert corners is not None
    angle, sliding = _corners(corners, at.lines.direction, at.lines.rate)
    grip, slope = jax.jvp(corners.grip, (sliding,), (jnp.ones_like(sliding),))

    def corner_angles(direction: Float[Array, "s 3"]) -> Float[Array, " c"]:
        return _corners(corners, direction, at.lines.rate)[0]

    by_direction = jax.jacfwd(corner_angles)(at.lines.direction)
    widening = jnp.einsum("csi,sim->cm", by_direction, columns.turning)
    beyond = corners.after.T
    by_shift = grip[:, None] * widening + (angle * slope)[:, None] * (beyond @ columns.arm_rates)
    by_rate = (angle * slope)[:, None] * (beyond @ columns.arms)
    pull = _line_tensions(model, at)[:, None] * columns.arms
    return pull.T @ corners.after @ by_shift, pull.T @ corners.after @ by_rate


def channel_stiffness(
    model: Model, c: Coordinates, at: TransmissionMotion
) -> tuple[Float[Array, "nv nv"], Float[Array, "nv nv"] | None]:
    """What fixed efforts in channels add to K and (with friction) to C: their moment arms turn."""
    own = model.transmissions
    x = flat_coordinates(model, c.q) + c.x
    if own.channels.rubbing is not None:

        def force(x: Float[Array, " nv"], xdot: Float[Array, " nv"]) -> Float[Array, " nv"]:
            return -at.effort @ _pushes(model, x, xdot)

        stiffness, damping = jax.jacfwd(force, argnums=(0, 1))(x, c.xdot)
        return stiffness, damping
    tangent, size = _tangents(model, x)
    across = jnp.eye(3) - tangent[..., :, None] * tangent[..., None, :]
    tension = -at.effort[np.array(own.channels.of)]
    weights = own.channels.weights * tension[:, None] / size
    bending = jnp.einsum(
        "pn,pnim,pnij,pnjl->pml",
        weights,
        own.channels.slope,
        across,
        own.channels.slope,
        optimize=True,
    )
    total = jnp.zeros((model.nv, model.nv))
    for block, (start, stop) in zip(bending, own.channels.spans, strict=True):
        width, after = stop - start, model.nv - stop
        total = total + jnp.pad(block[:width, :width], ((start, after), (start, after)))
    return total, None


def arm_rates(model: Model, c: Coordinates) -> Float[Array, "k nv"]:
    """Time derivative of the moment arms of channels."""
    x = flat_coordinates(model, c.q) + c.x
    return jax.jvp(lambda x: _arms_and_lengths(model, x)[0], (x,), (c.xdot,))[1]


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
        now, now_rate = rows.take(length, index), rows.take(rate, index)
        given = Input(rows.take(value, index), rows.take(slope, index), model.load_factor)
        if isinstance(law, Imposed):
            none = jnp.zeros(len(index))
            forces = none if c.multipliers is None else c.multipliers[model.imposed_rows]
            parts.append((-law.scale * forces, none, none))
            gap = law.gap(now, given, forces)
            continue
        one = jnp.ones(len(index))
        effort, by_length = jax.jvp(lambda x: law(x, now_rate, given), (now,), (one,))  # noqa: B023
        by_rate = jax.jvp(lambda x: law(now, x, given), (now_rate,), (one,))[1]  # noqa: B023
        parts.append((effort, by_length, by_rate))
    order = np.argsort(np.concatenate([np.array(m, dtype=int) for m in own.members]))
    effort, by_length, by_rate = (
        rows.take(jnp.concatenate([part[i] for part in parts]), order) for i in range(3)
    )
    return effort, by_length, by_rate, gap


def _own_coordinates(model: Model, x: Float[Array, " nv"]) -> Float[Array, "p m"]:
    """Coordinates of each channel's rod, padded with zeros."""
    channels = model.transmissions.channels
    width = channels.slope.shape[-1]
    own = [jnp.pad(x[a:b], (0, width - (b - a))) for a, b in channels.spans]
    return jnp.stack(own)


def _tangents(
    model: Model, x: Float[Array, " nv"]
) -> tuple[Float[Array, "p n 3"], Float[Array, "p n"]]:
    """Unit tangents and stretches |Γ| along the channels."""
    channels = model.transmissions.channels
    gamma = channels.straight + jnp.einsum(
        "pnim,pm->pni", channels.slope, _own_coordinates(model, x)
    )
    size = jnp.sqrt(jnp.sum(gamma**2, axis=-1))
    return gamma / size[..., None], size


def _arms_and_lengths(
    model: Model, x: Float[Array, " nv"]
) -> tuple[Float[Array, "k nv"], Float[Array, " k"]]:
    """Moment arms of affine parts and channels; lengths of channels."""
    own = model.transmissions
    arms = jnp.asarray(own.arms)
    if own.channels.size == 0:
        return arms, jnp.zeros(own.size)
    tangent, size = _tangents(model, x)
    along = jnp.einsum("pn,pnim,pni->pm", own.channels.weights, own.channels.slope, tangent)
    lengths = jnp.sum(own.channels.weights * size, axis=1)
    gather = own.gather(own.channels.of)
    return arms + gather @ _spread(model, along), gather @ lengths


def _spread(model: Model, own: Float[Array, "p m"]) -> Float[Array, "p nv"]:
    """Rows of channels' coordinates in all coordinates."""
    spans = model.transmissions.channels.spans
    return jnp.stack(
        [jnp.pad(row[: b - a], (a, model.nv - b)) for row, (a, b) in zip(own, spans, strict=True)]
    )


def _pushes(
    model: Model, x: Float[Array, " nv"], xdot: Float[Array, " nv"]
) -> Float[Array, "k nv"]:
    """Moment arms weighted by the tension along each tendon, which friction changes.

    A point of the tendon slides in its channel at the rate ν by which the length beyond it changes. The
    channel turns the tendon by |t′ + κ × t| a metre, and friction changes the tension by that angle:
    T′ = T |t′ + κ × t| (μ tanh(ν / speed) + β ν), less towards the end when the tendon is pulled.
    """
    own = model.transmissions
    channels, rub = own.channels, own.channels.rubbing
    assert isinstance(rub, Rubbing)
    tangent, _ = _tangents(model, x)
    along = jnp.einsum("pnim,pni->pnm", channels.slope, tangent)
    stretching = jnp.einsum("pnm,pm->pn", along, _own_coordinates(model, xdot))
    sliding = (rub.beyond @ stretching.reshape(-1)).reshape(stretching.shape)
    curvature = rub.turning_rest + jnp.einsum(
        "pnim,pm->pni", rub.turning, _own_coordinates(model, x)
    )
    turned = jnp.einsum("pnk,pki->pni", rub.differentiation, tangent) + jnp.cross(
        curvature, tangent
    )
    turning = jnp.sqrt(jnp.sum(turned**2, axis=-1) + SMALLEST_TURNING**2)
    changing = (turning * rub.grip(sliding)).reshape(-1)
    factor = jnp.exp(rub.before @ changing).reshape(stretching.shape)
    weighted = jnp.einsum("pn,pnm->pm", channels.weights * factor, along)
    return jnp.asarray(own.arms) + own.gather(channels.of) @ _spread(model, weighted)


SMALLEST_TURNING = 1e-6
"""Turning (rad/m, rad) below which it no longer counts: a straight tendon has no kink in its tangent."""
LARGEST_CHORD = 1 - 1e-9
"""A tendon that turns back upon itself is still differentiable."""


def _lines(model: Model, motion: Kinematics) -> Lines:
    segments = model.transmissions.segments
    if segments.size == 0:
        none = jnp.zeros((0, 3))
        return Lines(none, none, none, none[:, 0], none[:, 0], none[:, 0])
    inner, outer = _points(model, motion, False), _points(model, motion, True)
    apart = outer - inner
    length = jnp.sqrt(jnp.sum(apart**2, axis=-1))
    direction = apart / length[:, None]
    speed = _point_velocity(model, motion, True) - _point_velocity(model, motion, False)
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
    angle, sliding = _corners(corners, direction, rate)
    return jnp.exp(corners.after @ (angle * corners.grip(sliding)))


def _corners(
    corners: Corners, direction: Float[Array, "s 3"], rate: Float[Array, " s"]
) -> tuple[Float[Array, " c"], Float[Array, " c"]]:
    """Angles (rad) by which tendons turn at corners, and their speeds of sliding (m/s)."""
    turned = rows.take(direction, np.array(corners.leaving)) - rows.take(
        direction, np.array(corners.arriving)
    )
    half = 0.5 * jnp.sqrt(jnp.sum(turned**2, axis=-1) + SMALLEST_TURNING**2)
    return 2 * jnp.arcsin(jnp.minimum(half, LARGEST_CHORD)), corners.after.T @ rate


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


def _point_velocity(model: Model, motion: Kinematics, outer: bool) -> Float[Array, "s 3"]:
    segments = model.transmissions.segments
    samples = segments.outer_sample if outer else segments.inner_sample
    twist = motion.twists_at(np.array(samples))
    return twist[:, 3:] + jnp.cross(twist[:, :3], _points(model, motion, outer))


def _at_point(
    points: Float[Array, "s 3"], columns: Float[Array, "s 6 nv"]
) -> Float[Array, "s 3 nv"]:
    """Columns of point velocities from those of world twists: v + ω × p."""
    return columns[:, 3:] - jnp.cross(points[:, :, None], columns[:, :3], axis=1)
