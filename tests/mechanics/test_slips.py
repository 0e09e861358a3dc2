"""Equations between velocities: their derivatives, and the accelerations they leave."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

import supple as sp
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.kinematics import kinematics
from supple.mechanics.slips import slip_motions
from supple.system.forward_dynamics import acceleration, project_velocity
from tests.samples import random_motion
from tests.tools import check_tangent, jit

TOL = 1e-8  # relative; what the tangent of curved rods differs by from that of their grid


@cache
def rolling():
    """A floating trunk on a ball, with an elastic tail on an edge and a wheel at its tip, in a loop."""
    tail = sp.Rod(
        "tail", parent="trunk", length=0.4, section=sp.Circle(4e-3), basis=2, nodes=20,
        material=sp.Material(E=2e9, density=1200.0), joint=sp.Universal(),
    )  # fmt: skip
    return sp.Robot(
        sp.Body("trunk", mass=0.3, inertia=(1e-3, 2e-3, 2.5e-3), joint=sp.Free()),
        tail,
        sp.Closure("string", on="trunk", to="tail", to_fraction=0.7, joint=sp.Planar("z")),
        sp.Body("wheel", mass=0.1, inertia=(1e-4, 5e-5, 5e-5), parent="tail",
                joint=sp.Revolute("x"), position=(0.0, 0.1, 0.0)),
        sp.KnifeEdge("edge", on="tail", fraction=0.5, across=(0.0, 1.0, 0.3), position=(0.0, 0.0, -0.02)),
        sp.RollingContact("ball", on="trunk", radius=0.05, position=(0.1, 0.0, 0.0)),
        sp.RollingContact("rim", on="wheel", radius=0.07, axle="x", normal=(0.1, 0.0, 1.0)),
    ).build()  # fmt: skip


def test_tangent_is_the_derivative_of_the_equations(rng):
    model = rolling()
    assert (model.holonomic, model.equations) == (3, 10)
    c = random_motion(model, rng)._replace(multipliers=rng.normal(size=model.equations))
    check_tangent(model, c, TOL)


def test_accelerations_keep_slips_at_zero(rng):
    model = rolling()
    c = random_motion(model, rng, x=0.0)
    v = np.asarray(jit(project_velocity)(model, c.q, c.xdot, c.t))
    a, _ = jit(acceleration)(model, c.q, v, c.t)

    @jit
    def speeds(s):
        zero = np.zeros(model.nv)
        now = Coordinates(c.q, s * v + s**2 / 2 * a, v + s * a, zero, c.t + s)
        return jnp.concatenate([slip.speed for slip in slip_motions(model, kinematics(model, now))])

    now, change = jax.jvp(speeds, (np.zeros(()),), (np.ones(()),))
    assert np.abs(now).max() < 1e-12
    assert np.abs(change).max() < 1e-9 * np.abs(np.asarray(a)).max()
