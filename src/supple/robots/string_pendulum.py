"""A string with a mass at its end, its root carried round a circle, in gravity (001, test 5)."""

from typing import Any

import numpy as np

from supple.robot.formulas import Motion
from supple.robot.items import Body, Rod
from supple.robot.joint import AbstractJointSpec, Driven, Fixed, Universal
from supple.robot.robot import Robot
from supple.section import GivenProperties

LENGTH = 1.0
LINE_DENSITY = 7.85e-5
BOB_MASS = 0.03
CARRIER_MASS = 1e-6
"""Of no effect, since the carrier's motion is prescribed; but a body has some mass."""
GRAVITY = (9.81, 0.0, 0.0)
AMPLITUDE = 0.15
PULSATION = 2 * np.pi
PHASE = np.pi / 2

_WAVES = f"{AMPLITUDE}*sin({PULSATION}*t), {AMPLITUDE}*sin({PULSATION}*t + {PHASE})"
ROOT = Motion(f"[0, {_WAVES}]", "[0, 0, 0]")
"""Motion of the root: a Lissajous curve, here a circle each second."""


def string_pendulum(*, hinged: bool = False, **rod: Any) -> Robot:
    """The string (no stiffness, no twist, no stretch) hanging along +x from its carrier.

    The paper clamps the root: its tangent cannot turn there, and a few smooth modes can only make a
    bow of it. ``hinged=True`` lets it turn in a universal joint: a string with any number of modes.
    """
    mass = LINE_DENSITY
    string = GivenProperties((0.0,) * 6, (0.0, 0.0, 0.0, mass, mass, mass))
    joint: AbstractJointSpec = Universal("y", "z") if hinged else Fixed()
    options: dict[str, Any] = {"strains": "bending", "basis": 3, "joint": joint} | rod
    return Robot(
        Body("carrier", mass=CARRIER_MASS, joint=Driven(ROOT)),
        Rod("string", LENGTH, parent="carrier", properties=string, **options),
        Body("bob", parent="string", mass=BOB_MASS),
        gravity=GRAVITY,
        name="string pendulum",
    )
