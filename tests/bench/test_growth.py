"""Robots of the growth bench: what must not get worse with their number of rods."""

import numpy as np
import pytest

import supple as sp
from supple.bench.growth import driven
from supple.time.alpha import generalized_alpha


@pytest.mark.slow
def test_long_chains_converge_as_short_ones_do():
    """200 m of rods, out of plane, at 10 ms: up to 35 iterations where coordinates go on by themselves."""
    found = sp.simulate(driven(640), 0.05, dt=0.01, scheme=generalized_alpha())
    assert found.stats.rejected == 0
    assert np.mean(found.newton[1:]) <= 5.0
