"""Friction laws: what they give, where they act, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import neutral
from supple.system.forward_dynamics import forward_dynamics
from tests.tools import jit

ABOUT = 0.2  # kg m²


class Gear(sp.AbstractFriction):
    loss: float

    def __call__(self, speed, load):
        return self.loss * jnp.abs(load) * jnp.tanh(speed / 0.01)


def wheels(laws, motors=()):
    """Wheels side by side, with laws in their joints or motors."""
    items = [
        sp.Body(f"wheel {i}", mass=1.0, inertia=(ABOUT,) * 3, joint=sp.Revolute("z", friction=law))
        for i, law in enumerate(laws)
    ]
    return sp.Robot(*items, *motors)


def test_laws_of_joints_and_motors_slow_as_they_say():
    """Also behind a gear: the rotor turns faster, the wheel feels more."""
    speed, gear, torque = 0.7, 25.0, 0.04
    arctan = sp.ArctanFriction(0.008, 0.5)
    robot = wheels(
        [arctan, sp.FormulaFriction("0.3*speed + 0*load"), 0.0, 0.0, 0.0],
        [
            sp.Motor("a", on="wheel 2", torque=torque, gear=gear, friction=arctan),
            sp.Motor("b", on="wheel 3", torque=-torque, gear=gear, friction=Gear(0.1)),
            sp.Motor("c", on="wheel 4", torque=torque, friction=0.01, friction_speed=0.5),
        ],
    )
    model = robot.build()
    v = np.full(5, speed)
    found = ABOUT * np.asarray(jit(forward_dynamics)(model, neutral(model), v))

    def at(s):
        return 0.008 * 2 / np.pi * np.arctan(0.5 * s)

    expected = [
        -at(speed), -0.3 * speed, gear * (torque - at(gear * speed)), gear * (-1.1 * torque),
        torque - 0.01 * np.tanh(speed / 0.5),
    ]  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # Readings tell what drives the joint, before friction.
    still = sp.simulate(robot, 0.01, dt=0.01)
    np.testing.assert_allclose(still.motor("b").torque, -gear * torque, rtol=1e-12)


def test_laws_that_drive_or_ask_for_an_unknown_load_are_refused():
    with pytest.raises(sp.DescriptionError, match=r"joint.friction: .*the speed alone"):
        wheels([Gear(0.1)]).build()
    with pytest.raises(sp.DescriptionError, match="against the motion"):
        wheels([sp.FormulaFriction("-0.1*speed + 0*load")]).build()
    with pytest.raises(sp.DescriptionError, match=r"against the motion"):
        sp.Motor("m", torque=0.0, inertia=1.0, friction=sp.FormulaFriction("load + 0*speed"))


def test_an_elastic_tendon_that_may_push_is_linear():
    stiffness, damping, shift = 50.0, 2.0, np.array([0.02, -0.03])
    block = dict(mass=1.0, inertia=(0.1,) * 3, joint=sp.Prismatic("x"))
    items = []
    for name, push in (("pushed", True), ("slack", False)):
        items.append(sp.Body(name, position=(0.5, 0, 0), **block))
        items.append(sp.Tendon(
            f"tendon {name}", on=("ground", name), offset={"ground": (0, 0, 0), name: (0, 0, 0)},
            pull=0.0, stiffness=stiffness, damping=damping, push=push,
        ))  # fmt: skip
    model = sp.Robot(*items, gravity=(0, 0, 0)).build()
    accelerate = jit(forward_dynamics)
    for x in shift:
        a = np.asarray(accelerate(model, np.full(2, x), np.full(2, 0.1)))
        np.testing.assert_allclose(a[0], -(stiffness * x + damping * 0.1), rtol=1e-12)
        slack = -(stiffness * x + damping * 0.1) if x > 0 else 0.0
        np.testing.assert_allclose(a[1], slack, atol=1e-3)
