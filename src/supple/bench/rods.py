"""The four rod benches: error against an independent finite-element solution, and time.

The references come from another formulation (geometrically exact finite elements in absolute coordinates, see
``benchmarks/reference``); the error is the largest distance of the tip from it over the whole run, over L.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from supple.results.result import Result
from supple.robot.robot import Robot
from supple.robots.cantilever import soft_cantilever, stiff_cantilever
from supple.robots.flying_rod import soft_flying_rod, stiff_flying_rod
from supple.run.simulate import simulate
from supple.run.statics import equilibrium
from supple.time.alpha import newmark


@dataclass(frozen=True)
class Case:
    """A bench: how to build it, which load is removed at the start, how long it runs (s)."""

    name: str
    build: Callable[..., Robot]
    length: float
    duration: float
    released: str | None = None


@dataclass(frozen=True)
class Preset:
    """Settings shared by all cases: a fixed step and given modes, or a requested accuracy."""

    name: str
    accuracy: float | None = None
    dt: float | None = None


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: str
    preset: str
    n_dof: int
    steps: int
    compile_s: float
    wall_s: float
    simulated_s: float
    ratio: float
    tip_error: float
    newton_per_step: float
    status: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


CASES = {
    case.name: case
    for case in (
        Case("stiff-cantilever", stiff_cantilever, 0.4, 1.0, "pull"),
        Case("soft-cantilever", soft_cantilever, 10.0, 10.0, "pull"),
        Case("stiff-flying-rod", stiff_flying_rod, 1.0, 10.0),
        Case("soft-flying-rod", soft_flying_rod, 10.0, 10.0),
    )
}
PRESETS = {
    preset.name: preset
    for preset in (
        Preset("thesis", dt=0.01),
        Preset("1e-2", accuracy=1e-2),
        Preset("1e-3", accuracy=1e-3),
    )
}


def reference(case: str) -> tuple[np.ndarray, np.ndarray]:
    """Instants (s) and tip positions (m) of the independent solution."""
    path = resources.files("supple.bench") / "data" / f"{case}.npz"
    with resources.as_file(path) as file, np.load(file) as data:
        return data["t"], data["tip"]


def tip_error(result: Result, case: str, length: float) -> float:
    """Largest distance of the tip from the reference over the instants the run covers, over L."""
    times, tip = reference(case)
    reached = times <= result.t[-1] * (1 + 1e-12)
    found = result.sample(np.minimum(times[reached], result.t[-1])).position("rod")
    return float(np.linalg.norm(found - tip[reached], axis=1).max() / length)


def run_rods(
    cases: list[str] | None = None, presets: list[str] | None = None, repeats: int = 5
) -> Iterator[Row]:
    """Run the benches; wall times are the best of ``repeats`` warm runs on one core.

    The process is held on one core while they run, where the system can do that (Linux).
    """
    for name in cases or CASES:
        for preset in presets or PRESETS:
            yield run_case(CASES[name], PRESETS[preset], repeats)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Hold the process on one of its cores; does nothing where the system has no such call."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    _hold_on({max(before)})
    try:
        yield
    finally:
        _hold_on(before)


def _hold_on(cores: set[int]) -> None:
    """Allow every thread of the process these cores; the call itself moves only one."""
    tasks = Path("/proc/self/task")
    for thread in [int(p.name) for p in tasks.iterdir()] if tasks.exists() else [0]:
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(thread, cores)


def run_case(case: Case, preset: Preset, repeats: int = 5) -> Row:
    """One row: compile, then time warm runs from a ready model and start."""
    if preset.dt is not None:
        # The thesis: Kirchhoff rods, three modes for each strain, Newmark at 10 ms.
        strains = "planar" if case.released else "kirchhoff"
        robot = case.build(strains=strains, basis=3)
        options: dict[str, Any] = {"dt": preset.dt, "scheme": newmark()}
        model = robot.build()
    else:
        robot = case.build()
        options = {"accuracy": preset.accuracy}
        model = robot.build(preset.accuracy or 1e-3)
    start = None
    if case.released is not None:
        start = equilibrium(model)
        moving = robot.removing(case.released)
        model = moving.build(preset.accuracy) if preset.accuracy else moving.build()
    begun = time.perf_counter()
    result = simulate(model, case.duration, initial=start, **options, throw=False)
    cold = time.perf_counter() - begun
    walls = []
    with on_one_core():
        for _ in range(repeats):
            begun = time.perf_counter()
            result = simulate(model, case.duration, initial=start, **options, throw=False)
            walls.append(time.perf_counter() - begun)
    wall = min(walls)
    steps = len(result) - 1
    return Row(
        case=case.name,
        preset=preset.name,
        n_dof=model.nv,
        steps=steps,
        compile_s=cold - wall,
        wall_s=wall,
        simulated_s=case.duration,
        ratio=wall / case.duration,
        tip_error=tip_error(result, case.name, case.length),
        newton_per_step=float(np.sum(result.newton)) / max(steps, 1),
        status=result.status.name,
    )
