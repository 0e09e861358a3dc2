"""The fluidic finger of 002 §5.3.3, filled with air or with water within two seconds.

Printed: length, radius, density, the chamber, the amount of gas and the volume of water. Two numbers are
misprints: E = 20 MPa should be 20 kPa, and the chamber's distance from the neutral axis is 10.3 mm, not 13 mm
(``CHAMBER_OFFSET`` follows from the section, whose axis the hole moves). With these the printed gas fills
2.645e-6 m³ (printed: 2.65e-6) and stretches the finger by 0.119 (printed: 0.12); with 13 mm it would fill
2.80e-6 m³. Gravity is not mentioned and left out: it would change these numbers. Undamped, G from ν = 0.3.
"""

import numpy as np

from supple.model.efforts import ATMOSPHERE
from supple.model.laws import Table
from supple.robot.actuators import Chamber
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.section import GivenProperties

LENGTH, RADIUS, DENSITY, MODULUS, POISSON = 0.1, 0.015, 300.0, 20e3, 0.3
CHAMBER_AREA = np.pi * 2.5e-3**2
FROM_CENTER = 0.01
MOLAR, TEMPERATURE = 8.314, 293.15
"""Gas constant (J/(mol K)) and temperature (K)."""
GAS = 2e-4 * MOLAR * TEMPERATURE
"""n R T at the end (J)."""
FILLING, END = 2.0, 4.5
"""Time of filling, end of the run (s)."""

AREA = np.pi * RADIUS**2 - CHAMBER_AREA
SHIFT = CHAMBER_AREA * FROM_CENTER / AREA
"""Of the neutral axis, away from the chamber (m)."""
CHAMBER_OFFSET = FROM_CENTER + SHIFT
ABOUT_Y = np.pi * RADIUS**4 / 4 - CHAMBER_AREA**2 / (4 * np.pi)
"""Second moments of area (m⁴) about the axis through the chamber, and across it."""
ABOUT_Z = ABOUT_Y - CHAMBER_AREA * FROM_CENTER**2 - AREA * SHIFT**2


def softness() -> float:
    """Volume (m³) that a pascal adds: each section stretches by p A_c/EA and bends by p A_c r/EI."""
    compliance = 1 / AREA + CHAMBER_OFFSET**2 / ABOUT_Z
    return CHAMBER_AREA**2 * LENGTH / MODULUS * compliance


def filled(gas: float = GAS) -> float:
    """Volume (m³) in which the gas and the finger balance: (p + p₀) V = n R T, V = V₀ + c p."""
    c, empty = softness(), CHAMBER_AREA * LENGTH
    half = (empty - c * ATMOSPHERE) / 2
    return float(half + np.sqrt(half**2 + c * gas))


def fluidic_finger(fluid: str = "air", basis: int = 4, nodes: int | None = None) -> Robot:
    """The finger along x, its chamber at -y, filled with "air" or with "water"."""
    shear = MODULUS / (2 * (1 + POISSON))
    polar = ABOUT_Y + ABOUT_Z
    stiffness = [shear * polar, MODULUS * ABOUT_Y, MODULUS * ABOUT_Z]
    stiffness += [MODULUS * AREA, shear * AREA, shear * AREA]
    inertia = DENSITY * np.array([polar, ABOUT_Y, ABOUT_Z, AREA, AREA, AREA])
    empty = CHAMBER_AREA * LENGTH
    ends = (empty * ATMOSPHERE, GAS) if fluid == "air" else (empty, filled())
    content = Table((0.0, FILLING), ends)
    return Robot(
        Rod(
            "finger",
            length=LENGTH,
            properties=GivenProperties(stiffness, inertia),
            strains="reissner",
            basis=basis,
            nodes=nodes,
        ),
        Chamber(
            "chamber",
            on="finger",
            area=CHAMBER_AREA,
            offset=(-CHAMBER_OFFSET, 0.0),
            gas=content if fluid == "air" else None,
            volume=content if fluid == "water" else None,
        ),
        gravity=(0.0, 0.0, 0.0),
        name=f"finger with {fluid}",
    )
