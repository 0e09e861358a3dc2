"""Surfaces of triangles: closed, outwards, and where points are against them."""

import numpy as np
import pytest

from supple.robot.meshes import (
    SQUARE,
    ball,
    circle,
    encloses,
    joined,
    leaves_at,
    nearest_point,
    prism,
)


def volume(mesh):
    corners = mesh[0][mesh[1]]
    return np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6


@pytest.mark.parametrize(
    ("mesh", "expected", "slack"),
    [
        (prism(SQUARE), 1.0, 1e-12),
        (prism(circle()), np.pi, 0.02),
        (ball(), 4 * np.pi / 3, 0.03),
        (joined([prism(SQUARE), ball()]), 1.0 + 4 * np.pi / 3, 0.03),
    ],
)
def test_closed_and_outwards(mesh, expected, slack):
    assert volume(mesh) == pytest.approx(expected, rel=slack)  # negative if inside out
    corners = mesh[0][mesh[1]]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_allclose(area.sum(axis=0), 0.0, atol=1e-12)


def test_inside_and_how_far_to_the_surface():
    box = prism(SQUARE)
    assert encloses(box, np.array([0.4, -0.4, 0.4]))
    assert not encloses(box, np.array([0.6, 0.0, 0.0]))
    direction = np.array([3.0, 4.0, 0.0]) / 5
    assert leaves_at(box, np.zeros(3), direction) == pytest.approx(0.5 / 0.8)
    assert leaves_at(box, np.array([0.0, 0.0, 2.0]), direction) == 0.0


@pytest.mark.parametrize(
    ("point", "foot"),
    [
        ((0.2, 0.1, 2.0), (0.2, 0.1, 0.5)),  # on a face
        ((0.2, 1.0, 2.0), (0.2, 0.5, 0.5)),  # on an edge
        ((1.0, 1.0, 2.0), (0.5, 0.5, 0.5)),  # at a corner
        ((0.1, 0.0, 0.3), (0.1, 0.0, 0.5)),  # from inside
    ],
)
def test_the_nearest_point(point, foot):
    np.testing.assert_allclose(nearest_point(prism(SQUARE), np.array(point)), foot, atol=1e-12)
