"""A robot in the browser: what is shown and how, and a run that plays there or grows as it is computed."""

import threading
import time as clock
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supple.results.result import Result
from supple.robot.looks import Look
from supple.view.colours import CHOICES, check_choice, legend_html
from supple.view.drawing import Drawing, drawing_of
from supple.view.stage import LAYERS, Stage, camera_on, close_server, open_server

LOOPBACK = "127.0.0.1"
RATE = 30.0
"""Pictures a second, at most."""
SPEEDS = ("0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")
NOBODY = "nothing"


class Window:
    """A drawing in the browser, with what is shown of it. Listens on loopback only unless told otherwise."""

    def __init__(
        self,
        name: str,
        *,
        host: str = LOOPBACK,
        port: int = 8080,
        colour: str = "curvature",
        looks: Mapping[str, Sequence[Look]] | None = None,
    ) -> None:
        check_choice(colour)
        self._colour = colour
        self.looks = looks
        self.server: Any
        self.server, self.url = open_server(host, port, name)
        """The address (``url``) is all that opens it: who has it may look and drive."""
        self.server.gui.configure_theme(
            show_logo=False, show_share_button=False, control_width="small"
        )
        self.stage: Stage | None = None
        self.frame = 0
        self._followed: tuple[str, np.ndarray] = NOBODY, np.zeros(3)
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def drawing(self, result: Result, frames: int) -> Drawing:
        """What is drawn of a run."""
        return drawing_of(result, frames, self.looks)

    def load(self, drawing: Drawing, frame: int = 0) -> None:
        """Show a drawing, the first or another one of the same robot, at one of its instants."""
        with self._lock:
            if self.stage is None:
                stage = Stage(self.server, drawing, self._colour)
                self._add_display(stage)
                self.stage = stage  # last: who sees it sees its controls
            else:
                self.stage.load(drawing)
            self.show(frame)
            self._tell_colours()

    def show(self, frame: int) -> None:
        """Show one instant; cameras that follow a frame move along."""
        with self._lock:
            assert self.stage is not None
            self.frame = frame
            self.stage.show(frame)
            drawing, name = self.stage.drawing, self.follow.value
            if name not in drawing.frames:
                return
            place = drawing.frame_position[frame, drawing.frames.index(name)]
            followed, before = self._followed
            self._followed = name, place
            if followed == name and np.any(place != before):
                for client in self.server.get_clients().values():
                    client.camera.position = client.camera.position + place - before

    def _add_display(self, stage: Stage) -> None:
        """Controls of colours, layers and the camera."""
        gui = self.server.gui
        choices = [c for c in CHOICES if c == "plain" or c in stage.drawing.quantities]
        with gui.add_folder("Show"):
            self.colours = gui.add_dropdown("rods by", choices, initial_value=stage.colour)
            self.legend = gui.add_html("")
            self.layers = {
                name: gui.add_checkbox(name, stage.layers[name].visible)
                for name in LAYERS
                if name not in ("rods", "bodies") and not (name == "tendons" and not stage.lines)
            }
        with gui.add_folder("Camera"):
            fit = gui.add_button("Fit")
            self.follow: Any = gui.add_dropdown("follow", [NOBODY, *stage.drawing.frames])
        self.colours.on_update(lambda _: self._recolour())
        for name, box in self.layers.items():
            box.on_update(lambda _, name=name: self._toggle(name))
        fit.on_click(lambda _: self.fit())
        self.follow.on_update(lambda _: self.show(self.frame))

    def _recolour(self) -> None:
        with self._lock:
            assert self.stage is not None
            if self.colours.value in self.colours.options:  # browsers may send anything
                self.stage.colour = self.colours.value
            self.stage.show(self.frame)
            self._tell_colours()

    def _tell_colours(self) -> None:
        assert self.stage is not None
        largest = self.stage.largest.get(self.stage.colour, 0.0)
        self.legend.content = legend_html(self.stage.colour, largest)

    def _toggle(self, name: str) -> None:
        assert self.stage is not None
        self.stage.layers[name].visible = bool(self.layers[name].value)

    def fit(self) -> None:
        """Turn every camera to all of the run."""
        assert self.stage is not None
        position, target = camera_on(*self.stage.drawing.bounds)
        for client in self.server.get_clients().values():
            with client.atomic():
                client.camera.position, client.camera.look_at = position, target

    def _start(self, work: Any) -> None:
        """Do something beside the caller until the window is closed."""
        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and stop listening."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        close_server(self.server)


class Viewer(Window):
    """A run in the browser: play, pause, scrub, speed, loop.

    ``watch`` shows the newest instant of a run that is being computed, as ``simulate(watch=…)`` takes it.
    ``play`` shows a whole run.
    """

    def watch(self, newest: Result) -> None:
        """Show the last instant of a run so far."""
        self.load(self.drawing(newest.picked(slice(-1, None)), 1))

    def play(self, result: Result, frames: int = 600) -> None:
        """Play a run, from its beginning."""
        drawing = self.drawing(result, frames)
        self.t = drawing.t - drawing.t[0]
        self.load(drawing)
        self.fit()
        length = float(self.t[-1])
        gui = self.server.gui
        with gui.add_folder("Play", order=-1.0):
            self.button = gui.add_button("Pause", icon="player-pause")
            self.time: Any = gui.add_slider("time (s)", 0.0, max(length, 1e-9), tick(length), 0.0)
            self.speed: Any = gui.add_dropdown("speed", SPEEDS, initial_value="1")
            self.loop: Any = gui.add_checkbox("loop", True)
        self.playing = length > 0
        self.button.on_click(lambda _: self.pause(self.playing))
        self.time.on_update(lambda _: self._show_time())
        self._start(self._run)

    def pause(self, paused: bool = True) -> None:
        """Stop or go on playing."""
        if not paused and self._now() >= self.t[-1]:
            self.time.value = 0.0
        self.playing = not paused
        self.button.label = "Play" if paused else "Pause"
        self.button.icon = "player-play" if paused else "player-pause"

    def seek(self, t: float) -> None:
        """Show the instant nearest to a time (s) after the first."""
        self.time.value = t  # shows it

    def _show_time(self) -> None:
        frame = int(np.argmin(np.abs(self.t - self._now())))
        if frame != self.frame:
            self.show(frame)

    def _now(self) -> float:
        """The time (s) that is shown."""
        return within(self.time.value, 0.0, float(self.t[-1]), 0.0)

    def _run(self) -> None:
        last = clock.monotonic()
        while not self._stopped.wait(1 / RATE):
            now = clock.monotonic()
            speed = float(self.speed.value) if self.speed.value in SPEEDS else 1.0
            passed, last = (now - last) * speed, now
            if not self.playing:
                continue
            t = self._now() + passed
            if t > self.t[-1]:
                t = 0.0 if self.loop.value else float(self.t[-1])
                if not self.loop.value:
                    self.pause()
            self.seek(t)


def within(value: Any, low: float, high: float, otherwise: float) -> float:
    """A number that a browser sent, kept within its range; ``otherwise`` if it is none."""
    number = isinstance(value, int | float) and np.isfinite(value)
    if isinstance(value, float) and abs(value) == np.inf:
        return high if value > 0 else low
    return float(min(max(value, low), high)) if number else otherwise


def tick(length: float) -> float:
    """A step of a slider over a length: a thousandth of it, rounded down to a power of ten."""
    return float(10.0 ** np.floor(np.log10(max(length, 1e-9) / 1000)))


def view(
    result: Result,
    *,
    host: str = LOOPBACK,
    port: int = 8080,
    colour: str = "curvature",
    looks: Mapping[str, Sequence[Look]] | None = None,
) -> Viewer:
    """Open a run in the browser; the address is ``.url``, ``.close()`` ends it."""
    viewer = Viewer(result.model.name, host=host, port=port, colour=colour, looks=looks)
    viewer.play(result)
    return viewer
