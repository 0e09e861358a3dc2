"""From a closing joint as users write it to its equations, and the equations a robot needs of them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

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
from supple.numeric import is_traced
from supple.robot.joint import AbstractJointSpec

Rows = list[tuple[np.ndarray, np.ndarray, float, str]]
"""Equations A : R + b · r = c: A (3, 3), b (3,), c, and what each forbids."""


def keeps_coordinates(spec: AbstractJointSpec) -> bool:
    """Whether a closing joint needs coordinates of its own: it turns without end, springs or damps."""
    made = spec.make("closure")
    springs = any(is_traced(value) or np.any(np.asarray(value)) for value in spec.spring()[::2])
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


@partial(jit, quick=True)
def _violation(model: Model, q: Any) -> Any:
    """Violation of the closures at q (m), and its derivative by local coordinates."""

    def moved(x: Any) -> Any:
        return violation(model, retract(model, q, x), jnp.zeros(()))[: model.closures.size]

    zero = jnp.zeros(model.nv)
    return moved(zero), jax.jacfwd(moved)(zero)


def without_redundancy(model: Model) -> Model:
    """The model with only the equations that the others do not fulfil already.

    Two kinds are left out: those that no coordinate can violate (a planar loop described in space), and
    those that follow from the others wherever loops are closed (a door on two hinges). Both show in the
    rank of the Jacobian at closed configurations, found from random starts: at random places, so that a
    singularity is not taken for structure. Where none can be closed only the first kind shows.
    """
    known = _without_tracers(model)
    if known is None:
        return model
    # A thread of its own computes with numbers also while a function of the description is being traced here.
    with ThreadPoolExecutor(1) as thread:
        keep = thread.submit(_needed_rows, known, raises=not is_traced(model)).result()
    c = model.closures
    if len(keep) == c.size:
        return model
    rows, left = np.array(keep, dtype=int), sorted(set(range(c.size)) - set(keep))
    reduced = replace(
        c,
        turning=c.turning[rows],
        shift=c.shift[rows],
        value=c.value[rows],
        joint_of_row=tuple(c.joint_of_row[i] for i in keep),
        dropped=tuple(f"{c.names[c.joint_of_row[i]]}: equation {i}" for i in left),
    )
    return replace(model, closures=reduced)


def _needed_rows(known: Model, *, raises: bool) -> list[int]:
    scale = np.asarray(known.scale)
    draws = np.random.default_rng(0).normal(size=(4, known.nv))
    starts: list[np.ndarray] = []
    # First near the described shape, because what is redundant may differ elsewhere.
    for size in (0.1, 0.4):
        starts = [_moved(known, neutral(known), size * scale * draw) for draw in draws]
        near = [_closed_near(known, q, scale) for q in starts]
        closed = [jacobian for jacobian in near if jacobian is not None]
        if closed:
            return _independent_rows(closed)
    everywhere = [_scaled(known, q, scale) for q in starts]
    return _independent_everywhere(known, everywhere, raises=raises)


@partial(jit, quick=True)
def _retract(model: Model, q: Any, x: Any) -> Any:
    return retract(model, q, x)


def _moved(model: Model, q: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(_retract(model, q, x))


def _without_tracers(model: Model) -> Model | None:
    """The model with ordinary numbers for traced ones; None where places are traced.

    What is redundant does not depend on lengths, stiffnesses and masses: any will do while a function of
    them is being compiled.
    """
    c = model.closures
    if is_traced((model.offsets, c.inner, c.outer, c.turning, c.shift, c.value)):
        return None
    return jax.tree.map(lambda leaf: np.ones(leaf.shape) if is_traced(leaf) else leaf, model)


def _scaled(model: Model, q: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    value, jacobian = _violation(model, jnp.asarray(q))
    return np.asarray(value), np.asarray(jacobian) * scale


def _closed_near(model: Model, q: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
    """Scaled Jacobian at a closed configuration near q; None if there is none (Levenberg-Marquardt)."""
    for _ in range(60):
        value, jacobian = _scaled(model, q, scale)
        left, size = np.abs(value).max(), np.abs(jacobian).max()
        if not np.isfinite(left):
            return None
        if left < 1e-11 * size:
            return jacobian
        # A weight of the square of what is left: quick also where equations depend on each other.
        normal = jacobian @ jacobian.T + value @ value * np.eye(len(value))
        x = -jacobian.T @ np.linalg.lstsq(normal, value, rcond=None)[0]
        x *= min(1.0, 0.5 / max(np.abs(x).max(), 1e-300))
        q = _moved(model, q, scale * x)
    return None


def _rank(matrix: np.ndarray, tolerance: float = 1e-7) -> tuple[int, np.ndarray]:
    """Rank of the rows, and an order that puts independent ones first."""
    _, upper, order = scipy.linalg.qr(matrix.T, mode="economic", pivoting=True)
    size = np.abs(matrix).max(initial=1e-300)
    return int(np.sum(np.abs(np.diag(upper)) > tolerance * size)), order


def _independent_rows(jacobians: list[np.ndarray]) -> list[int]:
    """Rows that span all others at each closed configuration, as far from dependent as can be had."""
    ranks = [_rank(jacobian) for jacobian in jacobians]
    most = max(rank for rank, _ in ranks)
    generic = [j for j, (rank, _) in zip(jacobians, ranks, strict=True) if rank == most]

    def weakest(rows: np.ndarray) -> float:
        return min(np.linalg.svd(j[rows], compute_uv=False)[-1] for j in generic)

    candidates = [order[:most] for rank, order in ranks if rank == most]
    best = max(candidates, key=weakest) if most else np.zeros(0, dtype=int)
    return np.sort(best).tolist()


def _independent_everywhere(
    model: Model, found: list[tuple[np.ndarray, np.ndarray]], *, raises: bool
) -> list[int]:
    """Rows that no others replace at any configuration; raises if those left out contradict them."""
    c = model.closures
    values = np.stack([value for value, _ in found], axis=1)
    every = np.concatenate([jacobian for _, jacobian in found], axis=1)
    rank, order = _rank(every, 1e-9)
    keep, left = np.sort(order[:rank]), order[rank:]
    if len(left) == 0 or not raises:
        return keep.tolist()
    # Where a row is Σ weights · rows in all derivatives, the same holds for the values, but for a constant.
    weights = np.linalg.lstsq(every[keep].T, every[left].T, rcond=None)[0].T
    gap = np.abs(values[left] - weights @ values[keep]).max(axis=1, initial=0.0)
    worst = int(np.argmax(gap))
    if gap[worst] > 1e-9 * max(1.0, np.abs(every).max()):
        raise DescriptionError(
            c.names[c.joint_of_row[left[worst]]],
            "position, rotation",
            f"frames {gap[worst]:.3g} m apart in a direction in which nothing can move",
            "frames that meet: check places, planes and axes, or use a joint that leaves this free",
        )
    return keep.tolist()
