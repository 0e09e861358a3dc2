"""The beam driven by one cable of 001, Table I: parallel, convergent, cross, spiral and truncated routings.

The beam is that of test 1, a hundred times softer: 1 m long, E = 1e6 Pa. As there, the printed diameter is
read as a radius. The spiral's radius is not printed: R/2, like the others.
"""

import numpy as np

from supple.robot.actuators import Tendon
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.section import Circle, Material

LENGTH, RADIUS, MODULUS = 1.0, 0.01, 1e6


def _columns(y: np.ndarray, z: np.ndarray | float) -> np.ndarray:
    return np.stack([y, z + 0.0 * y], axis=1)


def convergent(u: np.ndarray) -> np.ndarray:
    """From the side to the centre."""
    return _columns(RADIUS * (1 - u) / 2, 0.0)


def cross(u: np.ndarray) -> np.ndarray:
    """From one side to the other."""
    return _columns(RADIUS * (1 - 2 * u) / 2, 0.0)


def spiral(u: np.ndarray) -> np.ndarray:
    """Once round the axis."""
    return RADIUS / 2 * _columns(np.sin(2 * np.pi * u), np.cos(2 * np.pi * u))


ROUTINGS = {
    "parallel": (np.sqrt(2) * RADIUS / 4, np.sqrt(2) * RADIUS / 4),
    "convergent": convergent,
    "cross": cross,
    "spiral": spiral,
    "truncated": (RADIUS / 2, 0.0),
}


def tendon_beam(routing: str, tension: float, modes: int = 5) -> Robot:
    """The beam under a tension (N); the truncated cable ends at half the length."""
    return Robot(
        Rod(
            "beam",
            length=LENGTH,
            section=Circle(RADIUS),
            material=Material(E=MODULUS, density=1000.0),
            strains="kirchhoff",
            basis=modes,
        ),
        Tendon(
            "cable",
            on="beam",
            offset=ROUTINGS[routing],
            tension=tension,
            end=0.5 if routing == "truncated" else 1.0,
        ),
        gravity=(0.0, 0.0, 0.0),
        name=f"beam with a {routing} cable",
    )
