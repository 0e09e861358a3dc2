"""Static equilibrium and collocation time stepping of the planar rod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from lagrange import Array, gauss_rule, lagrange
from planar_fem import BandedSystem, PlanarMesh


def static_equilibrium(
    mesh: PlanarMesh, tip_force: tuple[float, float], tolerance: float = 1e-12
) -> Array:
    """Equilibrium under gravity and a dead tip force, by adaptive load steps."""
    system = BandedSystem(mesh, 1, np.zeros((1, 1)))
    load = mesh.body_force.copy()
    load[-1, :2] += tip_force
    state, stress = mesh.straight()[None], None
    done, step = 0.0, 0.02
    while done < 1.0:
        target = min(1.0, done + step)
        trial = newton(mesh, system, state, stress, lambda q, r=target: -r * load, tolerance)
        if trial is None:
            step /= 2
            if step < 1e-7:
                raise ArithmeticError("static solution not found")
            continue
        state, stress, _ = trial
        done, step = target, 1.5 * step
    return state[0]


def newton(
    mesh: PlanarMesh,
    system: BandedSystem,
    state: Array,
    stress: Array | None,
    outer: Callable[[Array], Array],
    tolerance: float,
    limit: int = 25,
) -> tuple[Array, Array, int] | None:
    """Solve internal force(state) + outer(state) = 0, ``outer`` linear in state.

    Stops when the largest increment is below ``tolerance`` (times L for x, y)
    or stagnates at rounding level.  Returns None when it does not converge.
    """
    scale = np.array([mesh.rod.length, mesh.rod.length, 1.0])
    size, ratio = np.inf, np.inf
    factored = None
    for iteration in range(1, limit + 1):
        force, tangent, jacobian, material = mesh.forces_and_tangent(state, stress)
        if factored is None or size > 1e-5 or ratio > 0.05:  # else: keep the factors
            factored = system.factor(tangent)
        increment = system.solve(factored, -(force + outer(state)))
        change = mesh.gradient_of(increment)
        stress = material + mesh.stress(np.einsum("...ac,...c->...a", jacobian, change))
        state = state + increment
        previous, size = size, float(np.max(np.abs(increment / scale)))
        ratio = size / previous
        if not np.isfinite(size) or size > 1e3:
            return None
        if size < tolerance or (size < 1e-9 and ratio > 0.3):
            return state, stress, iteration
    return None


@dataclass(frozen=True)
class Collocation:
    """Coefficients of a collocation method for second-order equations."""

    points: Array
    once: Array  # a: stage velocities from stage accelerations
    twice: Array  # a @ a: stage positions
    end_once: Array  # b
    end_twice: Array  # b @ a

    @staticmethod
    def make(kind: str, stages: int) -> Collocation:
        """``kind`` is "gauss" or "radau" (Radau IIA)."""
        if kind == "gauss":
            points, _ = gauss_rule(stages)
        elif kind == "radau":
            basis = np.polynomial.Legendre
            roots = (basis.basis(stages) - basis.basis(stages - 1)).roots()
            points = 0.5 * (np.sort(roots.real) + 1.0)
            points[-1] = 1.0
        else:
            raise ValueError(kind)
        nodes, weights = gauss_rule(stages + 1)

        def integrals(upper: float) -> Array:
            values, _ = lagrange(points, upper * nodes)
            return upper * weights @ values

        once = np.stack([integrals(float(c)) for c in points])
        end = integrals(1.0)
        return Collocation(points, once, once @ once, end, end @ once)


@dataclass(frozen=True)
class PlanarRun:
    """Tip history and diagnostics of one time integration."""

    times: Array
    tip: Array
    energy_drift: float  # largest |E - E(0)| at output instants / kinetic energy scale
    iterations: float  # Newton iterations per step


def integrate(
    mesh: PlanarMesh,
    state: Array,
    duration: float,
    outputs: int,
    substeps: int,
    method: Collocation,
    tolerance: float = 1e-11,
) -> PlanarRun:
    """From rest at ``state``: ``outputs`` intervals of ``substeps`` steps each."""
    stages = len(method.points)
    h = duration / (outputs * substeps)
    inverse = np.linalg.inv(method.twice) / h**2
    system = BandedSystem(mesh, stages, inverse)
    position, velocity = state, np.zeros_like(state)
    ahead, _ = lagrange(method.points, method.points + 1.0)
    acceleration = np.zeros((stages, *state.shape))
    stress = mesh.stress(mesh.strains(mesh.point_data(state)))
    stress = np.broadcast_to(stress, (stages, *stress.shape))
    tip = [position[-1].copy()]
    energies = [mesh.energy(position, velocity)]
    kinetic, iterations = 0.0, 0
    c = method.points[:, None, None]
    for step in range(outputs * substeps):
        base = position + h * c * velocity
        guess = base + h**2 * np.einsum("ij,jnd->ind", method.twice, acceleration)

        def outer(stage: Array, base: Array = base) -> Array:
            needed = np.einsum("ij,jnd->ind", inverse, stage - base)
            return mesh.times_mass(needed) - mesh.body_force

        solved = newton(mesh, system, guess, stress, outer, tolerance)
        if solved is None:
            raise ArithmeticError(f"Newton failed at t = {step * h:.6g}")
        stage, stress, count = solved
        stress = np.broadcast_to(stress[-1:], stress.shape)
        iterations += count
        acceleration = np.einsum("ij,jnd->ind", inverse, stage - base)
        position = position + h * velocity
        position = position + h**2 * np.einsum("j,jnd->nd", method.end_twice, acceleration)
        velocity = velocity + h * np.einsum("j,jnd->nd", method.end_once, acceleration)
        # guess for the next step: polynomial continuation
        acceleration = np.einsum("ij,jnd->ind", ahead, acceleration)
        if (step + 1) % substeps == 0:
            tip.append(position[-1].copy())
            energies.append(mesh.energy(position, velocity))
            kinetic = max(kinetic, 0.5 * float(np.sum(velocity * mesh.times_mass(velocity))))
    drift = float(np.max(np.abs(np.array(energies) - energies[0]))) / kinetic
    times = np.linspace(0.0, duration, outputs + 1)
    return PlanarRun(times, np.array(tip), drift, iterations / (outputs * substeps))
