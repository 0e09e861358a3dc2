"""The planar RFRFR robot of the thesis' case study (000 §5.13).

Two rods driven at their bases are joined at their tips by a hinge. The text tells of no gravity, and here
there is none. The torques act with the opposite of the printed sign: both rods bow outwards. Only so do three
cycles of torque make the robot swing twice and Newmark's scheme break down, as the text tells; with the
printed sign (``bow="inwards"``) the rods cross and the tip swings three times. The laws name their corners,
so that steps that follow from an accuracy end there.
"""

from supple.expression import Expression
from supple.model.laws import Function
from supple.robot.items import Closure, Rod
from supple.robot.joint import Revolute
from supple.robot.loads import Wrench
from supple.robot.placement import along
from supple.robot.robot import Robot
from supple.section import Circle, Material

HOLD = 0.5
"""Torque held after the ramp (N m)."""
SWAY = 0.04
"""Half the height of the swaying torque (N m)."""


RISE = f"{HOLD}*rise(t - 1)"
"""A smooth ramp from 1 s to 2 s, then held."""
SWAYING = f"{SWAY}*(1 - cos(tau*(clip(t, 4, 7) - 4)))"
"""Three periods from 4 s to 7 s."""


def _torques(left: str, right: str) -> tuple[Function, Function]:
    """Laws of the left (5.9) and the right motor (5.8), in N m."""
    corners = (1.0, 2.0, 4.0, 7.0)
    return Function(Expression(left, "t"), corners), Function(Expression(right, "t"), corners[:2])


TORQUES = {
    "outwards": _torques(f"{RISE} - {SWAYING}", f"-{RISE}"),
    "inwards": _torques(f"-{RISE} + {SWAYING}", RISE),
}
"""By where they bend the rods; "inwards" is the printed sign."""


def rfrfr(
    *,
    distance: float = 0.4,
    basis: int | str = 3,
    strains: str = "planar",
    bow: str = "outwards",
) -> Robot:
    """Two steel rods, 1 m long, 2 mm thick, on hinges ``distance`` (m) apart; both point up at first.

    ``bow`` is where the torques bend them: "outwards", or "inwards" with the printed sign.
    """
    steel = Material(E=210e9, G=80e9, density=7800.0)

    def leg(name: str, x: float) -> Rod:
        return Rod(
            name,
            length=1.0,
            section=Circle(1e-3),
            material=steel,
            strains=strains,
            basis=basis,
            joint=Revolute("z"),
            position=(x, 0.0, 0.0),
            rotation=along("y"),
        )

    left, right = TORQUES[bow]
    return Robot(
        leg("left", -distance / 2),
        leg("right", distance / 2),
        Closure("tip", on="left", to="right", joint=Revolute("z")),
        Wrench("left motor", on="left", fraction=0.0, moment=(0.0, 0.0, 1.0), law=left),
        Wrench("right motor", on="right", fraction=0.0, moment=(0.0, 0.0, 1.0), law=right),
        gravity=(0.0, 0.0, 0.0),
        name="RFRFR",
    )
