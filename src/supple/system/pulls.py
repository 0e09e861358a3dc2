"""What links by transmissions add to the fronts of the elements that they touch, in numbers.

The force φ of a segment between two elements turns with it and, if the segment is all there is of its
transmission, follows its length:

    φ = T (1 - e eᵀ) (δp_b - δp_a) / ℓ + e δT,        δf_b = (p_b × φ, φ) + (p_b × (F × θ_b), F × θ_b),

and so for -a; the last term is a law of the sample alone. Where a transmission has more parts the change δu
of its effort is one unknown, δu = ∂u/∂ℓ δℓ + ∂u/∂ℓ̇ δℓ̇, with δℓ gathered from the elements that it touches.
Friction adds an unknown for each corner between elements, the change of the logarithm of the tension there,
and for channels of several rods the sliding beyond each and the logarithm of the tension before it.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Inexact

from supple.arrays import Array
from supple.lie import so3
from supple.mechanics import static_index
from supple.mechanics.activity import activity
from supple.mechanics.driving import rubbing_channels
from supple.mechanics.transmission_layout import layout_of
from supple.mechanics.transmission_tangent import Parts, SlotRows, point_matrices, point_rows
from supple.mechanics.transmissions import TransmissionMotion, line_tensions
from supple.model.constraints import COMPLIANCE, LENGTH
from supple.model.model import GROUND, Model
from supple.system.combination import Combination
from supple.system.links import Link, Touch, single_lines

Motion = Inexact[Array, "n depth m"]


class Coupling(NamedTuple):
    """Of a batch of fronts with one link: its rows on (δx, y) and its columns in (balance, wrench)."""

    by_x: Inexact[Array, "n r m"]
    by_y: Inexact[Array, "n r depth"]
    in_balance: Inexact[Array, "n m r"]
    in_wrench: Inexact[Array, "n 6 r"]


class Pulls(NamedTuple):
    """Transmissions at a motion, and what is known of them before."""

    model: Model
    at: TransmissionMotion
    parts: Parts
    tension: Float[Array, " s"]
    """Of the segments (N)."""
    single: np.ndarray
    """(s,) 1 for segments that are all there is of their transmission."""
    place: np.ndarray
    """(k,) place of imposed transmissions among their equations."""
    corners: dict[int, list[int]]
    """TendonBends of each transmission, ..."""
    rubbing: dict[int, list[int]]
    """... and its channels, where friction in one changes the others."""


def pulls_of(model: Model, at: TransmissionMotion, parts: Parts) -> Pulls:
    """All transmissions at a motion."""
    own = model.transmissions
    alone = single_lines(model)
    place = np.full(own.size, -1)
    place[own.imposed] = np.arange(len(own.imposed))
    corners: dict[int, list[int]] = {}
    if own.segments.corners is not None:
        for c, s in enumerate(own.segments.corners.arriving):
            corners.setdefault(own.segments.of[s], []).append(c)
    rubbing: dict[int, list[int]] = {}
    for channel in rubbing_channels(model).tolist():
        rubbing.setdefault(own.channels.of[channel], []).append(channel)
    single = np.array([float(i in alone) for i in own.segments.of])
    return Pulls(
        model, at, parts, line_tensions(model, at), single, place, corners, rubbing
    )  # fmt: skip


def line_end_laws(pulls: Pulls) -> list[tuple[np.ndarray, Float[Array, "_ 6 6"]]]:
    """Geometry of the samples at both ends of segments between elements: forces do not turn with them."""
    segments, index = pulls.model.transmissions.segments, layout_of(pulls.model).crossing
    if len(index) == 0:
        return []
    lines, found = pulls.at.lines, []
    turned = static_index.take(pulls.tension, index)[:, None, None] * so3.hat(
        static_index.take(lines.direction, index)
    )
    ends = (segments.outer_sample, lines.outer, 1.0), (segments.inner_sample, lines.inner, -1.0)
    for samples, points, sign in ends:
        force = sign * jnp.concatenate(
            [so3.hat(static_index.take(points, index)) @ turned, turned], axis=1
        )
        found.append((np.array(samples)[index], jnp.pad(force, ((0, 0), (0, 0), (0, 3)))))
    assert all(np.all(samples != GROUND) for samples, _ in found)
    return found


def line_coupling(
    pulls: Pulls, touches: list[Touch], motion: Motion, combination: Combination
) -> Coupling:
    """One end of segments between elements: rows and columns of their forces."""
    segments, points, sign = _ends(pulls, touches)
    of = np.array(pulls.model.transmissions.segments.of)[segments]
    at, parts = pulls.at, pulls.parts.lines
    ends = sign * point_matrices(points)
    turned = pulls.tension[segments][:, None, None] * parts.turning[segments]
    by_zeta = combination.stiffness * turned @ ends
    single = pulls.single[segments]
    follows = sign[:, 0] * _following(
        single * at.by_length[of], single * at.by_rate[of], pulls, segments, combination
    )
    along = at.lines.direction[segments]
    by_y = _padded(by_zeta, motion.shape[1]) - along[:, :, None] * follows[:, None, :]
    return at_sample(by_y, jnp.swapaxes(ends, -1, -2), motion)


def end_coupling(
    pulls: Pulls, links: list[Link], touches: list[Touch], motion: Motion, combination: Combination
) -> Coupling:
    """One end of segments of transmissions: rows and columns of efforts, lengths and friction."""
    segments, points, sign = _ends(pulls, touches)
    of, depth = np.array([link.index for link in links]), motion.shape[1]
    h = pulls.parts.lines.arm[segments]
    share = pulls.at.lines.share[segments]
    by_y, in_wrench = [], []
    if links[0].rows:
        scale, held = _imposed(pulls, of)
        by_y.append(_padded((held * scale)[:, None, None] * h[:, None], depth))
        in_wrench.append((scale * share)[:, None, None] * h[:, :, None])
    if links[0].extras[0]:
        by_length, by_rate = pulls.at.by_length[of], pulls.at.by_rate[of]
        by_y.append(_following(by_length, by_rate, pulls, segments, combination)[:, None])
        in_wrench.append(-share[:, None, None] * h[:, :, None])
    if links[0].extras[1]:
        turned, beyond = _corner_rows(pulls, of, segments, points, combination, depth)
        by_y.append(turned)
        pull = (pulls.tension[segments][:, None] * h)[:, :, None]
        in_wrench.append(pull * beyond[:, None, :])
    size = len(links[0].rows) + links[0].extra
    rows_, columns = jnp.concatenate(by_y, axis=1), jnp.concatenate(in_wrench, axis=2)
    missing = size - rows_.shape[1]
    return at_sample(
        sign * jnp.pad(rows_, ((0, 0), (0, missing), (0, 0))),
        sign * jnp.pad(columns, ((0, 0), (0, 0), (0, missing))),
        motion,
    )


def slot_coupling(
    pulls: Pulls,
    links: list[Link],
    slots: SlotRows,
    combination: Combination,
) -> Coupling:
    """Transmissions within elements: rows and columns of their efforts or lengths; one slot each."""
    of = np.array([link.index for link in links])
    by_x, in_balance = [], []
    if links[0].rows:
        scale, held = (part[:, None] for part in _imposed(pulls, of))
        by_x.append(held * scale * slots.arms)
        in_balance.append(scale * slots.pushes)
    if links[0].extras[0]:
        by_length, by_rate = pulls.at.by_length[of][:, None], pulls.at.by_rate[of][:, None]
        changing = combination.stiffness * (by_length * slots.arms + by_rate * slots.rates)
        by_x.append(changing + combination.damping * by_rate * slots.arms)
        in_balance.append(-slots.pushes)
    return _own(by_x, in_balance, links[0], combination.depth)


def rub_coupling(
    pulls: Pulls, links: list[Link], touches: list[Touch], width: int, combination: Combination
) -> Coupling:
    """Channels with friction: how they change the sliding and the tension in others of their tendon."""
    local = pulls.parts.channels
    assert local.losing is not None
    assert local.by_beyond is not None
    channel = np.array([touch.channel for touch in touches])
    order = [pulls.rubbing[link.index] for link in links]
    number = np.array([own.index(c) for own, c in zip(order, channel.tolist(), strict=True)])
    count = len(order[0]) - 1
    place = np.arange(count)

    def of(part: Float[Array, "p c"]) -> Float[Array, "n m"]:
        listed = part[channel]
        return jnp.pad(listed, ((0, 0), (0, max(0, width - listed.shape[1]))))[:, :width]

    k, c = combination.stiffness, combination.damping
    sliding = k * of(local.arm_rates) + c * of(pulls.at.channels.arms)
    losing = k * of(local.losing[0]) + c * of(local.losing[1])
    before, after = place < number[:, None], place + 1 > number[:, None]
    by_x = [before[:, :, None] * sliding[:, None], after[:, :, None] * losing[:, None]]
    here, next_ = place == number[:, None], place + 1 == number[:, None]
    in_balance = [
        here[:, :, None] * of(local.by_beyond)[:, None],
        next_[:, :, None] * of(local.force)[:, None],
    ]
    link = links[0]
    first = len(link.rows) + link.extra - 2 * count
    front = jnp.zeros((len(links), first, width))
    return _joined([front, *by_x], [front, *in_balance], combination.depth)


def pull_diagonal(
    pulls: Pulls, links: list[Link], combination: Combination
) -> Inexact[Array, "n r r"]:
    """Rows of the unknowns of links on each other."""
    link, count = links[0], len(links)
    size = len(link.rows) + link.extra
    diagonal = jnp.broadcast_to(-jnp.eye(size), (count, size, size))
    if link.rows:
        held = _imposed(pulls, np.array([one.index for one in links]))[1]
        yields = combination.by_change * COMPLIANCE * (1 - held)
        first = np.arange(size) == 0
        diagonal = jnp.where(np.outer(first, first), yields[:, None, None], diagonal)
    if link.family != "line" and link.extras[2]:
        losing = pulls.parts.channels.losing
        assert losing is not None
        several = link.extras[2] // 2
        channels = np.array([pulls.rubbing[one.index][:-1] for one in links])
        lower = np.tril(np.ones((several, several)))
        block = lower * losing[2][channels][:, None, :]
        corner = (0, 0), (size - several, 0), (size - 2 * several, several)
        diagonal = diagonal + jnp.pad(block, corner)
    return diagonal


def at_sample(
    by_y: Inexact[Array, "n r depth"], in_wrench: Inexact[Array, "n 6 r"], motion: Motion
) -> Coupling:
    """A link that touches a sample, whose element's coordinates move it."""
    shift = jnp.swapaxes(motion[:, :6], -1, -2)
    return Coupling(by_y @ motion, by_y, shift @ in_wrench, in_wrench)


def _ends(
    pulls: Pulls, touches: list[Touch]
) -> tuple[np.ndarray, Float[Array, "n 3"], Float[np.ndarray, "n 1 1"]]:
    """Segments that end at touches, their points there, and 1 for outer ends, -1 for inner ones."""
    segments = np.array([touch.part for touch in touches])
    outer = np.array([touch.side == 0 for touch in touches])
    lines = pulls.at.lines
    points = jnp.where(outer[:, None], lines.outer[segments], lines.inner[segments])
    return segments, points, np.where(outer, 1.0, -1.0)[:, None, None]


def _following(
    by_length: Float[Array, " n"],
    by_rate: Float[Array, " n"],
    pulls: Pulls,
    segments: np.ndarray,
    combination: Combination,
) -> Inexact[Array, "n depth"]:
    """Change of efforts with the motion of the outer ends of segments."""
    h, change = pulls.parts.lines.arm[segments], pulls.parts.lines.arm_rate[segments]
    first = combination.stiffness * (by_length[:, None] * h + by_rate[:, None] * change)
    return _by_motion(first, combination.damping * by_rate[:, None] * h, combination)


def _by_motion(
    by_zeta: Inexact[Array, "*n 6"], by_rate: Inexact[Array, "*n 6"], combination: Combination
) -> Inexact[Array, "*n depth"]:
    if not combination.in_motion:
        return by_zeta
    both = jnp.broadcast_arrays(by_zeta, by_rate)
    return jnp.concatenate([*both, jnp.zeros_like(both[0])], axis=-1)


def _corner_rows(
    pulls: Pulls,
    of: np.ndarray,
    segments: np.ndarray,
    points: Float[Array, "n 3"],
    combination: Combination,
    depth: int,
) -> tuple[Inexact[Array, "n c depth"], np.ndarray]:
    """Change of the logarithm of tension at corners with the outer end of segments; and which lie before."""
    corners, found = pulls.model.transmissions.segments.corners, pulls.parts.corners
    assert corners is not None
    assert found is not None
    index = np.array([pulls.corners[i] for i in of.tolist()])
    arriving, leaving = (np.array(side)[index] for side in (corners.arriving, corners.leaving))
    own = segments[:, None]
    beyond = (own > arriving).astype(float)
    turned = (own == leaving).astype(float) - (own == arriving)
    lines = pulls.parts.lines
    along = jnp.einsum("nc,nci,nij->ncj", turned, found.by_turn[index], lines.turning[segments])
    sliding = (beyond * found.by_sliding[index])[:, :, None]
    h, change = lines.arm[segments][:, None], lines.arm_rate[segments][:, None]
    place = jnp.broadcast_to(points[:, None], along.shape)
    by_zeta = combination.stiffness * (point_rows(place, along) + sliding * change)
    return _by_motion(by_zeta, combination.damping * sliding * h, combination), beyond


def _imposed(pulls: Pulls, of: np.ndarray) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Meters per unit of imposed coordinates, and 1 for those that are held."""
    law = pulls.model.transmissions.imposing
    assert law is not None
    index = pulls.place[of]
    held, own = activity(pulls.model), pulls.model.constraints.rows(LENGTH)
    held = jnp.ones(len(index)) if held is None else held[own][index]
    return jnp.asarray(law.scale)[index], held


def _own(
    by_x: list[Inexact[Array, "n m"]],
    in_balance: list[Inexact[Array, "n m"]],
    link: Link,
    depth: int,
) -> Coupling:
    """A coupling by coordinates alone, from its first rows and columns."""
    missing = ((0, 0), (0, len(link.rows) + link.extra - len(by_x)), (0, 0))
    rows_, columns = (jnp.pad(jnp.stack(part, axis=1), missing) for part in (by_x, in_balance))
    return _joined([rows_], [columns], depth)


def _joined(
    by_x: list[Inexact[Array, "n _ m"]], in_balance: list[Inexact[Array, "n _ m"]], depth: int
) -> Coupling:
    rows_, columns = jnp.concatenate(by_x, axis=1), jnp.concatenate(in_balance, axis=1)
    count, size = rows_.shape[:2]
    return Coupling(
        rows_,
        jnp.zeros((count, size, depth)),
        jnp.swapaxes(columns, -1, -2),
        jnp.zeros((count, 6, size)),
    )


def _padded(rows_: Inexact[Array, "n r 6"], depth: int) -> Inexact[Array, "n r depth"]:
    return jnp.pad(rows_, ((0, 0), (0, 0), (0, depth - 6)))
