"""What transmissions between elements add to the tangent as one matrix; for small robots, and as a judge.

What they do within one element is in its own blocks, what they do to the ground in the laws of samples.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics import static_index
from supple.mechanics.reach import Reach, reach_of
from supple.mechanics.transmission_layout import layout_of
from supple.mechanics.transmission_tangent import Parts, point_matrices
from supple.mechanics.transmissions import (
    TransmissionMotion,
    line_laws,
    line_tensions,
    part_rows,
)
from supple.model.model import Model

Jacobians = Callable[[Reach, np.ndarray], tuple[Float[Array, "k 6 w"], Float[Array, "k 6 w"]]]
"""World Jacobians of flat samples, and their time derivatives, in the coordinates of a reach."""


class Driving(NamedTuple):
    """What is added to K and C, and the rows of transmissions whose coordinate is imposed."""

    stiffness: Float[Array, "nv nv"]
    damping: Float[Array, "nv nv"]
    jacobian: Float[Array, "n nv"]
    force_jacobian: Float[Array, "n nv"]


class _Lines(NamedTuple):
    """Some segments: their arms, the rates of these, and the Jacobians of their ends."""

    which: np.ndarray
    reach: Reach
    """Whose coordinates these are in."""
    arms: Float[Array, "s w"]
    rates: Float[Array, "s w"]
    outer: Float[Array, "s 6 w"]
    inner: Float[Array, "s 6 w"]


def driving(
    model: Model, at: TransmissionMotion, parts: Parts, jacobians: Jacobians
) -> Driving | None:
    """Transmissions between elements; None if there are none."""
    own, layout = model.transmissions, layout_of(model)
    rubbing = rubbing_channels(model)
    chosen = np.isin(np.arange(own.size), own.imposed) | layout.followed
    of_lines, of_channels = (np.array(part.of, dtype=int) for part in (own.segments, own.channels))
    chosen[of_channels[rubbing]] = True
    corners = shared_corners(model)
    if own.segments.corners is not None:
        chosen[of_lines[np.array(own.segments.corners.arriving)[corners]]] = True
    which = np.flatnonzero(chosen)
    if len(which) == 0 and len(layout.crossing) == 0:
        return None
    stiffness = damping = jnp.zeros((model.nv, model.nv))
    arms = _spread(model, which, at.channels.arms, own.affine.arms)
    pushes = arms
    if own.channels.rubbing is not None:
        pushes = _spread(model, which, at.channels.pushes, own.affine.arms)
    rates = _spread(model, which, parts.channels.arm_rates, 0.0 * own.affine.arms)
    index = np.flatnonzero(chosen[of_lines] | np.isin(np.arange(len(of_lines)), layout.crossing))
    if len(index):
        lines = _lines(model, index, parts, jacobians)
        gather = (which[:, None] == of_lines[index]).astype(float)
        expand = lines.reach.expand
        arms = arms + expand(gather @ lines.arms)
        rates = rates + expand(gather @ lines.rates)
        share = static_index.take(at.lines.share, index)[:, None]
        pushes = pushes + expand(gather @ (share * lines.arms))
        turned = _turning(model, at, lines)
        if len(corners):
            rubbed, drag = _corner_tangent(model, at, parts, lines, corners)
            turned, damping = turned + rubbed, damping + lines.reach.expand_square(drag)
        stiffness = stiffness + lines.reach.expand_square(turned)
    if len(rubbing):
        rubbed, drag = _channel_tangent(model, at, parts, rubbing)
        stiffness, damping = stiffness + rubbed, damping + drag
    # Efforts that follow the coordinate: ∂u/∂ℓ δℓ + ∂u/∂ℓ̇ δℓ̇, with δℓ̇ = J δẋ + J̇ δx.
    follows = layout.followed[which].astype(float)
    by_length, by_rate = (
        (follows * static_index.take(part, which))[:, None] for part in (at.by_length, at.by_rate)
    )
    stiffness = stiffness - pushes.T @ (by_length * arms + by_rate * rates)
    damping = damping - pushes.T @ (by_rate * arms)
    jacobian, along = jnp.zeros((0, model.nv)), jnp.zeros((0, model.nv))
    if (law := own.imposing) is not None:
        scale, place = jnp.asarray(law.scale)[:, None], np.searchsorted(which, own.imposed)
        jacobian, along = (
            scale * static_index.take(arms, place),
            scale * static_index.take(pushes, place),
        )
    return Driving(stiffness, damping, jacobian, along)


def rubbing_channels(model: Model) -> np.ndarray:
    """Channels with friction whose tendon has several of them: each changes the tension in the others."""
    own = model.transmissions.channels
    if own.rubbing is None:
        return np.zeros(0, dtype=int)
    of = np.array(own.of)
    several = np.bincount(of)[of] > 1
    return np.flatnonzero(several & np.array(own.rubbing.which))


def shared_corners(model: Model) -> np.ndarray:
    """TendonBends of tendons that do not act within one element alone."""
    segments, layout = model.transmissions.segments, layout_of(model)
    if segments.corners is None:
        return np.zeros(0, dtype=int)
    of = np.array(segments.of)[np.array(segments.corners.arriving)]
    return np.flatnonzero(~layout.alone[of])


def _spread(
    model: Model,
    which: np.ndarray,
    channels: Float[Array, "p m"],
    affine: Float[Array, "a k"],
) -> Float[Array, "n nv"]:
    """Rows of some transmissions in all coordinates, from those of their channels and affine parts."""
    own = model.transmissions
    of = np.array((*own.channels.of, *own.affine.of), dtype=int)
    spans = np.array((*own.channels.spans, *own.affine.spans), dtype=int).reshape(-1, 2)
    values = part_rows(model, channels, jnp.asarray(affine))
    index = spans[:, :1] + np.arange(values.shape[1])
    there = (index < spans[:, 1:]) & np.isin(of, which)[:, None]
    place = np.searchsorted(which, of)[:, None] * model.nv + index
    flat = jnp.zeros(len(which) * model.nv)
    listed = static_index.take(values.reshape(-1), np.flatnonzero(there))
    return static_index.add(flat, place[there], listed).reshape(len(which), model.nv)


def _lines(model: Model, index: np.ndarray, parts: Parts, jacobians: Jacobians) -> _Lines:
    segments = model.transmissions.segments
    sides = [np.array(side)[index] for side in (segments.outer_sample, segments.inner_sample)]
    reach = reach_of(model, np.concatenate(sides))
    (outer, outer_rate), (inner, inner_rate) = (jacobians(reach, side) for side in sides)
    h, change = (
        static_index.take(parts.lines.arm, index),
        static_index.take(parts.lines.arm_rate, index),
    )
    arms = jnp.einsum("si,sim->sm", h, outer - inner)
    rates = jnp.einsum("si,sim->sm", h, outer_rate - inner_rate)
    rates = rates + jnp.einsum("si,sim->sm", change, outer - inner)
    return _Lines(index, reach, arms, rates, outer, inner)


def _turning(model: Model, at: TransmissionMotion, lines: _Lines) -> Float[Array, "w w"]:
    """Stiffness of the forces of segments between elements, which turn."""
    crossing = layout_of(model).crossing
    place = np.searchsorted(lines.which, crossing)
    outer, inner = static_index.take(lines.outer, place), static_index.take(lines.inner, place)
    laws = (static_index.take(law, crossing) for law in line_laws(model, at))
    return between(outer, inner, *laws)


def between(
    outer: Float[Array, "k 6 nv"],
    inner: Float[Array, "k 6 nv"],
    of_outer: Float[Array, "k 6 6"],
    of_inner: Float[Array, "k 6 6"],
) -> Float[Array, "nv nv"]:
    """Stiffness of wrenches between pairs of samples, which change with the motion between them."""
    apart = outer - inner
    stiffness = jnp.einsum("kim,kij,kjn->mn", outer, of_outer, apart)
    return stiffness - jnp.einsum("kim,kij,kjn->mn", inner, of_inner, apart)


def _corner_tangent(
    model: Model, at: TransmissionMotion, parts: Parts, lines: _Lines, which: np.ndarray
) -> tuple[Float[Array, "w w"], Float[Array, "w w"]]:
    """What friction at corners adds to K and C by changing the shares of tension."""
    segments = model.transmissions.segments
    corners = segments.corners
    assert corners is not None
    assert parts.corners is not None
    index, of = lines.which, np.array(segments.of)
    arriving, leaving = (np.array(side)[which] for side in (corners.arriving, corners.leaving))
    # How the directions of the lines change.
    points = at.lines.outer, at.lines.inner
    turning = static_index.take(parts.lines.turning, index)
    moved = [
        jnp.einsum("sij,sjm->sim", point_matrices(static_index.take(p, index)), J)
        for p, J in zip(points, (lines.outer, lines.inner), strict=True)
    ]
    turned = jnp.einsum("sij,sjm->sim", turning, moved[0] - moved[1])
    places = (np.searchsorted(index, side) for side in (leaving, arriving))
    after, before = (static_index.take(turned, place) for place in places)
    by_turn, by_sliding = (static_index.take(part, which) for part in parts.corners)
    widening = jnp.einsum("ci,cim->cm", by_turn, after - before)
    beyond = (of[index] == of[arriving][:, None]) & (index > arriving[:, None])
    by_shift = widening + by_sliding[:, None] * (beyond.astype(float) @ lines.rates)
    by_rate = by_sliding[:, None] * (beyond.astype(float) @ lines.arms)
    pull = beyond @ (static_index.take(line_tensions(model, at), index)[:, None] * lines.arms)
    return pull.T @ by_shift, pull.T @ by_rate


def _channel_tangent(
    model: Model, at: TransmissionMotion, parts: Parts, which: np.ndarray
) -> tuple[Float[Array, "nv nv"], Float[Array, "nv nv"]]:
    """What friction in several channels of a tendon adds: sliding and losses of tension in the others."""
    own, local = model.transmissions.channels, parts.channels
    assert local.losing is not None
    assert local.by_beyond is not None

    def spread(part: Float[Array, "p m"]) -> Float[Array, "n nv"]:
        spans = np.array(own.spans)[which]
        index = spans[:, :1] + np.arange(part.shape[1])
        there = index < spans[:, 1:]
        place = np.arange(len(which))[:, None] * model.nv + index
        listed = static_index.take(
            static_index.take(part, which).reshape(-1), np.flatnonzero(there)
        )
        flat = static_index.add(jnp.zeros(len(which) * model.nv), place[there], listed)
        return flat.reshape(len(which), model.nv)

    of = np.array(own.of)[which]
    same = of[:, None] == of
    later = (same & (which > which[:, None])).astype(float)
    earlier = later.T
    arms, rates = spread(at.channels.arms), spread(local.arm_rates)
    sliding = later @ rates, later @ arms
    by_beyond = static_index.take(local.losing[2], which)[:, None]
    lost = [
        earlier @ (spread(losing) + by_beyond * slid)
        for losing, slid in zip(local.losing[:2], sliding, strict=True)
    ]
    along_beyond, along_lost = spread(local.by_beyond), spread(local.force)
    stiffness, damping = (
        along_beyond.T @ slid + along_lost.T @ gone
        for slid, gone in zip(sliding, lost, strict=True)
    )
    return stiffness, damping
