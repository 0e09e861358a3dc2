"""Edits as functions from a robot to a robot, and what they look at."""

import numpy as np
import pytest

import supple as sp
from supple.lie import Pose


class Still:
    """Everything is where one pose says; joints are at one value."""

    def __init__(self, position=(1.0, 2.0, 3.0), joint=(0.5,)):
        self.place, self.value = np.array(position), np.array(joint)
        self.asked = []

    def pose(self, name, fraction=None):
        self.asked.append((name, fraction))
        turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        return Pose(turned, self.place if name == "box" else self.place + 1.0)

    def joint(self, name):
        return self.value, 0 * self.value


ARM = sp.Body("arm", mass=1.0, inertia=(1e-2,) * 3, joint=sp.Revolute("y"))
BOX = sp.Body("box", parent="arm", position=(0.5, 0.0, 0.0), mass=0.2, inertia=(1e-3,) * 3)
ROD = sp.Rod("rod", length=0.4, section=sp.Circle(2e-3), basis=1,
             material=sp.Material(E=2e9, density=1000.0))  # fmt: skip
ROBOT = sp.Robot(ARM, BOX, ROD, sp.Wrench("push", on="arm", force=(0, 0, 1)))


def test_attached_things_stay_where_they_are():
    seen = Still()
    held = sp.Attach("box", "rod", sp.Revolute("x"), to_fraction=0.5).applied(ROBOT, seen)[
        "box on rod"
    ]
    assert isinstance(held, sp.Closure)
    assert (held.on, held.to, held.fraction, held.to_fraction) == ("rod", "box", 0.5, 1.0)
    np.testing.assert_allclose(held.position, [-1.0, 1.0, -1.0], atol=1e-15)  # in turned axes
    np.testing.assert_allclose(held.rotation, np.eye(3), atol=1e-15)
    assert seen.asked == [("box", None), ("rod", 0.5)]
    ground = sp.Attach("box", "ground", name="here", position=(0.1, 0.0, 0.0)).applied(
        ROBOT, Still()
    )
    np.testing.assert_allclose(ground["here"].position, [1.0, 2.1, 3.0])
    assert ground["here"].to_position == (0.1, 0.0, 0.0)


def test_release_lets_go_of_whatever_holds():
    floating = sp.Release("box").applied(ROBOT, Still())["box"]
    assert (floating.parent, floating.joint, floating.position) == ("ground", sp.Free(), (0.0,) * 3)
    assert floating.mass == BOX.mass
    assert "push" not in [i.name for i in sp.Release("push").applied(ROBOT, Still()).items]
    free = sp.Release("box").applied(ROBOT, Still())
    held = sp.Attach("box", "ground").applied(free, Still())
    assert sp.Release("box").applied(held, Still()) == free
    assert sp.Release("box on ground").applied(held, Still()) == free
    with pytest.raises(sp.DescriptionError, match="something that is held"):
        sp.Release("box").applied(free, Still())


def test_locks_hold_each_coordinate_or_a_pose():
    locked = sp.Lock("arm").applied(ROBOT, Still())
    assert locked["arm locked"] == sp.PrescribedCoordinate("arm locked", on="arm", value=0.5)
    assert sp.Unlock("arm").applied(locked, Still()) == ROBOT
    flat = ROBOT.replacing(sp.Body("arm", mass=1.0, inertia=(1e-2,) * 3, joint=sp.Planar("y")))
    three = sp.Lock("arm").applied(flat, Still(joint=(0.1, 0.2, 0.3)))
    assert [three[f"arm locked {k}"].value for k in range(3)] == [0.1, 0.2, 0.3]
    assert sp.Unlock("arm").applied(three, Still()) == flat
    ball = ROBOT.replacing(sp.Body("arm", mass=1.0, inertia=(1e-2,) * 3, joint=sp.Spherical()))
    held = sp.Lock("arm").applied(ball, Still())
    assert isinstance(held["arm locked"], sp.Closure)
    assert sp.Unlock("arm").applied(held, Still()) == ball
    with pytest.raises(sp.DescriptionError, match="on a joint that moves"):
        sp.Lock("box").applied(ROBOT, Still())
    with pytest.raises(sp.DescriptionError, match="no joint is locked"):
        sp.Unlock("arm").applied(ROBOT, Still())


def test_items_come_go_and_change():
    eye = sp.Marker("eye", parent="box")
    more = sp.Add(eye).applied(ROBOT, Still())
    assert more == ROBOT.adding(eye)
    assert sp.Remove("box", "push").applied(more, Still()).items == (ARM, ROD)
    heavy = sp.Change("box", mass=0.3, parent="rod").applied(ROBOT, Still())["box"]
    assert (heavy.mass, heavy.parent, heavy.position) == (0.3, "rod", BOX.position)
    for edit in (
        sp.Change("nobody", mass=1.0),
        sp.Remove("nobody"),
        sp.Release("nobody"),
        sp.Lock("nobody"),
    ):
        with pytest.raises(sp.DescriptionError, match="got 'nobody'; need one of: arm, box"):
            edit.applied(ROBOT, Still())


def test_texts():
    assert repr(sp.Change("box", mass=0.3)) == "Change('box', mass=0.3)"
    assert repr(sp.Remove("box")) == "Remove('box')"
    assert repr(sp.Attach("box", "rod")) == "Attach(item='box', to='rod')"
