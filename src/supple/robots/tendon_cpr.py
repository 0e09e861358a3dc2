"""The tendon-driven planar robot of 000 §4.9.1: two rods with antagonist cables carry a sliding platform.

Each limb is a passive hinge, a rigid body, and a rod with two cables; the rods meet in a hinge on the
platform. Printed: distance and viscosity of the hinges, masses and moments of the bodies, rods, cables,
platform and its friction, and Table 4.1 with (4.47) and (4.48). Not printed, and chosen here:

* cables draw 14 N for an ampere, which bends the rods as far as the angles told (56° for the first hinge);
* cables 1 and 2 run along rod 1, 3 and 4 along rod 2, the odd ones at +y of the rod's section;
* before its start a cable holds the 0.1 A of (4.47);
* rods begin 50 mm from the axis of their hinge, and lie straight at first;
* bodies have their mass center on that axis; the platform is a point on the tip of rod 2;
* dry friction (4.46), taken against the motion, is smooth below about 1 mm/s.

The plate carries all weight, so gravity is left out.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from supple.expression import Expression
from supple.model.laws import AbstractLaw, Function
from supple.robot.actuators import Tendon
from supple.robot.items import Body, Closure, Marker, Rod
from supple.robot.joint import Revolute
from supple.robot.loads import PlaneFriction
from supple.robot.robot import Robot
from supple.section import Material, Rectangle

DISTANCE = 0.435
"""Between the two hinges (m)."""
LENGTHS = (0.394, 0.48)
"""Of the rods (m)."""
CLEARANCE = 0.05
"""From a hinge to where its rod begins (m)."""
MEASURED = (0.25 / LENGTHS[0], 1.0)
"""Fraction of each rod that its shape sensor covers."""
THICKNESS, HEIGHT = 0.51e-3, 19.05e-3
YOUNG, DENSITY = 293e9, 9538.0
CABLE_OFFSET = 11e-3
START = 10.0
"""When the first cables are driven; the others follow half a second later (s)."""
TENSION_PER_AMPERE = 14.0

CURRENT_GAIN = (2.0, 2.0, 2.5, 2.2)
"""σ of (4.47) for each cable, Table 4.1 (A)."""
SENSOR_SCALE = (0.517, 0.436, 0.786, 1.340)
"""k of (4.48), Table 4.1."""
SENSOR_ZERO = (-0.442, 0.283, 0.276, 0.372)
"""f₀ of (4.48), Table 4.1 (N)."""


def cable_laws() -> tuple[Function, ...]:
    """The tensions (N) of the four cables, whose motors draw the currents (4.47)."""

    def tension(gain: float, start: float) -> Function:
        current = f"0.1 + {gain}*(1 - cos(max(t - {start}, 0)))"
        return Function(Expression(f"{TENSION_PER_AMPERE}*({current})", "t"), (start,))

    return tuple(tension(gain, START + 0.5 * (i % 2)) for i, gain in enumerate(CURRENT_GAIN))


def sensor_reading(tension: Any, cable: int) -> Any:
    """What the force sensor of a cable (0 … 3) reads (N): (4.48) the other way round."""
    return tension / SENSOR_SCALE[cable] + SENSOR_ZERO[cable]


def cable_tension(reading: Any, cable: int) -> Any:
    """Tension (N) of a cable (0 … 3) from the reading of its sensor (4.48)."""
    return SENSOR_SCALE[cable] * (reading - SENSOR_ZERO[cable])


def tendon_cpr(
    *,
    tensions: Sequence[AbstractLaw | Callable[[Any], Any]] | None = None,
    modes: int = 2,
) -> Robot:
    """The robot, its cables pulled by laws of time (default: the currents of (4.47))."""
    laws = cable_laws() if tensions is None else tensions
    steel = Material(E=YOUNG, nu=0.3, density=DENSITY)
    left, right = (CLEARANCE + length for length in LENGTHS)
    # The triangle of straight limbs: angles of its sides from the line of the hinges.
    first = np.arccos((DISTANCE**2 + left**2 - right**2) / (2 * DISTANCE * left))
    second = np.pi - np.arccos((DISTANCE**2 + right**2 - left**2) / (2 * DISTANCE * right))
    items: list[Any] = []
    for limb, angle, x, mass, moment in (
        (1, first, -DISTANCE / 2, 0.897, 4.268e-3),
        (2, second, DISTANCE / 2, 0.663, 3.122e-3),
    ):
        rod = f"rod {limb}"
        items += [
            Body(
                f"body {limb}",
                mass=mass,
                inertia=(moment, moment, moment),  # only the last plays a part
                joint=Revolute("z", damping=0.005),
                position=(x, 0.0, 0.0),
                rotation=(0.0, 0.0, angle),
            ),
            Rod(
                rod,
                length=LENGTHS[limb - 1],
                section=Rectangle(THICKNESS, HEIGHT),
                material=steel,
                strains="planar",
                basis=modes,
                parent=f"body {limb}",
                position=(CLEARANCE, 0.0, 0.0),
            ),
            Marker(f"start {limb}", parent=rod, fraction=0.0),
            Marker(f"sensor {limb}", parent=rod, fraction=MEASURED[limb - 1]),
        ]
        for side, cable in ((1.0, 2 * limb - 2), (-1.0, 2 * limb - 1)):
            offset = (side * CABLE_OFFSET, 0.0)
            items.append(Tendon(f"cable {cable + 1}", on=rod, offset=offset, tension=laws[cable]))
    return Robot(
        *items,
        Body("platform", parent="rod 2", mass=0.24),
        PlaneFriction("felt", on="platform", friction=0.01, friction_speed=1e-3),
        Closure("tip", on="rod 1", to="platform", joint=Revolute("z")),
        gravity=(0.0, 0.0, 0.0),
        name="tendon-driven CPR",
    )
