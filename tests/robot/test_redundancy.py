"""Which equations of closed loops are needed: it depends on places, and is found loop by loop."""

import time
import tracemalloc
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import neutral, retract
from supple.mechanics.inverse_dynamics import violation
from supple.robot.loops import loops_of
from supple.robot.redundancy import _shared
from supple.robots.stewart import stewart_gough
from supple.view.drawing import drawing_of
from tests.tools import jit

TOL = 1e-12  # a few dozen products of poses
STEEL = sp.Material(E=2e11, nu=0.3, density=7800.0)
AGAIN = 0.25  # s for a robot of a known structure; 0.015 on a machine that has nothing else to do


def bar(name, **options):
    return sp.Body(name, mass=1.0, inertia=(1e-2, 1e-2, 1e-2), **options)


def rod(name, **options):
    options = {"length": 0.4, "strains": "kirchhoff", "basis": 3, "nodes": 7, **options}
    return sp.Rod(name, section=sp.Circle(1e-3), material=STEEL, **options)


def parallelogram(third=0.2, above=0.0):
    """Two bars of 0.2 m that carry a third, and one more bar between it and the ground."""
    hinge = dict(joint=sp.Revolute("z"))
    return sp.Robot(
        bar("left", **hinge),
        bar("right", position=(0.4, 0, 0), **hinge),
        bar("top", parent="left", position=(0, 0.2, 0), **hinge),
        bar("middle", position=(0.2, 0, 0), **hinge),
        sp.Closure("a", on="right", position=(0, 0.2, 0), to="top", to_position=(0.4, 0, 0), **hinge),
        sp.Closure("b", on="middle", position=(0, third, above), to="top",
                   to_position=(0.2, third - 0.2, above), **hinge),
    )  # fmt: skip


def four_bar(last="z"):
    """A closed chain of four hinges, the last of them about another axis."""
    links, angles, axes = (0.3, 0.45, 0.35), (0.9, 0.4, -1.6), ("z", "z", last)
    items, parent, place = [], "ground", (0, 0, 0)
    for i, (length, angle, axis) in enumerate(zip(links, angles, axes, strict=True)):
        joint = sp.Revolute(axis)
        turned = dict(position=place, rotation=(0, 0, angle))
        items.append(bar(f"bar {i}", parent=parent, joint=joint, **turned))
        parent, place = f"bar {i}", (length, 0, 0)
    close = sp.Closure("end", on=parent, position=place, to="ground", to_position=(0.5, 0, 0),
                       joint=sp.Revolute("z"))  # fmt: skip
    return sp.Robot(*items, close)


def bricard():
    """Six hinges around a cube: five coordinates and five equations, and yet it moves."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)], float)
    items, parent, before = [], "ground", corners[0]
    for i, axis in enumerate("yzxyz"):
        place = tuple(corners[i] - before)
        items.append(bar(f"bar {i}", parent=parent, position=place, joint=sp.Revolute(axis)))
        parent, before = f"bar {i}", corners[i]
    close = sp.Closure("end", on=parent, position=tuple(corners[5] - before), to="ground",
                       to_position=tuple(corners[5]), joint=sp.Revolute("x"))  # fmt: skip
    return sp.Robot(*items, close)


def test_places_and_axes_decide_not_the_graph_alone():
    """The same joints between the same bars, one after the other and back: nothing is remembered wrongly."""
    for _ in range(2):
        assert parallelogram().build().equations == 3
        assert parallelogram(third=0.25).build().equations == 4
        assert parallelogram(above=0.1).build().equations == 3
        assert four_bar().build().equations == 2
        assert four_bar(last=(0.0, 0.3, 1.0)).build().equations == 3


def test_a_loop_with_enough_coordinates_of_its_own_may_still_be_redundant():
    assert bricard().build().equations == 4


def platform(**options):
    """A plate on three rods."""
    angles = 2 * np.pi * np.arange(3) / 3
    places = [(0.1 * np.cos(a), 0.1 * np.sin(a), 0.0) for a in angles]
    up = sp.along("z")
    legs = [rod(f"leg {i}", position=p, rotation=up, **options) for i, p in enumerate(places)]
    clamps = [
        sp.Closure(f"clamp {i}", on=f"leg {i}", to="plate", joint=sp.Fixed(), to_position=p,
                   to_rotation=up)
        for i, p in enumerate(places)
    ]  # fmt: skip
    return *legs, bar("plate", joint=sp.Free(), position=(0, 0, 0.38)), *clamps


def test_elastic_legs_need_all_their_equations_and_leave_the_rest_to_others():
    door = [
        bar("door", joint=sp.Free(), position=(2, 0, 0)),
        *(
            sp.Closure(f"hinge {z}", on="ground", to="door", joint=sp.Revolute("z"),
                       position=(2, 0, z), to_position=(0, 0, z))
            for z in (0.2, -0.2)
        ),
    ]  # fmt: skip
    assert sp.Robot(*platform()).build().equations == 18
    both = sp.Robot(*platform(), *door).build()
    assert both.equations == 18 + 5
    assert {text.split(":")[0] for text in both.closures.dropped} == {"hinge -0.2"}


def test_legs_that_bend_in_one_plane_hold_each_other():
    """Three planar legs clamped to a plate: what one of them says about the plane, the others need not."""
    assert sp.Robot(*platform(strains="planar")).build().equations == 12


def test_the_same_equations_are_kept_when_lengths_change_a_little():
    legs = [sp.Robot(*platform(strains="planar", length=0.4 + 0.001 * i)).build() for i in range(4)]
    assert len({model.closures.dropped for model in legs}) == 1


def mixed():
    """Loops that share elements, part on one rod at two places, or end on the ground; most joints occur."""
    return sp.Robot(
        bar("base", joint=sp.Free(), position=(0.1, 0, 0.2)),
        rod("first", parent="base", joint=sp.Universal(), growth=lambda t: 1.3 + t, nodes=20),
        rod(
            "second",
            parent="first",
            fraction=0.4,
            rotation=(0, 0.3, 0),
            joint=sp.Cylindrical("y"),
            nodes=20,
        ),
        bar("tip", parent="second", joint=sp.Spherical(), position=(0, 0.1, 0)),
        rod("third", joint=sp.Planar("x"), position=(0, 0.2, 0), nodes=20),
        sp.Closure("a", on="tip", to="first", joint=sp.Universal(), to_position=(0, 0, 0.1)),
        sp.Closure("b", on="first", fraction=0.7, to="third", to_fraction=0.5, joint=sp.Fixed()),
        sp.Closure("c", on="ground", position=(1, 0, 0), to="tip", joint=sp.Planar("y")),
        sp.Closure("d", on="second", to="third", joint=sp.Helical("x", pitch=0.1)),
    )


def test_loops_one_by_one_lie_as_in_the_whole_robot(rng):
    """What is missing and its derivative, against the violation of the model and its derivative."""
    model = mixed().build()
    chosen = (3, 0, 1, 2)
    loops = loops_of(model, chosen)
    holders = _shared(loops)
    x = 0.3 * rng.normal(size=model.nv)
    q = retract(model, jnp.asarray(neutral(model)), jnp.asarray(x))

    @jit
    def whole(q):
        def moved(x):
            return violation(model, retract(model, q, x), jnp.zeros(()))

        zero = jnp.zeros(model.nv)
        return moved(zero), jax.jacfwd(moved)(zero)

    value, jacobian = whole(q)
    lie = holders.at(holders.started(x))
    ours = np.zeros((len(chosen), 6, model.nv))
    for g, (loop, _, _) in enumerate(loops.visits):
        for k, holder, block in zip(loop, holders.of_visit[g], lie.blocks[g], strict=True):
            ours[k][:, holders.v_index[g][holder]] = block
    for k, rows in enumerate(loops.rows):
        assert {model.closures.joint_of_row[row] for row in rows} == {chosen[k]}
        np.testing.assert_allclose(lie.missing[k, : len(rows)], value[rows], atol=TOL)
        scaled = np.asarray(jacobian)[rows] * np.asarray(model.scale)
        np.testing.assert_allclose(ours[k, : len(rows)], scaled, atol=TOL)
        assert not ours[k, len(rows) :].any()


@pytest.mark.usefixtures("unchecked")
def test_other_lengths_of_a_known_robot_build_at_once():
    robot = stewart_gough()
    robot.build()
    times = []
    for i in range(3):
        legs = [item for item in robot.items if isinstance(item, sp.Rod)]
        longer = robot.replacing(*(replace(leg, length=leg.length + 1e-3 * i) for leg in legs))
        start = time.perf_counter()
        longer.build()
        times.append(time.perf_counter() - start)
    assert min(times) < AGAIN


def ring(count):
    """A plate on many clamped legs that are a little too long."""
    angles = 2 * np.pi * np.arange(count) / count
    base, top = (
        [(0.5 * np.cos(a + turn), 0.5 * np.sin(a + turn), 0.0) for a in angles]
        for turn in (0.0, 0.1)
    )
    up = sp.along("z")
    return sp.Robot(
        *(rod(f"leg {i}", position=p, rotation=up) for i, p in enumerate(base)),
        bar("plate", joint=sp.Free(), position=(0, 0, 0.38)),
        *(
            sp.Closure(f"clamp {i}", on=f"leg {i}", to="plate", joint=sp.Fixed(), to_position=p,
                       to_rotation=up)
            for i, p in enumerate(top)
        ),
    )  # fmt: skip


def net(cells):
    """A grid of rods between bodies, drawn as a graph that hangs on one corner."""
    corners = [(i, j) for i in range(cells + 1) for j in range(cells + 1)]
    items = [bar(f"{i}, {j}", parent=None) for i, j in corners]
    items.append(sp.Connection("base", on="ground", to="0, 0"))
    for i, j in corners:
        for axis, (a, b) in (("x", (i + 1, j)), ("y", (i, j + 1))):
            if max(a, b) <= cells:
                name, turned = f"{axis} {i}, {j}", (0, 0, np.pi / 2 * (axis == "y"))
                items.append(rod(name, parent=None, length=0.1))
                items.append(sp.Connection(f"{name}: 0", on=f"{i}, {j}", to=name, rotation=turned))
                items.append(
                    sp.Connection(f"{name}: 1", on=name, to=f"{a}, {b}", to_rotation=turned)
                )
    return sp.Robot(*items)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("robot", "sizes"), [(ring, (64, 256)), (net, (4, 8))])
def test_memory_grows_with_the_number_of_rods(robot, sizes):
    """Four times as many rods: at most five times the memory, where tables of pairs would take sixteen.

    Loops of a net also get longer with its size; they may take twice as much.
    """
    few, many = map(robot, sizes)
    peaks = []
    for one in (few, many):
        one.build()  # what is compiled and remembered does not count
        tracemalloc.start()
        one.build()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < (5 if robot is ring else 9) * peaks[0]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("robot", "size", "equations"), [(ring, 1000, 6000), (net, 20, 2400)])
def test_a_thousand_rods_in_loops_build_within_ten_seconds(robot, size, equations):
    described = robot(size)
    start = time.perf_counter()
    model = described.build()
    assert time.perf_counter() - start < 10.0
    assert model.equations == equations


@pytest.mark.usefixtures("unchecked")
def test_a_thousand_rods_in_a_row_written_backwards_build_quickly():
    count = 1500  # more than Python's limit of nested calls
    items = [rod(f"{i}", parent=f"{i - 1}" if i else "ground") for i in range(count)]
    spring = sp.Spring("far", on=f"{count - 1}", to="ground", stiffness=1.0)
    start = time.perf_counter()
    model = sp.Robot(spring, *reversed(items)).build()
    assert time.perf_counter() - start < 10.0
    assert model.topology.elements == count


def test_a_closure_without_equations_has_no_wrench():
    """A door on two hinges: which of them carries it cannot be known, and the first is taken."""
    door = sp.Robot(
        sp.Body("door", mass=1.0, inertia=(0.1, 0.1, 0.1), joint=sp.Revolute("z"),
                joint_position=(0.0, -0.4, -0.5)),
        sp.Closure("upper", on="ground", to="door", joint=sp.Revolute("z"),
                   position=(0.0, 0.0, 1.0), to_position=(0.0, -0.4, 0.5)),
    )  # fmt: skip
    result = sp.simulate(door, 0.1, dt=0.05)
    assert result.ok
    assert len(result.model.closures.dropped) == 5
    np.testing.assert_array_equal(result.closure("upper"), np.zeros((3, 6)))
    assert sp.plot.multipliers(result).lines
    numbers = {(number.item, number.name) for number in drawing_of(result).numbers}
    assert ("door", "joint") in numbers
    assert ("upper", "force") not in numbers  # not known, rather than zero
