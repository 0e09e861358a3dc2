"""Names are text: never paths, never markup."""

import json

import pytest

import supple as sp
from supple.files import FileError, Settings, Simulate, load
from supple.view import to_film
from tests.cli.arm import ARM, call

STUDIES = ARM.replace(
    "simulate: {duration: 0.1, dt: 0.01}",
    "studies:\n  {name}: {{simulate: {{duration: 0.1, dt: 0.01}}}}",
)
PATHS = [
    "/somewhere/x", "../../x", "..", ".", "a/b", "a\\\\b", "C:x", ".hidden", "a\\0b", "a\\nb", "x ",
    "x.", "nul\\x1b[31m", "*", "x" * 101, "a..b", "~", "-x",
]  # fmt: skip


def with_study(name):
    return STUDIES.replace("{name}", name).replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize("name", PATHS)
def test_a_study_whose_name_is_a_path_is_refused_with_its_place(name, tmp_path, monkeypatch):
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (tmp_path / "x.run").mkdir()
    monkeypatch.chdir(inside)
    (inside / "arm.yaml").write_text(with_study(json.dumps(name.encode().decode("unicode_escape"))))
    found = call("run", "arm.yaml", "--out", "out")
    assert found.exit_code == 2
    assert "arm.yaml:12:" in found.output
    assert "need a plain name" in found.output or "need readable UTF-8" in found.output
    assert found.output.strip().isprintable()
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "arm.yaml", "b", "x.run"]


def test_studies_of_python_have_plain_names_too():
    Settings({"hold 2, slow (v1.5)": Simulate(1.0), "été": Simulate(1.0)})
    with pytest.raises(sp.DescriptionError, match="need a plain name"):
        Settings({"../x": Simulate(1.0)})
    with pytest.raises(FileError, match="need a plain name"):
        load(with_study("../x"))


MARKUP = "[/bold] :smile: <b>&amp; $x_{ {1+1}"


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    file = tmp_path_factory.mktemp("names") / "arm.yaml"
    names = ARM.replace("robot: arm", f"robot: '{MARKUP}'").replace("  arm:\n", f"  '{MARKUP}':\n")
    names = names.replace("pull: {on: arm", f"'_{MARKUP}': {{on: '{MARKUP}'")
    file.write_text(names)
    return file


def test_show_prints_names_as_they_are(marked):
    shown = call("show", marked)
    assert shown.exit_code == 0, shown.output
    for words in (f"{MARKUP}  2 degrees", f"{MARKUP}  rod", f"tendon _{MARKUP}"):
        assert words in shown.output


def test_runs_plots_and_tables_take_any_name(marked, tmp_path):
    out = tmp_path / "out"
    ran = call("run", marked, "--out", out, "--csv", "--netcdf", "--html")
    assert ran.exit_code == 0, ran.output
    assert f"tension _{MARKUP}" in (out / "simulate.csv").read_text()
    target = tmp_path / "arm.svg"
    drawn = call("plot", out, "--what", "shapes,path,position,tensions,strains", "--out", target)
    assert drawn.exit_code == 0, drawn.output
    to_film(load(marked).run(), tmp_path / "arm.gif", fps=5)


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred", "x" * 201, "\u202eabc", ""])
def test_names_are_one_line_of_text(name):
    with pytest.raises(sp.DescriptionError, match="name"):
        sp.Body(name, mass=1.0)
    if name:
        with pytest.raises(sp.DescriptionError, match="printable"):
            sp.Robot(sp.Body("bob", mass=1.0), name=name)
