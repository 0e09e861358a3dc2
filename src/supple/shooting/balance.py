"""What must vanish in one solve: the companion's balance, and the differences where segments meet.

The unknown is y = (x, λ, u, Z): displacements of the companion's coordinates (joints, stations, what tendons
and chambers measure along rods), the multipliers of its equations, the efforts of these tendons and chambers,
and for each segment of a rod displacement, internal wrench and twist of its first section.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.inverse_dynamics import balance
from supple.shooting.equations import Moment, Past, Section
from supple.shooting.parts import NUMBERS, TWIST, Parts, Vector
from supple.shooting.placed import companion_motion, placed
from supple.shooting.rods import Shot
from supple.system.formulation import Discretization


class Solve(NamedTuple):
    """What all evaluations of one solve share."""

    moment: Moment
    sections: Section
    past: Past
    frames: tuple[Float[Array, "7 s"], Float[Array, "7 s"]]
    """Last poses of the ends of segments."""


def solve_of(parts: Parts, d: Discretization) -> Solve:
    """What all evaluations of a solve share."""
    nodes, rods, companion = parts.layout.nodes, parts.rods, parts.companion
    base, rate = parts.fields(d.origin.q), None if d.rates is None else d.rates.by_rate
    gains = jnp.zeros_like(base) if d.rates is None else parts.fields(d.rates.velocity)
    made = np.r_[0:6, NUMBERS : parts.known]
    past = Past(base[..., made], gains[..., made], base[..., TWIST], gains[..., TWIST])
    gravity = companion.load_factor * jnp.asarray(companion.gravity)
    frames = parts.poses(d.origin.q)
    moment = Moment(rate, gravity, d.t, rods.settings.rotary_inertia, None)
    if parts.grows:
        ratio, speed = (part[parts.layout.rod] for part in parts.growth_at(d.t))
        moment = moment._replace(growth=(ratio, speed))
    return Solve(
        moment,
        rods.sections(rate),
        rods.past(past),
        (frames[nodes[:, 0]].T, frames[nodes[:, -1]].T),
    )


def shoot(parts: Parts, solve: Solve, starts: Float[Array, "s 18"], efforts: Vector) -> Shot:
    """All segments from their starts, with lines at these efforts in their units."""
    pulls = parts.efforts(efforts)
    return parts.rods.shoot(*solve, starts.T, pulls, parts.companion.load_factor)


def given(
    parts: Parts, starts: Float[Array, "s 18"], end: Float[Array, "s 18"]
) -> tuple[Float[Array, "p 6"], Float[Array, "p 6"], Float[Array, "p 6"]]:
    """Wrenches at the starts and ends of pieces, in their units, and twists at their ends."""
    at = parts.layout
    return starts[at.starts, 6:12], end[at.ends, 6:12], end[at.ends, 12:]


def guess(parts: Parts, d: Discretization, x: Vector) -> Vector:
    """A guess of the unknown from one of the record's displacement."""
    forces = d.origin.multipliers
    forces = jnp.zeros(parts.equations) if forces is None else forces
    shift = parts.poses(x)[parts.layout.nodes[:, 0]]
    fields = parts.fields(d.origin.q) + parts.fields(x)
    wrench, twist = fields[:, 0, 6:12] / parts.rods.units[:, 6:], fields[:, 0, TWIST]
    twist = jnp.zeros_like(twist) if d.rates is None else twist
    starts = jnp.concatenate([shift, wrench, twist], axis=1)
    own = parts.of_companion(x)
    efforts = jnp.zeros(parts.lines)
    if parts.lines:  # as the companion has them at the guess
        c = companion_motion(
            parts, d, own, forces / parts.force, fields[parts.layout.ends, -1, TWIST]
        )
        asked = balance(parts.companion, c).residual * jnp.asarray(parts.companion.scale)
        efforts = -asked[parts.line_slice] / parts.energy
    return jnp.concatenate([own, forces / parts.force, efforts, starts.reshape(-1)])


def residual(parts: Parts, d: Discretization, y: Vector) -> tuple[Vector, Shot]:
    """What must vanish, and where segments lead."""
    x, forces, efforts, starts = parts.split(y)
    shot = shoot(parts, solve_of(parts, d), starts, efforts)
    at, end, lengths = parts.layout, shot.end[:NUMBERS].T, shot.end[NUMBERS:].sum(axis=1)
    found = placed(parts, d, x, forces, *given(parts, starts, end))
    stations = x[parts.joint_coordinates :].reshape(-1, 6)
    following = starts[np.minimum(np.arange(at.size) + 1, at.size - 1), :6]
    arrives = at.station_of_end[:, None] >= 0
    goal = jnp.where(arrives, stations[at.station_of_end], following)
    before = parts.of_companion(d.origin.q)[parts.line_places]
    left = [
        found.residual.at[parts.line_slice].add(efforts),
        found.violation,
        (before + x[parts.line_slice] - lengths) / parts.line_sizes,
        starts[at.starts, :6] - found.starts,
        starts[at.starts, 12:] - found.moves,
        end[:, :6] - goal,
        end[at.inner, 6:] - starts[at.inner + 1, 6:],
    ]
    return jnp.concatenate([part.reshape(-1) for part in left]), shot
