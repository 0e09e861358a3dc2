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
from supple.robot.actuators import Chamber, Tendon
from supple.robot.graph import Item
from supple.robot.items import Rod
from supple.shooting.companion import Measured, companion_of, joint_groups, places, record_of
from supple.shooting.layout import Layout, cut
from supple.shooting.lines import Lines
from supple.shooting.parts import Parts
from supple.shooting.rods import LineLoads, Material, RodLines, Rods
from supple.shooting.settings import Shooting
from supple.shooting.start import simpson

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
        [(*(float(b) for b in rod.breaks), *_line_ends(items, rod.name)) for rod in rods],
        settings.segments,
        settings.steps,
    )
    lengths = np.array([float(rod.length) for rod in rods])[layout.rod]
    widths = lengths * (layout.spans[:, 1] - layout.spans[:, 0])
    material = _material(model, rods, layout)
    line_loads = _line_loads(model, layout)
    starts = [model.topology.element_start[slot.group] + slot.row for slot in slots]
    lines, measured = _lines(items, model, own, layout)
    if settings.law is not None and measured.of:
        name = model.transmissions.names[measured.of[0]]
        need = "no tendons in channels and no chambers along rods with a law of their own"
        raise DescriptionError(name, "on", "a tendon or a chamber along a rod", need)
    place = places(model, layout, np.arange(layout.station_count), len(measured.of))
    parts = Parts(
        companion=companion_of(model, layout, measured),
        rods=Rods(
            material,
            widths,
            lengths,
            _units(material, lengths),
            line_loads,
            lines,
            layout,
            settings,
        ),
        mounts=Pose(
            np.asarray(model.offsets.rotation)[starts], np.asarray(model.offsets.position)[starts]
        ),
        host=model,
        mounted=tuple(place(model.topology.attach[e]) for e in starts),
    )
    fields, lumps = _fields(parts, rods)
    record = record_of(model, layout, fields, lumps, measured, settings.variables)
    return dataclasses.replace(record, formulation="shooting")


def _refused(items: Iterable[Item], model: Model) -> Iterator[tuple[str, str, object]]:
    """What this formulation does not have: item, field and value."""
    if not model.topology.rod_slots:
        yield model.name, "formulation", "'shooting' for a robot without rods"
    for rod in (item for item in items if isinstance(item, Rod)):
        if rod.slides:
            yield rod.name, "slides", "material that passes the places where a rod is known"
        if is_traced((rod.length, rod.section, rod.material, rod.properties)):
            yield rod.name, "length", "a traced number"
    for slot in model.topology.joint_slots:
        if model.groups[slot.group].samples > 1:
            yield slot.name, "joint", "a linkage"
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
    for item in items:
        if isinstance(item, Tendon) and item.rubs and item.discs is None:
            yield item.name, "friction", (item.friction, item.viscous)
    first = _first_rod_coordinate(model)
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
    u = _inside(layout)
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


def _runs(items: Iterable[Item]) -> Iterator[tuple[Tendon | Chamber, str, float, float]]:
    """Tendons in channels and chambers: along which rods, from where to where."""
    for item in items:
        if isinstance(item, Chamber):
            yield item, item.on, item.start, item.end
        elif isinstance(item, Tendon) and item.discs is None:
            for i, name in enumerate(item.items):
                first = item.start if i == 0 else 0.0
                yield item, name, first, item.end if i == len(item.items) - 1 else 1.0


def _line_ends(items: Iterable[Item], rod: str) -> tuple[float, ...]:
    """Where lines along a rod begin and end inside it."""
    found = [u for _, name, *ends in _runs(items) if name == rod for u in ends]
    return tuple(float(u) for u in found if 0.0 < u < 1.0)


def _lines(
    items: Sequence[Item], model: Model, rods: dict[str, Rod], layout: Layout
) -> tuple[RodLines | None, Measured]:
    """Tendons in channels and chambers at the places of the segments, and what they measure."""
    runs = [run for run in _runs(items) if run[1] in rods]
    names = list(dict.fromkeys(item.name for item, *_ in runs))
    if not names:
        return None, Measured((), ())
    u = _inside(layout)
    shape = (*u.shape, len(names), 3)
    offset, change, acts = np.zeros(shape), np.zeros(shape), np.zeros((layout.size, len(names)))
    area = np.zeros(len(names))
    size = float(max(float(rod.length) for rod in rods.values()))
    for item, name, first, last in runs:
        k, rod = names.index(item.name), rods[name]
        for s in np.flatnonzero(layout.rod == layout.names.index(name)):
            middle = layout.spans[s].mean()
            if not first < middle < last:
                continue
            acts[s, k] = 1.0
            if isinstance(item, Chamber):
                offset[s, :, k, 1:] = np.asarray(item.offset, dtype=float)
                area[k] = float(item.area)
                continue
            offset[s, :, k, 1:] = item.offsets(name, u[s].copy())
            near = [np.clip(u[s] + side * STEP, 0.0, 1.0) for side in (-1, 1)]
            apart = item.offsets(name, near[1].copy()) - item.offsets(name, near[0].copy())
            change[s, :, k, 1:] = apart / (near[1] - near[0])[:, None] / float(rod.length)
    of = tuple(model.transmissions.names.index(name) for name in names)
    sizes = tuple(float(size * (a or 1.0)) for a in area)
    return RodLines(Lines(offset, change), acts, area), Measured(of, sizes)


STEP = 1e-5
"""Of a rod's length, in the difference that gives the slope of a tendon's offset."""


def _inside(layout: Layout) -> np.ndarray:
    """Fractions of the places of the segments, those at breaks on the segment's own side."""
    a, b = layout.spans[:, :1], layout.spans[:, 1:]
    return a + (b - a) * np.clip(np.linspace(0.0, 1.0, 2 * layout.steps + 1), 1e-9, 1 - 1e-9)


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
    if rule != "euler":
        return simpson(steps)
    return np.pad(np.full(steps, 0.5 / steps), (0, 1)) + np.pad(np.full(steps, 0.5 / steps), (1, 0))


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
    rod_of = np.zeros(layout.node_count, dtype=int)
    rod_of[layout.nodes] = layout.rod[:, None]
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
        lumped=tuple(rod_of[np.any(lumps != 0, axis=(1, 2))].tolist()),
        grows=parts.grows,
        edges=tuple(layout.spans[:, 0].tolist()),
        group=joint_groups(parts.host) + (parts.lines > 0),
    )
    return fields, lumps
