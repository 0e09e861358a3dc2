"""Rods fitted to points: known coordinates come back, and errors are as large as predicted."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.identify import fit_shape
from supple.lie import Pose, so3
from supple.mechanics.frames import rod_shape
from supple.mechanics.inverse_dynamics import element_stiffness
from tests.tools import jit

STEEL = sp.Material(E=2e11, density=7800.0)
STRIP = sp.Rod(
    "strip", length=0.4, section=sp.Rectangle(5e-4, 2e-2), material=STEEL, strains="planar", basis=3
)
WIRE = sp.Rod("wire", length=0.4, section=sp.Circle(1e-3), material=STEEL, basis=2)
FULL = np.linspace(0.05, 1.0, 20)
PART = 0.63 * FULL  # what 000 §4.9.1 measures of its first rod
NOISE = 5e-4
TILTED = Pose(np.asarray(so3.exp(jnp.array([0.4, -1.0, 2.0]))), np.array([0.1, -0.3, 0.2]))
GROUNDED = Pose(np.eye(3), np.zeros(3))


@cache
def model(rod):
    return sp.Robot(rod).build()


centerline = jit(
    lambda model, q, name, at: rod_shape(model, name, q, np.array(at)).position,
    static_argnums=(2, 3),
)


def points(rod, q, at, base=GROUNDED):
    shape = np.asarray(centerline(model(rod), jnp.asarray(q), rod.name, tuple(at)))
    return base.position + shape @ base.rotation.T


def random_shape(rod, rng, bend=2.0):
    return rng.uniform(-bend, bend, model(rod).nq) / rod.length


@pytest.mark.parametrize("at", [FULL, PART], ids=["all of it", "63 % of it"])
@pytest.mark.parametrize("rod", [STRIP, WIRE], ids=["strip", "wire"])
def test_coordinates_come_back_without_noise(rng, rod, at):
    q = random_shape(rod, rng)
    if rod is WIRE:
        q[:2] = 0.0  # torsion beyond the points, or of a straight rod, is not seen
    fit = fit_shape(rod, points(rod, q, at, TILTED), at, base=TILTED)
    assert fit.ok
    np.testing.assert_allclose(fit.coordinates, q, atol=1e-8 / rod.length)
    assert fit.residual < 1e-10


def test_an_unknown_base_is_found_too(rng):
    q = random_shape(STRIP, rng)
    fit = fit_shape(STRIP, points(STRIP, q, FULL, TILTED), FULL)
    assert fit.ok
    np.testing.assert_allclose(fit.coordinates, q, atol=1e-8 / STRIP.length)
    np.testing.assert_allclose(fit.base.rotation, TILTED.rotation, atol=1e-7)
    np.testing.assert_allclose(fit.base.position, TILTED.position, atol=1e-9)


def test_a_sequence_is_followed_into_a_coil():
    """Two and a half turns: out of reach from the straight rod, each shape near the one before."""
    turns = np.linspace(0.0, 2.5, 26)
    q = np.stack([2 * np.pi * turns / STRIP.length, turns, -turns], axis=1)
    shapes = np.stack([points(STRIP, row, FULL) for row in q])
    fit = fit_shape(STRIP, shapes, FULL, base=GROUNDED)
    assert fit.ok
    np.testing.assert_allclose(fit.coordinates, q, atol=1e-7)


@pytest.mark.parametrize(("at", "energy"), [(FULL, None), (PART, None), (PART, 5e-3)])
def test_errors_are_as_predicted(rng, at, energy):
    """Shapes drawn from what ``energy`` says (or any), with noise: errors over deviations are of size 1."""
    count = 120
    stiffness = np.asarray(element_stiffness(model(STRIP), 0)[0])
    prior = np.linalg.inv(stiffness) * (5e-3 if energy is None else energy)
    q = rng.multivariate_normal(np.zeros(3), prior, size=count)
    shapes = np.stack([points(STRIP, row, at) for row in q])
    shapes += NOISE * rng.normal(size=shapes.shape)
    fit = fit_shape(STRIP, shapes, at, base=GROUNDED, noise=NOISE, energy=energy)
    assert fit.ok
    errors = (fit.coordinates - q) / fit.deviation
    # χ² of 120 samples: its square root is within 20 % of one, by three of its deviations.
    np.testing.assert_allclose(np.sqrt(np.mean(errors**2, axis=0)), 1.0, atol=0.2)
    np.testing.assert_allclose(fit.residual.mean(), NOISE * np.sqrt(3), rtol=0.1)


def test_energy_tames_what_was_not_measured(rng):
    """Of eight modes, points on half the rod determine few; extrapolated, the tip is lost."""
    rod = sp.Rod("s", length=0.4, section=STRIP.section, material=STEEL, strains="planar", basis=8)
    half = 0.5 * FULL
    q = np.zeros(8)
    q[:2] = 4.0, 1.5
    seen = points(rod, q, half) + NOISE * rng.normal(size=(len(half), 3))
    energy = 0.5 * q @ np.asarray(element_stiffness(model(rod), 0)[0]) @ q

    def tip_error(**options):
        fit = fit_shape(rod, seen, half, base=GROUNDED, noise=NOISE, **options)
        tip = points(rod, fit.coordinates, [1.0]) - points(rod, q, [1.0])
        return np.linalg.norm(tip), fit.deviation.max()

    free, tamed = tip_error(), tip_error(energy=energy)
    assert free[0] > 0.1  # lost
    assert tamed[0] < 0.06
    assert tamed[1] < 0.1 * free[1]  # and the deviations say so


def test_bad_input_is_refused():
    good = np.zeros((20, 3))
    with pytest.raises(sp.ArgumentError, match=r"points: got shape \(20, 2\)"):
        fit_shape(STRIP, good[:, :2], FULL)
    with pytest.raises(sp.ArgumentError, match=r"fractions: got 0\.1 … 2\.0"):
        fit_shape(STRIP, good, np.linspace(0.1, 2.0, 20))
    with pytest.raises(sp.ArgumentError, match="one fraction for each point"):
        fit_shape(STRIP, good, FULL[:3])
    with pytest.raises(sp.ArgumentError, match="not finite"):
        fit_shape(STRIP, good * np.nan, FULL)
    with pytest.raises(sp.ArgumentError, match="6 numbers for 9 unknowns of 'strip'; measure more"):
        fit_shape(STRIP, good[:2], FULL[:2])
    with pytest.raises(sp.DescriptionError, match=r"noise: got 0\.0"):
        fit_shape(STRIP, good, FULL, noise=0.0)
