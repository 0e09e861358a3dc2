"""Surfaces made of triangles: prisms and balls, files of others, and where points are against them."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import ArgumentError

Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices (v, 3) in meters, and faces (f, 3) that show outwards."""
ROUND = 24
"""Sides of what is round."""
MAX_FILE = 50_000_000
"""Bytes of a mesh file."""


def circle(sides: int = ROUND) -> np.ndarray:
    """Outline (sides, 2) of a circle of radius 1."""
    angle = 2 * np.pi * np.arange(sides) / sides
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
"""Outline of a square of width 1."""


def prism(outline: np.ndarray) -> Mesh:
    """A closed prism of length 1 along x, centered, over an outline (k, 2) in y and z.

    Its ends have vertices of their own, so that edges stay sharp.
    """
    k = len(outline)
    side = np.concatenate([np.column_stack([np.full(k, x), outline]) for x in (-0.5, 0.5)])
    a = np.arange(k)
    b, fan = (a + 1) % k, np.arange(1, k - 1)
    faces = [
        np.stack([a, b, a + k], axis=1),
        np.stack([b, b + k, a + k], axis=1),
        2 * k + np.stack([0 * fan, fan + 1, fan], axis=1),
        3 * k + np.stack([0 * fan, fan, fan + 1], axis=1),
    ]
    return np.concatenate([side, side]), np.concatenate(faces)


def ball(sides: int = ROUND) -> Mesh:
    """A ball of radius 1: circles of latitude about z between two poles."""
    rings = sides // 2
    height = np.pi * np.arange(1, rings) / rings
    across = np.concatenate([np.sin(h) * circle(sides) for h in height])
    along = np.repeat(np.cos(height), sides)
    vertices = np.concatenate(
        [[(0.0, 0.0, 1.0)], np.column_stack([across, along]), [(0.0, 0.0, -1.0)]]
    )
    a = np.arange(sides)
    b, last = (a + 1) % sides, len(vertices) - 1
    faces = [np.stack([0 * a, 1 + a, 1 + b], axis=1)]
    for ring in range(rings - 2):
        upper, lower = 1 + ring * sides, 1 + (ring + 1) * sides
        faces.append(np.stack([upper + a, lower + a, lower + b], axis=1))
        faces.append(np.stack([upper + a, lower + b, upper + b], axis=1))
    ring = last - sides
    faces.append(np.stack([ring + a, 0 * a + last, ring + b], axis=1))
    return vertices, np.concatenate(faces)


def joined(meshes: list[Mesh]) -> Mesh:
    """Several surfaces as one."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    faces = [own + start for (_, own), start in zip(meshes, starts, strict=False)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(faces)


def read_mesh(file: str | Path) -> Mesh:
    """The triangles of a mesh file (STL, OBJ, PLY, glTF, …)."""
    try:
        about = Path(file).stat()
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{file}: cannot be read ({error}); need a mesh file") from error
    if not Path(file).is_file() or about.st_size > MAX_FILE:
        raise ArgumentError(f"{file}: got {about.st_size} bytes; need a file of at most {MAX_FILE}")
    return _read_mesh(str(file), about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=64)
def _read_mesh(file: str, size: int, changed: int) -> Mesh:
    """A file's triangles, read once: a live robot is drawn many times a second."""
    try:
        import trimesh
    except ImportError as error:
        need = "pip install 'supple[view]'"
        raise ArgumentError(f"{file}: mesh files are read by trimesh; need {need}") from error
    try:
        mesh: Any = trimesh.load(file, force="mesh")
        vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=int)
    except Exception as error:  # trimesh raises what the format's reader raises
        raise ArgumentError(
            f"{file}: got a file that trimesh cannot read ({error}); need STL, OBJ, PLY, …"
        ) from error
    if len(faces) == 0:
        raise ArgumentError(f"{file}: got a file without triangles; need a mesh")
    whole = vertices.shape[1:] == (3,) and faces.shape[1:] == (3,) and np.isfinite(vertices).all()
    if not whole or faces.min() < 0 or faces.max() >= len(vertices):
        raise ArgumentError(f"{file}: got triangles without finite corners; need a mesh")
    return vertices, faces


def leaves_at(mesh: Mesh, start: np.ndarray, direction: np.ndarray) -> float:
    """How far along a ray the surface is met last; 0 where it is not met (Möller and Trumbore)."""
    a, b, c = (mesh[0][mesh[1][:, i]] for i in range(3))
    first, second = b - a, c - a
    normal = np.cross(direction, second)
    volume = np.einsum("fi,fi->f", first, normal)
    flat = np.abs(volume) < 1e-14 * max(float(np.abs(volume).max(initial=0.0)), 1e-300)
    scale = 1 / np.where(flat, 1.0, volume)
    away = start - a
    u = scale * np.einsum("fi,fi->f", away, normal)
    across = np.cross(away, first)
    v = scale * (across @ direction)
    far = scale * np.einsum("fi,fi->f", second, across)
    slack = 1e-9
    met = ~flat & (u >= -slack) & (v >= -slack) & (u + v <= 1 + slack) & (far > 0)
    return float(far[met].max(initial=0.0))


def encloses(mesh: Mesh, point: np.ndarray) -> bool:
    """Whether a point is inside a closed surface, by the solid angle of its triangles."""
    a, b, c = (mesh[0][mesh[1][:, i]] - point for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    triple = np.einsum("fi,fi->f", a, np.cross(b, c))
    dots = (np.einsum("fi,fi->f", x, y) for x, y in ((a, b), (b, c), (c, a)))
    ab, bc, ca = dots
    angles = 2 * np.arctan2(triple, la * lb * lc + ab * lc + bc * la + ca * lb)
    return bool(abs(angles.sum()) > 2 * np.pi)


def nearest_point(mesh: Mesh, point: np.ndarray) -> np.ndarray:
    """The point (3,) of a surface that is nearest to another."""
    corners = mesh[0][mesh[1]] - point
    found = [corners.reshape(-1, 3)]
    for i in range(3):  # on edges
        start, way = corners[:, i], corners[:, (i + 1) % 3] - corners[:, i]
        length = np.maximum(np.einsum("fi,fi->f", way, way), 1e-300)
        share = np.clip(-np.einsum("fi,fi->f", start, way) / length, 0.0, 1.0)
        found.append(start + share[:, None] * way)
    # Inside faces, where the foot of the perpendicular is.
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.einsum("fi,fi->f", normal, normal)
    real = size > 0
    normal, inner = normal[real], corners[real]
    share = np.einsum("fi,fi->f", normal, inner[:, 0]) / size[real]
    foot = share[:, None] * normal
    sides = [
        np.einsum("fi,fi->f", normal, np.cross(inner[:, (i + 1) % 3] - inner[:, i], foot - inner[:, i]))
        for i in range(3)
    ]  # fmt: skip
    found.append(foot[np.all(np.stack(sides) >= 0, axis=0)])
    every = np.concatenate(found)
    return np.asarray(point + every[np.argmin(np.einsum("ki,ki->k", every, every))])
