"""What all simulators are asked, as plain numbers in SI units that need no library to read.

Errors are taken at ``times`` from a converged solution of another formulation where there is one (the rod
benches and the RFRFR robot: finite elements, see ``benchmarks/reference``), else from Supple's own finest,
which is kept in ``data/compare.npz`` and which the finest runs of the peers come close to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from supple.bench.rods import CASES, reference

INSTANTS = 201
"""At which tips are compared."""
ARM: dict[str, Any] = {
    "length": 0.3, "radius": 0.01, "E": 1e6, "nu": 0.3, "density": 1100.0, "damping": 0.02,
    "gravity": (9.81, 0.0, 0.0), "offset": 0.008, "peak": 4.0, "period": 1.0,
}  # fmt: skip
"""A silicone arm that hangs down and is bent by one tendon; ``damping`` (s) times stiffness."""
CHAIN: dict[str, Any] = {
    "rods": 200, "length": 0.3, "radius": 0.01, "E": 1e7, "nu": 0.3, "density": 1100.0,
    "gravity": (9.0, 2.0, 0.0),
}  # fmt: skip
"""Rubber rods in a row, 60 m, clamped at one end and let go along the x axis."""
NET: dict[str, Any] = CHAIN | {"cells": 10, "joint_mass": 0.02, "gravity": (9.0, 0.5, 0.0)}
"""A square grid of rods in its plane, held at one side, with a small mass at each rigid crossing."""
MEMBERS = 1000
SPREAD = 0.5
"""How far the tendon forces of a fleet differ from the mean, in parts of it."""


@dataclass(frozen=True)
class Task:
    """A motion: its numbers, and what a position's error is divided by (m)."""

    name: str
    kind: str
    what: str
    scale: float
    duration: float
    instants: int
    numbers: Callable[[], dict[str, Any]]

    @property
    def times(self) -> np.ndarray:
        """When positions are compared (s)."""
        return np.linspace(0.0, self.duration, self.instants)[0 if self.instants > 1 else -1 :]

    def as_dict(self) -> dict[str, Any]:
        """Everything that a peer needs."""
        shared = {"task": self.name, "kind": self.kind, "duration": self.duration}
        return shared | {"times": _ends(self).tolist()} | self.numbers()

    def reference(self) -> np.ndarray:
        """Positions (m) at the instants: of one point over time, or of many at the end."""
        if self.name in CASES or self.name == "rfrfr":
            times, tip = reference(self.name)
            return tip[np.searchsorted(times, _ends(self) - 1e-9)]
        return _kept()[self.name]


def _ends(task: Task) -> np.ndarray:
    return task.times if task.instants > 1 else np.array([task.duration])


@cache
def _kept() -> dict[str, np.ndarray]:
    path = resources.files("supple.bench") / "data" / "compare.npz"
    with resources.as_file(path) as file, np.load(file) as data:
        return dict(data)


def section(radius: float, E: float, nu: float, density: float) -> dict[str, float]:
    """Stiffnesses and inertias of a solid circle; the shear factor is 1."""
    area, second, G = np.pi * radius**2, np.pi * radius**4 / 4, E / (2 * (1 + nu))
    return {
        "EA": E * area, "GA": G * area, "EI": E * second, "GJ": 2 * G * second,
        "mass": density * area, "inertia": density * second, "polar": 2 * density * second,
        "radius": radius, "E": E, "G": G, "density": density,
    }  # fmt: skip


@cache
def _held(name: str) -> dict[str, list[float]]:
    """The static shape of a cantilever under its force, from a fine solution: angles along the rod."""
    from supple.run.statics import equilibrium

    found = equilibrium(CASES[name].build(), accuracy=1e-5)
    shares = np.linspace(0.0, 1.0, 401)
    turn = np.asarray(found.shape("rod", shares).rotation)
    return {"share": shares.tolist(), "angle": np.arctan2(turn[:, 1, 0], turn[:, 0, 0]).tolist()}


def _cantilever(name: str) -> dict[str, Any]:
    length, radius, E, density, force = {
        "stiff-cantilever": (0.4, 1e-3, 2e11, 8000.0, 10.0),
        "soft-cantilever": (10.0, 5e-3, 1e11, 7800.0, 50.0),
    }[name]
    shape = {"length": length, "gravity": (9.81, 0.0, 0.0), "force": force, "start": _held(name)}
    return shape | section(radius, E, 0.3, density)


def _flying(name: str) -> dict[str, Any]:
    if name == "soft-flying-rod":
        numbers: dict[str, Any] = dict.fromkeys(("inertia", "polar"), 10.0)
        numbers |= dict.fromkeys(("EI", "GJ"), 500.0) | dict.fromkeys(("EA", "GA"), 1e4)
        numbers |= {
            "length": 10.0,
            "mass": 1.0,
            "peak": 200.0,
            "force": 0.1,
            "moment": (0, 0.5, 1.0),
        }
        return numbers
    numbers = {"length": 1.0, "peak": 1.0, "force": 1.0, "moment": (0.0, 0.02, 1.0)}
    return numbers | section(0.05, 1e6, 0.3, 1000.0)


def _of(values: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    made = section(*(values[name] for name in ("radius", "E", "nu", "density")))
    return lambda: values | made


def _fleet() -> dict[str, Any]:
    spread = np.linspace(1 - SPREAD, 1 + SPREAD, MEMBERS)
    return _of(ARM)() | {"members": MEMBERS, "scales": spread.tolist()}


def _loop() -> dict[str, Any]:
    numbers = section(1e-3, 210e9, 0.3125, 7800.0)  # G = 80 GPa
    return numbers | {"length": 1.0, "distance": 0.4, "hold": 0.5, "sway": 0.04}


def _rod(name: str, kind: str, what: str) -> Task:
    case = CASES[name]
    build = _cantilever if kind == "cantilever" else _flying
    return Task(name, kind, what, case.length, case.duration, INSTANTS, lambda: build(name))


TASKS = {
    task.name: task
    for task in (
        _rod("stiff-cantilever", "cantilever", "a steel rod of 0.4 m, released from 10 N, 1 s"),
        _rod("soft-cantilever", "cantilever", "a rod of 10 m, released from 50 N, 10 s"),
        _rod("stiff-flying-rod", "flying", "a thick free rod of 1 m under a load, 10 s"),
        _rod("soft-flying-rod", "flying", "a soft free rod of 10 m under a load, 10 s"),
        Task("arm", "arm", "a silicone arm driven by a tendon, 2 s", 0.3, 2.0, INSTANTS, _of(ARM)),
        Task("chain-200", "chain", "a chain of 200 rods that falls, 0.5 s", 0.3, 0.5, 1, _of(CHAIN)),
        Task("net-200", "net", "a plane net of 220 rods that falls, 0.5 s", 0.3, 0.5, 1, _of(NET)),
        Task("rfrfr", "rfrfr", "two rods on motors, joined at their tips, 10 s", 1.0, 10.0, INSTANTS, _loop),
        Task("fleet-1000", "fleet", "1000 such arms under other tendon forces, 0.5 s", 0.3, 0.5, 1, _fleet),
    )
}  # fmt: skip
