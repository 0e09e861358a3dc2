"""Finer rods where an estimate says that they are needed: more modes, or more pieces.

A piece whose coefficients decay geometrically gets as many more modes as the decay asks for; one on which
they do not (a layer, a corner) is cut, nearer to the end at which the defect is. Rods that are alike are
refined alike, so that they stay one batch.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from supple.model.model import Model, RodGroup
from supple.robot.items import Rod
from supple.robot.resolution import (
    MOST_OPEN,
    SIZES,
    bases_of,
    next_size,
    on_pieces,
    orders_of,
    with_nodes,
)
from supple.robot.robot import Robot
from supple.run.space_error import Finer, grid_of, turns
from supple.strain import STRAINS, Legendre

SHARE = 0.1
"""Share of the largest indicator from which on a piece is refined."""
SMOOTH = 0.75
"""Ratio of successive coefficients up to which more modes are better than more pieces."""
SAFETY = 0.3
"""Share of the accuracy asked for at which refinement aims."""
ON_CUT = 13
"""Modes that a piece keeps, at most, when it is cut."""
MOST_MOVING = 80
"""Modes of one strain on a piece of a rod in motion beyond which it is cut."""
NEAR_END = 0.2
"""Share of a piece: what is missing nearer to an end is a layer there, also in motion."""
NARROWEST = 1e-4
"""Fraction of a rod below which pieces are not cut."""


@dataclass
class Piece:
    """A piece of a rod between two fractions: modes of each strain, and how much is missing."""

    start: float
    stop: float
    modes: dict[str, int]
    missing: dict[str, float]
    decay: dict[str, float]
    slope: dict[str, float]
    """Ratio of successive coefficients in the upper half: what the next ones are like."""
    middle: float
    """Where the defect is, from 0 (start) to 1 (stop)."""


def refined(
    robot: Robot, names: frozenset[str], finer: Finer, factor: float, *, moving: bool = False
) -> Robot | None:
    """The robot with the named rods refined, for an error ``factor`` times as large; None if that ends.

    ``moving`` rods are waves along their whole length: more modes are tried where at rest a cut would help.
    """
    alike: dict[object, list[str]] = {}
    known = pieces_of(robot, finer)
    for name in sorted(names & known.keys()):
        rod = robot[name]
        assert isinstance(rod, Rod)
        ends = tuple(piece.stop for piece in known[name])  # corners may differ where rods are alike
        alike.setdefault((rod.strain_field(), rod.nodes, tuple(rod.breaks), ends), []).append(name)
    wound = turns(finer.model, finer.corrected)
    pieces = {name: known[name] for own in alike.values() for name in own}
    worst = max(
        (max(piece.missing.values()) for own in pieces.values() for piece in own), default=0.0
    )
    changed = []
    for own in alike.values():
        joined = [_worst_of([pieces[name][k] for name in own]) for k in range(len(pieces[own[0]]))]
        found = [
            new
            for piece in joined
            for new in _finer(piece, SHARE * worst, SAFETY * factor, moving=moving)
        ]
        edges = (*(piece.start for piece in found), 1.0)
        strains = found[0].modes
        bases = {s: on_pieces([piece.modes[s] - 1 for piece in found], edges) for s in strains}
        if max(sum(piece.modes[s] for piece in found) for s in strains) > MOST_OPEN:
            return None
        for name in own:
            rod = robot[name]
            assert isinstance(rod, Rod)
            new = with_nodes(replace(rod, basis=bases, nodes=None), max(wound[n] for n in own))
            if new != rod:
                changed.append(new)
    return robot.replacing(*changed) if changed else None


def _worst_of(same: list[Piece]) -> Piece:
    """One piece of rods that are alike, with what is missing in any of them."""
    largest = max(same, key=lambda piece: max(piece.missing.values()))
    strains = largest.modes
    return replace(
        largest,
        missing={s: max(piece.missing[s] for piece in same) for s in strains},
        decay={s: max(piece.decay[s] for piece in same) for s in strains},
        slope={s: max(piece.slope[s] for piece in same) for s in strains},
    )


def _finer(piece: Piece, least: float, factor: float, *, moving: bool) -> list[Piece]:
    """The piece itself, with more modes, or cut in two."""
    short = [strain for strain, missing in piece.missing.items() if missing >= least > 0]
    if not short:
        return [piece]
    if moving and NEAR_END < piece.middle < 1 - NEAR_END:
        # Strains that drive each other are refined alike: what one lacks does not show without the other.
        growth = max(
            _modes_moving(piece.modes[s], piece.slope[s], factor) / piece.modes[s] for s in short
        )
        more = {s: int(np.ceil(growth * count)) for s, count in piece.modes.items()}
        if all(count <= MOST_MOVING for count in more.values()):
            return [replace(piece, modes=more)]
    wanted = {s: _modes_for(piece.modes[s], piece.decay[s], factor) for s in short}
    if all(count <= SIZES[-1] for count in wanted.values()):
        return [replace(piece, modes=piece.modes | wanted)]
    if piece.stop - piece.start < NARROWEST:
        return [replace(piece, modes={s: next_size(n) for s, n in piece.modes.items()})]
    near = piece.middle
    share = 0.5 if 0.3 <= near <= 0.7 else np.clip(2 * near, 0.15, 0.5)
    if near > 0.7:
        share = np.clip(2 * near - 1, 0.5, 0.85)
    cut = round(float(piece.start + share * (piece.stop - piece.start)), 6)
    kept = {s: min(count, ON_CUT) for s, count in piece.modes.items()}
    return [replace(piece, stop=cut, modes=kept), replace(piece, start=cut, modes=kept)]


def _modes_for(modes: int, decay: float, factor: float) -> int:
    """Modes with which what is left out is ``factor`` times as large; too many where it does not decay."""
    if decay > SMOOTH:
        return SIZES[-1] + 1
    more = np.log(min(factor, 1.0)) / np.log(max(decay, 1e-3))
    return next_size(modes, int(modes + np.ceil(more)))


def left_with(few: float | int, many: float | int, slope: float) -> float:
    """Error with many modes over that with few: the same strain of a higher order moves less."""
    return (few / many) ** 2 * min(slope, 1.0) ** (many - few)


def _modes_moving(modes: int, slope: float, factor: float) -> int:
    """The same for rods in motion, where coefficients decay slowly."""
    most = 2 * modes
    enough = (n for n in range(modes + 1, most) if left_with(modes, n, slope) <= factor)
    return min(next_size(modes, next(enough, most)), most)


def pieces_of(robot: Robot, finer: Finer) -> dict[str, list[Piece]]:
    """What is missing on each piece of each rod."""
    return {
        item.name: _pieces(robot, item.name, finer)
        for item in robot.items
        if isinstance(item, Rod) and item.strain_field().count
    }


def _pieces(robot: Robot, name: str, finer: Finer) -> list[Piece]:
    """Pieces of a rod, also where the richer one has an end of a piece that it has not."""
    rod = robot[name]
    assert isinstance(rod, Rod)
    slot = next(s for s in finer.model.topology.rod_slots if s.name == name)
    group = finer.model.groups[slot.group]
    assert isinstance(group, RodGroup)
    length = float(np.asarray(group.length)[slot.row])
    before, edges = (0.0, *rod.strain_field().breaks, 1.0), grid_of(group).edges
    modes = {
        strain: [orders_of(basis)[_place(before, a, b)] + 1 for a, b in pairwise(edges)]
        for strain, basis in bases_of(rod).items()
    }
    found = [
        Piece(a, b, {s: modes[s][i] for s in modes}, {}, {}, {}, 0.5)
        for i, (a, b) in enumerate(pairwise(edges))
    ]
    reach = _reach(finer.model)
    start, weights = 0, np.zeros((len(found), len(SAMPLES)))
    for strain, basis in group.grid.field.components:
        own = slice(slot.q_start + start, slot.q_start + start + basis.count)
        start += basis.count
        arm = length * (reach if STRAINS[strain].startswith("k") else 1.0)
        first = 0
        for i, order in enumerate(orders_of(basis)):
            part = slice(own.start + first, own.start + first + order + 1)
            first += order + 1
            scale = 1 / np.sqrt(2 * np.arange(order + 1) + 1)
            after = np.atleast_2d(finer.corrected)[:, part]
            defect = after - np.atleast_2d(finer.carried)[:, part]
            width = found[i].stop - found[i].start
            missing = arm * width * float(np.linalg.norm(defect * scale, axis=1).max())
            found[i].missing[STRAINS[strain]] = missing
            largest = np.abs(after).max(axis=0)
            found[i].decay[STRAINS[strain]] = _decay(largest * scale)
            found[i].slope[STRAINS[strain]] = _slope(largest)
            weights[i] += ((arm * Legendre(order).values(SAMPLES) @ defect.T) ** 2).sum(axis=1)
    for piece, weight in zip(found, weights, strict=True):
        total = weight.sum()
        piece.middle = float(SAMPLES @ weight / total) if total > 0 else 0.5
    return found


SAMPLES = (np.arange(64) + 0.5) / 64
"""Where on a piece the defect is looked at."""


def _place(edges: tuple[float, ...], a: float, b: float) -> int:
    return int(np.searchsorted(edges, (a + b) / 2)) - 1


def _decay(coefficients: np.ndarray) -> float:
    """Ratio of successive coefficients, by their envelope."""
    envelope = np.maximum.accumulate(np.abs(coefficients)[::-1])[::-1]
    last = len(envelope) - 2
    if last < 2 or envelope[0] == 0:
        return 0.5
    first = min(int(np.argmax(envelope < envelope[0])), last - 1)
    return float((max(envelope[last], 1e-300) / envelope[first]) ** (1 / (last - first)))


def _slope(coefficients: np.ndarray) -> float:
    """Ratio of successive coefficients in the upper half, by pairs: odd and even ones may differ."""
    pairs = np.maximum(coefficients[:-1], coefficients[1:])
    half = len(pairs) // 2
    if half < 1 or pairs[half - 1] == 0:
        return 0.5
    span = len(pairs) - half
    return float(min((max(pairs[-1], 1e-300) / pairs[half - 1]) ** (1 / span), 1.0))


def _reach(model: Model) -> float:
    """Length (m) of all rods: how far a turn of one of them may be felt."""
    groups = [group for group in model.groups if isinstance(group, RodGroup)]
    return float(sum(np.sum(np.asarray(group.length)) for group in groups))
