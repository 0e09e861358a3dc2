"""Rotations against SciPy, automatic differentiation and their own algebra, near 0 and near π too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.lie import so3 as module
from tests.tools import compiled, jit

so3 = compiled(module)

TOL = 2e-14  # a few roundings of numbers of size 1
TOL_ANGLE = 1e-13  # rotation vectors of length up to π, through a square root
TOL_NEAR_PI = 1e-12  # log near π, where R - Rᵀ vanishes and the symmetric part must serve
TOL_DERIVATIVE = 1e-11  # closed forms just above the switch lose digits with each derivative
TOL_SECOND = 1e-8  # second derivatives there: about ε/θ⁴, θ = 0.01

# Around zero, on both sides of the switch between series and closed form (θ = 0.01, or 0.02 for
# half angles), of ordinary size, and up to π.
ANGLES = np.array(
    [0.0, 1e-300, 1e-12, 1e-8, 1e-5, 9.99e-3, 1.001e-2, 1.999e-2, 2.001e-2, 0.3, 1.0, 2.0, 3.0]
)
NEAR_PI = np.pi - np.array([1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
BEYOND = np.array([np.pi + 0.1, 4.0, 6.0, 7.5, 20.0])


def axes(rng: np.random.Generator, count: int) -> np.ndarray:
    """Unit vectors, the coordinate axes among them."""
    drawn = rng.normal(size=(count, 3))
    drawn[:3] = np.eye(3)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def vectors(rng: np.random.Generator, angles: np.ndarray) -> np.ndarray:
    """Every angle about several axes, (n, 3)."""
    return (angles[:, None, None] * axes(rng, 7)).reshape(-1, 3)


def test_hat_is_the_cross_product(rng):
    a, b = rng.normal(size=(2, 5, 3))
    np.testing.assert_allclose(
        np.einsum("nij,nj->ni", so3.hat(jnp.asarray(a)), b), np.cross(a, b), atol=TOL
    )


def test_exp_matches_scipy_at_every_angle(rng):
    w = vectors(rng, np.concatenate([ANGLES, NEAR_PI, BEYOND]))
    expected = Rotation.from_rotvec(w).as_matrix()
    np.testing.assert_allclose(so3.exp(jnp.asarray(w)), expected, atol=TOL)


def test_exp_keeps_leading_batch_axes(rng):
    w = rng.normal(size=(2, 3, 3))
    batched = np.asarray(so3.exp(jnp.asarray(w)))
    single = np.stack([[so3.exp(jnp.asarray(x)) for x in row] for row in w])
    assert batched.shape == (2, 3, 3, 3)
    np.testing.assert_allclose(batched, single, atol=TOL)


@pytest.mark.parametrize("angles", [ANGLES, NEAR_PI], ids=["ordinary", "near pi"])
def test_log_inverts_exp(rng, angles):
    w = vectors(rng, angles)
    tolerance = TOL_ANGLE if angles is ANGLES else TOL_NEAR_PI
    np.testing.assert_allclose(so3.log(so3.exp(jnp.asarray(w))), w, atol=tolerance)


def test_log_of_tiny_rotations_keeps_relative_accuracy(rng):
    w = vectors(rng, np.array([1e-8, 1e-5, 1e-3]))
    error = np.abs(np.asarray(so3.log(so3.exp(jnp.asarray(w)))) - w)
    assert np.all(error.max(axis=1) <= 1e-12 * np.linalg.norm(w, axis=1))


def test_log_at_exactly_pi_is_a_half_turn_about_the_axis(rng):
    n = axes(rng, 12)
    w = np.asarray(so3.log(so3.exp(jnp.asarray(np.pi * n))))
    np.testing.assert_allclose(np.linalg.norm(w, axis=1), np.pi, atol=TOL_NEAR_PI)
    np.testing.assert_allclose(np.abs(np.sum(w * n, axis=1)), np.pi, atol=TOL_NEAR_PI)


def test_log_of_long_rotation_vectors_takes_the_short_way(rng):
    w = vectors(rng, BEYOND)
    found = np.asarray(so3.log(so3.exp(jnp.asarray(w))))
    assert np.all(np.linalg.norm(found, axis=1) <= np.pi + TOL_ANGLE)
    np.testing.assert_allclose(so3.exp(jnp.asarray(found)), so3.exp(jnp.asarray(w)), atol=1e-13)


def test_quaternion_exp_matches_scipy(rng):
    w = vectors(rng, np.concatenate([ANGLES, NEAR_PI, BEYOND]))
    expected = Rotation.from_rotvec(w).as_quat(scalar_first=True)
    found = np.asarray(so3.quaternion_exp(jnp.asarray(w)))
    sign = np.sign(np.sum(found * expected, axis=1, keepdims=True))
    np.testing.assert_allclose(found, sign * expected, atol=TOL)


def test_quaternion_from_matrix_matches_scipy_for_each_dominant_component(rng):
    turns = np.concatenate([vectors(rng, NEAR_PI), rng.normal(size=(40, 3)), np.zeros((1, 3))])
    rotation = Rotation.from_rotvec(turns)
    found = np.asarray(so3.quaternion_from_matrix(jnp.asarray(rotation.as_matrix())))
    expected = rotation.as_quat(canonical=True, scalar_first=True)
    assert set(np.argmax(np.abs(expected), axis=1)) == {0, 1, 2, 3}
    np.testing.assert_allclose(found, expected, atol=TOL)


def test_quaternion_product_is_the_matrix_product(rng):
    p, q = rng.normal(size=(2, 9, 4))
    p, q = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (p, q))
    product = so3.quaternion_to_matrix(so3.quaternion_product(jnp.asarray(p), jnp.asarray(q)))
    expected = so3.quaternion_to_matrix(jnp.asarray(p)) @ so3.quaternion_to_matrix(jnp.asarray(q))
    np.testing.assert_allclose(product, expected, atol=TOL)


def test_quaternion_log_does_not_see_the_sign(rng):
    q = rng.normal(size=(9, 4))
    q = jnp.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))
    np.testing.assert_allclose(so3.quaternion_log(q), so3.quaternion_log(-q), atol=TOL)


def body_rate(w, rate):
    """(Rᵀ Ṙ)^∨ of R = exp(w) along ẇ, by automatic differentiation."""
    R, dR = jax.jvp(so3.exp, (w,), (rate,))
    spin = R.T @ dR
    return jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]]), spin


def test_right_jacobian_is_the_body_rate_of_exp(rng):
    w = vectors(rng, np.concatenate([ANGLES, NEAR_PI, BEYOND]))
    rates = rng.normal(size=w.shape)
    found = np.einsum("nij,nj->ni", so3.right_jacobian(jnp.asarray(w)), rates)
    expected, spin = jit(jax.vmap(body_rate))(jnp.asarray(w), jnp.asarray(rates))
    np.testing.assert_allclose(found, expected, atol=TOL_DERIVATIVE)
    np.testing.assert_allclose(spin, -np.swapaxes(spin, 1, 2), atol=TOL_DERIVATIVE)


FUNCTIONS = {
    "exp": so3.exp,
    "right_jacobian": so3.right_jacobian,
    "quaternion_exp": so3.quaternion_exp,
    "log of exp": lambda w: so3.log(so3.exp(w)),
    "quaternion log of exp": lambda w: so3.quaternion_log(so3.quaternion_exp(w)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_at_zero_are_finite_and_agree_in_both_modes(name):
    function = FUNCTIONS[name]
    forward, reverse = jax.jacfwd(function), jax.jacrev(function)
    found = jit(lambda w: (forward(w), reverse(w)))(jnp.zeros(3))
    assert all(np.all(np.isfinite(part)) for part in found)
    np.testing.assert_allclose(*found, atol=TOL)


def test_log_of_exp_has_the_identity_as_derivative_at_zero_and_elsewhere(rng):
    points = jnp.asarray(vectors(rng, np.array([0.0, 1e-9, 5e-3, 2e-2, 1.5, 3.0])))
    found = jit(jax.vmap(jax.jacrev(FUNCTIONS["log of exp"])))(points)
    np.testing.assert_allclose(found, np.broadcast_to(np.eye(3), found.shape), atol=1e-11)


def test_second_derivatives_do_not_jump_where_the_series_takes_over(rng):
    """Rates and accelerations of joints use two derivatives of the right Jacobian."""
    axis, rate = (jnp.asarray(x) for x in axes(rng, 5)[3:])

    @jit
    def second(angle):
        def along(s):
            return so3.right_jacobian(angle * axis + s * rate)

        return jax.jvp(lambda s: jax.jvp(along, (s,), (1.0,))[1], (0.0,), (1.0,))[1]

    below, above = second(0.01 * (1 - 1e-9)), second(0.01 * (1 + 1e-9))
    np.testing.assert_allclose(below, above, atol=TOL_SECOND)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.1, 0.999, 1.001, 3.0, 6.0])
def test_rates_of_the_right_jacobian_are_its_derivatives(rng, angle):
    axis, dw, ddw = rng.normal(size=(3, 3))
    w = jnp.asarray(angle * axis / np.linalg.norm(axis))

    def along(t):
        return so3.right_jacobian(w + dw * t + ddw * t**2 / 2)

    found = so3.right_jacobian_rates(w, jnp.asarray(dw), jnp.asarray(ddw))
    expected = (
        along(0.0),
        jax.jacfwd(along)(0.0),
        jax.jacfwd(jax.jacfwd(along))(0.0),
        jax.jacfwd(so3.right_jacobian)(w),
    )
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-12)  # AD itself loses digits near zero
