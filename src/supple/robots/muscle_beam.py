"""A free beam that bends itself by traveling waves of internal torque, in vacuum (001, test 6)."""

from typing import Any

from supple.expression import Expression
from supple.robot.items import Rod
from supple.robot.joint import Free
from supple.robot.loads import ActiveStress
from supple.robot.robot import Robot
from supple.robots.rolled_beam import LENGTH, RADIUS, YOUNG
from supple.section import Circle, Material, StiffnessDamping

AMPLITUDE = 0.2
PERIODS = (1.0, 0.25)
WAVELENGTHS = (1.0, 0.5)
RAMP = 0.25


def _torque(length: float, period: float) -> str:
    """A traveling wave (N m), ramped up smoothly in a quarter second."""
    s = f"ramp(t/{RAMP})"
    return f"{AMPLITUDE}*({s} - sin(tau*{s})/tau)*sin(tau*(X/{length} - t/{period}))"


_WAVES = [_torque(*wave) for wave in zip(WAVELENGTHS, PERIODS, strict=True)]
MUSCLE = Expression(f"[0, {', '.join(_WAVES)}, 0, 0, 0]", "X, t")
"""Torque waves about y and z (001, eqs. 63-65)."""


def muscle_beam(radius: float = RADIUS, **rod: Any) -> Robot:
    """The beam of test 4, floating: no gravity, no external force.

    ``radius=PRINTED_RADIUS`` is the beam as printed, 16 times softer.
    """
    material = Material(E=YOUNG, density=1000.0, damping=StiffnessDamping(1e-3))
    options: dict[str, Any] = {"strains": "bending", "basis": 3, "joint": Free()} | rod
    return Robot(
        Rod("beam", LENGTH, Circle(radius), material, **options),
        ActiveStress("muscle", on="beam", stress=MUSCLE),
        gravity=(0.0, 0.0, 0.0),
        name="muscle beam",
    )
