"""Works out plans: which elements are the core, where links end, what rides along, who follows whom."""

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from heapq import heapify, heappop, heappush

import numpy as np

from supple.model.model import GROUND, Model
from supple.system.core import CoreLayout, core_layout
from supple.system.links import BETWEEN, Link, links_of
from supple.system.lu import UNIT
from supple.system.plan import Kind, Part, Plan, Schedule, Structure

LATE_ROWS = 64
"""Equations that may wait as long as they can: the later they are eliminated, the better their pivots."""
MOST_RIDERS = 128
"""Unknowns that may ride along; beyond, the dense solve is the better one."""
TICK = 6.0
"""Cost of a tick over that of one more front in it."""
WRENCH = 6
"""Unknowns of a closure between two elements of which neither is in the core: the wrench that it carries."""


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
    return _Planner(structure).plan()


class _Planner:
    """Works out a plan; forgotten afterwards."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.links = structure.links
        self.parent = structure.parent
        self.count = len(structure.parent)
        counts = np.array([count for count, _, _ in structure.sizes])
        self.group = np.repeat(np.arange(len(counts)), counts)
        self.row = np.concatenate([np.arange(count) for count in counts])
        self.width = np.array([structure.sizes[g][1] for g in self.group])
        self.first = np.concatenate([[0], np.cumsum(self.width)])[:-1]
        self.children: list[list[int]] = [[] for _ in range(self.count)]
        for e, parent in enumerate(self.parent):
            if parent != GROUND:
                self.children[parent].append(e)
        self.above = list(self.parent)
        self._number()

    def _number(self) -> None:
        """Elements from the roots outward, with their roots and depths."""
        self.outward = self._outward()
        self.root = list(range(self.count))
        self.depth = [0] * self.count
        for e in self.outward:
            if self.above[e] != GROUND:
                self.root[e] = self.root[self.above[e]]
                self.depth[e] = self.depth[self.above[e]] + 1

    def _outward(self) -> list[int]:
        """Elements, parents before their children."""
        order = [e for e in range(self.count) if self.above[e] == GROUND]
        for e in order:
            order.extend(self.children[e])
        return order

    def plan(self) -> Plan | None:
        """The plan, or None."""
        self.core = self._core_elements()
        self._hang_up()
        self._place_links()
        riders = self._riders()
        if max((self._size_of(blocks) for blocks in riders), default=0) > MOST_RIDERS:
            return None
        self.riders = riders
        core_blocks = sorted(self.core) + [
            self.count + i for i, home in enumerate(self.home) if home == GROUND
        ]
        sizes = [self._size(block) for block in core_blocks]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.core_start = dict(zip(core_blocks, starts.tolist(), strict=False))
        active = [e for e in self.outward if e not in self.core]
        leaves = [e for e in active if not self.children[e]]
        inner = [e for e in active if self.children[e]]
        schedule = self._schedule(inner)
        unknowns = [self._places(block) for block in core_blocks]
        in_core = [block - self.count for block in core_blocks if block >= self.count]
        return Plan(
            structure=self.structure,
            leaves=self._kinds(leaves),
            inner=schedule,
            core=self._kinds(sorted(self.core)),
            core_unknowns=np.array([place for places in unknowns for place in places], dtype=int),
            core_layout=self._core_layout(core_blocks, active),
            core_links=np.array(in_core, dtype=int),
            core_start=np.array([self.core_start[self.count + i] for i in in_core], dtype=int),
            unknowns=self.unknowns,
            used=self._used(),
            extras=tuple(self.extras),
        )

    def _core_layout(self, blocks: list[int], active: list[int]) -> CoreLayout:
        """Levels of the core: what hangs on it, and its own links, couple the blocks that they touch."""
        number = {block: i for i, block in enumerate(blocks)}
        cliques = []
        for e in active:
            above = self.above[e]
            if above == GROUND or above in self.core:
                touched = [*self.riders[e], *([above] if above in self.core else [])]
                cliques.append([number[block] for block in touched])
        cliques += [[number[block] for block in self._border(e)] for e in sorted(self.core)]
        return core_layout([self._size(block) for block in blocks], cliques)

    # Where links end ---------------------------------------------------------------------------------------

    def _core_elements(self) -> set[int]:
        """Roots that links of other elements lead to; where one of two will do, the one with more links."""
        core: set[int] = set()
        pairs: list[tuple[int, int]] = []
        degree: dict[int, int] = defaultdict(int)
        for link in self.links:
            if link.family in BETWEEN:
                core |= self._floating(link)
                continue
            if link.family != "closure" or len(link.elements) != 2:
                continue
            a, b = link.elements
            degree[a] += 1
            degree[b] += 1
            on_ground = [self.parent[e] == GROUND for e in (a, b)]
            if all(on_ground):
                pairs.append((a, b))
            elif any(on_ground):
                core.add(a if on_ground[0] else b)
        pairs.sort(key=lambda pair: -max(degree[e] for e in pair))
        for a, b in pairs:
            if a not in core and b not in core:
                core.add(max(a, b, key=lambda e: (degree[e], -self.width[e], -e)))
        return core

    def _floating(self, link: Link) -> set[int]:
        """Bodies with a joint to the ground that nothing but a link to other trees may hold."""
        if len({self.root[e] for e in link.elements}) < 2:
            return set()
        sizes = self.structure.sizes
        return {
            e
            for e in link.elements
            if self.parent[e] == GROUND and sizes[self.group[e]][1:] == (WRENCH, 1)
        }

    def _hang_up(self) -> None:
        """Let what stands alone be eliminated beside what it acts on: winches, on the first rod.

        Its unknowns then end where those of the rod do, instead of riding to the core.
        """
        acts: dict[int, list[Link]] = defaultdict(list)
        for link in self.links:
            for e in link.elements:
                acts[e].append(link)
        for e, links in acts.items():
            if self.parent[e] != GROUND or self.children[e] or e in self.core:
                continue
            if any(link.family not in (*BETWEEN, "coordinate") for link in links):
                continue
            others = {o for link in links for o in link.elements} - {e}
            if not others or others & self.core or len({self.root[o] for o in others}) > 1:
                continue
            first = min(others, key=lambda o: (self.depth[o], o))
            self.above[e] = first
            self.children[first].append(e)
            self._move(e)

    def _move(self, e: int) -> None:
        """Number an element again that now hangs on another one."""
        self.root[e] = self.root[self.above[e]]
        self.depth[e] = self.depth[self.above[e]] + 1

    def _place_links(self) -> None:
        """Where each link ends: an element, or GROUND for the core; and which have further unknowns."""
        self.outward = self._outward()
        patient = [link for link in self.links if self._waits(link)]
        late = sum(len(link.rows) for link in patient) <= LATE_ROWS
        self.home: list[int] = []
        self.target: list[int] = []
        self.extras: list[tuple[int, ...]] = []
        self.extra_start: list[int] = []
        place = self.structure.nv + self.structure.equations
        for i, link in enumerate(self.links):
            outside = [e for e in link.elements if e not in self.core]
            inside = [e for e in link.elements if e in self.core]
            closing = link.family == "closure"
            self.target.append(-1)
            if closing and len(link.elements) == 2 and len(outside) == 1:
                self.target[i] = inside[0]
                self.home.append(GROUND if late else outside[0])
            elif not outside or inside:
                self.home.append(GROUND)
            else:
                top = self._common(outside)
                if late and self._waits(link) and top != GROUND:
                    top = self.root[top]
                self.home.append(GROUND if top == GROUND or top in self.core else top)
            wrench = closing and len(link.touches) == 2 and self.target[i] < 0
            self.extras.append((WRENCH,) if wrench else link.extras)
            self.extra_start.append(place)
            place += sum(self.extras[i])
        self.unknowns = place

    def _waits(self, link: Link) -> bool:
        """Whether a link should be eliminated late: equations that one element may not fulfil by itself."""
        if link.family == "length":
            return len(link.elements) > 1
        return link.family in ("closure", "slip")

    def _common(self, elements: list[int]) -> int:
        """The lowest element that all of these are or hang on; GROUND if there is none."""
        waiting = [(-self.depth[e], e) for e in set(elements)]
        heapify(waiting)
        seen = {e for _, e in waiting}
        while len(waiting) > 1:
            _, deepest = heappop(waiting)
            above = self.above[deepest]
            if above == GROUND:
                return GROUND
            if above not in seen:
                seen.add(above)
                heappush(waiting, (-self.depth[above], above))
        return waiting[0][1]

    def _riders(self) -> list[list[int]]:
        """Blocks of unknowns in the border of each element's front."""
        touched: list[set[int]] = [set() for _ in range(self.count)]
        for i, link in enumerate(self.links):
            for e in link.elements:
                touched[e].add(self.count + i)
                if self.target[i] >= 0 and e != self.target[i]:
                    touched[e].add(self.target[i])
        self.touched = touched
        self.touches: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, link in enumerate(self.links):
            for k, touch in enumerate(link.touches):
                self.touches[i, touch.element].append(k)
        found: list[set[int]] = [set() for _ in range(self.count)]
        for e in reversed(self.outward):
            if e in self.core:
                continue
            blocks = set(touched[e])
            for child in self.children[e]:
                blocks |= found[child]
            found[e] = {b for b in blocks if b < self.count or self.home[b - self.count] != e}
        return [sorted(blocks) for blocks in found]

    def _size(self, block: int) -> int:
        """Unknowns of a block."""
        if block < self.count:
            return int(self.width[block])
        i = block - self.count
        return len(self.links[i].rows) + sum(self.extras[i])

    def _size_of(self, blocks: list[int]) -> int:
        return sum(self._size(block) for block in blocks)

    def _places(self, block: int) -> list[int]:
        """Places of a block's unknowns among all."""
        if block < self.count:
            return list(range(self.first[block], self.first[block] + self.width[block]))
        i = block - self.count
        places = [self.structure.nv + row for row in self.links[i].rows]
        first = self.extra_start[i]
        return places + list(range(first, first + sum(self.extras[i])))

    # Fronts ------------------------------------------------------------------------------------------------

    def _schedule(self, inner: list[int]) -> Schedule:
        self.homes: dict[int, list[int]] = defaultdict(list)
        for i, home in enumerate(self.home):
            if home != GROUND:
                self.homes[home].append(self.count + i)
        height: dict[int, int] = {}
        for e in reversed(inner):
            below = [height[c] for c in self.children[e] if c in height]
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
            (int(self.width[e]) + self._size_of(self.homes[e]) for e in inner), default=0
        )
        riding = max((self._size_of(self.riders[e]) for e in inner), default=0)
        parent = np.full(ticks * width, ticks * width)
        for e in inner:
            above = self.above[e]
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
        return int(np.searchsorted(self.group, group)) + row

    def _kinds(self, elements: list[int]) -> tuple[Kind, ...]:
        """Fronts of these elements, those of one layout together."""
        found: dict[object, list[tuple[int, list[Part], list[Part]]]] = defaultdict(list)
        for e in elements:
            riders = self._border(e)[1:] if e in self.core else self.riders[e]
            own = [self._part(e, block, riders) for block in self.homes[e]]
            others = [self._part(e, block, riders) for block in riders]
            above = self.above[e]
            port = self.parent[e] != GROUND
            to_core = port and above in self.core
            key = (
                self.group[e], port, above == GROUND, to_core, self.width[above] if to_core else 0,
                tuple(part.layout for part in own), tuple(part.layout for part in others),
            )  # fmt: skip
            found[key].append((e, own, others))
        return tuple(self._kind(members) for members in found.values())

    def _part(self, e: int, block: int, riders: list[int]) -> Part:
        if block < self.count:
            return Part(self._size(block), "element", np.array([block]))
        i = block - self.count
        link = self.links[i]
        found = sorted(self.touches.get((i, e), []), key=lambda k: link.touches[k].way)
        target = self.target[i]
        part = Part(
            self._size(block),
            link.family,
            np.array([i]),
            tuple(link.touches[k].way for k in found),
            np.array([found], dtype=int),
            extras=self.extras[i],
        )
        if found and target >= 0 and e != target:
            side = self.touches[i, target][:1]
            part = replace(part, core_touch=np.array(side), core_part=riders.index(target))
        return part

    def _kind(self, members: list[tuple[int, list[Part], list[Part]]]) -> Kind:
        elements = [e for e, _, _ in members]
        first = elements[0]

        def merged(which: int) -> tuple[Part, ...]:
            columns = zip(*(member[which] for member in members), strict=True)
            return tuple(_merged(parts) for parts in columns)

        in_core = first in self.core
        above = [self.above[e] for e in elements]
        unknowns, goes = [], []
        for e in elements:
            blocks = [] if in_core else [e, *self.homes[e]]
            unknowns.append([place for block in blocks for place in self._places(block)])
            goes.append(
                [place for block in self._border(e) for place in self._destination(e, block)]
            )
        port = self.parent[first] != GROUND
        to_inner = not in_core and above[0] != GROUND and above[0] not in self.core
        to_core = port and above[0] in self.core
        return Kind(
            group=int(self.group[first]),
            rows=self.row[elements],
            own=merged(1),
            riders=merged(2),
            port=port,
            unknowns=_table(unknowns),
            sample=np.array([self.structure.attach[e] for e in elements]),
            parent=np.array([self.slot[a] for a in above] if to_inner else [], dtype=int),
            goes=_table(goes),
            core_goes=_table([self._in_core(a) for a in above] if to_core else []),
        )

    def _border(self, e: int) -> list[int]:
        """Blocks of a front that go on: the riders, in the core after the element itself.

        What leads to a core element directly is in the front that it comes from.
        """
        if e not in self.core:
            return self.riders[e]
        return [e, *sorted(b for b in self.touched[e] if self.target[b - self.count] != e)]

    def _in_core(self, block: int) -> list[int]:
        start = self.core_start[block]
        return list(range(start, start + self._size(block)))

    def _destination(self, e: int, block: int) -> list[int]:
        """Places of a rider of e in the parent's front, or in the core."""
        above = self.above[e]
        if e in self.core or above == GROUND or above in self.core:
            return self._in_core(block)
        if block in self.homes[above]:
            before = self.homes[above][: self.homes[above].index(block)]
            start = int(self.width[above]) + self._size_of(before)
        else:
            riders = self.riders[above]
            start = self.padded + 6 + self._size_of(riders[: riders.index(block)])
        return list(range(start, start + self._size(block)))

    def _used(self) -> tuple[tuple[int, ...], ...]:
        """Samples of an element, for each group, that something hangs on or touches."""
        touched = [t.sample for link in self.links for t in link.touches if t.sample >= 0]
        samples = np.unique([s for s in (*self.structure.attach, *touched) if s != GROUND])
        used, start = [], 0
        for count, _, points in self.structure.sizes:
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
