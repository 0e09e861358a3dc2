"""The viewer, the live mode and the exported page in a real browser: Debian's Chromium, driven by Playwright.

What is on the canvas is sampled: `supple`, the page's player, tells where points of the robot are seen.
"""

import io
import shutil
import time

import numpy as np
import pytest

import supple as sp
from supple.view import live, show, to_html, view
from supple.view.colors import FULL, colors_of
from supple.view.drawing import drawing_of

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="apt-get install chromium")
SIZE = {"width": 1000, "height": 500}
SOFTWARE = ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader",
            "--ignore-gpu-blocklist"]  # fmt: skip
PATIENCE = 30.0
PULL = 60.0
NEAR = 8
"""Levels of 256 that a color may be off: the browser's rounding, and the slope of the surface in a pixel."""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport=SIZE, offline=False)
    page = context.new_page()
    page.said = []
    page.on("pageerror", lambda error: page.said.append(str(error)))
    yield page
    assert page.said == []
    context.close()


def rod(radius=0.02, **fields):
    return sp.Rod("arm", length=0.3, section=sp.Circle(radius), strains="planar", basis=2,
                  rotation=(0, np.pi / 2, 0),
                  material=sp.Material(E=2e6, density=1000.0, damping=sp.StiffnessDamping(0.05)),
                  **fields)  # fmt: skip


def robot():
    return sp.Robot(
        rod(),
        sp.Body("ball", parent="arm", mass=0.01, shape=sp.Sphere(0.03), position=(0.03, 0, 0)),
        sp.Tendon("pull", on="arm", offset=(0.015, 0.0), tension=sp.ramp(0.0, 0.3, PULL)),
        name="arm",
    )


@pytest.fixture(scope="module")
def run():
    return sp.simulate(robot(), 0.5, dt=0.01)


@pytest.fixture(scope="module")
def file(run, tmp_path_factory):
    return to_html(run, tmp_path_factory.mktemp("page") / "run.html", frames=len(run.t))


@pytest.fixture
def played(page, file):
    """The exported page, standing still at its beginning."""
    page.goto(file.as_uri())
    ready(page)
    page.evaluate("supple.play(false); supple.seek(0)")
    return page


def ready(page):
    # Evaluated from outside: pages of the server run no code but their own.
    shown = "Boolean(window.supple?.scene && supple.shown)"
    wait_for(lambda: page.evaluate(shown), "picture")


def picture(page):
    """The canvas as bytes (height, width, 3), once it shows what was asked for."""
    from PIL import Image

    page.evaluate("new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)))")
    shot = page.locator("#canvas").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def colored(page):
    """Which pixels have a color: those of rods; all else is gray, without the axes of the ground."""
    pixels = picture(page)
    return pixels.max(axis=-1) - pixels.min(axis=-1) > 60


def wait_for(condition, what):
    """Look until something is so."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"no {what}"
        time.sleep(0.02)


def hide(page, *layers):
    for layer in layers:
        page.get_by_label(layer, exact=True).uncheck()


def seen(page, point):
    return page.evaluate("p => supple.camera.seen(p)", [float(x) for x in point])


def test_colors_are_those_of_the_scale(played, run):
    """Where the rod faces the camera it has the color that the scale gives the value there."""
    page, drawing = played, drawing_of(run, len(run.t))
    strand = drawing.rods[0]
    page.get_by_label("rods by").select_option("axial stress")
    hide(page, "tendons", "bodies", "ground", "joints")
    worst = 0.0
    for frame in (0, len(run.t) // 2, len(run.t) - 1):
        page.evaluate("t => supple.seek(t)", float(run.t[frame]))
        pixels, eye = picture(page), np.array(page.evaluate("supple.camera.eye"))
        values = strand.values["axial stress"][frame]
        wanted = colors_of("axial stress", values, drawing.largest("axial stress"))
        for station in range(6, len(values) - 6, 4):
            center, along = strand.position[frame, station], strand.rotation[frame, station, :, 0]
            towards = eye - center
            towards = towards - along * (towards @ along)  # the nearest line of the surface
            if np.linalg.norm(towards) < 0.97 * np.linalg.norm(eye - center):
                continue  # seen at an angle: darker
            x, y, _ = seen(page, center + 0.02 * towards / np.linalg.norm(towards))
            worst = max(worst, np.abs(pixels[round(y), round(x)] - wanted[station]).max())
    assert worst <= NEAR
    assert "rgb(68, 1, 84)" in page.locator(".scale i").first.get_attribute("style")


def test_bodies_and_rods_of_one_frame_are_drawn_together(page, file):
    """While it plays, the ball is always at the tip of the rod, to a pixel."""
    page.goto(file.as_uri())
    ready(page)
    hide(page, "tendons", "ground", "joints")
    page.get_by_label("rods by").select_option("plain")
    places = []
    for _ in range(8):
        pixels = picture(page)
        blue = pixels[..., 2] - pixels[..., 0] > 40
        gray = (pixels.max(axis=-1) - pixels.min(axis=-1) < 30) & (pixels.max(axis=-1) < 200)
        rods, balls = np.argwhere(blue), np.argwhere(gray)
        assert len(rods) > 300
        assert len(balls) > 300
        apart = np.linalg.norm(rods[:, None] - balls[None, ::7], axis=-1).min()
        assert apart < 6
        places.append(balls.mean(axis=0))
    assert np.ptp(places, axis=0).max() > 20  # it moved meanwhile


def test_the_camera_fits_the_robot(played, run):
    """All of the run is inside, and fills most of the view's width or height."""
    points = np.array([seen(played, p)[:2] for p in drawing_of(run, 60).points[::37]])
    size = np.array(played.evaluate("supple.camera.size"))
    assert np.all(points > 0)
    assert np.all(points < size)
    assert (np.ptp(points, axis=0) / size).max() > 0.8


def test_controls_of_the_page(played, run):
    page = played
    page.get_by_text("curvature (1/m)").wait_for()
    page.get_by_label("rods by").select_option("bending moment")
    page.get_by_text("bending moment (N m)").first.wait_for()
    hide(page, "ground", "tendons", "bodies", "joints")
    assert colored(page).sum() > 300
    hide(page, "rods")
    assert not colored(page).any()
    page.get_by_label("rods", exact=True).check()
    page.get_by_label("names", exact=True).check()
    page.locator("#labels span", has_text="ball").wait_for()
    before = page.evaluate("supple.camera.eye")
    page.mouse.move(300, 200)
    page.mouse.down()
    page.mouse.move(360, 230, steps=3)
    page.mouse.up()
    page.mouse.wheel(0, 300)
    assert not np.allclose(page.evaluate("supple.camera.eye"), before)
    page.get_by_role("button", name="Fit").click()
    np.testing.assert_allclose(page.evaluate("supple.camera.eye"), before, atol=1e-9)
    page.get_by_label("follow").select_option("arm")
    page.get_by_label("time").fill("0.5")
    moved = run.position("arm")[-1] - run.position("arm")[0]
    after = np.array(page.evaluate("supple.camera.eye"))
    np.testing.assert_allclose(after - before, moved, atol=1e-5)
    page.get_by_role("button", name="Play").click()
    wait_for(lambda: 0 < page.evaluate("supple.scene.time") < 0.5, "motion")
    page.get_by_role("button", name="Pause").click()
    still = page.evaluate("supple.scene.time")
    time.sleep(0.1)
    assert page.evaluate("supple.scene.time") == still


def test_a_graphics_card_that_forgets_is_told_again(played):
    """A lost context (a laptop that slept, a notebook with many players) comes back as it was."""
    page = played
    page.get_by_label("rods by").select_option("plain")
    hide(page, "ground")
    before = picture(page)
    page.evaluate(
        "window.card = supple.painter.gl.getExtension('WEBGL_lose_context'); card.loseContext()"
    )
    page.wait_for_function("supple.painter.lost")
    page.evaluate("supple.seek(0.3); supple.fit(); supple.seek(0)")  # nothing breaks meanwhile
    picture(page)
    page.evaluate("card.restoreContext()")
    page.wait_for_function("!supple.painter.lost")
    wait_for(lambda: np.abs(picture(page) - before).max() < 3, "the same picture")
    assert not page.get_by_label("ground", exact=True).is_checked()


def test_plots_stand_beside_with_a_mark_that_moves(played, run):
    page = played
    figure = page.locator("figure", has_text="Tensions")
    figure.get_by_text("pull 0").wait_for()
    mark = lambda: float(figure.locator("canvas").get_attribute("data-mark"))
    first = mark()
    page.evaluate("supple.seek(0.5)")
    figure.get_by_text("pull 60").wait_for()
    assert mark() > first + 100
    figure.locator("canvas").click(position={"x": 100, "y": 50})  # a plot is a time line
    assert 0 < page.evaluate("supple.scene.time") < 0.5
    page.get_by_label("Tensions", exact=True).uncheck()
    assert figure.is_hidden()
    assert page.locator("figure", has_text="Energy").is_visible()


def test_a_picked_item_tells_its_numbers(played, run):
    page = played
    page.evaluate("supple.seek(0.5)")
    hide(page, "tendons")
    picture(page)
    x, y, _ = seen(page, run.shape("arm", 3).position[-1, 1])
    box = page.locator("#canvas").bounding_box()
    page.mouse.click(box["x"] + x, box["y"] + y)
    told = page.locator("#panel")
    told.get_by_text("curvature (1/m)").wait_for()
    table = page.locator("#panel table").inner_text()
    assert "axial stress (MPa)" in table
    assert "tip (m)" in table
    assert page.evaluate("supple.picked.share") == pytest.approx(0.5, abs=0.1)
    page.evaluate("supple.seek(0)")
    picture(page)
    x, y, _ = seen(page, run.position("ball")[0])
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.locator("#labels .picked", has_text="ball").wait_for()
    place = run.position("ball")[0]
    assert f"{place[2]:.3g}" in page.locator("#panel table").inner_text()


def test_thin_rods_are_seen_and_their_width_is_told(page, tmp_path):
    thin = sp.simulate(sp.Robot(rod(radius=1e-4), gravity=(0, 0, 0)), 0.02, dt=0.01)
    page.goto(to_html(thin, tmp_path / "thin.html").as_uri())
    ready(page)
    page.evaluate("supple.play(false)")
    hide(page, "ground", "joints")
    page.get_by_label("rods by").select_option("plain")
    pixels = picture(page)
    rows = (pixels[..., 2] - pixels[..., 0] > 30).sum(axis=1)
    assert np.median(rows[rows > 0]) >= 2
    assert "arm drawn" in page.locator("#notes").inner_text()
    times = page.evaluate("supple.scene.rods[0].factor")
    wide = 2e-4 * times / page.evaluate("supple.camera.pixel()")
    assert 2.0 < wide < 4.0
    page.evaluate("supple.camera.zoom(-6); supple.redraw()")  # near enough to see it as it is
    picture(page)
    assert page.locator("#notes").inner_text() == ""


def test_what_joins_and_drives_is_drawn(page, tmp_path):
    """Chambers inside clear rods, and hinges, motors, closures and discs, each in its color."""
    rods = rod(joint=sp.Revolute("y"), position=(0, 0, 0.1))
    built = sp.Robot(
        rods,
        sp.Chamber("air", on="arm", area=2e-4, pressure=1e4),
        sp.Motor("motor", on="arm", position=0.0, stiffness=10.0, damping=0.1),
        sp.Closure("ring", on="arm", to="ground", joint=sp.Prismatic("z"), to_position=(0, 0, -0.2),
                   to_rotation=(0, np.pi / 2, 0), rotation=(0, 0, 0)),
        sp.Tendon("pull", on="arm", offset=(0.03, 0.0), discs=4, tension=1.0),
        gravity=(0, 0, 0),
    )  # fmt: skip
    drawing = drawing_of(sp.simulate(built.removing("ring"), 0.02, dt=0.01))
    kinds = [solid.kind for solid in drawing.solids]
    assert kinds.count("disc") == 4
    assert "motor" in kinds
    assert [chamber.name for chamber in drawing.chambers] == ["air"]
    page.goto(
        to_html(sp.simulate(built.removing("ring"), 0.02, dt=0.01), tmp_path / "a.html").as_uri()
    )
    ready(page)
    page.evaluate("supple.play(false)")
    hide(page, "ground", "tendons", "discs", "joints")
    page.get_by_label("rods by").select_option("plain")
    clear = picture(page)
    page.get_by_label("clear rods").uncheck()
    opaque = picture(page)
    middle = [round(v) for v in seen(page, (0.0, 0.0, -0.05))[:2]]
    inside, outside = clear[middle[1], middle[0]], opaque[middle[1], middle[0]]
    assert np.abs(inside - outside).sum() > 60  # the chamber shines through
    assert np.abs(inside - FULL).max() < 16  # in the color of its pressure
    page.get_by_label("joints", exact=True).check()
    orange = picture(page)
    assert ((orange[..., 0] - orange[..., 2] > 80).sum()) > 30  # the motor


def test_closures_and_contacts_have_their_place():
    """A door on two hinges, and a wheel: glyphs sit where the joint is."""
    door = sp.Robot(
        sp.Body("door", mass=1.0, inertia=(0.1, 0.1, 0.1), joint=sp.Spherical(),
                shape=sp.Box((0.6, 0.02, 0.8), position=(0.4, 0, 0))),
        sp.Closure("upper", on="ground", to="door", joint=sp.Spherical(), position=(0, 0, 0.3),
                   to_position=(0, 0, 0.3)),
        gravity=(0, 0, 0),
    )  # fmt: skip
    solids = drawing_of(sp.simulate(door, 0.02, dt=0.01)).solids
    (hinge,) = (solid for solid in solids if solid.kind == "closure")
    np.testing.assert_allclose(hinge.position[-1], (0, 0, 0.3), atol=1e-9)
    struts = [s for s in solids if s.kind == "body"][1:]  # from each hinge to the door, 0.1 m away
    assert len(struts) == 2
    for strut in struts:
        assert strut.mesh[0][:, 0].max() == pytest.approx(0.1, abs=1e-9)


def test_the_viewer_plays_a_run(page, run):
    viewer = view(run, port=0, color="axial stress")
    try:
        page.goto(viewer.url)
        ready(page)
        page.get_by_text("axial stress (MPa)").first.wait_for()
        assert page.title() == "arm"
        first = picture(page)
        wait_for(lambda: (np.abs(picture(page) - first).sum(axis=-1) > 60).sum() > 100, "motion")
    finally:
        viewer.close()


def test_a_run_is_watched_while_it_is_computed_and_plays_then(page, run):
    from supple.view.viewer import Viewer

    viewer = Viewer("arm", port=0)
    try:
        page.goto(viewer.url)
        page.get_by_text("waiting for the robot").wait_for()
        viewer.watch(run.pick(slice(0, 1)))
        ready(page)
        tip = lambda: np.array(page.evaluate("supple.scene.frame('arm')"))
        np.testing.assert_allclose(tip(), run.position("arm")[0], atol=1e-6)
        assert page.locator("#bar").is_hidden()
        viewer.watch(run)
        wait_for(lambda: np.allclose(tip(), run.position("arm")[-1], atol=1e-6), "newest instant")
        page.get_by_label("rods by").select_option("plain")
        viewer.play(run)
        page.locator("#bar").wait_for()
        assert page.evaluate("supple.scene.color") == "plain"  # as it was chosen
    finally:
        viewer.close()


def test_a_slider_bends_the_robot(page):
    window = live(robot(), dt=0.02, port=0)
    try:
        page.goto(window.url)
        ready(page)
        wait_for(lambda: window.run.t > 0.5, "simulation")
        tip = window.run.newest.position("arm")[0]
        page.get_by_role("slider", name="pull").press("End")
        wait_for(lambda: window.wanted["pull"] == 2 * PULL, "slider")
        wait_for(lambda: np.linalg.norm(window.run.newest.position("arm")[0] - tip) > 0.02, "tip")
        page.get_by_text("real time").wait_for()
        page.get_by_role("button", name="Reset").click()
        wait_for(lambda: window.wanted["pull"] == 0.0, "reset")
        page.get_by_role("button", name="Pause").click()
        wait_for(lambda: window.paused, "pause")
    finally:
        window.close()


@pytest.mark.parametrize("item", ["ball", "arm"])
def test_a_body_or_a_rod_is_dragged_with_the_mouse(page, item):
    """It follows the mouse as far as the spring and the robot agree, and goes back when it is let go."""
    window = live(robot(), dt=0.02, port=0)
    try:
        page.goto(window.url)
        ready(page)
        wait_for(lambda: window.run.t > 0.5, "simulation")
        place = lambda: window.run.newest.position(item)[0]
        at_rest, window.run.spring = place(), 200.0
        grabbed = place() if item == "ball" else window.run.newest.shape("arm", 3).position[0, 1]
        x, y, _ = seen(page, grabbed)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y, steps=5)
        wait_for(lambda: window.run._pulled is not None, "pull")
        assert window.run._pulled[0] == item
        wait_for(lambda: np.linalg.norm(place() - at_rest) > 0.01, "motion")
        right = np.array(page.evaluate("supple.camera.right"))
        assert (place() - at_rest) @ right > 0.005  # to where the mouse went
        page.mouse.up()
        wait_for(lambda: window.run._pulled is None, "letting go")
        wait_for(lambda: np.linalg.norm(place() - at_rest) < 0.005, "return")
        eye = page.evaluate("supple.camera.eye")
        page.mouse.move(20, 250)  # beside the robot the mouse turns the camera
        page.mouse.down()
        page.mouse.move(60, 250, steps=3)
        page.mouse.up()
        assert not np.allclose(page.evaluate("supple.camera.eye"), eye)
    finally:
        window.close()


def test_the_page_and_the_notebook_play_with_the_network_off(browser, run, file, tmp_path):
    cell = tmp_path / "cell.html"
    cell.write_text(f"<meta charset=utf-8>{show(run, frames=20)._repr_html_()}")
    for path in (file, cell):
        context = browser.new_context(viewport=SIZE, offline=True)
        page, asked = context.new_page(), []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(path.as_uri())
        frame = page.frames[-1]
        frame.wait_for_function("window.supple?.shown", timeout=1000 * PATIENCE)
        frame.get_by_text("curvature (1/m)").wait_for()
        frame.get_by_label("rods by").select_option("twist")
        frame.get_by_text("twist (rad/m)").first.wait_for()
        frame.get_by_role("button", name="Fit").wait_for()
        frame.wait_for_function("supple.scene.time > 0.1")
        assert all(url.startswith(("file:", "data:", "blob:", "about:")) for url in asked)
        context.close()


NAMES = ("<img src=x onerror=stolen=1>", "</script><!--<script>stolen=1", "__proto__", "a&amp;b")


def test_names_are_text_in_the_page(page, tmp_path):
    """In a file and in the live mode, with sliders, plots, labels and what is picked."""
    rods = [
        sp.Rod(name, length=0.3, section=sp.Circle(0.02), strains="planar", basis=1,
               position=(0, 0.2 * i, 0), material=sp.Material(E=2e6, density=1000.0))
        for i, name in enumerate(NAMES)
    ]  # fmt: skip
    tendons = [
        sp.Tendon(f"{name} pulls", on=name, offset=(0.015, 0.0), tension=1.0) for name in NAMES[:2]
    ]
    own = sp.Tendon("constructor", on=NAMES[2], offset=(0.015, 0.0), tension=1.0)
    named = sp.Robot(*rods, *tendons, own, name=NAMES[1])
    window = live(named, dt=0.02, port=0)
    try:
        for address in (
            to_html(sp.simulate(named, 0.1, dt=0.02), tmp_path / "a.html").as_uri(),
            window.url,
        ):
            page.goto(address)
            ready(page)
            page.get_by_label("names", exact=True).check()
            for name in NAMES:
                page.locator("#labels span", has_text=name).wait_for()
            assert page.title() == NAMES[1]
            assert page.locator("#title").text_content() == NAMES[1]
            assert page.locator("img").count() == 0
            assert page.evaluate("typeof stolen") == "undefined"
        wait_for(lambda: window.run.t > 0, "simulation")
        for name in (f"{NAMES[0]} pulls", "constructor"):
            page.get_by_role("slider", name=name).press("End")
            wait_for(lambda name=name: window.wanted[name] == 2.0, "slider")
    finally:
        window.close()


FOREIGN = """
async (address) => {
    const told = await new Promise(answer => {
        const events = new EventSource(address + "events");
        events.addEventListener("scene", () => { events.close(); answer("a message"); });
        events.onerror = () => { events.close(); answer("refused"); };
        setTimeout(() => answer("nothing"), 5000);
    });
    const simple = {method: "POST", mode: "no-cors", body: '{"pause": true}'};
    await fetch(address + "do", simple).catch(() => {});
    const asking = {...simple, mode: "cors", headers: {"Content-Type": "application/json"}};
    const done = await fetch(address + "do", asking).then(a => a.ok).catch(() => false);
    return [told, done];
}
"""


def test_a_foreign_page_is_refused_even_if_it_knows_the_address(browser, tmp_path):
    context = browser.new_context(viewport=SIZE)
    page, window = context.new_page(), live(robot(), dt=0.02, port=0)
    beside = view(sp.simulate(robot(), 0.04, dt=0.02), port=0)  # the same site, another origin
    try:
        wait_for(lambda: window.server.scene is not None, "a scene")
        other = tmp_path / "other.html"
        other.write_text("<p>a page of others</p>")
        for place in (other.as_uri(), beside.url):
            page.goto(place)
            assert page.evaluate(FOREIGN, window.url) == ["refused", False]
        assert not window.paused
        page.goto(window.url)
        assert page.evaluate(FOREIGN, window.url[:-5] + "/") == ["refused", False]
        assert not window.paused
        assert page.evaluate(FOREIGN, window.url) == ["a message", True]
        assert window.paused
    finally:
        window.close()
        beside.close()
        context.close()
