"""Spatial geometrically exact (Simo-Reissner) free rod, absolute coordinates.

Spectral elements: nodal positions and unit quaternions on Gauss-Lobatto nodes.
Quaternions are interpolated linearly in the shape functions and normalized at
the quadrature points, which is exactly frame-indifferent because a rigid
rotation acts linearly on them.  With section-to-space rotation R(q),

    force strain   gamma = R^T r' - e1
    curvature      kappa = 2 vec(conj(q) q') / |q|^2

and strain energy (gamma . C_gamma gamma + kappa . C_kappa kappa) / 2 per length,
integrated with p Gauss points per element of degree p.  Inertia is integrated
on the nodes themselves, so the mass matrix is diagonal: each node obeys

    m v' = f,    J w' + w x J w = moment        (w: angular velocity, body frame)

and f, moment come from the gradient of the discrete energy, which the
semi-discrete system therefore conserves exactly.  Time integration is the
explicit Dormand-Prince 8(5,3) pair with tight tolerances, restarted at the
kinks of the load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from lagrange import Array, gauss_rule, lagrange, lobatto_rule
from scipy.integrate import DOP853

jax.config.update("jax_enable_x64", True)


@dataclass(frozen=True)
class SpatialRod:
    """Free rod of length ``length``: stiffness, inertia per length (section frame)."""

    length: float
    force_stiffness: tuple[float, float, float]  # EA, GA, GA
    moment_stiffness: tuple[float, float, float]  # GJ, EI, EI
    mass: float  # rho A
    inertia: tuple[float, float, float]

    @staticmethod
    def circular(
        length: float, density: float, young: float, diameter: float, poisson: float = 0.3
    ) -> SpatialRod:
        """Solid circular section, shear factor 1."""
        area = np.pi * diameter**2 / 4
        second = np.pi * diameter**4 / 64
        shear = young / (2 * (1 + poisson))
        return SpatialRod(
            length,
            (young * area, shear * area, shear * area),
            (2 * shear * second, young * second, young * second),
            density * area,
            (2 * density * second, density * second, density * second),
        )


@dataclass(frozen=True)
class EndLoad:
    """Dead force and moment at s = 0, both along fixed directions times T(t)."""

    force: tuple[float, float, float]
    moment: tuple[float, float, float]
    peak: float
    kinks: tuple[float, float]  # instants of the peak and of the end

    def amplitude(self, time: float) -> float:
        """The triangular T(t)."""
        top, end = self.kinks
        return float(np.interp(time, [0.0, top, end], [0.0, self.peak, 0.0]))


def _multiply(a: jax.Array, b: jax.Array) -> jax.Array:
    """Quaternion product, scalar part first."""
    scalar = a[..., :1] * b[..., :1] - jnp.sum(a[..., 1:] * b[..., 1:], -1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + jnp.cross(a[..., 1:], b[..., 1:])
    return jnp.concatenate([scalar, vector], -1)


def _into_body(q: jax.Array, vector: jax.Array) -> jax.Array:
    """R(q)^T vector for a unit quaternion."""
    axis = -q[..., 1:]
    twice = 2.0 * jnp.cross(axis, vector)
    return vector + q[..., :1] * twice + jnp.cross(axis, twice)


class SpatialMesh:
    """Uniform mesh of ``elements`` spectral elements of degree ``degree``."""

    def __init__(self, rod: SpatialRod, elements: int, degree: int) -> None:
        self.rod = rod
        self.nodes = elements * degree + 1
        width = rod.length / elements
        local, local_weights = lobatto_rule(degree + 1)
        connectivity = degree * np.arange(elements)[:, None] + np.arange(degree + 1)
        self.arc = np.zeros(self.nodes)
        self.arc[connectivity] = width * (np.arange(elements)[:, None] + local)
        share = np.zeros(self.nodes)
        np.add.at(share, connectivity.ravel(), np.tile(width * local_weights, elements))
        points, weights = gauss_rule(degree)
        values, slopes = lagrange(local, points)
        self.connectivity = jnp.asarray(connectivity)
        self.values, self.slopes = jnp.asarray(values), jnp.asarray(slopes / width)
        self.weights = jnp.asarray(width * weights)
        self.share = jnp.asarray(share)[:, None]
        self.inertia = jnp.asarray(rod.inertia)
        self.force_stiffness = jnp.asarray(rod.force_stiffness)
        self.moment_stiffness = jnp.asarray(rod.moment_stiffness)

    def potential(self, r: jax.Array, q: jax.Array) -> jax.Array:
        """Strain energy of nodal positions (n, 3) and quaternions (n, 4)."""
        q = q / jnp.linalg.norm(q, axis=-1, keepdims=True)
        r_slope = jnp.einsum("gi,eid->egd", self.slopes, r[self.connectivity])
        raw = jnp.einsum("gi,eid->egd", self.values, q[self.connectivity])
        raw_slope = jnp.einsum("gi,eid->egd", self.slopes, q[self.connectivity])
        square = jnp.sum(raw**2, -1, keepdims=True)
        gamma = _into_body(raw / jnp.sqrt(square), r_slope) - jnp.array([1.0, 0.0, 0.0])
        conjugate = raw * jnp.array([1.0, -1.0, -1.0, -1.0])
        kappa = 2.0 * _multiply(conjugate, raw_slope)[..., 1:] / square
        density = jnp.sum(self.force_stiffness * gamma**2, -1)
        density += jnp.sum(self.moment_stiffness * kappa**2, -1)
        return 0.5 * jnp.sum(self.weights * density)

    def split(self, y: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
        """Flat state to positions, quaternions, velocities, body angular velocities."""
        n = self.nodes
        parts = jnp.split(y, [3 * n, 7 * n, 10 * n])
        r, q, v, w = (part.reshape(n, -1) for part in parts)
        return r, q, v, w

    @partial(jax.jit, static_argnums=0)
    def rate(self, y: jax.Array, end_force: jax.Array, end_moment: jax.Array) -> jax.Array:
        """Time derivative of the flat state; loads (space frame) act on node 0."""
        r, q, v, w = self.split(y)
        r_gradient, q_gradient = jax.grad(self.potential, argnums=(0, 1))(r, q)
        force = (-r_gradient).at[0].add(end_force)
        conjugate = q * jnp.array([1.0, -1.0, -1.0, -1.0])
        # dU = q_gradient . (q dphi) / 2, so moment = -vec(conj(q) q_gradient) / 2
        moment = -0.5 * _multiply(conjugate, q_gradient)[..., 1:]
        moment = moment.at[0].add(_into_body(q[0], end_moment))
        spin = self.inertia * w
        w_rate = (moment / self.share - jnp.cross(w, spin)) / self.inertia
        v_rate = force / (self.share * self.rod.mass)
        pure = jnp.concatenate([jnp.zeros((self.nodes, 1)), w], -1)
        q_rate = 0.5 * _multiply(q, pure)
        return jnp.concatenate([v.ravel(), q_rate.ravel(), v_rate.ravel(), w_rate.ravel()])

    @partial(jax.jit, static_argnums=0)
    def energy(self, y: jax.Array) -> jax.Array:
        """Kinetic + strain energy."""
        r, q, v, w = self.split(y)
        kinetic = self.rod.mass * jnp.sum(v**2, -1) + jnp.sum(self.inertia * w**2, -1)
        return self.potential(r, q) + 0.5 * jnp.sum(self.share[:, 0] * kinetic)

    def straight(self, start: Array, end: Array) -> Array:
        """Flat state at rest along the segment ``start`` - ``end`` of the xy plane."""
        direction = (end - start) / np.linalg.norm(end - start)
        angle = np.arctan2(direction[1], direction[0])
        r = start + self.arc[:, None] * direction
        q = np.zeros((self.nodes, 4))
        q[:, 0], q[:, 3] = np.cos(angle / 2), np.sin(angle / 2)
        return np.concatenate([r.ravel(), q.ravel(), np.zeros(6 * self.nodes)])


@dataclass(frozen=True)
class SpatialRun:
    """Tip history and diagnostics of one time integration."""

    times: Array
    tip: Array
    energy_drift: float  # largest relative change of the energy once unloaded
    steps: int


def integrate(
    mesh: SpatialMesh,
    state: Array,
    load: EndLoad,
    duration: float,
    outputs: int,
    tolerance: float,
) -> SpatialRun:
    """Integrate and sample the tip (s = L) at ``outputs + 1`` uniform instants."""
    force, moment = np.array(load.force), np.array(load.moment)

    def rate(time: float, y: Array) -> Array:
        t = load.amplitude(time)
        return np.asarray(mesh.rate(y, t * force, t * moment))

    times = np.linspace(0.0, duration, outputs + 1)
    last = 3 * mesh.nodes
    tip = np.zeros((outputs + 1, 3))
    tip[0] = state[last - 3 : last]
    energies: list[float] = []
    index, steps, start, y = 1, 0, 0.0, state
    stops = [t for t in load.kinks if t < duration] + [duration]
    for stop in stops:
        solver = DOP853(rate, start, y, stop, rtol=tolerance, atol=tolerance * mesh.rod.length)
        while solver.status == "running":
            solver.step()
            steps += 1
            if index <= outputs and solver.t >= times[index]:
                dense: Callable[[float], Array] = solver.dense_output()
                while index <= outputs and times[index] <= solver.t:
                    tip[index] = dense(times[index])[last - 3 : last]
                    index += 1
            if solver.t >= load.kinks[1]:
                energies.append(float(mesh.energy(solver.y)))
        if solver.status != "finished":
            raise ArithmeticError(f"integration failed at t = {solver.t:.6g}")
        start, y = stop, solver.y
    final = np.array(energies)
    drift = float(np.ptp(final) / np.abs(final[0])) if len(final) else float("nan")
    return SpatialRun(times, tip, drift, steps)
