"""MJCF files: the masses and joints of the robot, and in MuJoCo itself the same shapes at rest."""

from xml.etree import ElementTree

import numpy as np
import pytest

import supple as sp
from supple.files import to_mjcf
from supple.files.mjcf import mjcf_of

LENGTH, RADIUS, DENSITY, YOUNG = 0.5, 5e-3, 1200.0, 5e7
SECOND_ORDER = 0.02
"""Largest error of the tip over the length with 20 pieces: of order 1/20² times a few."""


def arm(**fields):
    rubber = sp.Material(E=YOUNG, density=DENSITY, nu=0.4, damping=sp.StiffnessDamping(0.05))
    given = dict(basis=4, parent="link", position="x")
    return sp.Rod("arm", LENGTH, sp.Circle(RADIUS), rubber, **(given | fields))


def robot(*more, **fields):
    link = sp.Body("link", mass=0.5, inertia=(1e-3, 2e-3, 3e-3), com=(0.05, 0, 0), joint_position="-x",
                   joint=sp.Revolute("y", stiffness=2.0, damping=0.5, rest=0.1),
                   shape=sp.Box((0.2, 0.05, 0.05)))  # fmt: skip
    tool = sp.Body(
        "tool", mass=0.02, inertia=(1e-6, 1e-6, 1e-6), parent="arm", shape=sp.Sphere(0.01)
    )
    return sp.Robot(link, arm(**fields), tool, *more, name="arm & link")


def test_masses_joints_and_what_is_left_out(tmp_path):
    driven = robot(
        sp.Marker("eye", parent="arm", fraction=0.3),
        sp.Tendon("pull", on="arm", offset=(0.01, 0.0), tension=1.0),
        sp.Motor("motor", on="link", torque=1.0),
        sp.Drag("air", on="arm", linear=0.1),
        sp.Closure("tie", on="tool", to="ground", to_position=(0.7, 0, 0)),
    )
    text = to_mjcf(driven, tmp_path / "arm.xml", pieces=10).read_text()
    assert "left out: air (Drag)" in text
    root = ElementTree.fromstring(text)
    masses = sum(float(i.get("mass")) for i in root.iter("inertial"))
    rod = DENSITY * np.pi * RADIUS**2 * LENGTH
    assert masses == pytest.approx(0.5 + 0.02 + rod, rel=1e-8)
    hinges = [j for j in root.iter("joint") if j.get("name").startswith("arm piece")]
    assert len(hinges) == 10 * 3  # twist and two bendings
    stiff = YOUNG * np.pi * RADIUS**4 / 4 / (LENGTH / 10)
    assert float(hinges[1].get("stiffness")) == pytest.approx(stiff, rel=1e-8)
    link = next(j for j in root.iter("joint") if j.get("name") == "link")
    assert (link.get("type"), link.get("pos"), link.get("axis")) == ("hinge", "-0.1 0 0", "0 1 0")
    assert {"eye", "arm tip"} <= {site.get("name") for site in root.iter("site")}
    assert len(root.find("tendon/spatial")) == 11
    assert {a.get("name") for a in root.find("actuator")} == {"pull", "motor"}
    assert root.find("equality/connect").get("name") == "tie"
    with pytest.raises(sp.DescriptionError, match="pieces"):
        mjcf_of(driven, 0)


@pytest.mark.parametrize(
    "given",
    [robot(), robot(rest=(0.0, 3.0, 0.0, 1.0, 0.0, 0.0)), robot(strains="planar", rotation=(np.pi / 2, 0, 0)),
     robot(sp.Wrench("none", on="tool"), strains="reissner"),
     robot(sp.Tendon("pull", on="arm", offset=(0.0, 0.01), tension=3.0))],
    ids=["straight", "curved", "planar", "shearing", "tendon"],
)  # fmt: skip
def test_mujoco_finds_the_same_shape_at_rest(given):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(mjcf_of(given))
    model.opt.timestep = 2e-3
    data = mujoco.MjData(model)
    data.ctrl[:] = 3.0
    for _ in range(4000):
        mujoco.mj_step(model, data)
    assert np.abs(data.qvel).max() < 1e-2
    at_rest = sp.equilibrium(given)
    error = np.linalg.norm(data.body("tool").xpos - at_rest.position("tool"))
    assert error < SECOND_ORDER * LENGTH
    moved = np.linalg.norm(at_rest.position("tool") - data.body("link").xpos)
    assert moved > 0.2


def test_closed_loops_and_floating_bodies_load_in_mujoco():
    mujoco = pytest.importorskip("mujoco")
    from supple.robots.delta import delta

    model = mujoco.MjModel.from_xml_string(mjcf_of(delta(), 6))
    assert model.neq > 0
    free = sp.Robot(
        sp.Body(
            "b", 1.0, (1e-2, 1e-2, 1e-2), joint=sp.Free(), shape=sp.Cylinder(0.1, 0.3, axis="x")
        )
    )
    model = mujoco.MjModel.from_xml_string(mjcf_of(free))
    assert model.nq == 7


def test_stops_of_joints_are_limits_in_mujoco():
    mujoco = pytest.importorskip("mujoco")
    arms = sp.Robot(
        sp.Body("one", mass=1.0, inertia=(1, 1, 1), joint=sp.Revolute("y", lower=-0.5, upper=1.0)),
        sp.Body(
            "two", mass=1.0, inertia=(1, 1, 1), parent="one", joint=sp.Prismatic("x", upper=0.2)
        ),
        sp.Body("free", mass=1.0, inertia=(1, 1, 1), parent="two", joint=sp.Revolute("y")),
    )
    model = mujoco.MjModel.from_xml_string(mjcf_of(arms))
    assert model.jnt_limited.tolist() == [1, 1, 0]
    np.testing.assert_allclose(model.jnt_range[0], [-0.5, 1.0])
    assert model.jnt_range[1, 1] == pytest.approx(0.2)
