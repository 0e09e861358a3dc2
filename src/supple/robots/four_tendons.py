"""The robot with four tendons of 002 §5.2, which takes an object of 1 g from a table and drops it into a bin.

Printed: a backbone of 0.24 m, E = 207 GPa, r = 0.4 mm, with a density that includes the discs; tendons 9.5 mm
from it at right angles; drag and material damping; the object's mass. Not printed, and chosen here: the
backbone starts level along x, G follows from ν = 0.3; the tensions go linearly between the values of
``PLAN``, towards the object (below, at +y), up, to the bin (at -y) and back; the object is a small ball. The
printed B_bt damps bending and twist alike; rods do not stretch here. Fig. 13 shows a helical tendon: here one
turn and 5 N.
"""

import numpy as np

from supple.expression import Expression
from supple.model.laws import AbstractLaw, Table, ramp
from supple.robot.actuators import Tendon
from supple.robot.items import Body, Rod
from supple.robot.loads import Drag
from supple.robot.robot import Robot
from supple.section import Circle, Material, MatrixDamping

LENGTH, OFFSET = 0.24, 9.5e-3
MASS = 1e-3
"""Of the object (kg)."""
SIDES = {"left": (1.0, 0.0), "up": (0.0, 1.0), "right": (-1.0, 0.0), "down": (0.0, -1.0)}
"""Tendons and their directions (y, z) in the section."""
PLAN = {
    "left": ((0.0, 1.0, 2.0, 3.0), (0.0, 1.2, 1.2, 0.0)),
    "up": ((2.0, 2.5, 5.0, 6.0), (0.0, 1.5, 1.5, 0.0)),
    "right": ((2.5, 3.5, 5.0, 6.0), (0.0, 1.4, 1.4, 0.0)),
    "down": ((0.0, 1.0, 2.0, 2.5), (0.0, 0.6, 0.6, 0.0)),
}
"""Instants (s) and tensions (N) of each tendon."""
PICK, DROP, END = 2.0, 4.5, 7.0
"""When the object is taken, when it is let go, and the end of the plan (s)."""
OBJECT = Body("object", parent="backbone", mass=MASS, inertia=(1e-8,) * 3)
BIN = -0.25
"""Height of the bottom of the bin (m)."""


def backbone(basis: int = 4, modes_of_twist: int = 2) -> tuple[Rod, Drag]:
    """The backbone, and the air around it."""
    damping = MatrixDamping(np.diag([1e-6, 1e-6, 1e-6, 0.0, 0.0, 0.0]))
    material = Material(E=207e9, nu=0.3, density=1.6e4, damping=damping)
    rod = Rod(
        "backbone",
        length=LENGTH,
        section=Circle(0.4e-3),
        material=material,
        basis={"kx": modes_of_twist, "ky": basis, "kz": basis},
    )
    return rod, Drag("air", on="backbone", quadratic=0.03)


def four_tendon_robot(basis: int = 4, modes_of_twist: int = 2) -> Robot:
    """The robot without the object, under the tensions of the plan."""
    tendons = [
        Tendon(name, on="backbone", offset=(OFFSET * y, OFFSET * z), tension=Table(*PLAN[name]))
        for name, (y, z) in SIDES.items()
    ]
    return Robot(*backbone(basis, modes_of_twist), *tendons, name="four-tendon robot")


ONCE_ROUND = Expression(f"[{OFFSET}*cos(tau*u), {OFFSET}*sin(tau*u)]", "u")
"""A helix of one turn."""


def helical_tendon_robot(
    tension: AbstractLaw | float | None = None, basis: int = 6, modes_of_twist: int = 4
) -> Robot:
    """The same backbone with one helical tendon, pulled within half a second unless told otherwise."""
    law = ramp(0.0, 0.5, 5.0) if tension is None else tension
    tendon = Tendon("helix", on="backbone", offset=ONCE_ROUND, tension=law)
    return Robot(*backbone(basis, modes_of_twist), tendon, name="helical tendon robot")
