"""The same strain on other functions: exact where they span it, else the nearest."""

from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss

from supple.strain.basis import AbstractBasis
from supple.strain.field import StrainField


def projection(old: StrainField, new: StrainField) -> np.ndarray:
    """Matrix (new.count, old.count) from coordinates on one field to those on another.

    Strains that only one of them has are left out, or zero. The nearest is that of least squares along the
    rod; on functions that span the old ones it is the strain itself.
    """
    edges = sorted({0.0, *old.breaks, *new.breaks, 1.0})
    count = old.degree + new.degree + 2
    nodes, weights = leggauss(count)
    u = np.concatenate([a + (b - a) * (nodes + 1) / 2 for a, b in pairwise(edges)])
    share = np.sqrt(np.concatenate([(b - a) * weights / 2 for a, b in pairwise(edges)]))
    matrix = np.zeros((new.count, old.count))
    place = {row: (basis, start) for row, basis, start in _placed(old)}
    for row, basis, start in _placed(new):
        if row not in place:
            continue
        before, first = place[row]
        target, functions = (np.asarray(b.values(u), dtype=float) for b in (before, basis))
        found = np.linalg.lstsq(share[:, None] * functions, share[:, None] * target, rcond=None)[0]
        matrix[start : start + basis.count, first : first + before.count] = found
    return matrix


def _placed(field: StrainField) -> list[tuple[int, AbstractBasis, int]]:
    """Strain, basis and first coordinate of each component."""
    found, start = [], 0
    for row, basis in field.components:
        found.append((row, basis, start))
        start += basis.count
    return found
