"""Fronts of the elements, put together from their blocks and the links that touch them."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Inexact

from supple.arrays import Array
from supple.mechanics import static_index
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.element_tangent import group_states, loaded_gravity, parts_of
from supple.mechanics.inverse_dynamics import Balance
from supple.mechanics.sample_laws import attached_laws
from supple.mechanics.transmission_tangent import SlotRows
from supple.model.model import Model
from supple.system.blocks import Blocks, group_blocks
from supple.system.combination import Combination
from supple.system.couplings import (
    LinkValues,
    closure_coupling,
    coordinate_coupling,
    coordinate_diagonal,
    link_values,
    slip_coupling,
    with_laws,
    wrench_diagonal,
)
from supple.system.links import BETWEEN, Link, Touch
from supple.system.plan import Kind, Part, Plan
from supple.system.pulls import (
    Coupling,
    end_coupling,
    line_coupling,
    pull_diagonal,
    rub_coupling,
    slot_coupling,
)

Matrices = Inexact[Array, "_ _ _"]


class Assembly(NamedTuple):
    """Blocks of all groups and rows of all links, for one combination."""

    plan: Plan
    blocks: list[Blocks]
    values: LinkValues
    combination: Combination

    def motion_at(self, samples: np.ndarray, width: int) -> Inexact[Array, "n depth width"]:
        """What the coordinates of the elements of some flat samples add to y there; padded to a width."""
        depth = self.combination.depth
        order, parts, start = [], [], 0
        for (count, own, points), used, block in zip(
            self.plan.structure.sizes, self.plan.used, self.blocks, strict=True
        ):
            stop = start + count * points
            here = np.flatnonzero((samples >= start) & (samples < stop))
            if len(here):
                local = samples[here] - start
                place = (local // points) * len(used) + np.searchsorted(used, local % points)
                flat = block.motion.reshape(count * len(used), depth, own)
                found = static_index.take(flat, place)
                parts.append(jnp.pad(found, ((0, 0), (0, 0), (0, width - own))))
                order.append(here)
            start = stop
        whole = parts[0] if len(parts) == 1 else jnp.concatenate(parts)
        return static_index.take(whole, np.argsort(np.concatenate(order), kind="stable"))

    def fronts(self, kind: Kind) -> Matrices:
        """Fronts of a kind: own unknowns (the element's, then links'), port, riders."""
        blocks = self.blocks[kind.group]
        K, L, P, N = (static_index.take(part, kind.rows) for part in blocks[:4])
        width, depth = K.shape[-1], self.combination.depth
        parts = [*kind.own, *kind.riders]
        first = 1 + len(kind.own) + kind.port  # place of the first rider
        port = 1 + len(kind.own)
        places = [1 + k for k in range(len(kind.own))] + [
            first + k for k in range(len(kind.riders))
        ]
        heights = [width, *(p.size for p in kind.own), *([6] * kind.port)]
        widths = [width, *(p.size for p in kind.own), *([depth] * kind.port)]
        heights += [part.size for part in kind.riders]
        widths += [part.size for part in kind.riders]
        grid: dict[tuple[int, int], Matrices] = {}

        def add(i: int, j: int, block: Matrices) -> None:
            grid[i, j] = grid[i, j] + block if (i, j) in grid else block

        add(0, 0, K)
        if kind.port:
            add(0, port, L)
            add(port, 0, P)
            add(port, port, N)
        for number, (part, place) in enumerate(zip(parts, places, strict=True)):
            if (
                number < len(kind.own)
                and (diagonal := self._diagonal(self._links(part), part.extra)) is not None
            ):
                add(place, place, diagonal)
            for touch in range(len(part.touches)):
                coupling = self._coupling(kind, part, touch, width)
                add(place, 0, coupling.by_x)
                add(0, place, coupling.in_balance)
                if kind.port:
                    add(place, port, coupling.by_y)
                    add(port, place, coupling.in_wrench)
                if part.core_touch is not None:
                    target = first + part.core_part
                    self._add_pair(add, kind, part, touch, place, target, port, width)
        return _matrix(grid, heights, widths, kind.count)

    def core_links(self) -> list[tuple[np.ndarray, Matrices]]:
        """Blocks of links that are in the core, of one size together, with their places there."""
        plan = self.plan
        found: dict[tuple[str, int, tuple[int, ...]], list[tuple[Link, int]]] = {}
        for i, start in zip(plan.core_links.tolist(), plan.core_start.tolist(), strict=True):
            link = plan.structure.links[i]
            form = link.family, len(link.rows), plan.extras[i]
            found.setdefault(form, []).append((link, start))
        parts = []
        for (_, size, extras), members in found.items():
            diagonal = self._diagonal([link for link, _ in members], sum(extras))
            if diagonal is not None:
                starts = np.array([start for _, start in members])
                parts.append((starts[:, None] + np.arange(size + sum(extras)), diagonal))
        return parts

    def _diagonal(self, links: list[Link], extra: int) -> Matrices | None:
        """Rows of the unknowns of links on themselves; None if they are zero."""
        if links[0].family in BETWEEN:
            assert self.values.pulls is not None
            return pull_diagonal(self.values.pulls, links, self.combination)
        if links[0].family == "coordinate":
            index = np.array([link.index for link in links])
            return coordinate_diagonal(self.values, index, self.combination)
        if links[0].family == "closure" and extra:
            return wrench_diagonal(self.values, np.array([link.rows for link in links]))
        return None

    def _links(self, part: Part) -> list[Link]:
        links = self.plan.structure.links
        return [links[i] for i in part.index.tolist()]

    def _equations(self, part: Part) -> np.ndarray:
        """(n, r) equations of closures."""
        return np.array([link.rows for link in self._links(part)])

    def _touches(self, part: Part, touch: int) -> list[Touch]:
        assert part.which is not None
        numbers = part.which[:, touch].tolist()
        return [link.touches[k] for link, k in zip(self._links(part), numbers, strict=True)]

    def _coupling(self, kind: Kind, part: Part, touch: int, width: int) -> Coupling:
        links, touches = self._links(part), self._touches(part, touch)
        index = np.array([link.index for link in links])
        one = self.combination
        if part.family == "coordinate":
            columns = np.array([link.column for link in links])
            return coordinate_coupling(self.values, index, columns, width, one.depth)
        if part.touches[touch] != "end":
            return self._within(kind, links, touches, width)
        motion = self.motion_at(np.array([touch.sample for touch in touches]), width)
        if part.family in BETWEEN:
            assert self.values.pulls is not None
            if part.family == "line":
                return line_coupling(self.values.pulls, touches, motion, one)
            return end_coupling(self.values.pulls, links, touches, motion, one)
        if part.family == "slip":
            return slip_coupling(self.values, index, motion, one)
        outer = np.array([touch.side == 0 for touch in touches])
        equations = self._equations(part)
        wrench = part.extra > 0
        return closure_coupling(self.values, equations, index, outer, wrench, motion, one)

    def _within(self, kind: Kind, links: list[Link], touches: list[Touch], width: int) -> Coupling:
        """Transmissions by their parts within elements."""
        assert self.values.pulls is not None
        if touches[0].way == "rub":
            return rub_coupling(self.values.pulls, links, touches, width, self.combination)
        slots = self.blocks[kind.group].slots
        assert slots is not None
        place = kind.rows, np.array([touch.part for touch in touches])
        chosen = SlotRows(*(part[place] for part in slots))
        return slot_coupling(self.values.pulls, links, chosen, self.combination)

    def _add_pair(
        self,
        add: Callable[[int, int, Matrices], None],
        kind: Kind,
        part: Part,
        touch: int,
        place: int,
        target: int,
        port: int,
        width: int,
    ) -> None:
        """A closure between the element and one in the core: what each side does to the other."""
        links, weight = self._links(part), self.combination.stiffness
        assert part.core_touch is not None
        index = np.array([link.index for link in links])
        touches = self._touches(part, touch)
        outer = np.array([touch.side == 0 for touch in touches])
        others = [link.touches[k] for link, k in zip(links, part.core_touch.tolist(), strict=True)]
        here, there = (
            self.motion_at(np.array([touch.sample for touch in ends]), size)[:, :6]
            for ends, size in ((touches, width), (others, kind.riders[part.core_part].size))
        )
        H = (
            np.where(outer, 1.0, -1.0)[:, None, None]
            * self.values.closure_rows[self._equations(part)]
        )
        of_outer, of_inner = self.values.of_outer[index], self.values.of_inner[index]
        mine = jnp.where(outer[:, None, None], of_outer, of_inner)
        other = jnp.where(outer[:, None, None], of_inner, of_outer)
        back = -weight * mine @ there
        forth = -weight * jnp.swapaxes(there, -1, -2) @ other
        add(0, target, jnp.swapaxes(here, -1, -2) @ back)
        add(target, 0, forth @ here)
        if kind.port:
            depth = self.combination.depth
            add(port, target, back)
            add(target, port, jnp.pad(forth, ((0, 0), (0, 0), (0, depth - 6))))
        add(place, target, -H @ there)
        add(target, place, -jnp.swapaxes(H @ there, -1, -2))


def assemble(
    model: Model,
    plan: Plan,
    c: Coordinates,
    state: Balance,
    combinations: tuple[Combination, ...],
) -> list[Assembly]:
    """Everything that the fronts are made of at a motion, for each combination."""
    parts = parts_of(model, state)
    values, laws = link_values(model, plan, c, state, parts)
    attached = with_laws(model, attached_laws(model, state, c.t, parts), laws)
    gravity = loaded_gravity(model)
    states = group_states(model, c, state, attached, parts)
    groups = [
        group_blocks(at, gravity, combinations, used)
        for at, used in zip(states, plan.used, strict=True)
    ]
    return [
        Assembly(plan, [blocks[k] for blocks in groups], values, combination)
        for k, combination in enumerate(combinations)
    ]


def _matrix(
    grid: dict[tuple[int, int], Matrices], heights: list[int], widths: list[int], count: int
) -> Matrices:
    """Matrices from their blocks; zero where there are none."""
    dtype = jnp.result_type(*(block.dtype for block in grid.values()))
    strips = []
    for i, height in enumerate(heights):
        strip = [
            grid[i, j].astype(dtype)
            if (i, j) in grid
            else jnp.zeros((count, height, width), dtype=dtype)
            for j, width in enumerate(widths)
        ]
        strips.append(jnp.concatenate(strip, axis=-1))
    return jnp.concatenate(strips, axis=-2)
