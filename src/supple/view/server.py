"""A small server for the page: it sends what is to be shown, and hears what is done there.

Behind a token that is part of the address (:mod:`supple.view.gate`), ``events`` tells pages that there is
another scene, or what has moved; each page gets the newest, and misses what it was too slow for. ``do`` takes
what users do, as JSON.
"""

import errno
import json
import socketserver
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from supple.errors import ArgumentError
from supple.view.gate import LAST_PORT, Gate, check_address
from supple.view.page import page_with

TRIES = 32
"""Ports that are tried, one after the other."""
LARGEST = 100_000
"""Bytes that a page may say at once."""
MOST = 64
"""Connections at once; a page holds a few."""
PATIENCE = 30.0
"""Seconds that a connection may be silent, or not take what it is sent."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Nothing is kept, loaded from elsewhere, shown inside pages of others, or told to them."""


class Server:
    """Serves one page on its own thread, from ``port`` or the next one that is free (0: any)."""

    def __init__(
        self, host: str, port: int, title: str, hear: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self.title, self.hear = title, hear
        self.scene: dict[str, Any] | None = None
        self.news: dict[str, tuple[int, str]] = {}
        """Newest event of each kind: its number, and what it says."""
        self.changed, self.closed, self._count = threading.Condition(), False, 0
        family, address = check_address(host, port)
        self.gate = Gate(host, address)
        self._hearing = threading.Lock()
        self._http = _listening(family, address, port, self)
        threading.Thread(target=self._http.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def url(self) -> str:
        """Where to look. It is all that opens the page: who has it may look and drive."""
        host, port = (str(part) for part in self._http.server_address[:2])
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/{self.gate.token}/"

    def heard(self, words: Any) -> None:
        """Take what a page says, one after the other; raises where that makes no sense."""
        if not isinstance(words, dict):
            raise ArgumentError("got something else; need a table")
        with self._hearing:
            self.hear(words)

    def put(self, scene: dict[str, Any]) -> None:
        """Show another scene."""
        self.scene = scene
        self.tell("scene", {})

    def tell(self, kind: str, what: Any) -> None:
        """Tell all pages: "scene", "moving" or "says"."""
        with self.changed:
            self._count += 1
            if kind == "scene":
                self.news.pop("moving", None)  # of the scene before
            self.news[kind] = self._count, json.dumps(what, separators=(",", ":"))
            self.changed.notify_all()

    def since(self, count: int, patience: float = 1.0) -> tuple[int, list[tuple[str, str]]]:
        """Events after one, in their order, and the number of the last."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed or self._count > count, patience)
            newer = sorted((n, kind, text) for kind, (n, text) in self.news.items() if n > count)
            return self._count, [(kind, text) for _, kind, text in newer]

    def close(self) -> None:
        """Stop listening."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self._http.shutdown()
        self._http.server_close()


class _Http(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = 32

    def __init__(self, family: Any, address: tuple[str, int], shown: Server) -> None:
        self.address_family, self.shown = family, shown
        self._free = threading.BoundedSemaphore(MOST)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a thread, unless there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for the next."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: what a stranger sends is no news."""


def _listening(family: Any, address: str, port: int, server: Server) -> _Http:
    """Listen on a port or one of the next, or on any that is free."""
    for tried in (*range(port, min(port + TRIES, LAST_PORT + 1)), 0) if port else (0,):
        try:
            return _Http(family, (address, tried), server)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ArgumentError(f"view: cannot listen on {address}:{tried}: {error}") from error
    raise ArgumentError(f"port: got {port}; need one that is free")


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "supple", ""
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: programs read what commands print."""

    def _answer(self, kind: str, text: str, status: int = 200, **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in {**HEADERS, **headers}.items():
            self.send_header(name, value)
        if status >= 400:  # what came with it is not read
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _place(self) -> str | None:
        """What is asked for, behind the token; None where it was refused."""
        gate = self.server.shown.gate
        place = gate.inside(self.requestline.split()[1])  # ``path`` has no double slashes
        changes = self.command != "GET"
        if place is None or gate.refuses(
            self.headers, page=place in ("", "/") and not changes, changes=changes
        ):
            self._answer("text/plain", "need the address that was printed\n", 403)
            return None
        return place

    def do_GET(self) -> None:
        """The page, its scene, or what happens."""
        shown = self.server.shown
        try:
            place = self._place()
            if place is None:
                return
            if place == "":
                self._answer("text/plain", "", 308, Location=f"/{shown.gate.token}/")
            elif place == "/":
                self._answer("text/html", page_with(shown.title, None))
            elif place == "/scene" and shown.scene is not None:
                self._answer("application/json", json.dumps(shown.scene, separators=(",", ":")))
            elif place == "/events":
                self._events(shown)
            else:
                self._answer("text/plain", "nothing here\n", 404)
        except (ConnectionError, TimeoutError):
            self.close_connection = True  # the page was closed

    def _events(self, shown: Server) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        count = 0
        while not shown.closed:
            count, news = shown.since(count)
            for kind, text in news:
                self.wfile.write(f"event: {kind}\ndata: {text}\n\n".encode())
            if not news:
                self.wfile.write(b": still here\n\n")  # or a closed page would not be noticed
            self.wfile.flush()
        self.close_connection = True

    def do_POST(self) -> None:
        """What is done in the page. Pages of others cannot send this kind of content without being asked."""
        try:
            place = self._place()
            if place is None:
                return
            given = self.headers.get("Content-Length", "")
            length = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0
            ours = self.headers.get_content_type() == "application/json"
            if place != "/do" or not ours or not 0 < length <= LARGEST:
                self._answer("text/plain", "nothing to do\n", 400)
                return
            try:
                self.server.shown.heard(json.loads(self.rfile.read(length)))
            except (ValueError, RecursionError) as error:  # also errors of ours
                self._answer("text/plain", f"not understood: {error}\n", 400)
                return
            self._answer("text/plain", "done\n")
        except (ConnectionError, TimeoutError):
            self.close_connection = True
