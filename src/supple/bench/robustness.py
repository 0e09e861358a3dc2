"""Robustness: the released cantilevers from a hundredth to ten thousand times as stiff, steps to 100 ms.

Most of these steps resolve nothing: the stiffest rod vibrates hundreds of times within one, the softest folds
at its clamp. A run must still end, and must not gain energy.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.bench.rods import CASES
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.run.simulate import simulate
from supple.run.statics import equilibrium
from supple.time.alpha import generalized_alpha

FACTORS = tuple(10.0**k for k in range(-2, 5))
"""Of Young's modulus."""
STEPS = (1e-3, 1e-2, 1e-1)
"""Seconds."""
RODS: dict[str, dict[str, Any]] = {"thesis": {"strains": "planar", "basis": 3}, "auto": {}}
"""Three bending modes, or the modes and strains that an accuracy of 1e-3 takes."""
CANTILEVERS = tuple(name for name, case in CASES.items() if case.released)
HEADER = (
    f"{'case':17} {'rod':6} {'E':>7} {'dt ms':>6} {'steps':>6} {'tried':>6} {'newton':>6} "
    f"{'energy':>7}  status"
)


@dataclass(frozen=True)
class Run:
    """One run: how it ended, what it took, and the most energy it ever had."""

    case: str
    rod: str
    factor: float
    """Of Young's modulus."""
    dt: float
    status: str
    steps: int
    substeps: int
    """Attempted steps in all; ``steps`` if none was split."""
    newton: int
    energy: float
    """Largest energy over the first, both above the hanging equilibrium."""

    def __str__(self) -> str:
        return (
            f"{self.case:17} {self.rod:6} {self.factor:7g} {1e3 * self.dt:6g} {self.steps:6d} "
            f"{self.substeps:6d} {self.newton:6d} {self.energy:7.3f}  {self.status}"
        )


def run_robustness(case: str, rod: str) -> Iterator[Run]:
    """All stiffnesses and steps for one cantilever; models of one shape share compiled code."""
    bench = CASES[case]
    assert bench.released is not None
    for factor in FACTORS:
        robot = stiffened(bench.build(**RODS[rod]), factor)
        held = equilibrium(robot)
        model = robot.removing(bench.released).build()
        floor = float(equilibrium(model).energies.total)
        for dt in STEPS:
            result = simulate(
                model,
                bench.duration,
                dt=dt,
                scheme=generalized_alpha(0.8),
                initial=held,
                throw=False,
            )
            energy = result.energies.total - floor
            yield Run(
                case=case,
                rod=rod,
                factor=factor,
                dt=dt,
                status=result.status.name,
                steps=len(result) - 1,
                substeps=int(result.substeps.sum()),
                newton=int(result.newton.sum()),
                energy=float(np.max(energy) / energy[0]),
            )


def stiffened(robot: Robot, factor: float) -> Robot:
    """The robot with every Young's modulus times ``factor``; G follows E unless it was given."""
    stiff = []
    for item in robot.items:
        if isinstance(item, Rod) and item.material is not None:
            material = replace(item.material, E=item.material.E * factor)
            stiff.append(replace(item, material=material))
    return robot.replacing(*stiff)
