"""Settings of the whole suite."""

import gc
import itertools
import os
import signal
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

if "xla_backend_optimization_level" not in os.environ.get("XLA_FLAGS", ""):
    # Compiling dominates these tests, and none of them times anything: skip LLVM's optimizations and the
    # slow fusion emitters (see supple/compile.py), also in programs that tests compile with jax.jit; and do
    # not cut programs into parts for threads, since the other cores have tests of their own.
    old = tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 11)
    flags = (
        "--xla_backend_optimization_level=0",
        # XLA ends the process at a flag that it does not know; this one left with 0.11.
        "--xla_cpu_use_fusion_emitters=false" if old else "",
        "--xla_cpu_parallel_codegen_split_count=1",
        os.environ.get("XLA_FLAGS", ""),  # last: XLA stops reading at the first word without dashes
    )
    os.environ["XLA_FLAGS"] = " ".join(flags).strip()

os.environ.setdefault("SUPPLE_HINTS", "off")  # tests ask for what nobody means

import jax
import jaxtyping
import numpy as np
import pytest

# Traced programs are millions of live objects: looking through them for garbage took a tenth of the time.
gc.set_threshold(100_000, 50, 50)


@pytest.fixture(autouse=True)
def few_mappings() -> Iterator[None]:
    """Forget compiled programs before they fill the process's memory map (65530 entries on Linux).

    Each takes a few entries, and XLA crashes when there are none left.
    """
    yield
    maps = Path("/proc/self/maps")
    if next(_finished) % 8 == 0 and maps.exists() and maps.read_bytes().count(b"\n") > 25_000:
        jax.clear_caches()


_finished = itertools.count(1)


@pytest.fixture
def rng() -> np.random.Generator:
    """The same random numbers in every run and for every test."""
    return np.random.default_rng(20240)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """As users run it: without the type checks of the test suite, which would answer first."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt also where the tests run in the background, with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
