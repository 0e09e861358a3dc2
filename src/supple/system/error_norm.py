"""Physical size of a displacement: the norm in which step errors are measured."""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.model.model import Model, RodGroup
from supple.system.linear import System, mass_times


def total_mass(model: Model) -> Float[Array, ""]:
    """Mass of all rods and bodies (kg)."""
    mass = jnp.sum(model.bodies.inertia[:, 5, 5]) if model.bodies.size else jnp.zeros(())
    for group in model.groups:
        if isinstance(group, RodGroup):
            per_length = group.inertia[:, :, 5, 5]
            mass = mass + jnp.sum(group.length[:, None] * group.grid.weights * per_length)
    return mass


def characteristic_length(model: Model) -> Float[Array, ""]:
    """Length of the longest rod, or of the robot's largest offset, or 1 (m)."""
    lengths = [jnp.max(g.arc_lengths) for g in model.groups if isinstance(g, RodGroup)]
    if lengths:
        return jnp.max(jnp.stack(lengths))
    reach = jnp.max(jnp.linalg.norm(jnp.asarray(model.offsets.position), axis=-1), initial=0.0)
    return jnp.where(reach > 0, reach, 1.0)


def error_norm(model: Model, change: Float[Array, " nv"], mass: System) -> Float[Array, ""]:
    """Root mean square displacement of the robot's mass under a small change, relative to its size.

    √(eᵀ M e / m) / L: strain modes that hardly move anything count as little as they should.
    """
    energy = jnp.maximum(change @ mass_times(mass, change), 0.0)
    return jnp.sqrt(energy / total_mass(model)) / characteristic_length(model)
