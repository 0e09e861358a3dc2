"""From a robot's description to the model: seat, group and number its elements, place everything else."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model.closures import Closures, no_closures
from supple.model.constraints import ActiveSet
from supple.model.laws import batched
from supple.model.model import GROUND, Bodies, Frame, Model
from supple.model.prescribed import Prescribed
from supple.model.regulators import Regulator
from supple.model.slips import AbstractSlip, EdgeSlip, RollingSlip
from supple.model.stops import Stops, no_stops
from supple.numeric import asarray, is_traced, stack
from supple.robot.actuators import Motor
from supple.robot.attachments import Attachment, Attachments, attachments_of
from supple.robot.build_loads import add_swimming, line_loads_of, point_loads_of, stresses_of
from supple.robot.build_transmissions import routes_of, transmissions_of
from supple.robot.controller import ContinuousController, Controller
from supple.robot.graph import Graph
from supple.robot.grouping import grouped
from supple.robot.items import (
    Body,
    Closure,
    Contact,
    KnifeEdge,
    PrescribedCoordinate,
    Rod,
    RollingContact,
)
from supple.robot.joint import Fixed
from supple.robot.loads import Swimming
from supple.robot.numbering import Numbering
from supple.robot.placement import unit_axis
from supple.robot.redundancy import without_redundancy
from supple.system.linear import linear_kind


def build_model(robot: Graph) -> Model:
    """Build the model of a robot."""
    seating = attachments_of(robot)
    driven = {item.on for item in robot.items if isinstance(item, PrescribedCoordinate | Motor)}
    closures = [
        (item, item.name in driven or item.joint.keeps_coordinates())
        for item in robot.items
        if isinstance(item, Closure)
    ]
    closure_seats = [seating.close(item, keeps=keeps) for item, keeps in closures]
    contacts = [
        (item, seating.at_point(item.on, item.fraction, item.position))
        for item in robot.items
        if isinstance(item, KnifeEdge | RollingContact)
    ]
    routes = routes_of(robot, seating)
    for item in robot.items:
        if isinstance(item, Motor):
            _add_rotor(item, seating)
        if isinstance(item, Swimming):
            add_swimming(item, seating)
    point_loads = point_loads_of(robot, seating)

    at = Numbering(seating.elements, grouped(seating.elements))
    if at.nv == 0:
        raise DescriptionError(robot.name, "items", len(robot.items), "at least one moving part")
    frames = [
        Frame(item.name, at.sample_of(seating.seats[item.name]), i)
        for i, item in enumerate(robot.solids)
    ]
    model = Model(
        groups=tuple(at.groups),
        offsets=_stack_poses([at.elements[e].seat.offset for e in at.order]),
        frame_offsets=_stack_poses([seating.seats[item.name].offset for item in robot.solids]),
        bodies=_bodies(robot, seating, at),
        closures=_closures(robot, closures, closure_seats, at),
        prescribed=_prescribed(robot, at),
        transmissions=transmissions_of(robot, seating, routes, at),
        stops=_stops(at),
        slips=tuple(_slip(item, seat, at) for item, seat in contacts),
        active=None,
        loads=tuple(load.make(at.sample_of(load.seat), load.seat.offset) for load in point_loads),
        line_loads=line_loads_of(robot, seating, at.groups),
        stresses=stresses_of(robot, seating),
        controls=tuple(item.make() for item in robot.items if isinstance(item, Controller)),
        regulators=_regulators(robot, at),
        gravity=asarray(robot.gravity),
        load_factor=np.ones(()),
        scale=_scale(at),
        topology=at.topology(frames),
        name=robot.name,
        formulation=robot.formulation,
        load_names=tuple(load.name for load in point_loads),
    )
    model = without_redundancy(model) if model.closures.size else model
    table, first = model.constraints, None
    if len(table.one_sided):
        first = ActiveSet(np.array(table.active_first), np.zeros(len(table.one_sided)))
    return dataclasses.replace(model, active=first, linear=linear_kind(model))


def _prescribed(robot: Graph, at: Numbering) -> Prescribed:
    items = [item for item in robot.items if isinstance(item, PrescribedCoordinate)]
    slots = {kind: {s.name: s for s in reversed(own)} for kind, own in at.slots.items()}
    q_index, v_index = [], []
    for item in items:
        slot = slots[item.of].get(item.on)
        if slot is None:
            known = ", ".join(s.name for s in at.slots[item.of]) or "none"
            need = f"an item with a {item.of} whose coordinates can be imposed: {known}"
            raise DescriptionError(item.name, "on", item.on, need)
        nq, nv = slot.q_stop - slot.q_start, slot.v_stop - slot.v_start
        if nq != nv:
            need = "a joint with plain coordinates (use a Driven joint to impose orientations)"
            raise DescriptionError(item.name, "on", item.on, need)
        if not 0 <= item.coordinate < nv:
            raise DescriptionError(item.name, "coordinate", item.coordinate, f"0 … {nv - 1}")
        q_index.append(slot.q_start + item.coordinate)
        v_index.append(slot.v_start + item.coordinate)
    if len(set(v_index)) < len(v_index):
        raise DescriptionError(
            robot.name, "items", "PrescribedCoordinate", "each coordinate imposed once"
        )
    return Prescribed(
        laws=batched([item.time_law() for item in items]),
        scale=np.ones(len(items)),
        q_index=tuple(q_index),
        v_index=tuple(v_index),
        names=tuple(item.name for item in items),
    )


def _regulators(robot: Graph, at: Numbering) -> tuple[Regulator, ...]:
    """Continuous controllers, with the places of their states."""
    found = []
    for item in robot.items:
        if isinstance(item, ContinuousController):
            own = [slot for slot in at.slots["joint"] if slot.name == item.name]
            places = tuple(slot.q_start for slot in own), tuple(slot.v_start for slot in own)
            found.append(Regulator(item.name, item.sense, item.act, item.rate, *places))
    return tuple(found)


def _stops(at: Numbering) -> Stops:
    """Hard stops of joints: an equation for each bound."""
    rows = []
    joints = [element for element in at.elements if element.rod is None]
    for slot, element in zip(at.slots["joint"], joints, strict=True):
        own = element.bounds
        if own is None or own.stiffness is not None:
            continue
        for k in range(slot.v_stop - slot.v_start):
            for bound, side in ((own.lower[k], -1.0), (own.upper[k], 1.0)):
                if is_traced(bound) or np.isfinite(bound):
                    rows.append((bound, side, slot.q_start + k, slot.v_start + k, slot.name))
    if not rows:
        return no_stops()
    bounds, sides, q_index, v_index, names = zip(*rows, strict=True)
    return Stops(stack([asarray(b) for b in bounds]), np.array(sides), q_index, v_index, names)


def _add_rotor(motor: Motor, seating: Attachments) -> None:
    """Inertia and damping of a motor's rotor, as the joint it turns feels them."""
    element = seating.joints.get(motor.joint)
    if element is None or element.joint is None or motor.coordinate >= element.joint.nv:
        return  # the transmission says what is wrong
    chosen = np.eye(element.joint.nv)[motor.coordinate]
    element.damping = asarray(element.damping) + motor.gear**2 * motor.viscous * chosen
    if is_traced(motor.inertia) or motor.inertia > 0:
        before = 0.0 if element.armature is None else element.armature
        element.armature = before + motor.gear**2 * motor.inertia * chosen


def _slip(item: Contact, seat: Attachment, at: Numbering) -> AbstractSlip:
    sample = at.sample_of(seat)
    if sample == GROUND:
        raise DescriptionError(item.name, "on", item.on, "an item that can move")
    if isinstance(item, KnifeEdge):
        across = unit_axis(item.name, "across", item.across)
        return EdgeSlip(offset=seat.offset, across=across, sample=sample, name=item.name)
    axle = None if item.axle is None else unit_axis(item.name, "axle", item.axle)
    normal = unit_axis(item.name, "normal", item.normal)
    return RollingSlip(
        offset=seat.offset,
        radius=asarray(item.radius),
        normal=normal,
        axle=axle,
        sample=sample,
        name=item.name,
    )


def _closures(
    robot: Graph,
    items: list[tuple[Closure, bool]],
    seats: list[tuple[Attachment, Attachment]],
    at: Numbering,
) -> Closures:
    if not items:
        return no_closures()
    lengths = [
        float(r.length) for r in robot.items if isinstance(r, Rod) and not is_traced(r.length)
    ]
    length = max(lengths, default=1.0)
    rows, joint_of_row = [], []
    for k, (item, keeps) in enumerate(items):
        spec = Fixed() if keeps else item.joint
        own = spec.closing_rows(item.name, length)
        rows += own
        joint_of_row += [k] * len(own)
    return Closures(
        inner=_stack_poses([inner.offset for inner, _ in seats]),
        outer=_stack_poses([outer.offset for _, outer in seats]),
        turning=np.stack([row[0] for row in rows]),
        shift=np.stack([row[1] for row in rows]),
        value=np.array([row[2] for row in rows]),
        inner_sample=tuple(at.sample_of(inner) for inner, _ in seats),
        outer_sample=tuple(at.sample_of(outer) for _, outer in seats),
        joint_of_row=tuple(joint_of_row),
        names=tuple(item.name for item, _ in items),
    )


def _bodies(robot: Graph, seating: Attachments, at: Numbering) -> Bodies:
    offsets, inertias, samples = [], [], []
    for item in robot.solids:
        if not isinstance(item, Body):
            continue
        seat = seating.seats[item.name]
        if seat.element == GROUND:
            continue  # fixed to the ground: it never moves
        offsets.append(seat.offset)
        inertias.append(_spatial_inertia(item))
        samples.append(at.sample_of(seat))
    inertia = stack(inertias) if inertias else np.zeros((0, 6, 6))
    return Bodies(_stack_poses(offsets), inertia, tuple(samples))


def _spatial_inertia(body: Body) -> Any:
    """6x6 inertia about the body frame's origin."""
    backend: Any = jnp if is_traced((body.mass, body.com, body.inertia)) else np
    c = backend.asarray(body.com, dtype=float)
    x, y, z = c[0], c[1], c[2]
    zero = 0.0 * x
    hat = backend.stack(
        [
            backend.stack([zero, -z, y]),
            backend.stack([z, zero, -x]),
            backend.stack([-y, x, zero]),
        ]
    )
    moment = backend.asarray(body.inertia_matrix(), dtype=float) - body.mass * hat @ hat
    top = backend.concatenate([moment, body.mass * hat], axis=1)
    bottom = backend.concatenate([-body.mass * hat, body.mass * backend.eye(3)], axis=1)
    return backend.concatenate([top, bottom], axis=0)


def _scale(at: Numbering) -> Any:
    """Curvatures in 1/L, strains and angles in 1, lengths in the robot's size."""
    lengths = [e.rod.length for e in at.elements if e.rod is not None]
    size: Any = 1.0
    if lengths:
        size = (
            jnp.max(jnp.stack([jnp.asarray(x) for x in lengths]))
            if is_traced(lengths)
            else max(float(x) for x in lengths)
        )
    parts = []
    for e in at.order:
        element = at.elements[e]
        if element.rod is not None:
            rows = element.strain_field().rows
            curvature = np.array([row < 3 for row in rows], dtype=bool)
            parts.append(np.where(curvature, 1.0, 0.0) / element.rod.length + ~curvature)
        else:
            assert element.joint is not None
            translation = np.isin(np.arange(element.joint.nv), element.joint.lengths)
            parts.append(np.where(translation, 1.0, 0.0) * size + ~translation)
    backend: Any = jnp if is_traced(parts) else np
    return backend.concatenate(parts)


def _stack_poses(poses: list[Pose]) -> Pose:
    if not poses:
        return Pose(np.zeros((0, 3, 3)), np.zeros((0, 3)))
    return Pose(stack([p.rotation for p in poses]), stack([p.position for p in poses]))
