"""World poses, twists and accelerations of every sample of every element.

In the world frame twists add along the tree without transport. With S = Ad(g) Φ at the sources,

    V = V_in + W S ẋ,        A = A_in + W (S ẍ + Ṡ ẋ),        Ṡ = ad(V) S + Ad(g) Φ̇,

where W is an element's constant integration operator (1 for a joint) and A = dV/dt. What enters an
element is the sum over its ancestors.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, small, so3
from supple.mechanics import static_index
from supple.mechanics.element_motion import Coordinates, Local, group_rows, local_motion
from supple.mechanics.tree import sum_along_tree
from supple.model.model import GROUND, Model


class GroupMotion(NamedTuple):
    """World motion of a group (shapes as in :class:`~supple.mechanics.element_motion.Local`)."""

    local: Local
    pose: Pose
    subspace: Float[Array, "b d 6 m"]
    twist: Float[Array, "b p 6"]
    acceleration: Float[Array, "b p 6"]

    @property
    def sources(self) -> Pose:
        """Poses of the sources: the nodes of rods, the outer frames of joints."""
        return _sources(self.local, self.pose)


class Kinematics(NamedTuple):
    """Motion of the whole robot, about ``origin`` (m), which moves with a floating robot.

    World wrenches about a distant point lose digits; the origin is therefore the reference position
    of the first floating joint, constant within a step.
    """

    groups: tuple[GroupMotion, ...]
    origin: Float[Array, " 3"]

    def sample_poses(self) -> Pose:
        """Poses of all samples in one flat list, about ``origin``."""
        return _flat_pose([g.pose for g in self.groups])

    def sample_twists(self) -> Float[Array, "s 6"]:
        """World twists of all samples in one flat list."""
        return jnp.concatenate([g.twist.reshape(-1, 6) for g in self.groups])

    def poses_at(self, samples: np.ndarray) -> Pose:
        """Poses of some samples, about ``origin``; GROUND stands for the world's frame."""
        rotation, position = self.sample_poses()
        if np.any(samples == GROUND):  # -1 is the last row
            rotation = jnp.concatenate([rotation, jnp.eye(3)[None]])
            position = jnp.concatenate([position, -self.origin[None]])
        return _take(Pose(rotation, position), samples % len(rotation))

    def twists_at(self, samples: np.ndarray) -> Float[Array, "k 6"]:
        """World twists of some samples; zero for GROUND."""
        twists = self.sample_twists()
        if np.any(samples == GROUND):
            twists = jnp.concatenate([twists, jnp.zeros((1, 6))])
        return static_index.take(twists, samples % len(twists))

    def sample_accelerations(self) -> Float[Array, "s 6"]:
        """World accelerations of all samples in one flat list."""
        return jnp.concatenate([g.acceleration.reshape(-1, 6) for g in self.groups])


@partial(jax.jit, inline=True)
def kinematics(model: Model, c: Coordinates) -> Kinematics:
    """Poses, twists and accelerations of all samples."""
    model = model.with_lengths_at(c.t)
    origin = frame_origin(model, c.q)
    locals_ = [local_motion(model, i, c) for i in range(len(model.groups))]
    inner = inner_poses(model, [item.pose for item in locals_], origin)

    poses, subspaces, rates = [], [], []
    for i, local in enumerate(locals_):
        pose = _compose(_group_rows_of(model, i, inner), local.pose)
        sources = _sources(local, pose)
        subspace = se3.columns_to_world(sources, local.subspace)
        poses.append(pose)
        subspaces.append(subspace)
        rates.append(source_rates(local, sources, subspace, group_rows(model, i, c.xdot)))

    twists = _sum_along_tree(model, locals_, rates)

    changes = [
        source_changes(
            local,
            _sources(local, poses[i]),
            subspaces[i],
            twists[i][:, : local.subspace.shape[1]],
            rates[i],
            group_rows(model, i, c.xdot),
            group_rows(model, i, c.xddot),
        )
        for i, local in enumerate(locals_)
    ]
    accelerations = _sum_along_tree(model, locals_, changes)
    motions = tuple(
        GroupMotion(*parts)
        for parts in zip(locals_, poses, subspaces, twists, accelerations, strict=True)
    )
    return Kinematics(motions, origin)


def source_rates(
    local: Local, sources: Pose, subspace: Float[Array, "b d 6 m"], xdot: Float[Array, "b m"]
) -> Float[Array, "b d 6"]:
    """S ẋ and what drifts: the integrand of the twists along an element."""
    rate = _times(subspace, xdot)
    if local.drift is not None:
        rate = rate + se3.to_world(sources, local.drift[0])
    return rate


def source_changes(
    local: Local,
    sources: Pose,
    subspace: Float[Array, "b d 6 m"],
    twist: Float[Array, "b d 6"],
    rate: Float[Array, "b d 6"],
    xdot: Float[Array, "b m"],
    xddot: Float[Array, "b m"],
) -> Float[Array, "b d 6"]:
    """S ẍ + Ṡ ẋ and what drifts: the integrand of the accelerations, the time derivative of ``rate``."""
    change = _times(subspace, xddot) + se3.ad(twist, rate)
    if local.subspace_rates is not None:
        change = change + se3.to_world(sources, _times(local.subspace_rates[0], xdot))
    if local.drift is not None:
        change = change + se3.to_world(sources, local.drift[1])
    return change


def a_moment_later(motion: Kinematics, s: Float[Array, ""]) -> Kinematics:
    """Poses and twists s seconds later, right to the second and to the first power of s.

    For derivatives in time of what depends on them: R + s ω × R + s²/2 (α × R + ω × (ω × R)), and so on.
    """

    def moved(group: GroupMotion) -> GroupMotion:
        (omega, v), (alpha, a) = (
            (part[..., :3], part[..., 3:]) for part in (group.twist, group.acceleration)
        )
        turn, again = so3.hat(omega), so3.hat(alpha)
        rotation, position = group.pose.rotation, group.pose.position
        speed = v + jnp.cross(omega, position)
        change = a + jnp.cross(alpha, position) + jnp.cross(omega, speed)
        turned = rotation + s * turn @ rotation + s**2 / 2 * (again + turn @ turn) @ rotation
        pose = Pose(turned, position + s * speed + s**2 / 2 * change)
        return group._replace(pose=pose, twist=group.twist + s * group.acceleration)

    return motion._replace(groups=tuple(moved(group) for group in motion.groups))


def frame_origin(model: Model, q: Float[Array, " nq"]) -> Float[Array, " 3"]:
    """Reference point of world twists and wrenches (m)."""
    start, element = model.topology.floating, model.topology.floating_element
    if start < 0:
        return jnp.zeros(3)
    rotation = jnp.asarray(model.offsets.rotation)[element]
    return jnp.asarray(model.offsets.position)[element] + rotation @ q[start : start + 3]


def inner_poses(model: Model, relative: list[Pose], origin: Float[Array, " 3"]) -> Pose:
    """World pose of the inner frame of every element, by pointer jumping along the tree.

    log₂(depth) batched products replace one product per level.
    """
    topology = model.topology
    parent = np.array(topology.parent)
    on_ground = parent == GROUND
    shift = jnp.where(on_ground[:, None], origin, 0.0)
    pose = Pose(jnp.asarray(model.offsets.rotation), model.offsets.position - shift)
    if topology.all_on_ground:
        return pose
    hanging = np.flatnonzero(~on_ground)
    attached = _take(_flat_pose(relative), np.array(topology.attach)[hanging])
    pose = _replace(pose, hanging, attached @ _take(pose, hanging))
    while np.any(parent != GROUND):
        moving = np.flatnonzero(parent != GROUND)
        pose = _replace(pose, moving, _take(pose, parent[moving]) @ _take(pose, moving))
        parent = np.where(parent == GROUND, GROUND, parent[parent])
    return pose


def _times(columns: Float[Array, "b d 6 m"], rates: Float[Array, "b m"]) -> Float[Array, "b d 6"]:
    """Columns of each element times its own rates."""
    if rates.shape[-1] <= small.SHORT:
        return small.times(columns, rates[:, None])
    return jnp.einsum("bdim,bm->bdi", columns, rates)


def _sum_along_tree(
    model: Model, locals_: list[Local], rates: list[Float[Array, "_ _ 6"]]
) -> list[Float[Array, "_ _ 6"]]:
    """Integrate source rates over each element and add what enters from its ancestors."""
    topology = model.topology
    own = [
        jnp.einsum("bpd,bdi->bpi", local.integration, rate)
        for local, rate in zip(locals_, rates, strict=True)
    ]
    if topology.all_on_ground:
        return own
    attach = np.array(topology.attach)
    hanging = np.flatnonzero(attach != GROUND)
    flat = jnp.concatenate([part.reshape(-1, 6) for part in own])
    steps = static_index.put(
        jnp.zeros((topology.elements, 6)), hanging, static_index.take(flat, attach[hanging])
    )
    entering = sum_along_tree(topology.parent, steps)
    return [part + _rows(model, i, entering)[:, None] for i, part in enumerate(own)]


def _rows(model: Model, index: int, array: Float[Array, "e *k"]) -> Float[Array, "b *k"]:
    """Rows of an element-wise array that belong to a group."""
    start = model.topology.element_start[index]
    return array[start : start + model.groups[index].size]


def _group_rows_of(model: Model, index: int, pose: Pose) -> Pose:
    return Pose(_rows(model, index, pose.rotation), _rows(model, index, pose.position))


def _compose(inner: Pose, local: Pose) -> Pose:
    """World poses of samples from inner poses (b) and relative ones (b, p)."""
    return Pose(
        jnp.einsum("bij,bpjk->bpik", inner.rotation, local.rotation),
        inner.position[:, None] + jnp.einsum("bij,bpj->bpi", inner.rotation, local.position),
    )


def _sources(local: Local, pose: Pose) -> Pose:
    count = local.subspace.shape[1]
    return Pose(pose.rotation[:, :count], pose.position[:, :count])


def _flat_pose(poses: list[Pose]) -> Pose:
    return Pose(
        jnp.concatenate([p.rotation.reshape(-1, 3, 3) for p in poses]),
        jnp.concatenate([p.position.reshape(-1, 3) for p in poses]),
    )


def _take(pose: Pose, index: np.ndarray) -> Pose:
    return Pose(static_index.take(pose.rotation, index), static_index.take(pose.position, index))


def _replace(pose: Pose, index: np.ndarray, value: Pose) -> Pose:
    return Pose(
        static_index.put(pose.rotation, index, value.rotation),
        static_index.put(pose.position, index, value.position),
    )
