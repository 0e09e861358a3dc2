"""Damped Gauss-Newton on problems with known solutions."""

import jax.numpy as jnp
import numpy as np

from supple.solve.least_squares import least_squares
from tests.tools import jit


def solved(residual, start, **options):
    return jit(lambda x: least_squares(residual, jnp.add, jnp.zeros_like(x), x, **options))(
        jnp.asarray(start)
    )


def test_a_curved_valley_is_followed_to_its_end():
    """Rosenbrock's function from its usual start."""
    found = solved(lambda x: jnp.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), [-1.2, 1.0])
    assert found.converged
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-12)


def test_a_line_fit_is_the_textbooks(rng):
    t = np.linspace(0.0, 1.0, 30)
    y = 2 - 3 * t + 0.1 * rng.normal(size=30)
    found = solved(lambda x: x[0] + x[1] * t - y, [0.0, 0.0])
    assert found.converged
    np.testing.assert_allclose(found.x, np.polynomial.polynomial.polyfit(t, y, 1), atol=1e-8)


def test_what_is_undetermined_stays_put():
    found = solved(lambda x: jnp.array([x[0] + x[1] - 1.0]), [0.0, 0.0])
    assert found.converged
    np.testing.assert_allclose(found.x, [0.5, 0.5], atol=1e-9)


def test_giving_up_is_told():
    found = solved(
        lambda x: jnp.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), [-1.2, 1.0], max_iterations=3
    )
    assert not found.converged
    assert found.iterations == 3
