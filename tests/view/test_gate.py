"""Who may look at a robot and drive it."""

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from urllib.parse import quote, urlsplit

import numpy as np
import pytest

import supple as sp
from supple.cli import viewing
from supple.view import live
from supple.view.gate import check_address
from supple.view.viewer import Viewer
from tests.cli.arm import ARM, call


@pytest.fixture(scope="module")
def window():
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(0.02), strains="planar", basis=1,
                 material=sp.Material(E=2e6, density=1000.0))  # fmt: skip
    robot = sp.Robot(rod, sp.Tendon("pull", on="arm", offset=(0.015, 0.0), tension=1.0))
    window = live(robot, dt=0.02, port=0)
    yield window
    window.close()


def asked(window, path=None, *, method="GET", body=None, **headers):
    """Status of an answer to exactly these headers; None takes away what would be sent."""
    url = urlsplit(window.url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    given = {"Host": url.netloc, **{k.replace("_", "-"): v for k, v in headers.items()}}
    if body is not None:
        given = {"Content-Type": "application/json", "Content-Length": str(len(body))} | given
    connection.putrequest(method, url.path if path is None else path, True, True)
    for name, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                connection.putheader(name, one)
    connection.endheaders(body)
    answer = connection.getresponse()
    if answer.getheader("Content-Type") != "text/event-stream":
        answer.read()
    connection.close()
    return answer.status


def status(url):
    try:
        return urllib.request.urlopen(url, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def said(window, words, **headers):
    """Status of what a page says."""
    url = urlsplit(window.url)
    body = words if isinstance(words, bytes) else json.dumps(words).encode()
    headers = {"Origin": f"http://{url.netloc}", **headers}
    return asked(window, f"{url.path}do", method="POST", body=body, **headers)


def foreign(window):
    """Origins of others."""
    own = urlsplit(window.url).netloc
    return ("http://evil.example", "null", "file://", f"http://{own}.evil.example", "http://127.0.0.1:1",
            f"http://evil.example/{own}", f"http://evil@{own}", f"ftp://{own}", "")  # fmt: skip


def test_only_the_address_with_its_secret_opens_the_page(window):
    url = urlsplit(window.url)
    assert url.hostname == "127.0.0.1"
    assert status(window.url) == 200
    assert status(window.url.rstrip("/")) == 200  # is led to the address
    paths = ("", "/", "/index.html", "/x/", url.path[:-2] + "/", "//" + url.path[1:])
    for path in (*paths, "/scene", "/events", "/do", f"/x{url.path}", "/?" + url.path, "/é/"):
        assert asked(window, quote(path, safe="/?-_")) == 403, path
    assert asked(window, f"{url.path}index.html") == 404
    assert asked(window, "/do", method="POST", body=b"{}", Origin=f"http://{url.netloc}") == 403
    assert len(url.path.strip("/")) >= 20
    other = Viewer("arm", port=0)
    other.close()
    assert urlsplit(other.url).path != url.path  # new each time


def test_every_place_needs_an_own_origin_and_name(window):
    url = urlsplit(window.url)
    until = time.monotonic() + 60
    while window.server.scene is None:
        assert time.monotonic() < until
    own = f"http://{url.netloc}"
    for place in ("scene", "events"):
        path = url.path + place
        assert asked(window, path) == asked(window, path, Origin=own) == 200
        assert asked(window, path, Sec_Fetch_Site="same-origin") == 200
        for origin in foreign(window):
            assert asked(window, path, Origin=origin) == 403, origin
        assert asked(window, path, Origin=[own, own]) == 403
        for site in ("cross-site", "same-site"):
            assert asked(window, path, Sec_Fetch_Site=site) == 403
    assert asked(window, Sec_Fetch_Site="cross-site") == 200  # a link to the page
    assert said(window, {}) == 200
    for origin in (*foreign(window), None):
        assert said(window, {"pause": True}, Origin=origin) == 403, origin
    assert not window.paused


def test_a_name_that_others_let_point_here_is_refused(window):
    url = urlsplit(window.url)
    for host in (f"localhost:{url.port}", "localhost:9000", "[::1]:80"):  # tunnels have other ports
        assert asked(window, Host=host) == 200
        assert said(window, {}, Host=host, Origin=f"http://{host}") == 200
    for host in ("evil.example", f"evil.example:{url.port}", f"127.0.0.1.evil.example:{url.port}",
                 "", "[", None, [url.netloc, "evil.example"]):  # fmt: skip
        assert asked(window, Host=host) == 403, host
    assert said(window, {}, Host="evil.example", Origin="http://evil.example") == 403


def test_values_are_kept_in_their_range_on_the_server(window):
    for sent, taken in ((float("inf"), 2.0), (-1e300, 0.0), (10**400, 2.0), (1.5, 1.5)):
        assert said(window, {"set": {"pull": sent}}) == 200
        assert window.wanted == {"pull": taken}
    first = window._spring
    for sent, taken in ((float("inf"), 100 * first), (-1.0, first / 100), (first, first)):
        assert said(window, {"spring": sent}) == 200
        assert window.run.spring == pytest.approx(taken)
    while window.server.scene is None:
        time.sleep(0.01)
    assert said(window, {"pull": {"item": "arm", "target": [float("inf"), 0, -1e300]}}) == 200
    item, place = window.run._pulled
    assert item == "arm"
    assert np.linalg.norm(place) < 101 * window.drawing.span
    assert said(window, {"pull": None, "reset": True}) == 200
    assert window.run._pulled is None


NAN = float("nan")


@pytest.mark.parametrize(
    "words",
    [
        [], "pause", 1, None, {"constructor": 1},
        {"set": []}, {"set": {"x": 1.0}}, {"set": {"constructor": 1.0}}, {"set": {"pull": "1"}},
        {"set": {"pull": NAN}}, {"set": {"pull": None}}, {"set": {"pull": True}}, {"set": {"pull": [1]}},
        {"spring": NAN}, {"spring": "1"}, {"spring": None},
        {"pull": "arm"}, {"pull": {"item": "x", "target": [0, 0, 0]}}, {"pull": {"item": "arm"}},
        {"pull": {"item": "arm", "target": [0, 0]}}, {"pull": {"item": "arm", "target": [0, 0, NAN]}},
        {"pull": {"item": ["arm"], "target": [0, 0, 0]}}, {"pull": {"item": "arm", "target": "abc"}},
        {"pause": 1}, {"pause": "no"}, {"reset": "yes"}, {"reset": None},
        b"{", b"", b"[" * 90_000, b"\xff\xfe", b" " * 200_000 + b"{}", b"9" * 5000,
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_and_changes_nothing(window, words):
    def state():
        return dict(window.wanted), window.run.spring, window.run._pulled, window.paused

    before = state()
    if isinstance(words, dict):  # also what would be right
        words = {"set": {"pull": 0.25}, "pause": True, "spring": 1.0} | words
    assert said(window, words) == 400
    assert state() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Length": "-1"}, {"Content-Length": "x"}, {"Content-Length": "9" * 30},
        {"Content-Length": None, "Transfer-Encoding": "chunked"},
    ],
)  # fmt: skip
def test_only_short_json_is_heard(window, headers):
    assert said(window, {"pause": True}, **headers) == 400
    assert not window.paused


def test_too_many_connections_are_closed_and_leave_room_again(window):
    url, many = urlsplit(window.url), []
    try:
        many = [socket.create_connection((url.hostname, url.port), timeout=10) for _ in range(100)]
        many[-1].settimeout(10)
        assert many[-1].recv(1) == b""
    finally:
        for one in many:
            one.close()
    until = time.monotonic() + 30
    while True:
        try:
            assert status(window.url) == 200
            return
        except (OSError, http.client.HTTPException):
            assert time.monotonic() < until


def test_all_addresses_have_any_name_and_new_ones_brackets():
    viewer = Viewer("arm", host="0.0.0.0", port=0)
    try:
        path = urlsplit(viewer.url).path
        assert asked(viewer, path, Host="machine.example") == 200
        assert asked(viewer, "/", Host="machine.example") == 403
    finally:
        viewer.close()
    if not socket.has_ipv6:
        return
    try:
        viewer = Viewer("arm", host="::1", port=0)
    except sp.ArgumentError:
        return  # a machine without
    try:
        assert viewer.url.startswith("http://[::1]:")
        assert status(viewer.url) == 200
    finally:
        viewer.close()


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
    with pytest.raises(sp.ArgumentError, match=part):
        check_address(host, port)
    (tmp_path / "arm.yaml").write_text(ARM)
    found = call("live", tmp_path / "arm.yaml", "--host", host, "--port", port, "--no-wait")
    assert found.exit_code == 2
    assert part in found.output


def test_the_last_port_may_be_taken():
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
