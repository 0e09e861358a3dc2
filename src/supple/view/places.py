"""Where the things of a run are: frames, sections of rods, routes of tendons, at every instant."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.lie import Pose
from supple.mechanics.frames import find_joint
from supple.results.result import Result
from supple.robot.actuators import Chamber, Tendon
from supple.robot.checks import GROUND_NAME
from supple.robot.items import Place, Rod
from supple.robot.meshes import ROUND, Mesh, circle
from supple.robot.placement import placement
from supple.robot.robot import Robot
from supple.run.live import size_of

STATIONS = 65
"""Sections at which a rod is drawn."""
THIN = 2e-3
"""Least radius over length of a rod whose section is not known."""


@dataclass(frozen=True)
class Strut:
    """A small rigid thing that shows a joint, a disc, …: its surface and its poses (t, 3, 3), (t, 3)."""

    name: str
    kind: str
    mesh: Mesh
    pose: Pose


@dataclass(frozen=True)
class Places:
    """Where the things of a run are."""

    result: Result
    robot: Robot
    scale: float | None = None
    """How large (m) to take the robot for: stretches of one run are drawn alike."""

    @cached_property
    def shapes(self) -> dict[str, Pose]:
        """Sections of each rod, at the stations."""
        rods = [item.name for item in self.robot.items if isinstance(item, Rod)]
        return {name: self.result.shape(name, STATIONS) for name in rods}

    @cached_property
    def size(self) -> float:
        """How large (m) the robot is, with the way to the ground."""
        if self.scale is not None:
            return self.scale
        first = [np.asarray(pose.position)[0] for pose in self.result.poses.values()]
        return size_of(self.robot, np.stack([*first, np.zeros(3)]))

    def outline(self, rod: Rod) -> np.ndarray:
        """Contours (STATIONS, ROUND, 2) of a rod."""
        u = np.linspace(0.0, 1.0, STATIONS)
        if rod.section is None:
            return np.tile(self._holding(rod, u) * circle(), (STATIONS, 1, 1))
        return np.asarray(rod.section.outline(u, ROUND), dtype=float)

    def _holding(self, rod: Rod, u: np.ndarray) -> float:
        """A radius (m) for a rod whose section is not known: it holds its chambers and tendons."""
        found = [THIN * float(rod.length)]
        for item in self.robot.items:
            if isinstance(item, Chamber) and item.on == rod.name:
                wide = np.sqrt(float(item.area) / np.pi)
                found.append(1.05 * (float(np.linalg.norm(item.offset)) + wide))
            elif isinstance(item, Tendon) and item.discs is None and rod.name in item.items:
                reach = np.linalg.norm(item.offsets(rod.name, u), axis=1)
                found.append(float(reach.max()))
        return max(found)

    def radius(self, name: str) -> float:
        """The largest radius (m) of a rod; 0 of anything else."""
        item = self.robot[name] if name != GROUND_NAME else None
        if not isinstance(item, Rod):
            return 0.0
        return float(np.linalg.norm(self.outline(item), axis=-1).max())

    def sections(self, rod: str, u: np.ndarray) -> Pose:
        """Poses (t, n, 3, 3), (t, n, 3) at fractions of a rod, between its stations."""
        shape = self.shapes[rod]
        place = np.clip(np.asarray(u, dtype=float), 0.0, 1.0) * (STATIONS - 1)
        low = np.minimum(place.astype(int), STATIONS - 2)
        share = place - low
        mixed = (1 - share)[:, None] * shape.position[:, low] + share[:, None] * shape.position[
            :, low + 1
        ]
        wide = share[:, None, None]
        turned = (1 - wide) * shape.rotation[:, low] + wide * shape.rotation[:, low + 1]
        left, _, right = np.linalg.svd(turned)  # the nearest rotation
        return Pose(left @ right, mixed)

    def pose(self, name: str, at: float = 1.0) -> Pose:
        """Frame of an item, or at a fraction of a rod, over time."""
        if name == GROUND_NAME:
            count = len(self.result.t)
            return Pose(np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3)))
        if name in self.shapes and at != 1.0:
            found = self.sections(name, np.array([at]))
            return Pose(found.rotation[:, 0], found.position[:, 0])
        found = self.result.poses[name]
        return Pose(np.asarray(found.rotation), np.asarray(found.position))

    def frame(self, name: str, place: Place) -> Pose:
        """The frame that a place says, over time; ``name`` is who asks."""
        own = placement(name, place.position, place.rotation)
        if place.link is not None:
            return moved(self.link(place.parent, place.link), own)
        return moved(self.pose(place.parent, place.fraction), own)

    def link(self, name: str, link: str) -> Pose:
        """Frame of a moving part of an item's joint, over time."""
        item: Any = self.robot[name]
        slot = find_joint(self.result.model, item.joint_name or name)
        group: Any = self.result.model.groups[slot.group]
        joint = jax.tree.map(lambda leaf: leaf[slot.row], group.joint)
        own = jax.vmap(lambda q: joint.poses(q, jnp.zeros(joint.nv)))(self.result.q[:, slot.q])
        base, index = self.frame(name, item.place), 1 + joint.links.index(link)
        rotation, position = np.asarray(own.rotation)[:, index], np.asarray(own.position)[:, index]
        shift = np.einsum("tij,tj->ti", base.rotation, position)
        return Pose(base.rotation @ rotation, base.position + shift)

    def point(self, name: str, at: float, offset: Any) -> np.ndarray:
        """A point (t, 3) of an item's frame."""
        pose = self.pose(name, at)
        return np.asarray(pose.position + pose.rotation @ np.asarray(offset, dtype=float))

    def route(self, tendon: Tendon, index: int) -> np.ndarray:
        """Points (t, n, 3) of a tendon on one of the items it runs along."""
        name = tendon.items[index]
        if name not in self.shapes:
            return self.point(name, 1.0, tendon.point(name))[:, None]
        u = fractions(tendon, index)
        offset = np.pad(tendon.offsets(name, u), ((0, 0), (1, 0)))
        sections = self.sections(name, u)
        return np.asarray(sections.position + np.einsum("tsij,sj->tsi", sections.rotation, offset))


def fractions(tendon: Tendon, index: int) -> np.ndarray:
    """Fractions of a rod at which a tendon on it is drawn: at its discs, or all along."""
    first = tendon.start if index == 0 else 0.0
    last = tendon.end if index == len(tendon.items) - 1 else 1.0
    if tendon.discs is None:
        return np.linspace(first, last, STATIONS)
    return tendon.stops(first, last)


def moved(pose: Pose, by: Pose) -> Pose:
    """Poses (t, …) times one constant pose."""
    rotation, position = np.asarray(by.rotation), np.asarray(by.position)
    return Pose(pose.rotation @ rotation, pose.position + pose.rotation @ position)
