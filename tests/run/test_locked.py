"""Straight rods that cannot stretch between places that stay: refused in words, cured as these say."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import supple as sp
from supple.run.locked import why_locked


def line(**rod) -> sp.Robot:
    """A straight rod between two balls, half a meter apart, under its weight."""
    steel = sp.Material(E=2e11, density=7800.0)
    return sp.Robot(
        sp.Rod("line", 0.5, sp.Circle(1e-3), steel, basis=4, joint=sp.Spherical(), **rod),
        sp.Closure("end", on="line", to="ground", to_position=(0.5, 0, 0), joint=sp.Spherical()),
        gravity=(0.0, -9.81, 0.0),
    )


def test_a_rod_that_cannot_sag_is_refused():
    held = sp.equilibrium(line(strains="kirchhoff"), throw=False)
    assert held.status.name == "NO_EQUILIBRIUM"
    assert "closure 'end' lock" in held.message
    assert "strains='reissner'" in held.message
    run = sp.simulate(line(strains="kirchhoff"), 0.1, dt=0.01, throw=False)
    assert not run.ok
    assert "closure 'end' lock" in run.message


def test_the_cure():
    """A beam on hinges that stay sags by s: bending and a tension EA (π s / 2 L)² carry its weight."""
    held = sp.equilibrium(line(strains="reissner"))
    weight, stiffness, extensional = (
        7800 * np.pi * 1e-6 * 9.81,
        2e11 * np.pi / 4 * 1e-12,
        2e5 * np.pi,
    )
    free, buckling = 5 / 384 * weight * 0.5**4 / stiffness, stiffness * (np.pi / 0.5) ** 2

    def left(sag):
        return sag * (1 + extensional * (np.pi * sag) ** 2 / (4 * 0.25) / buckling) - free

    assert -held.position("line", 0.5)[1] == pytest.approx(brentq(left, 0, free), rel=1e-2)


def test_a_loop_that_is_drawn_open_is_not_said_to_be_locked():
    """Its equations depend on each other as drawn, which tells nothing of where it would be closed."""
    robot = line(strains="kirchhoff")
    model = robot.build()
    straight = sp.initial_state(model).q
    assert why_locked(model, straight, 0.0) is not None
    end = robot["end"]
    farther = robot.replacing(replace(end, to_position=(0.6, 0, 0))).build()
    assert why_locked(farther, straight, 0.0) is None
