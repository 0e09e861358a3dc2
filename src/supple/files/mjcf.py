"""Robots for MuJoCo: bodies and joints as they are, rods as chains of pieces with springs between them.

A rod of N pieces has N joints, each in the middle of a N-th of its length, with one hinge or slide for every
strain it has; their springs are the sectional stiffness over that length, so that shapes agree to second
order in 1/N. What MuJoCo has no counterpart for is told at the top of the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model.friction import DryFriction
from supple.robot.actuators import Motor, Tendon
from supple.robot.attachments import compose, home_pose, inverse, rest_pose
from supple.robot.checks import GROUND_NAME
from supple.robot.items import Body, Closure, Marker, Place, Rod, Solid
from supple.robot.joint import (
    AbstractJointSpec,
    Cylindrical,
    Fixed,
    Free,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from supple.robot.looks import Box, Cylinder, Mesh, Sphere, looks_of
from supple.robot.placement import along, placement, unit_axis
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.robot.spanning_tree import cut_open
from supple.strain.field import STRAINS

Element = ElementTree.Element
NEVER = 1e6
"""Where a stop that is not there is put (rad, m)."""
SHAPELESS = {"contype": "0", "conaffinity": "0", "mass": "0"}
"""Shapes are for the eye: they neither weigh nor touch."""


def to_mjcf(robot: Robot, path: str | Path, pieces: int = 20) -> Path:
    """Write a robot as an MJCF file for MuJoCo, with each rod as a chain of so many pieces."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(mjcf_of(robot, pieces), encoding="utf-8")
    return path


def mjcf_of(robot: Robot, pieces: int = 20) -> str:
    """The text of the file."""
    if pieces < 1:
        raise DescriptionError(robot.name, "pieces", pieces, "an integer >= 1")
    return _Writer(robot, pieces).text()


def _numbers(values: Any) -> str:
    return " ".join(f"{float(value):.9g}" for value in np.ravel(np.asarray(values, dtype=float)))


def _placed(pose: Pose) -> dict[str, str]:
    """A pose as attributes."""
    quaternion = Rotation.from_matrix(np.array(pose.rotation, dtype=float)).as_quat(
        scalar_first=True
    )
    return {"pos": _numbers(pose.position), "quat": _numbers(quaternion)}


@dataclass
class _Writer:
    robot: Robot
    pieces: int
    links: dict[tuple[str, str], tuple[Element, Pose]] = field(default_factory=dict)
    """Bodies and poses of the moving parts of linkages."""
    spots: dict[str, list[tuple[float, Element, Pose]]] = field(default_factory=dict)
    """Of each item: from which fraction on a body carries what is there, that body, and the pose in it."""
    rods: dict[str, Rod] = field(default_factory=dict)
    joints: dict[str, list[str]] = field(default_factory=dict)
    """Names of the joints that carry each item."""
    notes: list[str] = field(default_factory=list)
    assets: dict[str, str] = field(default_factory=dict)
    sites: int = 0

    def text(self) -> str:
        resolved = [
            item.resolved(DEFAULT_ACCURACY) if isinstance(item, Rod) else item
            for item in self.robot.items
        ]
        robot = Robot(*cut_open(resolved), gravity=self.robot.gravity, name=self.robot.name)
        root = Element("mujoco", model=robot.name)
        _add(root, "compiler", angle="radian", boundmass="1e-9", boundinertia="1e-12")
        _add(root, "option", gravity=_numbers(robot.gravity), integrator="implicitfast")
        asset, world = _add(root, "asset"), _add(root, "worldbody")
        _add(world, "light", pos="0 0 3", dir="0 0 -1")
        identity = Pose(np.eye(3), np.zeros(3))
        self.spots[GROUND_NAME] = [(0.0, world, identity)]
        for item in robot.solids:
            self._solid(item)
        tendons, actuators, equal = (
            _add(root, name) for name in ("tendon", "actuator", "equality")
        )
        for other in robot.items:
            if isinstance(other, Closure):
                self._closure(other, equal)
            elif isinstance(other, Tendon):
                self._tendon(other, tendons, actuators)
            elif isinstance(other, Motor):
                self._motor(other, actuators)
            elif not isinstance(other, Solid):
                self.notes.append(f"{other.name} ({type(other).__name__})")
        for file, name in self.assets.items():
            _add(asset, "mesh", name=name, file=str(Path(file).resolve()))
        for part in (asset, tendons, actuators, equal):
            if len(part) == 0:
                root.remove(part)
        ElementTree.indent(root)
        written = ElementTree.tostring(root, encoding="unicode")
        left = "; left out: " + ", ".join(self.notes) if self.notes else ""
        about = f"{robot.name}, written by Supple; rods are chains of {self.pieces} pieces{left}"
        return f"<!-- {about.replace('--', '- -')} -->\n{written}\n"

    def _at(self, place: Place, name: str) -> tuple[Element, Pose]:
        """The body that carries a place, and the pose of the place in it."""
        if place.link is not None:
            body, pose = self.links[place.parent, place.link]
            return body, compose(pose, placement(name, place.position, place.rotation))
        spots = self.spots[place.parent]
        start, body, pose = next(spot for spot in reversed(spots) if spot[0] <= place.fraction)
        here = pose
        if place.parent in self.rods:
            rod = self.rods[place.parent]
            here = compose(inverse(rest_pose(rod, start)), rest_pose(rod, place.fraction))
            here = compose(pose, here)
        return body, compose(here, placement(name, place.position, place.rotation))

    def _site(self, place: Place, name: str) -> str:
        body, pose = self._at(place, name)
        self.sites += 1
        own = f"{name} {self.sites}"
        _add(body, "site", name=own, **_placed(pose))
        return own

    def _solid(self, item: Solid) -> None:
        body, pose = self._at(item.place, item.name)
        if isinstance(item, Marker):
            _add(body, "site", name=item.name, **_placed(pose))
            self.spots[item.name] = [(0.0, body, pose)]
            self._shapes(item, body, pose)
            return
        held = placement(item.name, item.joint_position, item.joint_rotation)
        if item.joint.links:  # a linkage stands still, as it is told
            joint: Any = item.joint.make(item.name)
            for k, link in enumerate(item.joint.links, 1):
                self.links[item.name, link] = body, compose(pose, home_pose(joint, k))
            pose = compose(pose, home_pose(joint, 0))
        own = _add(body, "body", name=item.name, **_placed(compose(pose, inverse(held))))
        self._carrying(item, own, held)
        self.spots[item.name] = [(0.0, own, Pose(np.eye(3), np.zeros(3)))]
        if isinstance(item, Rod):
            self._rod(item, own)
            return
        inertia = np.asarray(item.inertia_matrix(), dtype=float)
        full = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        if not np.any(inertia):
            full = [1e-12] * 3 + [0.0] * 3
        _add(own, "inertial", pos=_numbers(item.com), mass=_numbers(item.mass),
             fullinertia=_numbers(full))  # fmt: skip
        self._shapes(item, own, Pose(np.eye(3), np.zeros(3)))
        if item.shape is None:
            radius = max(np.sqrt(np.trace(inertia) / float(item.mass)), 5e-3)
            _add(own, "geom", type="sphere", size=_numbers(radius), pos=_numbers(item.com),
                 **SHAPELESS)  # fmt: skip

    def _shapes(self, item: Body | Marker, body: Element, frame: Pose) -> None:
        for look in looks_of(item.shape):
            pose = compose(frame, look.pose(item.name))
            if isinstance(look, Box):
                own = {"type": "box", "size": _numbers(np.asarray(look.size, dtype=float) / 2)}
            elif isinstance(look, Sphere):
                own = {"type": "sphere", "size": _numbers(look.radius)}
            elif isinstance(look, Cylinder):
                own = {"type": "cylinder", "size": _numbers([look.radius, look.length / 2])}
                # Ours is along its axis, MuJoCo's along z.
                turn = compose(
                    Pose(np.asarray(placement("", np.zeros(3), along(look.axis)).rotation), np.zeros(3)),
                    Pose(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), np.zeros(3)),
                )  # fmt: skip
                pose = compose(pose, turn)
            elif isinstance(look, Mesh):
                name = self.assets.setdefault(str(look.file), f"mesh {len(self.assets) + 1}")
                own = {"type": "mesh", "mesh": name}
                if np.any(np.asarray(look.scale) != 1.0):
                    self.notes.append(f"the scale of {item.name}'s mesh")
            else:
                self.notes.append(f"{item.name}'s shape")
                continue
            _add(body, "geom", **own, **_placed(pose), **SHAPELESS)

    def _carrying(self, item: Rod | Body, body: Element, held: Pose) -> None:
        """The joints between an item and its parent."""
        spec, names = item.joint, []
        stiffness, rest, damping = (np.ravel(np.asarray(x, dtype=float)) for x in spec.spring())
        dry = spec.dry(1)
        for k, (kind, axis) in enumerate(_motions(item.name, spec)):
            name = item.name if k == 0 else f"{item.name} {k + 1}"
            if kind == "free":
                if item.parent == GROUND_NAME:  # elsewhere MuJoCo has none
                    _add(body, "freejoint", name=name)
                    names.append(name)
                continue
            turned = np.asarray(held.rotation) @ axis
            values = {
                "stiffness": stiffness[min(k, len(stiffness) - 1)],
                "springref": rest[min(k, len(rest) - 1)],
                "damping": damping[min(k, len(damping) - 1)],
            }
            if isinstance(dry, DryFriction):
                loss = np.ravel(np.asarray(dry.largest, dtype=float))
                values["frictionloss"] = loss[min(k, len(loss) - 1)]
            written = {own: _numbers(value) for own, value in values.items() if value}
            written |= _range(spec, k)
            axes = {} if kind == "ball" else {"axis": _numbers(turned)}
            _add(
                body, "joint", name=name, type=kind, pos=_numbers(held.position), **axes, **written
            )
            names.append(name)
        if not names and not isinstance(spec, Fixed):
            self.notes.append(f"the motion of {item.name} ({type(spec).__name__})")
        self.joints[item.joint_name or item.name] = self.joints[item.name] = names

    def _rod(self, rod: Rod, first: Element) -> None:
        self.rods[rod.name] = rod
        count = self.pieces
        length = float(rod.length)
        bends = (np.arange(count) + 0.5) / count
        ends = np.array([0.0, *bends, 1.0])
        strains = sorted(set(rod.strain_field().rows))
        middles = (ends[:-1] + ends[1:]) / 2
        inside = rod.sectional().matrices(middles)
        across = rod.sectional().matrices(bends)
        radius = length / 200
        if rod.section is not None:
            outline = np.asarray(rod.section.outline(middles, 24), dtype=float)
            radius = np.linalg.norm(outline, axis=-1).mean(axis=1)
        radii = np.broadcast_to(radius, middles.shape)
        body, before = first, 0.0
        for j, (start, end) in enumerate(pairwise(ends)):
            if j > 0:
                step = compose(inverse(rest_pose(rod, before)), rest_pose(rod, float(start)))
                body = _add(body, "body", name=f"{rod.name} piece {j}", **_placed(step))
                for row in strains:
                    axis = np.eye(3)[row % 3]
                    part = {
                        "stiffness": across.stiffness[j - 1][row, row] * count / length,
                        "damping": across.damping[j - 1][row, row] * count / length,
                    }
                    _add(body, "joint", name=f"{rod.name} piece {j} {STRAINS[row]}",
                         type="hinge" if row < 3 else "slide", axis=_numbers(axis),
                         **{own: _numbers(value) for own, value in part.items() if value})  # fmt: skip
                before = float(start)
                identity = Pose(np.eye(3), np.zeros(3))
                self.spots[rod.name].append((before, body, identity))
            self._piece(rod, body, (before, float(end)), np.asarray(inside.inertia[j]), radii[j])
        self.spots[rod.name][0] = (0.0, first, Pose(np.eye(3), np.zeros(3)))
        _, pose = self._at(Place(rod.name), rod.name)
        _add(body, "site", name=f"{rod.name} tip", **_placed(pose))

    def _piece(
        self, rod: Rod, body: Element, span: tuple[float, float], inertia: np.ndarray, radius: float
    ) -> None:
        """Mass and shape of a piece, in the frame of its beginning."""
        length = float(rod.length) * (span[1] - span[0])
        end = compose(inverse(rest_pose(rod, span[0])), rest_pose(rod, span[1]))
        middle = compose(inverse(rest_pose(rod, span[0])), rest_pose(rod, sum(span) / 2))
        mass = inertia[3, 3] * length
        moments = np.diag(inertia)[:3] * length + mass * length**2 / 12 * np.array([0.0, 1.0, 1.0])
        _add(
            body, "inertial", **_placed(middle), mass=_numbers(mass), diaginertia=_numbers(moments)
        )
        _add(body, "geom", type="capsule", fromto=_numbers([*np.zeros(3), *end.position]),
             size=_numbers(radius), **SHAPELESS)  # fmt: skip

    def _closure(self, item: Closure, equal: Element) -> None:
        """Balls, hinges and clamps; a hinge is held at two points of its axis."""
        if isinstance(item.joint, Fixed):
            inner, outer = (self._site(place, item.name) for place in (item.inner, item.outer))
            _add(equal, "weld", name=item.name, site1=inner, site2=outer)
            return
        if not isinstance(item.joint, Spherical | Revolute):
            self.notes.append(f"{item.name} ({type(item.joint).__name__} that closes a loop)")
            return
        shifts = [np.zeros(3)]
        if isinstance(item.joint, Revolute):
            axis = unit_axis(item.name, "axis", item.joint.axis)
            shifts = [-0.01 * axis, 0.01 * axis]
        for k, shift in enumerate(shifts):
            inner, outer = (
                self._site(self._shifted(place, item.name, shift), item.name)
                for place in (item.inner, item.outer)
            )
            name = item.name if k == 0 else f"{item.name} {k + 1}"
            _add(equal, "connect", name=name, site1=inner, site2=outer)

    def _shifted(self, place: Place, name: str, shift: np.ndarray) -> Place:
        pose = placement(name, place.position, place.rotation)
        moved = np.asarray(pose.position) + np.asarray(pose.rotation) @ shift
        return Place(place.parent, place.fraction, tuple(moved.tolist()), place.rotation)

    def _tendon(self, item: Tendon, tendons: Element, actuators: Element) -> None:
        """A spatial tendon over sites along its items; its actuator's control is the tension (N)."""
        spatial = _add(tendons, "spatial", name=item.name, width="0.001")
        for index, name in enumerate(item.items):
            if name not in self.rods:
                place = Place(name, 1.0, tuple(item.point(name).tolist()))
                _add(spatial, "site", site=self._site(place, item.name))
                continue
            first = item.start if index == 0 else 0.0
            last = item.end if index == len(item.items) - 1 else 1.0
            u = (
                np.linspace(first, last, self.pieces + 1)
                if item.discs is None
                else item.stops(first, last)
            )
            for at, offset in zip(u, item.offsets(name, u), strict=True):
                place = Place(name, float(at), (0.0, *offset.tolist()))
                _add(spatial, "site", site=self._site(place, item.name))
        if item.kind == "elastic":
            spatial.set("stiffness", _numbers(item.stiffness))
            spatial.set("damping", _numbers(item.damping))
            self.notes.append(f"the pull of {item.name}")
            return
        if item.kind == "length":
            self.notes.append(f"the length of {item.name}: its control is a tension")
        _add(actuators, "motor", name=item.name, tendon=item.name, gear="-1")

    def _motor(self, item: Motor, actuators: Element) -> None:
        names = self.joints.get(item.joint, [])
        if item.coordinate >= len(names):
            self.notes.append(f"{item.name} (Motor)")
            return
        joint, gear = names[item.coordinate], float(item.gear)
        own = {"name": item.name, "joint": joint}
        if item.kind == "torque":
            _add(actuators, "motor", **own, gear=_numbers(gear))
        elif item.kind == "position":
            gains = {"kp": _numbers(item.stiffness), "kv": _numbers(item.damping)}
            _add(actuators, "position", **own, **gains)
        else:
            _add(actuators, "velocity", **own, kv=_numbers(item.damping))


def _range(spec: AbstractJointSpec, k: int) -> dict[str, str]:
    """Stops of a coordinate of a joint, as MuJoCo's own limits; a missing one is far away."""
    bounds = spec.bounds(k + 1)
    if bounds is None:
        return {}
    ends = [
        float(np.ravel(np.asarray(end, dtype=float))[k]) for end in (bounds.lower, bounds.upper)
    ]
    if not np.any(np.isfinite(ends)):
        return {}
    return {"limited": "true", "range": _numbers(np.clip(ends, -NEVER, NEVER))}


def _motions(name: str, spec: AbstractJointSpec) -> Iterator[tuple[str, np.ndarray]]:
    """Kinds and axes of MuJoCo's joints that make one of ours, in the order of its coordinates."""
    if isinstance(spec, Revolute):
        yield "hinge", unit_axis(name, "axis", spec.axis)
    elif isinstance(spec, Prismatic):
        yield "slide", unit_axis(name, "axis", spec.axis)
    elif isinstance(spec, Cylindrical):
        yield "hinge", unit_axis(name, "axis", spec.axis)
        yield "slide", unit_axis(name, "axis", spec.axis)
    elif isinstance(spec, Universal):
        yield "hinge", unit_axis(name, "first", spec.first)
        yield "hinge", unit_axis(name, "second", spec.second)
    elif isinstance(spec, Spherical):
        yield "ball", np.zeros(3)
    elif isinstance(spec, Planar):
        normal = unit_axis(name, "normal", spec.normal)
        joint: Any = spec.make(name)
        yield "slide", np.asarray(joint.first)
        yield "slide", np.asarray(joint.second)
        yield "hinge", normal
    elif isinstance(spec, Free):
        yield "free", np.zeros(3)


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    return ElementTree.SubElement(parent, tag, attributes)
