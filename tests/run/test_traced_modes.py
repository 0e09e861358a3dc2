"""Frequencies of robots with traced numbers have derivatives, with loops and in batches."""

import jax
import numpy as np
import pytest

import supple as sp

AT = np.array([1.0, 0.2, 0.03])


def arm(E, length, mass):
    soft = sp.Material(E=E * 1e6, density=1100.0, damping=sp.StiffnessDamping(0.01))
    return sp.Robot(
        sp.Rod("arm", length, sp.Circle(0.01), soft, basis=2, strains="planar"),
        sp.Body("tool", parent="arm", mass=mass),
        gravity=(0, -9.81, 0),
    )


def frame(E, length, mass):
    """Two arms that hold one tool."""
    robot = arm(E, length, mass)
    rod = robot["arm"]
    other = sp.Rod("other", 1.1 * length, rod.section, rod.material, basis=2, strains="planar",
                   position=(0.0, 0.05, 0.0))  # fmt: skip
    return robot.adding(other, sp.Closure("shut", on="tool", to="other", joint=sp.Revolute("z")))


def loaded(values):
    robot = arm(*values)
    return sp.modes(robot, at=sp.equilibrium(robot), count=2).frequencies


def closed(values):
    return sp.modes(frame(*values), count=2).frequencies


@pytest.mark.parametrize(("f", "mode"), [(loaded, jax.jacrev), (closed, jax.jacfwd)])
def test_their_derivatives_are_differences(f, mode):
    found = np.array(jax.jit(mode(f))(AT))
    for k, step in enumerate(np.diag(1e-4 * AT)):
        slope = (f(AT + step) - f(AT - step)) / (2 * step[k])
        np.testing.assert_allclose(found[:, k], slope, rtol=1e-6)


def test_batches_are_modes_one_by_one():
    found = sp.batch(lambda E: sp.modes(arm(E, 0.2, 0.03)))(np.array([1.0, 2.0]))
    alone = sp.modes(arm(2.0, 0.2, 0.03))
    np.testing.assert_allclose(found.frequencies[1], alone.frequencies, rtol=1e-9)
    np.testing.assert_allclose(found.damping_ratios[1], alone.damping_ratios, rtol=1e-9)
    np.testing.assert_array_equal(found.stable, [True, True])


def test_what_depends_on_numbers_is_refused():
    robot = arm(*AT).adding(sp.Tendon("left", on="arm", offset=(0.005, 0.0), pull=0.001))
    with pytest.raises(sp.ArgumentError, match="modes: got a traced 'robot' with"):
        jax.grad(lambda g: sp.modes(sp.Robot(*robot.items, gravity=(0, -g, 0))).stiffness[0])(9.81)
