"""A manipulator of three sections with four cables each, which hangs and carries a weight at its tip.

In the style of the robots that 004 is written for; no source prints one whole. Sections of a soft polymer
become thinner towards the tip; cables at right angles run through all sections before their own and end at
its tip, those of each section turned by 30° to the ones before. Cables can only pull, some are slack.
"""

import numpy as np

from supple.model.laws import ramp
from supple.robot.actuators import Tendon
from supple.robot.items import Body, Rod
from supple.robot.robot import Robot
from supple.section import Circle, Material, StiffnessDamping
from supple.strain import PiecewiseConstant

SECTIONS = ("inner", "middle", "outer")
LENGTH = 0.2
"""Of each section (m)."""
RADII = (0.016, 0.013, 0.010)
MARGIN = 0.003
"""Of the cables below the surface (m)."""
WEIGHT = 0.02
"""Of the load at the tip (kg)."""
PULLS = {
    "inner": (0.0, 0.0, 60.0, 0.0),
    "middle": (38.0, 0.0, 0.0, 0.0),
    "outer": (15.0, 12.0, 0.0, 0.0),
}
"""Tensions (N) of each section's cables."""
POLYMER = Material(E=3e6, nu=0.45, density=1080.0, damping=StiffnessDamping(0.02))


def section_arm(
    basis: int = 6,
    pieces: bool = False,
    formulation: str = "strain",
    rise: float | None = None,
) -> Robot:
    """The arm, with ``basis`` modes of each strain in each section, or as many pieces of constant strain.

    Tensions are as they are, or rise from nothing within ``rise`` (s).
    """
    items: list[Rod | Body | Tendon] = []
    for k, (name, radius) in enumerate(zip(SECTIONS, RADII, strict=True)):
        items.append(
            Rod(
                name,
                LENGTH,
                Circle(radius),
                POLYMER,
                strains="reissner",
                basis=PiecewiseConstant(basis) if pieces else basis,
                parent=SECTIONS[k - 1] if k else "ground",
                rotation=(0.0, 0.0, 0.0) if k else (0.0, np.pi / 2, 0.0),
            )
        )
    for k, (name, radius) in enumerate(zip(SECTIONS, RADII, strict=True)):
        for i, tension in enumerate(PULLS[name]):
            angle = np.pi / 2 * i + np.pi / 6 * k
            place = (radius - MARGIN) * np.array([np.cos(angle), np.sin(angle)])
            through = SECTIONS[: k + 1]
            items.append(
                Tendon(
                    f"{name} {i}",
                    on=through if k else name,
                    offset=(float(place[0]), float(place[1])),
                    tension=tension if rise is None else ramp(0.0, rise, tension),
                )
            )
    items.append(Body("load", WEIGHT, (1e-6,) * 3, parent="outer", com=(0.01, 0.0, 0.0)))
    return Robot(*items, name="three-section arm", formulation=formulation)
