"""The analytic tangent against automatic differentiation of the inverse dynamics."""

import numpy as np
import pytest

from supple.mechanics.element_motion import Coordinates, neutral
from tests.samples import model_of, random_motion
from tests.tools import check_tangent, tangent

# Relative to the largest entry, for rods curved by up to 3 rad. The analytic tangent differentiates
# exact poses, automatic differentiation the steps and quadratures that compute them: the gap is the
# pose error of the grid. On the default grid that is 5e-9 at worst, at the tip and where things hang
# inside a rod (the tree); on a fine grid (the crawler) it is nothing.
TOL = {"crawler": 1e-10, "x_joints": 1e-10}
TOL_DEFAULT = 1e-8
TOL_STRAIGHT = 1e-10


@pytest.mark.parametrize(
    "robot", ["clamped", "reissner", "floating", "driven", "tree", "crawler", "x_joints"]
)
def test_tangent_is_the_derivative_at_a_random_motion(rng, robot):
    model = model_of(robot)
    for _ in range(5):
        check_tangent(model, random_motion(model, rng), TOL.get(robot, TOL_DEFAULT))


@pytest.mark.parametrize("robot", ["floating", "tree"])
def test_tangent_is_the_derivative_at_the_center_of_the_chart(rng, robot):
    model = model_of(robot)
    check_tangent(model, random_motion(model, rng, x=0.0), TOL.get(robot, TOL_DEFAULT))


@pytest.mark.parametrize("robot", ["floating", "tree"])
def test_tangent_is_the_derivative_at_rest(robot):
    """Straight rods, joints at zero, no motion: where formulas may divide by zero."""
    model = model_of(robot)
    zero = np.zeros(model.nv)
    check_tangent(
        model, Coordinates(neutral(model), zero, zero, zero, np.asarray(0.3)), TOL_STRAIGHT
    )


def test_mass_does_not_depend_on_rates_and_is_symmetric(rng):
    model = model_of("tree")
    c = random_motion(model, rng)
    still = c._replace(xdot=0 * c.xdot, xddot=0 * c.xddot)
    mass = np.asarray(tangent(model, c).mass)
    np.testing.assert_allclose(mass, tangent(model, still).mass, atol=1e-12 * np.abs(mass).max())
    np.testing.assert_allclose(mass, mass.T, atol=1e-12 * np.abs(mass).max())
