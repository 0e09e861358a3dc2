"""Lagrange polynomials on Gauss-Lobatto-Legendre nodes, and quadrature on [0, 1].

Shared by the planar and the spatial finite-element codes of this folder.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def gauss_rule(count: int) -> tuple[Array, Array]:
    """Gauss-Legendre points and weights on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (points + 1.0), 0.5 * weights


def lobatto_rule(count: int) -> tuple[Array, Array]:
    """Gauss-Lobatto-Legendre points and weights on [0, 1] (ends included)."""
    degree = count - 1
    legendre = Legendre.basis(degree)
    interior = np.sort(legendre.deriv().roots().real)
    for _ in range(3):  # polish the roots
        interior = interior - legendre.deriv()(interior) / legendre.deriv(2)(interior)
    points = np.concatenate([[-1.0], interior, [1.0]])
    weights = 2.0 / (degree * count * legendre(points) ** 2)
    return 0.5 * (points + 1.0), 0.5 * weights


def lagrange(nodes: Array, points: Array) -> tuple[Array, Array]:
    """Values and first derivatives of the Lagrange basis on ``nodes``.

    Both arrays have shape (len(points), len(nodes)).
    """
    count = len(nodes)
    values = np.ones((len(points), count))
    slopes = np.zeros((len(points), count))
    for i in range(count):
        others = [j for j in range(count) if j != i]
        for j in others:
            values[:, i] *= (points - nodes[j]) / (nodes[i] - nodes[j])
        for k in others:
            term = np.full(len(points), 1.0 / (nodes[i] - nodes[k]))
            for j in others:
                if j != k:
                    term *= (points - nodes[j]) / (nodes[i] - nodes[j])
            slopes[:, i] += term
    return values, slopes
