"""A branch of equilibria knows where its frames and rods are, also on its unstable part."""

import numpy as np
import pytest

import supple as sp
from supple.errors import ArgumentError
from supple.robots.rfrfr_prototype import ANGLE, rfrfr_prototype

ROUNDING = 1e-9
"""Metres; the branch and the equilibrium are converged to about 1e-10 of a radian."""


def falling(t):
    return ANGLE - t


@pytest.mark.slow
def test_positions_and_shapes_follow_the_branch():
    model = rfrfr_prototype(angle=falling).build()
    held = sp.equilibrium(model)
    branch = sp.follow(model, initial=held, until=2 * ANGLE, max_points=5, throw=False)
    platform = branch.position("platform")
    assert platform.shape == (5, 3)
    assert np.allclose(platform[0], held.position("platform"), atol=ROUNDING)
    left, right = (branch.shape(name, 11).position for name in ("left", "right"))
    assert np.allclose(left[:, -1], platform, atol=ROUNDING)
    assert np.allclose(right[:, -1], platform, atol=ROUNDING)
    with pytest.raises(ArgumentError, match="need one of"):
        branch.position("nothing")
