"""How joint coordinates turn between two instants of a step.

The mass matrix of a floating robot turns with it: with body twist Φ(x) ẋ, M(x) = PᵀM(x₀)P where
Φ(x) = Φ(x₀) P. A solver that keeps one linearization for a whole step first turns residuals into the frame of
that linearization and its corrections back; without this it converges as slowly as the robot spins fast.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import small
from supple.mechanics.kinematics import Kinematics
from supple.model.model import JointGroup, Model

Turns = list[Float[Array, "s b m m"]]
"""P⁻¹ of every group of joints whose subspace changes, at each stage."""


def _turning(model: Model) -> list[int]:
    """Groups of joints whose subspace changes."""
    return [
        index
        for index, group in enumerate(model.groups)
        if isinstance(group, JointGroup) and not group.joint.constant_subspace
    ]


def stage_turns(model: Model, stages: Kinematics, reference: int) -> Turns:
    """How joints turn at each stage of a batch, relative to one of them."""
    turns: Turns = []
    for index in _turning(model):
        group = model.groups[index]
        assert isinstance(group, JointGroup)
        subspaces = stages.groups[index].local.subspace[:, :, 0]

        def turned(phi, group=group, fixed=subspaces[reference]):  # type: ignore[no-untyped-def]
            return jax.vmap(lambda j, *at: j.turned(*at), axis_size=group.size)(
                group.joint, phi, fixed
            )

        turns.append(jax.vmap(turned)(subspaces))
    return turns


def turn_force(model: Model, turns: Turns, force: Float[Array, "s n"]) -> Float[Array, "s n"]:
    """Generalized forces at the stages, seen at the reference: P⁻ᵀ f."""
    return _apply(model, [jnp.swapaxes(turn, -1, -2) for turn in turns], force)


def turn_rate(model: Model, turns: Turns, rate: Float[Array, "s n"]) -> Float[Array, "s n"]:
    """Coordinate changes found at the reference, as they are at the stages: P⁻¹ x."""
    return _apply(model, turns, rate)


def _apply(model: Model, turns: Turns, vectors: Float[Array, "s n"]) -> Float[Array, "s n"]:
    for index, turn in zip(_turning(model), turns, strict=True):
        start = model.topology.v_start[index]
        stop = start + turn.shape[1] * turn.shape[2]
        turned = small.times(turn, vectors[:, start:stop].reshape(turn.shape[:3]))
        turned = turned.reshape(len(vectors), -1)
        vectors = jnp.concatenate([vectors[:, :start], turned, vectors[:, stop:]], axis=1)
    return vectors
