"""Section moments against numerical integration and tabulated torsion constants."""

import numpy as np
import pytest
from scipy import integrate

import supple as sp

TOL = 1e-9  # adaptive quadrature over a section
TOL_TABLE = 6e-4  # Roark's table gives three digits
U = np.linspace(0.0, 1.0, 4)


def integrated(half_height, y_max):
    """Area, ∫ z² and ∫ y² over |z| <= half_height(y), |y| <= y_max."""

    def moment(power_y, power_z):
        def strip(y):
            h = half_height(y)
            return y**power_y * 2 * h ** (power_z + 1) / (power_z + 1)

        return integrate.quad(strip, -y_max, y_max, epsabs=0, epsrel=1e-12, limit=200)[0]

    return moment(0, 0), moment(0, 2), moment(2, 0)


SOLID = {
    "circle": (sp.Circle(0.3), lambda y: np.sqrt(0.09 - y * y), 0.3),
    "ellipse": (sp.Ellipse(0.4, 0.1), lambda y: 0.1 * np.sqrt(1 - (y / 0.4) ** 2), 0.4),
    "rectangle": (sp.Rectangle(0.5, 0.2), lambda y: 0.1, 0.25),
}


@pytest.mark.parametrize("name", SOLID)
def test_area_and_second_moments_are_the_integrals(name):
    shape, half_height, y_max = SOLID[name]
    m = shape.moments(U)
    for found, expected in zip(m[:3], integrated(half_height, y_max), strict=True):
        np.testing.assert_allclose(found, np.full(len(U), expected), rtol=TOL)
    np.testing.assert_allclose(m.polar, m.second_y + m.second_z)


def test_a_tube_is_a_circle_less_a_circle():
    tube, outer, inner = (s.moments(U) for s in (sp.Tube(0.3, 0.2), sp.Circle(0.3), sp.Circle(0.2)))
    for k in range(4):
        np.testing.assert_allclose(tube[k], outer[k] - inner[k], rtol=1e-14)
    for a, b in zip(sp.Tube(0.3, 0.0).moments(U), outer, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_torsion_of_round_sections_is_polar():
    for shape in (sp.Circle(0.3), sp.Tube(0.3, 0.2), sp.Ellipse(0.3, 0.3)):
        m = shape.moments(U)
        np.testing.assert_allclose(m.torsion, m.polar, rtol=1e-14)


@pytest.mark.parametrize(
    ("ratio", "coefficient"),
    # J = c a b³ for sides a >= b (Timoshenko & Goodier, Theory of Elasticity, table of torsion)
    [(1.0, 0.1406), (1.2, 0.166), (1.5, 0.196), (2.0, 0.229), (2.5, 0.249), (3.0, 0.263),
     (4.0, 0.281), (5.0, 0.291), (10.0, 0.312)],
)  # fmt: skip
def test_rectangle_torsion_matches_the_table_both_ways_round(ratio, coefficient):
    b = 0.02
    for shape in (sp.Rectangle(ratio * b, b), sp.Rectangle(b, ratio * b)):
        found = shape.moments(U).torsion / (ratio * b**4)
        np.testing.assert_allclose(found, coefficient, atol=TOL_TABLE)


def test_thin_rectangle_torsion_tends_to_one_third():
    a, b = 1.0, 1e-3
    found = sp.Rectangle(a, b).moments(U).torsion
    np.testing.assert_allclose(found, a * b**3 / 3 * (1 - 0.6302 * b / a), rtol=1e-6)


def test_square_torsion_matches_a_solved_prandtl_function():
    """∇²φ = -2, φ = 0 on the edge, J = 2 ∫ φ, by finite differences extrapolated to zero width."""
    import scipy.sparse as sparse
    from scipy.sparse.linalg import spsolve

    def torsion(n, ratio):
        hx, hy = ratio / (n + 1), 1.0 / (n + 1)
        second = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n))
        eye = sparse.identity(n)
        laplace = sparse.kron(second / hx**2, eye) + sparse.kron(eye, second / hy**2)
        return 2 * hx * hy * spsolve(laplace.tocsc(), -2 * np.ones(n * n)).sum()

    for ratio in (1.0, 1.7):
        coarse, fine = torsion(39, ratio), torsion(79, ratio)
        expected = fine + (fine - coarse) / 3
        found = sp.Rectangle(ratio, 1.0).moments(U).torsion
        np.testing.assert_allclose(found, expected, rtol=3e-5)  # extrapolated, corners O(h³ log h)


def test_dimensions_may_vary_along_the_rod():
    u = np.linspace(0.0, 1.0, 7)
    tapered = sp.Circle(lambda u: 0.02 - 0.01 * u).moments(u)
    for k, x in enumerate(u):
        single = sp.Circle(0.02 - 0.01 * x).moments(np.zeros(1))
        np.testing.assert_allclose([m[k] for m in tapered], [m[0] for m in single], rtol=1e-14)


@pytest.mark.parametrize(
    ("shape", "field", "value"),
    [
        (sp.Circle(0.0), "section.radius", "0.0"),
        (sp.Circle(-1e-3), "section.radius", "-0.001"),
        (sp.Circle(np.nan), "section.radius", "nan"),
        (sp.Circle(np.inf), "section.radius", "inf"),
        (sp.Circle("1e-3"), "section.radius", "'1e-3'"),
        (sp.Circle(None), "section.radius", "None"),
        (sp.Circle(lambda u: 0.1 - 0.2 * u), "section.radius", "every u"),
        (sp.Tube(0.1, 0.1), "section.inner", "0.1"),
        (sp.Tube(0.1, -0.1), "section.inner", "-0.1"),
        (sp.Ellipse(0.1, 0.0), "section.semi_z", "0.0"),
        (sp.Rectangle(-0.1, 0.2), "section.width_y", "-0.1"),
    ],
)
def test_impossible_dimensions_are_refused_by_name(shape, field, value):
    with pytest.raises(sp.DescriptionError) as caught:
        shape.check("arm")
    message = str(caught.value)
    assert message.startswith(f"arm: {field}: ")
    assert value in message
    assert "need" in message
