"""A virtual environment for each simulator, made when it is first needed and kept in the cache folder."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from supple.bench.compare.simulators import Simulator

PATIENCE = 900.0
"""Seconds for an installation."""


class NotInstalled(Exception):
    """A simulator that pip does not install, with the last words of pip."""


def home() -> Path:
    """Where environments are kept."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "supple" / "peers"


def python_of(one: Simulator) -> Path:
    """The Python of a simulator's environment, which is made if there is none."""
    if one.package is None:
        return Path(sys.executable)
    place = home() / one.package
    python = place / "bin" / "python"
    if (place / "complete").exists():
        return python
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        done = subprocess.run(
            [*words, one.package], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"pip took more than {PATIENCE:.0f} s") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NotInstalled((lines or ["pip failed"])[-1][:300])
    (place / "complete").touch()
    return python


def settings(caches: Path) -> dict[str, str]:
    """Environment variables of a run: one thread, compiled code kept only for this comparison."""
    one = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    kept = {
        "NUMBA_CACHE_DIR": str(caches / "numba"),
        "WARP_CACHE_PATH": str(caches / "warp"),
        "XDG_CACHE_HOME": str(caches),
        "PYTHONWARNINGS": "ignore",
        "JAX_PLATFORMS": "cpu",
    }
    dropped = ("JAX_COMPILATION_CACHE_DIR", "SUPPLE_CACHE", "XLA_FLAGS", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if k not in dropped} | one | kept
