"""The rigid part of a robot from a URDF file: links, joints, inertias, and how links look.

A link becomes a body in the frame of the joint that carries it, with the name of the link; one without mass
that is fixed becomes a marker. Limits of joints become their stops; mesh files
that are not there are told in the notes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from supple.errors import DescriptionError
from supple.files.problems import Bare, FileError, Problem
from supple.robot.items import Body, Marker
from supple.robot.joint import (
    AbstractJointSpec,
    Fixed,
    Free,
    Planar,
    Prismatic,
    Revolute,
)
from supple.robot.looks import AbstractLook, Box, Cylinder, Mesh, Sphere

MAX_SIZE = 5_000_000
MAX_DEPTH = 32


@dataclass(frozen=True)
class UrdfImport:
    """A URDF file and where its root link is: ``joint`` (default fixed) to the ground, at a pose."""

    file: str
    joint: AbstractJointSpec = field(default_factory=Fixed)
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Urdf:
    """What a URDF file gives."""

    items: tuple[Body | Marker, ...]
    notes: tuple[str, ...]


@dataclass
class _Element:
    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list["_Element"] = field(default_factory=list)

    def all(self, tag: str) -> Iterator["_Element"]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> "_Element | None":
        return next(self.all(tag), None)


@dataclass
class _Reader:
    """Elements of a file with their lines, and values of their attributes, or errors that tell where."""

    name: str
    folder: Path
    """Where mesh files are."""
    notes: list[str] = field(default_factory=list)

    def refuse(self, where: Any, path: str, got: Any, need: str) -> FileError:
        return FileError([Problem(self.name, where.line, where.column, path, got, need)])

    def tree(self, text: str) -> _Element:
        top = _Element("", {}, 1, 1)
        stack = [top]
        parser = expat.ParserCreate()

        def start(tag: str, attributes: dict[str, str]) -> None:
            line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
            element = _Element(tag, attributes, line, column)
            if len(stack) > MAX_DEPTH:
                raise self.refuse(
                    element, tag, Bare("elements within each other"), "a flatter file"
                )
            stack[-1].children.append(element)
            stack.append(element)

        def end(tag: str) -> None:
            stack.pop()

        def doctype(*_: Any) -> None:
            raise self.refuse(top, "", Bare("a document type"), "plain URDF: entities are not read")

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartDoctypeDeclHandler = doctype
        if len(text) > MAX_SIZE:
            raise self.refuse(top, "", Bare(f"{len(text)} characters"), f"at most {MAX_SIZE}")
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            place = _Element("", {}, error.lineno, error.offset + 1)
            got = Bare(expat.ErrorString(error.code))
            raise self.refuse(place, "", got, "XML, as URDF files are") from None
        root = top.children[0]
        if root.tag != "robot":
            raise self.refuse(
                root, root.tag, Bare(f"<{root.tag}>"), "<robot> as the root of a URDF file"
            )
        return root

    def text(self, element: _Element, attribute: str, path: str) -> str:
        if attribute not in element.attributes:
            need = f'{attribute}="…" in <{element.tag}>'
            raise self.refuse(element, path, Bare("nothing"), need)
        return element.attributes[attribute]

    def numbers(
        self, element: _Element | None, attribute: str, default: Any, path: str, count: int = 3
    ) -> tuple[float, ...]:
        if element is None or attribute not in element.attributes:
            if default is None:
                raise self.refuse(element, path, Bare("nothing"), f'{attribute}="…"')
            return tuple(default)
        written = element.attributes[attribute]
        try:
            values = tuple(float(part) for part in written.split())
        except ValueError:
            values = ()
        if len(values) != count or not np.all(np.isfinite(values)):
            need = f"{count} finite number{'s' if count > 1 else ''}"
            raise self.refuse(element, f"{path}.{attribute}", written, need)
        return values


def rotation_of(rpy: tuple[float, ...]) -> np.ndarray:
    """Matrix of roll, pitch and yaw about the fixed axes x, y, z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return np.asarray(about_z @ about_y @ about_x)


_NONE = (0.0, 0.0, 0.0)


def _tuples(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def read_urdf(text: str, name: str, root: UrdfImport, folder: Path = Path()) -> Urdf:
    """Items and notes of a URDF text; ``name`` is the file's, for messages, meshes are in ``folder``."""
    reader = _Reader(name, folder)
    robot = reader.tree(text)
    links: dict[str, _Element] = {}
    for link in robot.all("link"):
        own = reader.text(link, "name", "link")
        if own in links:
            raise reader.refuse(link, f"link {own}", Bare("a second one"), "each name only once")
        links[own] = link
    carriers: dict[str, _Element] = {}
    for joint in robot.all("joint"):
        path = f"joint {joint.attributes.get('name', '?')}"
        for end in ("parent", "child"):
            target = joint.first(end)
            if target is None:
                need = f'<{end} link="…"/>'
                raise reader.refuse(joint, f"{path}.{end}", Bare(f"no <{end}>"), need)
            linked = reader.text(target, "link", f"{path}.{end}")
            if linked not in links:
                need = "a link of this file: " + ", ".join(links)
                raise reader.refuse(target, f"{path}.{end}", linked, need)
        child = joint.first("child").attributes["link"]  # type: ignore[union-attr]
        if child in carriers:
            raise reader.refuse(joint, path, child, "a link that no other joint carries (a tree)")
        carriers[child] = joint
    roots = [link for link in links if link not in carriers]
    if len(roots) != 1:
        need = "one link that no joint carries" + (": the joints form a loop" if not roots else "")
        raise reader.refuse(robot, "robot", roots, need)
    items = [_root(reader, roots[0], links[roots[0]], root)]
    items += [
        _carried(reader, link, links[link], carriers[link]) for link in links if link != roots[0]
    ]
    return Urdf(tuple(items), tuple(reader.notes))


def _inertial(reader: _Reader, link: str, element: _Element) -> dict[str, Any] | None:
    """Mass, center and inertia of a link in its own axes; None without an inertial."""
    inertial = element.first("inertial")
    if inertial is None:
        return None
    path = f"link {link}.inertial"
    parts = {tag: inertial.first(tag) for tag in ("mass", "inertia", "origin")}
    for tag in ("mass", "inertia"):
        if parts[tag] is None:
            raise reader.refuse(
                inertial, path, Bare(f"no <{tag}>"), f"<{tag} …/> for a body that moves"
            )
    (mass,) = reader.numbers(parts["mass"], "value", None, f"{path}.mass", 1)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    xx, xy, xz, yy, yz, zz = (
        reader.numbers(parts["inertia"], name, None if name[1] == name[2] else (0.0,), path, 1)[0]
        for name in names
    )
    turned = rotation_of(reader.numbers(parts["origin"], "rpy", _NONE, path))
    inertia = turned @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turned.T
    return {
        "mass": mass,
        "com": reader.numbers(parts["origin"], "xyz", _NONE, path),
        "inertia": _tuples((inertia + inertia.T) / 2),
    }


def _made(reader: _Reader, element: _Element, make: Any, *args: Any, **fields: Any) -> Any:
    """An item, with its errors put where it stands in the file."""
    try:
        return make(*args, **fields)
    except DescriptionError as error:
        path = f"link {error.item}.{error.field}"
        raise reader.refuse(element, path, error.got, error.need) from error


def _root(reader: _Reader, name: str, element: _Element, root: UrdfImport) -> Body | Marker:
    place: dict[str, Any] = {"position": root.position, "rotation": root.rotation}
    place["shape"] = tuple(_looks(reader, name, element)) or None
    inertial = _inertial(reader, name, element)
    if inertial is not None:
        found: Body = _made(reader, element, Body, name, joint=root.joint, **place, **inertial)
        return found
    if not isinstance(root.joint, Fixed):
        need = "<inertial> with mass and inertia, since the link moves"
        raise reader.refuse(element, f"link {name}", Bare("no <inertial>"), need)
    marker: Marker = _made(reader, element, Marker, name, **place)
    return marker


def _carried(reader: _Reader, name: str, element: _Element, joint: _Element) -> Body | Marker:
    own = joint.attributes.get("name", name)
    path = f"joint {own}"
    origin = joint.first("origin")
    parent = joint.first("parent")
    assert parent is not None
    spec = _joint(reader, joint, path)
    place: dict[str, Any] = {
        "parent": parent.attributes["link"],
        "position": reader.numbers(origin, "xyz", _NONE, f"{path}.origin"),
        "shape": tuple(_looks(reader, name, element)) or None,
    }
    rpy = reader.numbers(origin, "rpy", _NONE, f"{path}.origin")
    if rpy != _NONE:
        place["rotation"] = _tuples(rotation_of(rpy))
    inertial = _inertial(reader, name, element)
    if inertial is not None:
        found: Body = _made(reader, element, Body, name, joint=spec, **place, **inertial)
        return found
    if not isinstance(spec, Fixed):
        need = "<inertial> with mass and inertia, since the link moves"
        raise reader.refuse(element, f"link {name}", Bare("no <inertial>"), need)
    marker: Marker = _made(reader, element, Marker, name, **place)
    return marker


def _joint(reader: _Reader, joint: _Element, path: str) -> AbstractJointSpec:
    kind = reader.text(joint, "type", path)
    if joint.first("mimic") is not None:
        raise reader.refuse(joint, path, Bare("<mimic>"), "joints that move by themselves")
    axis = reader.numbers(joint.first("axis"), "xyz", (1.0, 0.0, 0.0), f"{path}.axis")
    dynamics = joint.first("dynamics")
    (damping,) = reader.numbers(dynamics, "damping", (0.0,), f"{path}.dynamics", 1)
    (friction,) = reader.numbers(dynamics, "friction", (0.0,), f"{path}.dynamics", 1)
    losses = {"damping": damping, "friction": friction}
    if kind not in ("fixed", "floating") and not np.any(axis):
        raise reader.refuse(joint.first("axis") or joint, f"{path}.axis", axis, "a vector not zero")
    kinds: dict[str, Any] = {
        "fixed": Fixed,
        "revolute": lambda: Revolute(axis, **losses, **_bounds(reader, joint, path)),
        "continuous": lambda: Revolute(axis, **losses),
        "prismatic": lambda: Prismatic(axis, **losses, **_bounds(reader, joint, path)),
        "floating": Free,
        "planar": lambda: Planar(axis, **losses),
    }
    if kind not in kinds:
        raise reader.refuse(joint, f"{path}.type", kind, "one of: " + ", ".join(kinds))
    found: AbstractJointSpec = kinds[kind]()
    return found


def _bounds(reader: _Reader, joint: _Element, path: str) -> dict[str, float]:
    """Stops of a joint: those of <limit>, where it says any. Limits of effort and speed are not simulated."""
    limit = joint.first("limit")
    if limit is None or not {"lower", "upper"} & set(limit.attributes):
        return {}
    # Where one is left out, the format says zero.
    (lower,) = reader.numbers(limit, "lower", (0.0,), f"{path}.limit", 1)
    (upper,) = reader.numbers(limit, "upper", (0.0,), f"{path}.limit", 1)
    if not lower < upper:
        raise reader.refuse(limit, f"{path}.limit.lower", lower, f"less than upper, {upper}")
    return {"lower": lower, "upper": upper}


def _looks(reader: _Reader, name: str, element: _Element) -> Iterator[AbstractLook]:
    for visual in element.all("visual"):
        look = _look(reader, f"link {name}.visual", visual)
        if look is not None:
            yield look


def _look(reader: _Reader, path: str, visual: _Element) -> AbstractLook | None:
    """What one <visual> shows; None for a mesh file that is not there."""
    geometry = visual.first("geometry")
    if geometry is None or not geometry.children:
        raise reader.refuse(visual, path, Bare("no <geometry>"), "<geometry> with a shape in it")
    shape, origin = geometry.children[0], visual.first("origin")
    place: dict[str, Any] = {"position": reader.numbers(origin, "xyz", _NONE, path)}
    rpy = reader.numbers(origin, "rpy", _NONE, path)
    if rpy != _NONE:
        place["rotation"] = _tuples(rotation_of(rpy))

    def one(attribute: str) -> float:
        return reader.numbers(shape, attribute, None, path, 1)[0]

    if shape.tag == "box":
        return Box(reader.numbers(shape, "size", None, path), **place)
    if shape.tag == "cylinder":
        return Cylinder(one("radius"), one("length"), **place)
    if shape.tag == "sphere":
        return Sphere(one("radius"), **place)
    if shape.tag != "mesh":
        need = "one of: mesh, box, cylinder, sphere"
        raise reader.refuse(shape, path, Bare(f"<{shape.tag}>"), need)
    written = reader.text(shape, "filename", path)
    scale = reader.numbers(shape, "scale", (1.0, 1.0, 1.0), path)
    file = reader.folder / written
    if not file.is_file():
        reader.notes.append(f"{path}: its mesh {written!r} is not there")
        return None
    return Mesh(str(file), scale, **place)
