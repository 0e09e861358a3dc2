"""Simulations in real time: what can be driven, and that steps are those of a run."""

import numpy as np
import pytest

import supple as sp
from supple.lie import so3
from supple.model.loads import AbstractPointLoad
from supple.run.live import LiveRun, Moving, Pull, drives_of
from supple.time.advance import Status


def robot(tension=2.0):
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(5e-3), strains="planar", basis=2,
                 material=sp.Material(E=1e8, density=1000.0, damping=sp.StiffnessDamping(0.02)),
                 joint=sp.Revolute("y"))  # fmt: skip
    return sp.Robot(
        rod,
        sp.Tendon("left", on="arm", offset=(4e-3, 0.0), tension=tension),
        sp.Tendon("right", on="arm", offset=(-4e-3, 0.0), tension=0.0),
        sp.Chamber("air", on="arm", area=1e-5, pressure=sp.ramp(0.0, 0.5, 1e4)),
        sp.PrescribedCoordinate("hinge", on="arm", value=0.0),
        sp.Wrench("push", on="arm", force=(0, 1, 0), law=sp.Input("pushing", 0.5)),
    )


@pytest.fixture(scope="module")
def live():
    return LiveRun(robot(), dt=0.01)


def test_everything_that_drives_becomes_an_input_with_a_range():
    motor = sp.Motor("motor", on="arm", position=0.0, stiffness=1.0)
    driven, drives = drives_of(robot().adding(motor))
    found = {d.name: (d.kind, d.unit, d.value, d.low, d.high) for d in drives}
    assert found == {
        "left": ("tension", "N", 2.0, 0.0, 4.0),
        "right": ("tension", "N", 0.0, 0.0, 4.0),
        "air": ("pressure", "kPa", 0.0, 0.0, 2e4),
        "hinge": ("value", "", 0.0, -0.5, 0.5),
        "motor": ("position", "rad", 0.0, -np.pi / 2, np.pi / 2),
        "pushing": ("law", "×", 0.5, -1.0, 1.0),
    }
    assert isinstance(driven["left"].tension, Moving)
    assert driven["push"].law == sp.Input("pushing", 0.5)


def test_steps_are_those_of_a_run_and_reset_goes_back(live):
    held = {drive.name: drive.value for drive in live.drives}
    live.reset()
    for _ in range(10):
        assert live.step(held)
    again = sp.simulate(live.robot, 0.1, dt=0.01)
    np.testing.assert_allclose(live.newest.q[0], again.q[-1], rtol=1e-9, atol=1e-12)
    assert live.t == pytest.approx(0.1)
    live.reset()
    assert live.t == 0.0
    np.testing.assert_array_equal(live.newest.q[0], again.q[0])


def test_drives_move_the_robot_smoothly_to_where_it_rests(live):
    live.reset()
    wanted = {drive.name: drive.value for drive in live.drives}
    wanted |= {"left": 4.0, "pushing": 0.0, "hinge": 0.2}
    tensions = []
    for _ in range(200):
        live.step(wanted)
        tensions.append(float(live.newest.tendon("left").tension[0]))
    assert np.abs(np.diff(tensions)).max() < 0.5  # no jump
    assert np.all(np.diff(tensions) > -1e-12)
    assert tensions[-1] == pytest.approx(4.0, rel=1e-6)
    hinge = live.newest.joint("arm").position[0]
    assert hinge == pytest.approx(0.2, rel=1e-6)  # imposed, without a jump
    held = robot(4.0).removing("push", "air")
    resting = sp.equilibrium(held.replacing(sp.PrescribedCoordinate("hinge", on="arm", value=0.2)))
    np.testing.assert_allclose(live.newest.position("arm")[0], resting.position("arm"), atol=1e-5)


def test_a_run_that_cannot_go_on_says_so_and_can_be_reset(live):
    live.reset()
    wanted = {drive.name: drive.value for drive in live.drives} | {"left": float("nan")}
    assert not live.step(wanted)
    assert live.status != Status.RUNNING
    assert live.message
    assert not live.step(wanted)
    live.reset()
    assert live.step(wanted | {"left": 2.0})


def test_a_pull_is_a_spring_of_no_length_to_a_place(live):
    """It comes to rest where a described spring would hold it, and goes back when it is let go."""
    live.reset()
    wanted = {drive.name: drive.value for drive in live.drives} | {"pushing": 0.0, "left": 0.0}
    for _ in range(150):
        live.step(wanted)
    before, live.spring = live.newest.position("arm")[0], 5.0
    target = before + np.array([0.0, 0.05, 0.02])
    live.pull("arm", target)
    for _ in range(400):
        live.step(wanted)
    held = robot(0.0).removing("push", "air")
    spring = sp.Spring("held", on="arm", stiffness=5.0, length=0.0, to_position=target)
    resting = sp.equilibrium(held.adding(spring))
    np.testing.assert_allclose(live.newest.position("arm")[0], resting.position("arm"), atol=1e-4)
    assert np.linalg.norm(resting.position("arm") - before) > 0.01
    live.pull(None)
    for _ in range(400):
        live.step(wanted)
    np.testing.assert_allclose(live.newest.position("arm")[0], before, atol=1e-4)
    with pytest.raises(sp.ArgumentError, match="pull: got 'leg'; need one of: arm"):
        live.pull("leg", target)
    with pytest.raises(sp.ArgumentError, match="need three numbers"):
        live.pull("arm", (0.0, np.nan, 0.0))


def test_the_tangent_of_a_pull_is_its_derivative():
    pull = Pull(
        0, sp.Pose(np.eye(3), np.zeros(3)), sp.Input("pull", np.array([3.0, 0.5, 0.1, 0.2, 0.3]))
    )
    pose = sp.Pose(np.asarray(so3.exp(np.array([0.3, -0.2, 0.5]))), np.array([0.4, 0.5, -0.6]))
    twist = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    for own, other in zip(
        pull.tangent(np.zeros(()), pose, twist),
        AbstractPointLoad.tangent(pull, np.zeros(()), pose, twist),
        strict=True,
    ):
        np.testing.assert_allclose(own, other, atol=1e-12)
