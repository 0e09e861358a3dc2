"""Long runs of the undamped cantilevers: energy kept over ten seconds (``make validate``)."""

import numpy as np
import pytest

import supple as sp
from supple.robots.cantilever import soft_cantilever, stiff_cantilever

# (robot, scheme, step (s), limit of |ΔE| / range of the potential energy)
CASES = [
    pytest.param(soft_cantilever, sp.newmark(), 1e-3, 1e-4, id="soft-newmark"),
    pytest.param(stiff_cantilever, sp.newmark(), 1e-3, 5e-3, id="stiff-newmark"),
    pytest.param(soft_cantilever, sp.gauss(3), 5e-3, 1e-6, id="soft-gauss"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "scheme", "dt", "limit"), CASES)
def test_energy_of_an_undamped_cantilever_is_kept(build, scheme, dt, limit):
    robot = build(strains="planar", basis=3)
    result = sp.release(robot, "pull", 10.0, dt=dt, scheme=scheme)
    assert result.ok
    energy = result.energies
    stored = energy.elastic + energy.potential  # elastic and gravitational
    drift = np.abs(energy.total - energy.total[0]).max() / np.ptp(stored)
    print(f"{robot.name}, dt = {dt} s: |dE| / range(V) = {drift:.1e} (limit {limit:.0e})")
    assert drift <= limit
