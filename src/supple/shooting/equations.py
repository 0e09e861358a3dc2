"""The strong form of a rod: how pose and internal wrench change along it (002, eq. 7 and 11).

In the moving frame, with the internal wrench (m, f) that the part beyond a section exerts on the part before,
strain (κ, γ), and what a meter of rod needs more than it is given, w = I η̇ - ad(η)ᵀ I η - loads:

    R′ = R κ̂,    p′ = R γ,    m′ = w_m - κ × m - γ × f,    f′ = w_f - κ × f,    η′ = ξ̇ - ad(ξ) η.

The strain follows from the wrench. Time derivatives of strain and twist are those that a scheme ties to what
changes, ξ̇ = a (ξ - ξ₁) + ξ̇₀ and η̇ = a (η - η₁) + η̇₀, place by place, with ξ₁ and η₁ those of the last step.
So poses have no history of their own: a rod that moves along a circle loses no energy by the difference
between chord and arc.

A rod that grows does so everywhere alike, and places are fractions of its length L: with rates there,
η′ = ξ̇ + (L̇/L) ξ - ad(ξ) η.

Components are on the first axes, places on the last one, where the processor's vectors are.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, frames
from supple.shooting.law import RodLaw, RodPlace, all_settled
from supple.shooting.lines import Efforts, Lines, strain_under, stretches

Vector = Float[Array, "n *b"]
Triple = Float[Array, "3 *b"]
Six = Float[Array, "6 *b"]


class Described(NamedTuple):
    """What a law of a user's own is told of a section."""

    stiffness: Float[Array, "6 6 *b"]
    damping: Float[Array, "6 6 *b"]
    free: Float[Array, "6 *b"]
    """1 for strains that the rod has, 0 for others."""


class Section(NamedTuple):
    """What a rod is made of; matrices are (6, 6), or (6,) where all are diagonal."""

    compliance: Float[Array, "6 ..."]
    """Of the free strains; zero rows and columns for those that the rod does not have."""
    damping: Float[Array, "6 ..."] | None
    inertia: Float[Array, "6 ..."]
    rest: Six
    described: Described | None = None
    """For a law of a user's own."""


class Past(NamedTuple):
    """What a step knows of a place: last values, and their rates without the new ones.

    Of z, the strain and variables of the rod's own, and of the twist.
    """

    strain: Float[Array, "... z b"]
    strain_rate: Float[Array, "... z b"]
    twist: Float[Array, "... 6 b"]
    twist_rate: Float[Array, "... 6 b"]


class Moment(NamedTuple):
    """What is the same for all places: a = δẋ/δx (None at rest), gravity, time, which inertia counts."""

    rate: Any
    gravity: Float[Array, " 3"]
    t: Float[Array, ""]
    rotary: bool
    loads: Any
    """Called with (X, pose, body twist): body wrench a meter; None without loads."""
    efforts: Efforts | None = None
    law: RodLaw | None = None
    growth: tuple[Float[Array, " b"], Float[Array, " b"]] | None = None
    """Lengths of the rods over those described, and their rates over the lengths."""


def _times(matrix: Float[Array, "6 ..."], vector: Six) -> Six:
    return matrix * vector if matrix.ndim == vector.ndim else frames.apply(matrix, vector)


def made_of(
    section: Section,
    past: Past,
    moment: Moment,
    wrench: Six,
    place: tuple[Any, Any, Any, Six],
    lines: Lines | None = None,
) -> Float[Array, "z *b"]:
    """Strain, and variables of the rod's own, by the law of a user or the linear one.

    ``place`` is arc length, rotation, position and twist.
    """
    if moment.law is None:
        return strain_of(section, past, moment, wrench, lines)
    own, shape = section.described, wrench.shape[1:]
    assert own is not None
    X, R, p, twist = place

    def spread(part: Array) -> Array:
        return jnp.broadcast_to(part, (*part.shape[: part.ndim - 1], *shape))

    t, X = (jnp.broadcast_to(part, shape) for part in (moment.t, X))
    known = (own.stiffness, own.damping, section.rest)
    told = RodPlace(t, X, Pose(R, p), wrench, twist, *(spread(part) for part in known))
    return all_settled(
        moment.law, told, spread(own.free), moment.rate, past.strain, past.strain_rate
    )


def strain_of(
    section: Section, past: Past, moment: Moment, wrench: Six, lines: Lines | None = None
) -> Six:
    """Strain for an internal wrench: H (ξ - ξ₀) + D ξ̇ - Σ u ∂ℓ′/∂ξ = Λ with ξ̇ = a (ξ - ξ₁) + ξ̇₀.

    The compliance is that of H + a D. Λ is what rod, tendons and fluid carry together.
    """
    if section.damping is not None and moment.rate is not None:
        before = moment.rate * (past.strain - section.rest) - past.strain_rate
        wrench = wrench + _times(section.damping, before)
    free = _times(section.compliance, wrench)
    if lines is None or moment.efforts is None:
        return section.rest + free
    whole = section.compliance
    if whole.ndim == wrench.ndim:
        whole = whole[:, None] * jnp.eye(6)[:, :, None]
    each = jax.vmap(strain_under, in_axes=-1, out_axes=-1)
    return each(jnp.broadcast_to(section.rest, free.shape), whole, free, lines, moment.efforts)


def needed(
    section: Section, past: Past, moment: Moment, twist: Six, R: Any, p: Triple, X: Any
) -> tuple[Triple, Triple]:
    """Moment and force a meter that a section needs beyond its loads, in its axes."""
    cross = frames.cross
    inertia = section.inertia
    weight = frames.apply_transposed(R, jnp.broadcast_to(moment.gravity[:, None], p.shape))
    mass = inertia[5] if inertia.ndim == twist.ndim else inertia[5, 5]
    none, spin = jnp.zeros_like(p), twist[:3]
    if moment.rate is None:
        whole = _times(inertia, jnp.concatenate([none, -weight]))
        torque, force = whole[:3], whole[3:]
    else:
        change = moment.rate * (twist - past.twist) + past.twist_rate
        if moment.rotary:
            momentum = _times(inertia, twist)
            whole = _times(inertia, jnp.concatenate([change[:3], change[3:] - weight]))
            torque = whole[:3] + cross(spin, momentum[:3]) + cross(twist[3:], momentum[3:])
            force = whole[3:] + cross(spin, momentum[3:])
        else:  # a section as a point of mass on the centerline: its turning needs nothing
            torque, force = none, mass * (change[3:] - weight + cross(spin, twist[3:]))
    if moment.loads is not None:
        given = moment.loads(X, R, p, twist)
        torque, force = torque - given[:3], force - given[3:]
    return torque, force


def slope(
    section: Section,
    past: Past,
    moment: Moment,
    y: Vector,
    X: Float[Array, " b"],
    oriented: Any,
    lines: Lines | None = None,
) -> Vector:
    """Derivative by the arc length X (m) of y = (position, wrench, twist, orientation, lengths of lines)."""
    cross = frames.cross
    p, wrench, twist, turned = y[:3], y[3:9], y[9:15], y[TURN : TURN + oriented.size]
    R = oriented.matrix(turned)
    strain = made_of(section, past, moment, wrench, (X, R, p, twist), lines)[:6]
    k, g = strain[:3], strain[3:]
    m, f = wrench[:3], wrench[3:]
    torque, force = needed(section, past, moment, twist, R, p, X)
    turning, moving = -cross(k, twist[:3]), -cross(k, twist[3:]) - cross(g, twist[:3])
    gain = jnp.concatenate([turning, moving])
    if moment.rate is not None:
        gain = gain + moment.rate * (strain - past.strain[:6]) + past.strain_rate[:6]
        if moment.growth is not None:  # ∂(L ξ)/∂t at a fixed fraction of the length
            gain = gain + moment.growth[1] * strain
    wrenches = [torque - cross(k, m) - cross(g, f), force - cross(k, f)]
    parts = [frames.apply(R, g), *wrenches, gain, oriented.slope(turned, k)]
    if lines is not None and moment.efforts is not None:
        rest = jnp.broadcast_to(section.rest, strain.shape)
        each = jax.vmap(stretches, in_axes=-1, out_axes=-1)
        parts.append(each(rest, strain, lines, moment.efforts))
    return jnp.concatenate(parts)


TURN = 15
"""Where orientation begins in what is integrated."""
