"""Small vibrations and linear models about a state."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg

from supple.compile import jit
from supple.errors import StateError
from supple.mechanics.inverse_dynamics_tangent import Tangent, inverse_dynamics_tangent
from supple.mechanics.local import Coordinates
from supple.model.model import Model


@dataclass(frozen=True)
class Modes:
    """Vibration modes, lowest frequency first.

    ``frequencies`` (Hz) are those of the undamped robot, ``damping_ratios`` those of the damped one (in
    the modal sense), ``shapes`` (nv, count) the coordinates of each mode, of unit modal mass.
    A negative ``stiffness`` ω² (1/s²) marks an unstable direction (divergence or, under follower loads,
    flutter); its frequency is reported as 0.
    """

    frequencies: np.ndarray
    damping_ratios: np.ndarray
    shapes: np.ndarray
    stiffness: np.ndarray

    @property
    def stable(self) -> bool:
        """Whether no direction is unstable."""
        floor = -1e-9 * max(1.0, float(np.abs(self.stiffness).max()))
        return bool(np.all(self.stiffness > floor))


@dataclass(frozen=True)
class LinearModel:
    """ẏ = A y + B u about a state, with y = (δx, δv) and u the factors of the loads by name.

    δx are local coordinates around q, so orientations need no quaternions here.
    """

    A: np.ndarray
    B: np.ndarray
    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    eigenvalues: np.ndarray


@partial(jit, quick=True)
def _tangent(model, q, v, a, t, multipliers):  # type: ignore[no-untyped-def]
    zero = 0.0 * v
    return inverse_dynamics_tangent(model, Coordinates(q, zero, v, a, t, multipliers))


def tangent_at(
    model: Model,
    q: np.ndarray,
    v: np.ndarray | None = None,
    t: float = 0.0,
    a: np.ndarray | None = None,
    multipliers: np.ndarray | None = None,
) -> Tangent:
    """M, C, K and J at a motion, as NumPy arrays."""
    if np.shape(q) != (model.nq,):
        raise StateError(f"q: got shape {np.shape(q)}; need ({model.nq},) for {model.name!r}")
    v = np.zeros(model.nv) if v is None else np.asarray(v)
    a = np.zeros(model.nv) if a is None else np.asarray(a)
    if model.equations and multipliers is None:
        multipliers = np.zeros(model.equations)
    elif model.equations:
        # Contacts carry no force in statics, which knows nothing of them.
        multipliers = np.pad(multipliers, (0, model.equations - len(multipliers)))
    found = _tangent(model, np.asarray(q), v, a, float(t), multipliers if model.equations else None)
    return Tangent(*(np.asarray(part) for part in found))


def vibration_modes(
    model: Model,
    q: np.ndarray,
    count: int | None = None,
    t: float = 0.0,
    multipliers: np.ndarray | None = None,
) -> Modes:
    """Modes of small vibration about an equilibrium; with closed loops, those that keep them closed."""
    tangent = tangent_at(model, q, t=t, multipliers=multipliers)
    free = free_motions(tangent, np.asarray(model.scale))
    count = free.shape[1] if count is None else min(count, free.shape[1])
    mass = free.T @ (tangent.mass + tangent.mass.T) @ free / 2
    squares, shapes = _eigenmodes(free.T @ tangent.stiffness @ free, mass)
    squares, shapes = squares[:count], free @ shapes[:, :count]
    speeds = np.sqrt(np.maximum(squares, 0.0))
    modal = np.einsum("im,ij,jm->m", shapes, tangent.damping, shapes)
    ratios = modal / (2 * np.where(speeds > 0, speeds, np.inf))
    return Modes(speeds / (2 * np.pi), ratios, shapes, squares)


def free_motions(tangent: Tangent, scale: np.ndarray) -> np.ndarray:
    """(nv, nv - rank J) basis of the motions that keep loops closed, orthonormal in scaled coordinates."""
    if tangent.jacobian.shape[0] == 0:
        return np.eye(len(scale))
    return scale[:, None] * scipy.linalg.null_space(tangent.jacobian * scale, rcond=1e-10)


def _eigenmodes(stiffness: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues ω² and shapes of unit modal mass, lowest first.

    Follower loads make the stiffness unsymmetric. A complex pair of ω² is flutter; it is returned as
    negative, like the other way of being unstable.
    """
    if np.allclose(stiffness, stiffness.T, rtol=0, atol=1e-9 * np.abs(stiffness).max()):
        squares, shapes = scipy.linalg.eigh((stiffness + stiffness.T) / 2, mass)
        return squares, shapes
    found, vectors = scipy.linalg.eig(stiffness, mass)
    flutter = np.abs(found.imag) > 1e-7 * np.abs(found)
    squares = np.where(flutter, -np.abs(found), found.real)
    order = np.argsort(squares)
    shapes = vectors[:, order].real
    modal = np.einsum("im,ij,jm->m", shapes, mass, shapes)
    return squares[order], shapes / np.sqrt(np.maximum(modal, 1e-300))


def linear_model(
    model: Model, q: np.ndarray, v: np.ndarray | None = None, t: float = 0.0
) -> LinearModel:
    """State-space matrices about a state (usually an equilibrium, v = 0)."""
    if model.equations:
        raise StateError(f"{model.name}: linear models need a tree; this robot has closed loops")
    still = tangent_at(model, q, v, t)
    n = model.nv
    inverse = np.linalg.inv(still.mass)
    # Away from equilibrium the inertia forces M(q) a vary with q as well.
    tangent = tangent_at(model, q, v, t, a=-inverse @ still.residual)
    top = np.concatenate([np.zeros((n, n)), np.eye(n)], axis=1)
    bottom = np.concatenate([-inverse @ tangent.stiffness, -inverse @ tangent.damping], axis=1)
    A = np.concatenate([top, bottom])
    forces = _load_directions(model, q, t)
    B = np.concatenate([np.zeros_like(forces), inverse @ forces])
    return LinearModel(A, B, tangent.mass, tangent.damping, tangent.stiffness, np.linalg.eigvals(A))


def _load_directions(model: Model, q: np.ndarray, t: float) -> np.ndarray:
    """Generalised force of each point load at its present value: (nv, number of loads)."""
    import dataclasses

    bare = dataclasses.replace(model, loads=())
    base = tangent_at(bare, q, t=t).residual
    columns = [
        base - tangent_at(dataclasses.replace(model, loads=(load,)), q, t=t).residual
        for load in model.loads
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((model.nv, 0))
