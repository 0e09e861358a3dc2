"""What is set for a process, and what it changes."""

import subprocess
import sys

import numpy as np
import pytest

import supple as sp
from supple import threads

SINGLE = """
import sys
import numpy as np
import supple as sp
was = sp.configure()
assert was.precision == "float64", was
now = sp.configure(precision="float32", cache=sys.argv[1], threads=1)
assert (now.precision, str(now.cache), now.threads) == ("float32", sys.argv[1], 1), now
soft = sp.Material(E=1e6, density=1100.0)
arm = sp.Robot(sp.Rod("arm", 0.2, sp.Circle(0.01), soft, basis=2, strains="planar"), gravity=(0, -9.81, 0))
single = sp.equilibrium(arm)
assert single.q.dtype == np.float32, single.q.dtype
print(single.status.name, *single.position("arm"))
swung = sp.rollout(arm, dt=0.01, steps=20)
assert int(swung.status) == sp.Status.DONE, swung.status
try:
    sp.configure(precision="float64")
except sp.ArgumentError as error:
    assert "before anything is computed" in str(error)
    sys.exit(0)
sys.exit("refused nothing")
"""


def test_single_precision_a_cache_and_threads(tmp_path):
    """In a process of its own; an equilibrium is found to six digits."""
    place = tmp_path / "programs"
    words = [sys.executable, "-c", SINGLE, str(place)]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    assert list(place.iterdir())
    soft = sp.Material(E=1e6, density=1100.0)
    rod = sp.Rod("arm", 0.2, sp.Circle(0.01), soft, basis=2, strains="planar")
    held = sp.equilibrium(sp.Robot(rod, gravity=(0, -9.81, 0)))
    assert told[0] == "CONVERGED"
    error = np.abs(held.position("arm") - np.array(told[1:], dtype=float)).max()
    assert 1e-12 < error < 1e-6 * 0.2


def test_threads(monkeypatch):
    monkeypatch.setattr(threads, "_most", None)
    before = sp.configure()
    assert before.threads == threads.cores()
    assert sp.configure(threads=7).threads == 7
    assert (sp.configure().precision, before.precision) == ("float64", "float64")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"precision": "half"}, "precision: got 'half'; need one of: float64, float32"),
        ({"threads": 0}, "threads: got 0; need an integer >= 1"),
    ],
)
def test_what_cannot_be_set(given, match):
    with pytest.raises(sp.ArgumentError, match=match):
        sp.configure(**given)
