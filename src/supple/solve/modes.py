"""Small vibrations about an equilibrium."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # its parts load when they are used

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics_tangent import Tangent
from supple.numeric import is_traced
from supple.solve.softest import softest_motions
from supple.system.second_order import AbstractSecondOrder

LARGE = 200
"""Coordinates up to which dense eigenvalues are as fast."""
FEW = 8
"""The iteration finds at most this part of all modes; of more, it would keep too many vectors."""

SYMMETRIC = 1e-9
"""Difference of a stiffness from its transpose, over its largest entry, that is round-off."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Modes:
    """Vibration modes, lowest frequency first.

    ``frequencies`` (Hz) are those of the undamped robot, ``damping_ratios`` those of the damped one (in
    the modal sense), ``shapes`` (nv, count) the coordinates of each mode, of unit modal mass.
    A negative ``stiffness`` ω² (1/s²) marks an unstable direction (divergence or, under follower loads,
    flutter); its frequency is reported as 0.
    """

    frequencies: Any
    damping_ratios: Any
    shapes: Any
    stiffness: Any

    def __repr__(self) -> str:
        if is_traced(self.frequencies):
            return f"Modes({self.frequencies})"
        listed = ", ".join(f"{frequency:.4g}" for frequency in self.frequencies[:8])
        more = ", …" if len(self.frequencies) > 8 else ""
        return f"Modes({listed}{more} Hz{'' if self.stable else '; unstable'})"

    @property
    def stable(self) -> Any:
        """Whether no direction is unstable; of each member of a batch."""
        least, most = self.stiffness.min(axis=-1), abs(self.stiffness).max(axis=-1)
        found = least > -1e-9 * (jnp if is_traced(most) else np).maximum(1.0, most)
        return found if is_traced(found) or np.ndim(found) else bool(found)


@partial(jit, quick=True)
def _tangent(formulation, q, v, a, t, multipliers):  # type: ignore[no-untyped-def]
    formulation = formulation.with_active(formulation.active_at(q, t, multipliers))
    return tangent_of(formulation, Coordinates(q, 0.0 * v, v, a, t, multipliers))


def tangent_of(formulation: AbstractSecondOrder, c: Coordinates) -> Tangent:
    """M, C, K and J at a motion."""
    return formulation.tangent(c, formulation.balance(c))


def tangent_at(
    formulation: AbstractSecondOrder,
    q: np.ndarray,
    v: np.ndarray | None = None,
    t: float = 0.0,
    a: np.ndarray | None = None,
    multipliers: np.ndarray | None = None,
) -> Tangent:
    """M, C, K and J at a motion, as NumPy arrays."""
    n = formulation.nv
    v = np.zeros(n) if v is None else np.asarray(v)
    a = np.zeros(n) if a is None else np.asarray(a)
    forces = padded_forces(formulation, multipliers)
    found = _tangent(formulation, np.asarray(q), v, a, float(t), forces)
    return Tangent(*(np.asarray(part) for part in found))


def padded_forces(formulation: AbstractSecondOrder, multipliers: Any) -> Any:
    """Multipliers of all equations; zero where none are given, or not those of contacts, as in statics."""
    if formulation.equations == 0:
        return None
    backend: Any = jnp if is_traced(multipliers) else np
    forces = np.zeros(0) if multipliers is None else backend.asarray(multipliers)
    return backend.pad(forces, (0, formulation.equations - len(forces)))


def vibration_modes(
    formulation: AbstractSecondOrder,
    q: np.ndarray,
    count: int | None = None,
    t: float = 0.0,
    multipliers: np.ndarray | None = None,
) -> Modes:
    """Modes of small vibration about an equilibrium; with closed loops, those that keep them closed.

    A few of a large robot are found iteratively, with linear systems by its structure. All of them, those of
    small robots, and those of robots with states of controllers come from dense matrices.
    """
    first = formulation.first_order
    large = formulation.nv > LARGE and not np.any(first)
    if large and count is not None and count <= formulation.nv // FEW:
        found = _few_modes(formulation, q, count, t, multipliers)
        if found is not None:
            return found
    tangent = tangent_at_rest(formulation, q, t, multipliers)
    free = free_motions(tangent, np.asarray(formulation.coordinate_scale), first)
    free = free[:, ~np.any(free[first], axis=0)]  # states of controllers do not vibrate
    count = free.shape[1] if count is None else min(count, free.shape[1])
    mass = free.T @ (tangent.mass + tangent.mass.T) @ free / 2
    squares, shapes = _eigenmodes(free.T @ tangent.stiffness @ free, mass)
    squares, shapes = squares[:count], free @ shapes[:, :count]
    return _modes(squares, shapes, np.einsum("im,ij,jm->m", shapes, tangent.damping, shapes))


def _few_modes(
    formulation: AbstractSecondOrder,
    q: np.ndarray,
    count: int,
    t: float,
    multipliers: np.ndarray | None,
) -> Modes | None:
    """Found iteratively; None where that does not converge, far beyond buckling."""
    still = formulation.frozen_at(np.asarray(float(t)), of_velocities=True)
    zero, forces = np.zeros(formulation.nv), padded_forces(formulation, multipliers)
    c = Coordinates(np.asarray(q), zero, zero, zero, np.asarray(float(t)), forces)
    still = _held(still, c)
    found = softest_motions(still, c, count)
    if not found.converged:
        return None
    modal = np.asarray(_modal_damping(still, c, found.shapes))
    return _modes(found.values, found.shapes, modal)


@partial(jit, quick=True)
def _held(formulation, c):  # type: ignore[no-untyped-def]
    """With its one-sided equations as they are there."""
    return formulation.with_active(formulation.active_at(c.q, c.t, c.multipliers))


@partial(jit, quick=True)
def _modal_damping(formulation, c, shapes):  # type: ignore[no-untyped-def]
    """φᵀ C φ of each motion, without C."""

    def one(shape):  # type: ignore[no-untyped-def]
        def balance(xdot):  # type: ignore[no-untyped-def]
            return formulation.balance(c._replace(xdot=xdot)).residual

        return shape @ jax.jvp(balance, (c.xdot,), (shape,))[1]

    return jax.vmap(one)(shapes.T)


def _modes(squares: np.ndarray, shapes: np.ndarray, modal_damping: np.ndarray) -> Modes:
    speeds = np.sqrt(np.maximum(squares, 0.0))
    ratios = modal_damping / (2 * np.where(speeds > 0, speeds, np.inf))
    return Modes(speeds / (2 * np.pi), ratios, shapes, squares)


def free_motions(
    tangent: Tangent, scale: np.ndarray, first: np.ndarray | None = None
) -> np.ndarray:
    """(nv, nv - rank J) basis of the motions that keep loops closed, orthonormal in scaled coordinates.

    Coordinates without inertia (``first``), which no equation moves, come last, each by itself.
    """
    if tangent.jacobian.shape[0] == 0:
        return np.eye(len(scale))
    moving = np.ones(len(scale), dtype=bool) if first is None else ~first
    null = scipy.linalg.null_space(tangent.jacobian[:, moving] * scale[moving], rcond=1e-10)
    alone = np.eye(len(scale))[:, ~moving]
    basis = np.zeros((len(scale), null.shape[1]))
    basis[moving] = scale[moving, None] * null
    return np.concatenate([basis, alone], axis=1)


def _eigenmodes(stiffness: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues ω² and shapes of unit modal mass, lowest first.

    Follower loads make the stiffness unsymmetric. A complex pair of ω² is flutter; it is returned as
    negative, like the other way of being unstable.
    """
    if np.allclose(stiffness, stiffness.T, rtol=0, atol=SYMMETRIC * np.abs(stiffness).max()):
        squares, shapes = scipy.linalg.eigh((stiffness + stiffness.T) / 2, mass)
        return squares, shapes
    found, vectors = scipy.linalg.eig(stiffness, mass)
    flutter = np.abs(found.imag) > 1e-7 * np.abs(found)
    squares = np.where(flutter, -np.abs(found), found.real)
    order = np.argsort(squares)
    shapes = vectors[:, order].real
    modal = np.einsum("im,ij,jm->m", shapes, mass, shapes)
    return squares[order], shapes / np.sqrt(np.maximum(modal, 1e-300))


def tangent_at_rest(
    formulation: AbstractSecondOrder, q: np.ndarray, t: float, multipliers: np.ndarray | None
) -> Tangent:
    """M, C, K and J of a robot that nothing drives at time t; contacts keep their equations."""
    still = formulation.frozen_at(np.asarray(float(t)), of_velocities=True)
    return tangent_at(still, q, t=t, multipliers=multipliers)
