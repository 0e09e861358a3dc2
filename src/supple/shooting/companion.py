"""The two models that stand for a robot whose rods are shot.

The *companion* is the robot without its rods: joints, bodies, loops, springs and loads as ever, and a free
frame at each station of a rod. What rods do is a pair of wrenches at the ends of each piece, so that
everything that is no rod is solved by the same equations as in any other formulation.

The *record* is what is told of the robot: the same, with a free frame at every node of every rod, and what
is known there beside it (:class:`~supple.model.fields.RodFields`). Its configuration is the state of the
formulation. Joints come first in both, as in the robot's model, so that what refers to them stays.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from supple.lie import Pose
from supple.model.fields import RodFields
from supple.model.model import GROUND, Bodies, JointGroup, Model, RodGroup, Slot, Topology
from supple.model.orientation_joints import FrameJoint
from supple.model.special_joints import FieldJoint, StateJoint
from supple.model.transmissions import Affine, no_affine, no_channels
from supple.shooting.layout import Layout


class Measured(NamedTuple):
    """Tendons in channels and chambers: what they measure along rods is a coordinate of its own.

    The coordinate moves nothing. What holds it back is the effort of the transmission, whatever its law.
    """

    of: tuple[int, ...]
    """Their transmissions."""
    sizes: tuple[float, ...]
    """How large the coordinate of each is (m, m³)."""


def joint_groups(model: Model) -> int:
    """Number of groups before those of rods."""
    return sum(not isinstance(group, RodGroup) for group in model.groups)


def companion_of(model: Model, layout: Layout, lines: Measured) -> Model:
    """The robot with a free frame for each station instead of its rods."""
    stations = _frames(layout.station_count)
    place = places(model, layout, np.arange(layout.station_count), len(lines.of))
    size = float(np.max(np.asarray(model.scale), initial=1e-9))
    return _standing_in(model, (stations,), place, size, lines, rods=(), bodies=model.bodies)


def record_of(
    model: Model,
    layout: Layout,
    fields: RodFields,
    lumps: np.ndarray,
    lines: Measured,
    variables: int,
) -> Model:
    """The robot with a free frame for each node; ``lumps`` (n, 6, 6) are the rods' inertia at them."""
    count, k = layout.node_count, layout.steps + 1
    place = places(model, layout, layout.station_nodes, len(lines.of))
    joints = _joint_elements(model) + len(lines.of)
    own_joint = FieldJoint(variables)
    groups = [_frames(count), _fields(layout.size * k, variables)]
    groups += [_fields(joints)] if joints else []
    rods = tuple((name, int(layout.first[r]) * k) for r, name in enumerate(layout.names))
    first = joints
    massive = np.flatnonzero(np.any(lumps != 0, axis=(1, 2)))
    offset = Pose(np.tile(np.eye(3), (len(massive), 1, 1)), np.zeros((len(massive), 3)))
    own = model.bodies
    bodies = Bodies(
        Pose(
            np.concatenate([np.asarray(own.offset.rotation).reshape(-1, 3, 3), offset.rotation]),
            np.concatenate([np.asarray(own.offset.position).reshape(-1, 3), offset.position]),
        ),
        np.concatenate([np.asarray(own.inertia), lumps[massive]]),
        (*own.sample, *(int(first + n) for n in massive)),
    )
    size = float(np.max(np.asarray(model.scale), initial=1e-9))
    found = _standing_in(model, tuple(groups), place, size, lines, rods=rods, bodies=bodies)
    widths = layout.first[1:] - layout.first[:-1]
    slots = tuple(
        dataclasses.replace(
            s,
            q_stop=s.q_start + own_joint.nq * int(w) * k,
            v_stop=s.v_start + own_joint.nv * int(w) * k,
        )
        for s, w in zip(found.topology.rod_slots, widths, strict=True)
    )
    topology = dataclasses.replace(found.topology, rod_slots=slots)
    return dataclasses.replace(found, topology=topology, fields=fields)


def _frames(count: int) -> JointGroup:
    return JointGroup(FrameJoint(), np.zeros((count, 6)), np.zeros((count, 7)), None)


def _fields(count: int, variables: int = 0) -> JointGroup:
    joint = FieldJoint(variables)
    return JointGroup(joint, np.zeros((count, joint.nv)), np.zeros((count, joint.nq)), None)


def _joint_elements(model: Model) -> int:
    return sum(group.size for group in model.groups[: joint_groups(model)])


def places(model: Model, layout: Layout, frame_of_station: np.ndarray, lines: int) -> Any:
    """Where a sample of the model is found: the same joint, or the frame of a station."""
    first = _joint_elements(model)  # each has one sample

    def place(sample: int) -> int:
        if sample == GROUND or sample < first:
            return sample
        group, row, local = model.place(sample)
        own = model.groups[group]
        u = float(np.asarray(own.grid.points)[row, local % own.samples])  # type: ignore[union-attr]
        rod = [(s.group, s.row) for s in model.topology.rod_slots].index((group, row))
        return first + lines + int(frame_of_station[layout.station(rod, u)])

    return place


def _standing_in(
    model: Model,
    added: tuple[JointGroup, ...],
    place: Any,
    size: float,
    lines: Measured,
    *,
    rods: tuple[tuple[str, int], ...],
    bodies: Bodies,
) -> Model:
    """The model with its rods replaced by further joints on the ground."""
    kept = joint_groups(model)
    joints = _joint_elements(model)
    count = len(lines.of)
    if count:
        zero = np.zeros((count, 1))
        states = jax.tree.map(lambda _: np.zeros(count), StateJoint(np.zeros(())))
        added = (JointGroup(states, zero, zero, None), *added)
    groups: Any = (*model.groups[:kept], *added)
    topology, old = _topology(model, groups, place, rods), model.topology
    extra = sum(group.size for group in added)

    def moved(samples: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(place(s) for s in samples)

    offsets = Pose(
        np.concatenate(
            [np.asarray(model.offsets.rotation)[:joints], np.tile(np.eye(3), (extra, 1, 1))]
        ),
        np.concatenate([np.asarray(model.offsets.position)[:joints], np.zeros((extra, 3))]),
    )
    frames = np.array([1.0, 1.0, 1.0, size, size, size])
    nv = old.v_start[kept] if kept < len(old.v_start) else old.nv
    scales = [np.asarray(model.scale)[:nv]]
    scales += [
        np.array(lines.sizes)
        if isinstance(g.joint, StateJoint)
        else np.tile(frames if isinstance(g.joint, FrameJoint) else np.full(g.nv, np.inf), g.size)
        for g in added
    ]
    closures, own = model.closures, model.transmissions
    segments = own.segments
    return dataclasses.replace(
        model,
        groups=groups,
        offsets=offsets,
        bodies=dataclasses.replace(
            bodies, sample=(*moved(model.bodies.sample), *bodies.sample[model.bodies.size :])
        ),
        closures=dataclasses.replace(
            closures,
            inner_sample=moved(closures.inner_sample),
            outer_sample=moved(closures.outer_sample),
        ),
        transmissions=dataclasses.replace(
            own,
            affine=_affine(model, lines),
            channels=no_channels(),
            segments=dataclasses.replace(
                segments,
                inner_sample=moved(segments.inner_sample),
                outer_sample=moved(segments.outer_sample),
            ),
        ),
        slips=tuple(dataclasses.replace(s, sample=place(s.sample)) for s in model.slips),
        loads=tuple(dataclasses.replace(x, sample=place(x.sample)) for x in model.loads),
        line_loads=(),
        stresses=(),
        scale=np.concatenate(scales),
        topology=topology,
        linear="dense (small)",
    )


def _affine(model: Model, lines: Measured) -> Affine:
    """Affine parts of joints, and one of each line along rods in the coordinate that measures it."""
    own, kept = model.transmissions.affine, joint_groups(model)
    first = model.topology.v_start[kept] if kept < len(model.groups) else model.nv
    joints = [k for k, span in enumerate(own.spans) if span[0] < first]
    arms = [np.asarray(own.arms)[k] for k in joints] + [np.ones(1) for _ in lines.of]
    if not arms:
        return no_affine()
    width = max(map(len, arms))
    return Affine(
        np.stack([np.pad(arm, (0, width - len(arm))) for arm in arms]),
        (
            *(own.spans[k] for k in joints),
            *((first + k, first + k + 1) for k in range(len(lines.of))),
        ),
        (*(own.of[k] for k in joints), *lines.of),
    )


def _topology(
    model: Model, groups: tuple[JointGroup, ...], place: Any, rods: tuple[tuple[str, int], ...]
) -> Topology:
    old, joints = model.topology, _joint_elements(model)
    sizes = [(g.size, g.size * g.nq, g.size * g.nv) for g in groups]
    elements, qs, vs = ([0, *np.cumsum(column).tolist()] for column in zip(*sizes, strict=True))
    extra = elements[-1] - joints
    attach = tuple(place(s) for s in old.attach[:joints])
    own = [isinstance(g.joint, FieldJoint) for g in groups].index(True) if rods else 0
    slots = tuple(
        Slot(name, own, row, qs[own] + groups[own].nq * row, 0, vs[own] + groups[own].nv * row, 0)
        for name, row in rods
    )
    return dataclasses.replace(
        old,
        # Each element has one sample, so that samples are numbered as elements.
        parent=(*attach, *(GROUND,) * extra),
        attach=(*attach, *(GROUND,) * extra),
        element_start=tuple(elements[:-1]),
        sample_start=tuple(elements[:-1]),
        q_start=tuple(qs[:-1]),
        v_start=tuple(vs[:-1]),
        nq=qs[-1],
        nv=vs[-1],
        rod_slots=slots,
        frames=tuple(dataclasses.replace(f, sample=place(f.sample)) for f in old.frames),
    )
