"""A free beam that bends itself by travelling waves of internal torque, in vacuum (001, test 6)."""

from typing import Any

import jax.numpy as jnp

from supple.robot.items import Rod
from supple.robot.joint import Free
from supple.robot.loads import Stress
from supple.robot.robot import Robot
from supple.robots.rolled_beam import LENGTH, RADIUS, YOUNG
from supple.section import Circle, Material, StiffnessDamping

AMPLITUDE = 0.2
PERIODS = (1.0, 0.25)
WAVELENGTHS = (1.0, 0.5)
RAMP = 0.25


def muscle_stress(X: Any, t: Any) -> Any:
    """Torque waves (n, 6) about y and z (001, eqs. 63-65), ramped up smoothly in a quarter second."""
    s = jnp.clip(t / RAMP, 0.0, 1.0)
    ramp = s - jnp.sin(2 * jnp.pi * s) / (2 * jnp.pi)
    waves = [
        AMPLITUDE * ramp * jnp.sin(2 * jnp.pi * (X / length - t / period))
        for length, period in zip(WAVELENGTHS, PERIODS, strict=True)
    ]
    none = jnp.zeros_like(waves[0])
    return jnp.stack([none, *waves, none, none, none], axis=-1)


def muscle_beam(radius: float = RADIUS, **rod: Any) -> Robot:
    """The beam of test 4, floating: no gravity, no external force.

    ``radius=PRINTED_RADIUS`` is the beam as printed, 16 times softer.
    """
    material = Material(E=YOUNG, density=1000.0, damping=StiffnessDamping(1e-3))
    options: dict[str, Any] = {"strains": "bending", "basis": 3, "joint": Free()} | rod
    return Robot(
        Rod("beam", LENGTH, Circle(radius), material, **options),
        Stress("muscle", on="beam", stress=muscle_stress),
        gravity=(0.0, 0.0, 0.0),
        name="muscle beam",
    )
