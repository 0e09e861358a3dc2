"""The gallery says what the examples check now, and keeps small pictures of all of them."""

import numpy as np
import pytest
from PIL import Image

import supple as sp
from examples import _gallery
from examples._gallery import DOCS, KEPT, LARGEST, LARGEST_FILM, names, page
from examples._render import CHROMIUM, caught, render


def test_the_page_is_that_of_the_present_examples():
    need = "run python -m examples._gallery --page"
    assert (DOCS / "gallery.md").read_text() == page(), need


def test_pictures_are_small():
    films = [*KEPT.glob("*-film.webp")]
    pictures = {*KEPT.glob("*.png"), *KEPT.glob("*.webp")} - {*films}
    assert pictures
    assert max(picture.stat().st_size for picture in pictures) < LARGEST
    assert max(film.stat().st_size for film in films) < LARGEST_FILM
    known = {name.replace("/", "-") for name in names()}
    assert {picture.stem.removesuffix("-robot") for picture in pictures} <= known
    assert {film.stem.removesuffix("-film") for film in films} <= known


@pytest.mark.skipif(CHROMIUM is None, reason="apt-get install chromium")
def test_robots_are_rendered_from_what_examples_compute(tmp_path):
    """What an example simulates or brings to rest is caught, and the robot is on the picture."""
    rod = sp.Rod("arm", 0.3, sp.Circle(0.01), sp.Material(E=1e6, density=1e3), strains="planar",
                 basis=1)  # fmt: skip
    simulate = sp.simulate
    with caught() as runs:
        sp.equilibrium(sp.Robot(rod, gravity=(0, -9.81, 0)).build())
        sp.simulate(sp.Robot(rod, sp.Body("tool", 0.01, parent="arm")), 0.02, dt=0.01)
    assert sp.simulate is simulate
    assert [len(run.t) for run in runs] == [1, 3]
    for some in (runs[:1], runs):
        assert render(some, tmp_path / "robot.png")
        pixels = np.asarray(Image.open(tmp_path / "robot.png").convert("RGB")).astype(int)
        colored = np.ptp(pixels, axis=-1) > 60
        assert 0.003 < colored.mean() < 0.5
    assert not render([], tmp_path / "none.png")


def test_what_is_older_than_its_example_is_told(monkeypatch):
    monkeypatch.setattr(_gallery, "source", lambda name: "another")
    assert "Of an earlier version; `python -m examples._gallery demo` renews it." in page()
