"""Poses along a rod: Magnus, spectral and Runge-Kutta against an independent integration."""

import numpy as np
import pytest

import supple as sp
from supple.lie import se3
from supple.space import rod_grid
from supple.strain import STRAIGHT, strain_field
from tests.space.rods import grid_poses, integrated_pose

LENGTH = 1.3  # m; curvatures below reach 3 rad a rod
POINTS = (1.0, 0.0, 0.37, 0.6)

BASES = {
    "legendre": (4, ()),
    "constant pieces": (sp.PiecewiseConstant((0.06, 0.88)), (0.06, 0.88)),
    "linear pieces": (sp.PiecewiseLinear(3), (1 / 3, 2 / 3)),
}
REST = {"straight": STRAIGHT, "helix": (2.0, 0.5, -3.0, 1.1, 0.05, -0.02)}
# Largest error of rotations (1) and positions (m) at the tip, and between the nodes, where the
# interpolating polynomial limits all of them: each measured, then a factor of three to five.
CASES = [
    (sp.Magnus(), "legendre", "straight", 5e-9, 5e-7),
    (sp.Magnus(order=4, substeps=4), "legendre", "straight", 2e-7, 5e-7),
    (sp.Spectral(), "legendre", "straight", 1e-7, 3e-6),
    (sp.RungeKutta(1e-10), "legendre", "straight", 3e-10, 5e-7),
    (sp.Magnus(), "constant pieces", "straight", 1e-13, 5e-8),
    (sp.Spectral(), "constant pieces", "straight", 2e-8, 2e-7),
    (sp.RungeKutta(1e-10), "constant pieces", "straight", 2e-10, 5e-8),
    (sp.Magnus(), "linear pieces", "helix", 3e-10, 1e-9),
    (sp.Spectral(), "linear pieces", "helix", 2e-10, 2e-9),
]


def coordinates(field) -> np.ndarray:
    """Random coordinates with curvatures up to 3/LENGTH and other strains up to 0.1."""
    draw = np.random.default_rng(3).uniform(-1, 1, field.count)
    values = np.abs(field.values(np.linspace(0, 1, 200)) @ draw).max(axis=0)
    limit = np.where(np.arange(6) < 3, 3 / LENGTH / np.sqrt(3), 0.1)
    return draw * (limit / np.maximum(values, 1e-9))[list(field.rows)]


@pytest.mark.parametrize(("integrator", "basis", "rest", "at_tip", "inside"), CASES)
def test_poses_agree_with_an_independent_integration(integrator, basis, rest, at_tip, inside):
    basis, breaks = BASES[basis]
    field = strain_field("rod", "reissner", basis)
    q = coordinates(field)
    grid = rod_grid(field, REST[rest], POINTS, integrator)
    poses = grid_poses(grid, q, LENGTH)
    nodes = len(grid.weights)
    for k, u in enumerate(POINTS):
        expected = integrated_pose(
            lambda u: np.array(REST[rest]) + field.values(np.array([u]))[0] @ q, u, LENGTH, breaks
        )
        tolerance = at_tip if u == 1.0 else inside
        for found, truth in zip(poses, expected, strict=True):
            np.testing.assert_allclose(found[nodes + k], truth, rtol=0, atol=tolerance)


@pytest.mark.parametrize("integrator", [sp.Magnus(), sp.Spectral()])
def test_constant_curvature_and_torsion_make_a_helix(integrator):
    """About the Darboux axis: advance τs/ω, and chord 2r sin(ωs/2) with r = κ/ω²."""
    torsion, bend = 2.0, 3.0
    points = tuple(np.linspace(0.0, 1.0, 9))
    field = strain_field("rod", "kirchhoff", 1)
    grid = rod_grid(field, (torsion, 0.0, bend, 1.0, 0.0, 0.0), points, integrator, 16)
    _, position = grid_poses(grid, np.zeros(3), LENGTH)
    p, s = position[len(grid.weights) :], LENGTH * np.array(points)
    omega = np.hypot(torsion, bend)
    axis = np.array([torsion, 0.0, bend]) / omega
    np.testing.assert_allclose(p @ axis, torsion / omega * s, atol=1e-9)
    across = np.linalg.norm(p - np.outer(p @ axis, axis), axis=1)
    np.testing.assert_allclose(across, 2 * bend / omega**2 * np.sin(omega * s / 2), atol=1e-9)


def test_a_rest_shape_given_as_a_function_is_followed():
    """A clothoid: the angle grows with the square of the arc length."""
    field = strain_field("rod", "planar", 1)

    def rest(u):
        zero = 0 * u
        return np.stack([zero, zero, 4 * u, zero + 1, zero, zero], axis=-1)

    grid = rod_grid(field, rest, (0.5, 1.0), sp.Magnus())
    rotation, position = grid_poses(grid, np.zeros(1), 1.0)
    np.testing.assert_allclose(rotation[-1, 0, 0], np.cos(2.0), atol=1e-12)
    np.testing.assert_allclose(rotation[-2, 1, 0], np.sin(0.5), atol=1e-12)
    from scipy.special import fresnel

    root = np.sqrt(4 / np.pi)  # angle 2u² = π/2 (root u)²
    sine, cosine = fresnel(root)
    np.testing.assert_allclose(position[-1], [cosine / root, sine / root, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    "integrator",
    [
        sp.Magnus(),
        sp.Spectral(),
    ],
)
def test_a_rest_shape_with_a_kink_needs_only_its_break(integrator):
    """A bend of 1 rad, only in the first 40 % of the rod."""
    field = strain_field("rod", "planar", 1)

    def rest(u):
        zero = 0 * u
        return np.stack([zero, zero, np.where(u < 0.4, 2.5, 0.0), zero + 1, zero, zero], axis=-1)

    grid = rod_grid(field, rest, (1.0,), integrator, breaks=(0.4,))
    assert grid.edges == (0.0, 0.4, 1.0)
    rotation, _ = grid_poses(grid, np.zeros(1), 1.0)
    np.testing.assert_allclose(rotation[-1, 0, 0], np.cos(1.0), atol=1e-10)


def test_more_nodes_gain_digits():
    """Poses of a wound rod (9 rad): Magnus steps of order 6, so 64 times better for half of them."""
    field = strain_field("rod", "kirchhoff", 3)
    q = 3 * LENGTH * coordinates(field)
    exact = integrated_pose(
        lambda u: np.array(STRAIGHT) + field.values(np.array([u]))[0] @ q, 1.0, 1.0
    )
    errors = []
    for nodes in (14, 28):
        found = grid_poses(rod_grid(field, STRAIGHT, (1.0,), sp.Magnus(), nodes), q, 1.0)
        errors.append(max(np.abs(a[-1] - b).max() for a, b in zip(found, exact, strict=True)))
    assert errors[1] < errors[0] / 30


@pytest.mark.parametrize("turns", [1, 5, 20])
def test_coils_of_the_rest_shape_get_the_nodes_they_need(turns):
    """A helix like a spring, of constant strain: its end, and a point inside, against the exponential."""
    rest = np.array([0.3, 0.0, 1.0, 1.0, 0.0, 0.0])
    rest[:3] *= 2 * np.pi * turns / LENGTH
    field = strain_field("rod", "planar", 1)
    grid = rod_grid(field, rest, (0.37, 1.0), sp.Magnus(), length=LENGTH)
    _, position = grid_poses(grid, np.zeros(1), LENGTH)
    exact = se3.exp(LENGTH * np.array([[0.37], [1.0]]) * rest).position
    np.testing.assert_allclose(position[-2:], exact, atol=1e-7 * LENGTH)


def test_sample_points_do_not_change_each_other():
    field = strain_field("rod", "kirchhoff", 4)
    q = coordinates(field)
    few = rod_grid(field, STRAIGHT, (1.0,), sp.Magnus(), 12)
    many = rod_grid(field, STRAIGHT, (1.0, 0.123, 0.5, 0.5, 0.999), sp.Magnus(), 12)
    for a, b in zip(grid_poses(few, q, LENGTH), grid_poses(many, q, LENGTH), strict=True):
        # Further stations only shorten some Magnus steps.
        np.testing.assert_allclose(a, b[: len(a)], rtol=0, atol=2e-7)


@pytest.mark.parametrize(
    ("make", "item", "value"),
    [
        (lambda: sp.Magnus(order=5), "Magnus: order", "5"),
        (lambda: sp.Magnus(substeps=0), "Magnus: substeps", "0"),
        (lambda: sp.RungeKutta(0.0), "RungeKutta: tolerance", "0.0"),
        (lambda: sp.RungeKutta(2.0), "RungeKutta: tolerance", "2.0"),
    ],
)
def test_bad_integrators_are_refused(make, item, value):
    with pytest.raises(sp.DescriptionError) as caught:
        make()
    assert str(caught.value).startswith(item)
    assert f"got {value}" in str(caught.value)
