"""Nodes on [0, 1] in panels, and the constant operators that integrate between them."""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre


@dataclass(frozen=True)
class Panels:
    """Quadrature nodes in one panel per smooth piece of [0, 1].

    ``integration_to(u)`` gives, for each point u, the weights that integrate a function known at
    the nodes from 0 to u: exact for piecewise polynomials of degree < nodes per panel.
    """

    edges: tuple[float, ...]
    nodes_per_panel: int
    family: str = "gauss"

    @property
    def reference_nodes(self) -> np.ndarray:
        """Nodes of one panel on [-1, 1], increasing."""
        if self.family == "gauss":
            return legendre.leggauss(self.nodes_per_panel)[0]
        return -np.cos(np.pi * np.arange(self.nodes_per_panel) / (self.nodes_per_panel - 1))

    @property
    def nodes(self) -> np.ndarray:
        """All nodes on [0, 1], increasing."""
        s = (self.reference_nodes + 1) / 2
        spans = zip(self.edges, self.edges[1:], strict=False)
        return np.concatenate([a * (1 - s) + b * s for a, b in spans])  # exact at both ends

    def integration_to(self, points: np.ndarray) -> np.ndarray:
        """Weights (len(points), number of nodes) of ∫₀ᵘ for each point u."""
        count = self.nodes_per_panel
        operator = np.zeros((len(points), count * (len(self.edges) - 1)))
        for panel, (a, b) in enumerate(zip(self.edges, self.edges[1:], strict=False)):
            s = np.clip(2 * (np.asarray(points) - a) / (b - a) - 1, -1.0, 1.0)
            columns = slice(panel * count, (panel + 1) * count)
            operator[:, columns] = (b - a) / 2 * _integrals(self.reference_nodes, s)
        return operator

    @property
    def differentiation(self) -> np.ndarray:
        """Matrix of d/du at the nodes, panel by panel: exact for the same polynomials."""
        count = self.nodes_per_panel
        vandermonde = legendre.legvander(self.reference_nodes, count - 1)
        derivative = legendre.legder(np.linalg.inv(vandermonde), axis=0)
        slopes = legendre.legvander(self.reference_nodes, count - 2) @ derivative
        widths = np.diff(self.edges)
        return np.kron(np.diag(2 / widths), slopes)

    @property
    def weights(self) -> np.ndarray:
        """Weights of ∫₀¹ at the nodes."""
        return self.integration_to(np.array([1.0]))[0]


def _integrals(nodes: np.ndarray, s: np.ndarray) -> np.ndarray:
    """∫_{-1}^{s} of the Lagrange polynomials of ``nodes``: shape (len(s), len(nodes))."""
    degree = len(nodes) - 1
    lagrange = np.linalg.inv(legendre.legvander(nodes, degree))  # coefficients in columns
    antiderivative = legendre.legint(lagrange, lbnd=-1, axis=0)
    return legendre.legvander(s, degree + 1) @ antiderivative
