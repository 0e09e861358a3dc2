"""The softest motions of a robot of any size: its lowest vibration modes, and whether it rests stably.

With B the mass matrix, or another measure of how large a motion is, K φ = λ B φ is solved on the motions
that keep all equations, by inverse iteration on a block of vectors, of which all are kept (block Lanczos;
Arnoldi where K is not symmetric). Each iteration is one solve with the factors of K - σ B, whose cost is
that of the robot's structure. The shift σ lies below what is looked for, so that the robot may float.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # its parts load when they are used

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.system.combination import Combination, at_rest
from supple.system.linear import DenseSystem
from supple.system.second_order import AbstractSecondOrder

SPARE = 4
"""Vectors of a block beyond those that are looked for: motions of one eigenvalue come together."""
LARGEST = 400
"""Vectors that are kept at most."""
TOL = 1e-11
"""Residual of an eigenpair of (K - σ B)⁻¹ B, over its eigenvalue."""
NEARLY = 1e-7
"""The same for stability: eigenvalues are exact to its square where there is a potential."""
DEPENDENT = 1e-8
"""Norm of a vector, over that before the others were taken out of it, that tells nothing new."""
SYMMETRIC = 1e-7
"""Unsymmetric part of a projected matrix that is round-off."""
NEAREST = 1e-12
"""Of a shift to zero, over the stiffest: floating robots have motions with λ = 0."""
MASS_SHARE = 1e-3
"""Of mass beside elastic stiffness in the measure for stability; joints without a spring need some."""


class Softest(NamedTuple):
    """Eigenvalues λ, lowest first, and motions φ (n, count) with φᵀ B φ = 1.

    Pairs of complex eigenvalues, which follower loads may bring, are given by -|λ|, since flutter is
    unstable; beside elastic stiffness, where they mean nothing, by their real part.
    """

    values: np.ndarray
    shapes: np.ndarray
    converged: bool
    symmetric: bool = True
    """Whether a potential is behind the stiffness, as far as was seen."""


class _Problem(NamedTuple):
    """(K - σ B)⁻¹ on motions that keep the equations, and B."""

    factors: Any
    measure: Any


@partial(jit, quick=True, static_argnames=("elastic",))
def _problem(formulation, c, shift, ratio, elastic):  # type: ignore[no-untyped-def]
    # B is the mass, or elastic stiffness with some mass, scaled to be comparable by ``ratio``.
    if elastic:
        left = at_rest(mass=-shift * MASS_SHARE * ratio, elastic=-shift)
        measure = Combination(MASS_SHARE * ratio, 0.0, 0.0, elastic=1.0)
    else:
        left, measure = at_rest(mass=-shift), Combination(1.0, 0.0, 0.0)
    work = formulation.balance(c)
    systems = formulation.linearize(c, work, (left, measure))
    return _Problem(systems[0].factorize(), systems[1])


@partial(jit, quick=True, static_argnames=("equations",))
def _inverse(problem, loads, equations):  # type: ignore[no-untyped-def]
    def one(load):  # type: ignore[no-untyped-def]
        return problem.factors.solve(jnp.pad(load, (0, equations)))[: load.shape[0]]

    return jax.vmap(one)(loads.T).T


@partial(jit, quick=True)
def _measured(problem, motions):  # type: ignore[no-untyped-def]
    def one(motion):  # type: ignore[no-untyped-def]
        padded = jnp.pad(motion, (0, problem.measure.size - motion.shape[0]))
        return problem.measure.apply(padded)[: motion.shape[0]]

    return jax.vmap(one)(motions.T).T


@partial(jit, quick=True)
def _ratio(formulation, c):  # type: ignore[no-untyped-def]
    return formulation.stiffness_over_mass(c.q, c.t)


def _inverse_of(problem: _Problem, equations: int, loads: np.ndarray) -> np.ndarray:
    return np.asarray(_inverse(problem, loads, equations))


def _measure_of(problem: _Problem, motions: np.ndarray) -> np.ndarray:
    return np.asarray(_measured(problem, motions))


def softest_motions(
    formulation: AbstractSecondOrder,
    c: Coordinates,
    count: int,
    *,
    elastic: bool = False,
    tolerance: float = TOL,
) -> Softest:
    """The ``count`` lowest eigenvalues of K φ = λ B φ at a configuration at rest, with their motions.

    B is the mass matrix, and λ = ω²; or (``elastic``) the elastic stiffness of the unloaded robot and some
    mass, in which stable robots without loads have λ near 1 and loads move a few λ down.
    """
    ratio = float(_ratio(formulation, c))
    n, m = formulation.nv, formulation.equations
    size = 1.0 if elastic else ratio
    shift, found = -1e-3 * size, None
    for _ in range(12):
        problem = _problem(formulation, c, shift, ratio, elastic)
        inverse, measured = partial(_inverse_of, problem, m), partial(_measure_of, problem)
        found, below = _lowest(
            inverse, measured, n, count, shift, flutters=not elastic, tolerance=tolerance
        )
        wanted = np.abs(found.values[:count]).max(initial=0.0)
        if below < shift:  # the shift is not below all of them
            shift = 3 * below
        elif wanted < 1e-2 * -shift and shift < -NEAREST * size:
            shift = -max(0.3 * wanted, 1e-3 * -shift)
        else:
            break
    assert found is not None
    return found


def soft_motions(formulation: AbstractSecondOrder, c: Coordinates, count: int) -> Softest:
    """The lowest eigenvalues beside the elastic stiffness, at least ``count`` of them, and their motions.

    From dense matrices where linear systems are dense, else by iteration.
    """
    ratio = float(_ratio(formulation, c))
    dense = _dense_systems(formulation, c, ratio)
    if dense is None:
        few = min(count, formulation.nv)
        return softest_motions(formulation, c, few, elastic=True, tolerance=NEARLY)
    whole, measure = (np.asarray(matrix) for matrix in dense)
    scale = np.asarray(formulation.coordinate_scale)
    n = len(scale)
    free = np.diag(scale)
    rows = whole[n:, :n][np.diag(whole)[n:] == 0]
    if len(rows):
        free = scale[:, None] * scipy.linalg.null_space(rows * scale, rcond=1e-10)
    if free.shape[1] == 0 or not np.all(np.isfinite(whole)):
        return Softest(np.zeros(0), np.zeros((n, 0)), free.shape[1] == 0)
    stiffness, size = (free.T @ part[:n, :n] @ free for part in (whole, measure))
    size = (size + size.T) / 2
    size += NEAREST * np.diag(size).max() * np.eye(len(size))
    units = 1 / np.sqrt(np.diag(size))  # stiff and soft strains alike, so that no digits are lost
    stiffness, size, free = (
        stiffness * np.outer(units, units),
        size * np.outer(units, units),
        free * units,
    )
    biggest = np.abs(stiffness).max(initial=1e-300)
    if np.abs(stiffness - stiffness.T).max(initial=0.0) <= SYMMETRIC * biggest:
        values, parts = scipy.linalg.eigh((stiffness + stiffness.T) / 2, size)
        return Softest(values, free @ parts, True)
    found, parts = scipy.linalg.eig(stiffness, size)
    order = np.argsort(found.real)
    parts = parts.real[:, order]
    lengths = np.sqrt(np.sum(parts * (size @ parts), axis=0))
    return Softest(found.real[order], free @ (parts / lengths), True, symmetric=False)


@partial(jit, quick=True)
def _dense_systems(formulation, c, ratio):  # type: ignore[no-untyped-def]
    # K with the equations, and the measure, as matrices; None where they are structured.
    measure = Combination(MASS_SHARE * ratio, 0.0, 0.0, elastic=1.0)
    systems = formulation.linearize(c, formulation.balance(c), (at_rest(), measure))
    dense = isinstance(systems[0], DenseSystem)
    return [system.matrix for system in systems] if dense else None


def unstable_motions(formulation: AbstractSecondOrder, c: Coordinates, at_most: int = 8) -> int:
    """Negative eigenvalues of the stiffness on the motions that keep all equations, up to ``at_most``.

    That is how many motions leave an equilibrium by themselves. Flutter is not among them: what follower
    loads bring to swing is for :func:`softest_motions` to tell.
    """
    found = softest_motions(formulation, c, min(at_most, formulation.nv), elastic=True)
    return int(np.sum(found.values < -1e-9))


Linear = Callable[[np.ndarray], np.ndarray]


def _lowest(
    inverse: Linear,
    measured: Linear,
    n: int,
    count: int,
    shift: float,
    *,
    flutters: bool,
    tolerance: float,
) -> tuple[Softest, float]:
    """Lowest eigenvalues above a shift, and the lowest below it (or the shift)."""
    block = np.random.default_rng(0).normal(size=(n, min(count + SPARE, n)))
    kept, images = np.zeros((n, 0)), np.zeros((n, 0))  # V and B V
    passed = np.zeros((n, 0))  # (K - σ B)⁻¹ B V
    block = inverse(measured(block))  # keeps all equations
    values, below, converged = np.zeros(0), shift, False
    while True:
        block = _new(block, kept, images, measured)
        if block.shape[1] == 0:
            converged = True
            break
        kept, images = np.hstack([kept, block]), np.hstack([images, measured(block)])
        passed = np.hstack([passed, inverse(images[:, -block.shape[1] :])])
        theta, parts = _eigen(images.T @ passed)
        values = _unshifted(theta, shift, flutters)
        order = np.argsort(-np.where(theta.real > 0, theta.real, -np.inf))[:count]
        left = passed @ parts[:, order] - (kept @ parts[:, order]) * theta[order]
        size = np.abs(np.sqrt(np.maximum(np.sum(left.conj() * _pairs(measured, left), 0).real, 0)))
        negative = (theta.real < -1e-6 * np.abs(theta).max()) & (values < shift)
        below = min(shift, float(values[negative].min())) if np.any(negative) else shift
        if below < shift and kept.shape[1] > 4 * block.shape[1]:
            break
        if len(order) == count and np.all(size <= tolerance * np.abs(theta[order])):
            converged = True
            break
        if kept.shape[1] + block.shape[1] > LARGEST + 2 * count:
            break
        block = passed[:, -block.shape[1] :]
    theta, parts = _eigen(images.T @ passed)
    order = np.argsort(-np.where(theta.real > 0, theta.real, -np.inf))[:count]
    # One more iteration: motions without mass, of which B knows nothing, follow the others.
    shapes = np.real(passed @ (parts[:, order] / theta[order]))
    values = _unshifted(theta[order], shift, flutters)
    sizes = np.sqrt(np.abs(np.sum(shapes * measured(shapes), axis=0)))
    order = np.argsort(values, kind="stable")
    shapes = (shapes / np.where(sizes > 0, sizes, 1.0))[:, order]
    return Softest(values[order], shapes, converged), below


def _pairs(measured: Linear, vectors: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(vectors):
        return measured(vectors.real) + 1j * measured(vectors.imag)
    return measured(vectors)


def _eigen(projected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = np.abs(projected).max(initial=1e-300)
    if np.abs(projected - projected.T).max(initial=0.0) <= SYMMETRIC * size:
        return scipy.linalg.eigh((projected + projected.T) / 2)
    return scipy.linalg.eig(projected)


def _unshifted(theta: np.ndarray, shift: float, flutters: bool) -> np.ndarray:
    """λ of θ = 1 / (λ - σ)."""
    found = shift + 1 / np.where(theta == 0, 1e-300, theta)
    pairs = np.abs(np.imag(found)) > 1e-7 * np.abs(found)
    return np.where(pairs & flutters, -np.abs(found), np.real(found))


def _new(block: np.ndarray, kept: np.ndarray, images: np.ndarray, measured: Linear) -> np.ndarray:
    """What is new in a block, orthonormal in B."""
    size = np.sqrt(np.maximum(np.sum(block * measured(block), axis=0), 0.0))
    block = block[:, size > 0] / size[size > 0]
    for _ in range(2):
        block = block - kept @ (images.T @ block)
        gram = block.T @ measured(block)
        squares, turned = np.linalg.eigh((gram + gram.T) / 2)
        fresh = squares > DEPENDENT**2
        block = block @ (turned[:, fresh] / np.sqrt(squares[fresh]))
    return block
