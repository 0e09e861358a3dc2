"""Who may talk to a viewer: only a page that was opened with its address, which holds a secret.

Any page that a browser shows may connect to any port of this machine, and a websocket is not kept from it by
the browser. The server therefore answers only requests whose path begins with a token that nobody can guess,
and takes websockets only from pages of its own origin.
"""

import hmac
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from supple.errors import StateError

LAST_PORT = 65535
_patching = threading.Lock()


def check_address(host: str, port: int) -> None:
    """Raise unless one can listen there; the server would try for ever."""
    if not 0 <= port <= LAST_PORT:
        raise StateError(f"port: got {port!r}; need a number from 0 (any free one) to {LAST_PORT}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.bind(address)
    except (OSError, UnicodeError) as error:
        need = "an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them"
        raise StateError(f"host: got {host!r} ({error}); need {need}") from None


class Gate:
    """Lets in who knows the token."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(16)
        self.used = False
        """Whether a server stands behind it."""

    def refuses(self, path: str, headers: Any) -> bool:
        """Whether a request stays outside."""
        token = path.partition("?")[0].split("/")[1:2]
        if not token or not hmac.compare_digest(token[0].encode(), self.token.encode()):
            return True
        if "upgrade" not in headers.get("Connection", "").lower() and "Upgrade" not in headers:
            return False
        origins = headers.get_all("Origin")
        own = headers.get("Host", "").lower()
        return len(origins) != 1 or urlsplit(origins[0]).netloc.lower() != own or not own

    def guarded(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """What answers requests, for those that are let in; it sees paths without the token."""

        def first(connection: Any, request: Any) -> Any:
            from websockets.datastructures import Headers  # comes with viser
            from websockets.http11 import Response

            if self.refuses(request.path, request.headers):
                return Response(403, "Forbidden", Headers(), b"need the address that was printed\n")
            request.path = request.path.removeprefix(f"/{self.token}") or "/"
            return answer(connection, request)

        return first

    @contextmanager
    def before_servers(self) -> Iterator[None]:
        """Stand before the servers that viser starts meanwhile; it has no place for this of its own."""
        from websockets.asyncio import server

        serve = server.serve

        def behind(handler: Any, host: Any, port: int, **options: Any) -> Any:
            self.used = True
            options["process_request"] = self.guarded(options["process_request"])
            return serve(handler, host, port if port <= LAST_PORT else 0, **options)

        with _patching:
            server.serve = behind  # type: ignore[assignment,misc]
            try:
                yield
            finally:
                server.serve = serve  # type: ignore[misc]
