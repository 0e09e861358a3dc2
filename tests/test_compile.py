"""Compiled programs: whose options win, and what a second process finds of the first one's work."""

import os
import subprocess
import sys
from pathlib import Path

from supple.compile import CPU_OPTIONS

COUNTING = """
from collections import Counter
import jax
seen = Counter()
jax.monitoring.register_event_listener(lambda name, **_: seen.update([name.rsplit("/", 1)[-1]]))
import supple as sp
model = sp.Robot(sp.Body("bob", mass=1.0, joint=sp.Prismatic("x", stiffness=1.0))).build()
sp.equilibrium(model)
print(seen["cache_hits"], seen["cache_misses"])
"""


def test_a_level_of_optimisation_named_in_the_environment_wins():
    """As the settings of this test suite do, which would take minutes longer otherwise."""
    assert "xla_backend_optimization_level" in os.environ["XLA_FLAGS"]
    assert "xla_backend_optimization_level" not in CPU_OPTIONS


def test_a_second_process_compiles_nothing_again(tmp_path: Path):
    ours = {k: v for k, v in os.environ.items() if not k.startswith("JAX_COMPILATION_CACHE")}
    ours.pop("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", None)

    def hits_and_misses() -> list[int]:
        done = subprocess.run(
            [sys.executable, "-c", COUNTING],
            env=ours | {"XDG_CACHE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return [int(word) for word in done.stdout.split()]

    hits, misses = hits_and_misses()
    assert hits == 0
    assert misses > 0
    assert hits_and_misses() == [misses, 0]
