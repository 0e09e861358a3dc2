"""How the wrench of every sample varies with its motion: φ = I β + N ν + G ζ, in the world frame.

ζ is a variation of the sample, ν and β its time derivatives. Rod mass, rigid bodies and loads all have
such a law.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, small
from supple.mechanics.inverse_dynamics import (
    Balance,
    add_at_samples,
    add_sections,
    body_poses,
    inertia_at_nodes,
    load_sections,
    node_inertia,
    on_sections,
)
from supple.mechanics.kinematics import GroupMotion, Kinematics
from supple.mechanics.sliding import MaterialMotion
from supple.mechanics.transmission_tangent import Parts, ground_laws
from supple.model.model import Group, JointGroup, Model


class Law(NamedTuple):
    """Force law of samples: φ = I β + N ν + G ζ."""

    inertia: Float[Array, "*b 6 6"]
    gyration: Float[Array, "*b 6 6"]
    geometry: Float[Array, "*b 6 6"]

    def plus(self, other: "Law | None") -> "Law":
        """Both together."""
        return self if other is None else Law(*(a + b for a, b in zip(self, other, strict=True)))


def rod_law(
    group: Group, m: GroupMotion, material: MaterialMotion | None, gravity: Float[Array, " 3"]
) -> Law:
    """Law of the samples of a group by the mass of the rods themselves; nothing for joints."""
    batch, samples = m.twist.shape[:2]
    if isinstance(group, JointGroup) or material is None:
        zero = jnp.zeros((batch, samples, 6, 6))
        return Law(zero, zero, zero)
    inertia = inertia_at_nodes(group, m, node_inertia(group))
    law = _inertial_law(inertia, material.twist, gravity)
    if group.added is not None:  # fluid has no weight in itself
        weightless = inertia_at_nodes(group, m, group.added) @ _falling(gravity)
        law = law._replace(geometry=law.geometry + weightless)
    pad = ((0, 0), (0, samples - inertia.shape[1]), (0, 0), (0, 0))
    return Law(*(jnp.pad(part, pad) for part in law))


def attached_laws(
    model: Model, state: Balance, t: Float[Array, ""], parts: Parts | None
) -> list[Law | None]:
    """Laws of what is attached to the samples of each group; None without any.

    Bodies, loads, and transmissions that pull at a sample from the ground.
    """
    motion = state.motion
    laws: list[Law | None] = [None] * len(model.groups)
    if model.bodies.size:
        samples = np.array(model.bodies.sample)
        inertia = se3.matrix_to_world(body_poses(model, motion), model.bodies.inertia)
        gravity = model.load_factor * jnp.asarray(model.gravity)
        law = _inertial_law(inertia, motion.twists_at(samples), gravity)
        laws = add_laws(model, laws, samples, law)
    if model.loads:
        samples = np.array([load.sample for load in model.loads])
        laws = add_laws(model, laws, samples, _load_law(model, motion, t))
    if state.transmissions is not None and parts is not None:
        found = ground_laws(model, state.transmissions, parts.lines)
        if found is not None:
            samples, gyration, geometry = found
            law = Law(jnp.zeros_like(geometry), gyration, geometry)
            laws = add_laws(model, laws, samples, law)
    return _add_line_laws(model, motion, t, laws)


def no_law(model: Model, index: int) -> Law:
    """The law of a group on which nothing acts."""
    group = model.groups[index]
    zero = jnp.zeros((group.size, group.samples, 6, 6))
    return Law(zero, zero, zero)


def add_laws(
    model: Model, laws: list[Law | None], samples: np.ndarray, law: Law
) -> list[Law | None]:
    """Add laws of some flat samples."""
    result, start = [], 0
    for i, (group, old) in enumerate(zip(model.groups, laws, strict=True)):
        count = group.size * group.samples
        here = np.flatnonzero((samples >= start) & (samples < start + count))
        if len(here):
            base = no_law(model, i) if old is None else old
            chosen = [part[here] for part in law]
            local = samples[here] - start
            old = Law(
                *(add_at_samples([a], local, b)[0] for a, b in zip(base, chosen, strict=True))
            )
        result.append(old)
        start += count
    return result


def _inertial_law(
    inertia: Float[Array, "*b 6 6"], twist: Float[Array, "*b 6"], gravity: Float[Array, " 3"]
) -> Law:
    carried = small.product(inertia, se3.ad_matrix(twist))
    momentum = small.times(inertia, twist)
    gyration = -(carried + jnp.swapaxes(carried, -1, -2) + se3.coad_matrix(momentum))
    return Law(inertia, gyration, -small.product(inertia, _falling(gravity)))


def _falling(gravity: Float[Array, " 3"]) -> Float[Array, "6 6"]:
    return se3.ad_matrix(jnp.concatenate([jnp.zeros(3), gravity]))


def _load_law(model: Model, motion: Kinematics, t: Float[Array, ""]) -> Law:
    """How point loads vary with the pose and twist of their points."""
    poses, twists = motion.sample_poses(), motion.sample_twists()
    gyrations, geometries = [], []
    for load in model.loads:
        pose = Pose(poses.rotation[load.sample], poses.position[load.sample]) @ load.offset
        twist = se3.to_body(pose, twists[load.sample])

        seen = Pose(pose.rotation, pose.position + motion.origin)
        by_shift, by_rate = (model.load_factor * part for part in load.tangent(t, seen, twist))
        geometries.append(-se3.matrix_to_world(pose, by_shift))
        gyrations.append(-se3.matrix_to_world(pose, by_rate))
    gyration = jnp.stack(gyrations)
    return Law(jnp.zeros_like(gyration), gyration, jnp.stack(geometries))


def _add_line_laws(
    model: Model, motion: Kinematics, t: Float[Array, ""], laws: list[Law | None]
) -> list[Law | None]:
    """How loads along rods vary with the pose and twist of each section."""
    laws = list(laws)
    for load in model.line_loads:
        at = load_sections(model, motion, load)
        by_shift, by_rate = on_sections(load, "tangent", t, at)
        share = -model.load_factor * at.weights[..., None, None]
        geometry, gyration = (
            share * se3.matrix_to_world(at.near, part) for part in (by_shift, by_rate)
        )
        law = laws[load.group]
        law = no_law(model, load.group) if law is None else law
        laws[load.group] = law._replace(
            gyration=add_sections(law.gyration, at, gyration),
            geometry=add_sections(law.geometry, at, geometry),
        )
    return laws
