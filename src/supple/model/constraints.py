"""The table of all equations beside the balance, each with a multiplier.

Their order in every vector of violations or multipliers is that of this table: closed loops, imposed
coordinates, imposed lengths and volumes, stops of joints, contacts that may not slip. Solvers see rows; what
a row is, whose it is and what its multiplier means is told here.

A *one-sided* equation holds in one direction only: its gap g is at most zero and its multiplier λ at least
zero, and one of them vanishes (a tendon that can only pull, a joint at its stop). A solve takes some of
them for active, g = 0, and the others for inactive, λ = 0; whoever asked for it looks afterwards whether that
was right (:mod:`supple.system.active_set`).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from supple.arrays import Array

CLOSURE, COORDINATE, LENGTH, STOP, CONTACT = "closure", "coordinate", "length", "stop", "contact"
"""What equations are: closed loops, imposed coordinates, imposed lengths or volumes, stops, no slip."""
COMPLIANCE = 1e-3
"""Meters that stand for a newton in an inactive equation, λ = 0; any number would do."""


class ActiveSet(NamedTuple):
    """Which of the one-sided equations are taken for active, and the gaps (m) that these keep.

    In a run an equation becomes active where its gap is nearly zero, and keeps what is left of it: to close
    it in the next step would be a jump.
    """

    held: Bool[Array, " k"]
    offset: Float[Array, " k"]


@dataclass(frozen=True)
class Constraints:
    """One row an equation."""

    kind: tuple[str, ...]
    owner: tuple[str, ...]
    """Whose equation it is, for messages: ``closure 'knee'``."""
    one_sided_rows: tuple[int, ...]
    """Rows that may be let go."""
    active_first: tuple[bool, ...]
    """Of these: whether a solve that knows nothing takes them for active."""

    @property
    def size(self) -> int:
        """Number of equations."""
        return len(self.kind)

    @cached_property
    def of_velocities(self) -> np.ndarray:
        """Whether each is an equation between velocities (m/s) instead of coordinates (m)."""
        return np.array([kind == CONTACT for kind in self.kind], dtype=bool)

    @cached_property
    def holonomic(self) -> int:
        """Number of equations between coordinates; they come first."""
        return self.size - int(np.sum(self.of_velocities))

    @cached_property
    def one_sided(self) -> np.ndarray:
        """Rows that may be let go, as an index."""
        return np.array(self.one_sided_rows, dtype=int)

    def rows(self, kind: str) -> slice:
        """The rows of one kind; they follow each other."""
        found = [row for row, own in enumerate(self.kind) if own == kind]
        return slice(found[0], found[-1] + 1) if found else slice(0, 0)


@lru_cache(maxsize=256)
def make_constraints(
    closures: tuple[str, ...],
    coordinates: tuple[str, ...],
    lengths: tuple[tuple[str, bool], ...],
    stops: tuple[str, ...],
    contacts: tuple[tuple[str, int], ...],
) -> Constraints:
    """The table of equations from whose they are.

    ``closures`` names the owner of each row; ``lengths`` says whether each can only pull, ``contacts`` how
    many rows each has.
    """
    kind: list[str] = []
    owner: list[str] = []

    def add(what: str, name: str) -> None:
        kind.append(what)
        owner.append(name)

    for name in closures:
        add(CLOSURE, f"closure {name!r}")
    for name in coordinates:
        add(COORDINATE, f"imposed coordinate {name!r}")
    first = len(kind)
    for name, _ in lengths:
        add(LENGTH, name)
    cables = [first + i for i, (_, pulls) in enumerate(lengths) if pulls]
    halts = range(len(kind), len(kind) + len(stops))
    for name in stops:
        add(STOP, f"stop of {name!r}")
    for name, size in contacts:
        for _ in range(size):
            add(CONTACT, f"contact {name!r}")
    active = (True,) * len(cables) + (False,) * len(halts)
    return Constraints(tuple(kind), tuple(owner), (*cables, *halts), active)
