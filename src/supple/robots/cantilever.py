"""Cantilevers that hang in gravity, pulled aside by a tip force (000 §3.9.1).

Clamped at the origin along +x, gravity along +x, dead force along +y at the tip. Hold them with
``equilibrium`` and let go with ``release(robot, "pull", …)``. ``rod`` passes on to :class:`Rod`:
``strains=``, ``basis=``, ``nodes=`` …
"""

from typing import Any

from supple.robot.items import Rod
from supple.robot.loads import Wrench
from supple.robot.robot import Robot
from supple.section import Circle, Material

GRAVITY = (9.81, 0.0, 0.0)


def soft_cantilever(force: float = 50.0, **rod: Any) -> Robot:
    """The 10 m rod of 10 mm diameter, released from 50 N."""
    return _cantilever("soft cantilever", 10.0, 5e-3, Material(E=1e11, density=7800.0), force, rod)


def stiff_cantilever(force: float = 10.0, *, as_printed: bool = False, **rod: Any) -> Robot:
    """The 0.4 m rod of 2 mm diameter, released from 10 N.

    The thesis prints E = 2·10⁹ Pa, which gives F L²/EI ≈ 1000: the rod folds within a centimeter of
    the clamp. Steel, 2·10¹¹ Pa, gives 10 and is the default.
    """
    material = Material(E=2e9 if as_printed else 2e11, density=8000.0)
    return _cantilever("stiff cantilever", 0.4, 1e-3, material, force, rod)


def _cantilever(
    name: str, length: float, radius: float, material: Material, force: float, rod: dict[str, Any]
) -> Robot:
    options: dict[str, Any] = {"strains": "planar-auto"} | rod
    return Robot(
        Rod("rod", length, Circle(radius), material, **options),
        Wrench("pull", on="rod", force=(0.0, force, 0.0)),
        gravity=GRAVITY,
        name=name,
    )
