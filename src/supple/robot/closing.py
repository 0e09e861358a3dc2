"""From a closing joint as users write it to its equations, and the equations a robot needs of them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from supple.compile import jit
from supple.errors import DescriptionError
from supple.mechanics.inverse_dynamics import violation
from supple.mechanics.local import neutral, retract
from supple.model import joints
from supple.model.model import Model
from supple.robot.joint import AbstractJointSpec

Rows = list[tuple[np.ndarray, np.ndarray, float, str]]
"""Equations A : R + b · r = c: A (3, 3), b (3,), c, and what each forbids."""


def keeps_coordinates(spec: AbstractJointSpec) -> bool:
    """Whether a closing joint needs coordinates of its own: it turns without end, springs or damps."""
    made = spec.make("closure")
    springs = any(np.any(np.asarray(value)) for value in spec.spring()[::2])
    screw = isinstance(made, joints.HelicalJoint | joints.DrivenJoint)
    return screw or springs or spec.dry() is not None


def closing_rows(item: str, spec: AbstractJointSpec, length: float) -> Rows:
    """Equations of a passive joint; rows that turn are multiplied by ``length`` (m)."""
    joint = spec.make(item)
    if joint is None:
        return _no_turn(length) + _no_shift(np.eye(3))
    if isinstance(joint, joints.RevoluteJoint):
        return _aligned(joint.axis, length) + _no_shift(np.eye(3))
    if isinstance(joint, joints.PrismaticJoint):
        return _no_turn(length) + _no_shift(_normals(joint.axis))
    if isinstance(joint, joints.CylindricalJoint):
        return _aligned(joint.axis, length) + _no_shift(_normals(joint.axis))
    if isinstance(joint, joints.UniversalJoint):
        first, second = np.asarray(joint.first), np.asarray(joint.second)
        crossed = (length * np.outer(first, second), np.zeros(3), length * first @ second, "turn")
        return [crossed, *_no_shift(np.eye(3))]
    if isinstance(joint, joints.SphericalJoint):
        return _no_shift(np.eye(3))
    if isinstance(joint, joints.PlanarJoint):
        return _aligned(joint.normal, length) + _no_shift(np.asarray(joint.normal)[None])
    raise DescriptionError(item, "joint", spec, "a joint that holds something, such as Spherical()")


def _no_shift(directions: np.ndarray) -> Rows:
    return [(np.zeros((3, 3)), direction, 0.0, "shift") for direction in directions]


def _aligned(axis: Any, length: float) -> Rows:
    """The axis keeps its direction: no component along two normals."""
    rows = [length * np.outer(normal, np.asarray(axis)) for normal in _normals(axis)]
    return [(row, np.zeros(3), 0.0, "turn") for row in rows]


def _no_turn(length: float) -> Rows:
    """The vector of (R - Rᵀ)/2, that is sin θ times the axis of rotation."""
    rows: Rows = []
    for i, j in ((2, 1), (0, 2), (1, 0)):
        row = np.zeros((3, 3))
        row[i, j], row[j, i] = length / 2, -length / 2
        rows.append((row, np.zeros(3), 0.0, "turn"))
    return rows


def _normals(axis: Any) -> np.ndarray:
    """Two unit vectors normal to an axis and to each other."""
    axis = np.asarray(axis, dtype=float)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


@jit
def _violation_jacobian(model: Model, q: Any) -> Any:
    def moved(x: Any) -> Any:
        return violation(model, retract(model, q, x), jnp.zeros(()))[: model.closures.size]

    return jax.jacfwd(moved)(jnp.zeros(model.nv))


def without_redundancy(model: Model) -> Model:
    """The model with only the equations that its structure does not fulfil by itself.

    Directions that no coordinate can violate (a planar loop described in space, a doubled joint) show in
    Jacobians at random configurations, whatever the configuration: this is structure, not a singularity.
    """
    c = model.closures
    rng = np.random.default_rng(0)
    scale = np.asarray(model.scale)
    stack = []
    for _ in range(3):
        q = retract(model, jnp.asarray(neutral(model)), 0.4 * scale * rng.normal(size=model.nv))
        stack.append(np.asarray(_violation_jacobian(model, q)) * scale)
    every = np.concatenate(stack, axis=1)
    size = np.abs(every).max(initial=0.0)
    _, upper, order = scipy.linalg.qr(every.T, mode="economic", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(upper)) > 1e-9 * max(size, 1e-300)))
    keep = np.sort(order[:rank])
    if len(keep) == c.size:
        return model
    left = sorted(set(range(c.size)) - set(keep.tolist()))
    dropped = tuple(f"{c.names[c.joint_of_row[i]]}: equation {i}" for i in left)
    reduced = type(c)(
        c.inner,
        c.outer,
        c.turning[keep],
        c.shift[keep],
        c.value[keep],
        c.inner_sample,
        c.outer_sample,
        tuple(c.joint_of_row[i] for i in keep),
        c.names,
        dropped,
    )
    return eqx.tree_at(lambda m: m.closures, model, reduced)
