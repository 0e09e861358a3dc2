"""The public names: what `import supple as sp` offers, and that the documentation lists it."""

import enum
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import supple as sp
from supple.files import load

API = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
LISTED = set(re.findall(r"^::: (supple\.[\w.]+)$", API, re.M))
MODULES = {"files", "identify", "plot", "view"}


def test_the_version_is_that_of_the_package():
    assert sp.__version__ == importlib.metadata.version("supple")


def test_a_file_is_loaded_from_the_front_door():
    assert sp.load is load
    arm = "rods:\n  arm: {length: 1, section: {circle: 0.01}, material: {E: 1e9, density: 1e3}}\n"
    assert sp.load(arm).robot["arm"].length == 1.0


def test_every_public_name_is_on_the_page_of_the_api():
    missing = {
        f"supple.{name}" for name in dir(sp) if name not in MODULES and name != "__version__"
    } - LISTED
    assert missing - {"supple.load"} == set()
    for module in ("files", "identify", "view"):
        source = getattr(sp, module)
        inside = {
            name for name, value in vars(source).items()
            if name[0] != "_" and getattr(value, "__module__", "").startswith(source.__name__)
        }  # fmt: skip
        assert {f"supple.{module}.{name}" for name in inside} - LISTED == set()


@pytest.mark.parametrize("name", sorted(LISTED))
def test_the_page_lists_what_exists_and_says_what_it_is(name):
    found = sp
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    assert found.__doc__


def test_names_are_spelt_as_in_the_ecosystem():
    assert [n for n in dir(sp) if re.search(r"(is|ys)(e|ed|ation)$", n, re.I)] == []


def test_errors_have_one_base():
    names = [n for n in dir(sp) if n.endswith("Error")]
    assert len(names) == 5
    for name in names:
        assert issubclass(getattr(sp, name), sp.SuppleError)
    assert not issubclass(sp.StoreError, sp.ArgumentError)


@pytest.mark.parametrize(
    "kind", [sp.Status, sp.EquilibriumStatus, sp.BranchStatus, sp.InverseStaticsStatus]
)
def test_statuses_are_of_one_style(kind):
    assert issubclass(kind, enum.IntEnum)
    assert any(status.ok for status in kind)
    assert not all(status.ok for status in kind)
    assert len({status.message for status in kind}) == len(kind)


def test_what_takes_long_to_import_waits_until_it_is_asked_for():
    code = (
        "import sys, supple as sp; assert not {'pydantic', 'supple.view'} & set(sys.modules); "
        "sp.view.to_html, sp.load, sp.identify.fit_shape"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
