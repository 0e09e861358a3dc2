"""Rods that are known at nodes, between these: shapes by cubics with the slopes that their strains tell."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import ArgumentError
from supple.lie import Pose, so3
from supple.mechanics.element_motion import group_rows
from supple.model.fields import RodFields
from supple.model.model import Model


def fields_of(model: Model) -> RodFields:
    """The fields of a model that has them."""
    assert model.fields is not None
    return model.fields


def node_values(
    model: Model, q: Float[Array, " any"], *, rates: bool = False
) -> Float[Array, "s k z"]:
    """Strain, body wrench and twist at the nodes of each segment, of a configuration or of its ``rates``."""
    own = fields_of(model)
    rows = group_rows(model, own.group + 1, q, configuration=not rates)
    return rows.reshape(*own.shape, -1)


def node_frames(model: Model, q: Float[Array, " nq"]) -> Float[Array, "n 7"]:
    """Quaternions and positions of the nodes."""
    return group_rows(model, fields_of(model).group, q, configuration=True)


def _place(own: RodFields, name: str, points: np.ndarray) -> tuple[np.ndarray, ...]:
    """Segment, step in it and fraction of that step, of points of a rod."""
    outside = [u for u in points if not 0.0 <= u <= 1.0]
    if outside:
        raise ArgumentError(
            f"{name}: fraction: got {outside[0]}; need fractions of the length in [0, 1]"
        )
    rods = own.segments(name)
    starts = np.array(own.edges[rods])
    stops = np.append(starts[1:], 1.0)
    # At an edge, what is just before it.
    segment = np.clip(np.searchsorted(starts, points, side="left") - 1, 0, len(starts) - 1)
    steps = own.shape[1] - 1
    along = (points - starts[segment]) / (stops - starts)[segment] * steps
    step = np.clip(np.floor(along).astype(int), 0, steps - 1)
    return rods.start + segment, step, along - step


def field_shape(model: Model, name: str, q: Float[Array, " nq"], points: np.ndarray) -> Pose:
    """World poses of a rod's sections."""
    own = fields_of(model)
    segment, step, tau = _place(own, name, np.asarray(points, dtype=float))
    frames = node_frames(model, q)
    ends = [frames[jnp.asarray(own.nodes)[segment, step + k]] for k in (0, 1)]
    strains = [node_values(model, q)[segment, step + k, :6] for k in (0, 1)]
    widths = (
        jnp.asarray(own.fractions)[segment, step + 1] - jnp.asarray(own.fractions)[segment, step]
    )
    width = widths * jnp.asarray(own.lengths)[segment]
    known: Any = (*ends, *strains, width, jnp.asarray(tau))
    found: Pose = jax.vmap(_between)(*known)
    return found


def _between(a, b, first, last, width, tau):  # type: ignore[no-untyped-def]
    """Pose between two nodes, by cubics with the slopes there."""
    zero = jnp.zeros((1,))

    def slopes(frame, strain):  # type: ignore[no-untyped-def]
        turning = 0.5 * so3.quaternion_product(frame[:4], jnp.concatenate([zero, strain[:3]]))
        return jnp.concatenate([turning, so3.quaternion_to_matrix(frame[:4]) @ strain[3:]])

    b = b.at[:4].multiply(jnp.where(jnp.dot(a[:4], b[:4]) < 0, -1.0, 1.0))
    s, t = tau, 1 - tau
    found = (1 + 2 * s) * t**2 * a + (1 + 2 * t) * s**2 * b
    found = found + width * s * t * (t * slopes(a, first) - s * slopes(b, last))
    unit = found[:4] / jnp.linalg.norm(found[:4])
    return Pose(so3.quaternion_to_matrix(unit), found[4:])


def field_values(
    model: Model,
    name: str,
    q: Float[Array, " any"],
    points: np.ndarray,
    *,
    rates: bool = False,
) -> Float[Array, "n z"]:
    """Strain, body wrench and twist of a rod's sections, by cubics through four nodes of their segment."""
    own = fields_of(model)
    segment, step, tau = _place(own, name, np.asarray(points, dtype=float))
    known = node_values(model, q, rates=rates)[segment]
    return jnp.einsum("nk,nkm->nm", _stencils(step, tau, own.shape[1]), known)


def field_rest(model: Model, name: str, points: np.ndarray) -> Float[Array, "n 6"]:
    """Strain of a rod's sections at rest."""
    own = fields_of(model)
    segment, step, tau = _place(own, name, np.asarray(points, dtype=float))
    weights = _stencils(step, tau, own.shape[1])
    return jnp.einsum("nk,nkm->nm", weights, jnp.asarray(own.rest)[segment])


def field_motion(
    model: Model, name: str, v: Float[Array, " nv"], points: np.ndarray
) -> Float[Array, "n 6"]:
    """Body angular velocities and world velocities of sections; or their derivatives, for those."""
    own = fields_of(model)
    segment, step, tau = _place(own, name, np.asarray(points, dtype=float))
    rows = group_rows(model, own.group, v)[jnp.asarray(own.nodes)[segment]]
    return jnp.einsum("nk,nkm->nm", _stencils(step, tau, own.shape[1]), rows)


def _stencils(step: np.ndarray, tau: np.ndarray, count: int) -> np.ndarray:
    """Weights of the nodes of a segment in values between them: Lagrange's, of up to four."""
    used = min(4, count)
    found = np.zeros((len(step), count))
    for i, (k, part) in enumerate(zip(step, tau, strict=True)):
        first = min(max(k - 1, 0), count - used)
        places = np.arange(first, first + used)
        for j in places:
            others = places[places != j]
            found[i, j] = np.prod((k + part - others) / (j - others))
    return found


def field_energy(model: Model, q: Float[Array, " nq"]) -> Float[Array, ""]:
    """Elastic energy of the rods (J)."""
    own = fields_of(model)
    strain = node_values(model, q)[..., :6] - own.rest
    density = 0.5 * jnp.einsum("ski,skij,skj->sk", strain, own.stiffness, strain)
    return jnp.sum(own.weights * density)


def field_reactions(
    model: Model, q: Float[Array, " nq"], joint_rotations: Float[Array, "j 3 3"]
) -> tuple[Float[Array, "e 6"], Float[Array, "e 3 3"]]:
    """Wrench that each joint and each rod is given by what it hangs on, in its frame; how that is turned.

    In the order of elements, with zeros for those that are no items.
    """
    own = fields_of(model)
    frames = so3.quaternion_to_matrix(node_frames(model, q)[:, :4])
    fields = node_values(model, q)[..., 6:12].reshape(-1, 6)
    rotations = [joint_rotations, frames, frames[jnp.asarray(own.nodes).reshape(-1)]]
    joints = jnp.zeros((0, 6))
    if len(joint_rotations):
        joints = group_rows(model, own.group + 2, q, configuration=True)[:, :6]
        rotations.append(joint_rotations)
    # What is beyond a section pulls at what is before, and that at it the other way.
    wrenches = [joints, jnp.zeros((len(frames), 6)), -fields, jnp.zeros_like(joints)]
    return jnp.concatenate(wrenches), jnp.concatenate(rotations)


def in_body(pose: Pose, motion: Float[Array, " 6"]) -> Float[Array, " 6"]:
    """Body twist from body angular velocity and world velocity."""
    return jnp.concatenate([motion[:3], pose.rotation.T @ motion[3:]])
