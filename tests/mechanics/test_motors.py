"""Motors and springs: textbook equilibria, accelerations, limits, and winches with tendons."""

import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import neutral
from supple.system.forward_dynamics import forward_dynamics
from tests.tools import jit

INERTIA, ARM = 0.02, 0.5


def wheel(*items, gravity=(0.0, 0.0, 0.0), **joint):
    """A wheel of 1 kg on a level axle, its mass center ARM beside it."""
    body = sp.Body("wheel", mass=1.0, inertia=(INERTIA,) * 3, com=(ARM, 0.0, 0.0),
                   joint=sp.Revolute("y", **joint))  # fmt: skip
    return sp.Robot(body, *items, gravity=gravity)


ABOUT_AXLE = INERTIA + ARM**2


def test_a_geared_rotor_adds_its_inertia_and_friction():
    motor = sp.Motor("motor", on="wheel", torque=0.1, gear=20.0, inertia=1e-4, viscous=1e-3)
    model = wheel(motor).build()
    a = jit(forward_dynamics)(model, neutral(model), np.array([0.5]))
    expected = (20 * 0.1 - 400 * 1e-3 * 0.5) / (ABOUT_AXLE + 400 * 1e-4)
    np.testing.assert_allclose(a, [expected], rtol=1e-12)


def test_torques_saturate_smoothly():
    for given, expected in ((0.3, 0.3), (5.0, 1.0), (-5.0, -1.0)):
        motor = sp.Motor("motor", on="wheel", torque=given, limit=1.0)
        model = wheel(motor).build()
        a = jit(forward_dynamics)(model, neutral(model), np.zeros(1))
        np.testing.assert_allclose(a, [expected / ABOUT_AXLE], rtol=1e-4)


def test_a_position_servo_sags_under_weight_as_a_spring_would():
    motor = sp.Motor("motor", on="wheel", position=0.3, stiffness=200.0, damping=5.0)
    held = sp.equilibrium(wheel(motor, gravity=(0.0, 0.0, -9.81)))
    angle, torque, _ = held.motor("motor")
    np.testing.assert_allclose(angle, held.q[0], rtol=1e-12)
    # Turning about +y lets the center sink; the servo holds against it.
    np.testing.assert_allclose(torque, -9.81 * ARM * np.cos(angle), rtol=1e-9)
    np.testing.assert_allclose(torque, 200.0 * (0.3 - angle), rtol=1e-3)  # its limit is infinite


def test_a_velocity_servo_reaches_its_speed():
    motor = sp.Motor("motor", on="wheel", velocity=3.0, damping=0.5)
    found = sp.simulate(wheel(motor), 5.0, dt=0.01)
    np.testing.assert_allclose(found.v[-1], [3.0], rtol=1e-3)


def arm(**tendon):
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(5e-3), strains="planar", basis=2,
                 material=sp.Material(E=1e8, density=1000.0))  # fmt: skip
    winch = sp.Motor("winch", torque=0.01, inertia=1e-6, gear=10.0)
    pull = sp.Tendon("pull", on="arm", offset=(4e-3, 0.0), winch="winch", drum=0.02, **tendon)
    return sp.Robot(rod, winch, pull, gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("tendon", [{}, {"stiffness": 2e4}])
def test_a_winch_pulls_with_its_torque_over_the_drum(tendon):
    held = sp.equilibrium(arm(**tendon))
    length, tension, _ = held.tendon("pull")
    np.testing.assert_allclose(tension, 10 * 0.01 / 0.02, rtol=1e-8)
    curvature = held.strain("arm")[:, 2]
    second = 1e8 * np.pi * 5e-3**4 / 4
    np.testing.assert_allclose(curvature, tension * 4e-3 / second, rtol=1e-8)
    # What it has wound up is what the tendon lost in length, and its stretch.
    stretch = tension / tendon["stiffness"] if tendon else 0.0
    wound = 0.02 * held.motor("winch").position
    np.testing.assert_allclose(wound, 0.3 - (length - wound) + stretch, rtol=1e-6)


def test_an_elastic_tendon_on_a_winch_keeps_the_energy_of_its_rotor_and_spring():
    """Without friction or torque, a wound-up tendon swings against the rod for ever."""
    robot = arm(stiffness=2e4).replacing(sp.Motor("winch", torque=0.0, inertia=1e-6, gear=10.0))
    model = robot.build()
    start = sp.initial_state(model, v=_spin(model))
    found = sp.simulate(model, 0.05, dt=1e-4, scheme=sp.gauss(3), initial=start)
    energy = found.energies.total
    assert found.energies.elastic.max() > 0.3 * energy[0]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-5)  # it also goes slack


def _spin(model):
    v = np.zeros(model.nv)
    v[next(s for s in model.topology.joint_slots if s.name == "winch").v_start] = 5.0
    return v


def test_a_spring_between_two_bodies_swings_at_its_frequency():
    """Two masses on a rail, joined by a spring: ω² = k (1/m + 1/M)."""
    left = sp.Body("left", mass=1.0, joint=sp.Prismatic("x"))
    right = sp.Body("right", mass=3.0, position=(1.0, 0.0, 0.0), joint=sp.Prismatic("x"))
    spring = sp.Spring("spring", on="left", to="right", stiffness=12.0)
    robot = sp.Robot(left, right, spring, gravity=(0.0, 0.0, 0.0))
    found = sp.modes(robot, count=2).frequencies
    np.testing.assert_allclose(found, [0.0, 4.0 / (2 * np.pi)], atol=1e-7)
    assert sp.equilibrium(robot.adding(sp.Spring("wall", on="left", stiffness=5.0, length=0.1,
                                                 to_position=(-0.1, 0.0, 0.0)))).ok  # fmt: skip


@pytest.mark.parametrize(
    ("item", "match"),
    [
        (lambda: sp.Motor("m", on="wheel"), "exactly one of torque, position and velocity"),
        (lambda: sp.Motor("m", on="wheel", position=1.0), "m: stiffness: got 0.0; need a gain > 0"),
        (lambda: sp.Motor("m", torque=1.0), "m: inertia: got 0.0; need the rotor's inertia"),
        (lambda: sp.Motor("m", on="axle", torque=1.0), "m: on: got 'axle'; need one of: wheel"),
        (lambda: sp.Motor("m", on="wheel", torque=1.0, coordinate=1), "m: coordinate: got 1"),
        (lambda: sp.Motor("m", on="wheel", torque=1.0, limit=-1.0), "m: limit: got -1.0"),
        (lambda: sp.Spring("s", on="wheel", to="wheel"), "s: on, to: .* need items that can move"),
        (lambda: sp.Spring("s", on="wheel", stiffness=1.0), "s: on: .* end points that are apart"),
    ],
)
def test_bad_motors_and_springs_are_named(item, match):
    with pytest.raises(sp.DescriptionError, match=match):
        wheel(item()).build()
