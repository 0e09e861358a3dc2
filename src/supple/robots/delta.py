"""A Delta-like robot with flexible links; its loops close in the middle of rods.

No source prints one; everything here is chosen. Three motors on a ring of 0.1 m turn flexible arms of 0.2 m
about tangents of the ring. Each arm holds, with a ball joint at its tip, a forearm of 0.7 m in its middle:
one end of the forearm is clamped to the platform, the other goes on past the elbow and carries a
counterweight. Since the forearms are clamped, their elasticity keeps the platform nearly level.
"""

from typing import Any

import numpy as np

from supple.model.laws import Spline
from supple.robot.items import Body, Closure, PrescribedCoordinate, Rod
from supple.robot.joint import Free, Revolute, Spherical
from supple.robot.robot import Robot
from supple.section import Circle, Material

ARM, FOREARM = 0.2, 0.7
RING, RIM = 0.1, 0.05
"""Radii (m) of the motors' ring and of the platform."""
DEPTH = float(np.sqrt((FOREARM / 2) ** 2 - (RING + ARM - RIM) ** 2))
"""Platform below the motors (m) with level arms and straight forearms."""


def motor_law(limb: int, *, period: float = 2.0, swing: float = 0.35) -> Spline:
    """Angle of a motor (rad, downwards positive): a wave that starts and ends at rest, shifted by limb."""
    s = np.linspace(0.0, 1.0, 41)
    wave = np.sin(2 * np.pi * s + 2 * np.pi / 3 * limb)
    return Spline(period * s, swing * np.sin(np.pi * s) ** 2 * (0.3 + wave))


def delta(*, modes: int = 3, period: float = 2.0) -> Robot:
    """Three limbs, three motors and a platform of 0.1 kg."""
    steel = Material(E=200e9, nu=0.3, density=7800.0)
    basis = {"kx": max(1, modes // 3), "ky": modes, "kz": modes}
    items: list[Any] = [
        Body(
            "platform",
            mass=0.1,
            inertia=(6e-5, 6e-5, 1.2e-4),
            joint=Free(),
            position=(0.0, 0.0, -DEPTH),
        )
    ]
    slope = np.arctan2(DEPTH, RING + ARM - RIM)
    for limb in range(3):
        angle = 2 * np.pi / 3 * limb
        c, s = np.cos(angle), np.sin(angle)
        outward = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        cp, sp = np.cos(slope), np.sin(slope)
        upward = outward @ np.array([[cp, 0.0, -sp], [0.0, 1.0, 0.0], [sp, 0.0, cp]])
        rod: dict[str, Any] = {"material": steel, "strains": "kirchhoff", "basis": basis}
        items += [
            Rod(
                f"arm {limb + 1}",
                length=ARM,
                section=Circle(1.5e-3),
                joint=Revolute("y"),
                position=(RING * c, RING * s, 0.0),
                rotation=outward,
                **rod,
            ),
            Rod(
                f"forearm {limb + 1}",
                length=FOREARM,
                section=Circle(1e-3),
                parent="platform",
                position=(RIM * c, RIM * s, 0.0),
                rotation=upward,
                **rod,
            ),
            Body(f"weight {limb + 1}", parent=f"forearm {limb + 1}", mass=0.02),
            Closure(
                f"elbow {limb + 1}",
                on=f"arm {limb + 1}",
                to=f"forearm {limb + 1}",
                to_fraction=0.5,
                joint=Spherical(),
            ),
            PrescribedCoordinate(
                f"motor {limb + 1}", on=f"arm {limb + 1}", value=motor_law(limb, period=period)
            ),
        ]
    return Robot(*items, name="Delta")
