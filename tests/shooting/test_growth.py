"""Rods whose length is a law of time: shot, they move as in strain coordinates."""

import numpy as np
import pytest

import supple as sp
from supple.robots.stewart import SIDEWAYS_LENGTHS, stewart_gough

SOFT = sp.Material(E=2e9, density=1200, nu=0.3, damping=sp.StiffnessDamping(1e-3))
TIMES = np.linspace(0.0, 0.4, 9)


def test_a_rod_that_grows_is_that_of_strain_coordinates():
    growth = sp.Spline(TIMES, 1 + 0.3 * np.sin(np.pi / 0.8 * TIMES) ** 2)
    rod = sp.Rod("arm", 0.4, sp.Circle(4e-3), SOFT, basis=6, growth=growth)
    pull = sp.Wrench("pull", on="arm", force=(0.0, 0.1, 0.1))
    robot = sp.Robot(rod, pull)
    shot, options = sp.Shooting(points=17, segments=2), dict(scheme="implicit-euler", dt=4e-3)
    held = sp.equilibrium(robot)
    found = sp.simulate(robot, 0.1, initial=held, formulation=shot, **options)
    other = sp.simulate(robot, 0.1, initial=held, **options)
    moved = np.ptp(other.position("arm"), axis=0).max()
    assert moved > 0.01
    np.testing.assert_allclose(found.position("arm"), other.position("arm"), atol=1e-3 * moved)
    for one, two in (
        (found.energies.kinetic, other.energies.kinetic),
        (found.energies.elastic, other.energies.elastic),
        (found.momentum.linear, other.momentum.linear),
        (found.shape("arm", (0.3, 0.9)).position, other.shape("arm", (0.3, 0.9)).position),
    ):
        np.testing.assert_allclose(one, two, atol=2e-3 * np.abs(two).max())


@pytest.mark.slow
def test_the_stewart_gough_robot_follows_the_lengths_of_its_legs():
    """002 §5.1, at rest and in motion."""
    times = np.linspace(0.0, 4.0, 41)
    turn = np.pi / 2 * times[:, None]
    waves = np.sin(turn / 2) ** 2 * (1 + np.sin(turn + np.pi / 3 * np.arange(6)))
    lengths = SIDEWAYS_LENGTHS[0] + 0.02 * waves
    robot = stewart_gough(times=times, lengths=lengths, bending_modes=6, torsion_modes=2)
    shot = robot.with_formulation(sp.Shooting(points=25, segments=6, rotary_inertia=False))
    rests = [sp.equilibrium(one, t=1.5).position("plate") for one in (shot, robot)]
    np.testing.assert_allclose(*rests, atol=1e-7)  # m
    options = dict(dt=0.01, scheme=sp.bdf_alpha(-0.2))
    found, other = (
        sp.simulate(one, 1.5, initial=sp.equilibrium(one), **options).position("plate")
        for one in (shot, robot)
    )
    assert np.ptp(other, axis=0).max() > 0.04
    np.testing.assert_allclose(found, other, atol=2e-6)
