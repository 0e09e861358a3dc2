"""The companion under the wrenches of the rods: its balance, its equations, where pieces begin."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import balance
from supple.mechanics.kinematics import kinematics
from supple.mechanics.tree import sum_over_subtrees
from supple.model.model import GROUND
from supple.model.orientation_joints import FrameJoint
from supple.shooting.orientation import ORIENTED
from supple.shooting.parts import TWIST, Parts, Vector
from supple.system.formulation import Discretization


class Placed(NamedTuple):
    """What the companion says: balance, equations, where pieces begin, what joints hold."""

    residual: Vector
    violation: Vector
    starts: Float[Array, "p 6"]
    moves: Float[Array, "p 6"]
    """Twists where pieces begin."""
    held: Float[Array, "j 6"]
    """That each joint transmits, in the axes of its item."""


def _chart_motion(frame, x, twist, change):  # type: ignore[no-untyped-def]
    """ẋ and ẍ of a free frame with this body twist and its derivative, in the chart of FrameJoint.

    2 ḣ = h ω tells that of its quaternion h = (w, v), with x = 2 v.
    """
    v, spin, speed = x[:3] / 2, twist[:3], change[:3]
    w = jnp.sqrt(jnp.maximum(1.0 - jnp.sum(v * v), 1e-12))
    rotation = FrameJoint().pose(frame, x).rotation
    turning = w * spin + jnp.cross(v, spin)
    wdot = -jnp.sum(v * spin) / 2
    turns = wdot * spin + jnp.cross(turning / 2, spin) + w * speed + jnp.cross(v, speed)
    moving = rotation @ twist[3:]
    moves = rotation @ (change[3:] + jnp.cross(spin, twist[3:]))
    return jnp.concatenate([turning, moving]), jnp.concatenate([turns, moves])


def companion_motion(
    parts: Parts, d: Discretization, x: Vector, forces: Vector, moves: Float[Array, "p 6"]
) -> Coordinates:
    """The companion's motion; stations have the twists at the ends of their pieces."""
    q = parts.of_companion(d.origin.q)
    multipliers = parts.force * forces if parts.equations else None
    if d.rates is None:
        zero = jnp.zeros_like(x)
        return Coordinates(q, x, zero, zero, d.t, multipliers)
    rate = d.rates.by_rate
    xdot = rate * x + parts.of_companion(d.rates.velocity)
    xddot = d.rates.by_change * x + parts.of_companion(d.rates.acceleration)
    at, own = parts.layout.ends, parts.joint_coordinates
    change = rate * (moves - parts.fields(d.origin.q)[at, -1, TWIST])
    change = change + parts.fields(d.rates.velocity)[at, -1, TWIST]
    frames = parts.poses(d.origin.q)[parts.layout.station_nodes]
    stations = jax.vmap(_chart_motion)(frames, x[own:].reshape(-1, 6), moves, change)
    xdot, xddot = (
        jnp.concatenate([joints[:own], rates.reshape(-1)])
        for joints, rates in zip((xdot, xddot), stations, strict=True)
    )
    return Coordinates(q, x, xdot, xddot, d.t, multipliers)


def placed(
    parts: Parts,
    d: Discretization,
    x: Vector,
    forces: Vector,
    first: Float[Array, "p 6"],
    last: Float[Array, "p 6"],
    moves: Float[Array, "p 6"],
) -> Placed:
    """The companion under wrenches at starts and ends of pieces, in their units, with these twists."""
    at, model, units = parts.layout, parts.companion, parts.rods.units
    c = companion_motion(parts, d, x, forces, moves)
    found = balance(model, c)
    motion = found.motion
    joints = model.topology.element_start[-1]
    stations = joints + np.arange(at.station_count)
    samples = joints + at.start_station
    rods = np.flatnonzero(at.start_station < 0)
    samples[rods] = parts.mounted
    begin = motion.poses_at(samples)
    mounted = Pose(begin.rotation[rods], begin.position[rods]) @ parts.mounts
    begin = Pose(
        begin.rotation.at[rods].set(mounted.rotation),
        begin.position.at[rods].set(mounted.position),
    )
    # The part beyond a section pulls at the part before, and that at it the other way.
    pulls = [
        se3.wrench_to_world(begin, units[at.starts, 6:] * first),
        -se3.wrench_to_world(motion.poses_at(stations), units[at.ends, 6:] * last),
    ]
    places = np.concatenate([samples, stations])
    moving = np.flatnonzero(places != GROUND)
    acting = jnp.concatenate(pulls)[moving]

    def twists(xdot: Vector) -> Float[Array, "k 6"]:
        return kinematics(model, c._replace(xdot=xdot)).twists_at(places[moving])

    (generalized,) = jax.vjp(twists, c.xdot)[1](acting)
    residual = (found.residual - generalized) * jnp.asarray(model.scale) / parts.energy
    violation = found.violation / jnp.max(units[:, 3])
    if d.rates is not None and np.any(model.constraints.of_velocities):
        speeds = model.constraints.of_velocities
        violation = jnp.where(speeds, violation / d.rates.by_rate, violation)
    starts = x[parts.joint_coordinates :].reshape(-1, 6)[at.start_station]
    base = parts.poses(d.origin.q)[at.nodes[at.starts[rods], 0]]
    turn = ORIENTED["matrix"].turn_from(base[:, :4].T, mounted.rotation.reshape(-1, 9).T).T
    shift = mounted.position + motion.origin - base[:, 4:]
    starts = starts.at[rods].set(jnp.concatenate([turn, shift], axis=1))
    entering = se3.to_body(mounted, motion.twists_at(samples[rods]))
    begun = moves[at.start_station].at[rods].set(entering)
    asked = jnp.concatenate([part.reshape(-1, 6) for part in found.wrench])
    given = jnp.zeros_like(asked).at[places[moving]].add(-acting)
    asked = (asked + sum_over_subtrees(model.topology.parent, given))[:joints]
    held = se3.wrench_to_body(motion.poses_at(np.arange(joints)), asked)
    return Placed(residual, violation, starts, begun, held)
