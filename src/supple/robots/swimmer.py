"""A swimmer driven by two tendons: rigid head, actuated body, passive tail (000 §3.9.3).

Printed: 1 m long, 0.1 m wide at most, elliptic sections that vary along the body, as dense as water;
EI = 4.9 N m² (body) and 0.049 N m² (tail); tendons 0.05 m beside the axis, T₀ + T₁ sin(ωt ± π/2) with 20 N
and 5π rad/s; five Chebyshev modes each. Chosen: head 0.2 m, body 0.5 m, tail 0.3 m; a round nose, a body
0.12 m high that thins out to a tail 8 cm high and 1 cm thick; drag coefficients 1 across (on the height) and
0.02 along (on the surface).

x points from head to tail and z upwards: it bends about z and swims towards -x.
"""

from typing import Any

import numpy as np

from supple.expression import Expression
from supple.robot.actuators import Tendon
from supple.robot.graph import Item
from supple.robot.items import Rod
from supple.robot.joint import Free
from supple.robot.loads import Drag, Swimming
from supple.robot.robot import Robot
from supple.section import Ellipse, Material
from supple.strain import Chebyshev

WATER = 1000.0
PULSATION = 5 * np.pi
TENSIONS = (20.0, 20.0)
OFFSET = 0.05
LENGTHS = {"head": 0.2, "body": 0.5, "tail": 0.3}
BENDING = {"head": 4.9, "body": 4.9, "tail": 0.049}
WIDTH, HEIGHT = 0.05, 0.06
"""Largest semi-axes (m)."""


def _nose(s: str) -> str:
    """A quarter of an ellipse over the head, with a blunt tip of a twentieth."""
    return f"sqrt(1 - (1 - 0.05**2)*(1 - min({s}/0.2, 1))**2)"


def _width(s: str) -> str:
    """Semi-axis (m) across the swimmer at fraction s of its length, as a formula."""
    return f"{WIDTH}*{_nose(s)}*(1 - 0.9*max({s} - 0.2, 0)/0.8)"


def _height(s: str) -> str:
    """Semi-axis (m) along z."""
    return f"{HEIGHT}*{_nose(s)}*(1 - max({s} - 0.4, 0)/1.8)"


half_width, half_height = Expression(_width("s"), "s"), Expression(_height("s"), "s")
"""Semi-axes (m) across and along z, as functions of the fraction s of the length."""


def _tension(phase: str) -> Expression:
    """Tension (N) of a tendon (3.67)."""
    return Expression(f"{TENSIONS[0]} + {TENSIONS[1]}*sin({PULSATION}*t {phase})", "t")


left_tension, right_tension = _tension("+ pi/2"), _tension("- pi/2")


def _start(name: str) -> float:
    """Where a part begins (m)."""
    names = list(LENGTHS)
    return sum((LENGTHS[before] for before in names[: names.index(name)]), 0.0)


def _rod(name: str, **options: Any) -> Rod:
    first, length = _start(name), LENGTHS[name]
    s = f"({first} + {length}*u)"
    width, height = _width(s), _height(s)
    # Iz = π a³ b / 4 for semi-axes a across and b along z.
    modulus = f"{4 * BENDING[name]}/(pi*({width})**3*({height}))"
    section = Ellipse(Expression(width, "u"), Expression(height, "u"))
    return Rod(
        name, length, section, Material(E=Expression(modulus, "u"), density=WATER), **options
    )


def _drag(name: str) -> Drag:
    """Quadratic drag of a part, with the mean of its height and circumference."""
    s = _start(name) + LENGTHS[name] * (np.arange(64) + 0.5) / 64
    width, height = half_width(s), half_height(s)
    around = np.mean(2 * np.pi * np.sqrt((width**2 + height**2) / 2))
    along, across = 0.02 * around, 1.0 * np.mean(2 * height)
    upwards = 1.0 * np.mean(2 * width)
    return Drag(f"{name} drag", on=name, quadratic=0.5 * WATER * np.array([along, across, upwards]))


def swimmer(*, modes: int = 5, nodes: int | None = None, in_water: bool = True) -> Robot:
    """The swimmer, straight at first; ``in_water=False`` leaves the fluid out."""
    soft: dict[str, Any] = {"strains": "planar", "basis": Chebyshev(modes), "nodes": nodes}
    parts = tuple(LENGTHS)
    water: list[Item] = [
        Swimming("water", on=parts, density=WATER),
        *(_drag(name) for name in parts),
    ]
    return Robot(
        _rod("head", strains="rigid", joint=Free()),
        _rod("body", parent="head", **soft),
        _rod("tail", parent="body", **soft),
        Tendon("left", on="body", offset=(OFFSET, 0.0), tension=left_tension),
        Tendon("right", on="body", offset=(-OFFSET, 0.0), tension=right_tension),
        *(water if in_water else []),
        gravity=(0.0, 0.0, 0.0),
        name="swimmer",
    )
