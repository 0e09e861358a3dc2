"""Where every unknown is eliminated: which elements are the core, where links end, what rides along.

A block is a number: of an element, for its coordinates, or beyond these of a link, for its unknowns.
"""

from collections import defaultdict
from heapq import heapify, heappop, heappush

import numpy as np

from supple.model.model import GROUND
from supple.system.links import BETWEEN, Link
from supple.system.plan import Structure

LATE_ROWS = 64
"""Equations that may wait as long as they can: the later they are eliminated, the better their pivots."""
WRENCH = 6
"""Unknowns of a closure between two elements of which neither is in the core: the wrench that it carries."""


class Ordering:
    """Where every unknown of a robot is eliminated; forgotten when the plan is made."""

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
        self.core = self._core_elements()
        self._hang_up()
        self._place_links()
        self.riders = self._riders()
        self.homes: dict[int, list[int]] = defaultdict(list)
        for i, home in enumerate(self.home):
            if home != GROUND:
                self.homes[home].append(self.count + i)

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

    def size(self, block: int) -> int:
        """Unknowns of a block."""
        if block < self.count:
            return int(self.width[block])
        i = block - self.count
        return len(self.links[i].rows) + sum(self.extras[i])

    def size_of(self, blocks: list[int]) -> int:
        return sum(self.size(block) for block in blocks)

    def places(self, block: int) -> list[int]:
        """Places of a block's unknowns among all."""
        if block < self.count:
            return list(range(self.first[block], self.first[block] + self.width[block]))
        i = block - self.count
        places = [self.structure.nv + row for row in self.links[i].rows]
        first = self.extra_start[i]
        return places + list(range(first, first + sum(self.extras[i])))
