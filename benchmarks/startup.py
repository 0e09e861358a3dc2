"""What the kept programs save: the first simulation of two processes that share one new cache folder.

``python benchmarks/startup.py`` prints the seconds from its call to its result, compilation included.
"""

import os
import subprocess
import sys
import tempfile

RUN = """
import time
from supple import simulate
from supple.robots.flying_rod import stiff_flying_rod
robot = stiff_flying_rod()
begun = time.perf_counter()
simulate(robot, 1.0)
print(f"{time.perf_counter() - begun:.2f}")
"""


def seconds(folder: str) -> str:
    """Time of the first run in a new process that keeps its compiled programs in a folder."""
    settings = {**os.environ, "XDG_CACHE_HOME": folder}
    for name in ("JAX_COMPILATION_CACHE_DIR", "SUPPLE_CACHE"):
        settings.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=settings, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for process in ("first", "second"):
            print(f"first run of the {process} process: {seconds(folder)} s", flush=True)
