"""A soft tentacle on a turntable, bent by three tendons in turn: run with `make demo`.

Leaves out/demo.html (a page that plays it), out/demo.png (shapes, energies, tensions) and out/demo.npz (the
trajectory, read with numpy.load).
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a script

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import supple as sp
from examples._check import report
from supple.robots.tentacle import LENGTH, tentacle
from supple.view import to_html

DURATION, STEP = 8.0, 0.01
LIMITS = {
    "tip, 10 ms against 5 ms, over length": 2e-3,
    "tip, 5 against 8 bending modes, over length": 1e-2,  # the tendons end at a section
}


def simulate(duration: float, step: float = STEP, basis: int = 5) -> sp.Result:
    """The simulation, with a progress bar: it waits for the compiler, then runs."""
    columns = TextColumn("{task.description:10}"), BarColumn(), TextColumn("{task.fields[note]}")
    with Progress(*columns, TimeElapsedColumn()) as bar:
        task = bar.add_task("compiling", total=None, note="")

        def progress(t: float, instants: int) -> None:
            note = f"{t:.2f} s of motion in {instants} instants"
            bar.update(task, description="simulating", total=duration, completed=t, note=note)

        robot = tentacle(basis=basis)
        return sp.simulate(robot, duration, dt=step, progress=progress)


def apart(a: sp.Result, b: sp.Result) -> float:
    """Largest distance of the tips over the length, at the instants of the first."""
    every = (len(b) - 1) // (len(a) - 1)
    gaps = np.linalg.norm(a.position("arm") - b.position("arm")[::every], axis=1)
    return float(gaps.max() / LENGTH)


def run(quick: bool = False) -> dict[str, float]:
    """Against half the step, and against more modes; quick: one second, half the step only."""
    duration = 1.0 if quick else DURATION
    result = simulate(duration)
    errors = [apart(result, simulate(duration, STEP / 2))]
    if not quick:
        errors.append(apart(result, simulate(duration, basis=8)))
    return dict(zip(LIMITS, errors, strict=False))


def main() -> None:
    from examples._picture import OUT, save

    began = time.perf_counter()
    result = simulate(DURATION)
    print(f"{result}, {time.perf_counter() - began:.0f} s with the compiler")
    save(sp.plot.overview(result), "demo")
    print(f"trajectory: {result.save(OUT / 'demo.npz')}")
    page = to_html(result, OUT / "demo.html")
    report("demo", run(), LIMITS)
    print(f"\nOpen this in a browser; it plays without network:\n{page}")


if __name__ == "__main__":
    main()
