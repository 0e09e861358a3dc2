"""Who may talk to a viewer: only a page that was opened with its address, which holds a secret.

Any page that a browser shows may send requests to any port of this machine, under any name that its owner
lets point here. The server therefore answers only requests whose path begins with a token that nobody can
guess, that are sent to a name of its own, and that do not come from pages of others; and it takes no value
from a page as it is.
"""

import hmac
import ipaddress
import secrets
import socket
from email.message import Message
from typing import Any

from supple.errors import ArgumentError

LAST_PORT = 65535


def check_address(host: str, port: int) -> tuple[socket.AddressFamily, str]:
    """Raise unless one can listen there; gives the family and the number of the address."""
    if not 0 <= port <= LAST_PORT:
        raise ArgumentError(
            f"port: got {port!r}; need a number from 0 (any free one) to {LAST_PORT}"
        )
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.bind(address)
    except (OSError, UnicodeError) as error:
        need = "an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them"
        raise ArgumentError(f"host: got {host!r} ({error}); need {need}") from None
    return family, str(address[0])


class Gate:
    """Lets in who knows the token; ``host`` is what was asked for, ``address`` its number."""

    def __init__(self, host: str, address: str) -> None:
        self.token = secrets.token_urlsafe(16)
        number = ipaddress.ip_address(address.partition("%")[0])
        self.names = {host.lower(), str(number)}
        """Names under which it is asked; none where all addresses are listened on, which have many."""
        if number.is_loopback:
            self.names |= {"localhost", "127.0.0.1", "::1"}
        elif number.is_unspecified:
            self.names = set()

    def inside(self, path: str) -> str | None:
        """The path behind the token; None where that is wrong."""
        _, _, rest = path.partition("?")[0].partition("/")
        token, slash, inner = rest.partition("/")
        if not path.startswith("/") or not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        return slash + inner

    def refuses(self, headers: Message, *, page: bool = False, changes: bool = False) -> bool:
        """Whether a request that knows the token stays outside nevertheless.

        ``page`` is asked for by whoever opens the address, also from a link; what ``changes`` something must
        say that it comes from our page, as browsers do.
        """
        hosts, origins = headers.get_all("Host", []), headers.get_all("Origin", [])
        if len(hosts) != 1 or len(origins) > 1 or (changes and not origins):
            return True
        own = hosts[0].lower()
        if self.names and _name(own) not in self.names:
            return True
        if origins and origins[0].lower() not in (f"http://{own}", f"https://{own}"):
            return True
        return not page and headers.get("Sec-Fetch-Site", "same-origin") not in (
            "same-origin",
            "none",
        )


def _name(host: str) -> str:
    """A host without its port, which may be another one where a tunnel leads here."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def table(value: Any, known: set[str], what: str) -> dict[str, Any]:
    """A table that a page sent, with known names only."""
    if not isinstance(value, dict):
        raise ArgumentError(f"{what}: got something else; need a table")
    unknown = next((name for name in value if name not in known), None)
    if unknown is not None:
        raise ArgumentError(f"{what}: got {unknown[:50]!r}; need names that are known")
    return value


def number(value: Any, low: float, high: float, what: str) -> float:
    """A number that a page sent, kept within its range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ArgumentError(f"{what}: got no number; need one from {low:g} to {high:g}")
    return float(min(max(value, low), high))


def flag(value: Any, what: str) -> bool:
    """A yes or no that a page sent."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{what}: got something else; need true or false")
    return value


def point(value: Any, what: str) -> tuple[float, float, float]:
    """Three finite numbers that a page sent."""
    if not isinstance(value, list) or len(value) != 3:
        raise ArgumentError(f"{what}: got something else; need three numbers")
    x, y, z = (number(own, -1e9, 1e9, what) for own in value)
    return x, y, z
