"""Loops one by one: how the two frames of each closing joint lie, from the elements between them alone.

What one frame sees of another depends only on the elements on the way between them: whatever both hang on
moves both alike. So each loop is computed from where its two sides part, and costs what it is long.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.lie import Pose, se3
from supple.model.joints import AbstractJoint
from supple.model.laws import AbstractLaw
from supple.model.model import GROUND, JointGroup, Model, RodGroup
from supple.model.special_joints import DrivenJoint
from supple.space import PieceGrid, RodGrid

ROWS = 6
"""No joint asks for more equations; missing ones are zero."""
BATCH = 512
"""Steps that are computed at once: more are slower, since they leave the processor's cache."""


class Lie(NamedTuple):
    """How loops lie: what is missing (loops, 6) in m, and its derivative, one block (6, nv) a visit."""

    missing: np.ndarray
    blocks: list[np.ndarray]
    """By group: (visits, 6, nv), derivatives by the local coordinates of the element that is visited."""


@dataclass(frozen=True)
class Loops:
    """Some closing joints of a model, each with the elements that lie between its two frames.

    A *step* is an element on one side of one loop, left at one of its samples. A *visit* is an element in a
    loop: one or two steps, since both sides may leave a rod at different places.
    """

    model: Model
    closures: tuple[int, ...]
    """Numbers of the closing joints."""
    loop: np.ndarray
    """Of each step, as an index into ``closures``."""
    element: np.ndarray
    sample: np.ndarray
    """Where the step leaves its element, in the element's own numbering."""
    outer: np.ndarray
    """Whether the step leads to the outer frame."""
    before: np.ndarray
    """The step before this one, or -1 where its side begins."""
    ends: np.ndarray
    """(loops, 2): last step to the inner and to the outer frame, or -1."""

    @cached_property
    def levels(self) -> list[np.ndarray]:
        """Steps by how many come before them on their side."""
        level = np.zeros(len(self.before), dtype=int)
        for i, before in enumerate(self.before):  # steps come in order
            level[i] = 0 if before < 0 else level[before] + 1
        order = np.argsort(level, kind="stable")
        return np.split(order, np.cumsum(np.bincount(level))[:-1]) if len(order) else []

    @cached_property
    def group(self) -> np.ndarray:
        """Group of each step's element."""
        return group_of(self.model, self.element)

    @cached_property
    def visits(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """By group: loop and element of each visit, and the visit of each of the group's steps."""
        found = []
        for g in range(len(self.model.groups)):
            own = self.group == g
            pairs = np.stack([self.loop[own], self.element[own]], axis=1)
            unique, visit = np.unique(pairs, axis=0, return_inverse=True)
            found.append((unique[:, 0], unique[:, 1], visit.reshape(-1)))
        return found

    @cached_property
    def equations(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, b and c of each loop's equations: (loops, 6, …), those that are missing zero."""
        c = self.model.closures
        turning, shift = np.zeros((2, len(self.closures), ROWS, 3, 3))
        shift, value = shift[..., 0], np.zeros((len(self.closures), ROWS))
        for k, rows in enumerate(self.rows):
            count = len(rows)
            turning[k, :count], shift[k, :count] = c.turning[rows], c.shift[rows]
            value[k, :count] = c.value[rows]
        return turning, shift, value

    @cached_property
    def rows(self) -> list[np.ndarray]:
        """Numbers of each loop's equations in the model."""
        of = np.array(self.model.closures.joint_of_row, dtype=int)
        order = np.argsort(of, kind="stable")
        own = np.array(self.closures, dtype=int)
        starts, stops = (np.searchsorted(of[order], edge) for edge in (own, own + 1))
        return [order[a:b] for a, b in zip(starts, stops, strict=True)]

    @cached_property
    def _batches(self) -> list[list[tuple[np.ndarray, np.ndarray, Any]]]:
        """By group, in batches: steps, their places among the group's, and what is to be known of them."""
        found = []
        for g, group in enumerate(self.model.groups):
            own = np.flatnonzero(self.group == g)
            rows = self.element[own] - self.model.topology.element_start[g]
            numbers: Any = (group.joint,) if isinstance(group, JointGroup) else _rods(group)
            batches = []
            for start in range(0, len(own), BATCH):
                places = np.arange(start, min(start + BATCH, len(own)))
                chosen = jax.tree.map(partial(_chosen, rows=_padded(rows[places])), numbers)
                samples = _padded(self.sample[own[places]])
                batches.append((own[places], places, (*chosen, samples)))
            found.append(batches)
        return found

    def at(self, q: list[np.ndarray], of_step: list[np.ndarray]) -> Lie:
        """How the loops lie; by group, ``q`` is a list of configurations and each step takes one of them."""
        count = len(self.loop)
        moved, twists = Pose(np.zeros((count, 3, 3)), np.zeros((count, 3))), []
        for g, group in enumerate(self.model.groups):
            step = _joint_steps if isinstance(group, JointGroup) else _rod_steps
            twist = np.zeros((len(of_step[g]), 6, group.nv))
            for steps, places, known in self._batches[g]:
                pose, own = step(*known, q[g][_padded(of_step[g][places])])
                _put(moved, steps, Pose(*(np.asarray(x)[: len(steps)] for x in pose)))
                twist[places] = np.asarray(own)[: len(steps)]
            twists.append(twist)
        inner, reached = self._along(moved)
        return self._lie(inner, reached, twists)

    def _along(self, moved: Pose) -> tuple[Pose, Pose]:
        """Poses where each step enters its element and where it leaves it, from where the sides part."""
        offsets = self.model.offsets
        enter = _take(
            Pose(np.asarray(offsets.rotation), np.asarray(offsets.position)), self.element
        )
        leave = Pose(np.empty_like(moved.rotation), np.empty_like(moved.position))
        for level, steps in enumerate(self.levels):
            if level:
                _put(enter, steps, _compose(_take(leave, self.before[steps]), _take(enter, steps)))
            _put(leave, steps, _compose(_take(enter, steps), _take(moved, steps)))
        return enter, leave

    def _lie(self, enter: Pose, leave: Pose, twists: list[np.ndarray]) -> Lie:
        c, chosen = self.model.closures, np.array(self.closures, dtype=int)
        inner, outer = (
            _compose(_end(leave, self.ends[:, side]), _take(_plain(frame), chosen))
            for side, frame in enumerate((c.inner, c.outer))
        )
        turned = np.swapaxes(inner.rotation, 1, 2)
        rotation = turned @ outer.rotation
        position = np.einsum("kij,kj->ki", turned, outer.position - inner.position)
        A, b, value = self.equations
        missing = (
            np.einsum("knij,kij->kn", A, rotation) + np.einsum("kni,ki->kn", b, position) - value
        )
        # Derivative by a motion of the outer frame in its own axes, then by one in the axes of the start.
        M = np.einsum("kji,knjl->knil", rotation, A)
        moment = np.stack([M[..., 2, 1] - M[..., 1, 2], M[..., 0, 2] - M[..., 2, 0],
                           M[..., 1, 0] - M[..., 0, 1]], axis=-1)  # fmt: skip
        force = np.einsum("kji,knj->kni", rotation, b)
        by_motion = np.concatenate([moment, force], axis=-1) @ _adjoint(_inverse(outer))
        sign = np.where(self.outer, 1.0, -1.0)
        blocks = []
        for g, twist in enumerate(twists):
            own = np.flatnonzero(self.group == g)
            by_step = (
                sign[own, None, None] * by_motion[self.loop[own]] @ _adjoint(_take(enter, own))
            )
            visits = np.zeros((len(self.visits[g][0]), ROWS, twist.shape[-1]))
            np.add.at(visits, self.visits[g][2], by_step @ twist)
            blocks.append(visits)
        return Lie(missing, blocks)


def loops_of(model: Model, closures: tuple[int, ...]) -> Loops:
    """The loops of some closing joints."""
    topology, c = model.topology, model.closures
    parent, attach = topology.parent, np.array(topology.attach, dtype=int)
    frames = np.array([c.inner_sample, c.outer_sample], dtype=int).T[list(closures)]
    (at_element, at_sample), (ends_on, ends_at) = (places(model, s) for s in (attach, frames))
    depth = _depths(parent)
    columns: list[tuple[int, int, int, bool, int]] = []
    ends = []
    for k in range(len(closures)):
        sides: tuple[list[tuple[int, int]], ...] = ([], [])
        here = [(int(ends_on[k, s]), int(ends_at[k, s])) for s in (0, 1)]
        while here[0] != here[1]:
            (a, _), (b, _) = here
            if a == b:  # both sides leave one rod, at different places
                sides[0].append(here[0])
                sides[1].append(here[1])
                break
            side = 0 if depth[a] >= depth[b] else 1
            deep = here[side][0]
            sides[side].append(here[side])
            here[side] = (int(at_element[deep]), int(at_sample[deep]))
        last = []
        for side, way in enumerate(sides):
            before = -1
            for element, sample in reversed(way):
                columns.append((k, element, sample, side == 1, before))
                before = len(columns) - 1
            last.append(before)
        ends.append(last)
    table = np.array(columns, dtype=int).reshape(-1, 5).T
    return Loops(
        model=model,
        closures=closures,
        loop=table[0],
        element=table[1],
        sample=table[2],
        outer=table[3].astype(bool),
        before=table[4],
        ends=np.array(ends, dtype=int).reshape(-1, 2),
    )


def group_of(model: Model, elements: np.ndarray) -> np.ndarray:
    """Groups of some elements."""
    return np.searchsorted(model.topology.element_start, elements, side="right") - 1


def places(model: Model, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Elements that flat samples lie on, and their numbers there; the ground is sample 0 of GROUND."""
    topology = model.topology
    group = np.searchsorted(topology.sample_start, samples, side="right") - 1
    each = np.array([g.samples for g in model.groups])[group]
    local = samples - np.array(topology.sample_start)[group]
    element = np.array(topology.element_start)[group] + local // each
    ground = samples == GROUND
    return np.where(ground, GROUND, element), np.where(ground, 0, local % each)


def _depths(parent: tuple[int, ...]) -> dict[int, int]:
    """How many elements each one hangs on; -1 for the ground."""
    depth = {GROUND: -1}
    for element in range(len(parent)):
        way = []
        while element not in depth:
            way.append(element)
            element = parent[element]
        for count, below in enumerate(reversed(way), depth[element] + 1):
            depth[below] = count
    return depth


Grid = RodGrid | PieceGrid


def _rods(group: RodGroup) -> tuple[Grid, Any]:
    """Grids and lengths at t = 0."""
    grown = group.growth is not None
    return group.grid, _grown(group.length, group.growth) if grown else group.length


@partial(jit, quick=True)
def _grown(length: Any, growth: AbstractLaw | None) -> Any:
    """Lengths (m) of growing rods at t = 0."""
    return jax.vmap(lambda length, law: length * law(jnp.zeros(())))(length, growth)


@partial(jit, quick=True)
def _rod_steps(grid: Grid, length: Any, sample: Any, q: Any) -> tuple[Pose, Any]:
    """Pose of a sample of each rod, and its twist by each coordinate, both seen from the rod's start."""

    def one(grid: Grid, length: Any, sample: Any, q: Any) -> tuple[Pose, Any]:
        rotation, position = grid.poses(q, length)
        count = grid.weights.shape[0]
        columns = se3.columns_to_world(Pose(rotation[:count], position[:count]), grid.basis)
        twist = length * jnp.einsum("d,dim->im", grid.integration[sample], columns)
        return Pose(rotation[sample], position[sample]), twist

    return _each(one, (grid, length), sample, q)


@partial(jit, quick=True)
def _joint_steps(joint: AbstractJoint, sample: Any, q: Any) -> tuple[Pose, Any]:
    """The same of joints, at t = 0."""

    def one(joint: AbstractJoint, sample: Any, q: Any) -> tuple[Pose, Any]:
        if isinstance(joint, DrivenJoint):
            return joint.driven(jnp.zeros(()))[0], jnp.zeros((6, 0))
        still = jnp.zeros(joint.nv)
        poses = joint.poses(q, still)
        pose = Pose(poses.rotation[sample], poses.position[sample])
        if not joint.links:
            return pose, se3.columns_to_world(pose, joint.subspace(q, still))
        columns = joint.subspace_motions(q, still, still, still, poses).value[sample]
        return pose, se3.columns_to_world(pose, columns)

    return _each(one, (joint,), sample, q)


def _chosen(leaf: Any, rows: np.ndarray) -> Any:
    """Some rows of a group's numbers; one row where all are alike, as most numbers of a grid are."""
    leaf = np.asarray(leaf)
    return jnp.asarray(leaf[:1] if np.all(leaf == leaf[:1]) else leaf[rows])


def _each(one: Callable[..., Any], numbers: Any, *more: Any) -> Any:
    """A function of each element in a batch; of its numbers some may be the same for all."""
    axes = jax.tree.map(lambda leaf: None if leaf.shape[0] == 1 else 0, numbers)
    alone = jax.tree.map(lambda leaf: leaf[0] if leaf.shape[0] == 1 else leaf, numbers)
    return jax.vmap(one, (*axes, *(0 for _ in more)))(*alone, *more)


@partial(jit, quick=True)
def _retracted(joint: AbstractJoint, q: Any, x: Any) -> Any:
    return _each(lambda joint, q, x: joint.retract(q, x), (joint,), q, x)


def retracted(
    model: Model, g: int, elements: np.ndarray, q: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """Configurations of some elements of a group, moved by local coordinates."""
    group = model.groups[g]
    if not len(q):
        return q
    if isinstance(group, RodGroup) or group.joint.euclidean:
        return q + x
    rows = _padded(elements - model.topology.element_start[g])
    joint = jax.tree.map(partial(_chosen, rows=rows), group.joint)
    fill = _padded(np.arange(len(q)))
    return np.asarray(_retracted(joint, q[fill], x[fill]))[: len(q)]


def _padded(index: np.ndarray) -> np.ndarray:
    """At least eight and a power of two, so that few sizes are compiled; the first ones come again."""
    return np.resize(index, max(8, 1 << max(len(index) - 1, 0).bit_length()))


def _plain(pose: Pose) -> Pose:
    return Pose(np.asarray(pose.rotation), np.asarray(pose.position))


def _take(pose: Pose, index: np.ndarray) -> Pose:
    return Pose(pose.rotation[index], pose.position[index])


def _put(pose: Pose, index: np.ndarray, value: Pose) -> None:
    pose.rotation[index], pose.position[index] = value


def _end(pose: Pose, index: np.ndarray) -> Pose:
    """Poses of some steps; no step is no motion."""
    none = index < 0
    if not len(pose.position):
        return Pose(np.tile(np.eye(3), (len(index), 1, 1)), np.zeros((len(index), 3)))
    rotation = np.where(none[:, None, None], np.eye(3), pose.rotation[index])
    return Pose(rotation, np.where(none[:, None], 0.0, pose.position[index]))


def _compose(a: Pose, b: Pose) -> Pose:
    position = a.position + np.einsum("...ij,...j->...i", a.rotation, b.position)
    return Pose(a.rotation @ b.rotation, position)


def _inverse(pose: Pose) -> Pose:
    turned = np.swapaxes(pose.rotation, -1, -2)
    return Pose(turned, -np.einsum("...ij,...j->...i", turned, pose.position))


def _adjoint(pose: Pose) -> np.ndarray:
    """Matrices (…, 6, 6) that carry twists."""
    x, y, z = np.moveaxis(pose.position, -1, 0)
    o = np.zeros_like(x)
    hat = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*x.shape, 3, 3)
    found = np.zeros((*x.shape, 6, 6))
    found[..., :3, :3] = found[..., 3:, 3:] = pose.rotation
    found[..., 3:, :3] = hat @ pose.rotation
    return found
