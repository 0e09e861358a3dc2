"""Where transmissions act: which parts are within one element, and which lie between several.

What a channel, an affine part or a segment between two points of one element does depends on that element's
own coordinates alone. Each element has a *slot* for every transmission with such parts on it; a
transmission with nothing else is the element's own affair. Known before any number is.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from supple.model.model import GROUND, Model
from supple.model.transmissions import Transmissions


@dataclass(frozen=True, eq=False)
class GroupSlots:
    """Transmissions within the b elements of a group: T slots, n parts a slot, S lines, C corners each.

    Places that an element does not use hold a number behind the last one of what they count.
    """

    of: np.ndarray
    """(b, T) transmission of each slot; -1 where there is none."""
    alone: np.ndarray
    """(b, T) whether it acts on this element alone."""
    parts: np.ndarray
    """(b, T, n) its channels, counted first, and affine parts."""
    channels: np.ndarray
    """(b, c) channels of each element."""
    lines: np.ndarray
    """(b, S) segments between two points of the element."""
    line_slot: np.ndarray
    """(b, S) their slots."""
    inner: np.ndarray
    """(b, S) their samples, as the element counts them."""
    outer: np.ndarray
    corners: np.ndarray
    """(b, C) corners at which transmissions that act on this element alone rub, ..."""
    arriving: np.ndarray
    """(b, C) ... and the lines before and after them, as the element counts them."""
    leaving: np.ndarray


@dataclass(frozen=True, eq=False)
class Layout:
    """Slots of all groups, and what lies between elements."""

    groups: tuple[GroupSlots | None, ...]
    crossing: np.ndarray
    """Segments between two elements."""
    grounded: np.ndarray
    """Segments between an element and the ground."""
    tied: np.ndarray
    """Those of them that are all there is of their transmission: forces on one sample."""
    alone: np.ndarray
    """(k,) whether a transmission acts within one element, ..."""
    followed: np.ndarray
    """(k,) ... or whether it acts on several and its effort follows its coordinate."""


def layout_of(model: Model) -> Layout:
    """The layout of a model."""
    own = model.transmissions
    sizes = tuple((group.size, group.nv, group.samples) for group in model.groups)
    corners = own.segments.corners
    return _layout(
        sizes,
        own.size,
        (own.channels.of, own.affine.of, own.segments.of),
        (own.channels.spans, own.affine.spans),
        (own.segments.inner_sample, own.segments.outer_sample),
        () if corners is None else corners.arriving,
        () if own.channels.rubbing is None else own.channels.rubbing.which,
        tuple(own.imposed.tolist()),
        followers(own),
    )


def followers(own: Transmissions) -> tuple[int, ...]:
    """Transmissions whose effort follows their coordinate."""
    pairs = zip(own.efforts, own.members, strict=True)
    return tuple(sorted(i for effort, members in pairs if effort.follows for i in members))


def element_of(sizes: tuple[tuple[int, int, int], ...], samples: Any) -> np.ndarray:
    """The element of each flat sample; GROUND for the ground."""
    counts = np.array([count * points for count, _, points in sizes])
    return _find(counts, np.array([points for _, _, points in sizes]), sizes, samples)


def owner_of(sizes: tuple[tuple[int, int, int], ...], coordinates: Any) -> np.ndarray:
    """The element of each velocity coordinate."""
    counts = np.array([count * width for count, width, _ in sizes])
    return _find(counts, np.array([width for _, width, _ in sizes]), sizes, coordinates)


def _find(
    counts: np.ndarray,
    each: np.ndarray,
    sizes: tuple[tuple[int, int, int], ...],
    numbers: Any,
) -> np.ndarray:
    numbers = np.array(numbers, dtype=int)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    first = np.concatenate([[0], np.cumsum([count for count, _, _ in sizes])[:-1]])
    group = np.searchsorted(starts, np.maximum(numbers, 0), side="right") - 1
    found = first[group] + (numbers - starts[group]) // np.maximum(each[group], 1)
    return np.where(numbers < 0, GROUND, found).astype(int)


@lru_cache(maxsize=64)
def _layout(
    sizes: tuple[tuple[int, int, int], ...],
    count: int,
    of: tuple[tuple[int, ...], ...],
    spans: tuple[tuple[tuple[int, int], ...], ...],
    samples: tuple[tuple[int, ...], tuple[int, ...]],
    arriving: tuple[int, ...],
    rubbing: tuple[bool, ...],
    imposed: tuple[int, ...],
    followed: tuple[int, ...],
) -> Layout:
    of_parts = (*of[0], *of[1])
    on_parts = owner_of(sizes, [first for first, _ in (*spans[0], *spans[1])]).tolist()
    inner, outer = (element_of(sizes, side) for side in samples)
    grounded = (inner == GROUND) | (outer == GROUND)
    within = inner == outer
    touched: list[set[int]] = [set() for _ in range(count)]
    parts = np.zeros(count, dtype=int)
    between = np.zeros(count, dtype=bool)
    for i, e in zip(of_parts, on_parts, strict=True):
        touched[i].add(e)
        parts[i] += 1
    for s, i in enumerate(of[2]):
        touched[i] |= {int(inner[s]), int(outer[s])} - {GROUND}
        parts[i] += 1
        between[i] |= not within[s]
    # A tendon that rubs in two channels of one rod is a matter between them.
    for i in {i for i, rubs in zip(of[0], rubbing, strict=False) if rubs}:
        between[i] |= sum(j == i for j in of[0]) > 1
    alone = np.array([len(own) == 1 for own in touched], dtype=bool) & ~between
    free = ~np.isin(np.arange(count), imposed)
    of_lines = np.array(of[2], dtype=int)
    tied = grounded & (parts[of_lines] == 1) & free[of_lines]
    follows = np.isin(np.arange(count), followed) & ~alone
    follows[of_lines[tied]] = False

    slots = _Slots(sizes, of_parts, on_parts, len(of[0]), alone)
    for s in np.flatnonzero(within).tolist():
        slots.add_line(s, of[2][s], int(inner[s]), samples[0][s], samples[1][s])
    for c, s in enumerate(arriving):
        if alone[of[2][s]]:
            slots.add_corner(c, s, int(inner[s]))
    return Layout(
        slots.tables(),
        np.flatnonzero(~within & ~grounded),
        np.flatnonzero(grounded),
        np.flatnonzero(tied),
        alone,
        follows,
    )


class _Slots:
    """Lists for each element, made into tables at the end."""

    def __init__(
        self,
        sizes: tuple[tuple[int, int, int], ...],
        of: tuple[int, ...],
        on: list[int],
        channels: int,
        alone: np.ndarray,
    ) -> None:
        self.sizes, self.alone, self.none = sizes, alone, (len(of), channels)
        self.slots: dict[int, list[int]] = defaultdict(list)
        self.parts: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.channels: dict[int, list[int]] = defaultdict(list)
        self.lines: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
        self.corners: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for part, (i, e) in enumerate(zip(of, on, strict=True)):
            self.parts[e][self._slot(e, i)].append(part)
            if part < channels:
                self.channels[e].append(part)

    def _slot(self, e: int, i: int) -> int:
        if i not in self.slots[e]:
            self.slots[e].append(i)
        return self.slots[e].index(i)

    def add_line(self, s: int, i: int, e: int, inner: int, outer: int) -> None:
        self.lines[e].append((s, self._slot(e, i), inner, outer))

    def add_corner(self, c: int, arriving: int, e: int) -> None:
        listed = [s for s, *_ in self.lines[e]]
        self.corners[e].append((c, listed.index(arriving)))

    def tables(self) -> tuple[GroupSlots | None, ...]:
        found: list[GroupSlots | None] = []
        first = sample = 0
        for count, _, points in self.sizes:
            elements = range(first, first + count)
            found.append(self._group(elements, sample, points))
            first, sample = first + count, sample + count * points
        return tuple(found)

    def _group(self, elements: range, sample: int, points: int) -> GroupSlots | None:
        count = max((len(self.slots[e]) for e in elements if e in self.slots), default=0)
        if count == 0:
            return None
        of = _table([self.slots.get(e, []) for e in elements], -1)
        listed = [
            [self.parts[e][k] if e in self.parts else [] for k in range(count)] for e in elements
        ]
        most = max(len(parts) for row in listed for parts in row)
        parts = [parts + [self.none[0]] * (most - len(parts)) for row in listed for parts in row]
        lines = [self.lines.get(e, []) for e in elements]
        starts = [sample + k * points for k in range(len(elements))]
        corners = [self.corners.get(e, []) for e in elements]
        return GroupSlots(
            of=of,
            alone=(of >= 0) & self.alone[np.maximum(of, 0)],
            parts=np.array(parts, dtype=int).reshape(len(elements), count, most),
            channels=_table([self.channels.get(e, []) for e in elements], self.none[1]),
            lines=_table([[line[0] for line in row] for row in lines], -1),
            line_slot=_table([[line[1] for line in row] for row in lines], 0),
            inner=_table(
                [[line[2] - k for line in row] for row, k in zip(lines, starts, strict=True)], 0
            ),
            outer=_table(
                [[line[3] - k for line in row] for row, k in zip(lines, starts, strict=True)], 0
            ),
            corners=_table([[corner[0] for corner in row] for row in corners], -1),
            arriving=_table([[corner[1] for corner in row] for row in corners], 0),
            leaving=_table([[corner[1] + 1 for corner in row] for row in corners], 0),
        )


def _table(lists: list[list[int]], none: int) -> np.ndarray:
    """Lists as rows of one length."""
    width = max((len(row) for row in lists), default=0)
    rows = [row + [none] * (width - len(row)) for row in lists]
    return np.array(rows, dtype=int).reshape(len(lists), width)
