"""Strains carried over to other functions: exact where these span them, else the nearest."""

import numpy as np

from supple.strain import Chebyshev, Legendre, PiecewiseConstant, PiecewiseLegendre, strain_field
from supple.strain.projection import projection

EXACT = 1e-12  # least squares on well-conditioned functions
U = np.linspace(0.0, 1.0, 37)


def field(basis):
    return strain_field("rod", ("ky", "gx"), basis)


def test_functions_that_span_the_old_ones_give_the_same_strain(rng):
    old = field({"ky": PiecewiseLegendre((2, 4), (0.3,)), "gx": Chebyshev(3)})
    pieces = PiecewiseLegendre((5, 4, 4), (0.3, 0.7))
    new = field({"ky": pieces, "gx": Legendre(3)})
    q = rng.normal(size=old.count)
    found = new.values(U) @ (projection(old, new) @ q)
    np.testing.assert_allclose(found, old.values(U) @ q, atol=EXACT)


def test_others_take_the_mean_over_each_piece(rng):
    old, new = field(Legendre(1)), field(PiecewiseConstant(2))
    q = rng.normal(size=old.count)
    halves = projection(old, new) @ q
    quarters = np.array([0.25, 0.75])  # a line has its mean in the middle
    line = old.values(quarters)[:, 1] @ q
    np.testing.assert_allclose(halves[:2], line, atol=EXACT)


def test_strains_that_only_one_has_are_left_out_or_zero(rng):
    old = strain_field("rod", ("kx", "ky"), Legendre(2))
    new = strain_field("rod", ("ky", "gy"), Legendre(2))
    q = rng.normal(size=6)
    np.testing.assert_allclose(projection(old, new) @ q, [*q[3:], 0, 0, 0], atol=EXACT)
