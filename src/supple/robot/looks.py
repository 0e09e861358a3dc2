"""How bodies look: boxes, cylinders, balls and mesh files, each at a pose in the body's frame.

Looks change pictures, and where things are put that ask for a body's surface (:mod:`supple.robot.surfaces`).
Masses and moments are the body's own.
"""

import abc
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import ArgumentError, DescriptionError
from supple.lie import Pose
from supple.numeric import check_positive, check_vector
from supple.reprs import brief
from supple.robot.joint import Axis
from supple.robot.meshes import SQUARE, Mesh as Triangles, ball, circle, leaves_at, prism, read_mesh
from supple.robot.placement import along, placement, unit_axis


@dataclass(frozen=True, kw_only=True)
class _Placed:
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)

    def pose(self, item: str) -> Pose:
        """Where it is in the frame of its body."""
        return placement(item, self.position, self.rotation)


class AbstractLook(abc.ABC):
    """A shape of a body, at a pose in its frame."""

    @abc.abstractmethod
    def pose(self, item: str) -> Pose:
        """Where it is in the frame of its body."""

    @abc.abstractmethod
    def check(self, item: str) -> None:
        """Raise unless it can be drawn."""

    @abc.abstractmethod
    def triangles(self) -> Triangles:
        """Its surface, about its own center."""

    @abc.abstractmethod
    def reach(self, direction: np.ndarray) -> float:
        """How far (m) its surface is from its center in a direction of its own axes."""


@dataclass(frozen=True)
class Box(_Placed, AbstractLook):
    """A box with the lengths ``size`` (m) along x, y and z, about ``position`` in the body's frame."""

    size: Any

    __repr__ = brief

    def check(self, item: str) -> None:
        sizes = check_vector(item, "shape.size", self.size, (3,))
        if np.any(np.asarray(sizes) <= 0):
            raise DescriptionError(item, "shape.size", self.size, "three lengths > 0 (m)")
        self.pose(item)

    def triangles(self) -> Triangles:
        vertices, faces = prism(SQUARE)
        return vertices * np.asarray(self.size, dtype=float), faces

    def reach(self, direction: np.ndarray) -> float:
        half = np.asarray(self.size, dtype=float) / 2
        return float(np.min(half / np.maximum(np.abs(direction), 1e-300)))


@dataclass(frozen=True)
class Cylinder(_Placed, AbstractLook):
    """A cylinder of ``radius`` and ``length`` (m) along an ``axis``, about ``position``."""

    radius: Any
    length: Any
    axis: Axis = "z"

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "shape.radius", self.radius)
        check_positive(item, "shape.length", self.length)
        unit_axis(item, "shape.axis", self.axis)
        self.pose(item)

    def triangles(self) -> Triangles:
        vertices, faces = prism(circle())
        sized = vertices * np.array([self.length, self.radius, self.radius], dtype=float)
        return sized @ placement("shape", np.zeros(3), along(self.axis)).rotation.T, faces

    def reach(self, direction: np.ndarray) -> float:
        ahead = abs(float(unit_axis("shape", "axis", self.axis) @ direction))
        across = np.sqrt(max(1 - ahead**2, 0.0))
        return float(min(self.length / 2 / max(ahead, 1e-300), self.radius / max(across, 1e-300)))


@dataclass(frozen=True)
class Sphere(_Placed, AbstractLook):
    """A ball of ``radius`` (m) about ``position``."""

    radius: Any

    __repr__ = brief

    def check(self, item: str) -> None:
        check_positive(item, "shape.radius", self.radius)
        self.pose(item)

    def triangles(self) -> Triangles:
        vertices, faces = ball()
        return vertices * float(self.radius), faces

    def reach(self, direction: np.ndarray) -> float:
        return float(self.radius)


@dataclass(frozen=True)
class Mesh(_Placed, AbstractLook):
    """The surface in a mesh ``file`` (STL, OBJ, PLY, …), times ``scale`` (one number, or three)."""

    file: str
    scale: Any = 1.0

    __repr__ = brief

    def check(self, item: str) -> None:
        if not Path(self.file).is_file():
            raise DescriptionError(item, "shape.file", self.file, "the path of a mesh file")
        check_vector(item, "shape.scale", self.scale, (3,) if np.ndim(self.scale) else ())
        self.pose(item)

    def triangles(self) -> Triangles:
        vertices, faces = read_mesh(self.file)
        return vertices * np.asarray(self.scale, dtype=float), faces

    def reach(self, direction: np.ndarray) -> float:
        far = leaves_at(self.triangles(), np.zeros(3), direction)
        if far == 0:
            need = "a mesh around its own origin, or a place as three numbers"
            raise ArgumentError(
                f"{self.file}: its surface is not met along {direction}; need {need}"
            )
        return far


Looks = AbstractLook | Sequence[AbstractLook] | None
"""The shape of a body, several that make it up, or none."""


def looks_of(shape: Looks) -> tuple[AbstractLook, ...]:
    """The shapes that make up a body."""
    if shape is None:
        return ()
    return (shape,) if isinstance(shape, AbstractLook) else tuple(shape)


def check_looks(item: str, shape: Any) -> None:
    """Raise unless a shape can be drawn."""
    need = "Box(…), Cylinder(…), Sphere(…), Mesh(…), or a tuple of these"
    if shape is not None and not isinstance(shape, AbstractLook | tuple | list):
        raise DescriptionError(item, "shape", shape, need)
    for look in looks_of(shape):
        if not isinstance(look, AbstractLook):
            raise DescriptionError(item, "shape", look, need)
        look.check(item)


def surface_of(item: str, shape: Looks) -> list[Triangles]:
    """Triangles of a body's shapes, in its frame; mesh files that cannot be read are told and left out."""
    found = []
    for look in looks_of(shape):
        try:
            pose, (vertices, faces) = look.pose(item), look.triangles()
        except ArgumentError as error:
            warnings.warn(f"{item}: drawn without a shape. {error}", stacklevel=2)
            continue
        found.append((vertices @ np.asarray(pose.rotation).T + np.asarray(pose.position), faces))
    return found


def outermost(item: str, shape: Looks, direction: np.ndarray) -> np.ndarray:
    """The point (3,) of a body's frame where the surface is met from its center in a direction."""
    points = []
    for look in looks_of(shape):
        pose = look.pose(item)
        rotation, center = np.asarray(pose.rotation), np.asarray(pose.position)
        points.append(center + look.reach(rotation.T @ direction) * direction)
    return max(points, key=lambda point: float(point @ direction))
