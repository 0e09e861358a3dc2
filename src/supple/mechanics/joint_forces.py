"""What joints do by themselves: springs, dampers, friction, compliant stops and rotors, with their tangent.

Dampers and friction act where parts rub, at the bearings: those inside a linkage, then the coordinates
themselves. With s(q, x, ẋ) their speeds, linear in ẋ, an effort f(s) asks the generalized force (∂s/∂ẋ)ᵀ f.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.bumpers import bumper_force, bumper_tangent
from supple.model.friction import friction_at
from supple.model.model import JointGroup


def joint_force(
    group: JointGroup,
    q: Float[Array, "b nq"],
    x: Float[Array, "b m"],
    xdot: Float[Array, "b m"],
    xddot: Float[Array, "b m"],
) -> Float[Array, "b m"]:
    """Generalized forces of the joints of a group."""
    force = _rubbing(group, q, x, xdot)
    if not group.joint.euclidean:
        return force
    force = force + group.stiffness * (q + x - group.rest)
    if group.bumpers is not None:
        force = force + bumper_force(group, q + x, xdot)
    if group.armature is not None:
        force = force + group.armature * xddot
    return force


def joint_tangent(
    group: JointGroup, q: Float[Array, "b nq"], x: Float[Array, "b m"], xdot: Float[Array, "b m"]
) -> tuple[Float[Array, "b m m"], Float[Array, "b m m"]]:
    """Derivatives of :func:`joint_force` by x and by ẋ."""
    elastic, viscous = _rubbing_tangent(group, q, x, xdot)
    if not group.joint.euclidean:
        return elastic, viscous
    eye = jnp.eye(group.nv)
    elastic = elastic + eye * group.stiffness[:, :, None]
    if group.bumpers is not None:
        by_place, by_rate = bumper_tangent(group, q + x, xdot)
        elastic = elastic + eye * by_place[:, :, None]
        viscous = viscous + eye * by_rate[:, :, None]
    return elastic, viscous


def _slides(group: JointGroup) -> bool:
    """Whether anything rubs."""
    return group.damping is not None or group.friction is not None


def _efforts(group: JointGroup, speeds: Float[Array, " n"]) -> Float[Array, " n"]:
    """Of the dampers and friction of one joint, ``group``, at its bearings."""
    total = jnp.zeros_like(speeds) if group.damping is None else group.damping * speeds
    if group.friction is None:
        return total
    count = group.joint.pivots or group.nv
    dry = friction_at(group.friction, speeds[:count], jnp.zeros(count))
    return total + jnp.pad(dry, (0, len(speeds) - count))


def _rubbing(
    group: JointGroup, q: Float[Array, "b nq"], x: Float[Array, "b m"], xdot: Float[Array, "b m"]
) -> Float[Array, "b m"]:
    if not _slides(group):
        return jnp.zeros_like(xdot)
    return jax.vmap(_rubbing_of_one)(group, q, x, xdot)


def _rubbing_of_one(
    group: JointGroup, q: Float[Array, " nq"], x: Float[Array, " m"], xdot: Float[Array, " m"]
) -> Float[Array, " m"]:
    if group.joint.plain_bearings:
        return _efforts(group, xdot)
    speeds, pull_back = jax.vjp(lambda xdot: group.joint.bearing_speeds(q, x, xdot), xdot)
    return pull_back(_efforts(group, speeds))[0]


def _rubbing_tangent(
    group: JointGroup, q: Float[Array, "b nq"], x: Float[Array, "b m"], xdot: Float[Array, "b m"]
) -> tuple[Float[Array, "b m m"], Float[Array, "b m m"]]:
    none = jnp.zeros((group.size, group.nv, group.nv))
    if not _slides(group):
        return none, none
    if group.joint.plain_bearings:  # each speed is a coordinate's own

        def slope(group: JointGroup, xdot: Float[Array, " m"]) -> Float[Array, " m"]:
            return jax.jvp(lambda xdot: _efforts(group, xdot), (xdot,), (jnp.ones_like(xdot),))[1]

        return none, jnp.eye(group.nv) * jax.vmap(slope)(group, xdot)[:, :, None]
    return jax.vmap(jax.jacfwd(_rubbing_of_one, argnums=(2, 3)))(group, q, x, xdot)
