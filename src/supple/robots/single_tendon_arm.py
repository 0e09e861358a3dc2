"""The arm with one tendon of 002 §5.2.1, raised and lowered by a ramp of its motor.

Printed: lengths, diameter, offset, the mass of the whole arm, the motor's ramps, damping, drag and friction.
Not printed, and chosen here: E = 207 GPa and ν = 0.3, as in the text's other robots of spring steel; the mass
is spread along the backbone. The tendon's "compliance 1.6e-3 m/m" is read as strain for each newton: with the
0.0518 m to the motor, k = 1 / (1.6e-3 · 0.7662) = 816 N/m. (Without the newton it would be 1.2 mm for any
tension, which is no compliance.) ``HOLD`` is the pull with which the tip is level at first, as printed.
"""

import numpy as np

from supple.model.laws import AbstractLaw, Table
from supple.robot.actuators import Tendon
from supple.robot.items import Rod
from supple.robot.loads import Drag
from supple.robot.robot import Robot
from supple.section import Circle, Material, MatrixDamping

LENGTH, RADIUS, OFFSET = 0.7144, 0.675e-3, 0.0151
MASS = 0.034
COMPLIANCE, TO_MOTOR = 1.6e-3, 0.0518
"""Strain of the tendon for a newton (1/N), way from the base to the motor (m)."""
STIFFNESS = 1 / (COMPLIANCE * (LENGTH + TO_MOTOR))
"""Of the tendon (N/m)."""
RETRACTION, RAMP = 0.01619, 0.31
"""By how much (m) and in which time (s) the motor pulls."""
FRICTION = 5.0
"""β (s/m)."""
HOLD = 3.1213e-3
LOWERED, END = 10.0, 20.0
"""When the motor lets go again, and the end of the run (s)."""


def pulls(hold: float = HOLD) -> Table:
    """Pull of the motor (m): up at once, down at ``LOWERED``."""
    times = (0.0, RAMP, LOWERED, LOWERED + RAMP)
    return Table(times, (hold, hold + RETRACTION, hold + RETRACTION, hold))


def single_tendon_arm(
    pull: AbstractLaw | float | None = None, *, friction: float = FRICTION, basis: int = 4
) -> Robot:
    """The arm, level along x with its tendon above, in gravity along -y."""
    damping = MatrixDamping(np.diag([5e-4, 5e-4, 5e-4, 0.0, 0.0, 0.0]))
    density = MASS / (np.pi * RADIUS**2 * LENGTH)
    return Robot(
        Rod(
            "arm",
            length=LENGTH,
            section=Circle(RADIUS),
            material=Material(E=207e9, nu=0.3, density=density, damping=damping),
            strains="planar",
            basis=basis,
        ),
        Tendon(
            "tendon",
            on="arm",
            offset=(OFFSET, 0.0),
            pull=pulls() if pull is None else pull,
            stiffness=STIFFNESS,
            viscous=friction,
        ),
        Drag("air", on="arm", quadratic=1e-4),
        gravity=(0.0, -9.81, 0.0),
        name="single-tendon arm",
    )
