"""A clamped beam pushed sideways by a force that follows its tip (001, test 2)."""

import math
from typing import Any

from supple.robot.items import Rod
from supple.robot.loads import Wrench
from supple.robot.robot import Robot
from supple.section import Circle, Material

LENGTH = 100.0
YOUNG = 4.015e8
RADIUS = 0.57
"""The classical benchmark has EI = 3.5·10⁷ N m²; 0.57 m as a radius gives 3.3·10⁷."""
PRINTED_RADIUS = 0.285
"""The paper prints 0.57 m as the diameter: F L²/EI = 625, and the beam meanders."""


def bending_stiffness(radius: float = RADIUS) -> float:
    """EI (N m²)."""
    return YOUNG * math.pi * radius**4 / 4


def follower_beam(force: float, radius: float = RADIUS, **rod: Any) -> Robot:
    """The 100 m beam in the x-y plane under a tip force (N) along the tip's own y axis."""
    options: dict[str, Any] = {"strains": "planar", "basis": 16} | rod
    return Robot(
        Rod("beam", LENGTH, Circle(radius), Material(E=YOUNG, density=1000.0), **options),
        Wrench("push", on="beam", force=(0.0, force, 0.0), follower=True),
        gravity=(0.0, 0.0, 0.0),
        name="follower beam",
    )
