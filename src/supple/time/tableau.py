"""Constants of collocation schemes, from their nodes alone."""

from functools import cache
from typing import NamedTuple

import numpy as np

REAL = 1e-12
"""Imaginary parts below this are round-off."""


class Tableau(NamedTuple):
    """Butcher's tableau and its eigenvectors, one of each complex pair, real ones first."""

    nodes: np.ndarray
    matrix: np.ndarray
    weights: np.ndarray
    eigenvalues: tuple[complex, ...]
    columns: tuple[np.ndarray, ...]
    """Right eigenvectors."""
    rows: tuple[np.ndarray, ...]
    """Left eigenvectors, so that A = Σ λ column rowᵀ (twice the real part for pairs)."""
    start: np.ndarray
    """Weights of the stages in the value of their polynomial at the start of the step."""
    end: np.ndarray
    """The same at its end."""


@cache
def collocation_tableau(family: str, stages: int) -> Tableau:
    """Gauss or Radau IIA with 2 or 3 stages."""
    if family == "gauss":
        nodes = (np.polynomial.legendre.leggauss(stages)[0] + 1) / 2
    elif stages == 2:
        nodes = np.array([1 / 3, 1.0])
    else:
        nodes = np.array([(4 - np.sqrt(6)) / 10, (4 + np.sqrt(6)) / 10, 1.0])
    vandermonde = np.vander(nodes, stages, increasing=True)
    powers = np.arange(1, stages + 1)
    inverse = np.linalg.inv(vandermonde)
    matrix = (nodes[:, None] ** powers / powers) @ inverse
    values, vectors = np.linalg.eig(matrix)
    left = np.linalg.inv(vectors)
    kept = sorted(
        (k for k in range(stages) if values[k].imag > -REAL), key=lambda k: abs(values[k].imag)
    )
    real = {k: abs(values[k].imag) < REAL for k in kept}
    return Tableau(
        nodes=nodes,
        matrix=matrix,
        weights=(1.0 / powers) @ inverse,
        eigenvalues=tuple(complex(values[k]) for k in kept),
        columns=tuple(vectors[:, k].real if real[k] else vectors[:, k] for k in kept),
        rows=tuple(left[k].real if real[k] else left[k] for k in kept),
        start=inverse[0],
        end=np.ones(stages) @ inverse,
    )
