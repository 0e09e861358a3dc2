"""Links: unknowns beside the coordinates, and the elements that they act between.

Every equation of a robot is one, with its multiplier; so are the forces of lines between elements, and
the efforts of transmissions that several elements know of. Here is what is known before any number is: which
places of the vector of unknowns they take and which elements they touch. What they add to the fronts is
in ``couplings``.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from supple.mechanics.driving import rubbing_channels, shared_corners
from supple.mechanics.transmission_layout import element_of, layout_of
from supple.model.constraints import CONTACT, COORDINATE, LENGTH, STOP
from supple.model.model import GROUND, Model

BETWEEN = ("line", "effort", "length")
"""Families of links by transmissions."""


@dataclass(frozen=True)
class Touch:
    """One side of a link: an element, and the flat sample that it touches, or -1 for its coordinates."""

    element: int
    sample: int = -1
    side: int = 0
    """0 for outer, 1 for inner samples."""
    part: int = -1
    """Of a transmission: the segment that ends here, or its slot in the element."""
    channel: int = -1
    """Of a transmission within the element: its channel with friction that others of it depend on."""

    @property
    def way(self) -> str:
        """How it touches: by a sample, by friction in a channel, or else by the element's coordinates."""
        if self.sample >= 0:
            return "end"
        return "rub" if self.channel >= 0 else "own"


@dataclass(frozen=True)
class Link:
    """Some unknowns: of which family, which of them, their places among all unknowns, and what they touch."""

    family: str
    """``closure``, ``coordinate`` or ``slip``; of transmissions ``line`` (the force of a segment between two
    elements), ``effort`` (of one that follows its coordinate, or rubs) or ``length`` (an imposed one)."""
    index: int
    """Which closing joint, imposed coordinate, contact, segment or transmission."""
    rows: tuple[int, ...]
    """Places behind the coordinates: equations in the model's order."""
    touches: tuple[Touch, ...]
    """For a closure the outer side, then the inner one; the ground is left out."""
    column: int = -1
    """For an imposed coordinate: its place in its element."""
    extras: tuple[int, ...] = ()
    """Unknowns without an equation of the model: the force of a line; or the effort, if it follows the
    coordinate, one for each corner with friction, two between channels with it."""

    @property
    def extra(self) -> int:
        """Number of unknowns without an equation."""
        return sum(self.extras)

    @property
    def elements(self) -> tuple[int, ...]:
        """Elements touched, each once."""
        return tuple(dict.fromkeys(touch.element for touch in self.touches))


def links_of(model: Model) -> tuple[Link, ...]:
    """All links of a robot."""
    return (*_closures(model), *_coordinates(model), *_slips(model), *_transmissions(model))


def sizes_of(model: Model) -> tuple[tuple[int, int, int], ...]:
    """Elements, coordinates an element and samples an element of each group."""
    return tuple((group.size, group.nv, group.samples) for group in model.groups)


def _closures(model: Model) -> list[Link]:
    closures = model.closures
    if closures.size == 0:
        return []
    samples = np.array([closures.outer_sample, closures.inner_sample])
    elements = element_of(sizes_of(model), samples)
    of = np.array(closures.joint_of_row)
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(len(closures.names) + 1))
    links = []
    for k in range(len(closures.names)):
        rows = tuple(order[bounds[k] : bounds[k + 1]].tolist())
        sides = tuple(side for side in (0, 1) if samples[side, k] != GROUND)
        touches = tuple(Touch(int(elements[s, k]), int(samples[s, k]), s) for s in sides)
        if rows and touches:
            links.append(Link("closure", k, rows, touches))
    return links


def _coordinates(model: Model) -> list[Link]:
    """Imposed coordinates, then stops."""
    table = model.constraints
    columns = np.array([*model.prescribed.v_index, *model.stops.v_index], dtype=int)
    places = [np.arange(table.size)[table.rows(kind)] for kind in (COORDINATE, STOP)]
    owner, place = coordinate_owner(model)
    return [
        Link("coordinate", i, (int(row),), (Touch(int(owner[k])),), column=int(place[k]))
        for i, (row, k) in enumerate(zip(np.concatenate(places), columns, strict=True))
    ]


def _slips(model: Model) -> list[Link]:
    links, row = [], model.constraints.rows(CONTACT).start
    for i, slip in enumerate(model.slips):
        element = int(element_of(sizes_of(model), [slip.sample])[0])
        rows = tuple(range(row, row + slip.size))
        links.append(Link("slip", i, rows, (Touch(element, slip.sample),)))
        row += slip.size
    return links


def coordinate_owner(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(nv,) the element of each coordinate, and its place there."""
    first = model.topology.element_start
    owners = [
        np.repeat(first[i] + np.arange(group.size), group.nv)
        for i, group in enumerate(model.groups)
    ]
    places = [np.tile(np.arange(group.nv), group.size) for group in model.groups]
    return np.concatenate(owners), np.concatenate(places)


def _transmissions(model: Model) -> list[Link]:
    """Segments between elements, then transmissions that several elements, or an equation, know of."""
    own = model.transmissions
    if own.size == 0:
        return []
    layout, segments = layout_of(model), own.segments
    sides = segments.outer_sample, segments.inner_sample
    elements = [element_of(sizes_of(model), side).tolist() for side in sides]
    of = np.array(segments.of, dtype=int)

    def ends(s: int) -> list[Touch]:
        both = ((elements[k][s], sides[k][s], k) for k in (0, 1))
        return [Touch(e, sample, side, s) for e, sample, side in both if e != GROUND]

    links = [Link("line", s, (), tuple(ends(s)), extras=(3,)) for s in layout.crossing.tolist()]
    corners, channels = shared_corners(model), rubbing_channels(model)
    turning: dict[int, int] = defaultdict(int)
    if segments.corners is not None:
        for c in corners.tolist():
            turning[int(of[segments.corners.arriving[c]])] += 1
    rubbing: dict[int, list[int]] = defaultdict(list)
    for channel in channels.tolist():
        rubbing[own.channels.of[channel]].append(channel)
    places = dict(zip(own.imposed.tolist(), range(own.size), strict=False))
    lines: dict[int, list[int]] = defaultdict(list)
    for s, i in enumerate(segments.of):
        lines[i].append(s)
    slots = _slots(model)
    alone = single_lines(model)
    for i in range(own.size):
        hinders = turning[i], 2 * max(len(rubbing[i]) - 1, 0)
        follows = bool(layout.followed[i]) and i not in alone
        if not (i in places or follows or any(hinders)):
            continue
        known = i in places or follows
        touches = []
        for e, slot, held in slots.get(i, []):
            if known and (held or not turning[i]):
                touches.append(Touch(e, part=slot))
            touches += [Touch(e, channel=c) for c in rubbing[i] if c in held]
        for s in lines[i]:
            if turning[i] or elements[0][s] != elements[1][s]:
                touches += ends(s)
        rows = (model.constraints.rows(LENGTH).start + places[i],) if i in places else ()
        family = "length" if rows else "effort"
        links.append(Link(family, i, rows, tuple(touches), extras=(int(follows), *hinders)))
    return links


def single_lines(model: Model) -> set[int]:
    """Transmissions that are one segment and nothing else: their effort is part of its force."""
    own = model.transmissions
    parts = Counter((*own.channels.of, *own.affine.of, *own.segments.of))
    return {i for i in own.segments.of if parts[i] == 1}


def _slots(model: Model) -> dict[int, list[tuple[int, int, tuple[int, ...]]]]:
    """For each transmission: elements within which it acts, its slots there, and its parts but lines."""
    found: dict[int, list[tuple[int, int, tuple[int, ...]]]] = defaultdict(list)
    own = model.transmissions
    parts = own.channels.size + own.affine.size
    for first, slots in zip(model.topology.element_start, layout_of(model).groups, strict=True):
        if slots is None:
            continue
        for row, slot in zip(*np.nonzero(slots.of >= 0), strict=True):
            held = tuple(k for k in slots.parts[row, slot].tolist() if k < parts)
            found[int(slots.of[row, slot])].append((first + int(row), int(slot), held))
    return found
