"""What there is to draw of a run: skins of rods, boxes for bodies, lines for tendons, at every instant."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import StateError
from supple.mechanics.frames import rod_strain
from supple.results.result import Result
from supple.robot.actuators import Spring, Tendon
from supple.robot.checks import GROUND_NAME
from supple.robot.items import Body, Rod
from supple.robot.robot import Robot

SECTIONS, SIDES = 33, 16
"""Sections along a rod, and points around each."""
THIN = 2e-3
"""Radius over length of a rod whose section is not known, and of one too thin to be seen."""


@dataclass(frozen=True)
class Skin:
    """Surface of a rod: vertices (t, v, 3) in metres, faces (f, 3), and bending strain (t, sections)."""

    name: str
    vertices: np.ndarray
    faces: np.ndarray
    strain: np.ndarray
    """Largest strain of the surface from bending and twist, at each section."""


@dataclass(frozen=True)
class Solid:
    """A rigid body as a box: edges (3,) in metres, poses (t, 3, 3) and (t, 3)."""

    name: str
    edges: np.ndarray
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

    t: np.ndarray
    skins: list[Skin]
    solids: list[Solid]
    lines: list[Line]

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner (3,) of all that is drawn."""
        points = [skin.vertices.reshape(-1, 3) for skin in self.skins]
        points += [solid.position for solid in self.solids]
        points += [line.points.reshape(-1, 3) for line in self.lines]
        every = np.concatenate(points)
        return every.min(axis=0), every.max(axis=0)


def drawing_of(result: Result, frames: int = 300) -> Drawing:
    """The drawing of a run, at so many even instants at most."""
    robot = result.description
    if not isinstance(robot, Robot):
        need = "a result of simulate(robot, …) with a Robot, whose sections are known"
        raise StateError(f"view: got a result without its description; need {need}")
    if len(result.t) > frames:
        result = result.sampled(np.linspace(result.t[0], result.t[-1], frames))
    rods = [item for item in robot.items if isinstance(item, Rod)]
    bodies = [item for item in robot.items if isinstance(item, Body)]
    lines = [_tendon(result, robot, i) for i in robot.items if isinstance(i, Tendon)]
    lines += [_spring(result, robot, i) for i in robot.items if isinstance(i, Spring)]
    return Drawing(
        t=result.t,
        skins=[_skin(result, rod) for rod in rods],
        solids=[_solid(result, body) for body in bodies],
        lines=lines,
    )


def _outline(rod: Rod) -> np.ndarray:
    """Contours (sections, SIDES, 2) of a rod, at least thick enough to be seen."""
    u = np.linspace(0.0, 1.0, SECTIONS)
    least = THIN * float(rod.length)
    if rod.section is None:
        angle = 2 * np.pi * np.arange(SIDES) / SIDES
        return np.tile(least * np.stack([np.cos(angle), np.sin(angle)], -1), (SECTIONS, 1, 1))
    outline = np.asarray(rod.section.outline(u, SIDES), dtype=float)
    size = np.linalg.norm(outline, axis=-1).max()
    return outline * max(1.0, least / size)


def _skin(result: Result, rod: Rod) -> Skin:
    import jax

    shape = result.shape(rod.name, SECTIONS)
    outline = _outline(rod)
    section = np.concatenate([np.zeros((SECTIONS, SIDES, 1)), outline], axis=-1)
    turned = np.einsum("tsij,skj->tski", shape.rotation, section)
    rings = shape.position[:, :, None] + turned
    vertices = rings.reshape(len(result.t), SECTIONS * SIDES, 3)
    strain = jax.vmap(lambda q: rod_strain(result.model, rod.name, q, SECTIONS))(result.q)
    curvature = np.asarray(strain)[:, :, :3] - _rest(rod)[:, :3]
    reach = np.linalg.norm(outline, axis=-1).max(axis=1)
    return Skin(rod.name, vertices, _tube_faces(), np.linalg.norm(curvature, axis=-1) * reach)


def _rest(rod: Rod) -> np.ndarray:
    u = np.linspace(0.0, 1.0, SECTIONS)
    rest = rod.rest(u) if callable(rod.rest) else np.tile(np.asarray(rod.rest), (SECTIONS, 1))
    return np.asarray(rest, dtype=float)


def _tube_faces() -> np.ndarray:
    """Triangles of a tube with closed ends."""
    faces = []
    for s in range(SECTIONS - 1):
        for k in range(SIDES):
            a, b = s * SIDES + k, s * SIDES + (k + 1) % SIDES
            faces += [(a, b, a + SIDES), (b, b + SIDES, a + SIDES)]
    last = (SECTIONS - 1) * SIDES
    for k in range(1, SIDES - 1):
        faces += [(0, k + 1, k), (last, last + k, last + k + 1)]
    return np.array(faces)


def _solid(result: Result, body: Body) -> Solid:
    """A box with the body's mass and moments; a small cube if it has none."""
    pose = result.poses[body.name]
    mass, inertia = float(body.mass), np.asarray(body.inertia_matrix(), dtype=float)
    moments, axes = np.linalg.eigh(inertia)
    squares = 6 / mass * (moments.sum() - 2 * moments)
    edges = np.sqrt(np.maximum(squares, 0.0))
    small = 0.02 * _size(result)
    edges = np.maximum(edges, small)
    if np.linalg.det(axes) < 0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    centre = pose.position + pose.rotation @ np.asarray(body.com, dtype=float)
    return Solid(body.name, edges, pose.rotation @ axes, centre)


def _size(result: Result) -> float:
    lengths = [float(np.max(g.length)) for g in result.model.groups if hasattr(g, "length")]
    return max(lengths, default=1.0)


def _tendon(result: Result, robot: Robot, item: Tendon) -> Line:
    parts = []
    for i, name in enumerate(item.items):
        own: Any = None if name == GROUND_NAME else robot[name]
        if isinstance(own, Rod):
            first = item.start if i == 0 else 0.0
            last = item.end if i == len(item.items) - 1 else 1.0
            u = np.linspace(0.0, 1.0, SECTIONS) if item.discs is None else item.stops(0.0, 1.0)
            shape = result.shape(name, SECTIONS)
            offset = np.pad(item.offsets(name, np.linspace(0.0, 1.0, SECTIONS)), ((0, 0), (1, 0)))
            every = shape.position + np.einsum("tsij,sj->tsi", shape.rotation, offset)
            inside = first + (last - first) * u
            index = np.round(inside * (SECTIONS - 1)).astype(int)
            parts.append(every[:, index])
        else:
            point = item.point(name)
            if own is None:
                parts.append(np.tile(point, (len(result.t), 1, 1)))
            else:
                pose = result.poses[name]
                parts.append((pose.position + pose.rotation @ point)[:, None])
    return Line(item.name, np.concatenate(parts, axis=1), result.tendon(item.name)[1])


def _spring(result: Result, robot: Robot, item: Spring) -> Line:
    ends = []
    for name, at, point in (
        (item.on, item.at, item.position),
        (item.to, item.to_at, item.to_position),
    ):
        offset = np.asarray(point, dtype=float)
        if name == GROUND_NAME:
            ends.append(np.tile(offset, (len(result.t), 1)))
            continue
        if isinstance(robot[name], Rod):
            shape = result.shape(name, SECTIONS)
            index = round(at * (SECTIONS - 1))
            rotation, position = shape.rotation[:, index], shape.position[:, index]
        else:
            rotation, position = result.poses[name].rotation, result.poses[name].position
        ends.append(position + rotation @ offset)
    return Line(item.name, np.stack(ends, axis=1), result.spring(item.name)[1])
