r"""MaterialMotion that slides through the base of a rod pushed out of it.

Samples stay at fractions u of the length L(t); material stays at its distance from the tip and passes them
with the speed c = (1 - u) L̇ along the rod. With ξ_w = Ad(g) ξ, and all rates at fixed u, it moves with

    V_m = V + c ξ_w
    A_m = A + (1 - u) L̈ ξ_w + c ad(V) ξ_w + 2 c Ad(g) ξ̇ + (c²/L) Ad(g) ∂ξ/∂u,

and the inertial wrench is that of V_m and A_m. Along a variation, in the moving frames,

    δV_m - ad(ζ) V_m = ν + c S δx
    δA_m - ad(ζ) A_m = β - ad(V_m) ν + [(1 - u) L̈ S + c ad(V) S + (c²/L) Ad(g) Φ′] δx + 2 c S δẋ:

the law of the sample with V_m for V, and terms in the rod's own coordinates.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import se3
from supple.mechanics.element_motion import Coordinates, group_rows
from supple.mechanics.kinematics import GroupMotion
from supple.model.model import Model, RodGroup


class MaterialMotion(NamedTuple):
    """World twists and accelerations of the material at the nodes of a group."""

    twist: Float[Array, "b d 6"]
    acceleration: Float[Array, "b d 6"]


class _Flow(NamedTuple):
    """Speed c (m/s) past the nodes, (1 - u) L̈ (m/s²), c²/L (m/s²); and Ad(g) Φ′."""

    speed: Float[Array, "b d 1"]
    change: Float[Array, "b d 1"]
    bend: Float[Array, "b d 1"]
    slope: Float[Array, "b d 6 m"]


def slides(group: RodGroup) -> bool:
    """Whether material passes the samples of a group."""
    return group.slope is not None and group.growth_rates is not None


def material_motion(model: Model, index: int, m: GroupMotion, c: Coordinates) -> MaterialMotion:
    """Motion of the material at the nodes of a group; that of the nodes if it does not slide."""
    group = model.groups[index]
    assert isinstance(group, RodGroup)
    count = group.grid.weights.shape[1]
    twist, acceleration = m.twist[:, :count], m.acceleration[:, :count]
    if not slides(group):
        return MaterialMotion(twist, acceleration)
    flow = _flow(group, m)
    q = group_rows(model, index, c.q, configuration=True) + group_rows(model, index, c.x)
    strain = group.grid.rest + jnp.einsum("bnim,bm->bni", group.grid.basis, q)
    along = se3.to_world(m.sources, strain)
    rate = jnp.einsum("bdim,bm->bdi", m.subspace, group_rows(model, index, c.xdot))
    passing = flow.change * along + flow.speed * (se3.ad(twist, along) + 2 * rate)
    bending = flow.bend * jnp.einsum("bdim,bm->bdi", flow.slope, q)
    return MaterialMotion(twist + flow.speed * along, acceleration + passing + bending)


def sliding_columns(
    group: RodGroup,
    m: GroupMotion,
    inertia: Float[Array, "b d 6 6"],
    material: MaterialMotion,
) -> tuple[Float[Array, "b d 6 m"], Float[Array, "b d 6 m"]]:
    """Coefficients of δẋ and δx of the rod's own coordinates that sliding adds to φ."""
    flow = _flow(group, m)
    speed, change, bend = flow.speed[..., None], flow.change[..., None], flow.bend[..., None]
    passed = speed * m.subspace
    twist = m.twist[:, : inertia.shape[1]]
    momentum = jnp.einsum("bdij,bdj->bdi", inertia, material.twist)
    carried = jnp.swapaxes(inertia @ se3.ad_matrix(material.twist), -1, -2)
    push = change * m.subspace + se3.ad_columns(twist, passed) + bend * flow.slope
    by_shift = inertia @ push - (carried + se3.coad_matrix(momentum)) @ passed
    return inertia @ (2 * passed), by_shift


def _flow(group: RodGroup, m: GroupMotion) -> _Flow:
    assert group.slope is not None
    assert group.growth_rates is not None
    count = group.grid.weights.shape[1]
    left = group.length[:, None] * (1 - jnp.asarray(group.grid.points)[:, :count])
    first, second = (part[:, None] for part in group.growth_rates)  # over the length
    speed, change = left * first, left * second
    bend = speed**2 / group.length[:, None]
    slope = se3.columns_to_world(m.sources, jnp.asarray(group.slope))
    return _Flow(speed[..., None], change[..., None], bend[..., None], slope)
