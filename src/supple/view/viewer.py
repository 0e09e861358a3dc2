"""A robot in the browser: live controls over a run, or one page that plays it offline."""

import sys
import threading
import time as clock
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import StateError
from supple.results.result import Result
from supple.view.drawing import Drawing, Skin, drawing_of

LOOPBACK = "127.0.0.1"
BANDS = 16
"""Pieces of a rod that have a colour each."""
PALE, DARK = np.array([158.0, 190.0, 222.0]), np.array([196.0, 52.0, 60.0])
"""Colour of a rod at rest and at the largest strain of the run."""
BODY, TENDON = (120, 126, 138), (34, 38, 46)


class _Band:
    """A piece of a rod's skin with its own colour."""

    def __init__(self, scene: Any, skin: Skin, rows: np.ndarray, largest: float) -> None:
        self.skin, self.largest = skin, largest
        faces = skin.faces[rows]
        self.used, inverse = np.unique(faces, return_inverse=True)
        self.section = int(np.median(self.used) * skin.strain.shape[1] / skin.vertices.shape[1])
        self.handle = scene.add_mesh_simple(
            f"/rods/{skin.name}/{int(rows[0])}",
            vertices=skin.vertices[0, self.used].astype(np.float32),
            faces=inverse.reshape(faces.shape).astype(np.uint32),
            color=self.colour(0),
            side="double",
        )

    def colour(self, frame: int) -> tuple[int, int, int]:
        share = min(1.0, float(self.skin.strain[frame, self.section]) / self.largest)
        mixed = (1 - share) * PALE + share * DARK
        return int(mixed[0]), int(mixed[1]), int(mixed[2])

    def show(self, frame: int) -> None:
        self.handle.vertices = self.skin.vertices[frame, self.used].astype(np.float32)
        self.handle.color = self.colour(frame)


class Stage:
    """A drawing on a viser server: one call shows one instant."""

    def __init__(self, server: Any, drawing: Drawing) -> None:
        self.server, self.drawing = server, drawing
        scene = server.scene
        scene.set_up_direction("+z")
        low, high = drawing.bounds
        span = float(np.max(high - low)) or 1.0
        middle = (low + high) / 2
        server.initial_camera.fov = np.radians(40.0)
        server.initial_camera.position = middle + span * np.array([0.6, -1.3, 0.55])
        server.initial_camera.look_at = middle
        scene.add_grid(
            "/ground",
            width=4 * span,
            height=4 * span,
            cell_size=_round_length(span / 10),
            cell_color=(236, 238, 241),
            section_size=_round_length(span / 10) * 5,
            section_color=(214, 218, 224),
            position=(float(middle[0]), float(middle[1]), float(min(low[2], 0.0))),
        )
        scene.add_frame("/world", axes_length=0.1 * span, axes_radius=0.003 * span)
        self.bands: list[_Band] = []
        for skin in drawing.skins:
            largest = max(float(skin.strain.max()), 1e-9)
            pieces = np.array_split(np.arange(len(skin.faces)), BANDS)
            self.bands += [_Band(scene, skin, rows, largest) for rows in pieces]
        self.solids = [
            scene.add_box(f"/bodies/{solid.name}", color=BODY, dimensions=tuple(solid.edges))
            for solid in drawing.solids
        ]
        self.lines = [
            scene.add_line_segments(
                f"/tendons/{line.name}",
                points=_segments(line.points[0]),
                colors=np.array(TENDON, dtype=np.uint8),
                thickness=2.5,
                thickness_units="screen",
            )
            for line in drawing.lines
        ]
        self.show(0)

    def show(self, frame: int) -> None:
        """Show one instant."""
        with self.server.atomic():
            for band in self.bands:
                band.show(frame)
            for handle, solid in zip(self.solids, self.drawing.solids, strict=True):
                handle.position = solid.position[frame]
                handle.wxyz = _quaternion(solid.rotation[frame])
            for handle, line in zip(self.lines, self.drawing.lines, strict=True):
                handle.points = _segments(line.points[frame])


def _round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda m: abs(m * power - length)))


def _segments(points: np.ndarray) -> np.ndarray:
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


def _quaternion(rotation: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(rotation).as_quat(scalar_first=True)


def _server(host: str, port: int, label: str | None = None) -> Any:
    """A viser server; says what to install where it is missing."""
    try:
        import viser
    except ImportError as error:
        raise StateError("view: viser is not installed; need pip install 'supple[view]'") from error
    with redirect_stdout(sys.stderr):  # it greets; what is printed may be read by a program
        return viser.ViserServer(host=host, port=port, label=label, verbose=False)


def to_html(result: Result, path: str | Path, frames: int = 200) -> Path:
    """One self-contained page that plays the run in any browser, without network."""
    drawing = drawing_of(result, frames)
    server = _server(LOOPBACK, 0)
    try:
        stage = Stage(server, drawing)
        recording = server.get_scene_serializer()
        for frame in range(len(drawing.t)):
            stage.show(frame)
            if frame + 1 < len(drawing.t):
                recording.insert_sleep(float(drawing.t[frame + 1] - drawing.t[frame]))
        page = recording.as_html()
    finally:
        with redirect_stdout(sys.stderr):
            server.stop()
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page)
    return path


class Viewer:
    """A run in the browser: play, pause, scrub, speed. Listens on loopback only unless told otherwise."""

    def __init__(
        self, result: Result, *, host: str = LOOPBACK, port: int = 8080, frames: int = 600
    ) -> None:
        self.drawing = drawing_of(result, frames)
        self.server = server = _server(host, port, f"Supple: {result.model.name}")
        self.stage = Stage(self.server, self.drawing)
        last, gui = len(self.drawing.t) - 1, server.gui
        self.playing: Any = gui.add_checkbox("play", True)
        self.slider: Any = gui.add_slider("frame", min=0, max=max(last, 1), step=1, initial_value=0)
        self.speed: Any = gui.add_slider("speed", min=0.1, max=4.0, step=0.1, initial_value=1.0)
        self.time: Any = gui.add_text("time (s)", "0", disabled=True)
        self.slider.on_update(lambda _: self._show())
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where to look."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def _show(self) -> None:
        frame = int(self.slider.value)
        self.stage.show(min(frame, len(self.drawing.t) - 1))
        self.time.value = f"{self.drawing.t[min(frame, len(self.drawing.t) - 1)]:.3f}"

    def _play(self) -> None:
        last = len(self.drawing.t) - 1
        while not self._stopped.is_set():
            if not self.playing.value or last < 1:
                self._stopped.wait(0.05)
                continue
            frame = int(self.slider.value)
            after = 0 if frame >= last else frame + 1
            wait = abs(self.drawing.t[after] - self.drawing.t[frame]) if after else 0.5
            begun = clock.monotonic()
            self.slider.value = after  # shows it
            spent = clock.monotonic() - begun
            self._stopped.wait(max(0.0, wait / float(self.speed.value) - spent))

    def close(self) -> None:
        """Stop playing and listening."""
        self._stopped.set()
        self._thread.join(timeout=2.0)
        self.server.stop()


def view(result: Result, *, host: str = LOOPBACK, port: int = 8080) -> Viewer:
    """Open a run in the browser; the address is ``.url``."""
    return Viewer(result, host=host, port=port)
