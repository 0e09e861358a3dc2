"""The equations of closing joints that a robot needs: those that the others do not fulfil already.

Two kinds are left out: those that no coordinate can violate (a planar loop described in space), and those
that follow from the others wherever loops are closed (a door on two hinges). Both show in the rank of the
Jacobian at closed configurations, found from random starts: at random places, so that a singularity is not
taken for structure.

Places and lengths matter (a fifth bar of a parallelogram is redundant if it is as long and parallel), so
nothing is remembered from robot to robot; the question is kept small instead. Each loop is first closed
alone, which shows what it needs of itself. If coordinates that no other loop has can fulfil that, those of an
elastic leg for instance, the joint needs it and has no say in the rest: it can follow wherever the others put
its ends. Such joints are taken away, which frees coordinates for others, until none is left to take. What
remains is solved part by part, a part being loops that share coordinates.
"""

from collections.abc import Callable, Container
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import jax
import numpy as np
import scipy  # its parts load when they are used

from supple.errors import DescriptionError
from supple.model.model import Model, RodGroup
from supple.numeric import is_traced
from supple.robot.loops import ROWS, Lie, Loops, loops_of, retracted

SPREADS = (0.1, 0.4)
"""Sizes of random starts: first near the described shape, because what is redundant may differ elsewhere."""
DRAWS = 4
ALONE = 1e-5
"""Smallest singular value, over the largest entry, of equations that a joint can fulfil alone: far from the
:data:`RANK` of dependent ones, so that nothing near singular is decided without the other loops."""
RANK = 1e-7
STEPS, STEPS_ALONE = 60, 20
"""Iterations before loops count as not to be closed: together, and alone, where failing costs nothing."""


def without_redundancy(model: Model) -> Model:
    """The model with only the equations that the others do not fulfil already.

    Where loops cannot be closed only equations are left out that no coordinate can violate.
    """
    known = _without_tracers(model)
    if known is None:
        return model
    # A thread of its own computes with numbers also while a function of the description is being traced here.
    with ThreadPoolExecutor(1) as thread:
        keep = thread.submit(needed_rows, known, raises=not is_traced(model)).result()
    c = model.closures
    if len(keep) == c.size:
        return model
    rows, left = np.array(keep, dtype=int), sorted(set(range(c.size)) - set(keep))
    reduced = replace(
        c,
        turning=c.turning[rows],
        shift=c.shift[rows],
        value=c.value[rows],
        joint_of_row=tuple(c.joint_of_row[i] for i in keep),
        dropped=tuple(f"{c.names[c.joint_of_row[i]]}: equation {i}" for i in left),
    )
    return replace(model, closures=reduced)


def _without_tracers(model: Model) -> Model | None:
    """The model with ordinary numbers for traced ones; None where places are traced.

    While a function of lengths, stiffnesses and masses is being compiled, any will do.
    """
    c = model.closures
    if is_traced((model.offsets, c.inner, c.outer, c.turning, c.shift, c.value)):
        return None
    return jax.tree.map(lambda leaf: np.ones(leaf.shape) if is_traced(leaf) else leaf, model)


def needed_rows(model: Model, *, raises: bool) -> list[int]:
    """Numbers of the equations to keep, sorted; ``raises`` if frames cannot meet."""
    draws = np.random.default_rng(0).normal(size=(DRAWS, model.nv)) * np.asarray(model.scale)
    every = loops_of(model, tuple(range(len(model.closures.names))))
    free = _free_of_others(every, _closed_alone(every, draws))
    keep = [every.rows[k][row] for k, rows in free.items() for row in rows]
    for part in _parts(every, set(every.closures) - free.keys()):
        keep += _needed_in(loops_of(model, part), draws, raises=raises)
    return sorted(int(row) for row in keep)


@dataclass(frozen=True)
class Holders:
    """Whose coordinates the steps of some loops take: by group the elements, and the holder of each step."""

    loops: Loops
    elements: list[np.ndarray]
    of_step: list[np.ndarray]
    of_visit: list[np.ndarray]

    @cached_property
    def v_index(self) -> list[np.ndarray]:
        """By group: (holders, nv) places of their coordinates in the model's velocities."""
        model = self.loops.model
        found = []
        for g, (group, elements) in enumerate(zip(model.groups, self.elements, strict=True)):
            start = model.topology.v_start[g]
            first = start + (elements - model.topology.element_start[g]) * group.nv
            found.append(first[:, None] + np.arange(group.nv))
        return found

    def started(self, draw: np.ndarray) -> list[np.ndarray]:
        """Configurations moved by a draw from the described shape."""
        model = self.loops.model
        neutral = [
            np.tile(np.zeros(g.nq) if isinstance(g, RodGroup) else g.joint.neutral(), (len(own), 1))
            for g, own in zip(model.groups, self.elements, strict=True)
        ]
        return self.moved(neutral, [draw[index] for index in self.v_index])

    def moved(self, q: list[np.ndarray], x: list[np.ndarray]) -> list[np.ndarray]:
        """Configurations moved by local coordinates."""
        model = self.loops.model
        return [retracted(model, g, self.elements[g], q[g], x[g]) for g in range(len(q))]

    def at(self, q: list[np.ndarray]) -> Lie:
        """How the loops lie, with derivatives in units of the model's scale."""
        lie = self.loops.at(q, self.of_step)
        return lie._replace(
            blocks=[
                block * self.scales[g][holder][:, None, :]
                for g, (block, holder) in enumerate(zip(lie.blocks, self.of_visit, strict=True))
            ]
        )

    @cached_property
    def scales(self) -> list[np.ndarray]:
        """By group: (holders, nv) units of their coordinates."""
        scale = np.asarray(self.loops.model.scale)
        return [scale[index] for index in self.v_index]


def _every_visit_its_own(loops: Loops) -> Holders:
    """Loops that have nothing to do with each other: elements they share are there several times."""
    elements = [elements for _, elements, _ in loops.visits]
    of_visit = [np.arange(len(own)) for own in elements]
    return Holders(loops, elements, [visit for _, _, visit in loops.visits], of_visit)


def _shared(loops: Loops) -> Holders:
    """Loops as they are."""
    unique = [np.unique(elements, return_inverse=True) for _, elements, _ in loops.visits]
    of_visit = [holder for _, holder in unique]
    of_step = [holder[own[2]] for holder, own in zip(of_visit, loops.visits, strict=True)]
    return Holders(loops, [elements for elements, _ in unique], of_step, of_visit)


Jacobian = list[tuple[int, np.ndarray]]
"""Of one joint: elements in its loop and their blocks (rows, nv)."""


def _closed_alone(every: Loops, draws: np.ndarray) -> dict[int, list[Jacobian]]:
    """Jacobians of each joint's equations where its loop is closed, whatever the other loops do.

    One is enough where it shows that all equations are needed; otherwise there may be one for each draw.
    """
    found: dict[int, list[Jacobian]] = {}
    asked = every.closures
    for size in SPREADS:
        for draw in draws:
            loops = every if asked == every.closures else loops_of(every.model, asked)
            holders = _every_visit_its_own(loops)
            lie, closed = _close_each(holders, holders.started(size * draw))
            here: dict[int, Jacobian] = {int(k): [] for k in np.flatnonzero(closed)}
            for (loop, element, _), blocks in zip(loops.visits, lie.blocks, strict=True):
                for k, e, block in zip(loop, element, blocks, strict=True):
                    if k in here:
                        here[k].append((int(e), block[: len(loops.rows[k])]))
            for k, jacobian in here.items():
                found.setdefault(loops.closures[k], []).append(jacobian)
            asked = tuple(k for k in asked if k not in found or not _full(found[k][0]))
            if not asked:
                return found
        asked = tuple(k for k in asked if k not in found)
    return found


def _matrix(jacobian: Jacobian, elements: Container[int] | None = None) -> np.ndarray:
    """Columns of all elements of a loop, or of some."""
    chosen = [block for element, block in jacobian if elements is None or element in elements]
    return np.concatenate([np.zeros((len(jacobian[0][1]), 0)), *chosen], axis=1)


def _full(jacobian: Jacobian) -> bool:
    """Whether all equations of a joint are needed, beyond doubt."""
    return _singular(_matrix(jacobian)) > ALONE * _size(jacobian)


def _size(jacobian: Jacobian) -> float:
    return max(float(np.abs(block).max(initial=0.0)) for _, block in jacobian)


def _singular(matrix: np.ndarray) -> float:
    """Smallest singular value of the rows."""
    if matrix.shape[0] > matrix.shape[1]:
        return 0.0
    return float(np.linalg.svd(matrix, compute_uv=False)[-1]) if len(matrix) else np.inf


def _close_each(holders: Holders, q: list[np.ndarray]) -> tuple[Lie, np.ndarray]:
    """Close loops that share nothing (Levenberg-Marquardt); how they lie, and which are closed."""
    visits = holders.loops.visits
    for _ in range(STEPS_ALONE):
        lie = holders.at(q)
        left = np.abs(lie.missing).max(axis=1)
        size, normal = np.zeros(len(left)), np.zeros((len(left), ROWS, ROWS))
        for (loop, _, _), block in zip(visits, lie.blocks, strict=True):
            np.maximum.at(size, loop, np.abs(block).max(axis=(1, 2), initial=0.0))
            np.add.at(normal, loop, block @ np.swapaxes(block, 1, 2))
        lost = ~np.isfinite(left) | ~np.isfinite(normal).all(axis=(1, 2))
        closed = ~lost & (left < 1e-11 * size)
        if np.all(closed | lost):
            break
        normal[closed | lost] = 0.0
        weight = _weight(lie.missing) * ~lost
        inverse = np.linalg.pinv(normal + weight[:, None, None] * np.eye(ROWS), hermitian=True)
        back = np.einsum("kij,kj->ki", inverse, np.where(lost[:, None], 0.0, lie.missing))
        back[closed | lost] = 0.0
        x = [
            -np.einsum("vij,vi->vj", b, back[own[0]])
            for own, b in zip(visits, lie.blocks, strict=True)
        ]
        largest = np.zeros(len(left))
        for (loop, _, _), part in zip(visits, x, strict=True):
            np.maximum.at(largest, loop, np.abs(part).max(axis=1, initial=0.0))
        shorter = np.minimum(1.0, 0.5 / np.maximum(largest, 1e-300))
        steps = [
            s * p * shorter[own[0], None]
            for s, p, own in zip(holders.scales, x, visits, strict=True)
        ]
        q = holders.moved(q, steps)
    return lie, closed


def _weight(missing: np.ndarray) -> np.ndarray:
    """The square of what is left: quick also where equations depend on each other."""
    return np.sum(np.atleast_2d(missing) ** 2, axis=1)


def _free_of_others(every: Loops, alone: dict[int, list[Jacobian]]) -> dict[int, list[int]]:
    """What joints need whose loops coordinates can close that only they have, one joint after the other."""
    loops_on = _loops_on(every, set(every.closures))
    needs = {
        k: list(range(len(every.rows[k])))
        if _full(jacobians[0])
        else _independent_rows([_matrix(jacobian) for jacobian in jacobians])
        for k, jacobians in alone.items()
    }
    free: dict[int, list[int]] = {}
    waiting = sorted(alone)
    while waiting:
        k = waiting.pop()
        if k in free:
            continue
        elements = [element for element, _ in alone[k][0]]
        own = {element for element in elements if loops_on.get(element) == {k}}
        if not any(
            _singular(_matrix(jacobian, own)[needs[k]]) > ALONE * _size(jacobian)
            for jacobian in alone[k]
        ):
            continue
        free[k] = needs[k]
        for element in elements:
            others = loops_on.get(element, set())
            others.discard(k)
            if len(others) == 1:
                waiting += others & alone.keys()
    return free


def _loops_on(every: Loops, chosen: set[int]) -> dict[int, set[int]]:
    """Of each element with coordinates, those of the chosen joints whose loops it is in."""
    found: dict[int, set[int]] = {}
    for group, (loop, element, _) in zip(every.model.groups, every.visits, strict=True):
        if group.nv:
            for k, e in zip(loop.tolist(), element.tolist(), strict=True):
                if every.closures[k] in chosen:
                    found.setdefault(e, set()).add(every.closures[k])
    return found


def _parts(every: Loops, chosen: set[int]) -> list[tuple[int, ...]]:
    """The chosen joints, together where their loops share coordinates."""
    loops_on = _loops_on(every, chosen)
    elements_in: dict[int, list[int]] = {k: [] for k in chosen}
    for element, loops in loops_on.items():
        for k in loops:
            elements_in[k].append(element)
    parts, seen, entered = [], set[int](), set[int]()
    for first in sorted(chosen):
        if first in seen:
            continue
        seen.add(first)
        part, waiting = [], [first]
        while waiting:
            k = waiting.pop()
            part.append(k)
            for element in elements_in[k]:
                if element not in entered:
                    entered.add(element)
                    waiting += loops_on[element] - seen
                    seen |= loops_on[element]
        parts.append(tuple(sorted(part)))
    return parts


def _needed_in(loops: Loops, draws: np.ndarray, *, raises: bool) -> list[int]:
    """Equations to keep of loops that share coordinates."""
    holders = _shared(loops)
    numbers = np.concatenate(loops.rows)
    taken = np.concatenate([[len(rows) > i for i in range(ROWS)] for rows in loops.rows])
    sizes = [own.size for own in holders.v_index]
    starts = np.cumsum([0, *sizes])

    def look(q: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        lie = holders.at(q)
        jacobian = np.zeros((len(loops.closures), ROWS, starts[-1]))
        for g, ((loop, _, _), block) in enumerate(zip(loops.visits, lie.blocks, strict=True)):
            nv = block.shape[2]
            columns = starts[g] + holders.of_visit[g][:, None] * nv + np.arange(nv)
            for k, place, own in zip(loop, columns, block, strict=True):
                jacobian[k][:, place] = own
        return lie.missing.reshape(-1)[taken], jacobian.reshape(-1, starts[-1])[taken]

    def move(q: list[np.ndarray], x: np.ndarray) -> list[np.ndarray]:
        parts = np.split(x, starts[1:-1])
        shaped = [p.reshape(s.shape) * s for p, s in zip(parts, holders.scales, strict=True)]
        return holders.moved(q, shaped)

    begins: list[list[np.ndarray]] = []
    for size in SPREADS:
        begins = [holders.started(size * draw) for draw in draws]
        near = [_closed_near(look, move, q) for q in begins]
        closed = [jacobian for jacobian in near if jacobian is not None]
        if closed:
            return numbers[_independent_rows(closed)].tolist()
    return _independent_everywhere(loops, numbers, [look(q) for q in begins], raises=raises)


def _closed_near(
    look: Callable[[list[np.ndarray]], tuple[np.ndarray, np.ndarray]],
    move: Callable[[list[np.ndarray], np.ndarray], list[np.ndarray]],
    q: list[np.ndarray],
) -> np.ndarray | None:
    """Scaled Jacobian at a closed configuration near q; None if there is none (Levenberg-Marquardt)."""
    for _ in range(STEPS):
        value, jacobian = look(q)
        left, size = np.abs(value).max(), np.abs(jacobian).max(initial=0.0)
        if not np.isfinite(left):
            return None
        if left < 1e-11 * size:
            return jacobian
        normal = jacobian @ jacobian.T + _weight(value) * np.eye(len(value))
        x = -jacobian.T @ np.linalg.lstsq(normal, value, rcond=None)[0]
        x *= min(1.0, 0.5 / max(np.abs(x).max(initial=0.0), 1e-300))
        q = move(q, x)
    return None


def _rank(matrix: np.ndarray, tolerance: float) -> int:
    if not matrix.size:
        return 0
    upper, _ = scipy.linalg.qr(matrix.T, mode="r", pivoting=True)
    size = np.abs(matrix).max(initial=1e-300)
    return int(np.sum(np.abs(np.diag(upper)) > tolerance * size))


def _independent(matrix: np.ndarray, tolerance: float = RANK) -> list[int]:
    """Rows that span all others, far from dependent on each other.

    Of those nearly as far from the ones before as can be, the first is taken: robots that differ a little,
    or by rounding, keep the same equations, and so need not recompile.
    """
    left, found = np.array(matrix), list[int]()
    for _ in range(_rank(matrix, tolerance)):
        far = np.linalg.norm(left, axis=1)
        row = int(np.argmax(far >= 0.5 * far.max()))
        found.append(row)
        along = left[row] / far[row]
        for _ in range(2):  # twice is enough to be normal in spite of rounding
            left -= np.outer(left @ along, along)
        left[found] = 0.0
    return sorted(found)


def _independent_rows(jacobians: list[np.ndarray]) -> list[int]:
    """Rows that span all others at each closed configuration, and are far from dependent at all of them."""
    candidates = [_independent(jacobian) for jacobian in jacobians]
    most = max(map(len, candidates))
    if most == 0:
        return []
    generic = [j for j, rows in zip(jacobians, candidates, strict=True) if len(rows) == most]
    weakest = {
        tuple(rows): min(np.linalg.svd(j[rows], compute_uv=False)[-1] for j in generic)
        for rows in candidates
        if len(rows) == most
    }
    good = 0.5 * max(weakest.values())
    return list(next(rows for rows, value in weakest.items() if value >= good))


def _independent_everywhere(
    loops: Loops,
    numbers: np.ndarray,
    found: list[tuple[np.ndarray, np.ndarray]],
    *,
    raises: bool,
) -> list[int]:
    """Rows that no others replace at any configuration; raises if those left out contradict them."""
    c = loops.model.closures
    values = np.stack([value for value, _ in found], axis=1)
    every = np.concatenate([jacobian for _, jacobian in found], axis=1)
    keep = _independent(every, 1e-9)
    left = np.setdiff1d(np.arange(len(every)), keep)
    if len(left) == 0 or not raises:
        return numbers[keep].tolist()
    # Where a row is Σ weights · rows in all derivatives, the same holds for the values, but for a constant.
    weights = np.linalg.lstsq(every[keep].T, every[left].T, rcond=None)[0].T
    gap = np.abs(values[left] - weights @ values[keep]).max(axis=1, initial=0.0)
    worst = int(np.argmax(gap))
    if gap[worst] > 1e-9 * max(1.0, np.abs(every).max(initial=0.0)):
        raise DescriptionError(
            c.names[c.joint_of_row[numbers[left[worst]]]],
            "position, rotation",
            f"frames {gap[worst]:.3g} m apart in a direction in which nothing can move",
            "frames that meet: check places, planes and axes, or use a joint that leaves this free",
        )
    return numbers[keep].tolist()
