"""What is drawn of a run, what it is colored by, and the server and page that show it."""

import json
import urllib.error
import urllib.request
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import pytest

import supple as sp
from supple.robot.meshes import ROUND
from supple.view import show, to_html, view
from supple.view.camera import FIELD, FILL, camera_axes, camera_on, outermost
from supple.view.colors import QUANTITIES, colors_of, table_of, tension_look
from supple.view.drawing import drawing_of
from supple.view.places import STATIONS
from supple.view.scene import quaternions, scene_of
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
            "push", on="arm", fraction=0.5, force=(0, 0, 2.0), follower=True, law=sp.ramp(0.0, 0.1)
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
        assert rings.shape == (STATIONS, ROUND, 3)
        np.testing.assert_allclose(rings.mean(axis=1)[-1], run.position("arm")[frame], atol=1e-9)
        reach = np.linalg.norm(rings - rings.mean(axis=1, keepdims=True), axis=-1)
        np.testing.assert_allclose(reach, RADIUS, rtol=1e-9)
    assert not rod.sharp


def _moments(mesh, mass):
    """Mass center and inertia (3, 3) about it, of what fills a surface, summed over tetrahedra."""
    corners = mesh[0][mesh[1]]
    volume = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    center = np.einsum("f,fi->i", volume, corners.sum(axis=1) / 4) / volume.sum()
    corners = corners - center
    volume = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    total = corners.sum(axis=1)
    second = np.einsum("f,fki,fkj->ij", volume, corners, corners)
    second = (second + np.einsum("f,fi,fj->ij", volume, total, total)) / 20 * mass / volume.sum()
    return center, np.trace(second) * np.eye(3) - second


def test_bodies_look_like_their_mass_and_moments(run, drawing):
    tool, plate = (solid for solid in drawing.solids if solid.kind == "body")
    center, inertia = _moments(tool.mesh, 0.1)
    np.testing.assert_allclose(center, (0.01, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(inertia, np.diag([2e-5, 3e-5, 4e-5]), rtol=1e-9, atol=1e-12)
    # A disc: its rim has ROUND corners, so that it is a little smaller. 4 = 2 + 2: it has no thickness.
    spread = plate.mesh[0].max(axis=0) - plate.mesh[0].min(axis=0)
    np.testing.assert_allclose(spread[:2], 2 * np.sqrt(2 * 4e-5 / 0.1), rtol=1e-9)
    assert spread[2] == pytest.approx(0.02 * 0.3)
    np.testing.assert_allclose(tool.position, run.position("tool"))


def test_tendons_run_in_their_channels_and_springs_between_their_ends(run, drawing):
    tendon, spring = drawing.lines
    pose = run.poses["arm"]
    end = pose.position + OFFSET * pose.rotation[:, :, 1]
    np.testing.assert_allclose(tendon.points[:, -1], end, atol=1e-9)
    np.testing.assert_allclose(tendon.tension, 1.0)
    np.testing.assert_allclose(spring.points[:, 0], run.position("tool"), atol=1e-12)
    np.testing.assert_allclose(spring.points[:, -1], np.tile([0.3, 0.1, 0.0], (len(run.t), 1)))


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


def test_colors_go_from_end_to_end():
    ends = colors_of("curvature", np.array([0.0, 2.0]), 2.0)
    assert ends.tolist() == [[68, 1, 84], [253, 231, 36]]
    middle = colors_of("twist", np.array([0.0]), 2.0)
    assert np.ptp(middle.astype(int)) < 5  # no twist is gray
    slack, taut = tension_look(0.0, 5.0), tension_look(5.0, 5.0)
    assert slack[1] < taut[1]
    assert slack[0] != taut[0]
    table = table_of("curvature")
    assert (table[0].tolist(), table[-1].tolist()) == ([68, 1, 84], [253, 231, 36])
    assert table_of("tension")[-1].tolist() == list(taut[0])


def test_round_off_has_no_color(run):
    still = sp.simulate(run.description.removing("pull", "push", "spring"), 0.02, dt=0.01)
    stretch = replace(still.stretches[0], q=still.q * 0 + 1e-13)
    noisy = drawing_of(replace(still, stretches=(stretch,)))
    assert noisy.largest("curvature") == 0.0


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.5])
def test_the_camera_sees_all_and_nothing_wasted(aspect):
    """Every point is inside the picture, and some reach both edges of its width or of its height."""
    points = np.random.default_rng(1).normal(size=(200, 3)) * [0.2, 0.5, 1.5] + [3.0, 0.0, 1.0]
    few = outermost(points)
    assert len(few) < 100
    position, target = camera_on(few, aspect)
    axes = camera_axes()
    np.testing.assert_allclose(
        (position - target) / np.linalg.norm(position - target), axes[2], atol=1e-12
    )
    seen = (points - position) @ axes.T
    picture = seen[:, :2] / -seen[:, 2:] / np.tan(FIELD / 2) / [aspect, 1.0]
    assert np.abs(picture).max() == pytest.approx(FILL, rel=1e-2)
    ends = picture.min(axis=0), picture.max(axis=0)
    assert np.any(np.abs(ends[0] + ends[1]) < 2e-2)  # to both sides alike


def test_results_without_a_description_say_what_is_missing(run):
    with pytest.raises(sp.ArgumentError, match="need a result of simulate"):
        drawing_of(sp.simulate(run.model, 0.02, dt=0.01))


def test_one_page_holds_everything(run, tmp_path, capsys):
    page = to_html(run, tmp_path / "run.html", frames=5).read_text()
    assert capsys.readouterr().out == ""  # programs read what commands print
    assert 'src="http' not in page
    assert "arm &lt;1&gt;" in page
    assert len(page) < 1_000_000
    with pytest.raises(sp.ArgumentError, match="need one of: plain, curvature"):
        to_html(run, tmp_path / "run.html", color="pink")


def test_notebooks_show_a_table_a_picture_and_a_player(run):
    shown = run._repr_html_()
    assert "arm &lt;1&gt;" in shown
    assert "data:image/png;base64," in shown
    player = show(run, frames=5)._repr_html_()
    assert player.startswith("<iframe srcdoc=")
    assert "&lt;html" in player


def _posted(url, body, kind="application/json"):
    own = "http://" + url.split("/")[2]
    request = urllib.request.Request(f"{url}do", body, {"Content-Type": kind, "Origin": own})
    try:
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_server_answers_on_loopback_only_and_hears_only_its_page(run):
    viewer = view(run, port=0)
    heard = []
    viewer.server.hear = heard.append
    try:
        assert viewer.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(viewer.url, timeout=10) as answer:
            assert b"arm &lt;1&gt;" in answer.read()
        with urllib.request.urlopen(f"{viewer.url}scene", timeout=10) as answer:
            scene = json.load(answer)
        assert scene["frames"] == ["arm", "tool", "plate"]
        assert len(scene["t"]) == len(run.t)
        assert _posted(viewer.url, b'{"pause": true}') == 200
        assert heard == [{"pause": True}]
        assert (
            _posted(viewer.url, b'{"pause": true}', "text/plain") == 400
        )  # a form of another page
        assert _posted(viewer.url, b"{") == 400
        assert len(heard) == 1
        other = view(run, port=urlsplit(viewer.url).port)  # taken: the next one
        other.close()
        assert urlsplit(other.url).port != urlsplit(viewer.url).port
    finally:
        viewer.close()


def test_a_viewer_follows_a_run_that_is_computed(run):
    viewer = Viewer("arm", port=0)
    try:
        result = sp.simulate(run.description, 0.05, dt=0.01, watch=viewer.watch)
        assert len(viewer.drawing.t) == 1
        viewer.watch(result)
        np.testing.assert_allclose(
            viewer.drawing.solids[0].position[0], result.position("tool")[-1]
        )
        count, news = viewer.server.since(0)
        assert [kind for kind, _ in news] == ["scene", "moving"]
        viewer.play(result)
        assert len(viewer.drawing.t) == len(result.t)
        assert [kind for kind, _ in viewer.server.since(count)[1]] == ["scene"]
    finally:
        viewer.close()


def test_turns_have_no_jumps_in_time():
    angle = np.linspace(0.0, 12.0, 100)
    rotation = np.array(
        [[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in angle]
    )
    turns = quaternions(rotation)
    assert np.abs(np.diff(turns, axis=0)).max() < 0.1


def test_items_tell_their_numbers(run, drawing):
    scene = scene_of(drawing)
    told = {(number["item"], number["name"]): number for number in scene["numbers"]}
    assert told["pull", "tension"]["unit"] == "N"
    assert told["tool", "position"]["parts"] == ("x", "y", "z")
    by_name = {(n.item, n.name): n.values for n in drawing.numbers}
    np.testing.assert_allclose(by_name["pull", "tension"][:, 0], run.tendon("pull").tension)
    np.testing.assert_allclose(by_name["arm", "tip"], run.position("arm"))
    plots = {plot.title: plot for plot in drawing.plots}
    assert set(plots) >= {"Tensions", "Energy"}
    np.testing.assert_allclose(plots["Energy"].curves["kinetic"], run.energies.kinetic)


def test_pins_come_out_of_the_bodies_they_hold():
    box = sp.Body(
        "box", 1.0, (0.01, 0.01, 0.01), joint=sp.Revolute("y"), shape=sp.Box((0.2, 0.4, 0.2))
    )
    solids = drawing_of(sp.simulate(sp.Robot(box), 0.02, dt=0.01)).solids
    (pin,) = (solid for solid in solids if solid.kind == "joint")
    assert pin.mesh[0][:, 1].max() > 0.2
    assert np.abs(pin.mesh[0][:, [0, 2]]).max() < 0.05


def test_rods_of_unknown_section_hold_their_chambers():
    given = sp.GivenProperties(stiffness=(1.0,) * 6, inertia=(1e-6,) * 3 + (0.1,) * 3)
    rod = sp.Rod("rod", 0.2, properties=given, basis=1)
    air = sp.Chamber("air", on="rod", area=1e-4, offset=(0.01, 0.0), pressure=1e3)
    drawing = drawing_of(sp.simulate(sp.Robot(rod, air, gravity=(0, 0, 0)), 0.02, dt=0.01))
    assert drawing.rods[0].reach > 0.01 + np.sqrt(1e-4 / np.pi)
    np.testing.assert_allclose(drawing.chambers[0].values["pressure"], 1.0)
    middle = drawing.chambers[0].skin(0).mean(axis=1)
    np.testing.assert_allclose(middle[:, 1], 0.01, atol=1e-9)
