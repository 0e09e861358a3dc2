"""Reference motions of the rod benches, from another formulation (benchmarks/reference)."""

from pathlib import Path

import numpy as np

import supple as sp

REFERENCE = Path(__file__).resolve().parents[2] / "benchmarks" / "reference" / "data"


def tip_error(case: str, result: sp.Result, length: float) -> float:
    """Largest tip distance over the reference's instants that the run covers, over the length."""
    known = np.load(REFERENCE / f"{case}.npz")
    covered = known["t"] <= result.t[-1] + 1e-9
    tip = result.sampled(np.minimum(known["t"][covered], result.t[-1])).position("rod")
    apart = np.linalg.norm(tip - known["tip"][covered], axis=1)
    return float(apart.max() / length)
