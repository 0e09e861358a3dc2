"""A small server for the page: it sends what is to be shown, and hears what is done there.

``/events`` tells pages that there is another scene, or what has moved; each page gets the newest, and misses
what it was too slow for. ``/do`` takes what users do, as JSON.
"""

import errno
import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from supple.errors import StateError
from supple.view.page import page_with

TRIES = 32
"""Ports that are tried, one after the other."""
LARGEST = 1_000_000
"""Bytes that a page may say at once."""


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
        self._http = _listening(host, port, self)
        threading.Thread(target=self._http.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def url(self) -> str:
        """Where to look."""
        host, port = self._http.server_address[:2]
        return f"http://{host!s}:{port}"

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


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = False
    shown: Server


def _listening(host: str, port: int, server: Server) -> _Http:
    for tried in range(port, port + TRIES) if port else (0,):
        try:
            http = _Http((host, tried), _Handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise StateError(f"view: cannot listen on {host}:{tried}: {error}") from error
            continue
        http.shown = server
        return http
    raise StateError(f"port: got {port}; all of {port} … {port + TRIES - 1} are taken")


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: programs read what commands print."""

    def _answer(self, kind: str, text: str, status: int = 200) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        """The page, its scene, or what happens."""
        shown = self.server.shown
        try:
            if self.path == "/":
                self._answer("text/html", page_with(shown.title, None))
            elif self.path == "/scene" and shown.scene is not None:
                self._answer("application/json", json.dumps(shown.scene, separators=(",", ":")))
            elif self.path == "/events":
                self._events(shown)
            else:
                self._answer("text/plain", "nothing here", 404)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the page was closed

    def _events(self, shown: Server) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
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
        length = int(self.headers.get("Content-Length") or 0)
        ours = self.headers.get_content_type() == "application/json"
        if self.path != "/do" or not ours or not 0 < length <= LARGEST:
            self.close_connection = True
            self._answer("text/plain", "nothing to do", 400)
            return
        try:
            words = json.loads(self.rfile.read(length))
            self.server.shown.hear(words)
        except (ValueError, TypeError, KeyError) as error:
            self._answer("text/plain", f"not understood: {error}", 400)
            return
        self._answer("text/plain", "done")
