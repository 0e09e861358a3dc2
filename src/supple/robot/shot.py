"""From a robot's description to rods that are shot."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model.fields import RodFields
from supple.model.loads import AbstractLineLoad, DeadLine
from supple.model.model import Model, RodGroup
from supple.numeric import is_traced
from supple.robot.graph import Item
from supple.robot.items import Rod
from supple.shooting.companion import companion_of, joint_groups, places, record_of
from supple.shooting.formulation import Parts
from supple.shooting.layout import Layout, cut
from supple.shooting.rods import LineLoads, Material, Rods
from supple.shooting.settings import Shooting

CURE = "formulation='strain', which has it"


def shot(items: Sequence[Item], model: Model, chosen: Any) -> Model:
    """The record of a robot whose rods are shot; ``model`` is the same robot in strain coordinates."""
    settings = chosen if isinstance(chosen, Shooting) else Shooting()
    model = dataclasses.replace(model, formulation="strain")
    for item, field, value in _refused(items, model):
        raise DescriptionError(item, field, value, CURE)
    own = {item.name: item for item in items if isinstance(item, Rod)}
    slots = model.topology.rod_slots
    rods = [own[slot.name] for slot in slots]
    layout = cut(
        tuple(slot.name for slot in slots),
        [_stations(model, slot.group, slot.row) for slot in slots],
        [tuple(float(b) for b in rod.breaks) for rod in rods],
        settings.segments,
        settings.steps,
    )
    lengths = np.array([float(rod.length) for rod in rods])[layout.rod]
    widths = lengths * (layout.spans[:, 1] - layout.spans[:, 0])
    material = _material(model, rods, layout)
    line_loads = _line_loads(model, layout)
    starts = [model.topology.element_start[slot.group] + slot.row for slot in slots]
    place = places(model, layout, np.arange(layout.station_count))
    parts = Parts(
        companion=companion_of(model, layout),
        rods=Rods(
            material, widths, lengths, _units(material, lengths), line_loads, layout, settings
        ),
        mounts=Pose(
            np.asarray(model.offsets.rotation)[starts], np.asarray(model.offsets.position)[starts]
        ),
        host=model,
        mounted=tuple(place(model.topology.attach[e]) for e in starts),
    )
    fields, lumps = _fields(parts, rods)
    return dataclasses.replace(record_of(model, layout, fields, lumps), formulation="shooting")


def _refused(items: Iterable[Item], model: Model) -> Iterator[tuple[str, str, object]]:
    """What this formulation does not have: item, field and value."""
    if not model.topology.rod_slots:
        yield model.name, "formulation", "'shooting' for a robot without rods"
    for rod in (item for item in items if isinstance(item, Rod)):
        if rod.growth is not None:
            yield rod.name, "growth", rod.growth
        if is_traced((rod.length, rod.section, rod.material, rod.properties)):
            yield rod.name, "length", "a traced number"
    for slot in model.topology.rod_slots:
        group = model.groups[slot.group]
        assert isinstance(group, RodGroup)
        if group.added is not None:
            yield slot.name, "added mass", "a swimming rod"
    for stress in model.stresses:
        yield stress.name, "stress", "internal stress of a rod"
    for load in model.line_loads:
        if isinstance(load, DeadLine) and np.ptp(np.asarray(load.nodes), axis=1).max() > 0:
            yield model.name, "buoyancy", "of a section that varies along its rod"
    own, first = model.transmissions, _first_rod_coordinate(model)
    for k, span in zip(own.affine.of, own.affine.spans, strict=True):
        if span[0] >= first:
            yield own.names[k], own.kinds[k], "along a rod"
    for k in own.channels.of:
        yield own.names[k], own.kinds[k], "in a channel along a rod"
    for index, name in zip(model.prescribed.q_index, model.prescribed.names, strict=True):
        if index >= first:
            yield name, "on", "a strain of a rod"
    names = [one.name for one in model.controls] + [one.name for one in model.regulators]
    for name in names:
        yield name, "controller", "a controller"
    for slip in model.slips:
        yield slip.name, "contact", "a contact that may not slip"


def _first_rod_coordinate(model: Model) -> int:
    kept = joint_groups(model)
    return model.topology.q_start[kept] if kept < len(model.groups) else model.nq


def _stations(model: Model, group: int, row: int) -> tuple[float, ...]:
    own = model.groups[group]
    assert isinstance(own, RodGroup)
    nodes = own.grid.count
    places = np.asarray(own.grid.points)[row, nodes:]
    return tuple(sorted({float(u) for u in places if u > 0.0}))


def _material(model: Model, rods: list[Rod], layout: Layout) -> Material:
    """Sections at nodes and half-way between; one place where all rods are alike along their length."""
    a, b = layout.spans[:, :1], layout.spans[:, 1:]
    inside = np.linspace(0.0, 1.0, 2 * layout.steps + 1)
    u = a + (b - a) * np.clip(inside, 1e-9, 1 - 1e-9)  # at a break, the segment's own side
    found: list[list[np.ndarray]] = [[], [], [], [], []]
    for s in range(layout.size):
        rod = rods[layout.rod[s]]
        matrices = rod.sectional().matrices(u[s])
        rest = (
            rod.rest(u[s]) if callable(rod.rest) else np.tile(np.asarray(rod.rest), (len(u[s]), 1))
        )
        slot = model.topology.rod_slots[layout.rod[s]]
        group = model.groups[slot.group]
        assert isinstance(group, RodGroup)
        free = np.zeros(6)
        free[list(set(group.grid.field.rows))] = 1.0
        parts = matrices.stiffness, matrices.damping, matrices.inertia, rest, free
        for own, part in zip(found, parts, strict=True):
            own.append(np.asarray(part, dtype=float))
    stiffness, damping, inertia, rest, free = (np.stack(part) for part in found)

    def alike(part: np.ndarray) -> bool:
        return bool(np.allclose(part, part[:, :1], rtol=1e-12, atol=0.0))

    along = stiffness, damping, inertia, rest
    if all(map(alike, along)):
        stiffness, damping, inertia, rest = (part[:, :1] for part in along)
    whole = stiffness, damping, inertia
    if all(np.all(part == part * np.eye(6)) for part in whole):
        stiffness, damping, inertia = (np.einsum("skii->ski", part) for part in whole)
    return Material(stiffness, damping if np.any(damping) else None, inertia, rest, free)


def _units(material: Material, lengths: np.ndarray) -> np.ndarray:
    """Turns in rad, lengths in those of rods, wrenches in EI/L and EI/L²."""
    whole = material.stiffness
    diagonal = whole if whole.ndim == 3 else np.einsum("skii->ski", whole)
    diagonal = diagonal[..., :3].mean(axis=1)
    bend = np.where(material.free[:, :3] > 0, diagonal, 0.0).max(axis=1)
    bend = np.where(bend > 0, bend, diagonal.max(axis=1)) / lengths
    one, L = np.ones(len(lengths)), lengths
    return np.stack([*[one] * 3, *[L] * 3, *[bend] * 3, *[bend / L] * 3], axis=1)


def _line_loads(model: Model, layout: Layout) -> tuple[LineLoads, ...]:
    slots = model.topology.rod_slots
    found = []
    for load in model.line_loads:
        rows = [(load.group, row) for row in load.rows]
        rods = [(slot.group, slot.row) for slot in slots]
        which = [rows.index(rods[r]) if rods[r] in rows else -1 for r in layout.rod]
        index, acts = np.maximum(which, 0), (np.array(which) >= 0).astype(float)
        each: AbstractLineLoad = jax.tree.map(lambda leaf: np.asarray(leaf)[index], load)  # noqa: B023
        if isinstance(each, DeadLine):
            each = jax.tree.map(lambda leaf: leaf[:, 0], each)
        found.append(LineLoads(each, acts))
    return tuple(found)


def _weights(steps: int, rule: str) -> np.ndarray:
    """Quadrature weights on the nodes of a segment of length 1, of the order of the rule."""
    found = np.zeros(steps + 1)
    if rule == "euler" or steps == 1:
        found[:-1] += 0.5 / steps
        found[1:] += 0.5 / steps
        return found
    even = steps if steps % 2 == 0 else steps - 3
    for i in range(0, even, 2):  # Simpson
        found[i : i + 3] += np.array([1.0, 4.0, 1.0]) / 3 / steps
    if even < steps:  # three eighths
        found[even:] += 3 / 8 * np.array([1.0, 3.0, 3.0, 1.0]) / steps
    return found


def _fields(parts: Parts, rods: list[Rod]) -> tuple[RodFields, np.ndarray]:
    """What the record keeps of the rods, and their inertia as lumps at the nodes."""
    own = parts.rods
    layout, settings, widths = own.layout, own.settings, np.asarray(own.widths)
    u = np.clip(layout.fractions, layout.spans[:, :1] + 1e-12, layout.spans[:, 1:] - 1e-12)
    weights = widths[:, None] * _weights(layout.steps, settings.space)
    stiffness, rest = [], []
    lumps = np.zeros((layout.node_count, 6, 6))
    for s in range(layout.size):
        rod = rods[layout.rod[s]]
        matrices = rod.sectional().matrices(u[s])
        stiffness.append(np.asarray(matrices.stiffness))
        rest.append(
            rod.rest(u[s]) if callable(rod.rest) else np.tile(np.asarray(rod.rest), (len(u[s]), 1))
        )
        inertia = np.array(matrices.inertia)
        if not settings.rotary_inertia:
            inertia[:, :3, :3] = 0.0
        np.add.at(lumps, layout.nodes[s], weights[s][:, None, None] * inertia)
    fields = RodFields(
        fractions=layout.fractions,
        nodes=layout.nodes,
        weights=weights,
        lengths=own.lengths,
        parts=parts,
        stiffness=np.stack(stiffness),
        rest=np.stack(rest).astype(float),
        names=layout.names,
        first=tuple(layout.first.tolist()),
        edges=tuple(layout.spans[:, 0].tolist()),
        group=joint_groups(parts.host),
    )
    return fields, lumps
