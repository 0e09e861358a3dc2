"""A run as a film (MP4 or GIF), drawn without a display and without a browser.

Surfaces are seen through a pinhole camera, darker the more they turn away from it, and drawn from the
farthest to the nearest.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.results.result import Result
from supple.view.camera import FIELD, camera_axes, camera_on, round_length
from supple.view.colors import (
    ARROWS,
    PLAIN,
    QUANTITIES,
    SOLIDS,
    color_map,
    colors_of,
    pressure_color,
    tension_look,
)
from supple.view.drawing import Drawing, Strand, drawing_of

SIZE = (960, 640)
"""Pixels across and down."""
DPI = 100
FPS = 25
THIN = 2.6
"""Pixels: rods are drawn no thinner."""
GRID, SHADOW = "#e2e5ea", "#e6e8ec"


class Camera:
    """A pinhole camera: world points to picture coordinates (height -tan ½field … +tan ½field) and depths."""

    def __init__(self, points: np.ndarray, aspect: float) -> None:
        self.position, target = camera_on(points, aspect, 0.84)
        self.axes = camera_axes() * np.array([[1.0], [1.0], [-1.0]])
        self.distance = float(np.linalg.norm(target - self.position))

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Picture coordinates (…, 2) and depths (…)."""
        seen = (points - self.position) @ self.axes.T
        depth = np.maximum(seen[..., 2], 1e-3 * self.distance)
        return seen[..., :2] / depth[..., None], depth


class Painter:
    """Draws the instants of a drawing as pictures (height, width, 3) of bytes."""

    def __init__(
        self, drawing: Drawing, color: str = "curvature", size: tuple[int, int] = SIZE
    ) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.drawing, self.color = drawing, drawing.color(color)
        self.largest = drawing.largest(self.color)
        self.tension, self.pressure = drawing.largest("tension"), drawing.largest("pressure")
        low, high = drawing.bounds
        self.camera, self.span = Camera(drawing.seen, size[0] / size[1]), drawing.span
        self.floor = float(min(low[2], 0.0))
        figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI, facecolor="white")
        self.canvas = FigureCanvasAgg(figure)
        self.axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        half = np.tan(FIELD / 2)
        self.pixel = 2 * half / size[1]
        self.axes.set(
            xlim=(-half * size[0] / size[1], half * size[0] / size[1]), ylim=(-half, half)
        )
        self.axes.axis("off")
        self._background(figure, (low + high) / 2)
        self.moving: list[Any] = []

    def _background(self, figure: Any, middle: np.ndarray) -> None:
        from matplotlib.collections import LineCollection

        cell = round_length(self.span / 8)
        count = int(np.ceil(self.span / cell))
        center = np.round(middle[:2] / cell) * cell
        marks, run = cell * np.arange(-count, count + 1), np.linspace(-count, count, 33) * cell
        across = np.stack(np.broadcast_arrays(marks[:, None], run[None]), axis=-1)
        lines = np.concatenate([across, across[..., ::-1]]) + center
        points = np.concatenate([lines, np.full((*lines.shape[:2], 1), self.floor)], axis=-1)
        seen, depth = self.camera(points)
        pairs = np.stack([seen[:, :-1], seen[:, 1:]], axis=2).reshape(-1, 2, 2)
        near = depth[:, 1:].reshape(-1) > 0.1 * self.camera.distance
        self.axes.add_collection(
            LineCollection(list(pairs[near]), colors=GRID, linewidths=0.8, zorder=0)
        )
        figure.text(0.02, 0.95, _plain(self.drawing.name), fontsize=13, weight="bold", color="#333")
        self.clock = figure.text(0.98, 0.95, "", fontsize=12, ha="right", color="#333")
        figure.text(0.98, 0.02, _plain(self._thick()), fontsize=8, ha="right", color="#77808e")
        if self.color == "plain":
            return
        quantity = QUANTITIES[self.color]
        bar = figure.add_axes((0.02, 0.065, 0.22, 0.018))
        bar.imshow(np.linspace(0, 1, 64)[None], aspect="auto", cmap=color_map(self.color))
        bar.axis("off")
        low = -self.largest if quantity.signed else 0.0
        figure.text(0.02, 0.093, f"{self.color} ({quantity.unit})", fontsize=10, color="#333")
        figure.text(0.02, 0.03, f"{low:.3g}", fontsize=9, color="#333")
        figure.text(0.24, 0.03, f"{self.largest:.3g}", fontsize=9, ha="right", color="#333")

    def _times(self, strand: Strand) -> float:
        """How many times as thick as it is a rod is drawn, to be seen."""
        return max(1.0, THIN / 2 * self.pixel * self.camera.distance / strand.reach)

    def _thick(self) -> str:
        """Which rods are not drawn to scale."""
        times = {rod.name: self._times(rod) for rod in self.drawing.rods}
        named = [f"{name} drawn {x:.2g} × as thick" for name, x in times.items() if x > 1.005]
        if len(named) > 3:
            named = [f"{len(named)} rods drawn up to {max(times.values()):.2g} × as thick"]
        return " · ".join([*named, *(["tendons not to scale"] if self.drawing.lines else [])])

    def picture(self, frame: int) -> np.ndarray:
        """One instant."""
        from matplotlib.collections import PolyCollection

        clear = 0.45 if self.drawing.chambers else 1.0  # chambers are inside their rods
        surfaces = [(*surface, clear) for surface in self._rods(frame)]
        surfaces += [(*surface, 1.0) for surface in self._solids(frame)]
        shadows = [corners for corners, *_ in surfaces]
        polygons, depths, colors, opacity = [], [], [], []
        for corners, color, solid in surfaces:
            normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, -1] - corners[:, 0])
            normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-300)
            center = corners.mean(axis=1)
            towards = self.camera.position - center
            towards /= np.linalg.norm(towards, axis=-1, keepdims=True)
            facing = np.einsum("pi,pi->p", normal, towards)
            front = facing > 0
            seen, depth = self.camera(corners[front])
            light = 0.5 + 0.5 * facing[front] ** 0.7  # what faces the camera has its very color
            polygons += list(seen)
            opacity.append(np.full(len(seen), solid))
            depths.append(depth.mean(axis=1))
            colors.append(light[:, None] * np.broadcast_to(color, (len(front), 3))[front] / 255)
        for ribbon, depth, color in self._ribbons(frame):
            polygons += list(ribbon)
            opacity.append(np.ones(len(ribbon)))
            depths.append(depth)
            colors.append(np.broadcast_to(np.asarray(color) / 255, (len(ribbon), 3)))
        for old in self.moving:
            old.remove()
        flat = [np.concatenate([c[..., :2], np.full((*c.shape[:2], 1), self.floor)], axis=-1)
                for c in shadows]  # fmt: skip
        on_floor = [polygon for corners in flat for polygon in self.camera(corners)[0]]
        order = np.argsort(-np.concatenate([*depths, np.zeros(0)]))
        tints = np.clip(np.concatenate([*colors, np.zeros((0, 3))]), 0, 1)[order]
        shares = np.concatenate([*opacity, np.zeros(0)])[order, None]
        faces, edges = np.hstack([tints, shares]), np.hstack([tints, np.floor(shares)])
        self.moving = [
            PolyCollection(on_floor, facecolors=SHADOW, edgecolors=SHADOW, linewidths=0.3),
            PolyCollection(
                [polygons[i] for i in order], facecolors=faces, edgecolors=edges, linewidths=0.4
            ),
        ]
        for collection in self.moving:
            self.axes.add_collection(collection)
        self.clock.set_text(f"t = {self.drawing.t[frame]:.2f} s")
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()

    def _rods(self, frame: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Quadrilaterals (p, 4, 3) of each rod's surface, and their colors (p, 3)."""
        for rod in self.drawing.rods:
            if np.isnan(rod.position[frame, 0, 0]):  # it does not exist now
                continue
            pixels = np.abs(rod.outline).max() / self.camera.distance / self.pixel
            skin = rod.skin(frame, self._times(rod))[
                :, :: 4 if pixels < 4 else 2 if pixels < 12 else 1
            ]
            pieces, sides = skin.shape[0] - 1, skin.shape[1]
            turned = np.roll(skin, -1, axis=1)
            quads = np.stack([skin[:-1], turned[:-1], turned[1:], skin[1:]], axis=2)
            plain = np.tile(PLAIN, (pieces, 1))
            own = plain if self.color == "plain" else colors_of(
                self.color, _between(rod.values[self.color][frame]), self.largest
            )  # fmt: skip
            yield quads.reshape(-1, 4, 3), np.repeat(own, sides, axis=0)
            yield skin[:1, ::-1], own[:1]
            yield skin[-1:], own[-1:]

    def _solids(self, frame: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for solid in self.drawing.solids:
            vertices, faces = solid.mesh
            if np.isnan(solid.position[frame, 0]):
                continue
            moved = vertices @ solid.rotation[frame].T + solid.position[frame]
            yield moved[faces], np.array(SOLIDS[solid.kind])
        for chamber in self.drawing.chambers:
            if np.isnan(chamber.position[frame, 0, 0]):
                continue
            skin = chamber.skin(frame)[:, ::2]
            turned = np.roll(skin, -1, axis=1)
            quads = np.stack([skin[:-1], turned[:-1], turned[1:], skin[1:]], axis=2)
            value = float(chamber.values["pressure"][frame, 0])
            yield quads.reshape(-1, 4, 3), pressure_color(value, self.pressure)

    def _ribbons(self, frame: int) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """Tendons and arrows as flat strips (p, k, 2) of the picture, with their depths and colors."""
        for line in self.drawing.lines:
            if np.isnan(line.points[frame, 0, 0]):
                continue
            color, width = tension_look(float(line.tension[frame]), self.tension)
            seen, depth = self.camera(line.points[frame])
            yield *_strip(seen, depth, width * self.pixel), color
        for arrow in self.drawing.arrows:
            start, way = arrow.start[frame], self.drawing.drawn(arrow)[frame]
            if np.linalg.norm(way) < 1e-3 * self.span:
                continue
            seen, depth = self.camera(np.linspace(start, start + way, 5))
            color = ARROWS[arrow.kind]
            yield *_strip(seen, depth, 3.0 * self.pixel), color
            along = (seen[-1] - seen[0]) / max(float(np.linalg.norm(seen[-1] - seen[0])), 1e-12)
            aside, head = np.array([-along[1], along[0]]), 10.0 * self.pixel
            tip = np.stack([seen[-1] + head * along, seen[-1] + 0.6 * head * aside,
                            seen[-1] - 0.6 * head * aside])  # fmt: skip
            yield tip[None], depth[-1:], color


def _between(values: np.ndarray) -> np.ndarray:
    """Values (n - 1,) in the middle of pieces, from those at their ends."""
    return (values[:-1] + values[1:]) / 2


def _strip(seen: np.ndarray, depth: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """A line (n, 2) of the picture as quadrilaterals (n - 1, 4, 2), and their depths."""
    along = np.diff(seen, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)
    aside = width / 2 * np.stack([-along[:, 1], along[:, 0]], axis=-1)
    a, b = seen[:-1], seen[1:]
    return np.stack([a + aside, b + aside, b - aside, a - aside], axis=1), depth[1:]


def to_film(
    result: Result,
    path: str | Path,
    *,
    color: str = "curvature",
    speed: float = 1.0,
    fps: int = FPS,
) -> Path:
    """Write a run as a film, ``.gif`` or ``.mp4``, at ``speed`` times real time.

    MP4 needs ffmpeg: that of the system, or the extra ``film``.
    """
    path = Path(path)
    if path.suffix not in (".gif", ".mp4"):
        raise ArgumentError(f"film: got {path.name!r}; need a name that ends in .gif or .mp4")
    if not (speed > 0 and fps > 0):
        raise ArgumentError(f"speed, fps: got {speed!r} and {fps!r}; need numbers > 0")
    program = _ffmpeg() if path.suffix == ".mp4" else ""
    count = round(float(result.t[-1] - result.t[0]) * fps / speed) + 1
    times = np.linspace(result.t[0], result.t[-1], count)
    painter = Painter(drawing_of(result.sample(times), count, energies=False), color)
    pictures = (painter.picture(frame) for frame in range(count))
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".mp4":
        _write_mp4(program, path, pictures, fps)
    else:
        _write_gif(path, pictures, fps)
    return path


def _write_gif(path: Path, pictures: Iterator[np.ndarray], fps: int) -> None:
    from PIL import Image

    first, *others = [
        Image.fromarray(picture).quantize(128, dither=Image.Dither.NONE) for picture in pictures
    ]
    first.save(path, save_all=True, append_images=others, duration=round(1000 / fps), loop=0)


def _plain(text: str) -> str:
    """Text that holds names, which are never formulas."""
    return text.replace("$", r"\$")


def _ffmpeg() -> str:
    """The program that writes MP4."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError as error:
        need = "pip install 'supple[film]', or ffmpeg on the path, or a name that ends in .gif"
        raise ArgumentError(f"film: MP4 needs ffmpeg, which is not here; need {need}") from error
    return str(get_ffmpeg_exe())


def _write_mp4(program: str, path: Path, pictures: Iterator[np.ndarray], fps: int) -> None:
    size = f"{SIZE[0]}x{SIZE[1]}"
    command = [
        program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size,
        "-r", str(fps), "-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18",
        "-movflags", "+faststart", str(path),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as ffmpeg:
        assert ffmpeg.stdin is not None
        assert ffmpeg.stderr is not None
        try:
            for picture in pictures:
                ffmpeg.stdin.write(picture.tobytes())
            ffmpeg.stdin.close()
        except BrokenPipeError:
            pass  # it says why
        said = ffmpeg.stderr.read().decode(errors="replace").strip()
    if ffmpeg.returncode != 0:
        raise ArgumentError(f"film: {path}: ffmpeg failed: {said or ffmpeg.returncode}")
