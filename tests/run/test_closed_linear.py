"""Linear models on the motions that keep loops closed: modes, static gains, edges."""

from functools import cache

import equinox as eqx
import numpy as np
import pytest

import supple as sp

FACTOR = 1e-4
"""Part of the load by which equilibria are compared; what is quadratic in it is left."""


@cache
def arch():
    """Two legs on hinges, joined at their tips, with a weight on one of them."""
    leg = dict(
        length=0.4, section=sp.Circle(3e-3), strains="planar", basis=3, nodes=10,
        material=sp.Material(E=2e9, density=1200.0, damping=sp.StiffnessDamping(1e-4)),
        joint=sp.Revolute("z", stiffness=0.5),
    )  # fmt: skip
    return sp.Robot(
        sp.Rod("left", position=(-0.2, 0, 0), rotation=(0, 0, 1.1), **leg),
        sp.Rod("right", position=(0.2, 0, 0), rotation=(0, 0, np.pi - 1.1), **leg),
        sp.Closure("tip", on="left", to="right", joint=sp.Revolute("z")),
        sp.Wrench("weight", on="left", fraction=0.5, force=(0.3, -0.6, 0)),
        gravity=(0, -9.81, 0),
    ).build()


@cache
def held():
    return sp.equilibrium(arch())


def test_eigenvalues_are_those_of_the_modes():
    model = arch()
    linear, modes = sp.linearize(model, at=held()), sp.modes(model, at=held())
    count = model.nv - model.equations
    assert linear.A.shape == (2 * count, 2 * count)
    assert linear.places.shape == (model.nv, count)
    # K and M alone give the frequencies; with the dampers the low modes keep them nearly.
    undamped = np.linalg.eigvals(np.linalg.solve(linear.mass, linear.stiffness)).real
    np.testing.assert_allclose(np.sqrt(np.sort(undamped)), 2 * np.pi * modes.frequencies, rtol=1e-6)
    low = linear.eigenvalues[np.argmin(np.abs(linear.eigenvalues))]
    assert np.abs(low) == pytest.approx(2 * np.pi * modes.frequencies[0], rel=1e-3)
    assert -low.real / np.abs(low) == pytest.approx(modes.damping_ratios[0], rel=1e-2)
    assert np.all(linear.eigenvalues.real < 0)


def test_the_static_gain_is_the_derivative_of_the_equilibrium():
    model, linear = arch(), sp.linearize(arch(), at=held())
    ends = []
    for sign in (1.0, -1.0):
        value = np.asarray(model.loads[0].value) * (1 + sign * FACTOR)
        loaded = eqx.tree_at(lambda m: m.loads[0].value, model, value)
        ends.append(sp.equilibrium(loaded, initial=held()).q)
    expected = (ends[0] - ends[1]) / (2 * FACTOR)
    count = linear.places.shape[1]
    found = linear.places @ -np.linalg.solve(linear.A, linear.B)[:count, 0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_a_state_that_is_no_equilibrium_is_refused():
    with pytest.raises(sp.ArgumentError, match="need an equilibrium"):
        sp.linearize(arch(), at=sp.assemble(arch()))


def test_an_edge_leaves_a_place_without_a_rate():
    """A skate on springs: it can rest anywhere across its edge, but only slide and turn."""
    mass, moment, springs = 0.5, 2e-3, (8.0, 3.0, 0.4)
    robot = sp.Robot(
        sp.Body("skate", mass=mass, inertia=(1e-3, 1e-3, moment),
                joint=sp.Planar("z", stiffness=springs)),
        sp.KnifeEdge("edge", on="skate"),
        gravity=(0, 0, 0),
    )  # fmt: skip
    linear = sp.linearize(robot)
    assert (linear.places.shape, linear.rates.shape) == ((3, 3), (3, 2))
    speeds = np.sort(np.abs(linear.eigenvalues))
    expected = np.sort([0.0, *2 * [np.sqrt(8.0 / mass)], *2 * [np.sqrt(0.4 / moment)]])
    np.testing.assert_allclose(speeds, expected, atol=1e-9)
