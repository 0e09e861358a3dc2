"""How joint coordinates turn between two instants of a step.

The mass matrix of a floating robot turns with it: with body twist Φ(x) ẋ, M(x) = PᵀM(x₀)P where
Φ(x) = Φ(x₀) P. A solver that keeps one linearisation for a whole step first turns residuals into the frame of
that linearisation and its corrections back; without this it converges as slowly as the robot spins fast.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.local import group_rows
from supple.model.model import JointGroup, Model

Turns = list[tuple[slice, Float[Array, "s b m m"]]]


def stage_turns(
    model: Model, q: Float[Array, " nq"], x: Float[Array, "s nv"], reference: int
) -> Turns:
    """P⁻¹ of every joint whose subspace changes, at each stage x, relative to one of the stages."""
    turns: Turns = []
    for index, group in enumerate(model.groups):
        if not isinstance(group, JointGroup) or group.joint.constant_subspace:
            continue
        own = group_rows(model, index, q, configuration=True)
        rows = jax.vmap(lambda x, index=index: group_rows(model, index, x))(x)

        def subspaces(x, group=group, own=own):  # type: ignore[no-untyped-def]
            return jax.vmap(lambda j, q, x: j.subspace(q, x), axis_size=group.size)(
                group.joint, own, x
            )

        phi = jax.vmap(subspaces)(rows)
        # Φ(x) P⁻¹ = Φ(x₀) in the least-squares sense.
        transposed = jnp.swapaxes(phi, -1, -2)
        inverse = jnp.linalg.solve(transposed @ phi, transposed @ phi[reference])
        start = model.topology.v_start[index]
        turns.append((slice(start, start + group.size * group.nv), inverse))
    return turns


def turn_force(turns: Turns, force: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """Generalised forces at the stages, seen at the reference: P⁻ᵀ f."""
    for where, inverse in turns:
        own = force[:, where].reshape(inverse.shape[:3])
        turned = jnp.einsum("sbmn,sbm->sbn", inverse, own)
        force = force.at[:, where].set(turned.reshape(force.shape[0], -1))
    return force


def turn_rate(turns: Turns, rate: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
    """Coordinate changes found at the reference, as they are at the stages: P⁻¹ x."""
    for where, inverse in turns:
        own = rate[:, where].reshape(inverse.shape[:3])
        turned = jnp.einsum("sbmn,sbn->sbm", inverse, own)
        rate = rate.at[:, where].set(turned.reshape(rate.shape[0], -1))
    return rate
