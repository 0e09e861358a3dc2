"""How finely rods are resolved: corners known from the description, first choices, richer and finer ones.

All of it is functions from descriptions to descriptions. A rod whose ``basis`` is "auto" gets Legendre modes,
on several pieces where its strain is known to jump; a richer rod spans what the rod before did, and more, so
that a solution can be carried over exactly and judged there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from supple.robot.actuators import Chamber, Tendon
from supple.robot.items import Closure, Connection, Rod
from supple.robot.loads import Wrench
from supple.space.grid import NODES_PER_RADIAN, nodes_needed
from supple.strain import STRAINS, Legendre, PiecewiseLegendre
from supple.strain.basis import AbstractBasis

SIZES = (2, 3, 4, 6, 9, 13, 19, 28)
"""Modes of one strain on one piece: few numbers, so that compiled programs are used again."""
MOST_CORNERS = 4
"""Corners that a first choice takes for ends of pieces; where there are more, modes are tried first."""
NEAR = 1e-6
"""Fractions nearer than this are one."""
MOST_OPEN = 160
"""Modes of one strain of a rod that refinement stops at."""
COARSER = 0.7
"""Share of its modes that a coarser rod has."""
STRAIGHT = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
"""Strains of a straight rest shape."""
NODE_ROUND = 6
"""Nodes for windings are added by so many."""


@dataclass(frozen=True)
class Corners:
    """Fractions of a rod where its strain is not smooth: where it may ``jump``, or only ``bend``."""

    jumps: frozenset[float] = frozenset()
    bends: frozenset[float] = frozenset()


def corners_of(items: Iterable[Any]) -> dict[str, Corners]:
    """Corners of rods by name: ends of tendons and chambers, point loads, what hangs on them."""
    items = tuple(items)
    rods = {item.name for item in items if isinstance(item, Rod)}
    jumps: dict[str, set[float]] = {name: set() for name in rods}
    bends: dict[str, set[float]] = {name: set() for name in rods}

    def note(rod: Any, fraction: Any, *, jump: bool) -> None:
        if rod in rods and NEAR < float(fraction) < 1.0 - NEAR:
            (jumps if jump else bends)[rod].add(round(float(fraction), 6))

    for item in items:
        if isinstance(item, Tendon):
            note(item.items[0], item.start, jump=True)
            note(item.items[-1], item.end, jump=True)
            if item.discs is not None:
                last = item.end if len(item.items) == 1 else 1.0
                for place in item.stops(item.start, last):
                    note(item.items[0], place, jump=False)
        elif isinstance(item, Chamber):
            note(item.on, item.start, jump=True)
            note(item.on, item.end, jump=True)
        elif isinstance(item, Wrench):
            turning = np.any(np.asarray(item.moment) != 0) or np.any(np.asarray(item.position) != 0)
            note(item.on, item.fraction, jump=bool(turning))
        else:
            hung = isinstance(item, Rod | Closure | Connection)
            place = "parent" if hasattr(item, "parent") else "on"
            note(getattr(item, place, None), getattr(item, "fraction", 1.0), jump=hung)
            note(getattr(item, "to", None), getattr(item, "to_fraction", 1.0), jump=hung)
    return {name: Corners(frozenset(jumps[name]), frozenset(bends[name])) for name in rods}


def is_open(rod: Rod) -> bool:
    """Whether a rod leaves the choice of its modes to us."""
    return isinstance(rod.basis, str) and rod.basis == "auto"


def open_rods(robot: Any) -> frozenset[str]:
    """Names of the rods of a robot whose modes we choose, and may refine."""
    return frozenset(
        item.name
        for item in robot.items
        if isinstance(item, Rod) and is_open(item) and not item.slides
    )


def each_rod(
    choose: Callable[[Rod, float], Rod],
) -> Callable[[Sequence[Any], float], tuple[Any, ...]]:
    """A choice for items from one that looks at each rod alone."""

    def chosen(items: Sequence[Any], accuracy: float) -> tuple[Any, ...]:
        return tuple(choose(i, accuracy) if isinstance(i, Rod) else i for i in items)

    return chosen


def resolved_items(items: Sequence[Any], accuracy: float) -> tuple[Any, ...]:
    """The items with all "auto" choices of rods made for an accuracy."""
    if not any(isinstance(item, Rod) and is_open(item) for item in items):
        return each_rod(Rod.settled)(items, accuracy)
    known = corners_of(items)
    return tuple(
        _first_choice(item, known[item.name], accuracy) if isinstance(item, Rod) else item
        for item in items
    )


def _first_choice(rod: Rod, corners: Corners, accuracy: float) -> Rod:
    chosen = rod.settled(accuracy)
    if not is_open(rod) or rod.slides:
        return chosen
    places = set(rod.breaks) | (corners.jumps if len(corners.jumps) <= MOST_CORNERS else set())
    if not places:
        return chosen
    edges = (0.0, *sorted(places), 1.0)
    # A short piece is smoother than a long one: fewer modes on it tell as much.
    shares = [(1 + 2 * (b - a)) / 3 for a, b in pairwise(edges)]
    assert isinstance(chosen.basis, Mapping)
    bases = {
        name: PiecewiseLegendre(
            tuple(int(np.ceil(_modes(basis) * share)) - 1 for share in shares), edges[1:-1]
        )
        for name, basis in chosen.basis.items()
    }
    return replace(chosen, basis=bases)


def _modes(basis: AbstractBasis | int | str) -> int:
    assert not isinstance(basis, str)  # names are resolved before
    return basis if isinstance(basis, int) else basis.count


def bases_of(rod: Rod) -> dict[str, AbstractBasis]:
    """Basis of each strain of a rod without open choices."""
    return {STRAINS[row]: basis for row, basis in rod.strain_field().components}


def orders_of(basis: AbstractBasis) -> tuple[int, ...]:
    """Highest order on each piece of a basis."""
    if isinstance(basis, PiecewiseLegendre):
        return basis.orders
    return (basis.degree,) * (len(basis.breaks) + 1)


def on_pieces(orders: Sequence[int], edges: Sequence[float]) -> AbstractBasis:
    """Legendre polynomials on pieces between edges, or on the whole rod where it is one piece."""
    if len(orders) == 1:
        return Legendre(int(orders[0]))
    return PiecewiseLegendre(tuple(int(o) for o in orders), tuple(edges[1:-1]))


def next_size(modes: int, at_least: int = 0) -> int:
    """The next size of the list that has a third more modes, or as many as asked for."""
    wanted = max(4 * modes / 3, at_least)
    return next((size for size in SIZES if size >= wanted), int(np.ceil(wanted)))


def richer(rod: Rod, corners: Corners, turn: float) -> Rod:
    """A rod that can take every shape of this one and more, with all corners known, and more nodes.

    ``turn`` is the angle (rad) by which its curvatures turn a smooth piece, at most.
    """
    bases = bases_of(rod)
    if not bases:
        return rod
    known = set(rod.breaks) | corners.jumps | corners.bends
    known |= {place for basis in bases.values() for place in basis.breaks}
    edges = (0.0, *sorted(known), 1.0)
    found = {}
    for name, basis in bases.items():
        before, orders = (0.0, *basis.breaks, 1.0), orders_of(basis)
        finer = []
        for a, b in pairwise(edges):
            own = orders[int(np.searchsorted(before, (a + b) / 2)) - 1]
            whole = a in before and b in before
            finer.append(next_size(own + 1) - 1 if whole else max(own, 2))
        found[name] = on_pieces(finer, edges)
    return with_nodes(replace(rod, basis=found, breaks=(), nodes=None), turn, rod.nodes)


def coarser(rod: Rod) -> Rod:
    """The rod with fewer modes on each of its pieces, and as many nodes less: a part of its shapes."""
    bases = bases_of(rod)
    if not bases:
        return rod
    field, found = rod.strain_field(), {}
    for name, basis in bases.items():
        orders = [max(0, int(np.ceil(COARSER * (order + 1))) - 1) for order in orders_of(basis)]
        found[name] = on_pieces(orders, (0.0, *basis.breaks, 1.0))
    fewer = replace(rod, basis=found)
    if rod.nodes is None:
        return fewer
    return replace(fewer, nodes=rod.nodes - (field.degree - fewer.strain_field().degree))


def as_data(robot: Any, names: Iterable[str]) -> dict[str, Any]:
    """How finely some rods of a robot without open choices are resolved, as plain data."""
    found = {}
    for name in sorted(names):
        rod = robot[name]
        bases = {
            strain: [list(orders_of(basis)), [0.0, *basis.breaks, 1.0]]
            for strain, basis in bases_of(rod).items()
        }
        model = rod.strains if isinstance(rod.strains, str) else list(rod.strains)
        found[name] = {
            "strains": model,
            "bases": bases,
            "nodes": rod.nodes,
            "breaks": list(rod.breaks),
        }
    return found


def from_data(robot: Any, data: Mapping[str, Any]) -> Any:
    """The robot with rods resolved as :func:`as_data` told."""
    rods = []
    for name, own in data.items():
        bases = {
            strain: on_pieces(orders, edges) for strain, (orders, edges) in own["bases"].items()
        }
        rod = replace(
            robot[name],
            strains=own["strains"],
            basis=bases,
            nodes=own["nodes"],
            breaks=tuple(own["breaks"]),
        )
        rods.append(rod)
    return robot.replacing(*rods)


def with_nodes(rod: Rod, turn: float, least: int | None = None) -> Rod:
    """The rod with the nodes that windings by ``turn`` (rad) a piece need, if they are more than usual."""
    extra = NODES_PER_RADIAN * max(0.0, turn - np.pi)
    if extra < 1.0 and least is None:
        return rod
    field = rod.strain_field()
    edges = tuple(sorted({0.0, *field.breaks, *rod.breaks, 1.0}))
    usual = nodes_needed(field, rod.rest, edges, rod.length, inside=True)
    count = usual + NODE_ROUND * int(np.ceil(extra / NODE_ROUND))
    return replace(rod, nodes=max(count, least or 0))


def with_own_nodes(rod: Rod) -> Rod:
    """The rod with its nodes named where they follow from numbers: from the turns of its rest shape."""
    if rod.nodes is not None:
        return rod
    field = rod.strain_field()
    edges = tuple(sorted({0.0, *field.breaks, *rod.breaks, 1.0}))
    straight = nodes_needed(field, STRAIGHT, edges, 0.0, inside=True)
    coiled = nodes_needed(field, rod.rest, edges, rod.length, inside=True)
    return rod if coiled == straight else replace(rod, nodes=coiled)
