"""Wrenches that cross sections and joints, from the balance of everything beyond them.

The balance asks a wrench of every sample: inertia less loads, with all that hangs there. What is asked beyond
a section is what the part before must give. This holds for all six components, also where a rod has no strain
that could tell them (the force in an inextensible one).
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.fields import field_reactions, field_values
from supple.mechanics.frames import find_rod, rod_sampled_at, rod_shape
from supple.mechanics.inverse_dynamics import Balance, balance
from supple.mechanics.kinematics import kinematics
from supple.model.model import Model, RodGroup, Slot
from supple.model.state import State
from supple.space.quadrature import Panels


class Held(NamedTuple):
    """Wrenches at k frames, in the axes of each, and the world rotations of these."""

    wrench: Float[Array, "*b k 6"]
    rotation: Float[Array, "*b k 3 3"]


def _motion(model: Model, s: State) -> Coordinates:
    return Coordinates(s.q, jnp.zeros(model.nv), s.v, s.a, s.t, s.multipliers)


def internal_wrenches(
    model: Model, s: State, name: str, fractions: tuple[float, ...]
) -> Float[Array, "n 6"]:
    """Wrench (N m, N) that a rod's part beyond a section exerts on the part before, in the section's axes.

    Tendons in channels and the fluid of chambers run through sections: what they carry is part of it. Where
    something hangs on the rod or pulls at it, it is the wrench just before.
    """
    if model.fields is not None:
        return field_values(model, name, s.q, np.array(fractions))[:, 6:12]
    model = model.with_lengths_at(s.t)
    slot = find_rod(model, name)
    group = model.groups[slot.group]
    assert isinstance(group, RodGroup)
    state = balance(model, _motion(model, s))
    points = np.array(fractions)
    if slot.in_pieces:
        pose = rod_shape(model, name, s.q, points, s.t)
        near = Pose(pose.rotation, pose.position - state.motion.origin)
        return se3.wrench_to_body(near, -_asked_beyond(slot, group, state, points))
    asked = state.wrench[slot.group][slot.row]
    rod = rod_sampled_at(model, name, points)
    nodes = rod.grid.count
    # What nodes ask is a density times their weights: integrated beyond each section, then single wrenches.
    left = 1.0 - rod.grid.integration[nodes:] / rod.grid.weights
    single = jnp.asarray(group.grid.points)[slot.row, nodes:] >= points[:, None]
    total = left @ asked[:nodes] + single.astype(float) @ asked[nodes:]
    pose = rod_shape(model, name, s.q, points, s.t)
    near = Pose(pose.rotation, pose.position - state.motion.origin)
    return se3.wrench_to_body(near, -total)


def _asked_beyond(
    slot: Slot, group: RodGroup, state: Balance, points: Float[np.ndarray, " k"]
) -> Float[Array, "k 6"]:
    """What is asked beyond sections of a rod in pieces: by the rest of the piece, and at its end."""
    edges = np.array(slot.edges)
    piece = np.clip(np.searchsorted(edges, points, side="left") - 1, 0, slot.pieces - 1)
    share = (points - edges[piece]) / np.diff(edges)[piece]
    count, places = group.grid.count, jnp.asarray(group.grid.points)[slot.row + piece]
    asked = state.wrench[slot.group][slot.row + piece]
    panels = Panels((0.0, 1.0), count)
    left = 1.0 - panels.integration_to(share) / panels.weights
    single = (places[:, count:] >= share[:, None]).astype(float)
    return jnp.einsum("kn,kni->ki", jnp.concatenate([left, single], axis=1), asked)


def reactions(model: Model, s: State) -> Held:
    """Wrench that every element is given by what it hangs on, at and in its base frame.

    That is the outer frame of a joint, the first section of a rod; in the order of elements.
    """
    if model.fields is not None:
        joints = model.topology.element_start[model.fields.group]
        motion = kinematics(model, _motion(model, s))
        return Held(*field_reactions(model, s.q, motion.sample_poses().rotation[:joints]))
    model = model.with_lengths_at(s.t)
    state = balance(model, _motion(model, s))
    wrenches, rotations = [], []
    for group, motion, asked in zip(model.groups, state.motion.groups, state.wrench, strict=True):
        if isinstance(group, RodGroup):
            tip = group.grid.count  # relative to the first section, so it tells where that is
            local = motion.local.pose
            turn = jnp.swapaxes(local.rotation[:, tip], -1, -2)
            rotation = motion.pose.rotation[:, tip] @ turn
            shift = jnp.einsum("bij,bj->bi", rotation, local.position[:, tip])
            base = Pose(rotation, motion.pose.position[:, tip] - shift)
        else:
            base = Pose(motion.pose.rotation[:, 0], motion.pose.position[:, 0])
        wrenches.append(se3.wrench_to_body(base, asked.sum(axis=1)))
        rotations.append(base.rotation)
    return Held(jnp.concatenate(wrenches), jnp.concatenate(rotations))
