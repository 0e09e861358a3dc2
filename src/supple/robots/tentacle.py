"""A soft tentacle on a turntable for the demo: a tapered rod bent by three tendons in turn.

No source. The tendons run along the skin and are tied before the thin end, so that the tip
follows freely; their tensions rise within a second and then go round, a third of a period apart.
"""

from supple.expression import Expression
from supple.robot.actuators import Motor, Tendon
from supple.robot.items import Body, Rod
from supple.robot.joint import Revolute
from supple.robot.placement import along
from supple.robot.robot import Robot
from supple.section import Circle, Material, StiffnessDamping

LENGTH = 0.5
RADIUS = 0.032
"""At the base (m)."""
TAPER = 0.7
"""The radius at the tip is this share smaller."""
PERIOD = 2.0
"""Of the tensions (s)."""


def tentacle(*, pull: float = 4.5, basis: int = 5) -> Robot:
    """The tentacle stands up; tensions go from 0 to twice ``pull`` (N) and back."""
    silicone = Material(E=3e5, nu=0.45, density=1080.0, damping=StiffnessDamping(0.03))
    arm = Rod(
        "arm",
        LENGTH,
        Circle(Expression(f"{RADIUS}*(1 - {TAPER}*u)", "u")),
        silicone,
        basis={"kx": 2, "ky": basis, "kz": basis},
        parent="table",
        position=(0.0, 0.0, 0.02),
        rotation=along("z"),
    )

    def tendon(i: int) -> Tendon:
        skin = f"{RADIUS}*(1.03 - {TAPER}*u)"
        return Tendon(
            f"tendon {i + 1}",
            on="arm",
            offset=Expression(f"[{skin}*cos(tau*{i}/3), {skin}*sin(tau*{i}/3)]", "u"),
            end=0.85,
            tension=Expression(f"{pull}*rise(t)*(1 + sin(tau*(t/{PERIOD} - {i}/3)))", "t"),
        )

    return Robot(
        Body("table", mass=0.3, inertia=(4e-4, 4e-4, 7e-4), joint=Revolute("z", damping=0.02)),
        arm,
        *(tendon(i) for i in range(3)),
        Motor(
            "drive",
            on="table",
            position=Expression("0.8*rise(t)*sin(tau*t/4)", "t"),
            stiffness=5.0,
            damping=0.5,
        ),
        name="tentacle",
    )
