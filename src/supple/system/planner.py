"""Works out plans: the layout of every front, who follows whom, and where its border goes."""

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache

import numpy as np

from supple.model.model import GROUND, Model
from supple.system.core import CoreLayout, core_layout
from supple.system.links import links_of
from supple.system.lu import UNIT
from supple.system.ordering import Ordering
from supple.system.plan import Kind, Part, Plan, Schedule, Structure

MOST_RIDERS = 128
"""Unknowns that may ride along; beyond, the dense solve is the better one."""
TICK = 6.0
"""Cost of a tick over that of one more front in it."""


def structure_of(model: Model) -> Structure:
    """The structure of a model."""
    topology = model.topology
    return Structure(
        topology.parent,
        topology.attach,
        tuple((group.size, group.nv, group.samples) for group in model.groups),
        links_of(model),
        model.equations,
    )


@lru_cache(maxsize=64)
def make_plan(structure: Structure) -> Plan | None:
    """A plan; None where too much would ride along."""
    order = Ordering(structure)
    if max((order.size_of(blocks) for blocks in order.riders), default=0) > MOST_RIDERS:
        return None
    return _Fronts(order).plan()


class _Fronts:
    """Fronts of a robot whose ordering is known."""

    def __init__(self, order: Ordering) -> None:
        self.order = order

    def plan(self) -> Plan:
        """The plan."""
        core_blocks = sorted(self.order.core) + [
            self.order.count + i for i, home in enumerate(self.order.home) if home == GROUND
        ]
        sizes = [self.order.size(block) for block in core_blocks]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.core_start = dict(zip(core_blocks, starts.tolist(), strict=False))
        active = [e for e in self.order.outward if e not in self.order.core]
        leaves = [e for e in active if not self.order.children[e]]
        inner = [e for e in active if self.order.children[e]]
        schedule = self._schedule(inner)
        unknowns = [self.order.places(block) for block in core_blocks]
        in_core = [block - self.order.count for block in core_blocks if block >= self.order.count]
        return Plan(
            structure=self.order.structure,
            leaves=self._kinds(leaves),
            inner=schedule,
            core=self._kinds(sorted(self.order.core)),
            core_unknowns=np.array([place for places in unknowns for place in places], dtype=int),
            core_layout=self._core_layout(core_blocks, active),
            core_links=np.array(in_core, dtype=int),
            core_start=np.array(
                [self.core_start[self.order.count + i] for i in in_core], dtype=int
            ),
            unknowns=self.order.unknowns,
            used=self._used(),
            extras=tuple(self.order.extras),
        )

    def _core_layout(self, blocks: list[int], active: list[int]) -> CoreLayout:
        """Levels of the core: what hangs on it, and its own links, couple the blocks that they touch."""
        number = {block: i for i, block in enumerate(blocks)}
        cliques = []
        for e in active:
            above = self.order.above[e]
            if above == GROUND or above in self.order.core:
                touched = [*self.order.riders[e], *([above] if above in self.order.core else [])]
                cliques.append([number[block] for block in touched])
        cliques += [[number[block] for block in self._border(e)] for e in sorted(self.order.core)]
        return core_layout([self.order.size(block) for block in blocks], cliques)

    def _schedule(self, inner: list[int]) -> Schedule:
        height: dict[int, int] = {}
        for e in reversed(inner):
            below = [height[c] for c in self.order.children[e] if c in height]
            height[e] = 1 + max(below, default=-1)
        levels: dict[int, list[int]] = defaultdict(list)
        for e in inner:
            levels[height[e]].append(e)
        width = _best_width([len(level) for level in levels.values()])
        self.slot: dict[int, int] = {}
        ticks = 0
        for h in sorted(levels):
            for k, e in enumerate(levels[h]):
                self.slot[e] = ticks * width + k
            ticks += -(-len(levels[h]) // width)
        self.padded = max(
            (int(self.order.width[e]) + self.order.size_of(self.order.homes[e]) for e in inner),
            default=0,
        )
        riding = max((self.order.size_of(self.order.riders[e]) for e in inner), default=0)
        parent = np.full(ticks * width, ticks * width)
        for e in inner:
            above = self.order.above[e]
            if above in self.slot:
                parent[self.slot[e]] = self.slot[above]
        kinds = self._kinds(inner)
        slots = [
            self.slot[self._element(kind.group, int(row))] for kind in kinds for row in kind.rows
        ]
        sorts = np.full((ticks * width, self.padded), UNIT)
        start = 0
        for kind in kinds:
            chosen = slots[start : start + kind.count]
            sorts[np.array(chosen)[:, None], np.arange(kind.own_size)] = kind.sorts
            start += kind.count
        places = np.array(slots, dtype=int)
        return Schedule(kinds, places, parent, ticks, width, self.padded, sorts, riding)

    def _element(self, group: int, row: int) -> int:
        return int(np.searchsorted(self.order.group, group)) + row

    def _kinds(self, elements: list[int]) -> tuple[Kind, ...]:
        """Fronts of these elements, those of one layout together."""
        found: dict[object, list[tuple[int, list[Part], list[Part]]]] = defaultdict(list)
        for e in elements:
            riders = self._border(e)[1:] if e in self.order.core else self.order.riders[e]
            own = [self._part(e, block, riders) for block in self.order.homes[e]]
            others = [self._part(e, block, riders) for block in riders]
            above = self.order.above[e]
            port = self.order.parent[e] != GROUND
            to_core = port and above in self.order.core
            key = (
                self.order.group[e], port, above == GROUND,
                to_core, self.order.width[above] if to_core else 0,
                tuple(part.layout for part in own), tuple(part.layout for part in others),
            )  # fmt: skip
            found[key].append((e, own, others))
        return tuple(self._kind(members) for members in found.values())

    def _part(self, e: int, block: int, riders: list[int]) -> Part:
        if block < self.order.count:
            return Part(self.order.size(block), "element", np.array([block]))
        i = block - self.order.count
        link = self.order.links[i]
        found = sorted(self.order.touches.get((i, e), []), key=lambda k: link.touches[k].way)
        target = self.order.target[i]
        part = Part(
            self.order.size(block),
            link.family,
            np.array([i]),
            tuple(link.touches[k].way for k in found),
            np.array([found], dtype=int),
            extras=self.order.extras[i],
        )
        if found and target >= 0 and e != target:
            side = self.order.touches[i, target][:1]
            part = replace(part, core_touch=np.array(side), core_part=riders.index(target))
        return part

    def _kind(self, members: list[tuple[int, list[Part], list[Part]]]) -> Kind:
        elements = [e for e, _, _ in members]
        first = elements[0]

        def merged(which: int) -> tuple[Part, ...]:
            columns = zip(*(member[which] for member in members), strict=True)
            return tuple(_merged(parts) for parts in columns)

        in_core = first in self.order.core
        above = [self.order.above[e] for e in elements]
        unknowns, goes = [], []
        for e in elements:
            blocks = [] if in_core else [e, *self.order.homes[e]]
            unknowns.append([place for block in blocks for place in self.order.places(block)])
            goes.append(
                [place for block in self._border(e) for place in self._destination(e, block)]
            )
        port = self.order.parent[first] != GROUND
        to_inner = not in_core and above[0] != GROUND and above[0] not in self.order.core
        to_core = port and above[0] in self.order.core
        return Kind(
            group=int(self.order.group[first]),
            rows=self.order.row[elements],
            own=merged(1),
            riders=merged(2),
            port=port,
            unknowns=_table(unknowns),
            sample=np.array([self.order.structure.attach[e] for e in elements]),
            parent=np.array([self.slot[a] for a in above] if to_inner else [], dtype=int),
            goes=_table(goes),
            core_goes=_table([self._in_core(a) for a in above] if to_core else []),
        )

    def _border(self, e: int) -> list[int]:
        """Blocks of a front that go on: the riders, in the core after the element itself.

        What leads to a core element directly is in the front that it comes from.
        """
        if e not in self.order.core:
            return self.order.riders[e]
        return [
            e,
            *sorted(
                b for b in self.order.touched[e] if self.order.target[b - self.order.count] != e
            ),
        ]

    def _in_core(self, block: int) -> list[int]:
        start = self.core_start[block]
        return list(range(start, start + self.order.size(block)))

    def _destination(self, e: int, block: int) -> list[int]:
        """Places of a rider of e in the parent's front, or in the core."""
        above = self.order.above[e]
        if e in self.order.core or above == GROUND or above in self.order.core:
            return self._in_core(block)
        if block in self.order.homes[above]:
            before = self.order.homes[above][: self.order.homes[above].index(block)]
            start = int(self.order.width[above]) + self.order.size_of(before)
        else:
            riders = self.order.riders[above]
            start = self.padded + 6 + self.order.size_of(riders[: riders.index(block)])
        return list(range(start, start + self.order.size(block)))

    def _used(self) -> tuple[tuple[int, ...], ...]:
        """Samples of an element, for each group, that something hangs on or touches."""
        touched = [t.sample for link in self.order.links for t in link.touches if t.sample >= 0]
        samples = np.unique([s for s in (*self.order.structure.attach, *touched) if s != GROUND])
        used, start = [], 0
        for count, _, points in self.order.structure.sizes:
            stop = start + count * points
            here = samples[(samples >= start) & (samples < stop)] - start
            used.append(tuple(np.unique(here % points).astype(int).tolist()))
            start = stop
        return tuple(used)


def _table(lists: list[list[int]]) -> np.ndarray:
    """Lists of one length as a matrix, however empty."""
    return np.array(lists, dtype=int).reshape(len(lists), len(lists[0]) if lists else 0)


def _merged(parts: tuple[Part, ...]) -> Part:
    """One part of several fronts, from those of each."""

    def joined(tables: list[np.ndarray | None]) -> np.ndarray | None:
        found = [table for table in tables if table is not None]
        return np.concatenate(found) if found else None

    return replace(
        parts[0],
        index=np.concatenate([part.index for part in parts]),
        which=joined([part.which for part in parts]),
        core_touch=joined([part.core_touch for part in parts]),
    )


def _best_width(levels: list[int]) -> int:
    """Fronts a tick: few ticks against few empty places in them."""
    if not levels:
        return 1
    widths = [2**k for k in range(12) if 2**k < 2 * max(levels)]

    def cost(width: int) -> float:
        ticks = sum(-(-count // width) for count in levels)
        return ticks * (TICK + width)

    return min(widths, key=cost)
