"""A run as an animated glTF scene (``.glb``), for Blender, slides and web pages.

Rods, chambers, tendons and springs are skins: every section is a bone that moves. Bodies, joints and discs
are nodes that move. Colors are plain, since glTF has none that change; forces are left out.
"""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.results.result import Result
from supple.robot.meshes import Mesh, circle
from supple.view.colors import EMPTY, FULL, LOOSE, PLAIN, SOLIDS
from supple.view.drawing import Drawing, Strand, drawing_of
from supple.view.scene import quaternions

FLOAT, INDEX, JOINT = 5126, 5125, 5123
"""Numbers of glTF for float, unsigned int and unsigned short."""
SIZES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}
UPRIGHT = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
"""Turns our z, upwards, into that of glTF, y."""
THIN = 2e-3
"""Radius of a tendon over the size of the robot."""
EVERY = 2
"""Every second section of a strand is a bone."""


def to_gltf(result: Result, path: str | Path, frames: int = 200) -> Path:
    """Write a run as an animated glTF scene, ``.glb``, at so many instants at most."""
    path = Path(path)
    if path.suffix != ".glb":
        raise ArgumentError(f"gltf: got {path.name!r}; need a name that ends in .glb")
    content = glb_of(drawing_of(result, frames, energies=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@dataclass
class _Scene:
    """The parts of a file while it is made: what is described, and the bytes that it refers to."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    skins: list[dict[str, Any]] = field(default_factory=list)
    materials: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    views: list[dict[str, Any]] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    channels: list[dict[str, Any]] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)

    def put(self, values: np.ndarray, kind: str, number: int = FLOAT, bounds: bool = False) -> int:
        """The accessor of an array."""
        types = {FLOAT: "<f4", INDEX: "<u4", JOINT: "<u2"}
        array = np.ascontiguousarray(values, dtype=types[number]).reshape(-1, SIZES[kind])
        self.data += b"\0" * (-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes}
        self.data += array.tobytes()
        self.views.append(view)
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": number,
            "count": len(array),
            "type": kind,
        }
        if bounds:
            accessor |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def material(self, name: str, color: Any, opacity: float = 1.0) -> int:
        """The material of a color (bytes, sRGB)."""
        for index, known in enumerate(self.materials):
            if known["name"] == name:
                return index
        share = np.asarray(color, dtype=float) / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        surface = {"metallicFactor": 0.0, "roughnessFactor": 0.6}
        made: dict[str, Any] = {
            "name": name,
            "pbrMetallicRoughness": {**surface, "baseColorFactor": [*linear.tolist(), opacity]},
        }
        if opacity < 1:
            made["alphaMode"] = "BLEND"
        self.materials.append(made)
        return len(self.materials) - 1

    def mesh(self, name: str, attributes: dict[str, int], faces: np.ndarray, material: int) -> int:
        """A mesh of triangles."""
        indices = self.put(faces, "SCALAR", INDEX)
        part = {"attributes": attributes, "indices": indices, "material": material}
        self.meshes.append({"name": name, "primitives": [part]})
        return len(self.meshes) - 1

    def moving(self, times: int, position: np.ndarray, turn: np.ndarray, **node: Any) -> int:
        """A node with positions (t, 3) and quaternions (t, 4), real part first."""
        own = np.roll(turn, -1, axis=-1)
        there = ~np.isnan(position[:, 0])
        if not there.all():  # while it does not exist it waits, infinitely small, where it is next
            nearest = np.abs(np.subtract.outer(np.arange(len(there)), np.flatnonzero(there)))
            position = position[np.flatnonzero(there)[np.argmin(nearest, axis=1)]]
        self.nodes.append({"translation": _list(position[0]), "rotation": _list(own[0]), **node})
        index = len(self.nodes) - 1
        for path, values, kind in (("translation", position, "VEC3"), ("rotation", own, "VEC4")):
            if len(values) > 1 and np.any(values != values[0]):
                sampler = {"input": times, "output": self.put(values, kind)}
                self.samplers.append({**sampler, "interpolation": "LINEAR"})
                target = {"node": index, "path": path}
                self.channels.append({"sampler": len(self.samplers) - 1, "target": target})
        if not there.all():
            self.nodes[index]["scale"] = [float(there[0])] * 3
            sizes = self.put(np.repeat(there[:, None], 3, axis=1), "VEC3")
            self.samplers.append({"input": times, "output": sizes, "interpolation": "STEP"})
            target = {"node": index, "path": "scale"}
            self.channels.append({"sampler": len(self.samplers) - 1, "target": target})
        return index


def _list(values: np.ndarray) -> list[float]:
    return [float(value) for value in np.asarray(values, dtype=np.float32)]


def glb_of(drawing: Drawing) -> bytes:
    """The bytes of the file."""
    scene = _Scene()
    times = scene.put(drawing.t - drawing.t[0], "SCALAR", bounds=True)
    tops: list[int] = []
    skins: list[int] = []
    for solid in drawing.solids:
        vertices, faces = _flat(solid.mesh)
        normals = np.repeat(_normals(vertices, faces), 3, axis=0)
        attributes = {
            "POSITION": scene.put(vertices, "VEC3", bounds=True),
            "NORMAL": scene.put(normals, "VEC3"),
        }
        material = scene.material(solid.kind, SOLIDS[solid.kind])
        mesh = scene.mesh(solid.name, attributes, faces, material)
        turn = quaternions(solid.rotation)
        tops.append(scene.moving(times, solid.position, turn, name=solid.name, mesh=mesh))
    rod = scene.material("rod", PLAIN, 0.4 if drawing.chambers else 1.0)
    strands = [(strand, rod) for strand in drawing.rods]
    full = scene.material("chamber", (EMPTY + FULL) / 2)
    strands += [(strand, full) for strand in drawing.chambers]
    wire = scene.material("tendon", LOOSE)
    thin = THIN * drawing.span
    strands += [(_tube(line.name, line.points, thin), wire) for line in drawing.lines]
    for strand, material in strands:
        bones, skin = _skinned(scene, times, strand, material)
        tops += bones
        skins.append(skin)
    scene.nodes.append({"name": drawing.name, "rotation": UPRIGHT, "children": tops})
    written: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Supple"},
        "scene": 0,
        "scenes": [{"name": drawing.name, "nodes": [len(scene.nodes) - 1, *skins]}],
        "nodes": scene.nodes,
        "meshes": scene.meshes,
        "materials": scene.materials,
        "accessors": scene.accessors,
        "bufferViews": scene.views,
        "buffers": [{"byteLength": len(scene.data)}],
    }
    if scene.skins:
        written["skins"] = scene.skins
    if scene.channels:
        parts = {"samplers": scene.samplers, "channels": scene.channels}
        written["animations"] = [{"name": "run", **parts}]
    text = json.dumps(written, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data = bytes(scene.data) + b"\0" * (-len(scene.data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _flat(mesh: Mesh) -> Mesh:
    """The same triangles, each with corners of its own, so that edges stay sharp."""
    vertices = mesh[0][mesh[1]].reshape(-1, 3)
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def _normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(size > 0, normal / np.maximum(size, 1e-300), np.array([0.0, 0.0, 1.0]))


def _tube(name: str, points: np.ndarray, radius: float) -> Strand:
    """A round strand along points (t, n, 3), with sections that turn no more than the line does."""
    way = np.gradient(points, axis=1)
    way /= np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-300)
    across = np.zeros_like(way)
    helper = np.eye(3)[np.argmin(np.abs(way[:, 0]), axis=1)]
    last = helper
    for k in range(points.shape[1]):
        last = last - np.sum(last * way[:, k], axis=1, keepdims=True) * way[:, k]
        last = last / np.maximum(np.linalg.norm(last, axis=1, keepdims=True), 1e-300)
        across[:, k] = last
    rotation = np.stack([way, across, np.cross(way, across)], axis=-1)
    outline = np.tile(radius * circle(8), (points.shape[1], 1, 1))
    return Strand(name, "tendon", points, rotation, outline, False, {})


def _skinned(scene: _Scene, times: int, strand: Strand, material: int) -> tuple[list[int], int]:
    """Nodes of a strand: its bones, and the mesh that they move. Rings lie in the frames of their bones."""
    keep = np.unique([*range(0, strand.position.shape[1], EVERY), strand.position.shape[1] - 1])
    outline, turns = strand.outline[keep], quaternions(strand.rotation[:, keep])
    n, k = outline.shape[:2]
    bones = [
        scene.moving(times, strand.position[:, i], turns[:, j], name=f"{strand.name} {j}")
        for j, i in enumerate(keep)
    ]
    rings = np.pad(outline, ((0, 0), (0, 0), (1, 0)))
    ahead, behind = np.roll(outline, -1, axis=1), np.roll(outline, 1, axis=1)
    slope = ahead - behind
    side = np.stack([0 * slope[..., 0], slope[..., 1], -slope[..., 0]], axis=-1)
    side /= np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-300)
    lids = np.stack([np.tile([-1.0, 0.0, 0.0], (k, 1)), np.tile([1.0, 0.0, 0.0], (k, 1))])
    vertices = np.concatenate([rings, rings[[0, -1]]]).reshape(-1, 3)
    normals = np.concatenate([side, lids]).reshape(-1, 3)
    owner = np.repeat([*range(n), 0, n - 1], k)
    weights = np.tile([1.0, 0.0, 0.0, 0.0], (len(vertices), 1))
    a = np.arange(k)
    b, fan = (a + 1) % k, np.arange(1, k - 1)
    faces = [
        np.concatenate([np.stack([a, b, a + k], 1), np.stack([b, b + k, a + k], 1)]) + r * k
        for r in range(n - 1)
    ]
    faces.append(n * k + np.stack([0 * fan, fan + 1, fan], 1))
    faces.append((n + 1) * k + np.stack([0 * fan, fan, fan + 1], 1))
    attributes = {
        "POSITION": scene.put(vertices, "VEC3", bounds=True),
        "NORMAL": scene.put(normals, "VEC3"),
        "JOINTS_0": scene.put(np.stack([owner, 0 * owner, 0 * owner, 0 * owner], 1), "VEC4", JOINT),
        "WEIGHTS_0": scene.put(weights, "VEC4"),
    }
    mesh = scene.mesh(strand.name, attributes, np.concatenate(faces), material)
    inverse = scene.put(np.tile(np.eye(4), (n, 1, 1)), "MAT4")
    scene.skins.append({"name": strand.name, "joints": bones, "inverseBindMatrices": inverse})
    scene.nodes.append({"name": strand.name, "mesh": mesh, "skin": len(scene.skins) - 1})
    return bones, len(scene.nodes) - 1
