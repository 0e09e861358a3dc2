"""What there is to draw of a run: rods, bodies, tendons, frames and forces, at every instant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

from supple.errors import StateError
from supple.lie import Pose
from supple.mechanics.frames import find_rod
from supple.model.laws import Input
from supple.results.result import Result
from supple.robot.actuators import Spring, Tendon
from supple.robot.checks import GROUND_NAME
from supple.robot.items import Body, KnifeEdge, Rod, Rolling
from supple.robot.loads import Wrench
from supple.robot.looks import Look
from supple.robot.robot import Robot
from supple.run.live import Moving
from supple.view.bodies import ROUND, Mesh, circle, look_of, solid_of
from supple.view.colours import check_choice, rod_values

PIECES = 48
"""Pieces of a rod, each straight and of one colour."""
STATIONS = 2 * PIECES + 1
"""Sections at which a rod is known: ends and middles of its pieces."""
THIN = 2e-3
"""Radius over length of a rod whose section is not known, and of one too thin to be seen."""


@dataclass(frozen=True)
class Strand:
    """A rod: its sections' poses (t, n, 3), (t, n, 3, 3), outlines (n, ROUND, 2), values (t, n) by name."""

    name: str
    position: np.ndarray
    rotation: np.ndarray
    outline: np.ndarray
    sharp: bool
    """Whether its outline has corners."""
    values: dict[str, np.ndarray]

    def skin(self, frame: int) -> np.ndarray:
        """Points (PIECES + 1, ROUND, 3) of its surface at one instant."""
        turned = np.einsum("sij,skj->ski", self.rotation[frame, ::2, :, 1:], self.outline[::2])
        return self.position[frame, ::2, None] + turned


@dataclass(frozen=True)
class Solid:
    """A rigid body: a surface in its own frame, poses (t, 3, 3) and (t, 3)."""

    name: str
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
class Arrow:
    """A "force" (N), a "moment" (N m) or the force of a "contact": where (t, 3), and the vector (t, 3)."""

    name: str
    kind: str
    start: np.ndarray
    vector: np.ndarray


@dataclass(frozen=True)
class Drawing:
    """Everything to draw, at the instants ``t``."""

    name: str
    t: np.ndarray
    rods: list[Strand]
    solids: list[Solid]
    lines: list[Line]
    arrows: list[Arrow]
    frames: list[str]
    frame_rotation: np.ndarray
    frame_position: np.ndarray
    """Poses of the named frames, (t, k, 3, 3) and (t, k, 3)."""
    gravity: np.ndarray

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner (3,) of all that is drawn."""
        points = [self.frame_position.reshape(-1, 3)]
        for rod in self.rods:
            reach = np.abs(rod.outline).max()
            points += [rod.position.reshape(-1, 3) + side for side in (-reach, reach)]
        for solid in self.solids:
            moved = np.einsum("tij,vj->tvi", solid.rotation, solid.mesh[0])
            points.append((moved + solid.position[:, None]).reshape(-1, 3))
        points += [line.points.reshape(-1, 3) for line in self.lines]
        every = np.concatenate(points)
        return every.min(axis=0), every.max(axis=0)

    @property
    def quantities(self) -> list[str]:
        """What all rods can be coloured by."""
        own = [list(rod.values) for rod in self.rods]
        return [name for name in own[0] if all(name in o for o in own)] if own else []

    def colour(self, wanted: str) -> str:
        """What rods are coloured by: as wanted where all of them have it, else plain."""
        check_choice(wanted)
        return wanted if wanted in self.quantities else "plain"

    def largest(self, quantity: str) -> float:
        """The largest size of a quantity along the rods; none has the plain colour."""
        if quantity == "plain":
            return 0.0
        return max((float(np.abs(rod.values[quantity]).max()) for rod in self.rods), default=0.0)


def drawing_of(
    result: Result,
    frames: int = 300,
    looks: Mapping[str, Sequence[Look]] | None = None,
) -> Drawing:
    """The drawing of a run, at so many even instants at most.

    ``looks`` tells how bodies look, by name (default: boxes and cylinders with their mass and moments).
    """
    robot = result.description
    if not isinstance(robot, Robot):
        need = "a result of simulate(robot, …) with a Robot, whose sections are known"
        raise StateError(f"view: got a result without its description; need {need}")
    if len(result.t) > frames:
        result = result.sampled(np.linspace(result.t[0], result.t[-1], frames))
    drawn = _Places(result, robot)
    names = [frame.name for frame in result.model.topology.frames]
    poses = [result.poses[name] for name in names]
    return Drawing(
        name=result.model.name,
        t=result.t,
        rods=[_strand(drawn, item) for item in robot.items if isinstance(item, Rod)],
        solids=[
            Solid(
                item.name, mesh, result.poses[item.name].rotation, result.poses[item.name].position
            )
            for item in robot.items
            if isinstance(item, Body)
            for mesh in look_of((looks or {}).get(item.name, ()))
            or [solid_of(item, 0.02 * drawn.size)]
        ],
        lines=[
            _tendon(drawn, item) if isinstance(item, Tendon) else _spring(drawn, item)
            for item in robot.items
            if isinstance(item, Tendon | Spring)
        ],
        arrows=[arrow for item in robot.items for arrow in _arrows(drawn, item)],
        frames=names,
        frame_rotation=np.stack([pose.rotation for pose in poses], axis=1),
        frame_position=np.stack([pose.position for pose in poses], axis=1),
        gravity=np.asarray(robot.gravity, dtype=float),
    )


@dataclass(frozen=True)
class _Places:
    """Where the things of a run are."""

    result: Result
    robot: Robot

    @cached_property
    def shapes(self) -> dict[str, Pose]:
        """Sections of each rod, at the stations."""
        rods = [item.name for item in self.robot.items if isinstance(item, Rod)]
        return {name: self.result.shape(name, STATIONS) for name in rods}

    @property
    def size(self) -> float:
        rods = [float(item.length) for item in self.robot.items if isinstance(item, Rod)]
        return max(rods, default=1.0)

    def pose(self, name: str, at: float = 1.0) -> Pose:
        """Frame of an item, or at a fraction of a rod, over time."""
        if name == GROUND_NAME:
            count = len(self.result.t)
            return Pose(np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3)))
        if name in self.shapes and at != 1.0:
            near = round(at * (STATIONS - 1))
            return Pose(*(np.asarray(x)[:, near] for x in self.shapes[name]))
        return self.result.poses[name]

    def point(self, name: str, at: float, offset: Any) -> np.ndarray:
        pose = self.pose(name, at)
        return np.asarray(pose.position + pose.rotation @ np.asarray(offset, dtype=float))


def _outline(rod: Rod) -> np.ndarray:
    """Contours (STATIONS, ROUND, 2) of a rod, at least thick enough to be seen."""
    least = THIN * float(rod.length)
    if rod.section is None:
        return np.tile(least * circle(), (STATIONS, 1, 1))
    u = np.linspace(0.0, 1.0, STATIONS)
    outline = np.asarray(rod.section.outline(u, ROUND), dtype=float)
    size = np.linalg.norm(outline, axis=-1).max()
    return outline * max(1.0, least / size)


def _strand(drawn: _Places, rod: Rod) -> Strand:
    result, shape = drawn.result, drawn.shapes[rod.name]
    u = np.linspace(0.0, 1.0, STATIONS)
    slot = find_rod(result.model, rod.name)
    group: Any = result.model.groups[slot.group]
    strain = np.einsum("nim,tm->tni", group.grid.field.values(u), result.q[:, slot.q])
    outline = _outline(rod)
    corners = outline[0] / np.abs(outline[0]).max(axis=0)
    return Strand(
        name=rod.name,
        position=shape.position,
        rotation=shape.rotation,
        outline=outline,
        sharp=not np.allclose(np.linalg.norm(corners, axis=-1), 1.0),
        values=rod_values(rod, u, strain, outline),
    )


def _tendon(drawn: _Places, item: Tendon) -> Line:
    parts = []
    for i, name in enumerate(item.items):
        if name not in drawn.shapes:
            parts.append(drawn.point(name, 1.0, item.point(name))[:, None])
            continue
        first = item.start if i == 0 else 0.0
        last = item.end if i == len(item.items) - 1 else 1.0
        u = np.linspace(first, last, PIECES + 1) if item.discs is None else item.stops(first, last)
        index = np.round(u * (STATIONS - 1)).astype(int)
        offset = np.pad(item.offsets(name, index / (STATIONS - 1)), ((0, 0), (1, 0)))
        shape = drawn.shapes[name]
        turned = np.einsum("tsij,sj->tsi", shape.rotation[:, index], offset)
        parts.append(shape.position[:, index] + turned)
    tension = drawn.result.tendon(item.name)[1]
    return Line(item.name, np.concatenate(parts, axis=1), tension)


def _spring(drawn: _Places, item: Spring) -> Line:
    ends = [
        drawn.point(item.on, item.at, item.position),
        drawn.point(item.to, item.to_at, item.to_position),
    ]
    return Line(item.name, np.stack(ends, axis=1), drawn.result.spring(item.name)[1])


def _arrows(drawn: _Places, item: Any) -> list[Arrow]:
    """Forces and moments of a wrench, and the force of a contact, in the axes of the world."""
    if isinstance(item, Wrench):
        share = _law(drawn.result, item) * np.ones(6)
        given = np.concatenate([np.asarray(item.moment), np.asarray(item.force)]).astype(float)
        wrench, kinds = share * given, ("moment", "force")
    elif isinstance(item, KnifeEdge | Rolling):
        wrench, kinds = drawn.result.contact(item.name), ("", "contact")
    else:
        return []
    rotation = drawn.pose(item.on, item.at).rotation
    if isinstance(item, Wrench) and not item.follower:
        rotation = np.eye(3)
    start = drawn.point(item.on, item.at, item.position)
    found = []
    for kind, part in zip(kinds, (wrench[:, :3], wrench[:, 3:]), strict=True):
        if kind and np.any(part):
            found.append(
                Arrow(item.name, kind, start, np.einsum("...ij,...j->...i", rotation, part))
            )
    return found


def _law(result: Result, item: Wrench) -> np.ndarray:
    """Values (t, 1) or (t, 6) of a wrench's law."""
    law = item.time_law()
    if isinstance(law, Input):
        values = result.input(law.name)
    elif isinstance(law, Moving):
        values = law.values(result)
    else:
        values = np.asarray(jax.vmap(law)(np.asarray(result.t)))
    return values.reshape(len(result.t), -1)
