"""What each element contributes to the tangent by itself, as if none hung on another.

Blocks (M, C, K) in its own coordinates; the columns by which these move its samples; and the reactions, the
change of the wrench that it asks of what carries it.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import se3, small
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import (
    Balance,
    element_tangent,
    inertia_at_nodes,
    node_inertia,
)
from supple.mechanics.kinematics import GroupMotion
from supple.mechanics.sample_laws import Law, attached_laws, rod_law
from supple.mechanics.sliding import MaterialMotion, slides, sliding_columns
from supple.mechanics.transmission_tangent import (
    Parts,
    SlotRows,
    Within,
    add_within,
    part_derivatives,
    within_groups,
)
from supple.model.model import Group, JointGroup, Model, RodGroup


class Columns(NamedTuple):
    """Variations per unit coordinate: ζ (= coefficient of δẋ in ν), and those of δx in ν and β."""

    shift: Float[Array, "*b 6 m"]
    shift_rate: Float[Array, "*b 6 m"]
    shift_acceleration: Float[Array, "*b 6 m"]


class GroupTangent(NamedTuple):
    """A group's part: columns, laws of the samples, reactions, and (M, C, K) of each element."""

    columns: Columns
    law: Law
    reactions: Columns
    blocks: Float[Array, "3 b m m"]
    slots: SlotRows | None
    """Of transmissions that act within its elements."""


class GroupState(NamedTuple):
    """What the tangent of a group needs to know, one row an element."""

    group: Group
    motion: GroupMotion
    material: MaterialMotion | None
    attached: Law | None
    wrench: Float[Array, "b p 6"]
    stress: Float[Array, "b d 6"]
    elastic: Float[Array, "b m m"]
    viscous: Float[Array, "b m m"]
    within: Within | None
    """What transmissions do within the elements."""


def group_states(
    model: Model,
    c: Coordinates,
    state: Balance,
    attached: list[Law | None],
    parts: Parts | None,
) -> list[GroupState]:
    """All groups at a motion; ``state`` is the balance there, with the laws and parts that it leads to."""
    within: list[Within | None] = [None] * len(model.groups)
    if state.transmissions is not None and parts is not None:
        within = within_groups(model, state.transmissions, parts)
    return [
        GroupState(
            model.groups[i],
            state.motion.groups[i],
            state.material[i],
            attached[i],
            state.wrench[i],
            state.stress[i],
            *element_tangent(model, i, c),
            within[i],
        )
        for i in range(len(model.groups))
    ]


def group_tangent(at: GroupState, gravity: Float[Array, " 3"]) -> GroupTangent:
    """The tangent of one group; ``gravity`` as it is loaded."""
    group, m, material, attached, wrench, stress, elastic, viscous, within = at
    columns = own_columns(m)
    law = rod_law(group, m, material, gravity).plus(attached)
    phi = _reaction(law, columns)
    if isinstance(group, RodGroup) and slides(group):
        assert material is not None
        inertia = inertia_at_nodes(group, m, node_inertia(group))
        phi = _with_sliding(phi, *sliding_columns(group, m, inertia, material))
    # A wrench that moves with its sample: the part that does not cancel.
    phi = phi._replace(
        shift_acceleration=phi.shift_acceleration - se3.coad_columns(wrench, columns.shift)
    )
    slots = None
    if within is not None:
        slots, pulled, stiffening, drag = add_within(within, columns.shift, columns.shift_rate)
        elastic, viscous = elastic + stiffening, viscous + drag
        if pulled is not None:
            phi = phi._replace(shift_acceleration=phi.shift_acceleration + pulled)
    sources = m.subspace.shape[1]
    turning = se3.coad_columns(stress, columns.shift[:, :sources])
    if m.local.subspace_gradient is not None:
        elastic = elastic + _subspace_turning(m, stress)
    work = _pair(columns.shift, jnp.concatenate(phi, axis=-1))
    mass, damping, stiffness = jnp.split(work, 3, axis=-1)
    if isinstance(group, JointGroup) and group.armature is not None:
        mass = mass + jnp.eye(group.nv) * group.armature[:, :, None]
    stiffness = stiffness + _pair(m.subspace, turning) + elastic
    blocks = jnp.stack([mass, damping + viscous, stiffness])
    return GroupTangent(columns, law, phi, blocks, slots)


def loaded_gravity(model: Model) -> Float[Array, " 3"]:
    """Gravity as far as it is switched on."""
    return model.load_factor * jnp.asarray(model.gravity)


def element_tangents(
    model: Model, c: Coordinates, state: Balance, parts: Parts | None = None
) -> list[GroupTangent]:
    """The tangents of all groups at a motion; ``state`` is the balance there.

    Without ``parts`` transmissions are left out.
    """
    gravity = loaded_gravity(model)
    attached = attached_laws(model, state, c.t, parts)
    return [group_tangent(at, gravity) for at in group_states(model, c, state, attached, parts)]


def parts_of(model: Model, state: Balance) -> Parts | None:
    """How all parts of the transmissions change; None without any."""
    if state.transmissions is None:
        return None
    return part_derivatives(model, state.transmissions, state.motion)


def subspace_rates(
    m: GroupMotion,
) -> tuple[Float[Array, "b d 6 k"], Float[Array, "b d 6 k"]]:
    """Ṡ and S̈ of a group's motion subspace in the world frame."""
    count = m.subspace.shape[1]
    twist, acceleration = m.twist[:, :count], m.acceleration[:, :count]
    turned = se3.ad_columns(twist, m.subspace)
    first = turned
    second = se3.ad_columns(acceleration, m.subspace)
    if m.local.subspace_rates is not None:
        rate, change = (se3.columns_to_world(m.sources, phi) for phi in m.local.subspace_rates)
        second = second + se3.ad_columns(twist, turned + 2 * rate) + change
        first = turned + rate
    else:
        second = second + se3.ad_columns(twist, turned)
    return first, second


def _subspace_turning(m: GroupMotion, stress: Float[Array, "b d 6"]) -> Float[Array, "b k k"]:
    """Change of Φᵀ λ because Φ itself depends on x."""
    body = se3.wrench_to_body(m.sources, stress)
    return jnp.sum(m.local.subspace_gradient * body[..., None, None], axis=(1, 2))


def own_columns(m: GroupMotion) -> Columns:
    """ζ, and the δx parts of ν and β, of every sample per unit of its own element's coordinates."""
    first, second = subspace_rates(m)
    stacked = jnp.concatenate([m.subspace, first, second], axis=-1)
    integrated = jnp.einsum("bpd,bdim->bpim", m.local.integration, stacked)
    count = m.subspace.shape[-1]
    return Columns(
        integrated[..., :count], integrated[..., count : 2 * count], integrated[..., 2 * count :]
    )


def _reaction(law: Law, columns: Columns) -> Columns:
    """φ for δẍ, δẋ and δx."""
    zeta, nu, beta = columns
    push = small.product(law.inertia, jnp.concatenate([zeta, 2 * nu, beta], axis=-1))
    drag = small.product(law.gyration, jnp.concatenate([zeta, nu], axis=-1))
    count = zeta.shape[-1]
    return Columns(
        push[..., :count],
        push[..., count : 2 * count] + drag[..., :count],
        push[..., 2 * count :] + drag[..., count:] + small.product(law.geometry, zeta),
    )


def _with_sliding(
    phi: Columns, by_rate: Float[Array, "b d 6 m"], by_shift: Float[Array, "b d 6 m"]
) -> Columns:
    """Add what sliding material asks at the nodes, which are the first samples."""
    extra = phi.shift.shape[1] - by_rate.shape[1]
    pad = ((0, 0), (0, extra), (0, 0), (0, 0))
    return phi._replace(
        shift_rate=phi.shift_rate + jnp.pad(by_rate, pad),
        shift_acceleration=phi.shift_acceleration + jnp.pad(by_shift, pad),
    )


def _pair(a: Float[Array, "b p 6 m"], b: Float[Array, "b p 6 n"]) -> Float[Array, "b m n"]:
    """Σ over samples of aᵀ b."""
    batch, samples, _, m = a.shape
    left = a.reshape(batch, samples * 6, m)
    right = b.reshape(batch, samples * 6, b.shape[-1])
    return small.product(jnp.swapaxes(left, -1, -2), right)


def columns_of(model: Model, index: int) -> np.ndarray:
    """(b, m) coordinate indices of the elements of a group."""
    group, start = model.groups[index], model.topology.v_start[index]
    return start + np.arange(group.size * group.nv).reshape(group.size, group.nv)
