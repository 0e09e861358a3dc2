"""Rods whose model is left to us stretch where their loads would stretch them, however slender they are."""

import numpy as np
import pytest

import supple as sp

E, RADIUS, DENSITY = 1e8, 1e-3, 1100.0
EA = E * np.pi * RADIUS**2
LINE = DENSITY * np.pi * RADIUS**2
"""A meter of nylon line of 2 mm, which a kilogram stretches by 3 %."""


def hung(mass: float, **rod) -> sp.Robot:
    line = sp.Rod("line", 1.0, sp.Circle(RADIUS), sp.Material(E=E, density=DENSITY), **rod)
    return sp.Robot(line, sp.Body("ball", mass=mass, parent="line"), gravity=(9.81, 0, 0))


@pytest.mark.parametrize("rod", [{}, {"strains": "planar-auto"}, {"strains": "auto", "basis": 3}])
def test_a_weight_on_a_thin_line(rod):
    held = sp.equilibrium(hung(1.0, **rod), accuracy=1e-3)
    stretched = 1 + 9.81 * (1.0 + LINE / 2) / EA
    assert held.position("line")[0] == pytest.approx(stretched, abs=1e-3)
    assert held.refinements == 1


def test_a_light_one_needs_no_stretch():
    held = sp.equilibrium(hung(1e-4), accuracy=1e-3)
    assert held.refinements == 0
    assert not np.any(held.strain("line", 3)[:, 3] != 1.0)


def test_what_is_named_stays():
    held = sp.equilibrium(hung(1.0, strains="kirchhoff"), accuracy=1e-3)
    assert held.position("line")[0] == pytest.approx(1.0, abs=1e-12)


def test_in_motion_and_resumed(tmp_path):
    """Let go, the ball swings up and down between no stretch and twice that at rest."""
    robot, asked = hung(1.0), 1e-3
    frequency = np.sqrt(EA / (1.0 + LINE / 3))
    half = np.pi / frequency
    run = sp.simulate(robot, half, accuracy=asked, store=tmp_path / "run")
    assert run.refinements > 0
    lowest = 1 + 2 * 9.81 * (1.0 + LINE / 2) / EA
    assert run.position("line")[-1, 0] == pytest.approx(lowest, abs=2 * asked)
    again = sp.simulate(robot, half, accuracy=asked, store=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(again.position("line")[-1], run.position("line")[-1])


def test_an_error_that_is_left_out_is_told():
    """A robot that may not be refined further tells what its rods leave out."""
    run = sp.simulate(hung(1.0), 0.05, dt=0.01)
    assert run.position("line")[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert run.error.space > 1e-3
