"""The tendon-driven robots of 003: X-joints in a stack, after the neck of a bird, pulled from the base.

Printed: the bars (0.1 m and 0.05 m, 64 g and 32 g), viscous friction in the pivots, springs of 46 mm along
both sides of each joint, motors with drum, gear and dry friction, tendons of stiffness and damping. Not
printed and chosen here: slender bars; the rotor's inertia; springs and tendons between the ends of base and
top, that is along the sides of each joint; one tendon all along the left, and on the right one from the base
to each top (the motors are at the base). Gravity is along -z, the stack upright; d_c is taken in N s/m.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from supple.model.friction import ArctanFriction
from supple.model.laws import AbstractLaw, Input
from supple.robot.actuators import Motor, Spring, Tendon
from supple.robot.items import Body
from supple.robot.joint import XJoint
from supple.robot.looks import Box
from supple.robot.robot import Robot

BAR, DIAGONAL = 0.05, 0.1
"""Lengths (m)."""
BAR_MASS, DIAGONAL_MASS = 0.032, 0.064
PIVOT = 1e-3
"""Viscous friction in each pivot (N m s/rad)."""
SPRINGS = {3: (600.0, 600.0, 200.0), 4: (800.0, 600.0, 200.0, 200.0)}
"""Stiffness (N/m) on each side, from bottom to top."""
SPRING_LENGTH = 0.046
DRUM, GEAR = 0.02, 25.0
ROTOR = 5e-6
"""Inertia of a rotor (kg m²); not printed."""
DRY = ArctanFriction(largest=0.008, sharpness=0.5)
"""In the motors (N m, s/rad)."""
STIFFNESS, DAMPING = 1e5, 100.0
"""Of the tendons (N/m, N s/m)."""
THICK = 0.006
"""Of the bars, for pictures (m)."""
LEFT, RIGHT = (-BAR / 2, 0.0, 0.0), (BAR / 2, 0.0, 0.0)
"""Ends of a bar, in its frame."""


def tops(joints: int) -> list[str]:
    """Names of the top bars, which are those of the joints."""
    return [f"top {k}" for k in range(1, joints + 1)]


def tendon_names(joints: int) -> list[str]:
    """The one on the left, then those on the right from the shortest to the longest."""
    return ["left", *(f"right {k}" for k in range(1, joints + 1))]


def motor_names(joints: int) -> list[str]:
    """In the order of the tendons."""
    return [f"motor {name}" for name in tendon_names(joints)]


def structure(joints: int) -> Robot:
    """The bars on their joints, with the springs: all but tendons and motors."""
    items: list[Body | Spring] = []
    places = ["ground", *tops(joints)]
    for k, ((parent, top), stiffness) in enumerate(
        zip(pairwise(places), SPRINGS[joints], strict=True), 1
    ):
        joint = XJoint(bar=BAR, diagonal=DIAGONAL, axis="-y", along="z", damping=PIVOT)
        items.append(_bar(top, BAR_MASS, BAR, "x", parent=parent, joint=joint))
        items += [
            _bar(
                f"diagonal {link} {k}",
                DIAGONAL_MASS,
                DIAGONAL,
                "z",
                parent=top,
                link=link,
                position=aside,
            )
            for link, aside in (("left", (0, -THICK, 0)), ("right", (0, THICK, 0)))
        ]
        items += [
            Spring(f"spring {side} {k}", on=parent, to=top, stiffness=stiffness, length=SPRING_LENGTH,
                   position=end, to_position=end)
            for side, end in (("left", LEFT), ("right", RIGHT))
        ]  # fmt: skip
    return Robot(*items, name=f"bird neck, {joints} joints")


def bird_neck(
    joints: int = 3,
    torques: Sequence[AbstractLaw | float] | None = None,
    *,
    elastic: bool = True,
    push: bool = True,
) -> Robot:
    """The robot with 3 or 4 X-joints and one tendon more.

    Without ``torques`` (N m, of the motors in the order of :func:`tendon_names`) each is an :class:`Input`
    named like its motor. Tendons are linear as printed, or go slack with ``push=False``; with
    ``elastic=False`` they are rigid.
    """
    names, motors = tendon_names(joints), motor_names(joints)
    laws = [Input(name, 0.0) for name in motors] if torques is None else torques
    give: dict[str, Any] = {"stiffness": STIFFNESS, "damping": DAMPING} if elastic else {}
    items: list[Motor | Tendon] = []
    for k, (name, motor, law) in enumerate(zip(names, motors, laws, strict=True)):
        side, reach = (LEFT, joints) if k == 0 else (RIGHT, k)
        way = ["ground", *tops(reach)]
        items.append(Motor(motor, torque=law, inertia=ROTOR, gear=GEAR, friction=DRY))
        items.append(
            Tendon(
                name,
                on=way,
                offset=dict.fromkeys(way, side),
                winch=motor,
                drum=DRUM,
                push=push,
                **give,
            )
        )
    return structure(joints).adding(*items)


def _bar(name: str, mass: float, length: float, axis: str, **place: object) -> Body:
    """A slender bar along an axis of its frame."""
    across = mass * length**2 / 12
    moments = tuple(0.0 if own == axis else across for own in "xyz")
    size = tuple(length if own == axis else THICK for own in "xyz")
    return Body(name, mass=mass, inertia=moments, shape=Box(size), **place)  # type: ignore[arg-type]
