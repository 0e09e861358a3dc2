"""Shapes that bodies bring: how they look, what they refuse, and joints on their surface."""

import numpy as np
import pytest

import supple as sp
from supple.files import FileError, dump, load
from supple.robot.looks import surface_of

STL = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex -1 -1 2\nvertex 3 -1 2\nvertex -1 3 2\n"
    "endloop\nendfacet\nendsolid a\n"
)


def box(**fields):
    return sp.Body("box", mass=1.0, shape=sp.Box((0.2, 0.4, 0.6), **fields))


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (sp.Box((0.2, 0.4, 0.6), position=(1, 0, 0)), (0.9, -0.2, -0.3), (1.1, 0.2, 0.3)),
        (sp.Cylinder(0.1, 0.6), (-0.1, -0.1, -0.3), (0.1, 0.1, 0.3)),
        (sp.Cylinder(0.1, 0.6, axis="x"), (-0.3, -0.1, -0.1), (0.3, 0.1, 0.1)),
        (sp.Cylinder(0.1, 0.6, rotation=(0, np.pi / 2, 0)), (-0.3, -0.1, -0.1), (0.3, 0.1, 0.1)),
        (sp.Sphere(0.5), (-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)),
    ],
)
def test_shapes_are_as_large_as_they_say(shape, low, high):
    ((vertices, _),) = surface_of("body", shape)
    np.testing.assert_allclose(vertices.min(axis=0), low, atol=1e-12)
    np.testing.assert_allclose(vertices.max(axis=0), high, atol=1e-12)


def test_mesh_files(tmp_path):
    pytest.importorskip("trimesh")
    file = tmp_path / "flat.stl"
    file.write_text(STL)
    ((vertices, _),) = surface_of("body", sp.Mesh(str(file), 0.1))
    np.testing.assert_allclose(np.ptp(vertices, axis=0), (0.4, 0.4, 0.0), atol=1e-7)
    body = sp.Body("plate", mass=1.0, shape=sp.Mesh(str(file), 0.1), joint=sp.Free())
    robot = sp.Robot(body, sp.Marker("top", parent="plate", position="z"))
    np.testing.assert_allclose(robot["top"].position, (0.0, 0.0, 0.2), atol=1e-7)
    (tmp_path / "robot.yaml").write_text(
        "bodies:\n  plate: {mass: 1, joint: free, shape: {mesh: {file: flat.stl, scale: 0.1}}}\n"
    )
    found = load(tmp_path / "robot.yaml").robot["plate"].shape
    assert found == sp.Mesh(str(file), 0.1)
    (tmp_path / "robot.yaml").write_text("bodies: {plate: {mass: 1, shape: {mesh: lost.stl}}}\n")
    with pytest.raises(
        FileError, match=r"bodies.plate.shape.*lost.stl.*need the path of a mesh file"
    ):
        load(tmp_path / "robot.yaml")


@pytest.mark.parametrize(
    ("side", "place"),
    [("x", (0.1, 0, 0)), ("-y", (0, -0.2, 0)), ("+z", (0, 0, 0.3))],
)
def test_joints_find_the_surface(side, place):
    rod = sp.Rod("rod", 1.0, sp.Circle(0.01), sp.Material(E=1e9, density=1e3), parent="box",
                 position=side, basis=1)  # fmt: skip
    np.testing.assert_allclose(sp.Robot(box(), rod)["rod"].position, place, atol=1e-12)
    moved = sp.Robot(box(position=(0.0, 0.0, 1.0)), rod)["rod"].position
    np.testing.assert_allclose(moved, np.add(place, (0, 0, 1)), atol=1e-12)


def test_bodies_hang_by_their_own_side_and_closures_meet_surfaces():
    hung = sp.Body("hung", mass=1.0, shape=sp.Cylinder(0.1, 0.5, axis="x"), joint=sp.Revolute("y"),
                   joint_position="-x", parent="box", position="z")  # fmt: skip
    robot = sp.Robot(
        box(), hung, sp.Closure("loop", on="box", to="hung", position="x", to_position="z")
    )
    np.testing.assert_allclose(robot["hung"].joint_position, (-0.25, 0, 0), atol=1e-12)
    np.testing.assert_allclose(robot["loop"].position, (0.1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(robot["loop"].to_position, (0, 0, 0.1), atol=1e-12)
    frame = sp.Robot(box(), hung).build()
    by_hand = sp.Robot(
        box(),
        sp.Body("hung", mass=1.0, joint=sp.Revolute("y"), joint_position=(-0.25, 0, 0),
                parent="box", position=(0, 0, 0.3)),
    ).build()  # fmt: skip
    np.testing.assert_allclose(frame.frame_offsets.position, by_hand.frame_offsets.position)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sp.Body("b", 1.0, shape="box"), "shape: got 'box'.*Box"),
        (lambda: sp.Body("b", 1.0, shape=sp.Box((1.0, 0.0, 1.0))), "shape.size.*lengths > 0"),
        (lambda: sp.Body("b", 1.0, shape=sp.Sphere(-1.0)), "shape.radius"),
        (lambda: sp.Body("b", 1.0, shape=sp.Mesh("lost.stl")), "lost.stl.*path of a mesh file"),
        (lambda: sp.Robot(sp.Body("a", 1.0, joint=sp.Free()),
                          sp.Marker("m", parent="a", position="x")), "m.*'x'.*a shape of 'a'"),
        (lambda: sp.Robot(box(), sp.Marker("m", parent="box", position="top")), "top.*x, y, z"),
    ],
)  # fmt: skip
def test_what_is_refused(make, words):
    with pytest.raises(sp.DescriptionError, match=words):
        make()


def test_shapes_change_nothing_else_and_are_written_to_files():
    shapes = (sp.Box((0.2, 0.4, 0.6), position=(0.1, 0, 0)), sp.Sphere(0.1),
              sp.Cylinder(0.1, 0.2, axis="y", rotation=(0, 0, 1.0)))  # fmt: skip
    robot = sp.Robot(sp.Body("b", 1.0, (1.0, 1.0, 1.0), joint=sp.Free(), shape=shapes),
                     sp.Marker("m", parent="b", shape=sp.Sphere(0.01)))  # fmt: skip
    assert load(dump(robot)).robot == robot
    one = sp.Robot(sp.Body("b", 1.0, joint=sp.Free(), shape=shapes[0]))
    assert load(dump(one)).robot == one
    assert "box:" in dump(one)
    text = (
        "  b: {mass: 1, joint: free, shape: {sphere: 0.2}}\n  c: {mass: 1, parent: b, position: -x}"
    )
    text = f"bodies:\n{text}\n"
    np.testing.assert_allclose(load(text).robot["c"].position, (-0.2, 0, 0))
    with pytest.raises(FileError, match=r"shape.*bloc.*one of box, cylinder, sphere, mesh"):
        load("bodies: {b: {mass: 1, shape: {bloc: 1}}}\n")
