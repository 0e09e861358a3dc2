"""Whether an equilibrium is stable, and how it is left where it is not.

At rest under loads with a potential the stiffness on the motions that keep loops closed is symmetric, and
its negative eigenvalues count the ways down. Scaling it to a unit diagonal keeps their signs and takes the
spread of stiffnesses out of the question of what is zero. Where loads follow the robot it is unsymmetric,
and the damped vibrations tell: one that grows without swinging is divergence, one that swings is flutter.
"""

import enum
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import scipy  # its parts load when they are used

from supple.mechanics.element_motion import Coordinates
from supple.model.model import Model
from supple.numeric import is_traced
from supple.robot.formulations import second_order_of
from supple.solve.equilibrium import EquilibriumSolution
from supple.solve.modes import free_motions, tangent_at
from supple.solve.softest import unstable_motions
from supple.system.dense import DenseFactors
from supple.system.strain import Strain

LARGEST_DENSE = 500
"""Coordinates up to which all motions are looked at."""
ZERO = 1e-8
"""Eigenvalue of a stiffness of unit diagonal below which a motion needs no force."""
CLEAR = 0.05
"""One beyond which a tangent from near the equilibrium is good enough to tell its sign."""
SYMMETRIC = 1e-7
"""Asymmetry of a stiffness, over its largest entry, that round-off explains."""
GROWS = 1e-6
"""Growth rate over speed of a vibration that is taken for growing."""


class Stability(enum.IntEnum):
    """What happens after a small push."""

    STABLE = 0
    NEUTRAL = 1
    DIVERGENCE = 2
    FLUTTER = 3

    @property
    def message(self) -> str:
        """One sentence for people."""
        return {
            Stability.STABLE: "stable",
            Stability.NEUTRAL: "neutral: some motion needs no force",
            Stability.DIVERGENCE: "unstable: it goes away without swinging",
            Stability.FLUTTER: "unstable: it swings more and more",
        }[self]

    @property
    def stable(self) -> bool:
        """Whether it does not go away."""
        return self in (Stability.STABLE, Stability.NEUTRAL)


class Softest(NamedTuple):
    """Smallest eigenvalue of the scaled stiffness, how many are negative, and its motion (nv,)."""

    value: float
    unstable: int
    motion: np.ndarray


def stability(model: Model, q: np.ndarray, t: float, multipliers: np.ndarray | None) -> Stability:
    """Stability of an equilibrium, from its exact tangent; of many coordinates, from its softest motions.

    These know divergence alone.
    """
    second_order_of(model, "stability")
    if model.nv > LARGEST_DENSE:
        zero, forces = np.zeros(model.nv), np.asarray(multipliers) if model.equations else None
        c = Coordinates(np.asarray(q), zero, zero, zero, np.asarray(float(t)), forces)
        still = Strain(model).frozen_at(np.asarray(float(t)))
        return Stability.DIVERGENCE if unstable_motions(still, c, 2) else Stability.STABLE
    tangent = _tangent(model, q, t, multipliers)
    scale = np.asarray(model.scale)
    free = free_motions(tangent, scale, Strain(model).first_order)
    parts = [free.T @ part @ free for part in (tangent.mass, tangent.damping, tangent.stiffness)]
    if _symmetric(parts[2]):
        value = _lowest(parts[2])[0]
        if value < -ZERO:
            return Stability.DIVERGENCE
        return Stability.STABLE if value > ZERO else Stability.NEUTRAL
    n = len(parts[0])
    size = np.sqrt(np.abs(parts[2]).max() / max(np.abs(parts[0]).max(), 1e-300))
    left = np.block([[np.zeros((n, n)), np.eye(n)], [-parts[2] / size**2, -parts[1] / size]])
    right = scipy.linalg.block_diag(np.eye(n), parts[0])
    values = scipy.linalg.eigvals(left, right)
    values = values[np.isfinite(values)]
    growing = values[values.real > GROWS * np.maximum(np.abs(values), 1e-9)]
    if len(growing) == 0:
        return Stability.STABLE
    swings = np.abs(growing.imag) > 1e-6 * np.abs(growing)
    return Stability.DIVERGENCE if np.any(~swings) else Stability.FLUTTER


def way_down(
    model: Model, found: EquilibriumSolution, t: float, multipliers: np.ndarray | None
) -> Softest | None:
    """The softest motion of an unstable equilibrium under loads with a potential; None of others.

    Looked at first in the matrix that the solve ended with, which costs nothing; the exact one is made where
    that cannot tell. Only where a robot is small enough for one dense matrix.
    """
    factors = found.factors
    if not isinstance(factors, DenseFactors) or model.regulators:
        return None
    scale = np.asarray(model.scale)
    softest = _softest(scale, _matrix(factors))
    if softest is None or softest.value > CLEAR:
        return None
    return unstable_motion(scale, rest_matrix(_tangent(model, np.asarray(found.q), t, multipliers)))


def unstable_motion(scale: np.ndarray, matrix: np.ndarray) -> Softest | None:
    """The softest motion by which an equilibrium is left; ``scale`` is that of its coordinates.

    None where it is stable, or where the exact matrix has no potential behind it.
    """
    softest = _softest(scale, matrix)
    return softest if softest is not None and softest.value < -ZERO else None


def rest_matrix(tangent: Any) -> Any:
    """Derivative of the balance at rest, and of the equations, by coordinates and multipliers."""
    backend: Any = jnp if is_traced(tangent) else np
    return backend.block(
        [
            [tangent.stiffness, tangent.force_jacobian.T],
            [tangent.jacobian, backend.diag(tangent.compliance)],
        ]
    )


def _tangent(model: Model, q: np.ndarray, t: float, multipliers: np.ndarray | None) -> Any:
    still = Strain(model).frozen_at(np.asarray(float(t)))
    return tangent_at(still, np.asarray(q), t=float(t), multipliers=multipliers)


def _matrix(factors: DenseFactors) -> np.ndarray:
    """The matrix that was factorized."""
    both, rows = np.asarray(factors.factors.lu), np.asarray(factors.factors.permutation)
    lower = np.tril(both, -1) + np.eye(len(both))
    matrix = np.empty_like(both)
    matrix[rows] = lower @ np.triu(both)
    return matrix


def _softest(scale: np.ndarray, matrix: np.ndarray) -> Softest | None:
    """From the matrix of the balance and the equations; None where no potential says so."""
    n = len(scale)
    stiffness, jacobian, own = matrix[:n, :n], matrix[n:, :n], np.diag(matrix[n:, n:])
    if not np.all(np.isfinite(matrix)):
        return None
    held = jacobian[own == 0]
    free = np.diag(scale)
    if len(held):
        free = scale[:, None] * scipy.linalg.null_space(held * scale, rcond=1e-10)
    reduced = free.T @ stiffness @ free
    if reduced.size == 0 or not _symmetric(reduced):
        return None
    value, count, motion = _lowest(reduced)
    motion = free @ motion
    return Softest(value, count, motion / np.abs(motion / scale).max())


def _symmetric(matrix: np.ndarray) -> bool:
    return bool(np.abs(matrix - matrix.T).max() <= SYMMETRIC * np.abs(matrix).max())


def _lowest(matrix: np.ndarray) -> tuple[float, int, np.ndarray]:
    """Smallest eigenvalue of a symmetric matrix scaled to a unit diagonal, negative ones, and its motion."""
    diagonal = np.abs(np.diag(matrix))
    units = 1 / np.sqrt(np.maximum(diagonal, 1e-14 * max(diagonal.max(), 1e-300)))
    values, motions = np.linalg.eigh((matrix + matrix.T) / 2 * np.outer(units, units))
    return float(values[0]), int(np.sum(values < -ZERO)), units * motions[:, 0]
