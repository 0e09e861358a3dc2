"""Robots drawn as graphs: where they are cut, and that it does not matter."""

import jax
import numpy as np
import pytest

import supple as sp
from supple.errors import DescriptionError
from supple.robot.spanning_tree import cut_open
from supple.robots.rfrfr import rfrfr

RIGHT = 0.2
CRANK = 1.0  # angle (rad) of a crank of 0.2 m; coupler of 0.4 m and rocker of 0.3 m close the loop
_x, _y = 0.4 - 0.2 * np.cos(CRANK), -0.2 * np.sin(CRANK)
_apart = np.hypot(_x, _y)
ROCKER = np.arctan2(-_y, -_x) - np.arccos((_apart**2 + 0.3**2 - 0.4**2) / (2 * _apart * 0.3))
COUPLER = np.arctan2(_y + 0.3 * np.sin(ROCKER), _x + 0.3 * np.cos(ROCKER))
# Steps of 5 ms; the same equations in other coordinates, solved to 1e-9 each, err alike: what is left is
# what the Newton iterations leave.
TOL_RUN = 1e-7


def drawn(**cut):
    """The RFRFR as a graph: two rods without parents and three hinges."""
    model = rfrfr()
    rods = [sp.Rod(
        name, parent=None, length=1.0, section=model[name].section, strains="planar", basis=3,
        material=model[name].material, position=(x, 0.0, 0.0), rotation=sp.along("y"),
    ) for name, x in (("left", -RIGHT), ("right", RIGHT))]  # fmt: skip
    hinges = [
        sp.Connection(f"{name} hinge", on="ground", to=name, joint=sp.Revolute("z"),
                   position=(x, 0.0, 0.0), rotation=sp.along("y"), cut=cut.get(name))
        for name, x in (("left", -RIGHT), ("right", RIGHT))
    ]  # fmt: skip
    tip = sp.Connection("tip", on="left", to="right", to_fraction=1.0, joint=sp.Revolute("z"))
    motors = [item for item in model.items if isinstance(item, sp.Wrench)]
    return sp.Robot(*rods, *hinges, tip, *motors, gravity=(0, 0, 0), name="drawn")


def test_a_graph_becomes_the_robot_cut_by_hand():
    """The same arrays in the same order, so the same motion."""
    ours, theirs = (jax.tree.leaves(robot.build()) for robot in (drawn(), rfrfr()))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_a_rod_cut_at_both_ends_moves_the_same():
    robots = drawn(right=True), rfrfr()
    ours, theirs = (sp.simulate(r, 1.6, dt=0.005, initial=sp.assemble(r)) for r in robots)
    assert ours.ok
    assert np.ptp(theirs.position("left"), axis=0).max() > 0.01
    for rod in ("left", "right"):
        assert np.abs(ours.position(rod) - theirs.position(rod)).max() < TOL_RUN
        assert np.abs(ours.coordinates(rod) - theirs.coordinates(rod)).max() < 10 * TOL_RUN
    left = ours.joint("left hinge").position - theirs.joint("left").position
    assert np.abs(left).max() < TOL_RUN
    forces = theirs.closure("tip")[:, 3:]
    assert np.abs(ours.closure("tip")[:, 3:] - forces).max() < 1e-4 * np.abs(forces).max()


def test_rods_are_carried_by_their_first_section_and_otherwise_float():
    closures = {i.name: i for i in cut_open(drawn().items) if isinstance(i, sp.Closure)}
    assert set(closures) == {"tip"}
    items = {i.name: i for i in cut_open(drawn(right=True).items)}
    assert isinstance(items["right"].joint, sp.Free)
    assert {n for n, i in items.items() if isinstance(i, sp.Closure)} == {"right hinge", "tip"}


def turn(angle):
    return (0.0, 0.0, float(angle))


def plate(name, **options):
    return sp.Body(name, mass=0.2, inertia=(1e-3, 1e-3, 1e-3), **options)


def four_bar(**cut):
    """Crank, coupler and rocker with a spring at the crank, and a ball between coupler and rocker."""

    def side(name, on, to, **options):
        return sp.Connection(name, on=on, to=to, cut=cut.get(name), **options)

    return sp.Robot(
        plate("crank", parent=None), plate("coupler", parent=None), plate("rocker", parent=None),
        side("spring", "crank", "ground", position=(-0.1, 0, 0), rotation=turn(-CRANK),
             joint=sp.Revolute("z", stiffness=2.0, damping=0.05)),
        side("knee", "coupler", "crank", joint=sp.Revolute("z"), position=(-0.2, 0, 0),
             to_position=(0.1, 0, 0), rotation=turn(CRANK - COUPLER)),
        side("ball", "coupler", "rocker", joint=sp.Spherical(), position=(0.2, 0, 0),
             to_position=(0.15, 0, 0), rotation=turn(ROCKER - COUPLER)),
        side("base", "ground", "rocker", joint=sp.Revolute("z"), position=(0.4, 0, 0),
             to_position=(-0.15, 0, 0), rotation=turn(ROCKER)),
        gravity=(0.0, -9.81, 0.0), name="four-bar",
    )  # fmt: skip


def test_balls_are_cut_first_and_springs_stay():
    assert [i.name for i in cut_open(four_bar().items) if isinstance(i, sp.Closure)] == ["ball"]
    cut = cut_open(four_bar(ball=False).items)
    assert [i.name for i in cut if isinstance(i, sp.Closure)] == ["knee"]
    cut = cut_open(four_bar(spring=True, ball=False).items)
    assert [i.name for i in cut if isinstance(i, sp.Closure)] == ["spring"]


@pytest.mark.slow
def test_two_cuts_of_a_four_bar_give_the_same_motion():
    """Also that of the sprung hinge, drawn from the crank to the ground, whose coordinate stays."""
    robots = four_bar(), four_bar(ball=False, spring=True)
    one, other = (sp.simulate(r, 0.4, dt=0.01, scheme=sp.radau(2)) for r in robots)
    assert np.abs(one.violation).max() < 1e-9
    for name in ("crank", "coupler", "rocker"):
        assert np.abs(other.position(name) - one.position(name)).max() < 1e-6
    assert np.abs(other.joint("spring").position - one.joint("spring").position).max() < 1e-5
    assert np.ptp(one.joint("spring").position) > 0.1


def test_a_platform_is_carried_or_floats():
    legs = [sp.Rod(f"leg {i}", length=0.4, section=sp.Circle(1e-3), basis=2, position=(x, 0, 0),
                   rotation=sp.along("z"), material=sp.Material(E=2e11, density=7800.0))
            for i, x in enumerate((-0.1, 0.1))]  # fmt: skip
    joins = [sp.Connection(f"clamp {i}", on=f"leg {i}", to="plate", to_position=(x, 0, 0),
                        to_rotation=sp.along("z")) for i, x in enumerate((-0.1, 0.1))]  # fmt: skip
    carried = sp.Robot(*legs, plate("plate", parent=None), *joins)
    floating = sp.Robot(*legs, plate("plate", joint=sp.Free(), position=(0, 0, 0.4)), *joins)
    models = carried.build(), floating.build()
    assert [len(m.closures.names) for m in models] == [1, 2]
    assert models[0].nv == models[1].nv - 6
    found = [sp.equilibrium(m).position("plate") for m in models]
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_a_driven_joint_may_be_cut():
    """An imposed coordinate keeps the joint's coordinates, in the tree or not."""
    robot = four_bar(base=True).adding(
        sp.PrescribedCoordinate("drive", on="base", value=lambda t: 0.2 * t)
    )
    model = robot.build()
    assert "base" in {slot.name for slot in model.topology.joint_slots}
    assert model.closures.names == ("base",)
    assert model.prescribed.size == 1


def test_bad_graphs_are_refused():
    with pytest.raises(DescriptionError, match=r"lost: parent: got None; need .*Connection"):
        sp.Robot(plate("lost", parent=None))
    with pytest.raises(DescriptionError, match=r"part: joint: .*need no joint"):
        plate("part", parent=None, joint=sp.Revolute("z"))
    with pytest.raises(DescriptionError, match="extra: cut: got False"):
        sp.Robot(
            plate("part", parent="ground", joint=sp.Revolute("z")),
            sp.Connection("extra", on="ground", to="part", joint=sp.Revolute("z"), cut=False),
        ).build()
