"""The clamped spring-steel rod of 002 §4: let go from under a weight, and hit near its base.

Printed: a diameter of 1.42 mm, free lengths of 0.408 m and 0.517 m, a weight of 20 g, the hat function of the
blow, and the calibrated EI, density and air drag of Table 5. Not printed, and chosen here: the rod is level
and moves in the vertical plane, G follows from ν = 0.3, the blow acts downwards at a tenth of the length.
"""

import numpy as np

from supple.model.laws import triangle
from supple.robot.items import Rod
from supple.robot.joint import AbstractJointSpec, Fixed
from supple.robot.loads import Drag, Wrench
from supple.robot.robot import Robot
from supple.section import Circle, Material

RADIUS = 0.71e-3
BENDING = 0.0380
"""EI (N m²)."""
DENSITY = 7602.0
AIR = 2.09e-3
"""Drag (kg/m²)."""
RELEASED, STRUCK = 0.408, 0.517
"""Free lengths (m)."""
WEIGHT = 0.020
PEAK, BLOW = 5.0, 0.016
"""Height (N) and duration (s) of the hat function."""
PLACE = 0.1
"""Fraction of the length at which the rod is hit."""
DOWN = (0.0, -9.81, 0.0)


def clamped_rod(
    length: float,
    *,
    strains: str = "planar",
    basis: int = 8,
    drag: float = AIR,
    joint: AbstractJointSpec | None = None,
    gravity: tuple[float, float, float] = DOWN,
) -> Robot:
    """The rod alone, level along x; gravity points to -y."""
    steel = Material(E=BENDING / (np.pi * RADIUS**4 / 4), nu=0.3, density=DENSITY)
    rod = Rod(
        "rod",
        length=length,
        section=Circle(RADIUS),
        material=steel,
        strains=strains,
        basis=basis,
        joint=Fixed() if joint is None else joint,
    )
    return Robot(rod, Drag("air", on="rod", quadratic=drag), gravity=gravity, name="clamped rod")


def loaded_rod(**options: object) -> Robot:
    """The shorter rod with the load "weight" on its string: a force, as long as it hangs still."""
    pull = Wrench("weight", on="rod", force=(0.0, -9.81 * WEIGHT, 0.0))
    return clamped_rod(RELEASED, **options).adding(pull)  # type: ignore[arg-type]


def struck_rod(**options: object) -> Robot:
    """The longer rod, hit at the time 0."""
    hat = triangle(0.0, BLOW / 2, BLOW)
    blow = Wrench("blow", on="rod", fraction=PLACE, force=(0.0, -PEAK, 0.0), law=hat)
    return clamped_rod(STRUCK, **options).adding(blow)  # type: ignore[arg-type]
