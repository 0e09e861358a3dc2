"""URDF: links and joints become bodies where they should be, and what is missing is told."""

from pathlib import Path

import numpy as np
import pytest

import supple as sp
import supple.files
from supple.files import FileError, load
from supple.files.urdf import UrdfImport, read_urdf, rotation_of
from supple.lie import so3
from supple.robot.placement import placement

TEMPLATE = Path(supple.files.__file__).parent / "templates" / "whip.urdf"
GOOD = TEMPLATE.read_text()

pytestmark = pytest.mark.usefixtures("unchecked")


def read(text: str, **options):
    return read_urdf(text, "arm.urdf", UrdfImport("arm.urdf", **options))


def test_roll_pitch_yaw_turn_about_fixed_axes():
    roll, pitch, yaw = 0.3, -0.5, 1.1
    by_steps = (
        so3.exp(np.array([0.0, 0.0, yaw]))
        @ so3.exp(np.array([0.0, pitch, 0.0]))
        @ so3.exp(np.array([roll, 0.0, 0.0]))
    )
    np.testing.assert_allclose(rotation_of((roll, pitch, yaw)), by_steps, atol=1e-14)


def test_links_and_joints():
    found = read(GOOD)
    base, upper, fore = found.items
    assert base == sp.Marker("base")
    assert upper.joint == sp.Revolute((0.0, 1.0, 0.0), damping=0.02, lower=-1.5, upper=1.5)
    assert (upper.parent, upper.position) == ("base", (0.0, 0.0, 0.5))
    assert (upper.mass, upper.com) == (0.6, (0.15, 0.0, 0.0))
    np.testing.assert_array_equal(upper.inertia, np.diag([3e-4, 4.8e-3, 4.8e-3]))
    assert fore.parent == "upper arm"
    assert found.notes == ("link forearm.visual: its mesh 'forearm.stl' is not there",)
    assert fore.shape is None
    (bar,) = upper.shape
    assert (bar.radius, bar.length) == (0.02, 0.3)


def test_turned_inertia_and_places():
    text = GOOD.replace(
        'xyz="0.125 0 0" rpy="0 0 0"', 'xyz="0.125 0 0" rpy="0 0 1.5707963267948966"'
    )
    text = text.replace('<origin xyz="0.3 0 0"/>', '<origin xyz="0.3 0 0" rpy="0.1 0.2 0.3"/>')
    fore = read(text).items[2]
    np.testing.assert_allclose(fore.inertia, np.diag([2.2e-3, 1.2e-4, 2.2e-3]), atol=1e-15)
    pose = placement("forearm", fore.position, fore.rotation)
    np.testing.assert_allclose(pose.rotation, rotation_of((0.1, 0.2, 0.3)), atol=1e-15)


def test_positions_of_a_bent_arm():
    """The built tree puts the last link where the URDF's own chain of transforms puts it."""
    text = GOOD.replace('<origin xyz="0.3 0 0"/>', '<origin xyz="0.3 0 0" rpy="0.1 0.2 0.3"/>')
    model = sp.Robot(*read(text).items).build()
    angles = np.array([0.4, -0.7])

    def moved(xyz, rpy, angle):
        g = np.eye(4)
        g[:3, :3] = rotation_of(rpy) @ rotation_of((0.0, angle, 0.0))
        g[:3, 3] = xyz
        return g

    by_hand = moved((0, 0, 0.5), (0, 0, 0), angles[0]) @ moved(
        (0.3, 0, 0), (0.1, 0.2, 0.3), angles[1]
    )
    from supple.mechanics.frames import frame_motion

    zero = np.zeros(2)
    pose = frame_motion(model, "forearm", angles, zero, zero, np.asarray(0.0), None).pose
    np.testing.assert_allclose(pose.position, by_hand[:3, 3], atol=1e-14)
    np.testing.assert_allclose(pose.rotation, by_hand[:3, :3], atol=1e-14)


@pytest.mark.parametrize(
    ("kind", "joint"),
    [
        ("continuous", sp.Revolute((0.0, 1.0, 0.0), damping=0.02)),
        ("prismatic", sp.Prismatic((0.0, 1.0, 0.0), damping=0.02, lower=-1.5, upper=1.5)),
        ("floating", sp.Free()),
        ("planar", sp.Planar((0.0, 1.0, 0.0), damping=0.02)),
        ("fixed", sp.Fixed()),
    ],
)
def test_joint_types(kind, joint):
    assert read(GOOD.replace('type="revolute"', f'type="{kind}"')).items[1].joint == joint


CASES = {
    "not xml": ("robot: arm", "arm.urdf:1:1: got", "need XML"),
    "cut off": (GOOD[:300], "arm.urdf:", "need XML"),
    "other root": ("<model/>", "arm.urdf:1:1: model: got <model>", "<robot>"),
    "no inertial": (
        GOOD.replace("<inertial>", "<visual>", 1).replace("</inertial>", "</visual>", 1)
        .replace("<mass value=\"0.6\"/>", "<geometry><sphere radius=\"1\"/></geometry>", 1),
        "arm.urdf:4:3: link upper arm: got no <inertial>", "since the link moves",
    ),
    "no mass": (
        GOOD.replace('<mass value="0.6"/>', ""),
        "arm.urdf:5:5: link upper arm.inertial: got no <mass>", "<mass …/>",
    ),
    "massless": (
        GOOD.replace('<mass value="0.6"/>', '<mass value="0"/>'),
        "arm.urdf:4:3: link upper arm.mass: got 0.0", "> 0",
    ),
    "no inertia value": (GOOD.replace('iyy="4.8e-3"', ""), "got nothing", 'iyy="…"'),
    "text for a number": (
        GOOD.replace('value="0.6"', 'value="heavy"'),
        "link upper arm.inertial.mass.value: got 'heavy'", "1 finite number",
    ),
    "two numbers": (GOOD.replace('"0.3 0 0"', '"0.3 0"'), "got '0.3 0'", "3 finite numbers"),
    "unknown link": (
        GOOD.replace('<child link="forearm"/>', '<child link="hand"/>'),
        "joint elbow.child: got 'hand'", "base, upper arm, forearm",
    ),
    "loop": (
        GOOD.replace('<parent link="base"/><child link="upper arm"/>',
                     '<parent link="forearm"/><child link="upper arm"/>')
        .replace('<link name="base"/>', ""),
        "robot: got []", "form a loop",
    ),
    "two parents": (
        GOOD.replace('<child link="forearm"/>', '<child link="upper arm"/>'),
        "joint elbow: got 'upper arm'", "a tree",
    ),
    "two roots": (GOOD.replace("</robot>", '<link name="x"/></robot>'), "got ['base', 'x']", "one link"),
    "same name": (
        GOOD.replace("</robot>", '<link name="base"/></robot>'), "link base: got a second one", "once",
    ),
    "unknown type": (GOOD.replace('"revolute"', '"ball"'), "joint shoulder.type: got 'ball'", "revolute"),
    "mimic": (
        GOOD.replace('<dynamics damping="0.05"/>', '<mimic joint="shoulder"/>'),
        "joint elbow: got <mimic>", "by themselves",
    ),
    "zero axis": (GOOD.replace('"0 1 0"', '"0 0 0"', 1), "joint shoulder.axis:", "not zero"),
    "reserved name": (GOOD.replace('"base"', '"ground"'), "got 'ground'", "other than 'ground'"),
    "entities": (
        '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>',
        "got a document type", "entities are not read",
    ),
    "deep": ("<robot>" + "<a>" * 100, "elements within each other", "flatter"),
    "no geometry": (
        GOOD.replace('<geometry><mesh filename="forearm.stl" scale="0.001 0.001 0.001"/></geometry>', ""),
        "link forearm.visual: got no <geometry>", "a shape",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_malformed(name):
    text, *parts = CASES[name]
    with pytest.raises(FileError) as error:
        read(text)
    for part in parts:
        assert part in str(error.value)


def test_a_moving_root_needs_mass():
    with pytest.raises(FileError, match="link base: got no <inertial>"):
        read(GOOD, joint=sp.Free())


def test_in_a_robot_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(GOOD)
    (tmp_path / "forearm.stl").touch()
    text = """\
urdf: {file: arm.urdf, position: [0, 0, 1]}
rods:
  whip: {parent: forearm, length: 0.3, section: {circle: 0.003}, material: {E: 3e9, density: 1150}}
"""
    path = tmp_path / "arm.yaml"
    path.write_text(text)
    found = load(path)
    assert [item.name for item in found.robot.items] == ["base", "upper arm", "forearm", "whip"]
    assert found.robot["base"].position == (0.0, 0.0, 1.0)
    (mesh,) = found.robot["forearm"].shape
    assert mesh == sp.Mesh(str(tmp_path / "forearm.stl"), (0.001, 0.001, 0.001))
    path.write_text(text.replace("parent: forearm", "parent: hand"))
    with pytest.raises(FileError, match=r"arm.yaml:3:18: rods.whip.parent: got 'hand'.*forearm"):
        load(path)
    path.write_text(text.replace("whip:", "base:"))
    with pytest.raises(FileError, match=r"rods.base: got 'base' in urdf too"):
        load(path)


def test_limits_that_cross_are_refused():
    with pytest.raises(
        FileError, match=r"joint shoulder\.limit\.lower: got 2\.5; need less than upper"
    ):
        read(GOOD.replace('lower="-1.5"', 'lower="2.5"'))
