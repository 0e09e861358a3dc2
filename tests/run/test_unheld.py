"""Robots without an equilibrium are told why; those that only seem to have none are solved."""

import numpy as np
import pytest

import supple as sp
from supple.bench.random_robots import random_robot

STEEL = sp.Material(E=2e11, density=7800.0)


def body(name="bob", joint=None, **options) -> sp.Body:
    joint = sp.Revolute("y") if joint is None else joint
    return sp.Body(name, 1.0, (0.01, 0.01, 0.01), com=(0.1, 0, 0), joint=joint, **options)


def status(robot):
    held = sp.equilibrium(robot, throw=False)
    return held.status.name, held.message


def test_a_slider_that_nothing_holds_is_told_with_what_drives_it():
    name, message = status(sp.Robot(body(joint=sp.Prismatic("z"))))
    assert name == "NO_EQUILIBRIUM"
    assert "nothing holds joint of 'bob', coordinate 0" in message
    assert "still driven by 9.81 N." in message


@pytest.mark.parametrize(("torque", "held"), [(0.5, True), (2.0, False)])
def test_a_motor_stronger_than_the_weight_turns_for_ever(torque, held):
    """The weight holds up to m g l = 0.98 N m."""
    motor = sp.Motor("motor", "bob", torque=torque)
    name, message = status(sp.Robot(body(), motor))
    if held:
        assert name in ("CONVERGED", "RELAXED")
    else:
        assert name == "NO_EQUILIBRIUM"
        assert "rad and is still driven by" in message


def test_what_floats_under_a_load_that_follows_is_told():
    """The load turns with the body, in circles if nothing else acts: it never comes to rest, nor far."""
    jet = sp.Wrench("jet", "bob", force=(0, 3.0, 0), follower=True)
    name, message = status(sp.Robot(body(joint=sp.Free()), jet, gravity=(0, 0, 0)))
    assert name == "NO_EQUILIBRIUM"
    assert "'bob' floats, and what acts on it adds up to 3 N or more" in message


def test_a_pendulum_let_go_upright_rests_below():
    """Turns without end need something that drives them: weight alone is not told to have no equilibrium."""
    up = body(rotation=(0, -np.pi / 2 + 1e-3, 0))
    with pytest.warns(RuntimeWarning, match="unstable in 1 motion"):
        held = sp.equilibrium(sp.Robot(up))
    assert held.ok
    assert held.stable


def test_a_soft_spring_may_go_far():
    """A thousand times the robot's size."""
    soft = sp.Prismatic("z", stiffness=9.81e-3)
    held = sp.equilibrium(sp.Robot(body(joint=soft)))
    assert held.ok
    np.testing.assert_allclose(held.q, [-1000.0], rtol=1e-9)


def bar(name, parent, length=0.2) -> sp.Body:
    return body(name, sp.Revolute("y"), parent=parent, position=(length, 0, 0))


def linkage(distance: float) -> sp.Robot:
    """Four bars of a plane, drawn open."""
    return sp.Robot(
        body(),
        bar("bar", "bob"),
        bar("rocker", "bar"),
        sp.Closure("pin", on="rocker", to="ground", joint=sp.Revolute("y"), position=(0.2, 0, 0),
                   to_position=(distance, 0, -0.05)),
    )  # fmt: skip


def test_a_linkage_is_closed_and_rests_where_its_weight_takes_it():
    held = sp.equilibrium(linkage(0.4))
    assert held.ok
    run = sp.simulate(linkage(0.4), 0.05, dt=0.01)
    assert run.ok


def test_a_linkage_too_short_to_close_is_told_by_the_gap_that_stays():
    name, message = status(linkage(1.0))
    assert name == "CANNOT_CLOSE"
    gap = np.hypot(1.0, 0.05) - 0.6
    assert "no motion brings closure 'pin' nearer than" in message
    told = float(message.split("nearer than ")[1].split(" m")[0])
    assert told == pytest.approx(gap, rel=0.02)
    with pytest.raises(sp.SolveError, match="no motion brings closure 'pin'"):
        sp.simulate(linkage(1.0), 0.05, dt=0.01)


def test_a_driven_robot_does_not_feed_on_steps_far_too_long():
    """A motor turns a light rod with steps of dozens of its periods: they are split where it whirls."""
    whip = sp.Rod("whip", 0.07, sp.Circle(2.5e-3), sp.Material(E=2e7, density=1000.0),
                  strains="planar", basis=2, joint=sp.Revolute("z"))  # fmt: skip
    tail = sp.Rod("tail", 0.07, sp.Circle(2.5e-3), sp.Material(E=2e8, density=1000.0),
                  strains="planar", basis=2, parent="whip", joint=sp.Revolute("z"))  # fmt: skip
    law = sp.ramp(0.0, 0.05, 0.015)
    robot = sp.Robot(whip, tail, sp.Motor("motor", "tail", torque=law))
    fine = sp.simulate(robot, 0.1, dt=1e-4)
    rough = sp.simulate(robot, 0.1, dt=0.01)
    assert fine.ok
    assert rough.ok
    assert rough.energies.kinetic.max() < 3 * fine.energies.kinetic.max()


def test_a_slider_on_a_ball_that_sinks_slowly_is_told():
    """The farther the bob, the slower the ball turns: the way to infinity is not followed to its end."""
    robot = random_robot(186)
    ball, slider = (item.joint for item in robot.items if isinstance(item, sp.Body))
    assert isinstance(ball, sp.Spherical)
    assert isinstance(slider, sp.Cylindrical)
    name, message = status(robot)
    assert name == "NO_EQUILIBRIUM"
    assert "nothing holds joint of 'body1', coordinate 1: it went" in message
