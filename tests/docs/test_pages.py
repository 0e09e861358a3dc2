"""The code of the documentation runs and prints what it says; the site is built without a warning."""

import dataclasses
import inspect
import re
import subprocess
import sys

import pytest

import supple as sp
from tests.docs.pages import BLOCK, PAGES, ROOT, printed

MOST_LINES, WIDTH = 15, 100


def settled(text: str) -> str:
    """Without round-off: the sign of zeros, and residuals that are nothing but that."""
    text = re.sub(r"residual \de-1[2-9]", "residual 0", text)
    return re.sub(r"-(0\.0*)(?![\d])", r" \1", text).replace("[ ", "[")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("unchecked")
def test_code_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code, promised, output in printed(page):
        if promised is not None:
            assert settled(output) == settled(promised), code


def test_the_guide_is_there():
    assert len([page for page in PAGES if page.startswith("docs/guide/")]) == 8
    assert all(BLOCK.search((ROOT / page).read_text()) for page in PAGES)


def test_three_robots_take_fifteen_lines_each():
    blocks = [code for code, _ in BLOCK.findall((ROOT / "docs/robots.md").read_text())]
    robots = [code for code in blocks if "sp.Robot(" in code]
    assert len(robots) == 3
    for code in robots:
        lines = [line for line in code.splitlines() if line.strip()]
        assert len(lines) <= MOST_LINES, code
        assert max(map(len, lines)) <= WIDTH, code


ROW = re.compile(r"^\| `(\w+)\.(\w+)` \| `(.*?)` \|", re.M)


def test_the_page_of_defaults_tells_those_of_the_code():
    rows = ROW.findall((ROOT / "docs/units.md").read_text())
    assert len(rows) > 20
    for owner, field, told in rows:
        parameters = inspect.signature(getattr(sp, owner)).parameters
        default = parameters[field].default
        if dataclasses.is_dataclass(getattr(sp, owner)):
            made = {f.name: f.default_factory for f in dataclasses.fields(getattr(sp, owner))}
            factory = made.get(field, dataclasses.MISSING)
            default = default if factory is dataclasses.MISSING else factory()
        assert repr(default) == told, f"{owner}.{field}"


def test_the_version_to_cite_is_that_of_the_package():
    assert f"version: {sp.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_site_is_built_strictly(tmp_path):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in ("index.html", "start/index.html", "guide/5-loops/index.html", "api/index.html"):
        assert (site / page).is_file(), page
    api = (site / "api" / "index.html").read_text()
    assert 'id="supple.Rod"' in api
    changes = (site / "changelog" / "index.html").read_text()
    assert "Changelog" in changes
