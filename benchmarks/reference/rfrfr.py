"""RFRFR continuum parallel robot: two rods on motors, tips joined by a free hinge.

The planar case study of section 5.13 of Gotelli's thesis (document 000), solved in
absolute coordinates.  What the text says: base hinges a distance d = 0.4 m apart, at
x = -d/2 and +d/2; two straight rods of spring steel, L = 1 m, r = 1 mm, E = 210 GPa,
G = 80 GPa, rho = 7800 kg/m^3, bending only; a passive revolute joint between the
tips, without mass; no damping; torques on the base hinges, about +z (equations 5.8, 5.9)

    tau_1 = -tau_2 = 0                           t <= 1 s
                   = 0.5 (6 s^5 - 15 s^4 + 10 s^3) N m,  s = t - 1 s,   1 s < t <= 2 s
                   = 0.5 N m                             t > 2 s
    tau_1 = 0.5 - 0.04 (1 - cos(2 pi (t - 4 s))) N m     4 s <= t <= 7 s

What the text leaves open, and is chosen here:

* No gravity.  Section 5.13 does not mention it, while section 4.9.2 says of the other
  RFRFR robot that it is affected by gravity.
* Start: the robot is assembled in static equilibrium without torques from the guess
  q = pi/2 for both hinges.  Without gravity that is the stress-free triangle with
  straight rods, angles arccos(0.2) and pi - arccos(0.2), tip at (0, sqrt(0.96)) m, at
  rest.  It stays so until the torques set in at 1 s, where the integration starts.
* Signs: the opposite of the printed ones.  The left motor turns counter-clockwise,
  the right one clockwise, and the rods bow outwards.  As printed they would bow inwards
  and cross, and three cycles of torque would make three of the tip; the text tells of two.
* The gains, printed in "N m/s" and "N m s", are in N m.
* After 7 s (three whole periods) tau_1 holds its value of 0.5 N m.
* "Bending only" means neither stretch nor shear.  The finite elements have both, so
  EA and GA are multiplied by ``STIFFENING``; the effect of the true EA and GA is
  listed in convergence.md.  The rotary inertia rho I of the sections is kept.

Method: the two rods form one chain, hinge to tip to hinge, of the elements of
``planar_fem``.  The rotation at the tip exists twice, its position once: the closure
is exact and needs no multipliers.  The positions of the base hinges are no unknowns.
Units are SI throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from lagrange import Array, Indices, lagrange
from planar_fem import PlanarMesh, PlanarRod
from planar_solve import Collocation
from scipy.linalg import lapack

DISTANCE = 0.4  # of the base hinges
DURATION = 10.0
START = 1.0  # at rest until then
STIFFENING = 1e3  # of EA and GA; more only adds rounding noise, see convergence.md

# The torques are smooth between these instants: steps must not straddle them.
KINKS = (1.0, 2.0, 4.0, 7.0)


def steel_rod(stiffening: float = STIFFENING) -> PlanarRod:
    """One of the two rods; no gravity."""
    radius = 1e-3
    area, second = np.pi * radius**2, np.pi * radius**4 / 4
    young, shear, density = 210e9, 80e9, 7800.0
    return PlanarRod(
        1.0,
        stiffening * young * area,
        stiffening * shear * area,
        young * second,
        density * area,
        density * second,
        (0.0, 0.0),
    )


def torques(t: float) -> tuple[float, float]:
    """Torques (tau_1, tau_2) in N m about +z at time ``t`` in s."""
    s = min(max(t - 1.0, 0.0), 1.0)
    hold = 0.5 * (6 * s**5 - 15 * s**4 + 10 * s**3)
    first = hold
    if 4.0 <= t <= 7.0:
        first -= 0.04 * (1.0 - np.cos(2 * np.pi * (t - 4.0)))
    return first, -hold


class Loop:
    """The closed chain of ``2 elements`` elements; states are vectors of unknowns.

    The unknowns are displacements from the straight start, in the order of the chain:
    angle of hinge 1, nodes of rod 1, tip (x, y, angle of rod 1, angle of rod 2),
    nodes of rod 2 from the tip down, angle of hinge 2.
    """

    def __init__(self, rod: PlanarRod, elements: int, degree: int) -> None:
        self.rod = rod
        # Only its element matrices are used; the assembly below is the closed chain's.
        self.element = PlanarMesh(rod, elements, degree)
        self.elements, self.degree = 2 * elements, degree
        last = self.elements * degree  # number of the last chain node
        middle = elements * degree
        numbers = np.full((last + 1, 3), -1)
        numbers[0, 2] = 0
        numbers[1 : middle + 1] = 1 + np.arange(3 * middle).reshape(-1, 3)
        second_angle = 3 * middle + 1  # of the tip, seen from rod 2
        rest = second_angle + 1 + np.arange(3 * (last - middle) - 2)
        numbers[middle + 1 : last] = rest[:-1].reshape(-1, 3)
        numbers[last, 2] = rest[-1]
        self.size = int(rest[-1]) + 1
        self.tip = numbers[middle, :2]
        self.hinges = (0, self.size - 1)
        chain = degree * np.arange(self.elements)[:, None] + np.arange(degree + 1)
        unknowns = numbers[chain]
        unknowns[elements, 0, 2] = second_angle
        # Held unknowns point behind the vector, where a zero is appended.
        self.unknowns: Indices = np.where(unknowns >= 0, unknowns, self.size).reshape(
            self.elements, -1
        )
        angle = np.arccos(0.5 * DISTANCE / rod.length)
        self.tip_start = np.array([0.0, rod.length * np.sin(angle)])
        # (x', y', theta', theta) of the straight start, rod 2 running down from the tip
        directions = np.repeat([angle, -angle], elements)
        still = np.zeros_like(directions)
        start = np.stack([np.cos(directions), np.sin(directions), still, directions], axis=-1)
        self.start_data = start[:, None, :]

    def spread(self, vector: Array) -> Array:
        """Element unknowns (..., elements, 3 (p + 1)) of unknowns (..., size)."""
        padded = np.concatenate([vector, np.zeros((*vector.shape[:-1], 1))], axis=-1)
        return padded[..., self.unknowns]

    def gather(self, local: Array) -> Array:
        """Sum element vectors (stages, elements, 3 (p + 1)) into (stages, size)."""
        flat = self.unknowns.ravel()
        rows = local.reshape(len(local), -1)
        sums = [np.bincount(flat, row, self.size + 1) for row in rows]
        return np.stack(sums)[:, : self.size]

    def slopes(self, vector: Array) -> Array:
        """Change of (x', y', theta', theta) at the quadrature points."""
        local = self.spread(vector)
        change = local @ self.element.gradient.reshape(4 * self.degree, -1).T
        return change.reshape(*local.shape[:-1], self.degree, 4)

    def forces(self, state: Array) -> tuple[Array, Array, Array]:
        """Internal forces (stages, size), and at the points: strains, strain Jacobian."""
        data = self.start_data + self.slopes(state)
        strains = self.element.strains(data)
        jacobian = self.element.strain_jacobian(data, strains)
        local = (self.element.stress(strains)[..., None, :] @ jacobian)[..., 0, :]
        local = local.reshape(*local.shape[:-2], -1) @ self.element.force_map
        return self.gather(local), strains, jacobian

    def times_mass(self, vector: Array) -> Array:
        """Mass matrix times (stages, size)."""
        return self.gather(self.spread(vector) @ self.element.mass)

    def energy(self, state: Array, velocity: Array) -> tuple[float, float]:
        """Kinetic and strain energy in J."""
        strains = self.element.strains(self.start_data + self.slopes(state))
        stress = self.element.stress(strains)
        strain = 0.5 * np.einsum("ega,ega,g->", strains, stress, self.element.weights)
        kinetic = 0.5 * float(velocity @ self.times_mass(velocity[None])[0])
        return kinetic, float(strain)


class LoopSystem:
    """Banded Newton matrices of coupled stages; unknowns ordered (unknown, stage)."""

    def __init__(self, loop: Loop, mass_factor: Array) -> None:
        self.loop, self.stages = loop, len(mass_factor)
        self.order = self.stages * loop.size
        held = loop.unknowns == loop.size
        free = np.where(held, -1, loop.unknowns)
        span = [row[row >= 0].max() - row[row >= 0].min() for row in free]
        self.band = self.stages * (int(max(span)) + 1) - 1
        self.rows = 3 * self.band + 1  # LAPACK layout with room for the fill-in
        self.places = np.stack([self._places(i, i) for i in range(self.stages)]).ravel()
        self.inertia = np.zeros(self.order * self.rows + 1)
        block = np.broadcast_to(loop.element.mass, (loop.elements, *loop.element.mass.shape))
        for i in range(self.stages):
            for j in range(self.stages):
                places = self._places(i, j).ravel()
                np.add.at(self.inertia, places, mass_factor[i, j] * block.ravel())

    def _places(self, row_stage: int, column_stage: int) -> Indices:
        """Where element matrices go in the band; one dump entry for held unknowns."""
        number, size = self.loop.unknowns, self.loop.size
        row = (number * self.stages + row_stage)[:, :, None]
        column = (number * self.stages + column_stage)[:, None, :]
        flat = column * self.rows + 2 * self.band + row - column
        free = (number[:, :, None] < size) & (number[:, None, :] < size)
        return np.where(free, flat, self.order * self.rows)

    def factor(self, tangents: Array) -> tuple[Array, Array]:
        """LU factors of (mass part + stage-diagonal element tangents)."""
        flat = np.bincount(self.places, tangents.ravel(), self.inertia.size) + self.inertia
        matrix = flat[:-1].reshape(self.order, self.rows).T
        factors, pivots, info = lapack.dgbtrf(matrix, self.band, self.band, overwrite_ab=1)
        if info != 0:
            raise ArithmeticError("singular Newton matrix")
        return factors, pivots

    def solve(self, factors: tuple[Array, Array], residual: Array) -> Array:
        """Solve for a right-hand side (stages, size); same shape out."""
        right = np.ascontiguousarray(residual.T).reshape(-1, 1)
        answer, _ = lapack.dgbtrs(
            factors[0], self.band, self.band, right, factors[1], overwrite_b=1
        )
        return answer.reshape(self.loop.size, self.stages).T


@dataclass
class LoopNewton:
    """As ``planar_solve.Newton``: independent stresses, factors kept while they serve."""

    loop: Loop
    system: LoopSystem
    stress: Array
    tolerance: float
    factors: tuple[Array, Array] | None = None
    iterations: int = 0

    def solve(self, state: Array, outer: Callable[[Array], Array], limit: int = 30) -> Array | None:
        """The solution of internal force + outer = 0 near ``state``, or None.

        Stops when the largest increment (m or rad, L = 1 m) is below the tolerance, or
        stagnates at rounding level.
        """
        size, fresh = np.inf, False
        for _ in range(limit):
            self.iterations += 1
            force, strains, jacobian = self.loop.forces(state)
            if self.factors is None:
                tangent = self.loop.element.tangent(strains, jacobian, self.stress)
                self.factors = self.system.factor(tangent)
                fresh = True
            increment = self.system.solve(self.factors, -(force + outer(state)))
            change = jacobian @ self.loop.slopes(increment)[..., None]
            self.stress = self.loop.element.stress(strains + change[..., 0])
            state = state + increment
            previous, size = size, float(np.max(np.abs(increment)))
            if not np.isfinite(size) or size > 1e3:
                return None
            if size < self.tolerance or (size < 1e-8 and size > 0.3 * previous):
                return state
            if size > 0.05 * previous or (fresh and size > 1e-5):
                self.factors = None
        return None


@dataclass(frozen=True)
class LoopRun:
    """Tip history and diagnostics of one time integration."""

    times: Array
    tip: Array  # (n, 2)
    angles: Array  # (n, 2), of the hinges: q_1 and q_2, from the x axis
    energy_drift: float  # largest |energy - work of the motors| / largest kinetic energy
    iterations: float  # Newton iterations per step


def integrate(
    loop: Loop,
    duration: float,
    outputs: int,
    substeps: int,
    method: Collocation,
    tolerance: float = 1e-11,
) -> LoopRun:
    """From 0 to ``duration``: ``outputs`` equal intervals of ``substeps`` steps each.

    The instants of ``KINKS`` must be among the outputs.
    """
    stages = len(method.points)
    spacing = duration / outputs
    h = spacing / substeps
    idle = round(START / spacing)
    if not np.allclose(np.array(KINKS) / spacing, np.round(np.array(KINKS) / spacing)):
        raise ValueError("the kinks of the torques must be output instants")
    inverse: Array = np.linalg.inv(method.twice).astype(float) / h**2
    points = (stages, loop.elements, loop.degree, 3)
    newton = LoopNewton(loop, LoopSystem(loop, inverse), np.zeros(points), tolerance)
    position, velocity = np.zeros(loop.size), np.zeros(loop.size)
    ahead, _ = lagrange(method.points, method.points + 1.0)
    acceleration = np.zeros((stages, loop.size))
    states = [position] * (idle + 1)
    kinetic, work, drift = 0.0, 0.0, 0.0
    c = method.points[:, None]
    first = idle * substeps
    hinges = list(loop.hinges)
    for step in range(first, outputs * substeps):
        base = position + h * c * velocity
        guess = base + h**2 * method.twice @ acceleration
        # Within the step, so that a stage at its end still sees the law of its inside.
        load = np.zeros((stages, loop.size))
        for stage, point in enumerate(method.points):
            load[stage, hinges] = torques((step + min(float(point), 1.0 - 1e-12)) * h)

        def outer(stage: Array, base: Array = base, load: Array = load) -> Array:
            return loop.times_mass(inverse @ (stage - base)) - load

        found = newton.solve(guess, outer)
        if found is None:  # once more, with factors of the guess
            newton.factors = None
            found = newton.solve(guess, outer)
        if found is None:
            raise ArithmeticError(f"Newton failed at t = {step * h:.6g}")
        acceleration = inverse @ (found - base)
        rates = velocity + h * method.once @ acceleration
        work += h * float(method.end_once @ np.sum(load * rates, axis=1))
        position = position + h * velocity + h**2 * method.end_twice @ acceleration
        velocity = velocity + h * method.end_once @ acceleration
        acceleration = ahead @ acceleration  # guess for the next step: continuation
        newton.stress = np.broadcast_to(newton.stress[-1:], newton.stress.shape)
        if (step + 1) % substeps == 0:
            states.append(position)
            moving, strain = loop.energy(position, velocity)
            kinetic = max(kinetic, moving)
            drift = max(drift, abs(moving + strain - work))
    history = np.array(states)
    angle = np.arccos(0.5 * DISTANCE / loop.rod.length)
    return LoopRun(
        np.linspace(0.0, duration, outputs + 1),
        loop.tip_start + history[:, loop.tip],
        np.array([angle, np.pi - angle]) + history[:, hinges],
        drift / kinetic,
        newton.iterations / (outputs * substeps - first),
    )
