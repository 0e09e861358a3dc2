r"""Closing joints in the balance: their violation, the wrenches of their multipliers, and the tangent.

A variation moves the outer frame b against the inner frame a by ε = Ad(g_b)⁻¹ (ζ_b - ζ_a). With
M = Rᵀ Σ λ A and f = Rᵀ Σ λ b the multipliers ask the wrench

    u = (vee(M), f)   of b in its own frame,     vee(M) = (M₃₂ - M₂₃, M₁₃ - M₃₁, M₂₁ - M₁₂),

and its reaction of a. Along ε it changes by δu = P ε with blocks -(tr(M) 1 - M) and f̂; seen from a's
frame, by P ε - coad(u) ε.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, so3
from supple.mechanics import static_index
from supple.mechanics.kinematics import Kinematics
from supple.model.closures import Closures
from supple.model.model import Model


class ClosureMotion(NamedTuple):
    """Relative poses of the k joints, world poses of their outer frames, and the n violations (m)."""

    relative: Pose
    outer: Pose
    violation: Float[Array, " n"]


def closure_motion(model: Model, motion: Kinematics) -> ClosureMotion:
    """Where the two frames of each closing joint are."""
    c = model.closures
    inner = motion.poses_at(np.array(c.inner_sample)) @ c.inner
    outer = motion.poses_at(np.array(c.outer_sample)) @ c.outer
    relative = inner.inverse() @ outer
    by_row = np.array(c.joint_of_row, dtype=int)
    rotation, position = (
        static_index.take(relative.rotation, by_row),
        static_index.take(relative.position, by_row),
    )
    violation = (
        jnp.einsum("nij,nij->n", c.turning, rotation)
        + jnp.einsum("ni,ni->n", c.shift, position)
        - c.value
    )
    return ClosureMotion(relative, outer, violation)


def closure_rows(model: Model, at: ClosureMotion) -> Float[Array, "n 6"]:
    """H: derivative of each equation by ε, a motion of the outer frame in its own axes."""
    c = model.closures
    rotation = static_index.take(at.relative.rotation, np.array(c.joint_of_row, dtype=int))
    moment = _vee(jnp.einsum("nji,njk->nik", rotation, c.turning))
    force = jnp.einsum("nji,nj->ni", rotation, c.shift)
    return jnp.concatenate([moment, force], axis=-1)


def closure_wrenches(
    model: Model, at: ClosureMotion, multipliers: Float[Array, " n"]
) -> Float[Array, "k 6"]:
    """World wrench that each joint's multipliers ask of its outer frame; the inner one gives it."""
    return se3.wrench_to_world(at.outer, outer_wrenches(model.closures, at, multipliers)[0])


def outer_wrenches(
    c: Closures, at: ClosureMotion, multipliers: Float[Array, " n"]
) -> tuple[Float[Array, "k 6"], Float[Array, "k 3 3"]]:
    """Wrench u asked of each outer frame, in its own axes, and M."""
    gather = c.gather()
    turning = jnp.einsum("kn,n,nij->kij", gather, multipliers, c.turning)
    push = jnp.einsum("kn,n,ni->ki", gather, multipliers, c.shift)
    turned = jnp.swapaxes(at.relative.rotation, -1, -2)
    M = turned @ turning
    force = jnp.einsum("kij,kj->ki", turned, push)
    return jnp.concatenate([_vee(M), force], axis=-1), M


def closure_laws(
    model: Model, at: ClosureMotion, multipliers: Float[Array, " n"]
) -> tuple[Float[Array, "k 6 6"], Float[Array, "k 6 6"]]:
    """World matrices Q_b, Q_a: the wrenches of b and of -a change by Q (ζ_b - ζ_a)."""
    u, M = outer_wrenches(model.closures, at, multipliers)
    trace = jnp.trace(M, axis1=-2, axis2=-1)[:, None, None]
    top = M - trace * jnp.eye(3)
    zero = jnp.zeros_like(top)
    change = jnp.concatenate(
        [
            jnp.concatenate([top, zero], axis=-1),
            jnp.concatenate([so3.hat(u[:, 3:]), zero], axis=-1),
        ],
        axis=-2,
    )
    of_inner = change - se3.coad_matrix(u)
    return se3.matrix_to_world(at.outer, change), se3.matrix_to_world(at.outer, of_inner)


def _vee(M: Float[Array, "*b 3 3"]) -> Float[Array, "*b 3"]:
    return jnp.stack(
        [
            M[..., 2, 1] - M[..., 1, 2],
            M[..., 0, 2] - M[..., 2, 0],
            M[..., 1, 0] - M[..., 0, 1],
        ],
        axis=-1,
    )
