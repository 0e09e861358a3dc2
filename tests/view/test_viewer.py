"""What is drawn of a run, what it is coloured by, and the server and page that show it."""

import urllib.request

import numpy as np
import pytest

import supple as sp
from supple.robot.looks import Look
from supple.view import show, to_html, view
from supple.view.bodies import ROUND, prism
from supple.view.colours import QUANTITIES, colours_of, legend_html, tension_look
from supple.view.drawing import PIECES, drawing_of
from supple.view.stage import FIELD, camera_on
from supple.view.viewer import Viewer

RADIUS, OFFSET, YOUNG = 5e-3, 4e-3, 1e8


@pytest.fixture(scope="module")
def run():
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(RADIUS), strains="planar", basis=2,
                 material=sp.Material(E=YOUNG, density=1000.0))  # fmt: skip
    robot = sp.Robot(
        rod,
        sp.Body("tool", parent="arm", mass=0.1, inertia=(2e-5, 3e-5, 4e-5), com=(0.01, 0.0, 0.0)),
        sp.Body("plate", parent="tool", mass=0.1, inertia=(2e-5, 2e-5, 4e-5)),
        sp.Tendon("pull", on="arm", offset=(OFFSET, 0.0), tension=1.0),
        sp.Spring("spring", on="tool", stiffness=1.0, to_position=(0.3, 0.1, 0.0)),
        sp.Wrench(
            "push", on="arm", at=0.5, force=(0, 0, 2.0), follower=True, law=sp.ramp(0.0, 0.1)
        ),
        sp.KnifeEdge("edge", on="tool", across="y"),
        name="arm <1>",
    )
    seen = []
    result = sp.simulate(robot, 0.1, dt=0.01, watch=seen.append)
    assert seen[-1].t[-1] == result.t[-1]  # a run can be watched
    assert seen[-1].description is robot
    return result


@pytest.fixture(scope="module")
def drawing(run):
    return drawing_of(run)


def test_rods_have_their_true_section_and_shape(run, drawing):
    rod = drawing.rods[0]
    for frame in (0, -1):
        rings = rod.skin(frame)
        assert rings.shape == (PIECES + 1, ROUND, 3)
        np.testing.assert_allclose(rings.mean(axis=1)[-1], run.position("arm")[frame], atol=1e-9)
        reach = np.linalg.norm(rings - rings.mean(axis=1, keepdims=True), axis=-1)
        np.testing.assert_allclose(reach, RADIUS, rtol=1e-9)
    assert not rod.sharp


def test_prisms_are_closed_and_show_outwards():
    square = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    vertices, faces = prism(square)
    corners = vertices[faces]
    volume = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert volume == pytest.approx(1.0)  # the divergence theorem: negative if inside out
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_allclose(area.sum(axis=0), 0.0, atol=1e-12)  # closed


def _moments(mesh, mass):
    """Mass centre and inertia (3, 3) about it, of what fills a surface, summed over tetrahedra."""
    corners = mesh[0][mesh[1]]
    volume = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    centre = np.einsum("f,fi->i", volume, corners.sum(axis=1) / 4) / volume.sum()
    corners = corners - centre
    volume = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    total = corners.sum(axis=1)
    second = np.einsum("f,fki,fkj->ij", volume, corners, corners)
    second = (second + np.einsum("f,fi,fj->ij", volume, total, total)) / 20 * mass / volume.sum()
    return centre, np.trace(second) * np.eye(3) - second


def test_bodies_look_like_their_mass_and_moments(run, drawing):
    tool, plate = drawing.solids
    centre, inertia = _moments(tool.mesh, 0.1)
    np.testing.assert_allclose(centre, (0.01, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(inertia, np.diag([2e-5, 3e-5, 4e-5]), rtol=1e-9, atol=1e-12)
    # A disc: its rim has ROUND corners, so that it is a little smaller. 4 = 2 + 2: it has no thickness.
    spread = plate.mesh[0].max(axis=0) - plate.mesh[0].min(axis=0)
    np.testing.assert_allclose(spread[:2], 2 * np.sqrt(2 * 4e-5 / 0.1), rtol=1e-9)
    assert spread[2] == pytest.approx(0.02 * 0.3)
    np.testing.assert_allclose(tool.position, run.position("tool"))


def test_looks_of_a_file_are_drawn_in_the_frame_of_their_link(run, tmp_path):
    turned = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))  # z goes to x
    (tmp_path / "flat.stl").write_text(
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
        "endloop\nendfacet\nendsolid a\n"
    )
    looks = {
        "tool": (Look("cylinder", size=(0.02, 0.3), position=(0.15, 0.0, 0.0), rotation=turned),
                 Look("mesh", str(tmp_path / "flat.stl"), (0.1, 0.1, 0.1))),
        "plate": (Look("mesh", "missing.stl", (1.0, 1.0, 1.0)),),
    }  # fmt: skip
    solids = drawing_of(run, 5, looks).solids
    assert [solid.name for solid in solids] == ["tool", "tool", "plate"]
    np.testing.assert_allclose(solids[0].mesh[0].min(axis=0), (0.0, -0.02, -0.02), atol=1e-12)
    np.testing.assert_allclose(solids[0].mesh[0].max(axis=0), (0.3, 0.02, 0.02), atol=1e-12)
    np.testing.assert_allclose(np.ptp(solids[1].mesh[0], axis=0), (0.1, 0.1, 0.0), atol=1e-7)


def test_tendons_run_in_their_channels_and_springs_between_their_ends(run, drawing):
    tendon, spring = drawing.lines
    pose = run.poses["arm"]
    end = pose.position + OFFSET * pose.rotation[:, :, 1]
    np.testing.assert_allclose(tendon.points[:, -1], end, atol=1e-9)
    np.testing.assert_allclose(tendon.tension, 1.0)
    np.testing.assert_allclose(spring.points[:, 0], run.position("tool"), atol=1e-12)
    np.testing.assert_allclose(spring.points[:, 1], np.tile([0.3, 0.1, 0.0], (len(run.t), 1)))


def test_arrows_are_the_wrenches_and_contact_forces_in_space(run, drawing):
    push, edge = drawing.arrows
    middle = run.shape("arm", 3)
    np.testing.assert_allclose(push.start, middle.position[:, 1], atol=1e-9)
    share = np.minimum(run.t / 0.1, 1.0)[:, None]
    np.testing.assert_allclose(push.vector, 2.0 * share * middle.rotation[:, 1, :, 2], atol=1e-9)
    assert (push.kind, edge.kind) == ("force", "contact")
    across = run.poses["tool"].rotation[:, :, 1]
    force = np.einsum("ti,ti->t", edge.vector, across)
    np.testing.assert_allclose(edge.vector, force[:, None] * across, atol=1e-9)
    np.testing.assert_allclose(force, run.contact("edge")[:, 4], atol=1e-9)


def test_quantities_are_those_of_beam_theory(drawing):
    """A planar rod of one curvature κ: moment E I κ, stress E r κ at the surface, no twist or stretch."""
    values = drawing.rods[0].values
    assert set(values) == set(QUANTITIES)
    curvature = values["curvature"]
    assert curvature.max() > 0.01
    second = np.pi * RADIUS**4 / 4
    np.testing.assert_allclose(values["bending moment"], YOUNG * second * curvature, rtol=1e-9)
    np.testing.assert_allclose(values["axial stress"], 1e-6 * YOUNG * RADIUS * curvature, rtol=1e-9)
    np.testing.assert_allclose(values["surface strain"], 100 * RADIUS * curvature, rtol=1e-9)
    assert not values["twist"].any()
    assert not values["stretch"].any()


def test_colours_go_from_end_to_end_and_the_legend_has_units():
    ends = colours_of("curvature", np.array([0.0, 2.0]), 2.0)
    assert ends.tolist() == [[68, 1, 84], [253, 231, 36]]
    middle = colours_of("twist", np.array([0.0]), 2.0)
    assert np.ptp(middle.astype(int)) < 5  # no twist is grey
    legend = legend_html("twist", 2.0)
    assert "twist (rad/m)" in legend
    assert "-2" in legend
    slack, taut = tension_look(0.0, 5.0), tension_look(5.0, 5.0)
    assert slack[1] < taut[1]
    assert slack[0] != taut[0]


def test_the_camera_sees_the_corners():
    low, high = np.array([0.0, -1.0, 2.0]), np.array([3.0, 0.5, 2.5])
    position, target = camera_on(low, high)
    ahead = (target - position) / np.linalg.norm(target - position)
    for corner in np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3):
        ray = corner - position
        depth = ray @ ahead
        up = np.array([0, 0, 1]) - ahead[2] * ahead
        height = abs(ray @ up) / np.linalg.norm(up)
        assert height / depth < np.tan(FIELD / 2)


def test_results_without_a_description_say_what_is_missing(run):
    with pytest.raises(sp.StateError, match="need a result of simulate"):
        drawing_of(sp.simulate(run.model, 0.02, dt=0.01))


def test_one_page_holds_everything(run, tmp_path, capsys):
    page = to_html(run, tmp_path / "run.html", frames=5).read_text()
    assert capsys.readouterr().out == ""  # programs read what commands print
    assert 'src="http' not in page
    assert "arm &lt;1&gt;" in page
    assert "curvature (1/m)" in page
    with pytest.raises(sp.StateError, match="need one of: plain, curvature"):
        to_html(run, tmp_path / "run.html", colour="pink")


def test_notebooks_show_a_table_a_picture_and_a_player(run):
    shown = run._repr_html_()
    assert "arm &lt;1&gt;" in shown
    assert "data:image/png;base64," in shown
    player = show(run, frames=5)._repr_html_()
    assert player.startswith("<iframe srcdoc=")
    assert "&lt;html" in player


def test_the_server_answers_on_loopback_only_and_controls_do_what_they_say(run):
    viewer = view(run, port=0)
    try:
        assert viewer.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(viewer.url, timeout=10) as answer:
            assert answer.status == 200
        viewer.pause()
        viewer.seek(0.03)
        assert viewer.frame == 3
        stage = viewer.stage
        np.testing.assert_allclose(stage.solids[0].position, run.position("tool")[3])
        np.testing.assert_allclose(
            stage.rods[0].handle.batched_positions,
            stage.drawing.rods[0].position[3, 1::2],
            atol=1e-6,
        )
        viewer.colours.value = "axial stress"
        assert "MPa" in viewer.legend.content
        assert stage.rods[0].handle.batched_colors.shape == (PIECES, 3)
        viewer.layers["frames"].value = True
        assert stage.layers["frames"].visible
        viewer.loop.value = False
        viewer.seek(0.1)
        viewer.pause(False)
        assert viewer.playing  # from the beginning again
        assert viewer.time.value < 0.1
    finally:
        viewer.close()


def test_a_viewer_follows_a_run_that_is_computed(run):
    viewer = Viewer("arm", port=0)
    try:
        result = sp.simulate(run.description, 0.05, dt=0.01, watch=viewer.watch)
        assert len(viewer.stage.drawing.t) == 1
        np.testing.assert_allclose(viewer.stage.solids[0].position, result.position("tool")[-1])
        viewer.play(result)
        assert len(viewer.stage.drawing.t) == len(result.t)
    finally:
        viewer.close()
