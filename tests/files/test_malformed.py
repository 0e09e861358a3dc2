"""Malformed files end in one kind of error that tells the place, the value and the cure."""

import pytest

from supple.errors import DescriptionError
from supple.files import FileError, load
from tests.files.malformed import CASES, GOOD, changed

pytestmark = pytest.mark.usefixtures("unchecked")  # users meet our messages, not beartype's


def message(text: str) -> str:
    with pytest.raises(FileError) as error:
        load(text)
    return str(error.value)


def test_the_good_file_is_good():
    assert load(GOOD).robot.name == "arm"


@pytest.mark.parametrize("name", CASES)
def test_malformed(name):
    text, parts = CASES[name]
    found = message(text)
    for part in parts:
        assert part in found
    assert "got " in found
    assert "need " in found


def test_several_at_once():
    text = changed("length: 0.24", "length: long").replace("mass: 0.05", "mas: 1, inertia: 3")
    with pytest.raises(FileError) as error:
        load(text)
    assert [p.path for p in error.value.problems] == [
        "rods.backbone.length",
        "bodies.tool.mass",
        "bodies.tool.mas",
        "bodies.tool.inertia",
    ]
    assert str(error.value).count("\n") == 3


WRONG_IN_EVERY_PHASE = """\
materials:
  jelly: {E: 30 kPa, density: 1000}
rods:
  arm: {length: 0.5, section: {circle: 0.01}, material: jelly, parent: shoulder}
  leg: {length: 5 mm, section: {circle: 0.001}, material: jelly}
bodies:
  tool: {parent: arm, mass: -1}
  hook: {parent: leg, mass: 0.1}
wrenches:
  push: {on: tool, force: [0, 0, 1]}
  pull: {on: tol, force: [0, 0, 1]}
simulate: {duration: -3}
release: {loads: pulll, duration: 1}
outputs:
  tip: {position: amr}
  heat: {energy: thermal}
"""


def test_all_that_is_wrong_is_told_across_phases_and_nothing_that_follows_from_it():
    with pytest.raises(FileError) as error:
        load(WRONG_IN_EVERY_PHASE)
    assert [(p.path, str(p.got)) for p in error.value.problems] == [
        ("materials.jelly.E", "30 kPa"),
        ("rods.arm.parent", "shoulder"),
        ("rods.leg.length", "5 mm"),
        ("bodies.tool.mass", "-1.0"),
        ("wrenches.pull.on", "tol"),
        ("simulate.duration", "-3.0"),
        ("release.loads", "pulll"),
        ("outputs.tip.position", "amr"),
        ("outputs.heat.energy", "thermal"),
    ]


@pytest.mark.parametrize(
    ("study", "path"),
    [
        ("{duration: -3}", "simulate.duration"),
        ("{duration: 1, dt: 0}", "simulate.dt"),
        ("{duration: 1, accuracy: -1}", "simulate.accuracy"),
        ("{duration: 1, dt: 0.1, accuracy: 1e-3}", "simulate.accuracy"),
        ("{duration: 1, t_eval: -0.1}", "simulate.t_eval"),
    ],
)
def test_runs_that_cannot_be_are_refused_before_they_run(study, path):
    assert f"{path}: got " in message(changed("{duration: 2.0, dt: 0.0167}", study))


def test_errors_of_items_are_told_together():
    text = changed("length: 0.24", "length: -1").replace("mass: 0.05", "mass: -2")
    with pytest.raises(FileError) as error:
        load(text)
    assert [(p.path, p.got) for p in error.value.problems] == [
        ("rods.backbone.length", -1.0),
        ("bodies.tool.mass", -2.0),
    ]


def test_many_problems_are_counted():
    bodies = "".join(f"  b{i}: {{mass: -1}}\n" for i in range(50))
    found = message(f"robot: arm\nbodies:\n{bodies}")
    assert found.count("\n") == 20
    assert found.endswith("and 30 more")


def test_it_is_a_description_error():
    with pytest.raises(DescriptionError) as error:
        load(changed("length: 0.24", "length: -1"))
    assert error.value.field == "rods.backbone.length"
    assert error.value.got == -1.0
    assert error.value.need == "a finite number > 0"


def test_positions_of_aliased_values():
    text = changed("{E: 2e11, density: 7800}", "&steel {E: -2e11, density: 7800}")
    text = text.replace("material: steel", "material: *steel").replace(
        "materials:", "unused: 1\nmaterials:"
    )
    assert "text:6:18: materials.steel.E: got -2e+11" not in message(
        text
    )  # the unknown name comes first
    text = text.replace("unused: 1\n", "")
    assert "text:5:21: materials.steel.E: got -200000000000.0" in message(text)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda path: path / "missing.yaml", ("missing.yaml: got No such file",)),
        (lambda path: path, ("got Is a directory",)),
    ],
)
def test_unreadable_files(tmp_path, make, parts):
    with pytest.raises(FileError) as error:
        load(make(tmp_path))
    assert all(part in str(error.value) for part in parts)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_bytes(b"robot: \xff\xfe\n")
    with pytest.raises(FileError, match="UTF-8"):
        load(path)
