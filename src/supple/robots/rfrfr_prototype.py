"""The RFRFR prototype of the thesis (000 §4.9.2): base angles imposed, in gravity.

Printed: two rods of 0.47 m, 2.5 mm thick in the plane and 10 mm wide, E = 36 GPa, 1900 kg/m³, undamped; the
base angles go from π/6 to zero (first trajectory) or to −π/6 (second) by polynomials of fifth order. Not
printed, and chosen here: the angle of each rod counts from the line of the hinges, upwards positive on both
sides; the platform is a point mass on the closing hinge; the drive waits for 0.5 s and takes 2 s. By default
the hinges are 0.9 m apart and the platform weighs 0.2 kg, for the second trajectory; with 0.82 m and 2.8 kg
the robot drops at the end of the first one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.model.laws import AbstractLaw, Spline
from supple.robot.items import Body, Closure, PrescribedCoordinate, Rod
from supple.robot.joint import Revolute
from supple.robot.robot import Robot
from supple.section import Material, Rectangle

ANGLE = np.pi / 6
"""Base angle at first; the drive ends as far below the line of the hinges (rad)."""
WAIT = 0.5
"""Time before the drive starts (s)."""


def drive(seconds: float = 2.0, end: float = -ANGLE) -> Spline:
    """Base angle (rad) from π/6 to ``end`` (0 in the first trajectory, −π/6 in the second), after a wait."""
    s = np.linspace(0.0, 1.0, 41)
    return Spline(WAIT + seconds * s, ANGLE + (end - ANGLE) * (6 * s**5 - 15 * s**4 + 10 * s**3))


def rfrfr_prototype(
    *,
    angle: AbstractLaw | Callable[[Any], Any] | None = None,
    distance: float = 0.9,
    mass: float = 0.2,
    basis: int | str = 3,
) -> Robot:
    """Two rods on driven hinges ``distance`` (m) apart; both base angles follow the law ``angle``."""
    glass = Material(E=36e9, nu=0.3, density=1900.0)
    law = drive() if angle is None else angle

    def leg(name: str, side: float) -> Rod:
        return Rod(
            name,
            length=0.47,
            section=Rectangle(2.5e-3, 10e-3),
            material=glass,
            strains="planar",
            basis=basis,
            joint=Revolute("z" if side < 0 else "-z"),
            position=(side * distance / 2, 0.0, 0.0),
            rotation=(0.0, 0.0, 0.0 if side < 0 else np.pi),
        )

    return Robot(
        leg("left", -1.0),
        leg("right", 1.0),
        Body("platform", parent="left", mass=mass),
        Closure("tip", on="left", to="right", joint=Revolute("z")),
        PrescribedCoordinate("left motor", on="left", value=law),
        PrescribedCoordinate("right motor", on="right", value=law),
        gravity=(0.0, -9.81, 0.0),
        name="RFRFR prototype",
    )
