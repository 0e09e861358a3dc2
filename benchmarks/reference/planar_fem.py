"""Planar geometrically exact (Simo-Reissner) cantilever, absolute coordinates.

Unknowns are the nodal (x, y, theta) of Lagrange elements of degree ``p``.  With
u = (x', y', theta', theta) the strains of a rod straight along x are

    axial  = x' cos(theta) + y' sin(theta) - 1
    shear  = -x' sin(theta) + y' cos(theta)
    bend   = theta'

and the strain energy per length is (EA axial^2 + GA shear^2 + EI bend^2) / 2.
It is integrated with ``p`` Gauss points per element, one fewer than would be
exact for the straight rod: this removes shear and membrane locking.  The mass
matrix is constant and consistent.

Time integration is collocation (Gauss: symplectic, order 2s; Radau IIA: order
2s - 1, L-stable) applied to ``M q'' = f(q)``, all stages solved together by
Newton's method.  Newton keeps the stress at every quadrature point as an
unknown of its own (eliminated pointwise), which changes only the geometric part
of the tangent but makes it converge quickly even when EA L^2 / EI is huge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from lagrange import Array, Indices, gauss_rule, lagrange, lobatto_rule
from scipy.linalg import lapack


@dataclass(frozen=True)
class PlanarRod:
    """Section and load data of a planar cantilever (SI units)."""

    length: float
    axial: float  # EA
    shear: float  # GA
    bending: float  # EI
    mass: float  # rho A
    inertia: float  # rho I
    gravity: tuple[float, float]

    @staticmethod
    def circular(
        length: float,
        density: float,
        young: float,
        diameter: float,
        gravity: tuple[float, float],
        poisson: float = 0.3,
    ) -> PlanarRod:
        """Solid circular section, shear factor 1."""
        area = np.pi * diameter**2 / 4
        second = np.pi * diameter**4 / 64
        return PlanarRod(
            length,
            young * area,
            young / (2 * (1 + poisson)) * area,
            young * second,
            density * area,
            density * second,
            gravity,
        )


class PlanarMesh:
    """Uniform mesh of ``elements`` Lagrange elements of degree ``degree``.

    The clamped node s = 0 is not among the unknowns.  State vectors have shape
    (nodes, 3) with ``nodes = elements * degree``.
    """

    def __init__(self, rod: PlanarRod, elements: int, degree: int) -> None:
        self.rod, self.elements, self.degree = rod, elements, degree
        self.nodes = elements * degree
        self.size = 3 * self.nodes
        width = rod.length / elements
        local, _ = lobatto_rule(degree + 1)
        self.connectivity = degree * np.arange(elements)[:, None] + np.arange(degree + 1)
        arc = np.zeros(self.nodes + 1)
        arc[self.connectivity] = width * (np.arange(elements)[:, None] + local)
        self.arc = arc[1:]

        points, weights = gauss_rule(degree)
        values, slopes = lagrange(local, points)
        slopes = slopes / width
        self.values, self.slopes = values, slopes
        self.weights = weights * width
        # gradient[g, a, (node, dof)]: u_a at point g from the element unknowns
        gradient = np.zeros((degree, 4, degree + 1, 3))
        for component in range(3):
            gradient[:, component, :, component] = slopes
        gradient[:, 3, :, 2] = values
        self.gradient = gradient.reshape(degree, 4, 3 * (degree + 1))
        self.force_map = (self.weights[:, None, None] * self.gradient).reshape(4 * degree, -1)
        self.tangent_map = np.einsum(
            "g,gai,gbj->gabij", self.weights, self.gradient, self.gradient
        ).reshape(16 * degree, -1)
        self.mass, self.body_force = self._inertia(local, width)

    def _inertia(self, local: Array, width: float) -> tuple[Array, Array]:
        """Element mass matrix (one scalar factor per dof) and gravity load."""
        points, weights = gauss_rule(self.degree + 1)
        values, _ = lagrange(local, points)
        scalar = width * np.einsum("g,gi,gj->ij", weights, values, values)
        density = np.array([self.rod.mass, self.rod.mass, self.rod.inertia])
        block = np.einsum("ij,a,ab->iajb", scalar, density, np.eye(3))
        shape = 3 * (self.degree + 1)
        load = np.zeros((self.nodes + 1, 3))
        share = width * weights @ values * self.rod.mass
        for component in range(2):
            np.add.at(
                load[:, component],
                self.connectivity.ravel(),
                np.tile(share * self.rod.gravity[component], self.elements),
            )
        return block.reshape(shape, shape), load[1:]

    def straight(self) -> Array:
        """The stress-free configuration."""
        state = np.zeros((self.nodes, 3))
        state[:, 0] = self.arc
        return state

    def _with_clamp(self, state: Array) -> Array:
        clamp = np.zeros((*state.shape[:-2], 1, 3))
        return np.concatenate([clamp, state], axis=-2)

    def _local(self, state: Array) -> Array:
        """Element unknowns, shape (..., elements, 3 (p + 1))."""
        full = self._with_clamp(state)[..., self.connectivity, :]
        return full.reshape(*full.shape[:-2], -1)

    def point_data(self, state: Array) -> Array:
        """U = (x', y', theta', theta) at all points, shape (..., elements, p, 4)."""
        local = self._local(state)
        data = local @ self.gradient.reshape(4 * self.degree, -1).T
        return data.reshape(*local.shape[:-1], self.degree, 4)

    def strains(self, data: Array) -> Array:
        """(axial, shear, bend) from ``point_data``."""
        cos, sin = np.cos(data[..., 3]), np.sin(data[..., 3])
        axial = data[..., 0] * cos + data[..., 1] * sin - 1.0
        shear = -data[..., 0] * sin + data[..., 1] * cos
        return np.stack([axial, shear, data[..., 2]], axis=-1)

    def stress(self, strains: Array) -> Array:
        """Section forces (N, V, M) in the section frame."""
        return strains * np.array([self.rod.axial, self.rod.shear, self.rod.bending])

    def strain_jacobian(self, data: Array, strains: Array) -> Array:
        """D strain / d u, shape (..., 3, 4)."""
        cos, sin = np.cos(data[..., 3]), np.sin(data[..., 3])
        jacobian = np.zeros((*data.shape[:-1], 3, 4))
        jacobian[..., 0, 0] = cos
        jacobian[..., 0, 1] = sin
        jacobian[..., 0, 3] = strains[..., 1]
        jacobian[..., 1, 0] = -sin
        jacobian[..., 1, 1] = cos
        jacobian[..., 1, 3] = -1.0 - strains[..., 0]
        jacobian[..., 2, 2] = 1.0
        return jacobian

    def forces(self, state: Array) -> tuple[Array, Array, Array]:
        """Internal nodal force, and at the points: strains and strain Jacobian."""
        data = self.point_data(state)
        strains = self.strains(data)
        jacobian = self.strain_jacobian(data, strains)
        local = (self.stress(strains)[..., None, :] @ jacobian)[..., 0, :]
        return (
            self._gather(local.reshape(*local.shape[:-2], -1) @ self.force_map),
            strains,
            jacobian,
        )

    def tangent(self, strains: Array, jacobian: Array, stress: Array) -> Array:
        """Element tangents; ``stress`` is the one used in their geometric part."""
        stiffness = np.array([self.rod.axial, self.rod.shear, self.rod.bending])
        hessian = np.swapaxes(jacobian, -1, -2) @ (stiffness[:, None] * jacobian)
        normal, shear = stress[..., 0], stress[..., 1]
        cos, sin = jacobian[..., 0, 0], jacobian[..., 0, 1]
        mixed_x = -normal * sin - shear * cos
        mixed_y = normal * cos - shear * sin
        hessian[..., 0, 3] += mixed_x
        hessian[..., 3, 0] += mixed_x
        hessian[..., 1, 3] += mixed_y
        hessian[..., 3, 1] += mixed_y
        hessian[..., 3, 3] += -normal * (1 + strains[..., 0]) - shear * strains[..., 1]
        size = self.gradient.shape[2]
        lead = hessian.shape[:-3]
        return (hessian.reshape(-1, len(self.tangent_map)) @ self.tangent_map).reshape(
            *lead, size, size
        )

    def _gather(self, local: Array) -> Array:
        """Sum element vectors (..., elements, 3 (p + 1)) into nodal ones."""
        degree = self.degree
        blocks = local.reshape(*local.shape[:-1], degree + 1, 3)
        total = np.zeros((*local.shape[:-2], self.nodes + 1, 3))
        lead = local.shape[:-2]
        total[..., :-1, :] = blocks[..., :-1, :].reshape(*lead, self.nodes, 3)
        total[..., degree::degree, :] += blocks[..., -1, :]
        return total[..., 1:, :]

    def times_mass(self, vector: Array) -> Array:
        """Mass matrix times a nodal vector (zero at the clamp)."""
        return self._gather(self._local(vector) @ self.mass)

    def energy(self, state: Array, velocity: Array) -> float:
        """Kinetic + strain + gravity energy."""
        strains = self.strains(self.point_data(state))
        strain = 0.5 * np.einsum("ega,ega,g->", strains, self.stress(strains), self.weights)
        kinetic = 0.5 * np.sum(velocity * self.times_mass(velocity))
        return float(strain + kinetic - np.sum(self.body_force * state))


class BandedSystem:
    """Assembly and solution of the Newton systems of ``stages`` coupled stages.

    Unknowns are ordered (node, stage, dof), so the bandwidth is
    ``3 stages (p + 1) - 1``.
    """

    def __init__(self, mesh: PlanarMesh, stages: int, mass_factor: Array) -> None:
        self.mesh, self.stages = mesh, stages
        self.order = 3 * stages * mesh.nodes
        self.band = 3 * stages * (mesh.degree + 1) - 1
        self.rows = 3 * self.band + 1  # LAPACK layout with room for the fill-in
        self.places = np.stack([self._places(i, i) for i in range(stages)]).ravel()
        self.inertia = np.zeros(self.order * self.rows + 1)
        if np.any(mass_factor):
            shape = (mesh.elements, *mesh.mass.shape)
            for i in range(stages):
                for j in range(stages):
                    block = np.broadcast_to(mass_factor[i, j] * mesh.mass, shape)
                    np.add.at(self.inertia, self._places(i, j).ravel(), block.ravel())

    def _unknowns(self, stage: int) -> Indices:
        """Numbers of the element unknowns of one stage; negative at the clamp."""
        node = self.mesh.connectivity[..., None] - 1
        index = (node * self.stages + stage) * 3 + np.arange(3)
        return np.where(node >= 0, index, -1).reshape(self.mesh.elements, -1)

    def _places(self, row_stage: int, column_stage: int) -> Indices:
        """Where element matrices go in the band; one dump entry for the clamp."""
        row = self._unknowns(row_stage)[:, :, None]
        column = self._unknowns(column_stage)[:, None, :]
        flat = column * self.rows + 2 * self.band + row - column
        return np.where((row >= 0) & (column >= 0), flat, self.order * self.rows)

    def factor(self, tangents: Array) -> tuple[Array, Array]:
        """LU factors of (mass part + stage-diagonal element tangents)."""
        flat = np.bincount(self.places, tangents.ravel(), self.inertia.size) + self.inertia
        matrix = flat[:-1].reshape(self.order, self.rows).T
        factors, pivots, info = lapack.dgbtrf(matrix, self.band, self.band, overwrite_ab=1)
        if info != 0:
            raise ArithmeticError("singular Newton matrix")
        return factors, pivots

    def solve(self, factors: tuple[Array, Array], residual: Array) -> Array:
        """Solve for a right-hand side of shape (stages, nodes, 3); same shape out."""
        right = np.ascontiguousarray(residual.transpose(1, 0, 2)).reshape(-1, 1)
        answer, _ = lapack.dgbtrs(
            factors[0], self.band, self.band, right, factors[1], overwrite_b=1
        )
        return answer.reshape(self.mesh.nodes, self.stages, 3).transpose(1, 0, 2)
