"""From a robot's description to the model: number elements, group them by shape, place everything."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model.closures import Closures, no_closures
from supple.model.joints import (
    AbstractJoint,
    CylindricalJoint,
    FreeJoint,
    PlanarJoint,
    PrismaticJoint,
)
from supple.model.laws import as_law
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
from supple.model.slips import AbstractSlip, EdgeSlip, RollingSlip
from supple.numeric import asarray, is_traced, stack
from supple.robot.actuators import Motor
from supple.robot.closing import closing_rows, keeps_coordinates, without_redundancy
from supple.robot.controller import Controller
from supple.robot.items import Body, Closure, Contact, KnifeEdge, Prescribe, Rod, Rolling
from supple.robot.joint import Fixed
from supple.robot.loading import add_swimming, line_loads_of, point_loads_of, stresses_of
from supple.robot.loads import Swimming
from supple.robot.placement import unit_axis
from supple.robot.robot import Robot
from supple.robot.routing import routes_of, transmissions_of
from supple.robot.seating import Element, Seat, Seating, seating_of
from supple.section.added import added_mass
from supple.space import RodGrid, rod_grid
from supple.space.grid import one_sided
from supple.space.quadrature import Panels
from supple.strain.field import STRAINS


def build_model(robot: Robot) -> Model:
    """Build the model of a robot."""
    seating = seating_of(robot)
    driven = {item.on for item in robot.items if isinstance(item, Prescribe | Motor)}
    closures = [
        (item, item.name in driven or keeps_coordinates(item.joint))
        for item in robot.items
        if isinstance(item, Closure)
    ]
    closure_seats = [seating.close(item, keeps=keeps) for item, keeps in closures]
    contacts = [
        (item, seating.at_point(item.on, item.at, item.position))
        for item in robot.items
        if isinstance(item, KnifeEdge | Rolling)
    ]
    routes = routes_of(robot, seating)
    for item in robot.items:
        if isinstance(item, Motor):
            _add_rotor(item, seating)
        if isinstance(item, Swimming):
            add_swimming(item, seating)
    point_loads = point_loads_of(robot, seating)

    elements = seating.elements
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

    def sample_of(seat: Seat) -> int:
        if seat.element == GROUND:
            return GROUND
        element = elements[seat.element]
        group = groups[element.group]
        local = 0
        if isinstance(group, RodGroup):
            nodes = group.grid.weights.shape[1]
            local = nodes + element.points.index(seat.u)
        return sample_start[element.group] + element.row * group.samples + local

    slots: dict[str, list[Slot]] = {"joint": [], "rod": []}
    for element in elements:
        own, row = element.group, element.row
        nq, nv = groups[own].nq, groups[own].nv
        q, v = q_start[own] + row * nq, v_start[own] + row * nv
        slot = Slot(element.item, own, row, q, q + nq, v, v + nv)
        slots["rod" if element.rod else "joint"].append(slot)

    frames: list[Frame] = []
    frame_poses: list[Pose] = []
    for item in robot.solids:
        seat = seating.seats[item.name]
        frames.append(Frame(item.name, sample_of(seat), len(frame_poses)))
        frame_poses.append(seat.offset)

    floating = floating_element = -1
    for e, element in enumerate(elements):
        if isinstance(element.joint, FreeJoint) and element.seat.element == GROUND:
            position = 4  # after the quaternion
            floating = q_start[element.group] + element.row * element.joint.nq + position
            floating_element = number[e]
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
        bodies=_bodies(robot, seating, sample_of),
        closures=_closures(robot, closures, closure_seats, sample_of),
        prescribed=_prescribed(robot, slots),
        transmissions=transmissions_of(robot, seating, routes, slots, sample_of, int(counts[3])),
        slips=tuple(_slip(item, seat, sample_of) for item, seat in contacts),
        loads=tuple(make(sample_of(seat), seat.offset) for seat, make in point_loads),
        line_loads=line_loads_of(robot, seating, groups),
        stresses=stresses_of(robot, seating),
        controls=tuple(item.make() for item in robot.items if isinstance(item, Controller)),
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


def _add_rotor(motor: Motor, seating: Seating) -> None:
    """Inertia and friction of a motor's rotor, as the joint it turns feels them."""
    element = seating.joint_of(motor.joint)
    if element is None or element.joint is None or motor.coordinate >= element.joint.nv:
        return  # the transmission says what is wrong
    chosen = np.eye(element.joint.nv)[motor.coordinate]
    stiffness, rest, damping = element.spring
    damping = asarray(damping) + motor.gear**2 * motor.viscous * chosen
    element.spring = (stiffness, rest, damping)
    if is_traced(motor.inertia) or motor.inertia > 0:
        before = 0.0 if element.armature is None else element.armature
        element.armature = before + motor.gear**2 * motor.inertia * chosen
    if is_traced(motor.friction) or motor.friction > 0:
        if element.friction is not None:
            need = "dry friction of the joint or of its motor, not both"
            raise DescriptionError(motor.name, "friction", motor.friction, need)
        largest = motor.gear * motor.friction * chosen
        element.friction = (largest, motor.friction_speed / motor.gear)


def _slip(item: Contact, seat: Seat, sample_of: Callable[[Seat], int]) -> AbstractSlip:
    sample = sample_of(seat)
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
    robot: Robot,
    items: list[tuple[Closure, bool]],
    seats: list[tuple[Seat, Seat]],
    sample_of: Callable[[Seat], int],
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
        names=tuple(item.name for item, _ in items),
    )


def _group(elements: list[Element]) -> list[Group]:
    """Batch elements of one kind and shape; joints first, in order of appearance."""
    batches: dict[Any, list[tuple[Element, Any]]] = {}
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


def _rod_part(element: Element) -> RodGroup:
    rod = element.rod
    assert rod is not None
    grid = rod_grid(
        rod.strain_field(),
        rod.rest,
        tuple(element.points),
        rod.space,
        rod.nodes,
        tuple(rod.breaks),
        rod.length,
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
        added=_added(element, nodes),
        growth=None if rod.growth is None else as_law(rod.growth),
        slope=np.einsum("nk,kim->nim", _slopes(rod, grid), grid.basis) if rod.slides else None,
    )


def _slopes(rod: Rod, grid: RodGrid) -> np.ndarray:
    """Matrix of d/du at the nodes of a rod."""
    count = len(grid.weights) // (len(grid.edges) - 1)
    return Panels(grid.edges, count, rod.space.node_family).differentiation


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


def _added(element: Element, nodes: np.ndarray) -> Any:
    """Inertia of fluid around a swimming rod; None for others."""
    if element.added is None or element.rod is None or element.rod.section is None:
        return None
    return element.added * added_mass(element.rod.section, nodes)


def _joint_part(element: Element) -> JointGroup:
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
        armature=element.armature,
    )


def _bodies(robot: Robot, seating: Seating, sample_of: Callable[[Seat], int]) -> Bodies:
    offsets, inertias, samples = [], [], []
    for item in robot.solids:
        if not isinstance(item, Body):
            continue
        seat = seating.seats[item.name]
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


def _scale(elements: list[Element], groups: list[Group], order: list[int]) -> Any:
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
            rows = element.rod.strain_field().rows
            curvature = np.array([row < 3 for row in rows], dtype=bool)
            parts.append(np.where(curvature, 1.0, 0.0) / element.rod.length + ~curvature)
        else:
            assert element.joint is not None
            translation = _translations(element.joint)
            parts.append(np.where(translation, 1.0, 0.0) * size + ~translation)
    backend: Any = jnp if is_traced(parts) else np
    return backend.concatenate(parts)


def _translations(joint: AbstractJoint) -> np.ndarray:
    """Which coordinates of a joint are lengths."""
    kinds: dict[type, list[bool]] = {
        PrismaticJoint: [True],
        CylindricalJoint: [False, True],
        PlanarJoint: [True, True, False],
        FreeJoint: [False, False, False, True, True, True],
    }
    return np.array(kinds.get(type(joint), [False] * joint.nv), dtype=bool)


def _stack_poses(poses: list[Pose]) -> Pose:
    if not poses:
        return Pose(np.zeros((0, 3, 3)), np.zeros((0, 3)))
    return Pose(stack([p.rotation for p in poses]), stack([p.position for p in poses]))


def _stack(leaves: tuple[Any, ...]) -> Any:
    if np.issubdtype(np.asarray(leaves[0]).dtype if not is_traced(leaves) else float, np.integer):
        return np.stack(leaves)
    return stack(leaves)
