"""A drawing in the scene of a viser server: one call shows one instant."""

import io
from contextlib import redirect_stdout
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.errors import StateError
from supple.view.bodies import Mesh, prism, tube
from supple.view.colours import PLAIN, colours_of, tension_look
from supple.view.drawing import Drawing, Strand
from supple.view.gate import Gate, check_address

BODY = (154, 160, 172)
ARROWS = {"force": (224, 122, 20), "moment": (150, 70, 190), "contact": (20, 140, 90)}
LAYERS = ("ground", "rods", "bodies", "tendons", "frames", "names", "forces")
"""Parts of the scene that can be hidden."""
ENDS = [0, -1]
"""The first and the last piece of a rod."""
VIEW = np.array([0.55, -1.0, 0.42])
"""From where the robot is seen."""
FIELD = np.radians(35.0)
"""Vertical angle of view."""
WIDE, MARGIN = 1.2, 1.25
"""Width over height of the part of the picture that is used, and the room left around the robot."""


def open_server(host: str, port: int, label: str | None = None) -> tuple[Any, str]:
    """A viser server, and the address without which it lets nobody in; says what to install."""
    check_address(host, port)
    try:
        import viser
    except ImportError as error:
        raise StateError("view: viser is not installed; need pip install 'supple[view]'") from error
    gate = Gate()
    with (
        redirect_stdout(io.StringIO()),
        gate.before_servers(),
    ):  # it greets; programs may read stdout
        server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    if not gate.used:
        close_server(server)
        raise StateError(f"view: got viser {viser.__version__}, which lets anybody in; need 1.1")
    own = server.get_host()
    place = f"[{own}]" if ":" in own else own
    return server, f"http://{place}:{server.get_port()}/{gate.token}/"


def close_server(server: Any) -> None:
    """Stop listening, without a word."""
    with redirect_stdout(io.StringIO()):
        server.stop()


def quaternions(rotation: np.ndarray) -> np.ndarray:
    """Quaternions (…, 4), real part first, of rotations (…, 3, 3)."""
    copied = np.array(rotation).reshape(-1, 3, 3)  # SciPy before 1.15 wants to write there
    flat = Rotation.from_matrix(copied).as_quat(scalar_first=True)
    return flat.reshape(*rotation.shape[:-2], 4)


def camera_on(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a camera stands, and what it looks at, to see all between two corners."""
    middle = (low + high) / 2
    back = VIEW / np.linalg.norm(VIEW)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    corners = np.stack(np.meshgrid(*np.stack([low, high], axis=1)), axis=-1).reshape(-1, 3) - middle
    up, half = np.cross(back, right), np.tan(FIELD / 2)
    beside = np.maximum(np.abs(corners @ right) / (WIDE * half), np.abs(corners @ up) / half)
    distance = float((corners @ back + MARGIN * beside).max())
    return middle + max(distance, 1e-3) * back, middle


def round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, near a length."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda m: abs(m * power - length)))


class _RodNode:
    """A rod as a row of short straight tubes, each with its own colour, and a lid at either end."""

    def __init__(self, scene: Any, number: int, rod: Strand) -> None:
        self.number = number  # nodes are paths, which names are not
        middle = rod.outline[1::2]
        self.extent = np.maximum(np.abs(middle).max(axis=1), 1e-9)  # along y and z
        self.load(rod)
        shape = middle[len(middle) // 2] / self.extent[len(middle) // 2]
        self.handle = self._add(scene, "side", tube(shape), slice(None))
        self.lids = self._add(scene, "lids", prism(shape), ENDS)

    def _add(self, scene: Any, part: str, mesh: Mesh, pieces: Any) -> Any:
        return scene.add_batched_meshes_simple(
            f"/rods/{self.number}/{part}",
            mesh[0].astype(np.float32),
            mesh[1].astype(np.uint32),
            batched_wxyzs=self.turns[0, pieces],
            batched_positions=self.places[0, pieces],
            batched_scales=self.scales[0, pieces],
            batched_colors=PLAIN,
            flat_shading=self.rod.sharp,
            side="double",
            lod="off",
            receive_shadow=False,  # its own pieces would draw rings on it
        )

    def load(self, rod: Strand) -> None:
        """Take another drawing of the rod."""
        self.rod = rod
        ends, self.places = rod.position[:, ::2], rod.position[:, 1::2].astype(np.float32)
        self.turns = quaternions(rod.rotation[:, 1::2]).astype(np.float32)
        # Longer than they are by what bending opens on the outer side, so that no gap shows.
        opens = (rod.values["curvature"][:, 1::2] * self.extent.max(axis=1)).max(axis=0)
        length = np.linalg.norm(np.diff(ends, axis=1), axis=-1) * (1.0 + opens)
        step = 1e-3 * max(float(length.max()), 1e-12)
        lengths = np.round(length / step) * step  # changes too small to be seen are not sent
        across = np.broadcast_to(self.extent, (*lengths.shape, 2))
        self.scales = np.concatenate([lengths[..., None], across], axis=-1).astype(np.float32)

    def show(self, frame: int, colour: str, largest: float) -> None:
        """Show one instant."""
        colours = (
            np.tile(np.array(PLAIN, dtype=np.uint8), (self.places.shape[1], 1))
            if colour == "plain"
            else colours_of(colour, self.rod.values[colour][frame, 1::2], largest)
        )
        for handle, pieces in ((self.handle, slice(None)), (self.lids, ENDS)):
            handle.batched_positions = self.places[frame, pieces]
            handle.batched_wxyzs = self.turns[frame, pieces]
            handle.batched_scales = self.scales[frame, pieces]
            handle.batched_colors = colours[pieces]


class Stage:
    """A drawing on a viser server. Another drawing of the same robot may be loaded later."""

    def __init__(self, server: Any, drawing: Drawing, colour: str = "curvature") -> None:
        self.server, self.colour = server, drawing.colour(colour)
        scene = server.scene
        scene.set_up_direction("+z")
        # Lights of our own: pictures of surroundings take seconds where there is no graphics card.
        scene.configure_environment_map(hdri=None)
        scene.add_light_hemisphere(
            "/lights/sky", sky_color=(255, 255, 255), ground_color=(170, 176, 188), intensity=1.4
        )
        scene.add_light_directional(
            "/lights/side", intensity=0.5, wxyz=(0.85, 0.5, 0.1, 0.1), cast_shadow=False
        )
        low, high = drawing.bounds
        self.span = span = float(np.max(high - low)) or 1.0
        server.initial_camera.fov = FIELD
        server.initial_camera.position, server.initial_camera.look_at = camera_on(low, high)
        self.layers = {
            name: scene.add_frame(f"/{name}", show_axes=False, visible=name not in ("frames", "names"))
            for name in LAYERS
        }  # fmt: skip
        self._ground(low, high)
        self._gravity(drawing.gravity, low, high)
        self.rods = [_RodNode(scene, i, rod) for i, rod in enumerate(drawing.rods)]
        self.solids = [
            scene.add_mesh_simple(
                f"/bodies/{i}",
                vertices=solid.mesh[0].astype(np.float32),
                faces=solid.mesh[1].astype(np.uint32),
                color=BODY,
                flat_shading=True,
            )
            for i, solid in enumerate(drawing.solids)
        ]
        self.lines = [
            scene.add_line_segments(
                f"/tendons/{i}",
                points=_segments(line.points[0]),
                colors=np.zeros(3, dtype=np.uint8),
                thickness=2.0,
                thickness_units="screen",
            )
            for i, line in enumerate(drawing.lines)
        ]
        self.arrows = [
            self._add_arrow(f"{i}", ARROWS[arrow.kind]) for i, arrow in enumerate(drawing.arrows)
        ]
        self.axes = scene.add_batched_axes(
            "/frames/all",
            quaternions(drawing.frame_rotation[0]),
            drawing.frame_position[0],
            axes_length=0.06 * span,
            axes_radius=0.0025 * span,
        )
        self.names = [
            (k, scene.add_label(f"/names/{k}", text, font_screen_scale=0.8))
            for k, text in _labels(drawing, 1e-3 * span).items()
        ]
        self.largest: dict[str, float] = {}
        self.tensions = [0.0] * len(drawing.lines)
        self.strongest: dict[str, float] = {}
        self.load(drawing)
        self.show(0)

    def _ground(self, low: np.ndarray, high: np.ndarray) -> None:
        """A grid below the robot, and its world axes."""
        middle, cell = (low + high) / 2, round_length(self.span / 8)
        count = 2 * np.ceil(1.5 * self.span / cell)
        corner = np.round(middle / cell) * cell
        self.server.scene.add_grid(
            "/ground/grid",
            width=count * cell,
            height=count * cell,
            cell_size=cell,
            cell_color=(226, 229, 234),
            section_size=5 * cell,
            section_color=(226, 229, 234),
            position=(float(corner[0]), float(corner[1]), float(min(low[2], 0.0))),
        )
        self.server.scene.add_frame(
            "/ground/world", axes_length=0.08 * self.span, axes_radius=0.003 * self.span
        )

    def _gravity(self, gravity: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """An arrow beside the robot that tells where things fall."""
        size = float(np.linalg.norm(gravity))
        if size == 0:
            return
        start = (low + high) / 2 - np.array([0.75 * self.span, 0.0, 0.0])
        end = start + 0.15 * self.span * gravity / size
        self._add_arrow("gravity", (150, 155, 165)).points = np.stack([start, end])[None]
        self.server.scene.add_label("/forces/g", "g", position=start, font_screen_scale=0.8)

    def _add_arrow(self, name: str, colour: tuple[int, int, int]) -> Any:
        return self.server.scene.add_arrows(
            f"/forces/{name}",
            points=np.zeros((1, 2, 3)),
            colors=colour,
            shaft_radius=0.006 * self.span,
            head_radius=0.016 * self.span,
            head_length=0.045 * self.span,
        )

    def load(self, drawing: Drawing) -> None:
        """Take another drawing of the robot; scales of colours and arrows only grow."""
        self.drawing = drawing
        for name in drawing.quantities:
            self.largest[name] = max(self.largest.get(name, 0.0), drawing.largest(name))
        self.tensions = [
            max(known, float(line.tension.max()))
            for known, line in zip(self.tensions, drawing.lines, strict=True)
        ]
        for arrow in drawing.arrows:
            size = float(np.linalg.norm(arrow.vector, axis=-1).max())
            kind = "moment" if arrow.kind == "moment" else "force"
            self.strongest[kind] = max(self.strongest.get(kind, 1e-300), size)
        for node, rod in zip(self.rods, drawing.rods, strict=True):
            node.load(rod)

    def show(self, frame: int) -> None:
        """Show one instant."""
        drawing = self.drawing
        with self.server.atomic():
            for node in self.rods:
                node.show(frame, self.colour, self.largest.get(self.colour, 0.0))
            for handle, solid in zip(self.solids, drawing.solids, strict=True):
                handle.position = solid.position[frame]
                handle.wxyz = quaternions(solid.rotation[frame])
            most = max(self.tensions, default=0.0)
            for handle, line in zip(self.lines, drawing.lines, strict=True):
                handle.points = _segments(line.points[frame])
                colour, handle.thickness = tension_look(float(line.tension[frame]), most)
                handle.colors = np.array(colour, dtype=np.uint8)
            for handle, arrow in zip(self.arrows, drawing.arrows, strict=True):
                kind = "moment" if arrow.kind == "moment" else "force"
                vector = 0.3 * self.span / self.strongest[kind] * arrow.vector[frame]
                handle.visible = bool(np.linalg.norm(vector) > 1e-3 * self.span)
                handle.points = np.stack([arrow.start[frame], arrow.start[frame] + vector])[None]
            self.axes.batched_positions = drawing.frame_position[frame]
            self.axes.batched_wxyzs = quaternions(drawing.frame_rotation[frame])
            for k, label in self.names:
                label.position = drawing.frame_position[frame, k]


def _labels(drawing: Drawing, near: float) -> dict[int, str]:
    """Names of frames by the index of the first; those that stay together are one label."""
    found: dict[int, str] = {}
    for k, name in enumerate(drawing.frames):
        own = drawing.frame_position[:, k]
        same = (i for i in found if np.all(np.abs(drawing.frame_position[:, i] - own) < near))
        first = next(same, k)
        found[first] = f"{found[first]}, {name}" if first in found else name
    return found


def _segments(points: np.ndarray) -> np.ndarray:
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
