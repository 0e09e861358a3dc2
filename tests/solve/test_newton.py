"""Newton's method on small systems: convergence, damping, failure, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

from supple.solve.newton import NewtonSettings, newton
from supple.system.dense import factorize_dense
from tests.tools import jit

SETTINGS = NewtonSettings(tolerance=1e-10, max_iterations=60)


def solve(residual, x0, settings=SETTINGS):
    def evaluate(x):
        return residual(x), None

    def linearize(x, _):
        return factorize_dense(jax.jacfwd(residual)(x))

    run = jit(lambda x: newton(evaluate, linearize, x, jnp.ones(len(x0)), settings))
    return run(jnp.asarray(x0))


def test_a_linear_system_is_solved_at_once(rng):
    A, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    found = solve(lambda x: A @ x - b, np.zeros(4))
    assert bool(found.converged)
    assert int(found.iterations) == 1
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), atol=1e-12)


def test_a_nonlinear_system_converges_to_its_root():
    """x² + y² = 4, x y = 1 has the root ((√6 + √2)/2, (√6 - √2)/2)."""
    found = solve(lambda z: jnp.stack([z @ z - 4, z[0] * z[1] - 1]), [2.5, 0.1])
    assert bool(found.converged)
    root = [(np.sqrt(6) + np.sqrt(2)) / 2, (np.sqrt(6) - np.sqrt(2)) / 2]
    np.testing.assert_allclose(found.x, root, atol=1e-12)


def test_damping_saves_a_start_from_which_full_steps_diverge():
    """atan(x) = 0 from 3: undamped Newton jumps to -9.5, then 124, …"""
    found = solve(jnp.arctan, [3.0])
    assert bool(found.converged)
    np.testing.assert_allclose(found.x, [0.0], atol=1e-10)


def test_a_kept_matrix_that_misleads_is_renewed_instead_of_damping():
    """With the matrix of the start the updates are 1, 1e-3 and 1; damped ones need a factor below 1e-3."""

    def residual(x):
        return jnp.stack([x[0] - 1, x[1] - 1e3 * x[0] * x[2], x[2] - 1e-3 * x[0] ** 2])

    found = solve(residual, np.zeros(3))
    assert bool(found.converged)
    assert int(found.iterations) <= 4
    np.testing.assert_allclose(found.x, [1.0, 1.0, 1e-3], atol=1e-12)


def test_a_start_at_the_root_is_left_alone():
    """Updates below the tolerance need not shrink: nothing but round-off may be left of the residual."""

    def noisy(x):
        return x - 1.0 + 3e-11 * jnp.sin(1e13 * x), None

    def exact(x, _):
        return factorize_dense(jnp.eye(4))

    starts = 1.0 + 1e-12 * jnp.arange(80.0).reshape(20, 4)
    run = jit(jax.vmap(lambda x: newton(noisy, exact, x, jnp.ones(4), SETTINGS)))
    found = run(starts)
    assert np.all(found.converged)
    np.testing.assert_allclose(found.x, np.ones((20, 4)), atol=1e-10)
    assert found.iterations.max() <= 3


def test_a_system_without_root_is_reported_and_stays_finite():
    found = solve(lambda x: x**2 + 1.0, [0.7])
    assert not bool(found.converged)
    assert np.all(np.isfinite(found.x))


def test_nan_is_reported_at_once():
    found = solve(lambda x: jnp.log(x), [-1.0])
    assert not bool(found.converged)
    assert int(found.iterations) == 0


def test_a_singular_matrix_is_reported():
    found = solve(lambda x: jnp.stack([x[0] + x[1] - 1, x[0] + x[1] - 2]), [0.0, 0.0])
    assert not bool(found.converged)


def test_the_worst_coordinate_is_the_one_that_still_moves():
    found = solve(
        lambda x: jnp.stack([x[0] - 1, x[1] ** 2 + 1.0]),
        [0.0, 0.7],
        NewtonSettings(tolerance=1e-10, max_iterations=5),
    )
    assert int(found.worst) == 1


def test_what_the_residual_leaves_behind_is_what_the_derivative_gets():
    """z² = a from the work of the residual alone; one evaluation and one trial for each update."""

    def evaluate(x):
        return x**2 - 2.0, 2.0 * x

    found = jit(
        lambda x: newton(
            evaluate, lambda _, slope: factorize_dense(jnp.diag(slope)), x, jnp.ones(2), SETTINGS
        )
    )(jnp.array([1.0, 3.0]))
    assert bool(found.converged)
    np.testing.assert_allclose(found.x, np.sqrt([2.0, 2.0]), atol=1e-12)


def test_lu_factors_solve(rng):
    A, b = rng.normal(size=(5, 5)), rng.normal(size=5)
    A[0, 0] = 0.0  # needs a row exchange
    np.testing.assert_allclose(
        jit(lambda A, b: factorize_dense(A).solve(b))(A, b), np.linalg.solve(A, b), atol=1e-12
    )


def test_updates_that_round_off_keeps_from_shrinking_end_the_solve():
    """A residual known to six decimals: at the root the updates are half a millionth, to and fro."""

    def residual(x):
        return (jnp.floor(1e6 * (x - 0.3)) + 0.5) / 1e6, None

    def find(round_off):
        settings = NewtonSettings(tolerance=1e-10, max_iterations=60, round_off=round_off)
        factors = factorize_dense(jnp.eye(1))
        run = jit(lambda x: newton(residual, lambda *_: factors, x, jnp.ones(1), settings))
        return run(jnp.zeros(1))

    assert not bool(find(0.0).converged)
    assert not bool(find(1e-7).converged)
    found = find(1e-5)
    assert bool(found.converged)
    np.testing.assert_allclose(found.x, [0.3], atol=1e-6)
