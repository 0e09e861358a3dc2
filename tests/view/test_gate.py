"""Who may look at a robot and drive it."""

import socket
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

import supple as sp
from supple.cli import viewing
from supple.view import live
from supple.view.gate import check_address
from supple.view.viewer import Viewer, within
from tests.cli.arm import ARM, call


@pytest.fixture(scope="module")
def window():
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(0.02), strains="planar", basis=1,
                 material=sp.Material(E=2e6, density=1000.0))  # fmt: skip
    robot = sp.Robot(rod, sp.Tendon("pull", on="arm", offset=(0.015, 0.0), tension=1.0))
    window = live(robot, dt=0.02, port=0)
    yield window
    window.close()


def status(url):
    try:
        return urllib.request.urlopen(url, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def connects(window, *, path=None, origin="own"):
    """Whether a websocket is let in."""
    import viser
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    url = urlsplit(window.url)
    own = f"http://{url.netloc}" if origin == "own" else origin
    address = f"ws://{url.netloc}{url.path if path is None else path}"
    protocol = [f"viser-v{viser.__version__}"]
    try:
        with connect(address, origin=own, subprotocols=protocol, compression=None) as socket:
            return bool(socket.recv(timeout=10))
    except InvalidStatus:
        return False


def test_only_the_address_with_its_secret_opens_the_page(window):
    url = urlsplit(window.url)
    assert status(window.url) == 200
    for path in ("", "/", "/index.html", "/x/", url.path[:-2] + "/", "//" + url.path[1:]):
        assert status(f"http://{url.netloc}{path}") == 403
    assert len(url.path.strip("/")) >= 20


def test_websockets_need_the_secret_and_the_own_origin(window):
    url = urlsplit(window.url)
    assert connects(window)
    assert connects(window, path=url.path.rstrip("/"))  # as the page asks for it
    assert not connects(window, path="/")
    for origin in ("http://evil.example", None, "null", "file://", f"http://{url.netloc}.evil.example",
                   "http://127.0.0.1:1", f"http://evil.example/{url.netloc}"):  # fmt: skip
        assert not connects(window, origin=origin), origin


def test_values_are_kept_in_their_range_on_the_server(window):
    slider = window.sliders["pull"]
    for sent, taken in ((float("inf"), 2.0), (-1e300, 0.0), (float("nan"), 1.0), (1.5, 1.5)):
        slider._impl.value = sent  # as a message of a browser sets it
        assert window._wanted() == {"pull": taken}
    assert within("1", 0.0, 2.0, 1.0) == 1.0


def test_words_that_a_browser_makes_up_break_nothing(window):
    import time

    until = time.monotonic() + 60
    while window.stage is None:
        assert time.monotonic() < until
    before = window.stage.colour
    for handle in (window.colours, window.follow):
        own, handle._impl.value = handle._impl.value, "constructor"
        window._recolour()
        window.show(0)
        handle._impl.value = own
    assert window.stage.colour == before


@pytest.mark.parametrize(
    ("host", "port", "part"),
    [
        ("127.0.0.1", 70000, "port: got 70000"),
        ("127.0.0.1", -1, "port: got -1"),
        ("192.0.2.1", 0, "host: got '192.0.2.1'"),
        ("no such host", 0, "need an address of this machine"),
        ("a" * 300, 0, "need an address of this machine"),
    ],
)
def test_addresses_that_cannot_be_are_told_instead_of_tried_for_ever(host, port, part, tmp_path):
    with pytest.raises(sp.StateError, match=part):
        check_address(host, port)
    (tmp_path / "arm.yaml").write_text(ARM)
    found = call("live", tmp_path / "arm.yaml", "--host", host, "--port", port, "--no-wait")
    assert found.exit_code == 2
    assert part in found.output


def test_the_last_port_may_be_taken(monkeypatch):
    with socket.socket() as other:
        try:
            other.bind(("127.0.0.1", 65535))
            other.listen()
        except OSError:
            pass  # taken by somebody else, just as well
        viewer = Viewer("arm", port=65535)
        try:
            assert status(viewer.url) == 200
        finally:
            viewer.close()


def test_the_printed_address_is_the_one_that_opens(tmp_path, monkeypatch):
    (tmp_path / "arm.yaml").write_text(ARM)
    opened = []
    monkeypatch.setattr(viewing, "stay", lambda window, wait: opened.append(window))
    told = call("live", tmp_path / "arm.yaml", "--port", "0")
    try:
        assert opened[0].url in told.stderr
        assert status(opened[0].url) == 200
    finally:
        opened[0].close()
