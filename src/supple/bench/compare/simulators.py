"""Which simulators run which tasks, and how finely.

A resolution is what the simulator's script in ``peers/`` says it is. The first list of a task ends within a
minute for all its entries together on one core, the second is added by ``--full``. What is not offered is
said with its reason.
"""

from dataclasses import dataclass, field
from typing import Any

Resolutions = dict[str, tuple[list[Any], list[Any]]]


@dataclass(frozen=True)
class Simulator:
    """A simulator: what pip installs, its script, and what it runs."""

    name: str
    package: str | None
    script: str
    runs: Resolutions
    without: dict[str, str] = field(default_factory=dict)
    otherwise: str = "not tried"
    """Why it does not run the tasks that nothing is said of."""

    def why_not(self, task: str) -> str:
        """Why it does not run a task."""
        return self.without.get(task, self.otherwise)


ACCURACIES: tuple[list[Any], list[Any]] = ([[1e-2], [1e-3]], [[1e-4]])

SUPPLE = Simulator(
    "supple", None, "with_supple.py",
    {
        "stiff-cantilever": ACCURACIES,
        "soft-cantilever": ACCURACIES,
        "stiff-flying-rod": ACCURACIES,
        "soft-flying-rod": ACCURACIES,
        "arm": ACCURACIES,
        "rfrfr": ACCURACIES,
        "chain-200": ([[2, 50]], [[1, 50], [2, 100], [2, 200]]),
        "net-200": ([[2, 50]], [[1, 25], [2, 100], [2, 200]]),
        "fleet-1000": ([[2, 0.02]], [[2, 0.01], [3, 0.01]]),
    },
)  # fmt: skip
EXUDYN = Simulator(
    "exudyn", "exudyn", "with_exudyn.py",
    {
        "stiff-cantilever": ([[6, 2000], [12, 4000], [12, 8000]], [[20, 20000], [32, 40000]]),
        "soft-cantilever": ([[8, 500], [16, 2000]], [[32, 8000]]),
        "stiff-flying-rod": ([[8, 400], [8, 1000], [8, 2000]], [[16, 4000]]),
        "soft-flying-rod": ([[8, 200], [16, 400], [32, 1600]], [[64, 3200]]),
        "chain-200": ([[1, 50], [1, 100], [2, 200]], [[4, 800]]),
        "net-200": ([[2, 50], [4, 100]], [[8, 400]]),
        "rfrfr": ([[4, 1000], [8, 4000]], [[16, 16000]]),
    },
    {
        "arm": "no tendon along a beam: its reeving systems run over bodies",
        "fleet-1000": "no tendon along a beam: its reeving systems run over bodies",
    },
)  # fmt: skip
MUJOCO = Simulator(
    "mujoco", "mujoco", "with_mujoco.py",
    {
        "stiff-cantilever": (
            [[16, 20000, "rk4", "bend"], [30, 80000, "rk4", "bend"]],
            [[40, 400000, "euler", "bend"], [60, 240000, "rk4", "bend"]],
        ),
        "soft-cantilever": (
            [[12, 2000, "euler", "bend"], [24, 2000, "rk4", "bend"], [40, 6000, "rk4", "bend"]],
            [[80, 24000, "rk4", "bend"]],
        ),
        "stiff-flying-rod": (
            [[4, 1000, "rk4", "all"], [8, 2000, "rk4", "all"]], [[16, 4000, "rk4", "all"]],
        ),
        "soft-flying-rod": (
            [[10, 1000, "rk4", "all"], [14, 1200, "rk4", "all"], [20, 2000, "rk4", "all"]],
            [[40, 4000, "rk4", "all"]],
        ),
        "arm": (
            [[8, 800, "discrete", "all"], [16, 4000, "euler", "all"]],
            [[32, 16000, "euler", "all"]],
        ),
        "chain-200": ([[1, 200, "euler", "all"]], [[2, 800, "euler", "all"]]),
        "fleet-1000": (
            [[8, 200, "discrete", "all"]],
            [[16, 1000, "euler", "all"], [32, 4000, "euler", "all"]],
        ),
    },
    {
        "net-200": "loops are closed by soft constraints, which are another robot",
        "rfrfr": "loops are closed by soft constraints, which are another robot",
    },
)  # fmt: skip
PYELASTICA = Simulator(
    "pyelastica", "pyelastica", "with_pyelastica.py",
    {
        "stiff-cantilever": ([[10, 300000]], [[20, 600000], [40, 1200000]]),
        "soft-cantilever": ([[20, 100000]], [[40, 200000], [80, 400000]]),
        "stiff-flying-rod": ([[20, 10000], [40, 20000]], [[80, 40000]]),
        "soft-flying-rod": ([[20, 10000]], [[40, 20000], [80, 40000]]),
        "chain-200": ([[1, 800], [2, 1600]], [[4, 6400]]),
    },
    {
        "arm": "no tendons",
        "fleet-1000": "no tendons",
        "net-200": "joints are penalties, which are another robot",
        "rfrfr": "joints are penalties, which are another robot",
    },
)  # fmt: skip
SOROMOX = Simulator(
    "soromox", "soromox", "with_soromox.py",
    {
        "soft-cantilever": ([[5, 1e-3]], [[8, 1e-4]]),
        "stiff-cantilever": ([[5, 1e-2]], [[7, 1e-3]]),
        "arm": ([[4, 1e-3]], [[8, 1e-3]]),
        "fleet-1000": ([], [[3, 1e-2]]),
    },
    {
        "fleet-1000": "takes minutes: only with --full",
        "chain-200": "matrices of all segments are dense",
        "net-200": "serial robots only",
        "rfrfr": "serial robots only",
        "stiff-flying-rod": "no loads on a floating base of which the documentation tells",
        "soft-flying-rod": "no loads on a floating base of which the documentation tells",
    },
)  # fmt: skip
NEWTON = Simulator(
    "newton", "newton", "with_newton.py",
    {
        "stiff-cantilever": ([[12, 1000, 10]], [[24, 8000, 20]]),
        "soft-cantilever": ([[12, 1000, 10]], [[24, 8000, 20]]),
        "stiff-flying-rod": ([[8, 1000, 10], [8, 2000, 10]], [[8, 8000, 10]]),
        "soft-flying-rod": ([[8, 1000, 10]], [[16, 8000, 20]]),
    },
    otherwise="first order in time and single precision: the rod benches tell enough",
)  # fmt: skip
DISMECH = Simulator(
    "dismech-newton", "dismech-newton", "with_dismech.py",
    {
        "soft-cantilever": ([[20, 2000, 4]], [[40, 8000, 4]]),
        "stiff-cantilever": ([[20, 2000, 4]], [[40, 8000, 4]]),
    },
    {
        "stiff-flying-rod": "no shear, no rotary inertia, no moments on nodes",
        "soft-flying-rod": "no shear, no rotary inertia, no moments on nodes",
        "arm": "no tendons",
        "fleet-1000": "no tendons",
    },
    otherwise="single chains only: no branches, no joints",
)  # fmt: skip
SIMULATORS = {
    one.name: one for one in (SUPPLE, EXUDYN, MUJOCO, PYELASTICA, SOROMOX, NEWTON, DISMECH)
}
