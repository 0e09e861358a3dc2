"""Rigid motions, adjoint maps and the duality of twists and wrenches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from supple.lie import Pose, se3 as module, so3
from tests.tools import compiled, jit

se3 = compiled(module)
exp_so3 = jit(so3.exp)

TOL = 1e-13  # products of a few matrices with entries of size 1 to 10
TOL_LOG = 1e-12  # one small linear solve more
COUNT = 6


@pytest.fixture
def g(rng) -> Pose:
    return random_pose(rng)


@pytest.fixture
def twists(rng) -> tuple[jax.Array, jax.Array]:
    return tuple(jnp.asarray(x) for x in rng.normal(size=(2, COUNT, 6)))


def random_pose(rng: np.random.Generator) -> Pose:
    """Poses turned by up to π, near zero and near π among them."""
    angles = np.array([1e-9, 5e-3, 0.7, 1.9, 3.0, np.pi - 1e-7])
    axis = rng.normal(size=(COUNT, 3))
    w = angles[:, None] * axis / np.linalg.norm(axis, axis=1, keepdims=True)
    return Pose(exp_so3(jnp.asarray(w)), jnp.asarray(rng.normal(size=(COUNT, 3))))


def dot(a, b):
    return np.einsum("...i,...i->...", a, b)


def times(matrix, vector):
    return np.einsum("...ij,...j->...i", matrix, vector)


def hat4(x: np.ndarray) -> np.ndarray:
    """4x4 matrix of a twist."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = np.cross(np.eye(3), x[:3])
    matrix[:3, 3] = x[3:]
    return matrix


def test_pose_product_and_inverse_are_those_of_homogeneous_matrices(rng, g):
    h = random_pose(rng)
    np.testing.assert_allclose((g @ h).matrix(), g.matrix() @ h.matrix(), atol=TOL)
    np.testing.assert_allclose(g.inverse().matrix(), np.linalg.inv(g.matrix()), atol=TOL)
    np.testing.assert_allclose(
        (g @ g.inverse()).matrix(), np.broadcast_to(np.eye(4), (COUNT, 4, 4)), atol=TOL
    )
    point = jnp.asarray(rng.normal(size=(COUNT, 3)))
    moved = times(g.matrix(), np.concatenate([point, np.ones((COUNT, 1))], axis=1))
    np.testing.assert_allclose(g.apply(point), moved[:, :3], atol=TOL)


def test_identity_moves_nothing(g):
    np.testing.assert_array_equal((module.identity((COUNT,)) @ g).matrix(), g.matrix())
    one = Pose(g.rotation[0], g.position[0])
    np.testing.assert_array_equal((one @ module.identity()).matrix(), one.matrix())


@pytest.mark.parametrize("size", [0.0, 1e-9, 5e-3, 0.02, 1.0, 3.0])
def test_exp_matches_the_matrix_exponential(rng, size):
    x = size * rng.normal(size=6)
    x[:3] *= 1 / max(1.0, np.linalg.norm(x[:3]) / 3)
    expected = scipy.linalg.expm(hat4(x))
    np.testing.assert_allclose(se3.exp(jnp.asarray(x)).matrix(), expected, atol=TOL)


def test_log_inverts_exp_and_exp_inverts_log(rng, g):
    x = rng.normal(size=(COUNT, 6))
    np.testing.assert_allclose(se3.log(se3.exp(jnp.asarray(x))), x, atol=TOL_LOG)
    np.testing.assert_allclose(se3.exp(se3.log(g)).matrix(), g.matrix(), atol=TOL_LOG)


def test_log_and_exp_have_finite_derivatives_at_the_identity():
    zero = jnp.zeros(6)
    there_and_back = jit(jax.jacrev(lambda x: se3.log(se3.exp(x))))(zero)
    np.testing.assert_allclose(there_and_back, np.eye(6), atol=TOL)


def test_adjoint_is_a_homomorphism(rng, g):
    h = random_pose(rng)
    np.testing.assert_allclose(se3.adjoint(g @ h), se3.adjoint(g) @ se3.adjoint(h), atol=TOL)
    np.testing.assert_allclose(se3.adjoint(g.inverse()), np.linalg.inv(se3.adjoint(g)), atol=TOL)


def test_adjoint_conjugates_the_twist_matrix(g, twists):
    x = np.asarray(twists[0])
    carried = se3.to_world(g, twists[0])
    for k in range(COUNT):
        matrix = np.asarray(g.matrix()[k])
        expected = matrix @ hat4(x[k]) @ np.linalg.inv(matrix)
        np.testing.assert_allclose(hat4(np.asarray(carried[k])), expected, atol=TOL)


def test_adjoint_of_exp_is_the_exponential_of_ad(rng):
    x = rng.normal(size=6)
    expected = scipy.linalg.expm(np.asarray(se3.ad_matrix(jnp.asarray(x))))
    np.testing.assert_allclose(se3.adjoint(se3.exp(jnp.asarray(x))), expected, atol=TOL)


def test_ad_is_the_commutator_of_twist_matrices(twists):
    x, y = (np.asarray(t) for t in twists)
    found = np.asarray(se3.ad(*twists))
    for k in range(COUNT):
        a, b = hat4(x[k]), hat4(y[k])
        np.testing.assert_allclose(hat4(found[k]), a @ b - b @ a, atol=TOL)


def test_adjoint_maps_brackets_to_brackets(g, twists):
    x, y = twists
    left = se3.to_world(g, se3.ad(x, y))
    right = se3.ad(se3.to_world(g, x), se3.to_world(g, y))
    np.testing.assert_allclose(left, right, atol=TOL)


def test_ad_satisfies_the_jacobi_identity(rng, twists):
    x, y = twists
    z = jnp.asarray(rng.normal(size=(COUNT, 6)))
    cyclic = se3.ad(x, se3.ad(y, z)) + se3.ad(y, se3.ad(z, x)) + se3.ad(z, se3.ad(x, y))
    np.testing.assert_allclose(cyclic, np.zeros((COUNT, 6)), atol=TOL)


def test_power_is_the_same_in_every_frame(rng, g, twists):
    x, f = twists
    power = dot(f, x)
    np.testing.assert_allclose(dot(se3.wrench_to_world(g, f), se3.to_world(g, x)), power, atol=TOL)
    np.testing.assert_allclose(dot(se3.wrench_to_body(g, f), se3.to_body(g, x)), power, atol=TOL)


def test_maps_to_body_invert_maps_to_world(g, twists):
    x, f = twists
    np.testing.assert_allclose(se3.to_body(g, se3.to_world(g, x)), x, atol=TOL)
    np.testing.assert_allclose(se3.wrench_to_body(g, se3.wrench_to_world(g, f)), f, atol=TOL)


def test_componentwise_maps_equal_their_matrices(g, twists):
    x, f = twists
    np.testing.assert_allclose(se3.to_world(g, x), times(se3.adjoint(g), x), atol=TOL)
    transposed = np.swapaxes(se3.adjoint(g.inverse()), 1, 2)
    np.testing.assert_allclose(se3.wrench_to_world(g, f), times(transposed, f), atol=TOL)
    ad = se3.ad_matrix(x)
    np.testing.assert_allclose(se3.ad(x, f), times(ad, f), atol=TOL)
    np.testing.assert_allclose(se3.ad_transpose(x, f), times(np.swapaxes(ad, 1, 2), f), atol=TOL)


def test_coad_swaps_the_arguments_of_ad_transpose(twists):
    x, f = twists
    matrix = np.asarray(se3.coad_matrix(f))
    np.testing.assert_allclose(times(matrix, x), se3.ad_transpose(x, f), atol=TOL)
    np.testing.assert_array_equal(matrix, -np.swapaxes(matrix, 1, 2))


def test_column_versions_act_on_each_column(rng, g, twists):
    x = twists[0]
    columns = jnp.asarray(rng.normal(size=(COUNT, 6, 4)))
    each = [columns[..., k] for k in range(4)]
    for found, expected in (
        (se3.ad_columns(x, columns), [se3.ad(x, c) for c in each]),
        (se3.coad_columns(x, columns), [se3.ad_transpose(c, x) for c in each]),
        (se3.columns_to_world(g, columns), [se3.to_world(g, c) for c in each]),
    ):
        np.testing.assert_allclose(found, np.stack(expected, axis=-1), atol=TOL)


def test_inertia_carried_to_the_world_keeps_kinetic_energy(rng, g, twists):
    root = rng.normal(size=(COUNT, 6, 6))
    M = jnp.asarray(root @ np.swapaxes(root, 1, 2))
    x = twists[0]
    world = se3.to_world(g, x)
    np.testing.assert_allclose(
        dot(world, times(se3.matrix_to_world(g, M), world)), dot(x, times(M, x)), rtol=1e-12
    )


def test_world_twist_is_the_rate_of_the_pose(rng):
    """Spatial twist of g(t) = g₀ exp(t x): ġ g⁻¹ = (Ad(g) x)^."""
    x = jnp.asarray(rng.normal(size=6))
    start = Pose(exp_so3(jnp.asarray(rng.normal(size=3))), jnp.asarray(rng.normal(size=3)))
    motion = jit(lambda t: jax.jvp(lambda t: (start @ se3.exp(t * x)).matrix(), (t,), (1.0,)))
    pose, rate = motion(0.4)
    at = start @ se3.exp(0.4 * x)
    expected = hat4(np.asarray(se3.to_world(at, x)))
    np.testing.assert_allclose(rate @ np.linalg.inv(pose), expected, atol=TOL)
