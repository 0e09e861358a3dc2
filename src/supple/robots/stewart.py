"""The continuum Stewart-Gough robot of 002 §5.1: a plate on elastic legs that are pushed out of the base.

The text gives rods, plate and hole pattern; G follows from ν = 0.3. Lengths and motion are not printed: the
home is a plate 0.4 m above the base, and legs change length by splines through given instants. A leg is a rod
of its present length, clamped at its hole; that its material slides out of the base is left out.
"""

from typing import Any

import numpy as np

from supple.model.laws import Spline
from supple.robot.items import Body, Closure, Rod
from supple.robot.joint import Fixed, Free
from supple.robot.placement import along
from supple.robot.robot import Robot
from supple.section import Circle, Material

RADIUS = 0.087
"""Radius of both hole patterns (m)."""
HOME = 0.4
"""Height of the plate above the base (m) in the described, unassembled pose."""
LENGTH = 0.405
"""Length of each leg at first (m)."""

SIDEWAYS = np.linspace(0.0, -0.225, 10)
"""Places x (m) of the plate on a level path at the height of the home."""
SIDEWAYS_LENGTHS = np.array(
    [
        (0.4052851, 0.4052851, 0.4052851),
        (0.4084995, 0.4017539, 0.4085019),
        (0.4136533, 0.4001318, 0.4136627),
        (0.4207971, 0.4003458, 0.4208236),
        (0.4300000, 0.4023401, 0.4300645),
        (0.4413613, 0.4060602, 0.4415060),
        (0.4550208, 0.4114475, 0.4553295),
        (0.4711646, 0.4184368, 0.4718020),
        (0.4900280, 0.4269581, 0.4912981),
        (0.5119981, 0.4369376, 0.5142119),
    ]
)[:, [0, 0, 1, 2, 2, 1]]
"""Lengths (m) of the legs that hold the plate there, level; from an independent computation with inextensible
legs of nine modes. Past x = -0.203 m that equilibrium is unstable."""


def hole_angles(legs: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Angles (rad) of base and plate holes: pairs, close at the base where they are wide at the plate.

    Wide is 100° for six legs, as printed, and as much less as there are more legs.
    """
    pairs = legs // 2
    major = 600.0 / legs
    minor = 360.0 / pairs - major
    center = 360.0 / pairs * np.repeat(np.arange(pairs), 2)
    side = np.tile([-0.5, 0.5], pairs)
    base = center + minor * side
    plate = center + major * side
    return np.deg2rad(base), np.deg2rad(plate)


def stewart_gough(
    *,
    legs: int = 6,
    times: Any = None,
    lengths: Any = None,
    bending_modes: int = 4,
    torsion_modes: int = 1,
) -> Robot:
    """The robot; ``lengths`` (n, legs) in meters at ``times`` (n,) in seconds move it.

    Legs turn by less than a radian along their length, so that four nodes beyond the modes resolve them.
    """
    steel = Material(E=207e9, nu=0.3, density=8000.0)
    base, plate = hole_angles(legs)
    basis = {"kx": torsion_modes, "ky": bending_modes, "kz": bending_modes}

    def ring(angle: float) -> tuple[float, float, float]:
        return (RADIUS * np.cos(angle), RADIUS * np.sin(angle), 0.0)

    def growth(leg: int) -> Spline | None:
        if times is None:
            return None
        return Spline(times, np.asarray(lengths, dtype=float)[:, leg] / LENGTH)

    rods = [
        Rod(
            f"leg {i + 1}",
            length=LENGTH,
            section=Circle(1e-3),
            material=steel,
            strains="kirchhoff",
            basis=basis,
            position=ring(base[i]),
            rotation=along("z"),
            growth=growth(i),
            nodes=bending_modes + 4,
        )
        for i in range(legs)
    ]
    top = Body(
        "plate",
        mass=0.0921,
        inertia=(1.91e-4, 1.91e-4, 3.81e-4),
        joint=Free(),
        position=(0.0, 0.0, HOME),
    )
    clamps = [
        Closure(
            f"clamp {i + 1}",
            on=f"leg {i + 1}",
            to="plate",
            joint=Fixed(),
            to_position=ring(plate[i]),
            to_rotation=along("z"),
        )
        for i in range(legs)
    ]
    return Robot(*rods, top, *clamps, name="continuum Stewart-Gough")
