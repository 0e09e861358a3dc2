"""Closures and imposed coordinates as users write them: which equations are kept, and what is refused."""

import numpy as np
import pytest

import supple as sp
from tests.robot.test_bad_input import body, built, rod

pytestmark = pytest.mark.usefixtures("unchecked")


def door(*heights, joint=None, free=True):
    """A door on hinges about z."""
    hinges = [
        sp.Closure(f"hinge {i}", on="ground", to="tool", joint=joint or sp.Revolute("z"),
                   position=(0, 0, z), to_position=(0, 0, z))
        for i, z in enumerate(heights)
    ]  # fmt: skip
    return built(body(joint=sp.Free(), com=(0.3, 0, 0)), *hinges, gravity=(0, -9.81, 0))


@pytest.mark.slow
def test_a_door_on_two_hinges_keeps_the_equations_of_one():
    """At random open places the hinges' equations are independent; where loops are closed they are not."""
    assert door(0.2).equations == 5
    model = door(0.2, -0.2)
    assert model.equations == 5
    assert len(model.closures.dropped) == 5
    run = sp.simulate(model, 0.2, dt=0.01)
    assert run.ok
    inertia, arm = 1e-3 + 0.3**2, 0.3
    angle = np.arctan2(run.poses["tool"].rotation[:, 1, 0], run.poses["tool"].rotation[:, 0, 0])
    start = run.a[0][2]
    assert start == pytest.approx(-9.81 * arm / inertia, rel=1e-9)
    assert angle[-1] < -0.3


def test_a_joint_written_twice_counts_once():
    model = door(0.2, 0.2, joint=sp.Spherical())
    assert model.equations == 3
    assert [text.split(":")[0] for text in model.closures.dropped] == ["hinge 1"] * 3


def loop(**changes):
    """A closure between arm and ground, with changes."""
    options = {**dict(on="arm", to="ground", to_position=(0.9, 0, 0)), **changes}
    return sp.Robot(rod(strains="planar"), body(joint=sp.Free()), sp.Closure("loop", **options))


def imposed(**changes):
    options = {**dict(on="tool", value=0.1), **changes}
    return built(rod(), body(joint=sp.Revolute("z")), sp.PrescribedCoordinate("motor", **options))


CASES = [
    ("missing frame", lambda: loop(to="leg"), "loop: to", "'leg'", "ground"),
    ("missing inner frame", lambda: loop(on="leg"), "loop: on", "'leg'", "arm"),
    ("to itself", lambda: loop(to="arm"), "loop: to", "'arm'", "another frame"),
    ("fraction on a body", lambda: loop(on="tool", fraction=0.5), "loop: fraction", "0.5", "rod"),
    ("to_fraction on the ground", lambda: loop(to_fraction=0.5), "loop: to_fraction", "0.5", "rod"),
    ("fraction beyond", lambda: loop(fraction=1.5), "loop: fraction", "1.5", "[0, 1]"),
    ("free joint", lambda: loop(joint=sp.Free()), "loop: joint", "Free", "Spherical"),
    ("joint is a name", lambda: loop(joint="ball"), "loop: joint", "'ball'", "Spherical"),
    ("nan position", lambda: loop(position=(np.nan, 0, 0)).build(), "loop: position", "nan", "finite"),
    ("bad rotation", lambda: loop(to_rotation=(1, 2)).build(), "loop: rotation", "(1, 2)", "quaternion"),
    (
        "frames in different planes",
        lambda: loop(to_position=(0.9, 0, 0.2)).build(),
        "loop: position", "0.2 m apart", "planes",
    ),
    ("zero friction speed", lambda: built(body(joint=sp.Revolute("z", friction=1.0, friction_speed=0))),
     "tool: joint.friction_speed", "0", "> 0"),
    ("negative friction", lambda: built(body(joint=sp.Revolute("z", friction=-1.0))),
     "tool: joint.friction", "-1.0", ">= 0"),
    ("imposed on nothing", lambda: imposed(on="leg"), "motor: on", "'leg'", "tool"),
    ("imposed on no joint", lambda: imposed(on="arm"), "motor: on", "'arm'", "tool"),
    ("imposed on no rod", lambda: imposed(of="rod"), "motor: on", "'tool'", "arm"),
    ("imposed of what", lambda: imposed(of="body"), "motor: of", "'body'", "'rod'"),
    ("imposed coordinate", lambda: imposed(coordinate=3), "motor: coordinate", "3", "0 … 0"),
    ("imposed half a coordinate", lambda: imposed(coordinate=0.5), "motor: coordinate", "0.5", "integer"),
    ("imposed nan", lambda: imposed(value=np.nan), "motor: value", "nan", "number"),
    ("imposed law is nan", lambda: imposed(value=lambda t: np.nan * t), "motor: value", "nan", "finite"),
    ("imposed text", lambda: imposed(value="up"), "motor: value", "'up'", "law"),
    (
        "imposed orientation",
        lambda: built(body(joint=sp.Spherical()), sp.PrescribedCoordinate("motor", on="tool")),
        "motor: on", "'tool'", "Driven",
    ),
    (
        "imposed twice",
        lambda: built(body(joint=sp.Revolute("z")), *(sp.PrescribedCoordinate(n, on="tool") for n in "ab")),
        "robot: items", "PrescribedCoordinate", "once",
    ),
    ("text growth", lambda: rod(growth="fast"), "arm: growth", "'fast'", "law"),
    ("nan growth", lambda: rod(growth=lambda t: np.nan * t), "arm: growth", "nan", "> 0"),
    ("growth to nothing", lambda: rod(growth=lambda t: 0.0 * t), "arm: growth", "0.0", "> 0"),
    ("number as growth", lambda: rod(growth=2.0), "arm: growth", "2.0", "law"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "item", "value", "cure"), [
    pytest.param(make, item, value, cure, id=name) for name, make, item, value, cure in CASES
])  # fmt: skip
def test_bad_input_is_refused_by_item_value_and_cure(what, item, value, cure):
    with pytest.raises(sp.DescriptionError) as caught:
        what()
    message = str(caught.value)
    for part in (item, value, cure):
        assert part in message


def test_what_closures_forbid_cannot_be_imposed():
    """A hinge held by a second, parallel one elsewhere cannot turn."""
    robot = sp.Robot(
        body(joint=sp.Revolute("z")),
        sp.Closure("stop", on="tool", to="ground", position=(1, 0, 0), to_position=(1, 0, 0)),
        sp.PrescribedCoordinate("motor", on="tool", value=0.3),
    )
    with pytest.raises(sp.SolveError, match=r"no motion brings .* nearer than"):
        sp.equilibrium(robot)
