"""Where things sit: the elements (joints and rods) of a robot being built, and the seats on them."""

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # its parts load when they are used

from supple.compile import jit
from supple.lie import Pose, se3, so3
from supple.model.friction import AbstractFriction
from supple.model.joints import AbstractJoint, RevoluteJoint
from supple.model.model import GROUND
from supple.model.special_joints import StateJoint
from supple.numeric import asarray, is_traced
from supple.robot.actuators import Motor
from supple.robot.checks import GROUND_NAME
from supple.robot.controller import ContinuousController
from supple.robot.graph import Graph
from supple.robot.items import Body, Closure, Rod, Solid
from supple.robot.joint import AbstractJointSpec, Bounds
from supple.robot.pieces import piece_edges, piece_field, piece_rest
from supple.robot.placement import placement
from supple.space import RodGrid, rod_grid
from supple.strain import StrainField

IDENTITY = Pose(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Attachment:
    """A place things hang on: element, point u on it (of a joint, a frame's number), and offset there."""

    element: int
    u: float
    offset: Pose

    def beside(self, other: "Attachment") -> bool:
        """Whether two seats are fixed to one another."""
        return self.element == other.element and (self.u == other.u or self.element == GROUND)


@dataclass
class Element:
    """A joint or rod being built."""

    item: str
    seat: Attachment
    joint: AbstractJoint | None = None
    stiffness: Any = 0.0
    rest: Any = 0.0
    damping: Any = 0.0
    """Of the coordinates, ..."""
    inner_damping: Any = 0.0
    """... and of the pivots inside a linkage."""
    friction: AbstractFriction | None = None
    """Of the pivots inside, or of the coordinates where there are none: a row of numbers for each."""
    armature: Any = None
    bounds: Bounds | None = None
    rod: Rod | None = None
    span: tuple[float, float] | None = None
    """Between which fractions of the rod this piece of it is; None for whole rods."""
    points: list[float] = field(default_factory=list)
    added: Any = None
    """Density (kg/m³) of the fluid whose added mass a swimming rod carries."""
    group: int = -1
    row: int = -1

    def strain_field(self) -> StrainField:
        """Strains of a rod, or of this piece of it."""
        assert self.rod is not None
        return self.rod.strain_field() if self.span is None else piece_field(self.rod)


@dataclass
class Attachments:
    """Elements so far, also by name; the seat of each named item, and where each rod begins."""

    elements: list[Element] = field(default_factory=list)
    rods: dict[str, list[Element]] = field(default_factory=dict)
    """Rods as elements: one, or one for each piece."""
    joints: dict[str, Element] = field(default_factory=dict)
    seats: dict[str, Attachment] = field(default_factory=dict)
    starts: dict[str, Attachment] = field(default_factory=dict)
    _carriers: dict[str, int] = field(default_factory=dict)
    """The joint that carries each item, where there is one."""
    in_pieces: bool = False
    """Whether rods are chains of pieces of constant strain."""
    _poses: dict[tuple[int, float], Pose] = field(default_factory=dict)

    def on(
        self, parent: str, at: float = 1.0, pose: Pose = IDENTITY, link: str | None = None
    ) -> Attachment:
        """The seat at a fraction of a parent (a rod, or anything with a fraction of 1), or on a ``link``."""
        seat = self.seats[parent]
        if link is not None:
            carrier = self._carriers[parent]
            joint = self.elements[carrier].joint
            assert joint is not None
            seat = Attachment(carrier, 1.0 + joint.links.index(link), IDENTITY)
        elif parent in self.starts and at != 1.0:
            if at == 0.0:
                seat = self.starts[parent]
            else:
                pieces = self.rods[parent]
                element = seat.element
                if len(pieces) > 1:
                    k = bisect_left([piece.span[1] for piece in pieces if piece.span], at)
                    a, b = pieces[k].span or (0.0, 1.0)
                    element += k + 1 - len(pieces)
                    at = 1.0 if at == b else (at - a) / (b - a)
                points = self.elements[element].points
                if at not in points:
                    points.append(at)
                seat = Attachment(element, at, IDENTITY)
        return Attachment(seat.element, seat.u, compose(seat.offset, pose))

    def at_point(self, parent: str, at: float, point: Any) -> Attachment:
        """The seat at a point (m) of the frame at a fraction of a parent."""
        return self.on(parent, at, Pose(np.eye(3), asarray(point)))

    def add(self, element: Element) -> int:
        """Number of a further element."""
        if element.rod is not None:
            self.rods.setdefault(element.item, []).append(element)
        else:
            self.joints.setdefault(element.item, element)
        self.elements.append(element)
        return len(self.elements) - 1

    def distance(self, a: Attachment, b: Attachment) -> Any:
        """Distance (m) of two seats in the described shape."""
        apart = asarray(self.pose(a).position) - asarray(self.pose(b).position)
        backend: Any = jnp if is_traced(apart) else np
        return backend.sqrt(backend.sum(apart**2))

    def pose(self, seat: Attachment) -> Pose:
        """World pose of a seat in the described shape, with all joints where they move nothing."""
        return compose(self._carrying(seat), seat.offset)

    def _carrying(self, seat: Attachment) -> Pose:
        """World pose of the frame that a seat's offset is given in; each is computed once."""
        way = []
        while seat.element != GROUND and (seat.element, seat.u) not in self._poses:
            way.append(seat)
            seat = self.elements[seat.element].seat
        pose = IDENTITY if seat.element == GROUND else self._poses[seat.element, seat.u]
        for below in reversed(way):
            element = self.elements[below.element]
            pose = compose(pose, element.seat.offset)
            if element.rod is not None:
                pose = compose(pose, rest_pose(element.rod, below.u, element.span))
            elif element.joint is not None and element.joint.links:
                pose = compose(pose, home_pose(element.joint, int(below.u)))
            self._poses[below.element, below.u] = pose
        return pose

    def place(self, item: Solid) -> None:
        """Attachment a rod, a body or a marker."""
        pose = placement(item.name, item.position, item.rotation)
        seat = self.on(item.place.parent, item.fraction, pose, item.link)
        spec = item.joint if isinstance(item, Rod | Body) else None
        joint = spec.make(item.name) if spec is not None else None
        if isinstance(item, Rod | Body):
            if joint is not None and spec is not None:
                self._carriers[item.name] = self._join(
                    item.joint_name or item.name, seat, spec, joint
                )
                seat = Attachment(self._carriers[item.name], 0.0, IDENTITY)
            held = inverse(placement(item.name, item.joint_position, item.joint_rotation))
            seat = Attachment(seat.element, seat.u, compose(seat.offset, held))
        if isinstance(item, Rod):
            self.starts[item.name] = seat
            bends = self.in_pieces and item.strain_field().count > 0
            spans = [*pairwise(piece_edges(item))] if bends else [None]
            for span in spans:
                piece = Element(item.name, seat, rod=item, span=span, points=[1.0])
                seat = Attachment(self.add(piece), 1.0, IDENTITY)
        self.seats[item.name] = seat

    def _join(
        self, name: str, seat: Attachment, spec: AbstractJointSpec, joint: AbstractJoint | None
    ) -> int:
        """Number of the element of a joint."""
        stiffness, rest, damping = spec.spring()
        element = Element(name, seat, joint=joint, stiffness=stiffness, rest=rest)
        if joint is None:
            return self.add(element)
        element.bounds = spec.bounds(joint.nv)
        if joint.pivots:
            element.inner_damping = damping
        else:
            element.damping = damping
        element.friction = spec.dry(joint.pivots or joint.nv)
        return self.add(element)

    def close(self, item: Closure, *, keeps: bool) -> tuple[Attachment, Attachment]:
        """Seats of a closure; a joint that keeps its coordinates becomes an element on the inner one."""
        inner, outer = (
            self.on(
                place.parent, place.fraction, placement(item.name, place.position, place.rotation)
            )
            for place in (item.inner, item.outer)
        )
        if keeps:
            joint = item.joint.make(item.name)
            inner = Attachment(self._join(item.name, inner, item.joint, joint), 0.0, IDENTITY)
        return inner, outer

    def stand(self, winch: Motor) -> None:
        """A winch that stands on the ground: a coordinate that moves nothing but its rotor."""
        joint = RevoluteJoint(np.array([1.0, 0.0, 0.0]))
        self.add(Element(winch.name, self.seats[GROUND_NAME], joint=joint))

    def remember(self, item: ContinuousController) -> None:
        """States of a continuous controller: coordinates that move nothing, damped by one."""
        for value in item.first:
            joint = StateJoint(asarray(value))
            self.add(Element(item.name, self.seats[GROUND_NAME], joint=joint, damping=1.0))


def attachments_of(robot: Graph) -> Attachments:
    """Seats of all rods, bodies, markers and winches."""
    ground = Attachment(GROUND, 0.0, IDENTITY)
    found = Attachments(seats={GROUND_NAME: ground}, in_pieces=robot.in_pieces)
    for solid in robot.solids:
        found.place(solid)
    for item in robot.items:
        if isinstance(item, Motor) and item.on is None:
            found.stand(item)
        if isinstance(item, ContinuousController):
            found.remember(item)
    return found


def compose(a: Pose, b: Pose) -> Pose:
    """Pose product that stays in NumPy for plain numbers."""
    if is_traced((a, b)):
        return Pose(*(jnp.asarray(x) for x in a)) @ Pose(*(jnp.asarray(x) for x in b))
    return Pose(a.rotation @ b.rotation, a.position + a.rotation @ b.position)


def inverse(pose: Pose) -> Pose:
    """The pose seen from the other side."""
    return Pose(pose.rotation.T, -(pose.rotation.T @ pose.position))


@partial(jit, quick=True)
def _home_poses(joint: AbstractJoint) -> Pose:
    return joint.poses(jnp.asarray(joint.neutral()), jnp.zeros(joint.nv))


def home_pose(joint: AbstractJoint, frame: int) -> Pose:
    """Pose of a frame of a linkage where its coordinates are zero."""
    poses = _home_poses(jax.tree.map(jnp.asarray, joint))
    backend: Any = jnp if is_traced(joint) else np
    return Pose(backend.asarray(poses.rotation)[frame], backend.asarray(poses.position)[frame])


def rest_pose(rod: Rod, u: float, span: tuple[float, float] | None = None) -> Pose:
    """Pose at rest of the section at fraction u of a rod, or of a piece of it, seen from its start."""
    if u == 0.0:
        return IDENTITY
    rest, share = rod.rest, 1.0
    if span is not None:
        rest, share = piece_rest(rod, span), span[1] - span[0]
    if not callable(rest) and not is_traced((rest, rod.length)):
        step = np.zeros((4, 4))
        step[:3, :3], step[:3, 3] = np.asarray(so3.hat(np.asarray(rest)[:3])), rest[3:]
        found = scipy.linalg.expm(u * share * rod.length * step)
        return Pose(found[:3, :3], found[:3, 3])
    if span is not None:
        return se3.exp(u * share * rod.length * jnp.asarray(rest))
    grid = rod_grid(
        rod.strain_field(), rod.rest, (u,), rod.space, rod.nodes, tuple(rod.breaks), rod.length
    )
    pose = _end(grid, asarray(rod.length))
    backend: Any = jnp if is_traced(pose) else np
    return Pose(backend.asarray(pose.rotation), backend.asarray(pose.position))


@partial(jit, quick=True)
def _end(grid: RodGrid, length: Any) -> Pose:
    """Pose of the last sample of a rod at rest."""
    pose = grid.poses(jnp.zeros(grid.basis.shape[-1]), length)
    return Pose(pose.rotation[-1], pose.position[-1])
