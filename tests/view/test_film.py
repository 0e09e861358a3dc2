"""Films: pictures of the right thing, in files that others can read."""

import subprocess

import numpy as np
import pytest
from PIL import Image

import supple as sp
from supple.view import film
from supple.view.drawing import drawing_of


@pytest.fixture(scope="module")
def run():
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(0.01), strains="planar", basis=2,
                 rotation=(0, np.pi / 2, 0), material=sp.Material(E=1e6, density=1000.0))  # fmt: skip
    robot = sp.Robot(
        rod,
        sp.Body("tool", parent="arm", mass=0.1, inertia=(2e-5, 3e-5, 4e-5)),
        sp.Tendon("pull", on="arm", offset=(0.008, 0.0), tension=sp.ramp(0.0, 0.1, 5.0)),
        sp.Wrench("push", on="arm", force=(0.0, 0.1, 0.0)),
    )
    return sp.simulate(robot, 0.2, dt=0.01)


def test_points_are_seen_where_the_camera_puts_them():
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (0.0, 2.0)])
    camera = film.Camera(corners, 1.5)
    ahead = camera.position + 2.0 * camera.axes[2]
    seen, depth = camera(np.stack([ahead, ahead + np.array([0.0, 0.0, 0.5])]))
    np.testing.assert_allclose(seen[0], 0.0, atol=1e-12)
    assert depth[0] == pytest.approx(2.0)
    assert seen[1, 0] == pytest.approx(0.0, abs=1e-12)
    assert seen[1, 1] > 0


def test_pictures_show_the_robot_and_its_motion(run):
    painter = film.Painter(drawing_of(run), "plain")
    first, last = (painter.picture(frame).astype(int) for frame in (0, len(run.t) - 1))
    assert first.shape == (film.SIZE[1], film.SIZE[0], 3)
    blue = (first[..., 2] - first[..., 0] > 30).mean()
    assert 0.01 < blue < 0.4  # the rod, in its plain color
    assert (np.abs(last - first).sum(axis=-1) > 60).mean() > 0.005


def test_films_are_written_with_their_length(run, tmp_path):
    gif = film.to_film(run, tmp_path / "run.gif", fps=20)
    with Image.open(gif) as image:
        assert image.n_frames == 5
        assert image.info["duration"] == 50
    mp4 = film.to_film(run, tmp_path / "run.mp4", fps=20, color="plain")
    said = subprocess.run([film._ffmpeg(), "-i", str(mp4)], capture_output=True, text=True).stderr
    assert "h264" in said
    assert "Duration: 00:00:00.25" in said
    with pytest.raises(sp.ArgumentError, match=r"need a name that ends in \.gif or \.mp4"):
        film.to_film(run, tmp_path / "run.avi")


def test_without_ffmpeg_it_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(sp.ArgumentError, match=r"pip install 'supple\[film\]'"):
        film.to_film(run, tmp_path / "run.mp4")
    assert not (tmp_path / "run.mp4").exists()


def test_thin_rods_are_drawn_thicker_and_told():
    thin = sp.Rod("wire", 1.0, sp.Circle(1e-4), sp.Material(E=2e11, density=7800.0), basis=1)
    painter = film.Painter(drawing_of(sp.simulate(sp.Robot(thin), 0.02, dt=0.01)), "plain")
    assert "wire drawn" in painter._thick()
    picture = painter.picture(0).astype(int)
    assert ((picture[..., 2] - picture[..., 0] > 30).sum(axis=0) >= 2).mean() > 0.4
