"""What there is to draw of a run: surfaces, lines, arrows and frames at every instant, with their numbers."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.mechanics.frames import rod_rest
from supple.results.result import Result
from supple.robot.actuators import Chamber, Spring, Tendon
from supple.robot.items import Body, Marker, Rod
from supple.robot.looks import surface_of
from supple.robot.meshes import Mesh, circle
from supple.robot.robot import Robot
from supple.view.arrows import Arrow, arrows_of
from supple.view.bodies import solid_of
from supple.view.colors import check_choice, rod_values
from supple.view.glyphs import glyphs_of
from supple.view.joining import joined
from supple.view.numbers import Number, Plot, numbers_of, plots_of
from supple.view.places import STATIONS, Places, Strut

LONGEST = 0.2
"""Length of the largest force's arrow, over the size of all else."""
COILS = 7
"""Windings of a spring."""


@dataclass(frozen=True)
class Strand:
    """A rod, or a chamber in one: its sections' poses (t, n, 3), (t, n, 3, 3), outlines (n, ROUND, 2).

    ``values`` (t, n) by name are what it can be colored by.
    """

    name: str
    kind: str
    position: np.ndarray
    rotation: np.ndarray
    outline: np.ndarray
    sharp: bool
    """Whether its outline has corners."""
    values: dict[str, np.ndarray]

    @property
    def reach(self) -> float:
        """The largest half width (m) of its sections."""
        middle = self.outline.mean(axis=1, keepdims=True)
        return float(np.linalg.norm(self.outline - middle, axis=-1).max())

    def skin(self, frame: int, times: float = 1.0) -> np.ndarray:
        """Points (n, ROUND, 3) of its surface at one instant, so many times as thick."""
        turned = np.einsum("sij,skj->ski", self.rotation[frame, ..., 1:], times * self.outline)
        return self.position[frame, :, None] + turned


@dataclass(frozen=True)
class Solid:
    """Something rigid: a surface in its own frame, poses (t, 3, 3) and (t, 3); ``kind`` tells what it is."""

    name: str
    kind: str
    mesh: Mesh
    rotation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True)
class Line:
    """A tendon or a spring: points (t, n, 3), and its tension (t,) in N."""

    name: str
    points: np.ndarray
    tension: np.ndarray


@dataclass(frozen=True)
class Drawing:
    """Everything to draw, at the instants ``t``."""

    name: str
    t: np.ndarray
    rods: list[Strand]
    chambers: list[Strand]
    solids: list[Solid]
    lines: list[Line]
    arrows: list[Arrow]
    frames: list[str]
    frame_rotation: np.ndarray
    frame_position: np.ndarray
    """Poses of the named frames, (t, k, 3, 3) and (t, k, 3)."""
    gravity: np.ndarray
    numbers: list[Number] = field(default_factory=list)
    """What items tell when they are picked."""
    plots: list[Plot] = field(default_factory=list)

    @cached_property
    def points(self) -> np.ndarray:
        """Points (n, 3) of all that is drawn, at a few instants."""
        some = np.unique(np.linspace(0, len(self.t) - 1, 40).round().astype(int))
        found = [self.frame_position[some].reshape(-1, 3)]
        strands = (*self.rods, *self.chambers)
        found += [strand.skin(i).reshape(-1, 3) for strand in strands for i in some.tolist()]
        for solid in self.solids:
            moved = np.einsum("tij,vj->tvi", solid.rotation[some], solid.mesh[0])
            found.append((moved + solid.position[some, None]).reshape(-1, 3))
        found += [line.points[some].reshape(-1, 3) for line in self.lines]
        return _there(np.concatenate(found))

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner (3,) of all that is drawn."""
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def seen(self) -> np.ndarray:
        """Points (n, 3) that a picture must hold: all, and the tips of arrows."""
        tips = [_there(arrow.start + self.drawn(arrow)) for arrow in self.arrows]
        return np.concatenate([self.points, *tips])

    def drawn(self, arrow: Arrow) -> np.ndarray:
        """An arrow's vector (t, 3) as it is drawn (m): the largest of its kind has the full length."""
        kinds = {"moment"} if arrow.kind == "moment" else {"force", "contact"}
        alike = [other.vector for other in self.arrows if other.kind in kinds]
        most = max(float(np.linalg.norm(vector, axis=-1).max()) for vector in alike)
        return LONGEST * self.span / max(most, 1e-300) * arrow.vector

    @property
    def span(self) -> float:
        """The longest side (m) of the box around it."""
        low, high = self.bounds
        return float(np.max(high - low)) or 1.0

    @property
    def quantities(self) -> list[str]:
        """What all rods can be colored by."""
        own = [list(rod.values) for rod in self.rods]
        return [name for name in own[0] if all(name in o for o in own)] if own else []

    def color(self, wanted: str) -> str:
        """What rods are colored by: as wanted where all of them have it, else plain."""
        check_choice(wanted)
        return wanted if wanted in self.quantities else "plain"

    def largest(self, quantity: str) -> float:
        """The largest size of a quantity along rods or chambers, or of tensions; plain has none."""
        if quantity == "tension":
            return max((float(line.tension.max()) for line in self.lines), default=0.0)
        own = [
            float(np.abs(strand.values[quantity]).max())
            for strand in (*self.rods, *self.chambers)
            if quantity in strand.values
        ]
        return max(own, default=0.0)


def drawing_of(result: Result, frames: int = 300, *, energies: bool = True) -> Drawing:
    """The drawing of a run, at so many even instants at most; its plots hold energies if asked for.

    Of a run of several stretches, items are nowhere (NaN) while they do not exist.
    """
    if len(result.t) > frames:
        result = result.sample(np.linspace(result.t[0], result.t[-1], frames))
    elif len(result.stretches) > 1:  # an edit is shown as it leaves the robot
        result = result.pick(np.flatnonzero(np.diff(result.t, append=np.inf) > 0))
    places = [_places(result.part(0))]
    for index in range(1, len(result.stretches)):
        places.append(_places(result.part(index), places[0].size))
    parts = [_drawing(own, energies) for own in places]
    return parts[0] if len(parts) == 1 else joined(parts)


def _places(result: Result, scale: float | None = None) -> Places:
    """Where the things of one stretch are."""
    robot = result.description
    if not isinstance(robot, Robot):
        need = "a result of simulate(robot, …) with a Robot, whose sections are known"
        raise ArgumentError(f"view: got a result without its description; need {need}")
    return Places(result, robot, scale)


def _drawing(places: Places, energies: bool) -> Drawing:
    """The drawing of one stretch."""
    result, robot = places.result, places.robot
    names = [frame.name for frame in result.model.topology.frames]
    poses = [result.poses[name] for name in names]
    bodies = [solid for item in robot.items for solid in _bodies(places, item)]
    surfaces: dict[str, list[Mesh]] = {}
    for solid in bodies:
        surfaces.setdefault(solid.name, []).append(solid.mesh)
    return Drawing(
        name=result.model.name,
        t=result.t,
        rods=[_strand(places, item) for item in robot.items if isinstance(item, Rod)],
        chambers=[_chamber(places, item) for item in robot.items if isinstance(item, Chamber)],
        solids=bodies + [_solid(strut) for strut in glyphs_of(places, surfaces)],
        lines=[
            _tendon(places, item) if isinstance(item, Tendon) else _spring(places, item)
            for item in robot.items
            if isinstance(item, Tendon | Spring)
        ],
        arrows=[arrow for item in robot.items for arrow in arrows_of(places, item)],
        frames=names,
        frame_rotation=np.stack([pose.rotation for pose in poses], axis=1),
        frame_position=np.stack([pose.position for pose in poses], axis=1),
        gravity=np.asarray(robot.gravity, dtype=float),
        numbers=numbers_of(places),
        plots=plots_of(places, energies=energies),
    )


def _there(points: np.ndarray) -> np.ndarray:
    """The points (n, 3) of things that exist."""
    return points[~np.isnan(points[:, 0])]


def _bodies(places: Places, item: Any) -> list[Solid]:
    """How a body, or a marker that has a shape, looks: as described, or by its mass and moments."""
    if not isinstance(item, Body | Marker):
        return []
    meshes = surface_of(item.name, item.shape)
    if not meshes and isinstance(item, Body):
        meshes = [solid_of(item, 0.02 * places.size)]
    pose = places.result.poses[item.name]
    return [Solid(item.name, "body", mesh, pose.rotation, pose.position) for mesh in meshes]


def _solid(glyph: Strut) -> Solid:
    return Solid(glyph.name, glyph.kind, glyph.mesh, glyph.pose.rotation, glyph.pose.position)


def _strand(places: Places, rod: Rod) -> Strand:
    result, shape = places.result, places.shapes[rod.name]
    u = np.linspace(0.0, 1.0, STATIONS)
    strain = result.strain(rod.name, u) - np.asarray(rod_rest(result.model, rod.name, u))
    outline = places.outline(rod)
    corners = outline[0] / np.abs(outline[0]).max(axis=0)
    return Strand(
        name=rod.name,
        kind="rod",
        position=shape.position,
        rotation=shape.rotation,
        outline=outline,
        sharp=not np.allclose(np.linalg.norm(corners, axis=-1), 1.0),
        values=rod_values(rod, u, strain, outline),
    )


def _chamber(places: Places, item: Chamber) -> Strand:
    """A chamber as a round tube with its area, where it runs in its rod."""
    sections = places.sections(item.on, np.linspace(item.start, item.end, STATIONS))
    radius = np.sqrt(float(item.area) / np.pi)
    outline = radius * circle() + np.asarray(item.offset, dtype=float)
    pressure = 1e-3 * places.result.chamber(item.name).pressure
    return Strand(
        name=item.name,
        kind="chamber",
        position=sections.position,
        rotation=sections.rotation,
        outline=np.tile(outline, (STATIONS, 1, 1)),
        sharp=False,
        values={"pressure": np.tile(pressure[:, None], (1, STATIONS))},
    )


def _tendon(places: Places, item: Tendon) -> Line:
    parts = [places.route(item, index) for index in range(len(item.items))]
    tension = places.result.tendon(item.name).tension
    return Line(item.name, np.concatenate(parts, axis=1), tension)


def _spring(places: Places, item: Spring) -> Line:
    """A coil between its ends, a tenth of its first length wide."""
    start = places.point(item.on, item.fraction, item.position)
    way = places.point(item.to, item.to_fraction, item.to_position) - start
    length = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    helper = np.eye(3)[np.argmin(np.abs(way[0]))]
    first = np.cross(way / length, helper)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-300)
    second = np.cross(way / length, first)
    s = np.linspace(0.0, 1.0, 24 * COILS + 1)
    inside = np.clip((s - 0.15) / 0.7, 0.0, 1.0)
    wide = (
        0.05
        * min(float(length[0, 0]), places.size)
        * np.clip(10 * (0.5 - np.abs(s - 0.5)) - 1, 0, 1)
    )
    angle = 2 * np.pi * COILS * inside
    points = start[:, None] + s[:, None] * way[:, None]
    points = points + (wide * np.cos(angle))[:, None] * first[:, None]
    points = points + (wide * np.sin(angle))[:, None] * second[:, None]
    return Line(item.name, points, places.result.spring(item.name).tension)
