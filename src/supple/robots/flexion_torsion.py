"""A clamped rod twisted by one turn at its end and pushed together (001, test 3).

Printed: 20 m long, 17.6 mm thick, E = 2.1e11 Pa; torsion with three modes, both curvatures with five, stretch
with two; one turn of the end, then its way from x = l to −l/2. The printed G = 4.1e7 Pa and density of
2.04e8 kg/m³ are slips: 8e10 Pa and 7850 kg/m³ are taken. Also chosen: no gravity (the printed one would let
the rod sag by meters), and a curvature at rest of 1e-3 1/m, which settles in which plane the rod buckles.
"""

from collections.abc import Mapping

from supple.robot.formulas import Motion
from supple.robot.items import Body, Closure, Rod
from supple.robot.joint import Driven, Fixed
from supple.robot.robot import Robot
from supple.section import Circle, Material

LENGTH = 20.0
RADIUS = 0.0088
E, G = 2.1e11, 8.0e10
CURVATURE = 1e-3
"""Curvature at rest about y (1/m)."""
MODES = {"kx": 3, "ky": 5, "kz": 5, "gx": 2}


END = Motion(f"[{LENGTH}*(1 - max(t - 1, 0)), 0, 0]", "[tau*ramp(t), 0, 0]")
"""Motion of the end: a turn until 1 s, then a length l each second."""


def flexion_torsion(*, basis: Mapping[str, int] = MODES) -> Robot:
    """The rod, clamped at the origin and, with its other end, on a driven body."""
    return Robot(
        Rod(
            "rod",
            length=LENGTH,
            section=Circle(RADIUS),
            material=Material(E=E, G=G, density=7850.0),
            strains=tuple(basis),
            basis=dict(basis),
            rest=(0.0, CURVATURE, 0.0, 1.0, 0.0, 0.0),
        ),
        Body("end", mass=1.0, joint=Driven(END)),
        Closure("clamp", on="rod", to="end", joint=Fixed()),
        gravity=(0.0, 0.0, 0.0),
        name="flexion and torsion",
    )
