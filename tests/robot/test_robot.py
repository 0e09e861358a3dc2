"""Robots are immutable graphs of named items; changed ones are new robots."""

import dataclasses

import numpy as np
import pytest

import supple as sp

STEEL = sp.Material(E=2e11, density=7800.0)


def rod(name, **options):
    base = dict(length=1.0, section=sp.Circle(0.01), material=STEEL, basis=2)
    return sp.Rod(name, **{**base, **options})


def arm() -> sp.Robot:
    return sp.Robot(
        sp.Body("tool", parent="lower", mass=0.1),
        rod("lower", parent="upper", joint=sp.Revolute("z")),
        rod("upper"),
        sp.Marker("tip", parent="tool", position=(0.1, 0, 0)),
        sp.Wrench("pull", on="tool", force=(0, 1, 0)),
        sp.Wrench("push", on="upper", force=(0, 1, 0)),
        gravity=(0, 0, 0),
        name="arm",
    )


def names(robot):
    return {item.name for item in robot.items}


def test_parents_come_before_children_however_they_were_written():
    order = [item.name for item in arm().solids]
    assert order == ["upper", "lower", "tool", "tip"]


def test_items_are_found_by_name():
    assert arm()["pull"].on == "tool"
    with pytest.raises(sp.DescriptionError, match=r"arm: item: got 'leg'; need one of .*upper"):
        arm()["leg"]


def test_adding_keeps_the_old_robot_and_its_settings():
    robot = arm()
    more = robot.adding(sp.Body("load", parent="tool", mass=2.0))
    assert names(more) == names(robot) | {"load"}
    assert "load" not in names(robot)
    assert (more.name, more.gravity) == ("arm", (0, 0, 0))
    assert more.build().bodies.size == robot.build().bodies.size + 1


def test_adding_checks_the_new_graph():
    with pytest.raises(sp.DescriptionError, match="load: parent: got 'leg'"):
        arm().adding(sp.Body("load", parent="leg", mass=1.0))


def test_removing_takes_along_what_hangs_there():
    assert names(arm().removing("lower")) == {"upper", "push"}
    assert names(arm().removing("pull", "tip")) == {"tool", "lower", "upper", "push"}


def test_removing_something_unknown_is_refused():
    with pytest.raises(sp.DescriptionError, match="'leg'"):
        arm().removing("leg")


def test_replacing_swaps_items_of_the_same_name():
    robot = arm().replacing(rod("upper", length=2.0))
    assert robot["upper"].length == 2.0
    assert arm()["upper"].length == 1.0
    assert [i.name for i in robot.items] == [i.name for i in arm().items]
    with pytest.raises(sp.DescriptionError, match="'leg'"):
        arm().replacing(rod("leg"))


def test_robots_and_items_cannot_be_changed():
    robot = arm()
    with pytest.raises(dataclasses.FrozenInstanceError):
        robot.name = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        robot["upper"].length = 3.0


def test_building_twice_gives_equal_models():
    one, two = arm().build(), arm().build()
    assert one.topology == two.topology
    np.testing.assert_array_equal(one.groups[-1].stiffness, two.groups[-1].stiffness)
