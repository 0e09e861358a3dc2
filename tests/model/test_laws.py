"""Laws of time: values, corners, and what may not be a law."""

import jax
import numpy as np
import pytest

import supple as sp
from supple.model.laws import as_law


def values(law, times):
    return np.array([float(law(np.asarray(float(t)))) for t in times])


def test_a_ramp_rises_once_and_stays():
    law = sp.ramp(1.0, 3.0, height=4.0)
    np.testing.assert_allclose(values(law, [0, 1, 1.5, 3, 9]), [0, 0, 1, 4, 4])
    assert law.corners == (1.0, 3.0)


def test_a_ramp_may_have_several_heights():
    heights = np.arange(6.0)
    np.testing.assert_allclose(sp.ramp(0.0, 2.0, heights)(np.asarray(0.5)), heights / 4)


def test_a_triangle_rises_and_falls():
    law = sp.triangle(0.0, 2.5, 5.0, height=2.0)
    np.testing.assert_allclose(values(law, [-1, 0, 1.25, 2.5, 4.0, 6.0]), [0, 0, 1, 2, 0.8, 0])
    assert law.corners == (0.0, 2.5, 5.0)


def test_a_table_interpolates_linearly_and_holds_its_ends():
    law = sp.Table([0.0, 1.0, 4.0], [1.0, 3.0, 0.0])
    np.testing.assert_allclose(values(law, [-2, 0.5, 2.0, 5.0]), [1, 2, 2, 0])


@pytest.mark.parametrize(
    ("times", "points"), [([0.0, 0.0], [1, 2]), ([1.0, 0.0], [1, 2]), ([0.0], [1, 2]), ([], [])]
)
def test_bad_tables_are_refused(times, points):
    with pytest.raises(sp.DescriptionError, match=r"Table: times: got .*need increasing times"):
        sp.Table(times, points)


def test_numbers_functions_and_laws_become_laws():
    assert values(as_law(2.5), [0, 7]).tolist() == [2.5, 2.5]
    np.testing.assert_allclose(values(as_law(lambda t: t * t), [0, 3]), [0, 9])
    law = sp.Function(lambda t: 1.0, kinks=(0.5,))
    assert as_law(law) is law
    assert law.corners == (0.5,)
    assert as_law(1.0).corners == ()


def test_heights_are_differentiable():
    slope = jax.grad(lambda height: sp.ramp(0.0, 2.0, height)(np.asarray(0.5)))(3.0)
    assert float(slope) == pytest.approx(0.25)


def test_a_spline_may_pass_through_traced_values():
    times, heights = np.array([0.0, 1.0, 2.5, 3.0, 4.0]), np.array([0.0, 1.0, -0.5, 2.0, 0.3])

    def at(heights):
        return sp.Spline(times, heights)(np.asarray(1.7))

    slope = jax.jacfwd(at)(heights)
    np.testing.assert_allclose(slope @ heights, at(heights), rtol=1e-12)  # linear in its heights
    for k in range(5):
        np.testing.assert_allclose(slope[k], at(heights + np.eye(5)[k]) - at(heights), atol=1e-12)


def test_kinks_of_stresses_and_driven_joints_are_corners_of_the_model():
    def motion(t):
        return np.zeros(3), np.zeros(3)

    def stress(X, t):
        return np.zeros((len(X), 6))

    rod = sp.Rod("arm", length=1.0, section=sp.Circle(0.01), material=sp.Material(E=1e6, density=1e3),
                 strains="planar", basis=1, joint=sp.Driven(motion, kinks=[0.5]))  # fmt: skip
    muscle = sp.ActiveStress("muscle", on="arm", stress=stress, kinks=(0.1, 0.7))
    assert sp.Robot(rod, muscle).build().corners == (0.1, 0.5, 0.7)
    with pytest.raises(sp.DescriptionError, match="muscle: kinks"):
        sp.ActiveStress("muscle", on="arm", stress=stress, kinks=("soon",))
