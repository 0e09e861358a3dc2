"""Energies, momentum and center of mass."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import se3
from supple.mechanics.bumpers import bumper_energy
from supple.mechanics.element_motion import Coordinates, group_rows
from supple.mechanics.fields import field_energy
from supple.mechanics.inverse_dynamics import body_poses, element_stiffness, inertia_at_nodes
from supple.mechanics.kinematics import kinematics
from supple.mechanics.sliding import material_motion
from supple.mechanics.transmissions import transmission_energy
from supple.model.model import JointGroup, Model, RodGroup


class Energies(NamedTuple):
    """Kinetic, elastic and gravitational energy (J)."""

    kinetic: Float[Array, ""]
    elastic: Float[Array, ""]
    potential: Float[Array, ""]

    @property
    def total(self) -> Any:
        """Their sum."""
        return self.kinetic + self.elastic + self.potential


class Momentum(NamedTuple):
    """Angular (kg m²/s, about the world origin) and linear momentum (kg m/s), mass center (m)."""

    angular: Float[Array, " 3"]
    linear: Float[Array, " 3"]
    center: Float[Array, " 3"]


def _masses(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], t: Float[Array, ""]
) -> tuple[Float[Array, "n 6 6"], Float[Array, "n 6"], Float[Array, " 3"]]:
    """World inertias and twists of every lump of mass, and the point they are about."""
    model = model.with_lengths_at(t)
    zero = jnp.zeros(model.nv)
    c = Coordinates(q, zero, v, zero, t)
    motion = kinematics(model, c)
    inertias, twists = [jnp.zeros((0, 6, 6))], [jnp.zeros((0, 6))]
    for i, (group, m) in enumerate(zip(model.groups, motion.groups, strict=True)):
        if isinstance(group, RodGroup):
            inertias.append(inertia_at_nodes(group, m, group.inertia).reshape(-1, 6, 6))
            twists.append(material_motion(model, i, m, c).twist.reshape(-1, 6))
    if model.bodies.size:
        samples = np.array(model.bodies.sample)
        inertias.append(se3.matrix_to_world(body_poses(model, motion), model.bodies.inertia))
        twists.append(motion.twists_at(samples))
    return jnp.concatenate(inertias), jnp.concatenate(twists), motion.origin


def energies(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> Energies:
    """Energies of a state; gravity's is zero for a mass center at the world origin."""
    t = jnp.asarray(t, dtype=float)
    model = model.with_lengths_at(t)
    inertia, twist, origin = _masses(model, q, v, t)
    kinetic = 0.5 * jnp.einsum("ni,nij,nj->", twist, inertia, twist)
    first, mass = _first_moment(inertia)
    potential = -jnp.dot(jnp.asarray(model.gravity), first + mass * origin)
    elastic = jnp.zeros(())
    for i, group in enumerate(model.groups):
        own = group_rows(model, i, q, configuration=True)
        stiffness = element_stiffness(model, i)
        if isinstance(group, JointGroup):
            if group.nq != group.nv:
                continue
            if group.bumpers is not None:
                elastic = elastic + bumper_energy(group, own)
            own = own - group.rest
        elastic = elastic + 0.5 * jnp.einsum("bm,bmn,bn->", own, stiffness, own)
        if isinstance(group, JointGroup) and group.armature is not None:
            rate = group_rows(model, i, v)
            kinetic = kinetic + 0.5 * jnp.sum(group.armature * rate**2)
    if model.fields is not None:
        elastic = elastic + field_energy(model, q)
    if model.transmissions.size:
        zero = jnp.zeros(model.nv)
        motion = kinematics(model, Coordinates(q, zero, zero, zero, t))
        elastic = elastic + transmission_energy(model, q, t, motion)
    return Energies(kinetic, elastic, potential)


def momentum(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> Momentum:
    """Total momentum about the world origin, and the center of mass."""
    inertia, twist, origin = _masses(model, q, v, jnp.asarray(t))
    total = jnp.einsum("nij,nj->i", inertia, twist)
    first, mass = _first_moment(inertia)
    angular = total[:3] + jnp.cross(origin, total[3:])
    return Momentum(angular, total[3:], first / mass + origin)


def _first_moment(
    inertia: Float[Array, "n 6 6"],
) -> tuple[Float[Array, " 3"], Float[Array, ""]]:
    """Σ m r (from the skew block m r̂) and Σ m."""
    total = inertia.sum(axis=0)
    return jnp.stack([total[2, 4], total[0, 5], total[1, 3]]), total[5, 5]
