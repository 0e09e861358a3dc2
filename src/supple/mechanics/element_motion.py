"""Motion of each element relative to its own inner frame, one batch per group.

Nothing here knows the tree: all groups can be computed at once.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose
from supple.model.model import Group, JointGroup, Model, RodGroup
from supple.model.special_joints import DrivenJoint, StateJoint
from supple.space import PieceGrid
from supple.space.piece import PieceMotion


class Coordinates(NamedTuple):
    """A motion in the chart around ``q``: local coordinates x, their rates, at time t."""

    q: Float[Array, " nq"]
    x: Float[Array, " nv"]
    xdot: Float[Array, " nv"]
    xddot: Float[Array, " nv"]
    t: Float[Array, ""]
    multipliers: Float[Array, " n"] | None = None
    """Forces (N) of the model's equations; None leaves loops open and imposed coordinates free."""


class Local(NamedTuple):
    """Relative motion of a group: b elements, d sources, p samples, m coordinates each.

    Sources are the first d samples. ``subspace`` is Φ in the moving frame at the sources; its time
    derivatives and its gradient in x (last axis) are None where Φ does not change. ``drift`` is a
    prescribed body twist and its derivative.
    """

    pose: Pose
    integration: Float[Array, "b p d"]
    subspace: Float[Array, "b d 6 m"]
    subspace_rates: tuple[Float[Array, "b d 6 m"], Float[Array, "b d 6 m"]] | None
    subspace_gradient: Float[Array, "b d 6 m m"] | None
    drift: tuple[Float[Array, "b d 6"], Float[Array, "b d 6"]] | None


def group_rows(
    model: Model, index: int, vector: Float[Array, " n"], *, configuration: bool = False
) -> Float[Array, "b m"]:
    """The part of q (or of a velocity-like vector) that belongs to a group, one row an element."""
    group, topology = model.groups[index], model.topology
    start = (topology.q_start if configuration else topology.v_start)[index]
    width = group.nq if configuration else group.nv
    return vector[start : start + group.size * width].reshape(group.size, width)


def local_motion(model: Model, index: int, c: Coordinates) -> Local:
    """Relative poses and motion subspaces of one group."""
    group = model.groups[index]
    q = group_rows(model, index, c.q, configuration=True)
    x = group_rows(model, index, c.x)
    if isinstance(group, RodGroup):
        xdot = group_rows(model, index, c.xdot)
        if isinstance(group.grid, PieceGrid):
            return _piece_motion(group, q + x, xdot, group_rows(model, index, c.xddot))
        return _rod_motion(group, q + x, xdot)
    return _joint_motion(
        group, q, x, group_rows(model, index, c.xdot), group_rows(model, index, c.xddot), c.t
    )


def _rod_motion(group: RodGroup, q: Float[Array, "b m"], qdot: Float[Array, "b m"]) -> Local:
    """Samples of rods.

    They stay at fractions of the length. A length that changes adds L̇ ξ to the rate of L ξ: a drift.
    Material that passes a sample, in rods that slide out of their base, is followed in
    :mod:`supple.mechanics.sliding`.
    """

    def one(rod: RodGroup, q: Float[Array, " m"]) -> tuple[Pose, Float[Array, "p d"]]:
        return rod.grid.poses(q, rod.length), rod.length * rod.grid.integration

    still = dataclasses.replace(group, growth_rates=None)
    pose, integration = jax.vmap(one)(still, q)
    basis = group.grid.basis
    if group.growth_rates is None:
        return Local(pose, integration, basis, None, None, None)
    first, second = (part[:, None, None] for part in group.growth_rates)
    strain = group.grid.rest + jnp.einsum("bnim,bm->bni", basis, q)
    rate = jnp.einsum("bnim,bm->bni", basis, qdot)
    # Where L Φ q̇ + L̇ ξ = L (Φ q̇ + g ξ) with g = L̇/L: what is added to Φ q̇ and to its derivative. The part
    # 2 g Φ q̇ of the latter comes once from Φ̇ = g Φ and once from here.
    drift = first * strain, second * strain + first * rate
    rates = first[..., None] * basis, second[..., None] * basis
    return Local(pose, integration, basis, rates, None, drift)


def _piece_motion(
    group: RodGroup,
    q: Float[Array, "b m"],
    qdot: Float[Array, "b m"],
    qddot: Float[Array, "b m"],
) -> Local:
    """Samples of pieces of constant strain: each is a source of its own, as the frame of a joint is."""

    def one(
        piece: RodGroup, q: Float[Array, " m"], qdot: Float[Array, " m"], qddot: Float[Array, " m"]
    ) -> tuple[Pose, PieceMotion]:
        assert isinstance(piece.grid, PieceGrid)
        return piece.grid.poses(q, piece.length), piece.grid.motion(q, qdot, qddot, piece.length)

    pose, phi = jax.vmap(one)(group, q, qdot, qddot)
    integration = jnp.broadcast_to(jnp.eye(group.samples), (group.size, *2 * (group.samples,)))
    return Local(pose, integration, phi.value, (phi.rate, phi.acceleration), phi.gradient, None)


def _joint_motion(
    group: JointGroup,
    q: Float[Array, "b nq"],
    x: Float[Array, "b m"],
    xdot: Float[Array, "b m"],
    xddot: Float[Array, "b m"],
    t: Float[Array, ""],
) -> Local:
    joint = group.joint
    count = group.samples
    # Every frame follows from the coordinates by itself.
    integration = jnp.broadcast_to(jnp.eye(count), (group.size, count, count))
    if isinstance(joint, DrivenJoint):
        pose, twist, rate = jax.vmap(lambda one: one.driven(t), axis_size=group.size)(joint)
        return Local(
            Pose(pose.rotation[:, None], pose.position[:, None]),
            integration,
            jnp.zeros((group.size, 1, 6, 0)),
            None,
            None,
            (twist[:, None], rate[:, None]),
        )
    poses = jax.vmap(lambda j, q, x: j.poses(q, x), axis_size=group.size)(joint, q, x)

    if joint.constant_subspace:
        phi = jax.vmap(lambda j, q, x: j.subspace(q, x), axis_size=group.size)(joint, q, x)
        return Local(poses, integration, phi[:, None], None, None, None)

    def along(j, *motion):  # type: ignore[no-untyped-def]
        return j.subspace_motions(*motion)

    value, rate, acceleration, gradient = jax.vmap(along, axis_size=group.size)(
        joint, q, x, xdot, xddot, poses
    )
    return Local(poses, integration, value, (rate, acceleration), gradient, None)


def retract(model: Model, q: Float[Array, " nq"], x: Float[Array, " nv"]) -> Float[Array, " nq"]:
    """The configuration reached from q by the local coordinates x."""
    return _map_joints(model, "retract", q, x)


def difference(
    model: Model, q: Float[Array, " nq"], other: Float[Array, " nq"]
) -> Float[Array, " nv"]:
    """The local coordinates that lead from q to ``other``."""
    parts = []
    for index, group in enumerate(model.groups):
        a = group_rows(model, index, q, configuration=True)
        b = group_rows(model, index, other, configuration=True)
        if isinstance(group, RodGroup) or _is_flat(group):
            parts.append(b - a)
        else:
            apply = jax.vmap(lambda j, a, b: j.difference(a, b), axis_size=group.size)
            parts.append(apply(group.joint, a, b))
    return jnp.concatenate([part.reshape(-1) for part in parts])


def fastest_turn(model: Model, v: Float[Array, " nv"]) -> Float[Array, ""]:
    """Largest angular speed (rad/s) of joints whose orientation is a quaternion."""
    speeds = [
        jnp.linalg.norm(group_rows(model, index, v)[:, :3], axis=-1)
        for index, group in enumerate(model.groups)
        if not isinstance(group, RodGroup) and not _is_flat(group)
    ]
    return jnp.max(jnp.concatenate(speeds)) if speeds else jnp.zeros(())


def neutral(model: Model) -> np.ndarray:
    """The configuration at rest: straight-as-described rods, joints that move nothing."""
    parts = []
    for group in model.groups:
        if isinstance(group, JointGroup) and isinstance(group.joint, StateJoint):
            parts.append(np.asarray(group.joint.start))
            continue
        one = np.zeros(group.nq) if isinstance(group, RodGroup) else group.joint.neutral()
        parts.append(np.tile(one, group.size))
    return np.concatenate(parts)


def rate(
    model: Model, q: Float[Array, " nq"], x: Float[Array, " nv"], xdot: Float[Array, " nv"]
) -> Float[Array, " nv"]:
    """Velocity coordinates v of the motion ẋ at x."""
    return _map_joints(model, "rate", q, x, xdot)


def chart_rate(
    model: Model, q: Float[Array, " nq"], x: Float[Array, " nv"], v: Float[Array, " nv"]
) -> Float[Array, " nv"]:
    """The rate ẋ at x of a motion with velocity coordinates v: the inverse of :func:`rate`."""
    parts = []
    for index, group in enumerate(model.groups):
        speed = group_rows(model, index, v)
        if isinstance(group, RodGroup) or _is_flat(group):
            parts.append(speed)
            continue

        def one(joint, q, x, v):  # type: ignore[no-untyped-def]
            by_rate = jax.jacfwd(lambda xdot: joint.rate(q, x, xdot))(jnp.zeros_like(x))
            return jnp.linalg.solve(by_rate, v)

        own = group_rows(model, index, q, configuration=True)
        apply = jax.vmap(one, axis_size=group.size)
        parts.append(apply(group.joint, own, group_rows(model, index, x), speed))
    return jnp.concatenate([part.reshape(-1) for part in parts])


def rate_derivative(
    model: Model,
    q: Float[Array, " nq"],
    x: Float[Array, " nv"],
    xdot: Float[Array, " nv"],
    xddot: Float[Array, " nv"],
) -> Float[Array, " nv"]:
    """Time derivative of v."""
    return _map_joints(model, "rate_derivative", q, x, xdot, xddot)


def _map_joints(
    model: Model, method: str, q: Float[Array, " nq"], *rates: Float[Array, " nv"]
) -> Float[Array, " n"]:
    """Apply a joint method group by group; coordinates of rods simply add."""
    parts = []
    for index, group in enumerate(model.groups):
        rows = [group_rows(model, index, r) for r in rates]
        own = group_rows(model, index, q, configuration=True)
        if isinstance(group, RodGroup) or _is_flat(group):
            parts.append(own + rows[0] if method == "retract" else rows[-1])
        else:
            apply = jax.vmap(lambda j, *args: getattr(j, method)(*args), axis_size=group.size)
            parts.append(apply(group.joint, own, *rows))
    return jnp.concatenate([part.reshape(-1) for part in parts])


def _is_flat(group: Group) -> bool:
    """Whether configuration and velocity coordinates are the same plain numbers."""
    return group.nq == group.nv
