"""How soon a run moves: seconds from ``supple run FILE`` to its first steps on disk.

``python benchmarks/first_step.py`` prints, for a single rod and for the largest robot of the templates, the
seconds of a process with an empty cache (cold) and of a second one that shares it (warm). The machine should
be quiet: the load average is printed too.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from supple.cli.robots import TEMPLATES
from supple.results.store import Store

ROD = """\
robot: rod
rods:
  arm:
    length: 0.5
    section: {circle: 0.002}
    material: {E: 2e11, density: 7800}
    basis: {kx: 2, ky: 4, kz: 4}
simulate: {duration: 10, dt: 0.01}
"""
SUPPLE = [sys.executable, "-c", "from supple.cli.main import app; app()"]
PATIENCE = 300.0


def seconds(file: Path, cache: Path, out: Path) -> float:
    """From the start of the command to the first steps in its store."""
    settings = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    for name in ("JAX_COMPILATION_CACHE_DIR", "SUPPLE_CACHE"):
        settings.pop(name, None)
    store = Store(out / "simulate.run")
    begun = time.perf_counter()
    words = [*SUPPLE, "run", str(file), "--out", str(out)]
    with subprocess.Popen(words, env=settings, stdout=subprocess.DEVNULL) as process:
        while not (store.exists and store.progress["count"] > 1):
            if time.perf_counter() - begun > PATIENCE or process.poll() not in (None, 0):
                raise RuntimeError(f"{file}: no step after {time.perf_counter() - begun:.0f} s")
            time.sleep(0.01)
        found = time.perf_counter() - begun
        process.terminate()
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rod = Path(folder) / "rod.yaml"
        rod.write_text(ROD)
        for name, file in (
            ("single rod", rod),
            ("Stewart-Gough", TEMPLATES / "stewart-gough.yaml"),
        ):
            cache = Path(folder) / f"cache {file.stem}"
            for kind in ("cold", "warm"):
                found = seconds(file, cache, Path(folder) / f"{file.stem} {kind}")
                load = os.getloadavg()[0]
                print(f"{name:14s} {kind}  {found:5.1f} s  (load {load:.1f})", flush=True)


if __name__ == "__main__":
    main()
