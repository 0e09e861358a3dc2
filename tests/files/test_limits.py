"""No file eats the machine: limits with clear errors, and time in proportion to what is written."""

import time

import numpy as np
import pytest

import supple as sp
from supple.files import FileError, load
from supple.files.urdf import UrdfImport, read_urdf
from supple.robot.looks import surface_of
from supple.robot.meshes import MAX_FILE

pytestmark = pytest.mark.usefixtures("unchecked")  # as users run it
ROD = "robot: r\nrods:\n  a: {length: 1, section: {circle: 0.01}, material: {E: 1e8, density: 1e3}, %s}\n"
LIMIT = 2.0
"""Seconds of the processor for what is refused, or just within the limits."""


@pytest.fixture(scope="module", autouse=True)
def forms_are_made():
    """The first file of a process takes longer: forms are made from the classes."""
    load(ROD % "basis: 1")


def listed(values):
    return "[" + ", ".join(map(str, values)) + "]"


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ("rest: [0, 0, 4000, 1, 0, 0]", "rods.a.rest: got '1 × 2815 nodes'; need fewer turns"),
        ("rest: [1e30, 0, 0, 1, 0, 0]", "need fewer turns"),
        ('rest: "[0, 0, 5000*u, 1, 0, 0]"', "need fewer turns"),
        ("basis: 301", "rods.a.basis: got 301; need at most 300 modes"),
        ("basis: {piecewise-constant: 900}", "need at most 300 modes"),
        ("nodes: 1001", "rods.a.nodes"),
        ("nodes: 900, breaks: [0.2, 0.4, 0.6, 0.8]", "rods.a.nodes: got '5 × 900 nodes'"),
        (f"breaks: {listed(np.arange(1, 500) / 500)}", "rods.a.breaks: got 500; need at most 400"),
        ("nodes: 1000, basis: 100, space: {magnus: {substeps: 100}}", "fewer nodes, substeps or modes"),
        (f"strains: {'x' * 30_000}", "a text of 30000 characters; need at most 20000"),
        (f"{'x' * 300}: 1", "a name of 300 characters; need at most 200"),
    ],
)  # fmt: skip
def test_rods_that_would_fill_the_memory_are_refused_at_once(fields, part):
    begun = time.process_time()
    with pytest.raises(FileError) as told:
        load(ROD % fields)
    assert part in str(told.value)
    assert time.process_time() - begun < LIMIT


def test_many_large_rods_are_refused_together():
    rods = "".join(
        f"  a{i}: {{length: 1, section: {{circle: 0.01}}, material: {{E: 1e8, density: 1e3}}, nodes: 999}}\n"
        for i in range(150)
    )
    with pytest.raises(FileError, match="need fewer rods, nodes or modes"):
        load("robot: r\nrods:\n" + rods)


def test_more_items_than_fit_are_refused():
    with pytest.raises(sp.DescriptionError, match="got 6000; need at most 5000"):
        sp.Robot(*[sp.Body("b", mass=1.0)] * 6000)


def chain(count, *, childs_first=False):
    lines = [
        f"  b{i}: {{mass: 1, inertia: [1, 1, 1], joint: {{revolute: y}}, "
        f"parent: {f'b{i - 1}' if i else 'ground'}}}"
        for i in range(count)
    ]
    return "robot: chain\nbodies:\n" + "\n".join(lines[::-1] if childs_first else lines) + "\n"


def urdf_chain(count):
    inertia = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    links = "".join(f'<link name="l{i}">{inertia}</link>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i - 1}"/><child link="l{i}"/></joint>'
        for i in range(1, count)
    )
    return f'<robot name="r">{links}{joints}</robot>'


def linear(work, count, factor=4, slack=2.5):
    """Assert that work(n) takes time in proportion to n, from ``count`` to ``factor`` times as many.

    The best of two: other work on the machine only adds. Quadratic work takes ``factor`` times too long.
    """

    def seconds(n):
        taken = []
        for _ in range(2):
            begun = time.process_time()
            work(n)
            taken.append(time.process_time() - begun)
        return min(taken)

    few, many = seconds(count), seconds(factor * count)
    assert many < slack * factor * few, (
        f"{few:.3f} s for {count}, {many:.3f} s for {factor * count}"
    )


def test_chains_are_loaded_and_built_in_proportion_to_their_length():
    linear(lambda count: load(chain(count)), 300)
    linear(lambda count: load(chain(count)).robot.build(), 200)
    linear(lambda count: load(chain(count, childs_first=True)).robot.solids, 300)


def test_children_may_come_long_before_their_parents():
    robot = load(chain(1500, childs_first=True)).robot
    assert [item.name for item in robot.solids][:3] == ["b0", "b1", "b2"]
    assert robot.removing("b3").items[-1].name == "b0"
    assert robot.build().nv == 1500


def test_long_urdf_files(tmp_path):
    (tmp_path / "long.urdf").write_text(urdf_chain(3000))
    (tmp_path / "long.yaml").write_text("urdf: long.urdf\n")
    begun = time.process_time()
    assert len(load(tmp_path / "long.yaml").robot.items) == 3000
    assert time.process_time() - begun < 4 * LIMIT


def test_a_ring_of_parents_is_told():
    ring = chain(30).replace("parent: ground", "parent: b29")
    with pytest.raises(FileError, match="need parents that lead to the ground"):
        load(ring)


@pytest.mark.parametrize(
    "times", ["[[0, 1], [2, 3]]", "[[0], [1, 2]]", "[0, .nan]", "[0, [1]]", "3", "[1, 0]", "[]"]
)
def test_tables_need_a_row_of_times(times):
    law = f"{{table: {{times: {times}, values: [0, 1]}}}}"
    robot = (
        "robot: r\nbodies:\n  b: {mass: 1}\nwrenches:\n  w: {on: b, force: [0, 0, 1], law: %s}\n"
    )
    with pytest.raises(FileError, match="times"):
        load(robot % law)


def test_tables_of_python_too():
    for times in ([[0, 1], [2, 3]], [[0], [1, 2]], "ab", 3.0):
        with pytest.raises(sp.DescriptionError, match="need increasing times"):
            sp.Table(times, [0.0, 1.0])


@pytest.mark.parametrize("end", ["parent", "child"])
def test_a_urdf_joint_without_an_end_is_told(end):
    text = urdf_chain(2).replace(f'<{end} link="l{0 if end == "parent" else 1}"/>', "")
    with pytest.raises(FileError, match=f'joint j1.{end}: got no <{end}>; need <{end} link="…"/>'):
        read_urdf(text, "x.urdf", UrdfImport("x.urdf"))


MESHES = {
    "empty.stl": b"",
    "short.stl": b"solid\0" * 5,
    "lies.stl": b"\0" * 80 + (10**8).to_bytes(4, "little") + b"\0" * 50,
    "words.stl": b"solid a\nfacet normal x y z\nendsolid a\n",
    "empty.obj": b"",
    "words.obj": b"v a b c\nf 1 2 3\n",
    "indices.obj": b"v 0 0 0\nf 1 2 9\n",
    "nan.obj": b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "broken.dae": b"<COLLADA><library>",
    "broken.ply": b"ply\nformat ascii 1.0\nelement vertex 9999999\nend_header\n",
    "broken.glb": b"glTF\2\0\0\0",
    "broken.zip": b"PK\3\4",
    "binary.stl": bytes(range(256)),
    "none.xyz": b"1",
    "noend": b"1",
}


@pytest.mark.parametrize("name", [*MESHES, "missing.stl", "folder.stl", "large.stl"])
def test_meshes_that_cannot_be_read_are_told_and_left_out(name, tmp_path):
    file = tmp_path / name
    if name in MESHES:
        file.write_bytes(MESHES[name])
    elif name.startswith("folder"):
        file.mkdir()
    elif name.startswith("large"):
        with file.open("wb") as large:
            large.truncate(MAX_FILE + 1)
    with pytest.warns(UserWarning, match="body: drawn without a shape. .*; need"):
        assert surface_of("body", (sp.Mesh(str(file)), sp.Sphere(0.1)))[1:] == []
