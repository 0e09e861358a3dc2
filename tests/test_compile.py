"""Compiled programs: whose options win, and what a second process finds of the first one's work."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from supple import compile
from supple.compile import LEVEL, WANTED, jit, known_options

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


def test_a_level_of_optimization_named_in_the_environment_wins():
    """As the settings of this test suite do, which would take minutes longer otherwise."""
    assert LEVEL in os.environ["XLA_FLAGS"]
    assert LEVEL not in known_options("cpu", quick=False)
    assert known_options("cpu", quick=True)[LEVEL] == 0


@pytest.fixture
def forgetful():
    """Options are asked for again, before and after."""
    known_options.cache_clear()
    yield
    known_options.cache_clear()


@pytest.mark.parametrize(
    "stranger", [{"xla_of_another_version": True}, {"xla_cpu_scheduler_type": "NO_SUCH_VALUE"}]
)
def test_options_that_this_compiler_does_not_know_are_left_out(stranger, monkeypatch, forgetful):
    monkeypatch.setitem(compile.WANTED, "cpu", WANTED["cpu"] | stranger)
    known = known_options("cpu", quick=False)
    assert not stranger.items() <= known.items()
    assert known["xla_disable_hlo_passes"] == WANTED["cpu"]["xla_disable_hlo_passes"]
    assert jit(lambda x: x + 1)(1.0) == 2


def test_other_devices_get_no_option_of_the_cpu(monkeypatch):
    monkeypatch.setattr(compile, "platform", lambda: "gpu")
    given = {}
    monkeypatch.setattr(jax, "jit", lambda function, **options: given.update(options) or function)
    assert jit(lambda x: x + 1)(1.0) == 2
    assert given["compiler_options"] is None


def test_importing_starts_no_device():
    """Which takes time, and settles what a program may still want to choose."""
    code = (
        "import supple; from jax._src import xla_bridge as x; print(x.backends_are_initialized())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


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
