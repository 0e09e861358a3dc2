"""The beam driven by one cable of 001, Table I: parallel, convergent, cross, spiral and truncated routings.

The beam is that of test 1, a hundred times softer: 1 m long, E = 1e6 Pa. As there, the printed diameter is
read as a radius. The spiral's radius is not printed: R/2, like the others.
"""

import numpy as np

from supple.expression import Expression
from supple.robot.actuators import Tendon
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.section import Circle, Material

LENGTH, RADIUS, MODULUS = 1.0, 0.01, 1e6


ROUTINGS = {
    "parallel": (np.sqrt(2) * RADIUS / 4, np.sqrt(2) * RADIUS / 4),
    "convergent": Expression(f"[{RADIUS}/2*(1 - u), 0]", "u"),
    "cross": Expression(f"[{RADIUS}/2*(1 - 2*u), 0]", "u"),
    "spiral": Expression(f"[{RADIUS}/2*sin(tau*u), {RADIUS}/2*cos(tau*u)]", "u"),
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
