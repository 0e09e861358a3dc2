"""What is drawn of a run, and the page and server that show it."""

import urllib.request

import numpy as np
import pytest

import supple as sp
from supple.view.drawing import SECTIONS, SIDES, drawing_of
from supple.view.viewer import to_html, view

RADIUS, OFFSET = 5e-3, 4e-3


@pytest.fixture(scope="module")
def run():
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(RADIUS), strains="planar", basis=2,
                 material=sp.Material(E=1e8, density=1000.0))  # fmt: skip
    robot = sp.Robot(
        rod,
        sp.Body("tool", parent="arm", mass=0.1, inertia=(2e-5, 3e-5, 4e-5), com=(0.01, 0.0, 0.0)),
        sp.Tendon("pull", on="arm", offset=(OFFSET, 0.0), tension=1.0),
        sp.Spring("spring", on="tool", stiffness=1.0, to_position=(0.3, 0.1, 0.0)),
    )
    return sp.simulate(robot, 0.1, dt=0.01)


def test_skins_have_the_true_section_and_follow_the_rod(run):
    skin = drawing_of(run).skins[0]
    rings = skin.vertices.reshape(len(run.t), SECTIONS, SIDES, 3)
    np.testing.assert_allclose(rings.mean(axis=2)[:, -1], run.position("arm"), atol=1e-9)
    reach = np.linalg.norm(rings - rings.mean(axis=2, keepdims=True), axis=-1)
    np.testing.assert_allclose(reach, RADIUS, rtol=1e-9)
    # A closed surface: each edge belongs to two triangles, once each way round.
    edges = np.concatenate([skin.faces[:, [0, 1]], skin.faces[:, [1, 2]], skin.faces[:, [2, 0]]])
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert {tuple(e) for e in edges} == {tuple(e[::-1]) for e in edges}


def test_bodies_are_boxes_of_their_mass_and_moments(run):
    solid = drawing_of(run).solids[0]
    a, b, c = solid.edges
    moments = 0.1 / 12 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    np.testing.assert_allclose(np.sort(moments), [2e-5, 3e-5, 4e-5], rtol=1e-9)
    pose = run.poses["tool"]
    np.testing.assert_allclose(solid.position, pose.position + 0.01 * pose.rotation[:, :, 0])


def test_tendons_run_in_their_channels_and_springs_between_their_ends(run):
    tendon, spring = drawing_of(run).lines
    pose = run.poses["arm"]
    end = pose.position + OFFSET * pose.rotation[:, :, 1]
    np.testing.assert_allclose(tendon.points[:, -1], end, atol=1e-9)
    np.testing.assert_allclose(tendon.tension, 1.0)
    np.testing.assert_allclose(spring.points[:, 0], run.position("tool"), atol=1e-12)
    np.testing.assert_allclose(spring.points[:, 1], np.tile([0.3, 0.1, 0.0], (len(run.t), 1)))


def test_results_without_a_description_say_what_is_missing(run):
    with pytest.raises(sp.StateError, match="need a result of simulate"):
        drawing_of(sp.simulate(run.model, 0.02, dt=0.01))


def test_one_page_holds_everything(run, tmp_path, capsys):
    page = to_html(run, tmp_path / "run.html", frames=5).read_text()
    assert capsys.readouterr().out == ""  # programs read what commands print
    assert "<html" in page.lower()
    assert 'src="http' not in page


def test_the_server_answers_on_loopback_only(run):
    viewer = view(run, port=0)
    try:
        assert viewer.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(viewer.url, timeout=10) as answer:
            assert answer.status == 200
        viewer.playing.value = False
        viewer.slider.value = 3
        viewer._show()
        assert viewer.time.value == "0.030"
    finally:
        viewer.close()
