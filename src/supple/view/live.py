"""A robot in the browser that is simulated in real time, driven by sliders and pulled by the mouse."""

import time as clock
from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.robot.robot import Robot
from supple.run.live import Drive, LiveRun
from supple.view.drawing import drawing_of
from supple.view.gate import flag, number, point, table
from supple.view.viewer import LOOPBACK, Window

LATE = 0.9
"""A simulation with less of its real time than this is called slow."""
RATE = 30.0
"""Pictures a second, at most."""
SOFTER = 100.0
"""How many times as soft, or as stiff, as at first the spring of the mouse may be."""
REACH = 100.0
"""How far the mouse may pull, over the size of the robot."""


class Live(Window):
    """A simulation paced by the clock on the wall, with a slider for each of its drives.

    ``speed`` is how fast it should go, ``factor`` how fast it went in the last second, against real time.
    """

    def __init__(self, run: LiveRun, *, speed: float = 1.0, **options: Any) -> None:
        if not speed > 0:
            raise ArgumentError(f"speed: got {speed!r}; need a number > 0 (1 is real time)")
        self.run, self.speed, self.factor, self.paused = run, speed, 0.0, False
        self.wanted = {drive.name: drive.value for drive in run.drives}
        self._spring, self._reach = run.spring, 0.0
        self._reset, self._said = False, ""
        super().__init__(run.model.name, **options)
        self._start(self._go)

    def hear(self, words: Mapping[str, Any]) -> None:
        """Sliders, buttons and the mouse."""
        words = table(words, {"set", "spring", "pull", "pause", "reset"}, "page")
        drives = {drive.name: drive for drive in self.run.drives}
        wanted = {
            name: _within(drives[name], value)
            for name, value in table(words.get("set", {}), set(drives), "set").items()
        }
        spring = words.get("spring", self.run.spring)
        spring = number(spring, self._spring / SOFTER, self._spring * SOFTER, "spring")
        pulled = self._pulled(words.get("pull"))
        paused = flag(words.get("pause", self.paused), "pause")
        reset = flag(words.get("reset", False), "reset")
        # All of it makes sense.
        self.wanted |= wanted
        self.paused = paused
        if "spring" in words:
            self.run.spring = spring
        if "pull" in words:
            self.run.pull(*pulled)
        if reset:
            self.reset()

    def _pulled(self, given: Any) -> tuple[str | None, Any]:
        """What is pulled, and where to, no further than a spring makes sense; None lets go."""
        if given is None:
            return None, None
        given = table(given, {"item", "target"}, "pull")
        item, target = given.get("item"), np.array(point(given.get("target"), "pull"))
        drawing = self.drawing
        if not isinstance(item, str) or item not in self.run.pulls or drawing is None:
            raise ArgumentError("pull: got something else; need an item that can be pulled")
        here = drawing.frame_position[0, drawing.frames.index(item)]
        far = float(np.linalg.norm(target - here))
        return item, here + min(1.0, self._reach / max(far, 1e-300)) * (target - here)

    def reset(self) -> None:
        """Go back to the start, with the drives where they were."""
        self.wanted = {drive.name: drive.value for drive in self.run.drives}
        self._reset = True

    def _drawing(self) -> Any:
        return drawing_of(self.run.newest, 1, energies=False)

    def _go(self) -> None:
        drawing = self._drawing()
        self._reach = REACH * drawing.span
        self.put(drawing, live=self._controls())
        self.run.step(self.wanted)  # compiles
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
                going = self.run.step(self.wanted) and clock.monotonic() - begun < 2 / RATE
            self.move(self._drawing(), self.run.t)
            now = clock.monotonic()
            if self.paused:
                counted, since = self.run.t, now
            elif now - since > 1.0:
                self.factor = (self.run.t - counted) / (now - since)
                counted, since = self.run.t, now
            self._say()
            self._stopped.wait(max(0.0, 1 / RATE - (clock.monotonic() - begun)))

    def _controls(self) -> dict[str, Any]:
        drives = [
            {
                "name": drive.name,
                "unit": drive.unit,
                "low": drive.factor * drive.low,
                "high": drive.factor * drive.high,
                "step": tick(drive.factor * (drive.high - drive.low)),
                "value": drive.factor * drive.value,
            }
            for drive in self.run.drives
        ]
        pulls = {"pulls": list(self.run.pulls), "spring": self._spring, "softer": SOFTER}
        return {"drives": drives, **pulls}

    def _say(self) -> None:
        run, warn = self.run, False
        text = f"t = {run.t:.1f} s"
        if run.message:
            text, warn = f"{text}. Stopped: {run.message}. Reset to start again.", True
        elif self.paused:
            text += ", paused"
        elif self.factor:
            text += f", {self.factor:.2f} × real time"
            if self.factor < LATE * self.speed:
                text, warn = (
                    f"{text}: slower than asked for. A larger step or fewer modes help",
                    True,
                )
        if text != self._said:
            self._said = text
            self.server.tell("says", {"text": text, "warn": warn})


def _within(drive: Drive, value: Any) -> float:
    """A value of a slider, in its unit, as the drive takes it."""
    low, high = drive.factor * drive.low, drive.factor * drive.high
    return number(value, low, high, "set") / drive.factor


def tick(length: float) -> float:
    """A step of a slider over a length: a thousandth of it, rounded down to a power of ten."""
    return float(10.0 ** np.floor(np.log10(max(length, 1e-9) / 1000)))


def live(
    robot: Robot,
    *,
    dt: float = 0.01,
    speed: float = 1.0,
    host: str = LOOPBACK,
    port: int = 8080,
    color: str = "curvature",
    **options: Any,
) -> Live:
    """Simulate a robot in real time in the browser; the address is ``.url``, ``.close()`` ends it.

    ``dt`` is the step (s), ``speed`` the wanted speed against real time. Other options are those of
    :class:`supple.run.live.LiveRun`: ``scheme``, ``initial``, and ``duration``, the time (s) over which the
    ranges of the sliders are taken from the laws they replace.
    """
    run = LiveRun(robot, dt=dt, **options)
    return Live(run, speed=speed, host=host, port=port, color=color)
