"""The RFRFR robot of 000 §5.13 for 1,000 s: undamped, it must swing on without noise or drift."""

import numpy as np
import pytest

import supple as sp
from supple.robots.rfrfr import rfrfr

TOL_CLOSED = 1e-12  # m, of every step; measured 3e-15
TOL_ENERGY = 7e-4  # of the largest after the drive; measured 2.5e-4, since ρ∞ = 0.9 damps a little


@pytest.mark.slow
def test_a_thousand_seconds_at_ten_milliseconds() -> None:
    found = sp.simulate(rfrfr(), 1000.0, dt=0.01, scheme=sp.generalized_alpha(0.9))
    assert found.ok
    assert len(found) == 100_001
    assert np.abs(found.violation).max() <= TOL_CLOSED
    assert found.newton.max() <= 3
    assert found.newton[-10_000:].sum() <= 1.1 * found.newton[1000:11_000].sum()
    # The torques that are held have a potential: the left one is 0.5 N m, the right one -0.5 N m.
    held = 0.5 * (found.joint("left").position[:, 0] - found.joint("right").position[:, 0])
    energy = found.energies.total - held
    late = energy[found.t > 7.0]
    assert np.ptp(late) <= TOL_ENERGY * np.abs(late).max()
