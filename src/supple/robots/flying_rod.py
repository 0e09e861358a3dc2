"""Free rods thrown by a force and a moment at their lower end (000 §3.9.1, after Simo and Vu-Quoc).

At rest and straight from (0.6 L, 0, 0) to (0, 0.8 L, 0), without gravity. The load acts at X = 0 and
keeps its direction in space: T(t) times a force along x and a moment about y and z, with T triangular
(0 s, 2.5 s, 5 s). The thesis' own figure of the loads is lost; these are the published ones.
``rod`` passes on to :class:`Rod`.
"""

from typing import Any

from supple.model.laws import triangle
from supple.robot.items import Rod
from supple.robot.joint import Free
from supple.robot.loads import Wrench
from supple.robot.placement import along
from supple.robot.robot import Robot
from supple.section import Circle, GivenProperties, Material


def soft_flying_rod(**rod: Any) -> Robot:
    """The 10 m rod that bends through more than a turn."""
    stiffness, inertia = (500.0,) * 3 + (1e4,) * 3, (10.0,) * 3 + (1.0,) * 3
    options: dict[str, Any] = {"properties": GivenProperties(stiffness, inertia)} | rod
    return _flying_rod("soft flying rod", 10.0, 200.0, (20.0, 0.0, 0.0), (0.0, 0.5, 1.0), options)


def stiff_flying_rod(**rod: Any) -> Robot:
    """The 1 m rod of 0.1 m diameter that stays nearly straight."""
    options: dict[str, Any] = {
        "section": Circle(0.05),
        "material": Material(E=1e6, density=1000.0),
    } | rod
    return _flying_rod("stiff flying rod", 1.0, 1.0, (1.0, 0.0, 0.0), (0.0, 0.02, 1.0), options)


def _flying_rod(
    name: str,
    length: float,
    peak: float,
    force: tuple[float, float, float],
    moment: tuple[float, float, float],
    rod: dict[str, Any],
) -> Robot:
    """``force`` (N) is the peak value; ``moment`` is multiplied by ``peak`` (N m)."""
    options: dict[str, Any] = {"strains": "auto", "joint": Free()} | rod
    start = (0.6 * length, 0.0, 0.0)
    return Robot(
        Rod("rod", length, position=start, rotation=along((-0.6, 0.8, 0.0)), **options),
        Wrench(
            "throw",
            on="rod",
            fraction=0.0,
            force=force,
            moment=tuple(peak * m for m in moment),
            law=triangle(0.0, 2.5, 5.0),
        ),
        gravity=(0.0, 0.0, 0.0),
        name=name,
    )
