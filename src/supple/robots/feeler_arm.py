"""A hybrid robot: two hinges, a flexible arm, a rigid hand with two whip-like feelers."""

import math
from typing import Any

from supple.model.laws import triangle
from supple.robot.items import Body, Rod
from supple.robot.joint import Revolute
from supple.robot.loads import Wrench
from supple.robot.placement import along
from supple.robot.robot import Robot
from supple.section import Circle, Material, StiffnessDamping

PUSH_END = 0.5
NYLON = Material(E=3e9, density=1150.0, damping=StiffnessDamping(4e-3))


def feeler_arm(**rod: Any) -> Robot:
    """The arm stands up, leaning; a push turns the table, and it falls over. ``rod`` is for all rods."""
    options: dict[str, Any] = {"basis": {"kx": 2, "ky": 5, "kz": 5}} | rod
    feelers = [
        item
        for side, sign in (("left", 1.0), ("right", -1.0))
        for item in (
            Rod(
                f"{side} feeler",
                0.4,
                Circle(1.5e-3),
                NYLON,
                parent="hand",
                position=(0.03, 0.02 * sign, 0.0),
                rotation=along((math.cos(0.6), sign * math.sin(0.6), 0.0)),
                **options,
            ),
            Body(f"{side} bead", mass=4e-3, parent=f"{side} feeler"),
        )
    ]
    return Robot(
        Body(
            "table",
            mass=0.5,
            inertia=(2e-3, 2e-3, 3e-3),
            joint=Revolute("z", damping=0.02),
            position=(0.0, 0.0, 0.05),
        ),
        Rod(
            "arm",
            0.6,
            Circle(4e-3),
            NYLON,
            parent="table",
            position=(0.0, 0.0, 0.05),
            rotation=along((0.5, 0.0, 0.87)),
            joint=Revolute("y", damping=0.01),
            **options,
        ),
        Body("hand", mass=0.1, inertia=(4e-5, 3e-5, 5e-5), com=(0.015, 0.0, 0.0), parent="arm"),
        *feelers,
        Wrench(
            "push", on="table", moment=(0.0, 0.0, 0.3), law=triangle(0.0, PUSH_END / 2, PUSH_END)
        ),
        name="feeler arm",
    )
