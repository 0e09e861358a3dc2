"""Points of a branch of equilibria, and how the next one is found: Newton's method on an arc length.

The linear systems are those of statics, by structure, with one more row and column for the arc length and
the time. With A the matrix of the robot and b its derivative by time, A⁻¹ R and A⁻¹ b are all there is to
solve. Where A is nearly singular both are huge along the motion that needs no force; their difference is
not, and what it loses to round-off the next correction finds.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of, second_order_of
from supple.run.stability import Stability, stability
from supple.solve.softest import soft_motions
from supple.system.formulation import Discretization

TOLERANCE = 1e-10
"""Last correction, over the scales, of a point of a branch."""
STALLED = 1e-8, 1e-5
"""The one before where corrections no longer shrink; the second beside a branching point, where round-off is
magnified, so that the next one may be anything."""
MOST_CORRECTIONS = 12
NEUTRAL = 1e-8
"""Eigenvalue, beside the elastic stiffness, of a motion that needs no force."""
DEPENDENT = 1e-3
"""Size of a motion, over the largest, that is none of its own beside the others."""
SPARE = 3
"""Soft motions that are looked at beyond the unstable ones."""


@dataclass(frozen=True)
class Path:
    """What all points of a branch share: the robot as it is held, and the units of its arc length."""

    model: Model
    units: np.ndarray
    """Of coordinates, multipliers and time; infinite for multipliers, which count nothing."""

    @property
    def weights(self) -> np.ndarray:
        """Of squares in an arc length."""
        return 1 / self.units**2

    def length(self, change: np.ndarray) -> float:
        """Arc length of a small change."""
        return float(np.sqrt(self.product(change, change)))

    def product(self, one: np.ndarray, other: np.ndarray) -> float:
        """Scalar product that belongs to it."""
        return float(np.sum(self.weights * one * other))


@dataclass(frozen=True)
class Soft:
    """The softest motions of an equilibrium: eigenvalues beside the elastic stiffness, lowest first."""

    values: np.ndarray
    shapes: np.ndarray
    stability: Stability

    @property
    def unstable(self) -> int:
        """Number of motions by which it is left."""
        return int(np.sum(self.values < -NEUTRAL))

    @property
    def neutral(self) -> np.ndarray:
        """Motions that need no force (nv, k)."""
        return self.shapes[:, np.abs(self.values) <= NEUTRAL]


@dataclass(frozen=True)
class Point:
    """An equilibrium of a branch."""

    q: np.ndarray
    forces: np.ndarray
    t: float
    direction: np.ndarray
    """Of the branch: coordinates, multipliers and time, of unit arc length."""
    soft: Soft
    fixed: np.ndarray
    """Motions (nv, k) that need no force all along the branch, and that it is not to make."""

    @property
    def origin(self) -> np.ndarray:
        """The point in coordinates around itself."""
        n = len(self.direction) - 1 - len(self.forces)
        return np.concatenate([np.zeros(n), self.forces, [self.t]])


@dataclass(frozen=True)
class Corrected:
    """What Newton's method found: coordinates around a point, multipliers and time; where that is."""

    z: np.ndarray
    q: np.ndarray
    response: np.ndarray
    """A⁻¹ b: how the equilibrium moves against time."""
    iterations: int


@partial(jit, quick=True)
def _correction(model, q, z, row, goal, fixed):  # type: ignore[no-untyped-def]
    """Newton's correction of z = (coordinates, multipliers, time), with row · (z - goal) = 0."""
    n = model.nv
    left, by_time, factors = _linearized(model, q, z)
    both = jax.vmap(factors.solve)(jnp.stack([left, by_time]))
    motions, images = fixed
    own, response = both.at[:, :n].add(-(both[:, :n] @ images) @ motions.T)
    slope = row[-1] - row[:-1] @ response
    by = (row[:-1] @ own - row @ (z - goal)) / slope
    change = jnp.concatenate([-own - by * response, by[None]])
    return change, response, formulation_of(model).retract(q, z[:n])


def _linearized(model, q, z):  # type: ignore[no-untyped-def]
    """The equations at z around q, their derivative by time, and the factors of that by the others."""
    y, t, zero = z[:-1], z[-1], jnp.zeros(model.nv)

    def problem(t):  # type: ignore[no-untyped-def]
        formulation = second_order_of(model, "follow").frozen_at(t)
        return formulation, Discretization(State(t, q, zero, zero), t)

    def residual(t):  # type: ignore[no-untyped-def]
        formulation, d = problem(t)
        return formulation.residual(d, y)[0]

    _, by_time = jax.jvp(residual, (t,), (jnp.ones(()),))
    formulation, d = problem(t)
    left, work = formulation.residual(d, y)
    return left, by_time, formulation.factorize(d, y, work)


def corrected(
    path: Path,
    point: Point,
    guess: np.ndarray,
    row: np.ndarray,
    goal: np.ndarray,
    largest: float,
    *,
    near: bool = False,
) -> Corrected | None:
    """The equilibrium near a guess around a point, with row · (z - goal) = 0; None if there is none.

    ``near``: it may be as inexact as round-off beside a branching point makes it.
    """
    z, last = guess.copy(), np.inf
    images = path.weights[: path.model.nv, None] * point.fixed
    for iteration in range(1, MOST_CORRECTIONS + 1):
        found = _correction(path.model, point.q, z, row, goal, (point.fixed, images))
        change, response = np.asarray(found[0]), np.asarray(found[1])
        size = float(np.abs(change / path.units).max(initial=0.0))
        if not np.isfinite(size) or size > largest:
            return None
        if size < TOLERANCE or (size > 0.1 * last and last < STALLED[near]):
            return Corrected(z, np.asarray(found[2]), response, iteration)
        z, last = z + change, size
    return None


def along(path: Path, point: Point, s: float, guess: np.ndarray | None = None) -> Corrected | None:
    """The equilibrium an arc length ``s`` further."""
    goal = point.origin + s * point.direction
    row = path.weights * point.direction
    start, near = (goal, False) if guess is None else (guess, True)
    return corrected(path, point, start, row, goal, 10 * max(abs(s), 1e-3), near=near)


def direction(path: Path, response: np.ndarray, like: np.ndarray | None) -> np.ndarray:
    """Direction of a branch from how its equilibrium moves with time, the way of another one."""
    found = np.concatenate([-response, [1.0]])
    found = found / path.length(found)
    return -found if like is not None and path.product(like, found) < 0 else found


def point_at(
    path: Path, found: Corrected, like: np.ndarray | None, before: Soft, known: int | None = None
) -> Point:
    """A corrected equilibrium as a point; what was neutral before and still is, it is to leave alone.

    ``known`` unstable motions are looked for at least, those of before where none are named.
    """
    n, t = path.model.nv, float(found.z[-1])
    forces = found.z[n:-1]
    known = before.unstable if known is None else known
    soft = soft_at(path.model, found.q, forces, t, known)
    lasting = soft.neutral[:, : before.neutral.shape[1]]
    way = direction(path, found.response, like)
    return Point(found.q, forces, t, way, soft, orthonormal(path, lasting))


def orthonormal(path: Path, motions: np.ndarray) -> np.ndarray:
    """A basis (nv, k) of the space of some motions, of unit arc length each."""
    scale = path.units[: path.model.nv, None]
    basis, sizes, _ = np.linalg.svd(motions / scale, full_matrices=False)
    return scale * basis[:, sizes > DEPENDENT * sizes.max(initial=0.0)]


def soft_at(model: Model, q: np.ndarray, forces: np.ndarray, t: float, known: int) -> Soft:
    """The softest motions at an equilibrium, and its stability; ``known`` unstable ones are expected."""
    now, zero = np.asarray(t), np.zeros(model.nv)
    still = second_order_of(model, "follow").frozen_at(now)
    c = Coordinates(np.asarray(q), zero, zero, zero, now, forces if model.equations else None)
    count = known + SPARE
    while True:
        found = soft_motions(still, c, count)
        if np.sum(found.values < 0) < min(count, model.nv) or count > len(found.values):
            break
        count *= 2
    if np.any(found.values < -NEUTRAL):
        kind = Stability.DIVERGENCE
    elif found.symmetric:
        kind = Stability.NEUTRAL if np.any(found.values <= NEUTRAL) else Stability.STABLE
    else:
        kind = stability(model, q, t, forces if model.equations else None)
    return Soft(found.values, found.shapes, kind)
