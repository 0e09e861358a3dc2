"""A robot in the browser: a run that plays there, or grows as it is computed."""

import threading
from collections.abc import Mapping
from typing import Any

from supple.results.result import Result
from supple.view.colors import check_choice
from supple.view.drawing import Drawing, drawing_of
from supple.view.scene import moving_of, scene_of
from supple.view.server import Server

LOOPBACK = "127.0.0.1"


class Window:
    """A drawing in the browser. Listens on loopback only unless told otherwise."""

    def __init__(
        self, name: str, *, host: str = LOOPBACK, port: int = 8080, color: str = "curvature"
    ) -> None:
        check_choice(color)
        self._color = color
        self.drawing: Drawing | None = None
        self.server = Server(host, port, name, self.hear)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where to look."""
        return self.server.url

    def hear(self, words: Mapping[str, Any]) -> None:
        """What is done in the page; a run that plays needs no help."""

    def put(self, drawing: Drawing, **more: Any) -> None:
        """Show a drawing."""
        self.drawing = drawing
        self.server.put({**scene_of(drawing, self._color), **more})

    def move(self, drawing: Drawing, t: float = 0.0) -> None:
        """Show another instant of what is shown already."""
        self.drawing = drawing
        self.server.tell("moving", {"t": t, "moving": moving_of(drawing)})

    def _start(self, work: Any) -> None:
        """Do something beside the caller until the window is closed."""
        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and stop listening."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self.server.close()


class Viewer(Window):
    """A run in the browser: play, pause, scrub, speed, loop, plots.

    ``watch`` shows the newest instant of a run that is being computed, as ``simulate(watch=…)`` takes it.
    ``play`` shows a whole run.
    """

    def watch(self, newest: Result) -> None:
        """Show the last instant of a run so far."""
        drawing = drawing_of(newest.pick(slice(-1, None)), 1, energies=False)
        if self.drawing is None or _things(drawing) != _things(self.drawing):
            self.put(drawing)
        else:
            self.move(drawing)

    def play(self, result: Result, frames: int = 600) -> None:
        """Play a run, from its beginning."""
        self.put(drawing_of(result, frames))


def _things(drawing: Drawing) -> list[tuple[str, ...]]:
    """Names and kinds of all that is drawn: a page that shows others needs all of it anew."""
    groups = (drawing.rods, drawing.chambers, drawing.solids, drawing.lines, drawing.arrows)
    return [(type(x).__name__, x.name, getattr(x, "kind", "")) for group in groups for x in group]


def view(
    result: Result, *, host: str = LOOPBACK, port: int = 8080, color: str = "curvature"
) -> Viewer:
    """Open a run in the browser; the address is ``.url``, ``.close()`` ends it."""
    viewer = Viewer(result.model.name, host=host, port=port, color=color)
    viewer.play(result)
    return viewer
