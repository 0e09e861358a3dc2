r"""Equations between velocities in the balance: slip speeds, the wrenches of their multipliers, the tangent.

At each frame s = a(R) η vanishes, with η its body twist, and the multipliers ask the body wrench aᵀ λ. Along
a variation ε of the frame, in its own axes, rows change by a′ ε and the twist by Ad(g)⁻¹ ν with ν = ζ̇:

    δs = a Ad(g)⁻¹ (J δẋ + J̇ δx) + (a′ ε) η,        δ(aᵀ λ) = (a′ ε)ᵀ λ.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, so3
from supple.mechanics.kinematics import Kinematics
from supple.model.constraints import CONTACT
from supple.model.model import Model
from supple.model.slips import AbstractSlip


class SlipMotion(NamedTuple):
    """One contact: world pose of its frame, body twist, rows, and slip speeds (m/s)."""

    pose: Pose
    twist: Float[Array, " 6"]
    rows: Float[Array, "n 6"]
    speed: Float[Array, " n"]


def slip_motions(model: Model, motion: Kinematics) -> list[SlipMotion]:
    """How each contact moves."""
    poses, twists = motion.sample_poses(), motion.sample_twists()
    found = []
    for slip in model.slips:
        pose = Pose(poses.rotation[slip.sample], poses.position[slip.sample]) @ slip.offset
        twist = se3.to_body(pose, twists[slip.sample])
        own = slip.rows(pose.rotation)
        found.append(SlipMotion(pose, twist, own, own @ twist))
    return found


def slip_multipliers(model: Model, multipliers: Float[Array, " n"]) -> list[Float[Array, " _"]]:
    """The multipliers of each contact: the last ones of all."""
    found, start = [], model.constraints.rows(CONTACT).start
    for slip in model.slips:
        found.append(multipliers[start : start + slip.size])
        start += slip.size
    return found


def slip_wrenches(
    model: Model, at: list[SlipMotion], multipliers: Float[Array, " n"]
) -> Float[Array, "k 6"]:
    """World wrench that the multipliers of each contact ask of its sample."""
    own = slip_multipliers(model, multipliers)
    pairs = zip(at, own, strict=True)
    return jnp.stack([se3.wrench_to_world(one.pose, one.rows.T @ force) for one, force in pairs])


def slip_tangent(
    model: Model,
    at: list[SlipMotion],
    multipliers: Float[Array, " n"],
    shift: Float[Array, "k 6 nv"],
    shift_rate: Float[Array, "k 6 nv"],
) -> tuple[Float[Array, "s nv"], Float[Array, "s nv"], Float[Array, "nv nv"]]:
    """∂s/∂ẋ, ∂s/∂x and the stiffness of the multipliers, from J and J̇ of the contacts' samples."""
    by_rate, by_shift = [], []
    stiffness = jnp.zeros((model.nv, model.nv))
    forces = slip_multipliers(model, multipliers)
    for k, (slip, one, force) in enumerate(zip(model.slips, at, forces, strict=True)):
        inverse = se3.adjoint(one.pose.inverse())
        own, rate = inverse @ shift[k], inverse @ shift_rate[k]
        turned = slip_turning(slip, one.pose.rotation)
        turns = jnp.einsum("nij,i->nj", turned, one.twist) @ own[:3]
        by_rate.append(one.rows @ own)
        by_shift.append(one.rows @ rate + turns)
        stiffness = stiffness + own.T @ jnp.einsum("nij,n->ij", turned, force) @ own[:3]
    return jnp.concatenate(by_rate), jnp.concatenate(by_shift), stiffness


def slip_turning(slip: AbstractSlip, rotation: Float[Array, "3 3"]) -> Float[Array, "n 6 3"]:
    """Derivative of the rows by a turn of the frame in its own axes."""
    return jax.jacfwd(lambda turn: slip.rows(rotation @ so3.exp(turn)))(jnp.zeros(3))
