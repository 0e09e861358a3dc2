"""In which order a robot's linear systems are eliminated: found once, from the structure of the robot alone.

Unknowns are the coordinates of the elements and those of :mod:`links <supple.system.links>`. Every
element has a *front*: a small dense matrix whose own unknowns (its coordinates, and the links that end
here) are eliminated, leaving a contribution between the unknowns of its border. A border holds

- a *port* to the parent element, through which the parent's motion enters and a wrench leaves;
- *riders*: links that end elsewhere, and the coordinates of core elements that links lead to.

Elements are eliminated from the leaves of the tree to its roots. Fronts without children are one batch
for each kind; the others follow each other tick by tick. What no tree can eliminate by itself (floating
plates and junctions that loops lead to, links between trees) is the *core*, which is solved last.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.system.core import CoreLayout
from supple.system.links import Link
from supple.system.lu import COORDINATE, MULTIPLIER, UNIT


class Structure(NamedTuple):
    """What a plan depends on: hashable, without any number of the robot."""

    parent: tuple[int, ...]
    attach: tuple[int, ...]
    sizes: tuple[tuple[int, int, int], ...]
    """Elements, coordinates an element and samples an element of each group."""
    links: tuple[Link, ...]
    equations: int

    @property
    def nv(self) -> int:
        """Number of coordinates."""
        return sum(count * width for count, width, _ in self.sizes)


@dataclass(frozen=True)
class Part:
    """One part of the fronts of a kind: unknowns of a link, or the coordinates of a core element.

    Links that touch the element add rows and columns; ``touches`` says in which ways they do.
    """

    size: int
    family: str
    """``element``, or that of the link."""
    index: np.ndarray
    """(n,) which core element, or which link."""
    touches: tuple[str, ...] = ()
    """Ways of the touches, ..."""
    which: np.ndarray | None = None
    """(n, touches) ... and which of their links' touches they are."""
    core_part: int = -1
    """The place of the core element that the link leads to directly among the riders, ..."""
    core_touch: np.ndarray | None = None
    """(n,) ... and which touches of the links do."""
    extras: tuple[int, ...] = ()
    """Unknowns that are not multipliers of equations, the last ones."""

    @property
    def extra(self) -> int:
        """Number of these."""
        return sum(self.extras)

    @property
    def layout(self) -> object:
        """What must be the same in all fronts of a kind."""
        return self.size, self.family, self.touches, self.core_part, self.extras


@dataclass(frozen=True, eq=False)
class Kind:
    """Fronts of one layout, computed as one batch of n."""

    group: int
    rows: np.ndarray
    """(n,) their elements, as rows of the group."""
    own: tuple[Part, ...]
    riders: tuple[Part, ...]
    port: bool
    unknowns: np.ndarray
    """(n, p) places of their own unknowns among all."""
    sample: np.ndarray
    """(n,) flat samples of the parents that they hang on, or GROUND."""
    parent: np.ndarray
    """(n,) slots of their parents' fronts; empty if these are in the core, or there are none."""
    goes: np.ndarray
    """(n, riding) places of the riders in the parent's front: own unknowns, port, riders; or in the core."""
    core_goes: np.ndarray
    """(n, width) places in the core of the coordinates of the parents in it; empty otherwise."""

    @property
    def count(self) -> int:
        """Number of fronts."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """Coordinates of each element."""
        return self.own_size - sum(part.size for part in self.own)

    @property
    def sorts(self) -> np.ndarray:
        """(own_size,) what each own unknown is."""
        found = [np.full(self.width, COORDINATE)]
        for part in self.own:
            found.append(np.full(part.size - part.extra, MULTIPLIER))
            found.append(np.full(part.extra, UNIT))
        return np.concatenate(found)

    @property
    def own_size(self) -> int:
        """Unknowns that are eliminated in each."""
        return self.unknowns.shape[1]

    @property
    def riding(self) -> int:
        """Unknowns that ride along in each."""
        return sum(part.size for part in self.riders)


@dataclass(frozen=True, eq=False)
class Schedule:
    """Fronts with children, in slots: ``ticks`` batches of ``width``, padded to one layout."""

    kinds: tuple[Kind, ...]
    slots: np.ndarray
    """Slot of each front of the kinds, one after the other."""
    parent: np.ndarray
    """(slots,) slot of the parent's front; the number of slots for none."""
    ticks: int
    width: int
    own: int
    sorts: np.ndarray
    """(slots, own) what each own unknown is."""
    riding: int

    @property
    def count(self) -> int:
        """Number of slots."""
        return self.ticks * self.width


@dataclass(frozen=True, eq=False)
class Plan:
    """The order of elimination."""

    structure: Structure
    leaves: tuple[Kind, ...]
    inner: Schedule
    core: tuple[Kind, ...]
    """Core elements, whose coordinates go to the core as they are."""
    core_unknowns: np.ndarray
    """Places of the core's unknowns among all."""
    core_layout: CoreLayout
    core_links: np.ndarray
    """Links that are in the core, ..."""
    core_start: np.ndarray
    """... and where each begins there."""
    unknowns: int
    """Coordinates, equations, wrenches and efforts together."""
    used: tuple[tuple[int, ...], ...]
    """Samples of an element, for each group, that something hangs on or touches."""
    extras: tuple[tuple[int, ...], ...]
    """Unknowns of each link that are not multipliers of equations."""

    @property
    def sorts(self) -> np.ndarray:
        """What each unknown is."""
        of = self.structure
        counts = of.nv, of.equations, self.unknowns - of.nv - of.equations
        return np.repeat((COORDINATE, MULTIPLIER, UNIT), counts)
