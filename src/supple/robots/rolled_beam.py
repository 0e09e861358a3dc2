"""A clamped beam rolled up by a torque at its tip (001, tests 1 and 4).

The exact shape is a circle of curvature C/EI. The paper prints a *diameter* of 0.01 m: 5 N m then make
16 turns. Its remarks on test 4 (five modes are enough, convergence slows from 0.8 to 5.4 N m) only hold
for a *radius* of 0.01 m, where 5 N m make one turn; see examples/dynamics/01_release.py. Choose one.
"""

import math
from typing import Any

from supple.robot.items import Rod
from supple.robot.loads import Wrench
from supple.robot.robot import Robot
from supple.section import Circle, Material, StiffnessDamping

LENGTH = 1.0
YOUNG = 1e8
PRINTED_RADIUS = 0.005
RADIUS = 0.01


def curvature(torque: float, radius: float) -> float:
    """The exact curvature C/EI (1/m)."""
    return torque / (YOUNG * math.pi * radius**4 / 4)


def rolled_beam(
    torque: float,
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0),
    radius: float = RADIUS,
    **rod: Any,
) -> Robot:
    """The beam with its tip torque (N m) about a unit axis fixed in space; no gravity.

    Nodes must resolve the turns: half the angle (rad) that the beam bends through, and a few more.
    """
    material = Material(E=YOUNG, density=1000.0, damping=StiffnessDamping(1e-3))
    nodes = 16 + math.ceil(LENGTH * curvature(torque, radius) / 2)
    options: dict[str, Any] = {"strains": "planar", "basis": 5, "nodes": nodes} | rod
    return Robot(
        Rod("beam", LENGTH, Circle(radius), material, **options),
        Wrench("torque", on="beam", moment=tuple(torque * a for a in axis)),
        gravity=(0.0, 0.0, 0.0),
        name="rolled beam",
    )
