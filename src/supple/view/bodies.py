"""Surfaces of rigid things: prisms for rods and bodies, and what a URDF file says of its links."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.robot.items import Body
from supple.robot.looks import Look

Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices (v, 3) in metres, and faces (f, 3) that show outwards."""
ROUND = 24
"""Sides of what is round."""
MAX_FILE = 50_000_000
"""Bytes of a mesh file."""


def circle(sides: int = ROUND) -> np.ndarray:
    """Outline (sides, 2) of a circle of radius 1."""
    angle = 2 * np.pi * np.arange(sides) / sides
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def tube(outline: np.ndarray) -> Mesh:
    """The side of a prism of length 1 along x, centred, over an outline (k, 2) in y and z."""
    k = len(outline)
    ends = [np.column_stack([np.full(k, x), outline]) for x in (-0.5, 0.5)]
    a = np.arange(k)
    b = (a + 1) % k
    return np.concatenate(ends), np.concatenate(
        [np.stack([a, b, a + k], axis=1), np.stack([b, b + k, a + k], axis=1)]
    )


def prism(outline: np.ndarray) -> Mesh:
    """A tube with closed ends; these have vertices of their own, so that edges stay sharp."""
    k = len(outline)
    side, around = tube(outline)
    fan = np.arange(1, k - 1)
    first = 2 * k + np.stack([0 * fan, fan + 1, fan], axis=1)
    last = 3 * k + np.stack([0 * fan, fan, fan + 1], axis=1)
    return np.concatenate([side, side]), np.concatenate([around, first, last])


def solid_of(body: Body, least: float) -> Mesh:
    """A box with a body's mass and moments, or a cylinder if two of these are equal; no thinner than that."""
    moments, axes = np.linalg.eigh(np.asarray(body.inertia_matrix(), dtype=float))
    mass = float(body.mass)
    alike = np.isclose(moments[:2], moments[1:], rtol=1e-2) & (moments[1:] > 0)
    if alike.any() and not alike.all():
        own = 2 if alike[0] else 0  # the axis of revolution
        order = [own, (own + 1) % 3, (own + 2) % 3]
        moments, axes = moments[order], axes[:, order]
        radius = np.sqrt(2 * moments[0] / mass)
        length = np.sqrt(max(12 / mass * (moments[1] - moments[0] / 2), 0.0))
        outline, sizes = circle(), np.array([length, radius, radius])
    else:
        squares = 6 / mass * (moments.sum() - 2 * moments)
        outline = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
        sizes = np.sqrt(np.maximum(squares, 0.0))
    if np.linalg.det(axes) < 0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    vertices, faces = prism(outline)
    place = np.asarray(body.com, dtype=float)
    return (vertices * np.maximum(sizes, least)) @ axes.T + place, faces


def look_of(looks: Sequence[Look]) -> list[Mesh]:
    """Surfaces of a link in its own frame; mesh files that cannot be read are left out."""
    found = [(look, _shape(look)) for look in looks]
    return [
        (mesh[0] @ np.array(look.rotation).T + np.array(look.position), mesh[1])
        for look, mesh in found
        if mesh is not None
    ]


def _shape(look: Look) -> Mesh | None:
    if look.shape == "box":
        vertices, faces = prism(np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]))
        return vertices * np.array(look.size), faces
    if look.shape == "cylinder":  # along z
        radius, length = look.size
        vertices, faces = prism(circle())
        return (vertices * np.array([length, radius, radius]))[:, [1, 2, 0]], faces
    try:
        import trimesh  # comes with viser

        if look.shape == "sphere":
            ball = trimesh.creation.icosphere(radius=look.size[0])
            return np.asarray(ball.vertices), np.asarray(ball.faces)
        file = Path(look.file)
        if not file.is_file() or file.stat().st_size > MAX_FILE:
            return None
        mesh: Any = trimesh.load(file, force="mesh")
        vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
    except Exception:  # whatever its many readers raise: bodies can be drawn without
        return None
    sound = len(faces) and vertices.shape[1:] == (3,) and np.all(np.isfinite(vertices))
    return (vertices * np.array(look.size), faces) if sound else None
