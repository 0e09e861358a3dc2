"""Nodes and integration operators in panels: exact on the polynomials they are made for."""

import numpy as np
import pytest

from supple.space.quadrature import Panels

TOL = 1e-13  # sums of some ten products of size 1
EDGES = [(0.0, 1.0), (0.0, 0.3, 1.0), (0.0, 0.06, 0.88, 1.0)]


def pieces(rng, edges, degree):
    """A polynomial on each panel, and its integral from 0, as functions of u."""
    polynomials = [np.polynomial.Polynomial(rng.normal(size=degree + 1)) for _ in edges[1:]]

    def integral(u):
        total = 0.0
        for p, a, b in zip(polynomials, edges, edges[1:], strict=False):
            total = total + p.integ()(np.clip(u, a, b)) - p.integ()(a)
        return total

    def at_nodes(nodes):
        return np.concatenate([p(part) for p, part in zip(polynomials, nodes, strict=True)])

    return at_nodes, integral


@pytest.mark.parametrize("family", ["gauss", "chebyshev"])
@pytest.mark.parametrize("edges", EDGES)
def test_integration_is_exact_for_piecewise_polynomials(rng, family, edges):
    panels = Panels(edges, 6, family)
    at_nodes, integral = pieces(rng, edges, 5)
    points = np.concatenate([np.linspace(0.0, 1.0, 13), edges])
    values = at_nodes(panels.nodes.reshape(len(edges) - 1, 6))
    np.testing.assert_allclose(panels.integration_to(points) @ values, integral(points), atol=TOL)


@pytest.mark.parametrize("edges", EDGES)
def test_gauss_weights_are_exact_to_twice_the_degree_and_positive(rng, edges):
    panels = Panels(edges, 4, "gauss")
    at_nodes, integral = pieces(rng, edges, 7)
    values = at_nodes(panels.nodes.reshape(len(edges) - 1, 4))
    np.testing.assert_allclose(panels.weights @ values, integral(1.0), atol=TOL)
    assert np.all(panels.weights > 0)
    assert panels.weights.sum() == pytest.approx(1.0, abs=TOL)


@pytest.mark.parametrize("family", ["gauss", "chebyshev"])
def test_nodes_stay_in_their_panels_and_increase(family):
    edges = (0.0, 0.2, 0.5, 1.0)
    nodes = Panels(edges, 7, family).nodes.reshape(3, 7)
    assert np.all(np.diff(nodes, axis=1) > 0)
    assert np.all(nodes >= np.array(edges[:-1])[:, None])
    assert np.all(nodes <= np.array(edges[1:])[:, None])


def test_chebyshev_panels_end_exactly_at_their_edges(rng):
    """One rounding off, and a piecewise strain would be taken from the wrong side of a break."""
    for _ in range(200):
        edges = (0.0, *np.sort(np.round(rng.uniform(0.01, 0.99, 2), 2)), 1.0)
        if edges[1] == edges[2]:
            continue
        nodes = Panels(edges, 5, "chebyshev").nodes.reshape(3, 5)
        np.testing.assert_array_equal(nodes[:, 0], edges[:-1])
        np.testing.assert_array_equal(nodes[:, -1], edges[1:])


def test_integration_to_zero_is_nothing_and_to_one_the_weights():
    panels = Panels((0.0, 0.4, 1.0), 5)
    operator = panels.integration_to(np.array([0.0, 1.0]))
    np.testing.assert_allclose(operator[0], 0.0, atol=TOL)
    np.testing.assert_allclose(operator[1], panels.weights, atol=TOL)


@pytest.mark.parametrize("family", ["gauss", "chebyshev"])
@pytest.mark.parametrize("count", [2, 5, 12])
def test_differentiation_is_exact_on_polynomials(rng, count, family):
    panels = Panels((0.0, 1.0), count, family)
    p = np.polynomial.Polynomial(rng.normal(size=count))
    np.testing.assert_allclose(
        panels.differentiation @ p(panels.nodes), p.deriv()(panels.nodes), atol=1e-13 * count**4
    )
