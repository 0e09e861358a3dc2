"""Static equilibrium and collocation time stepping of the planar rod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from lagrange import Array, gauss_rule, lagrange
from planar_fem import BandedSystem, PlanarMesh


@dataclass
class Newton:
    """Newton's method for internal force(state) + outer(state) = 0.

    ``outer`` is linear in the state, its matrix is the mass part of ``system``.
    ``stress`` is the independent stress at the quadrature points.  The factors
    are kept, also from one solve to the next, as long as each iteration divides
    the increment by 20.
    """

    mesh: PlanarMesh
    system: BandedSystem
    stress: Array
    tolerance: float = 1e-11
    factors: tuple[Array, Array] | None = None
    iterations: int = 0

    def solve(self, state: Array, outer: Callable[[Array], Array], limit: int = 30) -> Array | None:
        """The solution near ``state``, or None when the iteration does not converge.

        Stops when the largest increment (x and y divided by L) is below the
        tolerance, or stagnates at rounding level.
        """
        mesh = self.mesh
        scale = np.array([mesh.rod.length, mesh.rod.length, 1.0])
        size = np.inf
        fresh = False
        for _ in range(limit):
            self.iterations += 1
            force, strains, jacobian = mesh.forces(state)
            if self.factors is None:
                self.factors = self.system.factor(mesh.tangent(strains, jacobian, self.stress))
                fresh = True
            increment = self.system.solve(self.factors, -(force + outer(state)))
            change = jacobian @ mesh.point_data(increment)[..., None]
            self.stress = mesh.stress(strains + change[..., 0])
            state = state + increment
            previous, size = size, float(np.max(np.abs(increment / scale)))
            if not np.isfinite(size) or size > 1e3:
                return None
            if size < self.tolerance or (size < 1e-9 and size > 0.3 * previous):
                return state
            if size > 0.05 * previous or (fresh and size > 1e-5):
                self.factors = None
        return None


def static_equilibrium(
    mesh: PlanarMesh, tip_force: tuple[float, float], tolerance: float = 1e-12
) -> Array:
    """Equilibrium under gravity and a dead tip force, by adaptive load steps."""
    system = BandedSystem(mesh, 1, np.zeros((1, 1)))
    load = mesh.body_force.copy()
    load[-1, :2] += tip_force
    state = mesh.straight()[None]
    stress = mesh.stress(mesh.strains(mesh.point_data(state)))
    done, step = 0.0, 0.02
    while done < 1.0:
        target = min(1.0, done + step)
        newton = Newton(mesh, system, stress, tolerance)
        share = target * load
        trial = newton.solve(state, lambda _, share=share: -share)  # type: ignore[misc]
        if trial is None:
            step /= 2
            if step < 1e-7:
                raise ArithmeticError("static solution not found")
            continue
        state, stress = trial, newton.stress
        done, step = target, 1.5 * step
    return state[0]


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
    inverse: Array = np.linalg.inv(method.twice).astype(float) / h**2
    stress = mesh.stress(mesh.strains(mesh.point_data(state)))
    stress = np.broadcast_to(stress, (stages, *stress.shape))
    newton = Newton(mesh, BandedSystem(mesh, stages, inverse), stress, tolerance)
    position, velocity = state, np.zeros_like(state)
    ahead, _ = lagrange(method.points, method.points + 1.0)
    acceleration = np.zeros((stages, *state.shape))
    tip = [position[-1].copy()]
    energies = [mesh.energy(position, velocity)]
    kinetic = 0.0
    c = method.points[:, None, None]
    for step in range(outputs * substeps):
        base = position + h * c * velocity
        guess = base + h**2 * np.tensordot(method.twice, acceleration, 1)

        def outer(stage: Array, base: Array = base) -> Array:
            needed = np.tensordot(inverse, stage - base, 1)
            return mesh.times_mass(needed) - mesh.body_force

        stage = newton.solve(guess, outer)
        if stage is None:  # once more, with factors of the guess
            newton.factors = None
            stage = newton.solve(guess, outer)
        if stage is None:
            raise ArithmeticError(f"Newton failed at t = {step * h:.6g}")
        acceleration = np.tensordot(inverse, stage - base, 1)
        position = position + h * velocity
        position = position + h**2 * np.tensordot(method.end_twice, acceleration, 1)
        velocity = velocity + h * np.tensordot(method.end_once, acceleration, 1)
        # guess for the next step: polynomial continuation
        acceleration = np.tensordot(ahead, acceleration, 1)
        newton.stress = np.broadcast_to(newton.stress[-1:], newton.stress.shape)
        if (step + 1) % substeps == 0:
            tip.append(position[-1].copy())
            energies.append(mesh.energy(position, velocity))
            kinetic = max(kinetic, 0.5 * float(np.sum(velocity * mesh.times_mass(velocity))))
    drift = float(np.max(np.abs(np.array(energies) - energies[0]))) / kinetic
    times = np.linspace(0.0, duration, outputs + 1)
    return PlanarRun(times, np.array(tip), drift, newton.iterations / (outputs * substeps))
