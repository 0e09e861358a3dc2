"""The tendon-driven robots of 003: X-joints in a stack, after the neck of a bird, pulled from the base.

Printed: the bars (0.1 m and 0.05 m, 64 g and 32 g), viscous friction in the pivots, springs of 46 mm along
both sides of each joint, motors with drum, gear and dry friction, tendons of stiffness and damping. Not
printed and chosen here: slender bars; the rotor's inertia; springs and tendons between the ends of base and
top, that is along the sides of each joint; one tendon all along the left, and on the right one for each
joint, led to it without pulling at those below (tendons that pulled at these, too, could not hold most
shapes); the path, computed torque on it with tensions from 5 N, and its gains. Gravity is along -z, the stack
upright; d_c is taken in N s/m.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.kinematics import kinematics
from supple.mechanics.sensing import Sensors
from supple.mechanics.transmissions import transmission_motion
from supple.model.friction import ArctanFriction
from supple.model.laws import AbstractLaw, Input
from supple.robot.actuators import Motor, Spring, Tendon
from supple.robot.controller import Controller
from supple.robot.items import Body
from supple.robot.joint import XJoint
from supple.robot.looks import Box
from supple.robot.robot import Robot
from supple.solve.distribution import distribute

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
DURATION, PERIOD = 6.3, 2e-3
"""Of the motion and of the controller (s)."""
AMPLITUDES = {3: (0.5, 0.4, 0.6), 4: (0.4, 0.3, 0.4, 0.5)}
"""Of the joints in the motion (rad); not printed."""
BANDWIDTH = 15.0
"""Of the controller (rad/s), critically damped; not printed."""
LEAST, MOST = 5.0, 400.0
"""Tensions that the controller asks for (N)."""
THICK = 0.006
"""Of the bars, for pictures (m)."""
LEFT, RIGHT = (-BAR / 2, 0.0, 0.0), (BAR / 2, 0.0, 0.0)
"""Ends of a bar, in its frame."""


def tops(joints: int) -> list[str]:
    """Names of the top bars, which are those of the joints."""
    return [f"top {k}" for k in range(1, joints + 1)]


def tendon_names(joints: int) -> list[str]:
    """The one on the left, then those on the right from bottom to top."""
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
    controlled: bool = False,
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
        every = ["ground", *tops(joints)]
        side, way = (LEFT, every) if k == 0 else (RIGHT, every[k - 1 : k + 1])
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
    robot = structure(joints).adding(*items)
    if not controlled:
        return robot
    return robot.adding(Controller("computed torque", track, look, period=PERIOD))


def path(t: Any, joints: int) -> Any:
    """Angles of the joints (rad) in the motion of 6.3 s: away and back, at rest at both ends."""
    return 0.5 * (1 - jnp.cos(t)) * jnp.asarray(AMPLITUDES[joints])


def lengths(alpha: Any) -> Any:
    """Of the tendons (m), in their order."""
    half = alpha / 2
    reach = jnp.sqrt(DIAGONAL**2 - (BAR * jnp.cos(half)) ** 2)
    lean = BAR * jnp.sin(half)
    return jnp.concatenate([jnp.sum(reach - lean)[None], reach + lean])


class Seen(NamedTuple):
    """What the controller sees: angles and their rates, and forces that wanted accelerations need."""

    alpha: Any
    rate: Any
    wanted: Any
    """Accelerations (rad/s²)."""
    needed: Any
    """Of the structure, without tendons (N m)."""


def look(sensors: Sensors) -> Seen:
    """Accelerations that lead back to the path, and what they need by inverse dynamics (computed torque)."""
    model = sensors.model
    joints = sum(slot.name.startswith("top ") for slot in model.topology.joint_slots)
    alpha, rate = sensors.q[:joints], sensors.v[:joints]
    goal, speed, change = _with_rates(lambda t: path(t, joints), sensors.t)
    wanted = change + 2 * BANDWIDTH * (speed - rate) + BANDWIDTH**2 * (goal - alpha)
    zero = jnp.zeros(model.nv)
    c = Coordinates(sensors.q, zero, sensors.v, zero.at[:joints].set(wanted), sensors.t)
    at = transmission_motion(model, c, kinematics(model, c))
    tension = -jnp.stack(
        [at.effort[model.transmissions.names.index(k)] for k in tendon_names(joints)]
    )
    arms = jax.jacfwd(lengths)(alpha)
    return Seen(alpha, rate, wanted, inverse_dynamics(model, c)[:joints] - arms.T @ tension)


def track(t: Any, seen: Seen, memory: None) -> tuple[dict[str, Any], None]:
    """Torques of the motors: tensions that pull and give what is needed, and what the rotors take."""
    names = motor_names(len(seen.alpha))

    def wound(alpha: Any) -> Any:  # by the drums (rad) with tendons that do not stretch
        return -lengths(alpha) / DRUM

    def turning(alpha: Any) -> Any:
        return jax.jvp(wound, (alpha,), (seen.rate,))[1]

    by_alpha = jax.jacfwd(wound)(seen.alpha)
    turn, bend = jax.jvp(turning, (seen.alpha,), (seen.rate,))
    change = by_alpha @ seen.wanted + bend
    tension = distribute(DRUM * by_alpha.T, seen.needed, LEAST, MOST).tension
    rubbing = jax.vmap(lambda speed: DRY(speed, jnp.zeros(())))(GEAR * turn)
    torque = ROTOR * GEAR * change + DRUM / GEAR * tension + rubbing
    return dict(zip(names, torque, strict=True)), None


def _with_rates(function: Any, t: Any) -> tuple[Any, Any, Any]:
    """A function of time, its rate and the change of that."""

    def rate(t: Any) -> tuple[Any, Any]:
        return jax.jvp(function, (t,), (jnp.ones_like(t),))

    (value, first), (_, second) = jax.jvp(rate, (t,), (jnp.ones_like(t),))
    return value, first, second


def _bar(name: str, mass: float, length: float, axis: str, **place: object) -> Body:
    """A slender bar along an axis of its frame."""
    across = mass * length**2 / 12
    moments = tuple(0.0 if own == axis else across for own in "xyz")
    size = tuple(length if own == axis else THICK for own in "xyz")
    return Body(name, mass=mass, inertia=moments, shape=Box(size), **place)  # type: ignore[arg-type]
