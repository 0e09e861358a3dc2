"""The viewer, the live mode and the exported page in a real browser: Debian's Chromium, driven by Playwright.

Rods are recognised by their colour: all else on the canvas, without the axes of the ground, is grey.
"""

import io
import shutil
import time

import numpy as np
import pytest

import supple as sp
from supple.view import live, to_html, view

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="apt-get install chromium")
SIZE = {"width": 800, "height": 400}
MIDDLE = {"x": 315, "y": 0, "width": 205, "height": 350}
"""Part of the window that no panel covers."""
SOFTWARE = ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader",
            "--ignore-gpu-blocklist"]  # fmt: skip
PATIENCE = 30.0


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.said = []
    page.on("pageerror", lambda error: page.said.append(str(error)))
    yield page
    assert page.said == []
    context.close()


def robot():
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(0.02), strains="planar", basis=1,
                 rotation=(0, np.pi / 2, 0),
                 material=sp.Material(E=2e6, density=1000.0, damping=sp.StiffnessDamping(0.05)))  # fmt: skip
    return sp.Robot(rod, sp.Tendon("pull", on="arm", offset=(0.015, 0.0), tension=10.0))


@pytest.fixture(scope="module")
def run():
    return sp.simulate(robot(), 0.5, dt=0.02)


def coloured(page):
    """Which pixels in the middle of the scene have a colour."""
    from PIL import Image

    picture = Image.open(io.BytesIO(page.screenshot(clip=MIDDLE))).convert("RGB")
    pixels = np.asarray(picture).astype(int)
    return pixels.max(axis=-1) - pixels.min(axis=-1) > 60


def wait_for(condition, what):
    """Look until something is so."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"no {what}"


def shows_the_rod(page, window):
    page.goto(window.url)
    wait_for(lambda: window.stage is not None, "scene")
    window.layers["ground"].value = False
    wait_for(lambda: coloured(page).sum() > 300, "rod")


def test_the_viewer_shows_the_rods_and_plays_them(page, run):
    viewer = view(run, port=0, colour="axial stress")
    try:
        viewer.pause()
        viewer.seek(0.0)
        shows_the_rod(page, viewer)
        page.get_by_text("robot", exact=True).wait_for()
        page.get_by_text("axial stress (MPa)").wait_for()
        first = coloured(page)
        page.get_by_role("button", name="Play").click()
        wait_for(lambda: (coloured(page) ^ first).sum() > 100, "motion")
        page.get_by_role("button", name="Pause").click()
        wait_for(lambda: not viewer.playing, "pause")
        (client,) = viewer.server.get_clients().values()
        viewer.seek(0.0)
        before, viewer.follow.value = client.camera.position, "arm"
        viewer.seek(0.5)
        moved = run.position("arm")[-1] - run.position("arm")[0]
        np.testing.assert_allclose(client.camera.position - before, moved, atol=1e-6)
        viewer.stage.layers["rods"].visible = viewer.stage.layers["tendons"].visible = False
        wait_for(lambda: not coloured(page).any(), "empty scene")
    finally:
        viewer.close()


def test_a_slider_bends_the_robot(page):
    window = live(robot(), dt=0.02, port=0)
    try:
        shows_the_rod(page, window)
        wait_for(lambda: window.run.t > 0.5, "simulation")
        before, tip = coloured(page), window.run.newest.position("arm")[0]
        page.get_by_role("slider").first.press("End")
        wait_for(lambda: window.sliders["pull"].value == 20.0, "slider")
        wait_for(lambda: (coloured(page) ^ before).sum() > 100, "bending")
        wait_for(lambda: np.linalg.norm(window.run.newest.position("arm")[0] - tip) > 0.02, "tip")
        page.get_by_role("button", name="Reset").click()
        wait_for(lambda: window.sliders["pull"].value == 10.0, "reset")
    finally:
        window.close()


FOREIGN = """
(address) => new Promise(answer => {
    const socket = new WebSocket(address, ["viser-v%s"]);
    socket.onmessage = () => answer("a message");
    socket.onclose = () => answer("refused");
    setTimeout(() => answer("nothing"), 5000);
})
"""


def test_a_foreign_page_is_refused_even_if_it_knows_the_address(page, tmp_path, run):
    import viser

    viewer = view(run, port=0)
    attack, address = FOREIGN % viser.__version__, viewer.url.replace("http", "ws")
    try:
        other = tmp_path / "other.html"
        other.write_text("<p>a page of others</p>")
        page.goto(other.as_uri())
        assert page.evaluate(attack, address) == "refused"
        page.goto(viewer.url)
        assert page.evaluate(attack, address) == "a message"
        assert page.evaluate(attack, address[:-5]) == "refused"  # not the whole secret
    finally:
        viewer.close()


def test_the_page_plays_from_a_file_with_the_network_off(browser, run, tmp_path):
    file = to_html(run, tmp_path / "run.html", frames=20)
    context = browser.new_context(viewport=SIZE, offline=True)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.get_by_text("curvature (1/m)").wait_for()
    wait_for(lambda: coloured(page).sum() > 300, "rod")
    first = coloured(page)
    wait_for(lambda: (coloured(page) ^ first).sum() > 100, "motion")
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    context.close()
