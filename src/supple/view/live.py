"""A robot in the browser that is simulated in real time, driven by sliders."""

import html
import time as clock
from collections.abc import Mapping, Sequence
from typing import Any

from supple.errors import StateError
from supple.robot.looks import Look
from supple.robot.robot import Robot
from supple.run.live import LiveRun
from supple.view.viewer import LOOPBACK, RATE, Window, tick, within

LATE = 0.9
"""A simulation with less of its real time than this is called slow."""


class Live(Window):
    """A simulation paced by the clock on the wall, with a slider for each of its drives.

    ``speed`` is how fast it should go, ``factor`` how fast it went in the last second, against real time.
    """

    def __init__(self, run: LiveRun, *, speed: float = 1.0, **options: Any) -> None:
        if not speed > 0:
            raise StateError(f"speed: got {speed!r}; need a number > 0 (1 is real time)")
        super().__init__(run.model.name, **options)
        self.run, self.speed, self.factor, self.paused = run, speed, 0.0, False
        gui = self.server.gui
        with gui.add_folder("Run", order=-2.0):
            self.says = gui.add_html(_panel("compiling …"))
            self.button = gui.add_button("Pause", icon="player-pause")
            reset = gui.add_button("Reset", icon="player-skip-back")
        with gui.add_folder("Drive", order=-1.0):
            self.sliders: dict[str, Any] = {
                drive.name: gui.add_slider(
                    f"{drive.name} ({drive.unit})" if drive.unit else drive.name,
                    drive.factor * drive.low,
                    drive.factor * drive.high,
                    tick(drive.factor * (drive.high - drive.low)),
                    drive.factor * drive.value,
                )
                for drive in run.drives
            }
            if not run.drives:
                gui.add_markdown(
                    "Nothing drives this robot: it has no tendon, chamber, motor or load."
                )
        self.button.on_click(lambda _: self.pause(not self.paused))
        reset.on_click(lambda _: self.reset())
        self._reset = False
        self._start(self._go)

    def pause(self, paused: bool = True) -> None:
        """Stop or go on."""
        self.paused = paused
        self.button.label = "Go on" if paused else "Pause"
        self.button.icon = "player-play" if paused else "player-pause"

    def reset(self) -> None:
        """Go back to the start, with the sliders where they were."""
        for drive in self.run.drives:
            self.sliders[drive.name].value = drive.factor * drive.value
        self._reset = True

    def _wanted(self) -> dict[str, float]:
        return {
            d.name: within(slider.value, slider.min, slider.max, d.factor * d.value) / d.factor
            for d, slider in ((d, self.sliders[d.name]) for d in self.run.drives)
        }

    def _go(self) -> None:
        self.load(self.drawing(self.run.newest, 1))
        self.run.step(self._wanted())  # compiles
        counted, since, last = self.run.t, clock.monotonic(), clock.monotonic()
        due = self.run.t
        while not self._stopped.is_set():
            begun = clock.monotonic()
            if self._reset:
                self._reset = False
                self.run.reset()
                due, counted, since = 0.0, 0.0, begun
            # What is late by more than two pictures is given up: the simulation is slower than the clock.
            passed, last = 0.0 if self.paused else begun - last, begun
            due = min(due + self.speed * passed, self.run.t + 2 * self.speed / RATE + self.run.dt)
            going = not self.paused
            while going and self.run.t + self.run.dt / 2 < due:
                going = self.run.step(self._wanted()) and clock.monotonic() - begun < 2 / RATE
            self.load(self.drawing(self.run.newest, 1))
            now = clock.monotonic()
            if self.paused:
                counted, since = self.run.t, now
            elif now - since > 1.0:
                self.factor = (self.run.t - counted) / (now - since)
                counted, since = self.run.t, now
            self._say()
            self._stopped.wait(max(0.0, 1 / RATE - (clock.monotonic() - begun)))

    def _say(self) -> None:
        run = self.run
        text, more = f"t = {run.t:.1f} s", ""
        if run.message:
            text, more = f"{text}, stopped", f"{run.message}. Reset to start again."
        elif self.paused:
            text += ", paused"
        elif self.factor:
            text += f", {self.factor:.2f} × real time"
            if self.factor < LATE * self.speed:
                more = "slower than asked for: a larger step or fewer modes help"
        panel = _panel(text, more)
        if self.says.content != panel:
            self.says.content = panel


def _panel(text: str, more: str = "") -> str:
    """Lines of the panel. Messages hold names, which are text: markdown would run what is in them."""
    lines = html.escape(text) + (f"<br><b>{html.escape(more)}</b>" if more else "")
    return f'<div style="margin:0 12px 4px;font:13px system-ui,sans-serif">{lines}</div>'


def live(
    robot: Robot,
    *,
    dt: float = 0.01,
    speed: float = 1.0,
    host: str = LOOPBACK,
    port: int = 8080,
    colour: str = "curvature",
    looks: Mapping[str, Sequence[Look]] | None = None,
    **options: Any,
) -> Live:
    """Simulate a robot in real time in the browser; the address is ``.url``, ``.close()`` ends it.

    ``dt`` is the step (s), ``speed`` the wanted speed against real time. Other options are those of
    :class:`supple.run.live.LiveRun`: ``scheme``, ``start``, and ``duration``, the time (s) over which the
    ranges of the sliders are taken from the laws they replace.
    """
    run = LiveRun(robot, dt=dt, **options)
    return Live(run, speed=speed, host=host, port=port, colour=colour, looks=looks)
