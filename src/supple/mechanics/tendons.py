"""Lengths, moment arms and tensions of tendons, and what they add to the balance and its tangent.

A tendon of tension T asks the generalised force T ∂ℓ/∂q of the robot: pulling shortens it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.local import Coordinates
from supple.model.model import Model


class TendonMotion(NamedTuple):
    """Lengths (m), their rates (m/s), moment arms, tensions (N) and how these change."""

    length: Float[Array, " k"]
    rate: Float[Array, " k"]
    arms: Float[Array, "k nv"]
    tension: Float[Array, " k"]
    by_length: Float[Array, " k"]
    """∂T/∂ℓ (N/m)."""
    by_rate: Float[Array, " k"]
    """∂T/∂ℓ̇ (N s/m)."""


def tendon_motion(model: Model, c: Coordinates) -> TendonMotion:
    """Everything about the tendons at a motion; tensions of imposed lengths are their multipliers."""
    tendons = model.tendons
    tangent, size = _tangents(model, c)
    arms = _arms(model, jnp.einsum("pn,pnim,pni->pm", tendons.weights, tendons.slope, tangent))
    length = tendons.gather() @ jnp.einsum("pn,pn->p", tendons.weights, size)
    rate = arms @ c.xdot
    pulled, pull_rate = jax.jvp(tendons.inputs, (c.t,), (jnp.ones_like(c.t),))
    pulled, pull_rate = model.load_factor * pulled, model.load_factor * pull_rate
    tension, slopes = _tensions(model, c, length, rate, pulled, pull_rate)
    return TendonMotion(length, rate, arms, tension, *slopes)


def tendon_state(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""],
    multipliers: Float[Array, " n"],
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Lengths (m) and tensions (N) of all tendons at a state."""
    zero = jnp.zeros(model.nv)
    forces = multipliers if model.equations else None
    found = tendon_motion(model, Coordinates(q, zero, v, zero, t, forces))
    return found.length, found.tension


def tendon_stiffness(
    model: Model, c: Coordinates, at: TendonMotion
) -> tuple[Float[Array, "nv nv"], Float[Array, "nv nv"]]:
    """What tendons add to K and to C."""
    tendons = model.tendons
    tangent, size = _tangents(model, c)
    across = jnp.eye(3) - tangent[..., :, None] * tangent[..., None, :]
    tension = at.tension[np.array(tendons.tendon_of_channel)]
    weights = tendons.weights * tension[:, None] / size
    bending = jnp.einsum(
        "pn,pnim,pnij,pnjl->pml", weights, tendons.slope, across, tendons.slope, optimize=True
    )
    index = np.array(tendons.columns) % (model.nv + 1)  # -1 is the row of no coordinate
    whole = jnp.zeros((model.nv + 1, model.nv + 1))
    whole = whole.at[index[:, :, None], index[:, None, :]].add(bending)[:-1, :-1]
    # An elastic tendon's damping also feels how its moment arm turns while the robot moves.
    speed = _arm_rates(model, c, tangent, size, across)
    stiffness = whole + at.arms.T @ (at.by_length[:, None] * at.arms)
    stiffness = stiffness + at.arms.T @ (at.by_rate[:, None] * speed)
    return stiffness, at.arms.T @ (at.by_rate[:, None] * at.arms)


def _coordinates(model: Model, vector: Float[Array, " nv"]) -> Float[Array, "p m"]:
    index = np.array(model.tendons.columns) % (model.nv + 1)
    return jnp.concatenate([vector, jnp.zeros(1)])[index]


def _tangents(model: Model, c: Coordinates) -> tuple[Float[Array, "p n 3"], Float[Array, "p n"]]:
    """Unit tangents and stretches |Γ| along the channels."""
    tendons = model.tendons
    # Rods' configuration numbers are their coordinates; only these have tendons.
    own = _coordinates(model, rod_coordinates(model, c.q) + c.x)
    gamma = tendons.straight + jnp.einsum("pnim,pm->pni", tendons.slope, own)
    size = jnp.sqrt(jnp.sum(gamma**2, axis=-1))
    return gamma / size[..., None], size


def rod_coordinates(model: Model, q: Float[Array, " nq"]) -> Float[Array, " nv"]:
    """Configuration numbers at the places of their velocity coordinates; zero for joints."""
    result = jnp.zeros(model.nv)
    for slot in model.topology.rod_slots:
        result = result.at[slot.v].set(q[slot.q])
    return result


def _arms(model: Model, own: Float[Array, "p m"]) -> Float[Array, "k nv"]:
    """Moment arms of tendons in all coordinates from those of their channels."""
    index = np.array(model.tendons.columns) % (model.nv + 1)
    rows = np.array(model.tendons.tendon_of_channel)[:, None]
    whole = jnp.zeros((model.tendons.size, model.nv + 1))
    return whole.at[rows, index].add(own)[:, :-1]


def _arm_rates(
    model: Model,
    c: Coordinates,
    tangent: Float[Array, "p n 3"],
    size: Float[Array, "p n"],
    across: Float[Array, "p n 3 3"],
) -> Float[Array, "k nv"]:
    """Time derivative of the moment arms."""
    tendons = model.tendons
    turning = jnp.einsum("pnim,pm->pni", tendons.slope, _coordinates(model, c.xdot))
    turned = jnp.einsum("pnij,pnj->pni", across, turning) / size[..., None]
    return _arms(model, jnp.einsum("pn,pnim,pni->pm", tendons.weights, tendons.slope, turned))


def _tensions(
    model: Model,
    c: Coordinates,
    length: Float[Array, " k"],
    rate: Float[Array, " k"],
    pulled: Float[Array, " k"],
    pull_rate: Float[Array, " k"],
) -> tuple[Float[Array, " k"], tuple[Float[Array, " k"], Float[Array, " k"]]]:
    tendons = model.tendons
    kinds = np.array(tendons.kinds)
    elastic = kinds == "elastic"
    stretch = length - tendons.rest + pulled
    # A tendon pulls and never pushes: a smooth positive part.
    root = jnp.sqrt(stretch**2 + tendons.slack_width**2)
    taut = 0.5 * (1 + stretch / root)
    force = tendons.stiffness * 0.5 * (stretch + root)
    drag = tendons.damping * taut * (rate + pull_rate)
    tension = jnp.where(elastic, force + drag, pulled)
    bend = 0.5 * tendons.slack_width**2 / root**3
    by_length = tendons.stiffness * taut + tendons.damping * bend * (rate + pull_rate)
    by_length = jnp.where(elastic, by_length, 0.0)
    by_rate = jnp.where(elastic, tendons.damping * taut, 0.0)
    imposed = tendons.by_length
    if len(imposed):
        forces = jnp.zeros(len(imposed))
        if c.multipliers is not None:
            first = model.closures.size + model.prescribed.size
            forces = c.multipliers[first : first + len(imposed)]
        tension = tension.at[imposed].set(forces)
    return tension, (by_length, by_rate)
