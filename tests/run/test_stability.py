"""Equilibria say whether they are stable: Euler's and Beck's columns, and a rod that is pushed together."""

import numpy as np
import pytest

import supple as sp
from supple.run.stability import Stability

EI = 1e9 * np.pi * 5e-3**4 / 4
EULER, BECK = np.pi**2 / 4, 20.05  # critical forces of a cantilever over EI/L²


def rod(**options):
    material = sp.Material(E=1e9, density=1000.0)
    return sp.Rod("rod", 1.0, sp.Circle(5e-3), material, **options)


def pushed(share, **options):
    push = sp.Wrench("push", on="rod", force=(-share * EI, 0.0, 0.0), **options)
    strains = "planar" if options else "kirchhoff"
    return sp.Robot(rod(strains=strains, basis=8), push, gravity=(0.0, 0.0, 0.0))


def test_a_column_is_stable_up_to_eulers_load_and_left_beyond_it():
    below = sp.equilibrium(pushed(0.999 * EULER))
    assert below.stability is Stability.STABLE
    assert below.left is None
    with pytest.warns(RuntimeWarning, match="unstable in 2 motion"):
        beyond = sp.equilibrium(pushed(1.2 * EULER))
    assert beyond.left == 2
    assert beyond.stable  # it may turn about its axis without force
    assert beyond.position("rod")[0] < 0.8
    straight = sp.equilibrium(pushed(1.2 * EULER), settle=False)
    assert straight.stability is Stability.DIVERGENCE
    np.testing.assert_allclose(straight.position("rod"), (1.0, 0.0, 0.0), atol=1e-12)


@pytest.mark.parametrize(("share", "expected"), [(0.99, "STABLE"), (1.01, "FLUTTER")])
def test_a_column_under_a_force_that_follows_it_flutters_at_becks_load(share, expected):
    found = sp.equilibrium(pushed(share * BECK, follower=True))
    assert found.stability is Stability[expected]


def test_a_closed_loop_is_left_for_a_stable_one():
    hold = sp.Closure("hold", on="ground", to="rod", joint=sp.Fixed(), position=(0.97, 0.0, 0.0))
    arm = rod(strains="planar-extensible", basis=8)
    robot = sp.Robot(arm, hold, gravity=(0.0, 0.0, 0.0))
    kept = sp.equilibrium(robot, settle=False)
    assert kept.stability is Stability.DIVERGENCE
    with pytest.warns(RuntimeWarning, match="unstable in"):
        bent = sp.equilibrium(robot)
    assert bent.stable
    # Pressed straight it carries EA times its shortening; bent, about Euler's load of a clamped column.
    forces = [float(np.linalg.norm(e.closure("hold")[3:])) for e in (kept, bent)]
    assert forces[0] == pytest.approx(0.03 * 1e9 * np.pi * 5e-3**2, rel=1e-6)
    assert forces[1] == pytest.approx(4 * np.pi**2 * EI, rel=0.03)
