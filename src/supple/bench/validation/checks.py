"""Checks in groups: what is compared with what, the error, and how large it may be."""

import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from supple.bench import accuracy, cpr, robustness
from supple.bench.accuracy_cases import CASES
from supple.bench.accuracy_motions import MOTIONS
from supple.robots.cantilever import soft_cantilever, stiff_cantilever
from supple.robots.rfrfr import rfrfr
from supple.run.simulate import simulate
from supple.run.statics import release
from supple.time.alpha import generalized_alpha, newmark
from supple.time.collocation import gauss

AT_REST, IN_MOTION = 1e-5, 1e-3
"""What is asked for, and so what errors may be."""
GAINED = 0.05
"""Energy that a run may gain, as in the tests: steps that would raise it by more than 4 % are split."""
STEPS = 1_000_000
"""Of the longest run."""


@dataclass(frozen=True)
class Check:
    """One line of the page."""

    name: str
    against: str
    error: float
    tolerance: float
    picture: str = ""

    @property
    def holds(self) -> bool:
        """Whether the error is as small as it should be; false where it is no number."""
        return self.error <= self.tolerance

    @property
    def status(self) -> str:
        """Whether there is an error at all; whether it is small enough is another matter."""
        return "DONE" if math.isfinite(self.error) else "FAILED"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"holds": self.holds, "status": self.status}


def at_rest() -> list[Check]:
    """Shapes at rest."""
    exact = {"wound-up", "follower", "follower-coils"}
    found = accuracy.run_accuracy(list(CASES), [AT_REST])
    return [
        Check(r.case, "closed form" if r.case in exact else "strong form, collocation", r.got, r.asked)
        for r in found
    ]  # fmt: skip


def in_motion() -> list[Check]:
    """Motions."""
    against = {
        "pendulum": "equation of the pendulum", "slider-crank": "kinematics in closed form",
        "undeclared-kink": "its equation, piece by piece", "axial-wave": "d'Alembert's waves",
    }  # fmt: skip
    pictures = dict.fromkeys(("stiff-cantilever", "soft-cantilever"), "benches-01_cantilevers.png")
    pictures |= dict.fromkeys(("stiff-flying-rod", "soft-flying-rod"), "benches-02_flying_rods.png")
    known = "finite elements in absolute coordinates"
    return [
        Check(r.case, against.get(r.case, known), r.got, r.asked, pictures.get(r.case, ""))
        for r in accuracy.run_accuracy(list(MOTIONS), [IN_MOTION])
    ]


def loops() -> list[Check]:
    """The closed loop of 000 §5.13, to two accuracies."""
    return [
        Check(
            f"RFRFR robot, {row.preset}", "finite elements in absolute coordinates", row.tip_error,
            float(row.preset), "closed_loops-01_rfrfr.png",
        )
        for row in cpr.run_cpr(["rfrfr"], repeats=1)
        if row.preset != "10ms"  # given steps and modes: as good as these
    ]  # fmt: skip


def long_runs() -> list[Check]:
    """Energies and loops over many steps."""
    found = []
    runs: tuple[tuple[str, Any, Any, float, float, float], ...] = (
        ("soft cantilever, Newmark, 1 ms", soft_cantilever, newmark(), 1e-3, 10.0, 1e-4),
        ("stiff cantilever, Newmark, 1 ms", stiff_cantilever, newmark(), 1e-3, 10.0, 5e-3),
        ("soft cantilever, Gauss 6, 5 ms", soft_cantilever, gauss(3), 5e-3, 10.0, 1e-6),
        ("soft cantilever, Newmark, 10⁶ steps", soft_cantilever, newmark(), 1e-3, STEPS * 1e-3, 1e-4),
    )  # fmt: skip
    for name, build, scheme, dt, duration, limit in runs:
        kept = 0.1 if duration > 100 else dt
        run = release(
            build(strains="planar", basis=3), "pull", duration, dt=dt, scheme=scheme, t_eval=kept
        )
        energy = run.energies
        drift = np.abs(energy.total - energy.total[0]).max()
        share = float(drift / np.ptp(energy.elastic + energy.potential))
        what = f"energy at the start, over {duration:g} s"
        found.append(Check(name, what, share if run.ok else math.nan, limit))
    run = simulate(rfrfr(), 1000.0, dt=0.01, scheme=generalized_alpha(0.9))
    closed = float(np.abs(run.violation).max())
    held = 0.5 * (run.joint("left").position[:, 0] - run.joint("right").position[:, 0])
    late = (run.energies.total - held)[run.t > 7.0]
    swing = float(np.ptp(late) / np.abs(late).max())
    name = "RFRFR robot, 10 ms, 1000 s"
    return [
        *found,
        Check(f"{name}, loop (m)", "closed", closed, 1e-12),
        Check(
            f"{name}, energy", "constant after the drive; the scheme damps a little", swing, 7e-4
        ),
    ]


def robust() -> list[Check]:
    """The map of stiffness and step: the most energy of a run over the first, less one."""
    return [
        Check(
            f"{run.case}, {run.rod}, E × {run.factor:g}, {1e3 * run.dt:g} ms",
            run.status, max(run.energy - 1, 0.0) if run.status == "DONE" else math.nan, GAINED,
        )
        for case in robustness.CANTILEVERS
        for rod in robustness.RODS
        for run in robustness.run_robustness(case, rod)
    ]  # fmt: skip


GROUPS: dict[str, Callable[[], Iterable[Check]]] = {
    "rest": at_rest,
    "motion": in_motion,
    "loops": loops,
    "long": long_runs,
    "robustness": robust,
}


def stored_file() -> Path:
    """Where what was found lies."""
    return Path(str(resources.files("supple.bench") / "data" / "validation.json"))


def stored() -> dict[str, list[Check]]:
    """What was found last, by group."""
    if not stored_file().exists():
        return {}
    values = json.loads(stored_file().read_text(encoding="utf-8"))
    # JSON knows no NaN: an error that is none is null.
    return {
        group: [
            Check(**(c | {"error": math.nan if c["error"] is None else c["error"]})) for c in of
        ]
        for group, of in values["groups"].items()
    }


def store(groups: dict[str, list[Check]]) -> None:
    """Keep what was found; other groups stay."""
    kept = stored() | groups
    values = {
        "date": time.strftime("%Y-%m-%d"),
        "groups": {
            name: [
                asdict(c) | {"error": float(f"{c.error:.4g}") if math.isfinite(c.error) else None}
                for c in kept[name]
            ]
            for name in GROUPS if name in kept
        },
    }  # fmt: skip
    text = json.dumps(values, indent=1, ensure_ascii=False)
    stored_file().write_text(text + "\n", encoding="utf-8")
