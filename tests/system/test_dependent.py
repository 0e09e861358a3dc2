"""Equations that depend on each other where a robot is: solved where that can be, told where it cannot."""

import jax
import jax.numpy as jnp
import numpy as np

from supple.mechanics.element_motion import Coordinates, neutral
from supple.mechanics.inverse_dynamics import balance
from supple.system.combination import at_rest
from supple.system.linear import linearize
from tests.system.test_linear import robot
from tests.tools import jit


def test_parallel_straight_legs_have_every_solution_but_the_forces_against_each_other(rng):
    """Eighteen equations of rank fifteen: what they ask for together has a solution, no other has."""
    model = robot("legs")
    zero, forces = np.zeros(model.nv), np.zeros(model.equations)
    c = Coordinates(neutral(model), zero, zero, zero, jnp.zeros(()), forces)
    n = model.nv
    motion = rng.normal(size=n + model.equations)

    def solved(model, c, motion, more):
        (system,) = linearize(model, c, balance(model, c), (at_rest(mass=10.0),))
        factors = system.factorize()
        right = system.apply(motion)
        _, slope = jax.jvp(factors.solve_checked, (0 * right,), (right,))
        wrong = jax.jvp(factors.solve_checked, (0 * right,), (right + more,))
        return factors.solve(right), slope, wrong[1], system.apply(factors.solve(right)) - right

    rows = np.zeros(n + model.equations)
    rows[n] = 0.1  # one leg alone becomes longer
    found, slope, wrong, left = map(np.asarray, jit(solved)(model, c, motion, rows))
    np.testing.assert_allclose(found[:n], motion[:n], atol=1e-8)
    np.testing.assert_allclose(left, 0.0, atol=1e-8)
    assert np.abs(found[n:]).max() < 10 * np.abs(motion[n:]).max()
    np.testing.assert_array_equal(slope, found)
    assert np.all(np.isnan(wrong))
