"""Two drones carry a payload on two rods: an open floating chain (000 §3.9.2), without gravity.

Printed: rods of 1 m, 70 mm thick, E = 0.25 MPa, 950 kg/m³, three Chebyshev modes; desired velocities along z,
sin πt and sin πt/2; on each drone a wrench of 20 e + 2.5 ∫e, with the error e of its velocity, in its own
axes (3.65)-(3.66), at every instant. Chosen: drones of 2 kg, a payload of 1 kg, a cube with edges of 0.2 m;
G = E/3; everything along x at first.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.model.laws import Input
from supple.robot.controller import ContinuousController
from supple.robot.items import Body, Rod
from supple.robot.joint import Free
from supple.robot.loads import Wrench
from supple.robot.robot import Robot
from supple.section import Circle, Material
from supple.strain import Chebyshev

SPAN = 2.2
"""Distance of the drones at first (m)."""
PROPORTIONAL, INTEGRAL = 20.0, 2.5
"""Gains on the twist of a drone and on its integral."""
PULSATIONS = (np.pi, np.pi / 2)
"""Of the desired velocities along z (rad/s)."""


def see(sensors: Any) -> Any:
    """Orientation (3, 3) and body twist (6,) of each drone."""
    names = ("drone 1", "drone 2")
    return [(sensors.pose(name).rotation, sensors.twist(name)) for name in names]


def errors(t: Any, seen: Any, totals: Any) -> Any:
    """Errors (12,) of the drones' velocities, in their own axes: what their controllers integrate."""
    found = []
    for (rotation, twist), pulsation in zip(seen, PULSATIONS, strict=True):
        desired = rotation.T @ jnp.array([0.0, 0.0, 1.0]) * jnp.sin(pulsation * t)
        found.append(jnp.concatenate([jnp.zeros(3), desired]) - twist)
    return jnp.concatenate(found)


def fly(t: Any, seen: Any, totals: Any) -> dict[str, Any]:
    """Wrenches on the drones from the errors of their velocities and the integrals of these (12,)."""
    wrenches = PROPORTIONAL * errors(t, seen, totals) + INTEGRAL * totals
    return {"thrust 1": wrenches[:6], "thrust 2": wrenches[6:]}


def two_drones(*, modes: int = 3, rooted_at: int = 1) -> Robot:
    """Drone, rod, payload, rod, drone; the tree may start at either drone (``rooted_at`` 1 or 2)."""
    rubber = Material(E=0.25e6, G=0.25e6 / 3, density=950.0)
    other = 3 - rooted_at
    first = rooted_at == 1
    # A rod leads from the root to the payload; seen from the second drone, backwards.
    back = (0.0, 0.0, 0.0) if first else (0.0, 0.0, np.pi)

    def drone(number: int, **place: Any) -> Body:
        return Body(f"drone {number}", mass=2.0, inertia=(0.03, 0.03, 0.05), **place)

    def rod(number: int, **place: Any) -> Rod:
        return Rod(
            f"rod {number}",
            length=1.0,
            section=Circle(0.035),
            material=rubber,
            strains="kirchhoff",
            basis=Chebyshev(modes),
            **place,
        )

    def thrust(number: int) -> Wrench:
        """Six numbers from the controller, in the axes of the drone."""
        law = Input(f"thrust {number}", np.zeros(6))
        ones = (1.0, 1.0, 1.0)
        return Wrench(f"rotors {number}", on=f"drone {number}", moment=ones, force=ones,
                      follower=True, law=law)  # fmt: skip

    return Robot(
        drone(rooted_at, joint=Free(), position=(0.0 if first else SPAN, 0.0, 0.0)),
        rod(rooted_at, parent=f"drone {rooted_at}", rotation=back),
        Body(
            "payload",
            parent=f"rod {rooted_at}",
            mass=1.0,
            inertia=(1 / 150,) * 3,
            position=(0.1, 0.0, 0.0),
        ),
        rod(other, parent="payload", position=(0.1, 0.0, 0.0)),
        drone(other, parent=f"rod {other}", rotation=back),
        thrust(1),
        thrust(2),
        ContinuousController("pilot", fly, sense=see, rate=errors, state=np.zeros(12)),
        gravity=(0.0, 0.0, 0.0),
        name="two drones",
    )
