"""Where rods are cut: pieces between the places where things hang, segments of pieces, nodes of segments.

A *station* is a place of a rod beyond its start where something hangs, pulls or pushes, and its tip; it is a
free frame of the companion (:mod:`supple.shooting.companion`). The rod between two of them is a *piece*. Each
piece is shot in one or more *segments* of equally many steps.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Layout:
    """The cut rods; segments are numbered rod by rod."""

    names: tuple[str, ...]
    """Of the rods."""
    steps: int
    """Steps along each segment."""
    edges: tuple[tuple[float, ...], ...]
    """u of the ends of each rod's segments, from 0 to 1."""
    stations: tuple[tuple[float, ...], ...]
    """u of each rod's stations; the tip is the last."""

    @cached_property
    def rod(self) -> np.ndarray:
        """The rod of each segment."""
        return np.repeat(np.arange(len(self.names)), [len(e) - 1 for e in self.edges])

    @property
    def size(self) -> int:
        """Number of segments."""
        return len(self.rod)

    @cached_property
    def first(self) -> np.ndarray:
        """First segment of each rod; their number comes last."""
        return np.concatenate([[0], np.cumsum([len(e) - 1 for e in self.edges])])

    @cached_property
    def spans(self) -> np.ndarray:
        """Fractions at the two ends of each segment, (s, 2)."""
        return np.array([pair for e in self.edges for pair in pairwise(e)])

    @cached_property
    def nodes(self) -> np.ndarray:
        """Frame of each node, (s, steps + 1): neighbors on a rod share the one between them."""
        found = np.empty((self.size, self.steps + 1), dtype=int)
        start = 0
        for r in range(len(self.names)):
            count = self.first[r + 1] - self.first[r]
            own = start + np.arange(count * self.steps + 1)
            for k in range(count):
                found[self.first[r] + k] = own[k * self.steps : (k + 1) * self.steps + 1]
            start = own[-1] + 1
        return found

    @property
    def node_count(self) -> int:
        """Number of frames."""
        return int(self.nodes.max()) + 1

    @cached_property
    def fractions(self) -> np.ndarray:
        """U of the nodes, (s, steps + 1)."""
        a, b = self.spans[:, :1], self.spans[:, 1:]
        return a + (b - a) * np.linspace(0.0, 1.0, self.steps + 1)

    @cached_property
    def station_of_end(self) -> np.ndarray:
        """Station at the end of each segment, or -1 inside a piece."""
        found, count = np.full(self.size, -1), 0
        for r, places in enumerate(self.stations):
            for u in places:
                k = self.edges[r].index(u)
                found[self.first[r] + k - 1] = count
                count += 1
        return found

    @property
    def station_count(self) -> int:
        """Number of stations of all rods."""
        return sum(map(len, self.stations))

    @cached_property
    def station_nodes(self) -> np.ndarray:
        """Frame of each station."""
        ends = np.flatnonzero(self.station_of_end >= 0)
        return self.nodes[ends, -1]

    @cached_property
    def starts(self) -> np.ndarray:
        """First segment of each piece."""
        after = np.concatenate([[True], self.station_of_end[:-1] >= 0])
        return np.flatnonzero(after)

    @cached_property
    def ends(self) -> np.ndarray:
        """Last segment of each piece; its station has the same number."""
        return np.flatnonzero(self.station_of_end >= 0)

    @cached_property
    def inner(self) -> np.ndarray:
        """Segments that end inside a piece, and are followed by the next one."""
        return np.flatnonzero(self.station_of_end < 0)

    @cached_property
    def start_station(self) -> np.ndarray:
        """Station where each piece begins, or -1 at the start of a rod."""
        return np.array(
            [-1 if s in self.first else self.station_of_end[s - 1] for s in self.starts]
        )

    def station(self, rod: int, u: float) -> int:
        """Number of the station of a rod at u."""
        return sum(map(len, self.stations[:rod])) + self.stations[rod].index(u)


def cut(
    names: tuple[str, ...],
    stations: list[tuple[float, ...]],
    breaks: list[tuple[float, ...]],
    segments: int,
    steps: int,
) -> Layout:
    """Cut rods at their stations and breaks, and what is between into about equal segments."""
    edges = []
    for own, others in zip(stations, breaks, strict=True):
        marks = sorted({0.0, *own, *others, 1.0})
        found = [0.0]
        for a, b in pairwise(marks):
            count = max(1, round(segments * (b - a)))
            found += [a + (b - a) * k / count for k in range(1, count)] + [b]
        edges.append(tuple(found))
    return Layout(names, steps, tuple(edges), tuple(stations))
