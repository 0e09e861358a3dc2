"""Two drones carry a payload on two rods: an open floating chain (000 §3.9.2), without gravity.

Printed: rods of 1 m, 70 mm thick, E = 0.25 MPa, 950 kg/m³, three Chebyshev modes; desired velocities along z,
sin πt and sin πt/2; a wrench of 20 e + 2.5 ∫e on each drone, with the error e of its velocity. Chosen: drones
of 2 kg, a payload of 1 kg, a cube with edges of 0.2 m; G = E/3; everything along x at first.

Controllers with states of their own are not part of a description yet. This one is a damper and a spring to a
carrier that moves as desired: 20 on the velocity, 2.5 on the way. It differs from the printed law only where
a drone turns (there the integral is taken in the turning frame). The motion stays in the plane y = 0, so the
carriers guide in that plane.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.robot.items import Body, Closure, Rod
from supple.robot.joint import Driven, Planar
from supple.robot.robot import Robot
from supple.section import Circle, Material
from supple.strain import Chebyshev

SPAN = 2.2
"""Distance of the drones at first (m)."""
PROPORTIONAL, INTEGRAL = 20.0, 2.5
"""Gains: N s/m and N/m, N m s/rad and N m/rad."""


def _way(t: Any, pulsation: float, x: float) -> tuple[Any, Any]:
    z = (1 - jnp.cos(pulsation * jnp.asarray(t, dtype=float))) / pulsation
    return jnp.stack([jnp.full_like(z, x), jnp.zeros_like(z), z]), jnp.zeros(3)


def first_way(t: Any) -> tuple[Any, Any]:
    """Where the first drone should be: its velocity along z is sin πt."""
    return _way(t, np.pi, 0.0)


def second_way(t: Any) -> tuple[Any, Any]:
    """Where the second drone should be: its velocity along z is sin πt/2."""
    return _way(t, np.pi / 2, SPAN)


def two_drones(*, modes: int = 3, rooted_at: int = 1) -> Robot:
    """Drone, rod, payload, rod, drone; the tree may start at either drone (``rooted_at`` 1 or 2)."""
    rubber = Material(E=0.25e6, G=0.25e6 / 3, density=950.0)
    guide = Planar("y", stiffness=INTEGRAL, damping=PROPORTIONAL)
    other = 3 - rooted_at
    back = (0.0, 0.0, 0.0) if rooted_at == 1 else (0.0, 0.0, np.pi)

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

    return Robot(
        Body("carrier 1", mass=1.0, joint=Driven(first_way)),
        Body("carrier 2", mass=1.0, joint=Driven(second_way)),
        drone(rooted_at, parent=f"carrier {rooted_at}", joint=guide),
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
        Closure("guide", on=f"carrier {other}", to=f"drone {other}", joint=guide),
        gravity=(0.0, 0.0, 0.0),
        name="two drones",
    )
