"""From a robot's description to the model: number elements, group them by shape, place everything."""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model.closures import Closures, no_closures
from supple.model.joints import AbstractJoint, FreeJoint
from supple.model.laws import as_law
from supple.model.loads import InternalStress, PointWrench
from supple.model.model import (
    GROUND,
    Bodies,
    Frame,
    Group,
    JointGroup,
    Model,
    RodGroup,
    Slot,
    Topology,
)
from supple.model.prescribed import Prescribed
from supple.numeric import asarray, is_traced, stack
from supple.robot.closing import closing_rows, keeps_coordinates, without_redundancy
from supple.robot.items import (
    GROUND_NAME,
    Body,
    Closure,
    Prescribe,
    Rod,
    Solid,
    Stress,
    Wrench,
)
from supple.robot.joint import Fixed
from supple.robot.placement import placement
from supple.robot.robot import Robot
from supple.robot.routing import chambers_of, tendons_of
from supple.space import rod_grid
from supple.space.grid import one_sided
from supple.strain.field import STRAINS


@dataclass(frozen=True)
class _Seat:
    """A place things hang on: element, point u on it (0 for a joint's frame), and offset there."""

    element: int
    u: float
    offset: Pose


@dataclass
class _Element:
    """A joint or rod being built."""

    item: str
    seat: _Seat
    joint: AbstractJoint | None = None
    spring: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
    friction: tuple[Any, Any] | None = None
    rod: Rod | None = None
    points: list[float] = field(default_factory=list)
    group: int = -1
    row: int = -1


_IDENTITY = Pose(np.eye(3), np.zeros(3))


def build_model(robot: Robot) -> Model:
    """Build the model of a robot."""
    elements: list[_Element] = []
    seats: dict[str, _Seat] = {GROUND_NAME: _Seat(GROUND, 0.0, _IDENTITY)}
    starts: dict[str, _Seat] = {}
    for item in robot.solids:
        _seat_item(item, elements, seats, starts)
    wrench_seats = [
        _seat_on(seats, elements, w.on, w.at, Pose(np.eye(3), asarray(w.position)), starts)
        for w in robot.items
        if isinstance(w, Wrench)
    ]

    closure_seats = [
        _closure_seats(item, elements, seats, starts)
        for item in robot.items
        if isinstance(item, Closure)
    ]

    groups = _group(elements)
    order = sorted(range(len(elements)), key=lambda e: (elements[e].group, elements[e].row))
    number = {old: new for new, old in enumerate(order)}
    number[GROUND] = GROUND
    element_start: list[int] = []
    sample_start: list[int] = []
    q_start: list[int] = []
    v_start: list[int] = []
    counts = np.zeros(4, dtype=int)
    for g in groups:
        for start, value in zip(
            (element_start, sample_start, q_start, v_start), counts, strict=True
        ):
            start.append(int(value))
        counts += [g.size, g.size * g.samples, g.size * g.nq, g.size * g.nv]
    if counts[3] == 0:
        raise DescriptionError(robot.name, "items", len(robot.items), "at least one moving part")

    def sample_of(seat: _Seat) -> int:
        if seat.element == GROUND:
            return GROUND
        element = elements[seat.element]
        group = groups[element.group]
        local = 0
        if isinstance(group, RodGroup):
            nodes = group.grid.weights.shape[1]
            local = nodes + element.points.index(seat.u)
        return sample_start[element.group] + element.row * group.samples + local

    slots = {"joint": [], "rod": []}  # type: dict[str, list[Slot]]
    for element in elements:
        own, row = element.group, element.row
        nq, nv = groups[own].nq, groups[own].nv
        q, v = q_start[own] + row * nq, v_start[own] + row * nv
        slot = Slot(element.item, own, row, q, q + nq, v, v + nv)
        slots["rod" if element.rod else "joint"].append(slot)

    frames: list[Frame] = []
    frame_poses: list[Pose] = []
    for item in robot.solids:
        seat = seats[item.name]
        frames.append(Frame(item.name, sample_of(seat), len(frame_poses)))
        frame_poses.append(seat.offset)

    floating = floating_element = -1
    for slot in slots["joint"]:
        element = next(e for e in elements if e.item == slot.name and e.rod is None)
        if isinstance(element.joint, FreeJoint) and element.seat.element == GROUND:
            floating = slot.q_start + 4
            floating_element = number[elements.index(element)]
            break

    topology = Topology(
        parent=tuple(number[elements[e].seat.element] for e in order),
        attach=tuple(sample_of(elements[e].seat) for e in order),
        element_start=tuple(element_start),
        sample_start=tuple(sample_start),
        q_start=tuple(q_start),
        v_start=tuple(v_start),
        nq=int(counts[2]),
        nv=int(counts[3]),
        samples=int(counts[1]),
        joint_slots=tuple(slots["joint"]),
        rod_slots=tuple(slots["rod"]),
        frames=tuple(frames),
        floating=floating,
        floating_element=floating_element,
    )
    model = Model(
        groups=tuple(groups),
        offsets=_stack_poses([elements[e].seat.offset for e in order]),
        frame_offsets=_stack_poses(frame_poses),
        bodies=_bodies(robot, seats, sample_of),
        closures=_closures(robot, closure_seats, sample_of),
        prescribed=_prescribed(robot, slots),
        tendons=tendons_of(robot, slots["rod"]),
        chambers=chambers_of(robot, slots["rod"], int(counts[3])),
        loads=_loads(robot, wrench_seats, sample_of),
        stresses=tuple(
            _internal_stress(stress, elements)
            for stress in robot.items
            if isinstance(stress, Stress)
        ),
        gravity=asarray(robot.gravity),
        load_factor=np.ones(()),
        scale=_scale(elements, groups, order),
        topology=topology,
        name=robot.name,
    )
    return without_redundancy(model) if model.closures.size else model


def _prescribed(robot: Robot, slots: dict[str, list[Slot]]) -> Prescribed:
    items = [item for item in robot.items if isinstance(item, Prescribe)]
    q_index, v_index = [], []
    for item in items:
        slot = next((s for s in slots[item.of] if s.name == item.on), None)
        if slot is None:
            known = ", ".join(s.name for s in slots[item.of]) or "none"
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
        raise DescriptionError(robot.name, "items", "Prescribe", "each coordinate imposed once")
    return Prescribed(
        laws=tuple(item.time_law() for item in items),
        scale=np.ones(len(items)),
        q_index=tuple(q_index),
        v_index=tuple(v_index),
        names=tuple(item.name for item in items),
    )


def _closure_seats(
    item: Closure, elements: list[_Element], seats: dict[str, _Seat], starts: dict[str, _Seat]
) -> tuple[_Seat, _Seat]:
    """Seats of both frames; a joint with coordinates of its own becomes an element on the inner one."""
    inner, outer = (
        _seat_on(
            seats,
            elements,
            place.parent,
            place.at,
            placement(item.name, place.position, place.rotation),
            starts,
        )
        for place in (item.inner, item.outer)
    )
    if keeps_coordinates(item.joint):
        joint = item.joint.make(item.name)
        spring, dry = item.joint.spring(), item.joint.dry()
        elements.append(_Element(item.name, inner, joint=joint, spring=spring, friction=dry))
        inner = _Seat(len(elements) - 1, 0.0, _IDENTITY)
    return inner, outer


def _closures(robot: Robot, seats: list[tuple[_Seat, _Seat]], sample_of: Any) -> Closures:
    items = [item for item in robot.items if isinstance(item, Closure)]
    if not items:
        return no_closures()
    lengths = [
        float(r.length) for r in robot.items if isinstance(r, Rod) and not is_traced(r.length)
    ]
    length = max(lengths, default=1.0)
    rows, joint_of_row = [], []
    for k, item in enumerate(items):
        spec = Fixed() if keeps_coordinates(item.joint) else item.joint
        own = closing_rows(item.name, spec, length)
        rows += own
        joint_of_row += [k] * len(own)
    return Closures(
        inner=_stack_poses([inner.offset for inner, _ in seats]),
        outer=_stack_poses([outer.offset for _, outer in seats]),
        turning=np.stack([row[0] for row in rows]),
        shift=np.stack([row[1] for row in rows]),
        value=np.array([row[2] for row in rows]),
        inner_sample=tuple(sample_of(inner) for inner, _ in seats),
        outer_sample=tuple(sample_of(outer) for _, outer in seats),
        joint_of_row=tuple(joint_of_row),
        names=tuple(item.name for item in items),
    )


def _seat_item(
    item: Solid, elements: list[_Element], seats: dict[str, _Seat], starts: dict[str, _Seat]
) -> None:
    pose = placement(item.name, item.position, item.rotation)
    seat = _seat_on(seats, elements, item.parent, item.at, pose, starts)
    spec = item.joint if isinstance(item, Rod | Body) else None
    joint = spec.make(item.name) if spec is not None else None
    if joint is not None and spec is not None:
        elements.append(
            _Element(item.name, seat, joint=joint, spring=spec.spring(), friction=spec.dry())
        )
        seat = _Seat(len(elements) - 1, 0.0, _IDENTITY)
    if isinstance(item, Rod):
        starts[item.name] = seat
        elements.append(_Element(item.name, seat, rod=item, points=[1.0]))
        seat = _Seat(len(elements) - 1, 1.0, _IDENTITY)
    seats[item.name] = seat


def _seat_on(
    seats: dict[str, _Seat],
    elements: list[_Element],
    parent: str,
    at: float,
    pose: Pose,
    starts: dict[str, _Seat],
) -> _Seat:
    """The seat at a fraction of a parent (a rod, or anything with ``at`` = 1)."""
    seat = seats[parent]
    if parent in starts and at != 1.0:
        if at == 0.0:
            seat = starts[parent]
        else:
            points = elements[seat.element].points
            if at not in points:
                points.append(at)
            seat = _Seat(seat.element, at, _IDENTITY)
    return _Seat(seat.element, seat.u, _compose(seat.offset, pose))


def _group(elements: list[_Element]) -> list[Group]:
    """Batch elements of one kind and shape; joints first, in order of appearance."""
    batches: dict[Any, list[tuple[_Element, Any]]] = {}
    for element in sorted(elements, key=lambda e: e.rod is not None):
        part = _rod_part(element) if element.rod is not None else _joint_part(element)
        leaves, structure = jax.tree.flatten(part)
        key = (structure, tuple(np.shape(leaf) for leaf in leaves))
        batches.setdefault(key, []).append((element, part))
    groups: list[Group] = []
    for g, batch in enumerate(batches.values()):
        for row, (element, _) in enumerate(batch):
            element.group, element.row = g, row
        parts = [part for _, part in batch]
        groups.append(jax.tree.map(lambda *leaves: _stack(leaves), *parts))
    return groups


def _rod_part(element: _Element) -> RodGroup:
    rod = element.rod
    assert rod is not None
    grid = rod_grid(
        rod.strain_field(),
        rod.rest,
        tuple(element.points),
        rod.space,
        rod.nodes,
        tuple(rod.breaks),
    )
    _check_nodes(rod, np.asarray(grid.basis))
    nodes = one_sided(np.asarray(grid.points)[: len(grid.weights)], grid.edges)
    matrices = rod.sectional().matrices(nodes)
    undamped = not is_traced(matrices.damping) and not np.any(matrices.damping)
    return RodGroup(
        grid=grid,
        length=asarray(rod.length),
        stiffness=matrices.stiffness,
        damping=None if undamped else matrices.damping,
        inertia=matrices.inertia,
        growth=None if rod.growth is None else as_law(rod.growth),
    )


def _check_nodes(rod: Rod, basis: Float[np.ndarray, "n 6 m"]) -> None:
    """Refuse strain functions that the nodes cannot tell apart: some motion would have no mass."""
    strains = np.array(rod.strain_field().rows)
    for strain in np.unique(strains):
        functions = basis[:, strain, strains == strain]
        told_apart = int(np.linalg.matrix_rank(functions))
        if told_apart < functions.shape[1]:
            need = (
                f"more nodes, or fewer functions: at {len(basis)} nodes only {told_apart} of the "
                f"{functions.shape[1]} functions of {STRAINS[strain]} are independent"
            )
            raise DescriptionError(rod.name, "nodes", rod.nodes, need)


def _joint_part(element: _Element) -> JointGroup:
    joint = element.joint
    assert joint is not None
    stiffness, rest, damping = element.spring
    dry = element.friction
    undamped = not is_traced(damping) and not np.any(damping)
    return JointGroup(
        joint=joint,
        stiffness=asarray(stiffness) + np.zeros(joint.nv),
        rest=asarray(rest) + np.zeros(joint.nq),
        damping=None if undamped else asarray(damping) + np.zeros(joint.nv),
        friction=None if dry is None else stack([asarray(d) + np.zeros(joint.nv) for d in dry]),
    )


def _bodies(robot: Robot, seats: dict[str, _Seat], sample_of: Any) -> Bodies:
    offsets, inertias, samples = [], [], []
    for item in robot.solids:
        if not isinstance(item, Body):
            continue
        seat = seats[item.name]
        if seat.element == GROUND:
            continue  # fixed to the ground: it never moves
        offsets.append(seat.offset)
        inertias.append(_spatial_inertia(item))
        samples.append(sample_of(seat))
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


def _loads(robot: Robot, seats: list[_Seat], sample_of: Any) -> tuple[PointWrench, ...]:
    wrenches = [w for w in robot.items if isinstance(w, Wrench)]
    loads = []
    for wrench, seat in zip(wrenches, seats, strict=True):
        if seat.element == GROUND:
            continue  # pushes on the ground do nothing
        moment, force = asarray(wrench.moment), asarray(wrench.force)
        backend: Any = jnp if is_traced((moment, force)) else np
        loads.append(
            PointWrench(
                sample=sample_of(seat),
                offset=seat.offset,
                value=backend.concatenate([moment, force]),
                law=wrench.time_law(),
                follower=wrench.follower,
            )
        )
    return tuple(loads)


def _internal_stress(stress: Stress, elements: list[_Element]) -> InternalStress:
    element = next(e for e in elements if e.item == stress.on and e.rod is not None)
    return InternalStress(element.group, element.row, stress.stress)


def _scale(elements: list[_Element], groups: list[Group], order: list[int]) -> Any:
    """Curvatures in 1/L, strains and angles in 1, lengths in the robot's size."""
    lengths = [e.rod.length for e in elements if e.rod is not None]
    size: Any = 1.0
    if lengths:
        size = (
            jnp.max(jnp.stack([jnp.asarray(x) for x in lengths]))
            if is_traced(lengths)
            else max(float(x) for x in lengths)
        )
    parts = []
    for e in order:
        element = elements[e]
        if element.rod is not None:
            curvature = np.array([row < 3 for row in element.rod.strain_field().rows])
            parts.append(np.where(curvature, 1.0, 0.0) / element.rod.length + ~curvature)
        else:
            assert element.joint is not None
            translation = _translations(element.joint)
            parts.append(np.where(translation, 1.0, 0.0) * size + ~translation)
    backend: Any = jnp if is_traced(parts) else np
    return backend.concatenate(parts)


def _translations(joint: AbstractJoint) -> np.ndarray:
    """Which coordinates of a joint are lengths."""
    kinds = {
        "PrismaticJoint": [True],
        "CylindricalJoint": [False, True],
        "PlanarJoint": [True, True, False],
        "FreeJoint": [False, False, False, True, True, True],
    }
    return np.array(kinds.get(type(joint).__name__, [False] * joint.nv), dtype=bool)


def _compose(a: Pose, b: Pose) -> Pose:
    """Pose product that stays in NumPy for plain numbers."""
    if is_traced((a, b)):
        return Pose(*(jnp.asarray(x) for x in a)) @ Pose(*(jnp.asarray(x) for x in b))
    return Pose(a.rotation @ b.rotation, a.position + a.rotation @ b.position)


def _stack_poses(poses: list[Pose]) -> Pose:
    if not poses:
        return Pose(np.zeros((0, 3, 3)), np.zeros((0, 3)))
    return Pose(stack([p.rotation for p in poses]), stack([p.position for p in poses]))


def _stack(leaves: tuple[Any, ...]) -> Any:
    if np.issubdtype(np.asarray(leaves[0]).dtype if not is_traced(leaves) else float, np.integer):
        return np.stack(leaves)
    return stack(leaves)
