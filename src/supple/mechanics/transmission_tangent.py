"""How transmissions change with the motion, part by part; nothing here has the size of the robot squared.

The length of a segment changes by δℓ = h·(ζ_b - ζ_a) with h = (p × e, e) the line's own coordinates, whatever
its point p, and its rate by δℓ̇ = h·(ν_b - ν_a) + ḣ·(ζ_b - ζ_a).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import small
from supple.mechanics import static_index
from supple.mechanics.kinematics import Kinematics
from supple.mechanics.transmission_layout import GroupSlots, layout_of
from supple.mechanics.transmissions import (
    TransmissionMotion,
    angle_between,
    chosen,
    corner_speeds,
    corner_turns,
    line_laws,
    line_tensions,
    part_rows,
    point_velocity,
    rubbed,
    tangents,
)
from supple.model.model import GROUND, Model
from supple.model.transmissions import Channels


class LineRows(NamedTuple):
    """Of each segment: h, ḣ, and (I - e eᵀ) / ℓ, by which a motion of its ends turns it."""

    arm: Float[Array, "s 6"]
    arm_rate: Float[Array, "s 6"]
    turning: Float[Array, "s 3 3"]


class CornerRows(NamedTuple):
    """How the logarithm of the tension changes at corners, by the turn of the tendon and by its sliding."""

    by_turn: Float[Array, "c 3"]
    by_sliding: Float[Array, " c"]


class ChannelRows(NamedTuple):
    """Of each channel, in its rod's coordinates: the rates of its arms, and what a given effort adds.

    With friction, forces also change with the sliding beyond the channel and with the tension lost before.
    """

    arm_rates: Float[Array, "p m"]
    stiffness: Float[Array, "p m m"]
    damping: Float[Array, "p m m"] | None
    force: Float[Array, "p m"]
    """-u times the pushes: its change with the tension lost before."""
    by_beyond: Float[Array, "p m"] | None
    losing: tuple[Float[Array, "p m"], Float[Array, "p m"], Float[Array, " p"]] | None
    """Change of the tension lost in it by δx, δẋ and by the sliding beyond."""


class WithinCorners(NamedTuple):
    """Friction at corners within elements: change of the shares of S lines by the motion of all of them."""

    tension: Float[Array, "b S"]
    by_outer: Float[Array, "b S S 6"]
    by_inner: Float[Array, "b S S 6"]
    by_rate: Float[Array, "b S S"]


class WithinLines(NamedTuple):
    """Segments between samples of one element."""

    outer: Float[Array, "b S p"]
    """1 at the sample of the outer point."""
    inner: Float[Array, "b S p"]
    arm: Float[Array, "b S 6"]
    arm_rate: Float[Array, "b S 6"]
    of_outer: Float[Array, "b S 6 6"]
    of_inner: Float[Array, "b S 6 6"]
    slot: Float[Array, "b T S"]
    """1 for the slot of each."""
    share: Float[Array, "b S"]
    corners: WithinCorners | None


class Within(NamedTuple):
    """What transmissions do within the elements of a group, one row an element."""

    arms: Float[Array, "b T m"]
    """Of the slots, by channels and affine parts, ..."""
    rates: Float[Array, "b T m"]
    pushes: Float[Array, "b T m"]
    by_length: Float[Array, "b T"]
    """... with ∂u/∂ℓ of those that act on the element alone, ..."""
    by_rate: Float[Array, "b T"]
    stiffness: Float[Array, "b m m"] | None
    """... and what given efforts in channels add."""
    damping: Float[Array, "b m m"] | None
    lines: WithinLines | None


class SlotRows(NamedTuple):
    """Moment arms of the slots of elements, their rates, and the directions of efforts."""

    arms: Float[Array, "b T m"]
    rates: Float[Array, "b T m"]
    pushes: Float[Array, "b T m"]


class Parts(NamedTuple):
    """All derivatives of all parts of the transmissions."""

    lines: LineRows
    corners: CornerRows | None
    channels: ChannelRows


def part_derivatives(model: Model, at: TransmissionMotion, motion: Kinematics) -> Parts:
    """How all parts change."""
    return Parts(line_rows(model, at, motion), corner_rows(model, at), channel_rows(model, at))


def line_rows(model: Model, at: TransmissionMotion, motion: Kinematics) -> LineRows:
    """H and ḣ of all segments."""
    lines = at.lines
    if model.transmissions.segments.size == 0:
        return LineRows(jnp.zeros((0, 6)), jnp.zeros((0, 6)), jnp.zeros((0, 3, 3)))
    e = lines.direction
    outer, inner = (point_velocity(model, motion, side) for side in (True, False))
    turning = (outer - inner - lines.rate[:, None] * e) / lines.length[:, None]
    moment = jnp.cross(outer, e) + jnp.cross(lines.outer, turning)
    across = jnp.eye(3) - e[:, :, None] * e[:, None, :]
    return LineRows(
        point_rows(lines.outer, e),
        jnp.concatenate([moment, turning], axis=-1),
        across / lines.length[:, None, None],
    )


def point_rows(points: Float[Array, "*n 3"], along: Float[Array, "*n 3"]) -> Float[Array, "*n 6"]:
    """Rows on world twists ζ = (θ, d) that give the motion d + θ × p of points along directions."""
    return jnp.concatenate([jnp.cross(points, along), along], axis=-1)


def point_matrices(points: Float[Array, "n 3"]) -> Float[Array, "n 3 6"]:
    """Motion of points by world twists."""
    axes = jnp.broadcast_to(jnp.eye(3), (len(points), 3, 3))
    return point_rows(jnp.broadcast_to(points[:, None], axes.shape), axes)


def corner_rows(model: Model, at: TransmissionMotion) -> CornerRows | None:
    """How the logarithms of tension change at corners."""
    segments = model.transmissions.segments
    corners = segments.corners
    if corners is None:
        return None
    turned = corner_turns(corners, at.lines.direction)
    sliding = corner_speeds(segments, at.lines.rate)
    grip, slope = jax.jvp(corners.grip, (sliding,), (jnp.ones_like(sliding),))
    by_turn = grip[:, None] * jax.vmap(jax.grad(angle_between))(turned)
    return CornerRows(by_turn, angle_between(turned) * slope)


def channel_rows(model: Model, at: TransmissionMotion) -> ChannelRows:
    """Derivatives of all channels."""
    own, now = model.transmissions.channels, at.channels
    if own.size == 0:
        none = jnp.zeros((0, 0))
        return ChannelRows(none, none[:, :, None], None, none, None, None)
    effort = static_index.take(at.effort, np.array(own.of))
    turning = _arm_gradients(own, now.x)
    rates = jnp.einsum("pml,pl->pm", turning, now.xdot)
    force = -effort[:, None] * now.pushes
    if own.rubbing is None:
        return ChannelRows(rates, -effort[:, None, None] * turning, None, force, None, None)
    width = now.x.shape[1]

    def along(direction: Float[Array, " d"]) -> tuple[Float[Array, "p m"], Float[Array, " p"]]:
        steps = direction[:width], direction[width:-1], direction[-1]
        moved = [jnp.broadcast_to(step, now.x.shape) for step in steps[:2]]
        beyond = jnp.broadcast_to(steps[2], now.beyond.shape)
        return jax.jvp(
            lambda *motion: rubbed(own, *motion), (now.x, now.xdot, now.beyond), (*moved, beyond)
        )[1]

    pushes, losses = jax.vmap(along)(jnp.eye(2 * width + 1))
    pushes = -(effort * jnp.exp(now.lost))[:, None, None] * jnp.moveaxis(pushes, 0, -1)
    losses = losses.T
    return ChannelRows(
        rates,
        pushes[..., :width],
        pushes[..., width:-1],
        force,
        pushes[..., -1],
        (losses[:, :width], losses[:, width:-1], losses[:, -1]),
    )


def _arm_gradients(channels: Channels, x: Float[Array, "p m"]) -> Float[Array, "p m m"]:
    """∂²ℓ/∂q²: Σ w Bᵀ (1 - t tᵀ) B / |Γ|."""
    tangent, size = tangents(channels, x)
    count, points, _, width = channels.slope.shape
    root = jnp.sqrt(channels.weights / size)
    slope = root[:, :, None, None] * channels.slope
    along = jnp.einsum("pnim,pni->pnm", slope, tangent)
    slope = slope.reshape(count, 3 * points, width)
    return jnp.swapaxes(slope, 1, 2) @ slope - jnp.swapaxes(along, 1, 2) @ along


def within_groups(model: Model, at: TransmissionMotion, parts: Parts) -> list[Within | None]:
    """What transmissions do within the elements of each group; None where there is none."""
    layout = layout_of(model)
    laws = (
        line_laws(model, at) if any(s is not None and s.lines.size for s in layout.groups) else None
    )
    return [
        None if slots is None else _within(model, i, slots, at, parts, laws)
        for i, slots in enumerate(layout.groups)
    ]


def _within(
    model: Model,
    index: int,
    slots: GroupSlots,
    at: TransmissionMotion,
    parts: Parts,
    laws: tuple[Float[Array, "s 6 6"], Float[Array, "s 6 6"]] | None,
) -> Within:
    own, width = model.transmissions, model.groups[index].nv
    affine = jnp.asarray(own.affine.arms)

    def summed(channels: Float[Array, "p c"], affine: Float[Array, "a k"]) -> Float[Array, "b T m"]:
        listed = part_rows(model, channels, affine)[:, :width]
        return chosen(listed, slots.parts).sum(axis=2)

    alone = slots.alone.astype(float)
    stiffness = damping = None
    if slots.channels.size:
        local = parts.channels
        stiffness = chosen(local.stiffness, slots.channels).sum(axis=1)[:, :width, :width]
        if local.damping is not None:
            damping = chosen(local.damping, slots.channels).sum(axis=1)[:, :width, :width]
    return Within(
        arms=summed(at.channels.arms, affine),
        rates=summed(parts.channels.arm_rates, jnp.zeros_like(affine)),
        pushes=summed(at.channels.pushes, affine),
        by_length=alone * chosen(at.by_length, slots.of),
        by_rate=alone * chosen(at.by_rate, slots.of),
        stiffness=stiffness,
        damping=damping,
        lines=None if laws is None else _within_lines(model, index, slots, at, parts, laws),
    )


def _within_lines(
    model: Model,
    index: int,
    slots: GroupSlots,
    at: TransmissionMotion,
    parts: Parts,
    laws: tuple[Float[Array, "s 6 6"], Float[Array, "s 6 6"]],
) -> WithinLines | None:
    if slots.lines.shape[1] == 0:
        return None
    there = (slots.lines >= 0)[:, :, None]
    samples = np.arange(model.groups[index].samples)
    places = np.arange(slots.of.shape[1])[:, None]
    return WithinLines(
        outer=(there & (slots.outer[:, :, None] == samples)).astype(float),
        inner=(there & (slots.inner[:, :, None] == samples)).astype(float),
        arm=chosen(parts.lines.arm, slots.lines),
        arm_rate=chosen(parts.lines.arm_rate, slots.lines),
        of_outer=chosen(laws[0], slots.lines),
        of_inner=chosen(laws[1], slots.lines),
        slot=((slots.line_slot[:, None, :] == places) & there[:, None, :, 0]).astype(float),
        share=chosen(at.lines.share, slots.lines),
        corners=_within_corners(model, slots, at, parts) if slots.corners.size else None,
    )


def _within_corners(
    model: Model, slots: GroupSlots, at: TransmissionMotion, parts: Parts
) -> WithinCorners:
    assert parts.corners is not None
    rubs = slots.corners >= 0
    numbers = np.arange(slots.lines.shape[1])
    same = (
        slots.line_slot[:, :, None]
        == np.take_along_axis(slots.line_slot, slots.arriving, 1)[:, None]
    )
    later = numbers[None, :, None] > slots.arriving[:, None, :]
    beyond = (same & later & rubs[:, None, :] & (slots.lines >= 0)[:, :, None]).astype(float)
    before, after = (
        (rubs[:, :, None] & (side[:, :, None] == numbers)).astype(float)
        for side in (slots.arriving, slots.leaving)
    )
    by_turn, by_sliding = (chosen(part, slots.corners) for part in parts.corners)
    turned = jnp.einsum("bcs,bci->bcsi", after - before, by_turn)
    along = jnp.einsum("bcsi,bsij->bcsj", turned, chosen(parts.lines.turning, slots.lines))
    of_lines = jnp.einsum("bsc,bctj->bstj", beyond, along)
    outer, inner = (chosen(part, slots.lines)[:, None] for part in (at.lines.outer, at.lines.inner))
    return WithinCorners(
        tension=chosen(line_tensions(model, at), slots.lines),
        by_outer=point_rows(jnp.broadcast_to(outer, of_lines.shape), of_lines),
        by_inner=point_rows(jnp.broadcast_to(inner, of_lines.shape), of_lines),
        by_rate=jnp.einsum("bsc,bc,btc->bst", beyond, by_sliding, beyond),
    )


def ground_laws(
    model: Model, at: TransmissionMotion, lines: LineRows
) -> tuple[np.ndarray, Float[Array, "n 6 6"], Float[Array, "n 6 6"]] | None:
    """Samples that lines to the ground pull at, and how their wrenches change with ν and with ζ.

    With the effort itself where the line is all there is of its transmission.
    """
    layout = layout_of(model)
    index = layout.grounded
    if len(index) == 0:
        return None
    segments = model.transmissions.segments
    outer, inner = (
        np.array(side)[index] for side in (segments.outer_sample, segments.inner_sample)
    )
    of_outer, of_inner = (static_index.take(law, index) for law in line_laws(model, at))
    geometry = jnp.where((outer != GROUND)[:, None, None], of_outer, of_inner)
    tied = np.isin(index, layout.tied).astype(float)
    of = np.array(segments.of)[index]
    by_length, by_rate = (tied * static_index.take(part, of) for part in (at.by_length, at.by_rate))
    h, change = static_index.take(lines.arm, index), static_index.take(lines.arm_rate, index)
    follows = by_length[:, None] * h + by_rate[:, None] * change
    geometry = geometry - h[:, :, None] * follows[:, None, :]
    gyration = -by_rate[:, None, None] * h[:, :, None] * h[:, None, :]
    return np.where(outer != GROUND, outer, inner), gyration, geometry


def add_within(
    within: Within,
    shift: Float[Array, "b p 6 m"],
    shift_rate: Float[Array, "b p 6 m"],
) -> tuple[SlotRows, Float[Array, "b p 6 m"] | None, Float[Array, "b m m"], Float[Array, "b m m"]]:
    """Slots, reactions of the samples to δx (or None), and what is added to K and C.

    ``shift`` are the columns of the samples, ``shift_rate`` their time derivatives.
    """
    arms, rates, pushes, by_length, by_rate, stiffness, damping, lines = within
    none = jnp.zeros((arms.shape[0], arms.shape[2], arms.shape[2]))
    stiffness = none if stiffness is None else stiffness
    damping = none if damping is None else damping
    reaction = None
    if lines is not None:
        at_outer, at_inner = (
            jnp.einsum("bsp,bpim->bsim", side, shift) for side in (lines.outer, lines.inner)
        )
        apart = at_outer - at_inner
        rate = jnp.einsum("bsp,bpim->bsim", lines.outer - lines.inner, shift_rate)
        own = jnp.einsum("bsi,bsim->bsm", lines.arm, apart)
        changing = jnp.einsum("bsi,bsim->bsm", lines.arm, rate) + jnp.einsum(
            "bsi,bsim->bsm", lines.arm_rate, apart
        )
        arms = arms + lines.slot @ own
        rates = rates + lines.slot @ changing
        pushes = pushes + lines.slot @ (lines.share[:, :, None] * own)
        pulls = small.product(lines.of_outer, apart), small.product(lines.of_inner, apart)
        reaction = jnp.einsum("bsp,bsim->bpim", lines.outer, pulls[0]) - jnp.einsum(
            "bsp,bsim->bpim", lines.inner, pulls[1]
        )
        if lines.corners is not None:
            corners = lines.corners
            pull = jnp.swapaxes(corners.tension[:, :, None] * own, -1, -2)
            turned = jnp.einsum("bsti,btim->bsm", corners.by_outer, at_outer) - jnp.einsum(
                "bsti,btim->bsm", corners.by_inner, at_inner
            )
            stiffness = stiffness + pull @ (turned + corners.by_rate @ changing)
            damping = damping + pull @ (corners.by_rate @ own)
    along = jnp.swapaxes(pushes, -1, -2)
    follows = by_length[:, :, None] * arms + by_rate[:, :, None] * rates
    stiffness = stiffness - along @ follows
    damping = damping - along @ (by_rate[:, :, None] * arms)
    return SlotRows(arms, rates, pushes), reaction, stiffness, damping
