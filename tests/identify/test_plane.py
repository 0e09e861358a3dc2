"""The plane of a bent rod: exact without noise, and the nearest one with it."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.identify import flatten
from supple.lie import so3

ANGLE = np.linspace(0.0, 1.5, 25)
ARC = 0.3 * np.stack([np.sin(ANGLE), 1 - np.cos(ANGLE), 0 * ANGLE], axis=1)
TURN = np.asarray(so3.exp(jnp.array([0.7, -0.4, 1.9])))
SHIFT = np.array([0.2, 0.1, -0.5])


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_arc_is_found_in_its_plane(side):
    flat = flatten(ARC * np.array([1.0, side, 1.0]) @ TURN.T + SHIFT)
    # The tangent at the start is that of a quartic through the arc.
    np.testing.assert_allclose(flat.points, ARC, atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(flat.points, axis=1), np.linalg.norm(ARC, axis=1))
    np.testing.assert_allclose(flat.frame.rotation[:, 2], side * TURN[:, 2], atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(flat.frame.rotation), 1.0)
    back = flat.points @ flat.frame.rotation.T + flat.frame.position
    np.testing.assert_allclose(back, ARC * np.array([1.0, side, 1.0]) @ TURN.T + SHIFT, atol=1e-14)
    assert flat.off < 1e-15


def test_noise_off_the_plane_is_measured(rng):
    flat = flatten(ARC + 1e-3 * rng.normal(size=ARC.shape))
    assert flat.off == pytest.approx(1e-3, rel=0.3)
    assert abs(flat.frame.rotation[2, 2]) > 0.999


def test_bad_points_are_refused():
    with pytest.raises(sp.ArgumentError, match=r"need \(n, 3\) with at least 3"):
        flatten(ARC[:2])
    with pytest.raises(sp.ArgumentError, match="the same point"):
        flatten(0 * ARC)
