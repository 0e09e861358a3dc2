"""Strain bases: their values, counts, degrees and breaks, the same in NumPy and JAX."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from supple.errors import DescriptionError
from supple.strain import (
    Chebyshev,
    CustomBasis,
    Legendre,
    Monomial,
    PiecewiseConstant,
    PiecewiseLegendre,
    PiecewiseLinear,
)
from supple.strain.basis import AbstractBasis

TOL = 1e-13  # recurrences of up to ten terms of size 1
U = np.linspace(0.0, 1.0, 23)  # both ends included


def waves(u):
    backend = np if isinstance(u, np.ndarray) else jnp
    return backend.stack([backend.sin(3 * u), backend.cos(2 * u)], axis=-1)


BASES: dict[str, AbstractBasis] = {
    "legendre 0": Legendre(0),
    "legendre 6": Legendre(6),
    "chebyshev 5": Chebyshev(5),
    "monomial 4": Monomial(4),
    "constant pieces": PiecewiseConstant(4),
    "uneven constant pieces": PiecewiseConstant((0.2, 0.55)),
    "linear pieces": PiecewiseLinear(3),
    "uneven linear pieces": PiecewiseLinear((0.1, 0.9)),
    "legendre on pieces": PiecewiseLegendre((3, 0, 2), (0.3, 0.4)),
    "custom": CustomBasis(waves, 2),
}


@pytest.mark.parametrize("order", [0, 1, 2, 9])
def test_polynomials_are_those_of_scipy_on_minus_one_to_one(order):
    s = 2 * U - 1
    legendre = np.stack([special.eval_legendre(k, s) for k in range(order + 1)], axis=-1)
    chebyshev = np.stack([special.eval_chebyt(k, s) for k in range(order + 1)], axis=-1)
    np.testing.assert_allclose(Legendre(order).values(U), legendre, atol=TOL)
    np.testing.assert_allclose(Chebyshev(order).values(U), chebyshev, atol=TOL)
    np.testing.assert_allclose(Monomial(order).values(U), U[:, None] ** np.arange(order + 1))


@pytest.mark.parametrize("name", BASES)
def test_values_have_one_column_a_coordinate(name):
    assert BASES[name].values(U).shape == (len(U), BASES[name].count)


@pytest.mark.parametrize("name", BASES)
def test_jax_and_numpy_give_the_same_values(name):
    basis = BASES[name]
    np.testing.assert_allclose(basis.values(jnp.asarray(U)), basis.values(U), atol=TOL)


@pytest.mark.parametrize("name", [name for name in BASES if name != "custom"])
def test_every_basis_is_a_polynomial_of_its_degree_between_its_breaks(name):
    basis = BASES[name]
    edges = (0.0, *basis.breaks, 1.0)
    for a, b in pairwise(edges):
        u = np.linspace(a, b, basis.degree + 6)[1:-1]
        values = basis.values(u)
        fit = np.polynomial.chebyshev.Chebyshev.fit
        for column in values.T:
            np.testing.assert_allclose(fit(u, column, basis.degree)(u), column, atol=1e-12)


def test_piecewise_constants_partition_the_rod_and_own_one_segment_each():
    basis = PiecewiseConstant((0.25, 0.5))
    assert (basis.count, basis.degree, basis.breaks) == (3, 0, (0.25, 0.5))
    u = np.array([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0])
    owner = np.argmax(basis.values(u), axis=1)
    np.testing.assert_array_equal(owner, [0, 0, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(basis.values(u).sum(axis=1), 1.0)


def test_piecewise_linear_coordinates_are_the_values_at_the_segment_ends():
    basis = PiecewiseLinear((0.2, 0.7))
    assert (basis.count, basis.degree, basis.breaks) == (4, 1, (0.2, 0.7))
    np.testing.assert_allclose(basis.values(np.array([0.0, 0.2, 0.7, 1.0])), np.eye(4), atol=TOL)
    np.testing.assert_allclose(basis.values(U).sum(axis=1), 1.0, atol=TOL)
    coordinates = np.array([1.0, -2.0, 0.5, 3.0])
    expected = np.interp(U, [0.0, 0.2, 0.7, 1.0], coordinates)
    np.testing.assert_allclose(basis.values(U) @ coordinates, expected, atol=TOL)


def test_legendre_pieces_are_legendre_polynomials_of_their_own_segments():
    basis = PiecewiseLegendre((3, 1), (0.25,))
    assert (basis.count, basis.degree, basis.breaks) == (6, 3, (0.25,))
    values = basis.values(U)
    first = U < 0.25
    np.testing.assert_allclose(values[first, :4], Legendre(3).values(U[first] / 0.25), atol=TOL)
    np.testing.assert_allclose(
        values[~first, 4:], Legendre(1).values((U[~first] - 0.25) / 0.75), atol=TOL
    )
    assert not np.any(values[first, 4:])
    assert not np.any(values[~first, :4])
    np.testing.assert_array_equal(PiecewiseLegendre(4, 1).values(U), Legendre(4).values(U))


def test_legendre_pieces_need_an_order_for_each():
    with pytest.raises(DescriptionError, match="each of the 2 segments"):
        PiecewiseLegendre((1, 2, 3), 2)


def test_equal_segments_and_their_breaks_give_the_same_functions():
    for kind in (PiecewiseConstant, PiecewiseLinear):
        np.testing.assert_allclose(kind(4).values(U), kind((0.25, 0.5, 0.75)).values(U), atol=TOL)


def test_one_segment_has_no_breaks():
    assert PiecewiseConstant(1).breaks == ()
    np.testing.assert_array_equal(PiecewiseConstant(1).values(U), 1.0)


def test_custom_basis_reports_what_it_was_told():
    basis = CustomBasis(waves, 2, resolution=7, breakpoints=(0.4,))
    assert (basis.count, basis.degree, basis.breaks) == (2, 7, (0.4,))
    assert CustomBasis(waves, 2).degree == 2


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", [Legendre, Chebyshev, Monomial])
@pytest.mark.parametrize("order", [-1, 2.0, "3", None, True])
def test_bad_orders_are_refused(kind, order):
    with pytest.raises(DescriptionError) as caught:
        kind(order)
    assert caught.value.item == kind.__name__
    assert "order" in str(caught.value)
    assert repr(order) in str(caught.value)
    assert ">= 0" in str(caught.value)


@pytest.mark.parametrize("kind", [PiecewiseConstant, PiecewiseLinear])
@pytest.mark.parametrize("segments", [0, -3, (0.5, 0.5), (0.7, 0.2), (0.0,), (1.0,), (1.2,)])
def test_bad_segments_are_refused(kind, segments):
    with pytest.raises(DescriptionError) as caught:
        kind(segments)
    assert caught.value.item == kind.__name__
    assert repr(segments) in str(caught.value)
    assert "segment" in str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda u: u,
        lambda u: np.full((len(u), 2), np.nan),
        lambda u: 1 / 0,
        lambda u: np.ones((len(u), 3)),
    ],
    ids=["wrong shape", "not finite", "raises", "wrong count"],
)
def test_bad_custom_functions_are_refused(function):
    with pytest.raises(DescriptionError, match=r"CustomBasis: function: .*\(n, 2\)"):
        CustomBasis(function, 2)
