"""Magnus steps: their observed order and the cases they integrate exactly."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.space import magnus
from tests.space.rods import integrated_pose
from tests.tools import jit

steps = jit(lambda k, h: magnus.cumulative_rotations(magnus.step_rotation_vectors(k, h)))


def wavy(u):
    """A curvature (1/m) with all three components, none proportional to another."""
    return np.stack([2.0 * np.sin(3 * u), 1.5 * np.cos(4 * u) + u, 2.5 - 3 * u * u], axis=-1)


def end_rotation(order: int, count: int) -> np.ndarray:
    starts = np.arange(count) / count
    points = starts[:, None] + magnus.GAUSS_POINTS[order] / count
    return np.asarray(steps(jnp.asarray(wavy(points)), jnp.full(count, 1 / count)))[-1]


@pytest.mark.parametrize("order", [4, 6])
def test_observed_order_is_the_nominal_one(order):
    exact, _ = integrated_pose(lambda u: np.concatenate([wavy(u), np.zeros(3)]), 1.0, 1.0)
    counts = np.array([4, 8, 16])
    errors = [np.abs(end_rotation(order, n) - exact).max() for n in counts]
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.4  # far from the asymptote with so few steps
    assert errors[-1] < {4: 1e-4, 6: 1e-7}[order]


@pytest.mark.parametrize("order", [4, 6])
def test_constant_curvature_is_exact_in_one_step(order):
    curvature = np.array([1.0, -2.0, 0.5])
    k = np.broadcast_to(curvature, (1, len(magnus.GAUSS_POINTS[order]), 3))
    found = steps(jnp.asarray(k), jnp.array([0.7]))[0]
    np.testing.assert_allclose(found, Rotation.from_rotvec(0.7 * curvature).as_matrix(), atol=1e-14)


def test_a_planar_curvature_only_adds_angles():
    """No commutators in a plane: the order 6 step integrates quintics exactly."""
    points = magnus.GAUSS_POINTS[6]
    bend = 5 * points**5 - points
    k = np.stack([0 * bend, 0 * bend, bend], axis=-1)[None]
    found = steps(jnp.asarray(k), jnp.array([1.0]))[0]
    expected = Rotation.from_rotvec([0, 0, 5 / 6 - 1 / 2]).as_matrix()
    np.testing.assert_allclose(found, expected, atol=1e-14)
