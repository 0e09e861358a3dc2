"""Links: unknowns beside the coordinates, and the elements that they act between.

Every equation of a robot is one, with its multiplier. Here is what is known before any number is: which
places of the vector of unknowns they take and which elements they touch. What they add to the fronts is
in ``couplings``.
"""

from dataclasses import dataclass

import numpy as np

from supple.model.constraints import CONTACT, COORDINATE, STOP
from supple.model.model import GROUND, Model


@dataclass(frozen=True)
class Touch:
    """One side of a link: an element, and the flat sample that it touches, or -1 for its coordinates."""

    element: int
    sample: int = -1


@dataclass(frozen=True)
class Link:
    """Some unknowns: of which family, which of them, their places among all unknowns, and what they touch."""

    family: str
    """``closure``, ``coordinate`` or ``slip``."""
    index: int
    """Which closing joint, imposed coordinate, contact."""
    rows: tuple[int, ...]
    """Places behind the coordinates: equations in the model's order."""
    touches: tuple[Touch, ...]
    """For a closure the outer side, then the inner one; the ground is left out."""
    sides: tuple[int, ...] = ()
    """For a closure: 0 for outer, 1 for inner sides, as many as touches."""
    column: int = -1
    """For an imposed coordinate: its place in its element."""

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.rows)

    @property
    def elements(self) -> tuple[int, ...]:
        """Elements touched, each once."""
        return tuple(dict.fromkeys(touch.element for touch in self.touches))


def links_of(model: Model) -> tuple[Link, ...]:
    """All links of a robot."""
    return (*_closures(model), *_coordinates(model), *_slips(model))


def element_of(model: Model, samples: np.ndarray) -> np.ndarray:
    """The element of each flat sample; GROUND for the ground."""
    starts = np.array(model.topology.sample_start)
    counts = np.array([group.samples for group in model.groups])
    first = np.array(model.topology.element_start)
    group = np.searchsorted(starts, np.maximum(samples, 0), side="right") - 1
    found = first[group] + (samples - starts[group]) // counts[group]
    return np.where(samples == GROUND, GROUND, found)


def _closures(model: Model) -> list[Link]:
    closures = model.closures
    if closures.size == 0:
        return []
    samples = np.array([closures.outer_sample, closures.inner_sample])
    elements = element_of(model, samples)
    of = np.array(closures.joint_of_row)
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(len(closures.names) + 1))
    links = []
    for k in range(len(closures.names)):
        rows = tuple(order[bounds[k] : bounds[k + 1]].tolist())
        sides = tuple(side for side in (0, 1) if samples[side, k] != GROUND)
        touches = tuple(Touch(int(elements[s, k]), int(samples[s, k])) for s in sides)
        if rows and touches:
            links.append(Link("closure", k, rows, touches, sides))
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
        element = int(element_of(model, np.array([slip.sample]))[0])
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
