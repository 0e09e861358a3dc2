"""Cantilevers from soft to stiff, steps from fine to absurd: every run ends, none gains energy."""

import pytest

from supple.bench.robustness import FACTORS, HEADER, RODS, STEPS, run_robustness

LIMIT = 1.05  # of the energy at the release, above the hanging equilibrium


@pytest.mark.slow
@pytest.mark.parametrize("rod", RODS)
@pytest.mark.parametrize("case", ["stiff-cantilever", "soft-cantilever"])
def test_every_run_ends_and_none_gains_energy(case, rod):
    runs = list(run_robustness(case, rod))
    print(HEADER, *runs, sep="\n")
    assert len(runs) == len(FACTORS) * len(STEPS)
    assert [run for run in runs if run.status != "DONE"] == []
    assert [run for run in runs if not run.energy <= LIMIT] == []
