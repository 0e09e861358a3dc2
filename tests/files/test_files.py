"""Whole files: templates, parameters, studies, the schema for editors."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import supple as sp
import supple.files
from supple.files import FileError, Settings, dump, json_schema, load
from supple.files.items import ITEMS
from supple.files.reference import renewed
from supple.files.schema import STUDIES
from supple.files.text import parse
from supple.robots.bird_neck import bird_neck
from supple.robots.rfrfr import rfrfr
from supple.robots.stewart import LENGTH, stewart_gough
from tests.files.everything import ROBOTS
from tests.files.malformed import CASES, GOOD

TEMPLATES = sorted((Path(supple.files.__file__).parent / "templates").glob("*.yaml"))


BUILDS_SLOWLY = "stewart-gough"  # closed loops with growing rods: half a minute of compilation


@pytest.mark.parametrize("path", TEMPLATES, ids=[path.stem for path in TEMPLATES])
def test_templates_load_and_build(path):
    found = load(path)
    assert found.settings.studies["simulate"].duration > 0
    assert found.settings.outputs
    assert load(dump(found.robot)).robot == found.robot
    if path.stem != BUILDS_SLOWLY:
        assert found.robot.build().nv > 0


@pytest.mark.slow
def test_the_stewart_platform_builds():
    assert template(BUILDS_SLOWLY).robot.build().nv == 60


def template(name: str):
    return load(next(path for path in TEMPLATES if path.stem == name))


def test_the_template_is_the_robot_of_the_catalogue():
    assert template("rfrfr").robot == rfrfr()
    for joints in (3, 4):
        assert template(f"bird-neck-{joints}").robot == bird_neck(joints, controlled=True)


def test_the_template_of_the_stewart_platform_has_its_geometry():
    """The holes are where the catalogue's are, to round-off: other formulas give the same points."""
    drawn, built = template("stewart-gough").robot, stewart_gough()
    for item in built.items:
        same = drawn[item.name]
        for field in ("position", "to_position", "rotation", "to_rotation"):
            if hasattr(item, field):
                np.testing.assert_allclose(getattr(same, field), getattr(item, field), atol=1e-15)
    assert drawn["leg 1"].length == LENGTH


def test_parameters_are_replaced():
    found = load(GOOD, parameters={"radius": 0.003})
    assert found.robot["backbone"].section.radius == 0.003
    assert found.with_parameters(radius=0.004).robot["backbone"].section.radius == 0.004
    assert load(GOOD).parameters == {"radius": 0.002}
    with pytest.raises(FileError, match=r"parameters: got 'length'; need one of: radius"):
        load(GOOD, parameters={"length": 1.0})


def test_parameters_of_parameters_and_in_formulas():
    text = GOOD.replace("{radius: 0.002}", "{half: 1e-3, radius: 2*$half, pull: 5}")
    text = text.replace('"5*min(t, 1)"', '"$pull*min(t, 1)"')
    robot = load(text).robot
    assert robot["backbone"].section.radius == 0.002
    assert robot["left"].tension == sp.Expression("5.0*min(t, 1)", "t")


def test_items_are_in_the_order_of_the_file():
    assert [item.name for item in load(GOOD).robot.items] == ["backbone", "tool", "left"]
    ordered = load(GOOD + "order: [left, tool]\n").robot
    assert [item.name for item in ordered.items] == ["left", "tool", "backbone"]


def test_short_and_long_forms_are_the_same():
    short = load(GOOD.replace("{circle: {radius: $radius}}", "{circle: $radius}")).robot
    assert short == load(GOOD).robot


def test_aliases_share_what_is_written_once():
    text = GOOD.replace("material: steel", "material: &m {E: 1e9, density: 1}").replace(
        "bodies:", "  twig: {length: 1, section: {circle: 1}, material: *m}\nbodies:"
    )
    robot = load(text).robot
    assert robot["twig"].material == robot["backbone"].material == sp.Material(E=1e9, density=1.0)


def test_the_schema_knows_every_section_and_accepts_short_forms():
    schema = json_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert set(ITEMS) | set(STUDIES) | {"robot", "urdf", "order", "outputs"} <= set(
        schema["properties"]
    )
    assert schema["additionalProperties"] is False
    rod = schema["$defs"]["Rod"]
    assert rod["required"] == ["length"]
    assert rod["properties"]["length"]["description"] == "a number, the length (m)"


def test_what_can_be_loaded_fits_the_schema():
    validator = jsonschema.Draft202012Validator(json_schema())
    for path in TEMPLATES:
        validator.validate(load(path).source.data)
    for name, robot in ROBOTS.items():
        assert validator.is_valid(parse(dump(robot), name).data), name


@pytest.mark.parametrize(
    "name", ["unknown section", "unknown field", "missing field", "unknown scheme"]
)
def test_what_is_malformed_does_not_fit_the_schema(name):
    data = parse(CASES[name][0], name).data
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(data)


def test_studies_run_and_report():
    """One small rod: every kind of study, from the file alone."""
    text = """\
robot: pendulum
parameters: {mass: 0.5}
bodies:
  bob:
    mass: $mass
    inertia: [1e-3, 1e-3, 1e-3]
    com: [0.2, 0, 0]
    joint: {revolute: {axis: y, stiffness: 3}}
wrenches:
  push: {on: bob, position: [0.2, 0, 0], force: [0, 0, 1]}
simulate: {duration: 0.05, dt: 0.01, initial: {joints: {bob: 0.1}, joint_rates: {bob: 2}}}
studies:
  hold: statics
  heavier: {sweep: {parameter: mass, values: [0.5, 1]}}
  ring: {modes: {at: equilibrium}}
  drop: {release: {loads: push, duration: 0.02, dt: 0.01}}
outputs:
  angle: {joint: bob}
  place: {position: bob}
  energy: {energy: total}
"""
    found = load(text)
    result = found.run("simulate")
    reported = found.reported(result)
    assert reported["angle"][0] == 0.1
    assert result.v[0, 0] == 2.0
    assert reported["energy"].shape == (6,)
    hold = found.run("hold")
    # Turning about +y lowers the bob: its weight less the push, against the spring.
    angle, arm = float(hold.q[0]), 0.2 * (0.5 * 9.81 - 1.0)
    assert 3.0 * angle == pytest.approx(arm * np.cos(angle), rel=1e-9)
    lighter, heavier = found.run("heavier")
    assert lighter.q[0] == pytest.approx(angle, rel=1e-9)
    assert heavier.q[0] > lighter.q[0]
    inertia = 1e-3 + 0.5 * 0.2**2
    stiffness = 3.0 + arm * np.sin(angle)
    assert found.run("ring").frequencies[0] == pytest.approx(
        np.sqrt(stiffness / inertia) / 2 / np.pi
    )
    assert found.run("drop").q[0, 0] == pytest.approx(angle, rel=1e-9)
    with pytest.raises(sp.DescriptionError, match="one of: simulate, hold"):
        found.run("nothing")
    with pytest.raises(sp.ArgumentError, match="need one of: bob"):
        load(text.replace("joints: {bob", "joints: {box")).run("simulate")
    with pytest.raises(sp.ArgumentError, match="got 2 numbers; need 1"):
        load(text.replace("{bob: 0.1}", "{bob: [0.1, 0.2]}")).run("simulate")


def test_the_page_has_the_present_reference():
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    assert renewed(page) == page, "run python -m supple.files.reference docs/files.md"


def test_the_example_of_the_page(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    found = load(page.split("```yaml\n")[1].split("```")[0])
    assert found.robot["backbone"].section == sp.Circle(0.002)
    assert set(found.settings.outputs) == {"tip"}


def test_settings_of_nothing():
    assert load(dump(sp.Robot(sp.Body("a", mass=1.0)))).settings == Settings()
