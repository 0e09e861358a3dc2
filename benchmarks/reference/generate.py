"""Regenerate the reference data of this folder.

    python benchmarks/reference/generate.py [case ...]

For every case the finest run is written to ``data/<case>.npz`` (keys: t, tip,
error_estimate, notes; cantilevers also static_tip = x, y, theta; rfrfr also angles
of its hinges).  Then the time step alone is coarsened; then, at that coarser time
step, the mesh alone, the method, the penalty that holds EA and GA (rfrfr), or their
true values.  Differences are largest tip distances over all output instants, divided
by L.  ``error_estimate`` is the sum of the time, the space and the penalty difference:
an upper bound of the error of the finest run as long as refining still helps.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import planar_solve
import rfrfr
import spatial_fem
from cases import OUTPUTS, PLANAR, SPATIAL
from lagrange import Array
from planar_fem import PlanarMesh
from spatial_fem import SpatialMesh
from static_reference import static_tip

DATA = Path(__file__).resolve().parents[2] / "src" / "supple" / "bench" / "data"


@dataclass(frozen=True)
class PlanarSetting:
    """Mesh and time step (``substeps`` per output interval) of one planar run."""

    role: str  # finest, space, time or method
    elements: int
    degree: int
    substeps: int
    kind: str = "gauss"
    stages: int = 3

    def describe(self, duration: float) -> str:
        """For the table and the notes."""
        step = duration / (OUTPUTS * self.substeps)
        mesh = f"{self.elements} elements of degree {self.degree}"
        return f"{mesh}, {self.kind} {self.stages} stages, h = {step:.3g} s"


@dataclass(frozen=True)
class SpatialSetting:
    """Mesh and integrator tolerance of one spatial run."""

    role: str
    elements: int
    degree: int
    tolerance: float

    def describe(self, _: float) -> str:
        """For the table and the notes."""
        mesh = f"{self.elements} elements of degree {self.degree}"
        return f"{mesh}, DOP853, tolerance {self.tolerance:.0e}"


@dataclass(frozen=True)
class LoopSetting:
    """Mesh, time step (``substeps`` per output interval) and penalty of a closed loop."""

    role: str  # finest, time, space, penalty, method or elastic (true EA and GA)
    elements: int  # of each rod
    degree: int
    substeps: int
    kind: str = "gauss"
    stages: int = 3
    stiffening: float = rfrfr.STIFFENING

    def describe(self, duration: float) -> str:
        """For the table and the notes."""
        step = duration / (OUTPUTS * self.substeps)
        mesh = f"2 x {self.elements} elements of degree {self.degree}"
        return f"{mesh}, {self.kind} {self.stages}, h = {step:.3g} s, EA x {self.stiffening:.0e}"


PLANAR_RUNS = {
    "stiff-cantilever": [
        PlanarSetting("finest", 16, 6, 80),
        PlanarSetting("time", 16, 6, 50),
        PlanarSetting("space", 10, 6, 50),
    ],
    "stiff-cantilever-as-printed": [
        PlanarSetting("finest", 48, 6, 20),
        PlanarSetting("time", 48, 6, 10),
        PlanarSetting("space", 32, 6, 10),
    ],
    "heavy-string": [
        PlanarSetting("finest", 48, 6, 6),
        PlanarSetting("time", 48, 6, 4),
        PlanarSetting("space", 32, 6, 4),
    ],
    "soft-cantilever": [
        PlanarSetting("finest", 24, 6, 16),
        PlanarSetting("time", 24, 6, 8),
        PlanarSetting("space", 16, 6, 8),
        PlanarSetting("method", 24, 6, 8, "radau"),
    ],
}

SPATIAL_RUNS = {
    "soft-flying-rod": [
        SpatialSetting("finest", 16, 6, 1e-11),
        SpatialSetting("time", 16, 6, 1e-9),
        SpatialSetting("space", 10, 6, 1e-9),
    ],
    "stiff-flying-rod": [
        SpatialSetting("finest", 6, 6, 1e-10),
        SpatialSetting("time", 6, 6, 1e-8),
        SpatialSetting("space", 4, 6, 1e-8),
    ],
}

LOOP_RUNS = {
    "rfrfr": [
        LoopSetting("finest", 6, 6, 24),
        LoopSetting("time", 6, 6, 16),
        LoopSetting("space", 4, 6, 16),
        LoopSetting("penalty", 6, 6, 16, stiffening=1e2),
        LoopSetting("method", 6, 6, 16, "radau"),
        LoopSetting("elastic", 6, 6, 16, stiffening=1.0),
    ],
}


def run_loop(setting: LoopSetting) -> tuple[Array, float, str, Array]:
    """Tip history (n, 3), energy drift, a remark and the hinge angles (n, 2)."""
    loop = rfrfr.Loop(rfrfr.steel_rod(setting.stiffening), setting.elements, setting.degree)
    method = planar_solve.Collocation.make(setting.kind, setting.stages)
    run = rfrfr.integrate(loop, rfrfr.DURATION, OUTPUTS, setting.substeps, method)
    tip = np.hstack([run.tip, np.zeros((len(run.tip), 1))])
    return tip, run.energy_drift, f"{run.iterations:.2f} Newton iterations a step", run.angles


def run_planar(case: str, setting: PlanarSetting) -> tuple[Array, float, str]:
    """Tip history (n, 3), energy drift and a remark."""
    bench = PLANAR[case]
    mesh = PlanarMesh(bench.rod, setting.elements, setting.degree)
    state = planar_solve.static_equilibrium(mesh, bench.tip_force)
    method = planar_solve.Collocation.make(setting.kind, setting.stages)
    run = planar_solve.integrate(mesh, state, bench.duration, OUTPUTS, setting.substeps, method)
    tip = run.tip.copy()
    tip[:, 2] = 0.0  # the third column was the tip angle
    return tip, run.energy_drift, f"{run.iterations:.2f} Newton iterations a step"


def run_spatial(case: str, setting: SpatialSetting) -> tuple[Array, float, str]:
    """Tip history (n, 3), energy drift and a remark."""
    bench = SPATIAL[case]
    mesh = SpatialMesh(bench.rod, setting.elements, setting.degree)
    state = mesh.straight(*bench.ends)
    run = spatial_fem.integrate(mesh, state, bench.load, bench.duration, OUTPUTS, setting.tolerance)
    return run.tip, run.energy_drift, f"{run.steps} steps"


def distance(a: Array, b: Array, length: float) -> float:
    """Largest distance over all instants, divided by the length."""
    return float(np.max(np.linalg.norm(a - b, axis=1))) / length


def generate(case: str) -> None:
    """Run all settings of one case, print its table and write its data."""
    planar = case in PLANAR
    if case in LOOP_RUNS:
        length, duration = rfrfr.steel_rod().length, rfrfr.DURATION
    else:
        bench = PLANAR[case] if planar else SPATIAL[case]
        length, duration = bench.rod.length, bench.duration
    print(f"\n{case}\n{'-' * len(case)}")
    extra: dict[str, Array] = {}
    if planar:
        extra["static_tip"] = static_tip(PLANAR[case].rod, PLANAR[case].tip_force)
    finest, coarse = np.zeros(0), np.zeros(0)
    notes, estimate = "", 0.0
    settings: list[Any] = [*{**PLANAR_RUNS, **SPATIAL_RUNS, **LOOP_RUNS}[case]]
    for setting in settings:
        start = time.process_time()
        if isinstance(setting, PlanarSetting):
            tip, drift, remark = run_planar(case, setting)
        elif isinstance(setting, LoopSetting):
            tip, drift, remark, angles = run_loop(setting)
            if setting.role == "finest":
                extra["angles"] = angles
        else:
            tip, drift, remark = run_spatial(case, setting)
        cpu = time.process_time() - start
        description = setting.describe(duration)
        difference = "(finest)"
        if setting.role == "finest":
            finest = tip
            notes = f"{description}; energy drift {drift:.1e}"
            if planar:
                gap = np.max(np.abs(tip[0, :2] - extra["static_tip"][:2])) / length
                print(f"static tip {extra['static_tip']}, strong form; difference {gap:.1e} L")
        else:
            value = distance(tip, finest if setting.role == "time" else coarse, length)
            difference = f"{setting.role} {value:.1e}"
            estimate += value if setting.role in ("space", "time", "penalty") else 0.0
        if setting.role == "time":
            coarse = tip
        print(
            f"{description:66s} {difference:16s} energy drift {drift:.1e}  [{remark}, {cpu:.0f} s]",
            flush=True,
        )
    print(f"error estimate (sum) / L: {estimate:.1e}")
    content: dict[str, Any] = dict(
        t=np.linspace(0.0, duration, OUTPUTS + 1),
        tip=finest,
        error_estimate=estimate,
        notes=f"{notes}; independent Simo-Reissner finite elements, see convergence.md",
        **extra,
    )
    np.savez_compressed(DATA / f"{case}.npz", **content)


def main() -> None:
    """All cases, or those named on the command line."""
    DATA.mkdir(exist_ok=True)
    known = [*PLANAR_RUNS, *SPATIAL_RUNS, *LOOP_RUNS]
    chosen = sys.argv[1:] or known
    for case in chosen:
        if case not in known:
            raise SystemExit(f"unknown case {case}; known: {', '.join(known)}")
        generate(case)


if __name__ == "__main__":
    main()
