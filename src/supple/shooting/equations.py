"""The strong form of a rod: how pose and internal wrench change along it (002, eq. 7 and 11).

In the moving frame, with the internal wrench (m, f) that the part beyond a section exerts on the part before,
strain (κ, γ), and what a metre of rod needs more than it is given, w = I η̇ - ad(η)ᵀ I η - loads:

    R′ = R κ̂,    p′ = R γ,    m′ = w_m - κ × m - γ × f,    f′ = w_f - κ × f,    η′ = ξ̇ - ad(ξ) η.

The strain follows from the wrench. Time derivatives of strain and twist are those that a scheme ties to what
changes, ξ̇ = a (ξ - ξ₁) + ξ̇₀ and η̇ = a (η - η₁) + η̇₀, place by place, with ξ₁ and η₁ those of the last step.
So poses have no history of their own: a rod that moves along a circle loses no energy by the difference
between chord and arc.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, small, so3

Vector = Float[Array, " n"]


class Section(NamedTuple):
    """What a rod is made of at one place; matrices are (6, 6), or (6,) where all are diagonal."""

    compliance: Float[Array, "6 *six"]
    """Of the free strains; zero rows and columns for those that the rod does not have."""
    damping: Float[Array, "6 *six"] | None
    inertia: Float[Array, "6 *six"]
    rest: Float[Array, " 6"]


class Lines(NamedTuple):
    """What runs along a rod at one place: k tendons in channels and fluid chambers."""

    offset: Float[Array, "k 3"]
    """D in the section (m)."""
    change: Float[Array, "k 3"]
    """D′."""


class Efforts(NamedTuple):
    """What the lines along a rod do in one solve."""

    effort: Float[Array, " k"]
    """What lengthens each: minus a tension (N), a pressure (Pa)."""
    acts: Float[Array, " k"]
    """1 for those that run along this segment, 0 for others."""
    area: Float[Array, " k"]
    """Cross-section of a chamber (m²); zero for tendons."""


class Past(NamedTuple):
    """What a step knows of one place: last strain and twist, and their rates without the new value."""

    strain: Float[Array, " 6"]
    strain_rate: Float[Array, " 6"]
    twist: Float[Array, " 6"]
    twist_rate: Float[Array, " 6"]


class Moment(NamedTuple):
    """What is the same for all places: a = δẋ/δx (None at rest), gravity, time, which inertia counts."""

    rate: Any
    gravity: Float[Array, " 3"]
    t: Float[Array, ""]
    rotary: bool
    loads: Any
    """Called with (X, pose, body twist): body wrench a metre; None without loads."""
    efforts: Efforts | None = None


def quaternion_slope(h: Float[Array, " 4"], k: Float[Array, " 3"]) -> Float[Array, " 4"]:
    """Derivative ½ h κ of a quaternion along a curve with the curvature κ (002, eq. 9)."""
    w, x, y, z = h
    return 0.5 * jnp.stack(
        [
            -x * k[0] - y * k[1] - z * k[2],
            w * k[0] + y * k[2] - z * k[1],
            w * k[1] - x * k[2] + z * k[0],
            w * k[2] + x * k[1] - y * k[0],
        ]
    )


def rotation_of(h: Float[Array, " 4"]) -> Float[Array, "3 3"]:
    """Rotation matrix of a quaternion of any length (002, eq. 10)."""
    w, x, y, z = h
    k = 2 / (w * w + x * x + y * y + z * z)
    return jnp.stack(
        [
            1 - k * (y * y + z * z),
            k * (x * y - z * w),
            k * (x * z + y * w),
            k * (x * y + z * w),
            1 - k * (x * x + z * z),
            k * (y * z - x * w),
            k * (x * z - y * w),
            k * (y * z + x * w),
            1 - k * (x * x + y * y),
        ]
    ).reshape(3, 3)


def turn_from(base: Float[Array, " 4"], h: Float[Array, " 4"]) -> Float[Array, " 3"]:
    """2 v of the turn from a unit quaternion to one of any length."""
    w, x, y, z = base
    turned = so3.quaternion_product(jnp.stack([w, -x, -y, -z]), h)
    sign = jnp.where(turned[0] < 0, -1.0, 1.0)
    return 2 * turned[1:] * sign / jnp.sqrt(jnp.sum(h * h))


def _times(matrix: Float[Array, "6 *six"], vector: Float[Array, " 6"]) -> Float[Array, " 6"]:
    return matrix * vector if matrix.ndim == 1 else small.times(matrix, vector)


def strain_of(
    section: Section,
    past: Past,
    moment: Moment,
    wrench: Float[Array, " 6"],
    lines: Lines | None = None,
) -> Float[Array, " 6"]:
    """Strain for an internal wrench: H (ξ - ξ₀) + D ξ̇ - Σ u ∂ℓ′/∂ξ = Λ with ξ̇ = a (ξ - ξ₁) + ξ̇₀.

    The compliance is that of H + a D. Λ is what rod, tendons and fluid carry together.
    """
    if section.damping is not None and moment.rate is not None:
        before = moment.rate * (past.strain - section.rest) - past.strain_rate
        wrench = wrench + _times(section.damping, before)
    free = _times(section.compliance, wrench)
    if lines is None or moment.efforts is None:
        return section.rest + free
    excess = free
    for _ in range(NEWTON):
        push, slope = _push(section.rest + excess, lines, moment.efforts)
        left = excess - free - _times(section.compliance, push)
        whole = section.compliance
        scaled = whole[:, None] * slope if whole.ndim == 1 else whole @ slope
        excess = excess - jnp.linalg.solve(jnp.eye(6) - scaled, left)
    return section.rest + excess


NEWTON = 4
"""Iterations of the strain under tendons: their pull turns with it, a little."""


def _push(
    strain: Float[Array, " 6"], lines: Lines, efforts: Efforts
) -> tuple[Float[Array, " 6"], Float[Array, "6 6"]]:
    """Σ u ∂ℓ′/∂ξ of the lines, and its derivative by the strain."""

    def one(offset: Array, change: Array, effort: Array, acts: Array, area: Array) -> Any:
        tangent = strain[3:] + _cross(strain[:3], offset) + change
        size = jnp.sqrt(jnp.sum(tangent**2))
        along = jnp.where(area > 0, area * jnp.array([1.0, 0.0, 0.0]), tangent / size)
        by_strain = jnp.concatenate([-so3.hat(offset), jnp.eye(3)], axis=1)
        turning = (jnp.eye(3) - jnp.outer(along, along)) / size
        bends = jnp.where(area > 0, 0.0, by_strain.T @ turning @ by_strain)
        return acts * effort * (along @ by_strain), acts * effort * bends

    pushes, slopes = jax.vmap(one)(*lines, efforts.effort, efforts.acts, efforts.area)
    return pushes.sum(axis=0), slopes.sum(axis=0)


def stretches(
    section: Section, strain: Float[Array, " 6"], lines: Lines, efforts: Efforts
) -> Float[Array, " k"]:
    """ℓ′ of each line: length of a tendon, volume of a chamber beyond that at rest."""

    def one(offset: Array, change: Array, acts: Array, area: Array) -> Any:
        tangent = strain[3:] + _cross(strain[:3], offset) + change
        rest = section.rest[3:] + _cross(section.rest[:3], offset)
        volume = area * (tangent - change - rest)[0]
        return acts * jnp.where(area > 0, volume, jnp.sqrt(jnp.sum(tangent**2)))

    found: Float[Array, " k"] = jax.vmap(one)(*lines, efforts.acts, efforts.area)
    return found


def _cross(a: Float[Array, " 3"], b: Float[Array, " 3"]) -> Float[Array, " 3"]:
    return jnp.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def needed(
    section: Section,
    past: Past,
    moment: Moment,
    twist: Float[Array, " 6"],
    R: Float[Array, "3 3"],
    p: Float[Array, " 3"],
    X: Float[Array, ""],
) -> tuple[Float[Array, " 3"], Float[Array, " 3"]]:
    """Moment and force a metre that a section needs beyond its loads, in its axes."""
    inertia, weight = section.inertia, small.times(R.T, moment.gravity)
    mass = inertia[5] if inertia.ndim == 1 else inertia[5, 5]
    none, spin = jnp.zeros(3), twist[:3]
    if moment.rate is None:
        whole = _times(inertia, jnp.concatenate([none, -weight]))
        torque, force = whole[:3], whole[3:]
    else:
        change = moment.rate * (twist - past.twist) + past.twist_rate
        if moment.rotary:
            momentum = _times(inertia, twist)
            whole = _times(inertia, jnp.concatenate([change[:3], change[3:] - weight]))
            torque = whole[:3] + _cross(spin, momentum[:3]) + _cross(twist[3:], momentum[3:])
            force = whole[3:] + _cross(spin, momentum[3:])
        else:  # a section as a point of mass on the centreline: its turning needs nothing
            torque, force = none, mass * (change[3:] - weight + _cross(spin, twist[3:]))
    if moment.loads is not None:
        given = moment.loads(X, Pose(R, p), twist)
        torque, force = torque - given[:3], force - given[3:]
    return torque, force


def slope(
    section: Section,
    past: Past,
    moment: Moment,
    y: Vector,
    X: Float[Array, ""],
    oriented: Any,
    lines: Lines | None = None,
) -> Vector:
    """Derivative by the arc length X (m) of y = (position, wrench, twist, orientation, lengths of lines)."""
    p, wrench, twist, turned = y[:3], y[3:9], y[9:15], y[TURN : TURN + oriented.size]
    R = oriented.matrix(turned)
    strain = strain_of(section, past, moment, wrench, lines)
    k, g = strain[:3], strain[3:]
    m, f = wrench[:3], wrench[3:]
    torque, force = needed(section, past, moment, twist, R, p, X)
    turning, moving = -_cross(k, twist[:3]), -_cross(k, twist[3:]) - _cross(g, twist[:3])
    gain = jnp.concatenate([turning, moving])
    if moment.rate is not None:
        gain = gain + moment.rate * (strain - past.strain) + past.strain_rate
    wrenches = [torque - _cross(k, m) - _cross(g, f), force - _cross(k, f)]
    parts = [small.times(R, g), *wrenches, gain, oriented.slope(turned, k)]
    if lines is not None and moment.efforts is not None:
        parts.append(stretches(section, strain, lines, moment.efforts))
    return jnp.concatenate(parts)


TURN = 15
"""Where orientation begins in what is integrated."""


class AbstractOriented:
    """How orientation is integrated."""

    size: int
    """Numbers that are integrated."""

    start: Callable[[Any], Any]
    """From a unit quaternion."""
    matrix: Callable[[Any], Any]
    slope: Callable[[Any, Any], Any]
    """Derivative along a rod of a curvature."""
    turn_from: Callable[[Any, Any], Any]
    """2 v of the turn from a unit quaternion."""


class Quaternions(AbstractOriented):
    """Orientation as a quaternion, which need not stay a unit one."""

    size = 4

    @staticmethod
    def start(h: Float[Array, " 4"]) -> Float[Array, " 4"]:
        """From a unit quaternion."""
        return h

    matrix = staticmethod(rotation_of)
    slope = staticmethod(quaternion_slope)
    turn_from = staticmethod(turn_from)


class Matrices(AbstractOriented):
    """Orientation as a rotation matrix, which leaves SO(3) by the error of the rule."""

    size = 9

    @staticmethod
    def start(h: Float[Array, " 4"]) -> Float[Array, " 9"]:
        """From a unit quaternion."""
        return rotation_of(h).reshape(9)

    @staticmethod
    def matrix(entries: Float[Array, " 9"]) -> Float[Array, "3 3"]:
        """From its entries."""
        return entries.reshape(3, 3)

    @staticmethod
    def slope(entries: Float[Array, " 9"], k: Float[Array, " 3"]) -> Float[Array, " 9"]:
        """R κ̂."""
        a, b, c = (entries.reshape(3, 3)[:, i] for i in range(3))
        columns = [k[2] * b - k[1] * c, k[0] * c - k[2] * a, k[1] * a - k[0] * b]
        return jnp.stack(columns, axis=1).reshape(9)

    @staticmethod
    def turn_from(base: Float[Array, " 4"], entries: Float[Array, " 9"]) -> Float[Array, " 3"]:
        """2 v of the turn from a unit quaternion, less than half a turn away."""
        seen = small.product(rotation_of(base).T, entries.reshape(3, 3))
        w = jnp.sqrt(1 + seen[0, 0] + seen[1, 1] + seen[2, 2]) / 2
        odd = [seen[2, 1] - seen[1, 2], seen[0, 2] - seen[2, 0], seen[1, 0] - seen[0, 1]]
        return jnp.stack(odd) / (2 * w)


ORIENTED: dict[str, type[AbstractOriented]] = {"quaternion": Quaternions, "matrix": Matrices}
