"""Accuracy of equilibria: refined until it is met, and told; against closed forms and collocation."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import supple as sp

LENGTH, RADIUS = 1.0, 5e-3
STEEL = sp.Material(E=1e9, density=1000.0)
EI = 1e9 * np.pi * RADIUS**4 / 4
NO_GRAVITY = (0.0, 0.0, 0.0)


def rod(**options):
    return sp.Rod("rod", LENGTH, sp.Circle(RADIUS), STEEL, **({"strains": "planar"} | options))


def error_of(found, expected, fractions=1.0):
    place = found.shape("rod", np.atleast_1d(fractions)).position
    return float(np.linalg.norm(place - expected, axis=1).max() / LENGTH)


def bent_by_a_tendon(end, **options):
    tendon = sp.Tendon("tendon", on="rod", offset=(0.01, 0.0), tension=20.0, end=end)
    return sp.Robot(rod(**options), tendon, gravity=NO_GRAVITY)


PLACES = (0.25, 0.5, 0.75, 1.0)


def arc_and_line(end):
    """Places of a rod that a tendon bends to a circle up to its end; straight from there."""
    radius = EI / (20.0 * 0.01)
    angles = np.minimum(PLACES, end) / radius
    beyond = np.maximum(np.array(PLACES) - end, 0.0)
    x = radius * np.sin(angles) + beyond * np.cos(angles)
    y = radius * (1 - np.cos(angles)) + beyond * np.sin(angles)
    return np.stack([x, y, 0 * x], axis=1)


def pulled(force, fraction):
    """A rod clamped along x with a dead force along y inside its span, inextensible, by collocation."""

    def rate(s, z):  # angle and moment of the part before the force; x and y
        return np.stack([z[1] / EI, -force * np.cos(z[0]), np.cos(z[0]), np.sin(z[0])]) * fraction

    def ends(a, b):
        return np.array([a[0], b[1] / EI, a[2], a[3]])

    s = np.linspace(0, 1, 41)
    found = solve_bvp(rate, ends, s, np.zeros((4, 41)), tol=1e-10, max_nodes=20000)
    angle, _, x, y = found.y[:, -1]
    return np.array([x, y, 0]) + (1 - fraction) * np.array([np.cos(angle), np.sin(angle), 0])


@pytest.mark.parametrize("asked", [1e-3, 1e-5])
def test_a_tendon_that_ends_in_the_span_is_resolved(asked):
    found = sp.equilibrium(bent_by_a_tendon(0.55), accuracy=asked)
    assert found.status == sp.EquilibriumStatus.CONVERGED
    assert error_of(found, arc_and_line(0.55), PLACES) <= found.error + 1e-9 <= asked


def test_a_load_in_the_span_is_refined_until_the_accuracy_is_met():
    load = sp.Wrench("pull", on="rod", force=(0.0, 4.0, 0.0), fraction=0.37)
    robot = sp.Robot(rod(), load, gravity=NO_GRAVITY)
    exact = pulled(4.0, 0.37)
    coarse = sp.equilibrium(robot, accuracy=1e-3)
    assert coarse.refinements == 0
    assert 0.3 < coarse.error / error_of(coarse, exact) < 3
    fine = sp.equilibrium(robot, accuracy=1e-5)
    assert fine.refinements > 0
    assert 0.37 in fine.description["rod"].basis["kz"].breaks
    assert error_of(fine, exact) <= 1e-5
    # A robot of other modes starts from it.
    again = sp.equilibrium(robot, accuracy=1e-3, initial=fine)
    assert error_of(again, exact) <= 1e-3


def test_many_turns_get_the_nodes_they_need():
    moment = sp.Wrench("turn", on="rod", moment=(0.0, 0.0, 60.0 * EI / LENGTH))
    found = sp.equilibrium(sp.Robot(rod(), moment, gravity=NO_GRAVITY), accuracy=1e-4)
    circle = LENGTH / 60 * np.array([np.sin(60.0), 1 - np.cos(60.0), 0.0])
    assert found.refinements > 0
    assert error_of(found, circle) <= found.error + 1e-9 <= 1e-4


def test_given_modes_are_kept_and_their_error_told():
    robot = bent_by_a_tendon(0.55, basis=6)
    found = sp.equilibrium(robot)  # no accuracy is named: none is missed
    true = error_of(found, arc_and_line(0.55), PLACES)
    assert 0.3 < found.error / true < 3
    with pytest.warns(RuntimeWarning, match=r"about .* asked for 0.0001.*more modes"):
        named = sp.equilibrium(robot, accuracy=1e-4)
    assert named.model.nv == 6
    assert np.isnan(sp.equilibrium(robot.build()).error)


def test_what_cannot_be_resolved_is_told(monkeypatch):
    monkeypatch.setattr("supple.run.resolve.MOST_LEVELS", 0)
    load = sp.Wrench("pull", on="rod", force=(0.0, 4.0, 0.0), fraction=0.37)
    with pytest.warns(RuntimeWarning, match=r"not resolved: its error is about .* asked for 1e-05"):
        found = sp.equilibrium(sp.Robot(rod(), load, gravity=NO_GRAVITY), accuracy=1e-5)
    assert found.status == sp.EquilibriumStatus.NOT_RESOLVED
    assert found.ok
    assert found.error > 1e-5
