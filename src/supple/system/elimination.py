"""Elimination along a plan: a robot's linear system as fronts, its factors, and its solution.

A front [[K, L], [P, N]] with own unknowns first leaves U = N - P K⁻¹ L between those of its border, which
its parent's front receives as Rᵀ U C (see :mod:`maps <supple.system.maps>`); what reaches no parent is
the core's.

Pivots are chosen within a front. One that vanishes there, because the motion it belongs to is only held
through the border, is replaced by a small number; the solution is then refined with the system itself.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.mechanics import static_index
from supple.system.core import Core, CoreFactors, Parts, empty_core
from supple.system.fronts import Assembly, Matrices
from supple.system.lu import COORDINATE, MULTIPLIER, factorize_replacing, units
from supple.system.maps import (
    Maps,
    Vector,
    Vectors,
    border,
    core_places,
    in_slots,
    inner_kinds,
    make_maps,
    ticked,
)
from supple.system.plan import Kind

WEAKEST = 1e-4
"""Of the largest stiffness of all elements: what one without any stiffness is compared with."""
REFINEMENTS = 2
"""Corrections of a solution with replaced or poor pivots."""
UNSOLVED = 1e-7
"""Residual of a solution, over the terms of the equations, that tells that the matrix is singular."""


class LinearSystem(eqx.Module):
    """A linear system of coordinates and multipliers, as fronts."""

    leaves: list[Matrices]
    inner: Matrices | None
    core: Core | None
    """What core elements and links add by themselves."""
    maps: Maps

    @property
    def size(self) -> int:
        """Number of unknowns, wrenches of closures included."""
        return self.maps.plan.unknowns

    def apply(self, vector: Vector) -> Vector:
        """The product of the matrix with a vector of all unknowns; wrenches of closures are the last ones."""
        plan, maps = self.maps.plan, self.maps
        own, inner, core = maps.split(vector)
        known = None
        if inner is not None:
            known = maps.outward(inner, core, None)
        rows_, leaving = [], []
        for kind, carried, front, x in zip(plan.leaves, maps.leaves, self.leaves, own, strict=True):
            column = x
            if front.shape[2] > kind.own_size:
                column = jnp.concatenate([x, maps.entering(kind, carried, core, known)], axis=1)
            found = jnp.einsum("nrc,nc->nr", front, column)
            rows_.append(found[:, : kind.own_size])
            leaving.append(found[:, kind.own_size :])
        loads, result = None, jnp.zeros_like(core)
        if self.core is not None:
            result = self.core.apply(core)
        passed = None
        if known is not None:
            assert self.inner is not None
            found = jnp.einsum("nrc,nc->nr", self.inner, known[:-1])
            loads = found[:, : plan.inner.own]
            passed = found[:, plan.inner.own :], lambda value, _: value
        loads, result = maps.inward(leaving, loads, result, passed)
        return maps.join(rows_, loads, result, vector.shape[0])

    def factorize(self) -> "Factors":
        """Eliminate all fronts."""
        plan, maps, fronts = self.maps.plan, self.maps, self.inner
        leaves: list[Eliminated] = []
        pieces: Parts = []
        stiffnesses = [
            _stiffness(front, kind.width)
            for kind, front in zip(plan.leaves, self.leaves, strict=True)
        ]
        sizes = None
        if fronts is not None:
            coordinates = plan.inner.sorts == COORDINATE
            both = coordinates[:, :, None] & coordinates[:, None, :]
            own = fronts[:, : plan.inner.own, : plan.inner.own]
            sizes = jnp.max(jnp.where(both, jnp.abs(own), 0.0), axis=(-2, -1), initial=0.0)
            stiffnesses.append(sizes)
        floor = jnp.max(jnp.concatenate([*stiffnesses, jnp.full(1, 1e-300)])) * WEAKEST
        if sizes is not None:
            sizes = jnp.maximum(sizes, floor)
        for kind, carried, front in zip(plan.leaves, maps.leaves, self.leaves, strict=True):
            size = jnp.maximum(_stiffness(front, kind.width), floor)
            found, left = _eliminate(front, kind.own_size, size, kind.sorts)
            leaves.append(found)
            if carried is not None:
                left = jnp.swapaxes(carried.leaving, -1, -2) @ left @ carried.entering
            if len(kind.parent):
                assert fronts is not None
                assert sizes is not None
                fronts = static_index.add(fronts, kind.parent, left)
                sizes = sizes.at[kind.parent].max(size)
            elif left.shape[1]:
                pieces.append((core_places(kind), left))
        inner = None
        if fronts is not None:
            assert sizes is not None
            inner, left = self._eliminate_inner(fronts, sizes)
            for (kind, slots), carried in zip(inner_kinds(plan.inner), maps.to_core, strict=True):
                if len(kind.parent) == 0 and kind.port + kind.riding:
                    chosen = static_index.take(left, slots)[:, border(kind, 6)]
                    chosen = chosen[:, :, border(kind, maps.depth)]
                    if carried is not None:
                        chosen = jnp.swapaxes(carried.leaving, -1, -2) @ chosen @ carried.entering
                    pieces.append((core_places(kind), chosen))
        stiffness = floor / WEAKEST
        core = None if self.core is None else self._factorize_core(pieces, stiffness)
        return Factors(leaves, inner, core, stiffness, self)

    def _factorize_core(self, pieces: Parts, size: Float[Array, ""]) -> CoreFactors:
        assert self.core is not None
        plan = self.maps.plan
        return self.core.plus(pieces).factorize(size, plan.sorts[plan.core_unknowns])

    def _eliminate_inner(
        self, fronts: Matrices, sizes: Float[Array, " s"]
    ) -> tuple["Eliminated", Matrices]:
        inner = self.maps.plan.inner

        def tick(waiting: tuple[Matrices, Float[Array, " s"]], at: Any) -> Any:
            fronts, sizes = waiting
            start, parents, sorts, maps = at
            now = lax.dynamic_slice_in_dim(fronts, start, inner.width)
            size = lax.dynamic_slice_in_dim(sizes, start, inner.width)
            found, left = _eliminate(now, inner.own, size, sorts)
            sent = jnp.swapaxes(maps.leaving, -1, -2) @ (left @ maps.entering)
            fronts = fronts.at[parents].add(sent, mode="promise_in_bounds")
            sizes = sizes.at[parents].max(size, mode="promise_in_bounds")
            return (fronts, sizes), (found, left)

        starts = inner.width * np.arange(inner.ticks)
        items = (starts, *ticked(inner, (inner.parent, inner.sorts, self.maps.inner)))
        start = jnp.pad(fronts, ((0, 1), (0, 0), (0, 0))), jnp.pad(sizes, (0, 1))
        _, found = lax.scan(tick, start, items)
        return jax.tree.map(lambda part: part.reshape(inner.count, *part.shape[2:]), found)


class Eliminated(eqx.Module):
    """What is left of fronts: K⁻¹, K⁻¹ L, P K⁻¹, and whether a pivot was poor."""

    inverse: Matrices
    response: Matrices
    reaction: Matrices
    poor: Bool[Array, " n"]


class Factors(eqx.Module):
    """A factorized linear system."""

    leaves: list[Eliminated]
    inner: Eliminated | None
    core: CoreFactors | None
    stiffness: Float[Array, ""]
    """The largest one of the elements."""
    system: LinearSystem

    def solve(self, right: Vector) -> Vector:
        """Solution for one right-hand side: coordinates, then multipliers."""
        return self._refined(self._padded(right))[0][: right.shape[0]]

    def solve_checked(self, right: Vector) -> Vector:
        """The same, and NaN where that is no solution, because the matrix is singular.

        Derivatives are checked, too: theirs are other right-hand sides.
        """

        def forward(_: Any, right: Vector) -> Vector:
            x, left = self._refined(right)
            return jnp.where(self._solved(x, left, right), x, jnp.nan)

        def backward(_: Any, load: Vector) -> Vector:
            return jax.linear_transpose(lambda right: self._refined(right)[0], load)(load)[0]

        padded, size = self._padded(right), right.shape[0]
        return lax.custom_linear_solve(self.system.apply, padded, forward, backward)[:size]

    def _padded(self, right: Vector) -> Vector:
        """With zero for the wrenches of closures, which have no loads."""
        return jnp.pad(right, (0, self.system.maps.plan.unknowns - right.shape[0]))

    @property
    def poor(self) -> Bool[Array, ""]:
        """Whether some pivot costs digits, which refinement may not give back."""
        poor = [jnp.any(part.poor) for part in self.leaves]
        poor += [] if self.inner is None else [jnp.any(self.inner.poor)]
        poor += [] if self.core is None else [jnp.any(self.core.poor)]
        return jnp.any(jnp.stack(poor))

    def _refined(self, right: Vector) -> tuple[Vector, Vector]:
        """The solution, and the residual if it had to be refined; zero otherwise."""

        def refined() -> tuple[Vector, Vector]:
            def once(_: Any, known: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
                x = known[0] + self._once(known[1])
                return x, right - self.system.apply(x)

            return lax.fori_loop(0, REFINEMENTS, once, (found, right - self.system.apply(found)))

        found = self._once(right)
        return lax.cond(self.poor, refined, lambda: (found, jnp.zeros_like(found)))

    def _solved(self, x: Vector, left: Vector, right: Vector) -> Bool[Array, ""]:
        """Whether what is left of the equations is small beside what stands in them, in their units."""
        sorts = self.system.maps.plan.sorts
        of = units(self.stiffness[None], sorts[None])
        given, left = jnp.abs(right / of.rows[0]), jnp.abs(left / of.rows[0])
        terms = jnp.abs(x * of.columns[0])
        # In equations stand coordinates, but not the forces that may have become huge for them.
        equation, coordinate = sorts == MULTIPLIER, sorts == COORDINATE
        most, moved = jnp.max(terms + given), jnp.max(jnp.where(coordinate, terms, 0.0) + given)
        return jnp.all(left <= UNSOLVED * jnp.where(equation, moved, most))

    def _once(self, right: Vector) -> Vector:
        maps, plan = self.system.maps, self.system.maps.plan
        own, inner, core = maps.split(right)
        leaving = [
            -_times(part.reaction, load) for part, load in zip(self.leaves, own, strict=True)
        ]
        pass_on = None
        if self.inner is not None:
            pass_on = self.inner.reaction, lambda reaction, load: -_times(reaction, load)
        loads, core = maps.inward(leaving, inner, core, pass_on)
        core = core if self.core is None else self.core.solve(core)
        known, solved = None, None
        if loads is not None:
            assert self.inner is not None
            free = _times(self.inner.inverse, loads)
            respond = self.inner.response, lambda response, enters: -_times(response, enters)
            known = maps.outward(free, core, respond)
            solved = known[:-1, : plan.inner.own]
        parts = []
        for kind, carried, part, load in zip(
            plan.leaves, maps.leaves, self.leaves, own, strict=True
        ):
            x = _times(part.inverse, load)
            if part.response.shape[-1]:
                x = x - _times(part.response, maps.entering(kind, carried, core, known))
            parts.append(x)
        return maps.join(parts, solved, core, right.shape[0])


def linear_system(assembly: Assembly) -> LinearSystem:
    """All fronts at a motion, for one combination of M, C and K."""
    plan = assembly.plan
    core = None
    if len(plan.core_unknowns):
        dtype = complex if assembly.combination.complex else float
        parts: Parts = [(kind.goes, assembly.fronts(kind)) for kind in plan.core]
        core = empty_core(plan.core_layout, dtype).plus([*parts, *assembly.core_links()])
    return LinearSystem(
        [assembly.fronts(kind) for kind in plan.leaves],
        _inner_fronts(assembly) if plan.inner.count else None,
        core,
        make_maps(assembly),
    )


def _times(matrix: Matrices, vector: Vectors) -> Vectors:
    return jnp.einsum("nij,nj->ni", matrix, vector)


def _stiffness(fronts: Matrices, width: int) -> Float[Array, " n"]:
    """Size of the rows of balance in a front's coordinates."""
    return jnp.max(jnp.abs(fronts[:, :width, :width]), axis=(-2, -1), initial=0.0)


def _eliminate(
    fronts: Matrices, own: int, size: Float[Array, " n"], sorts: Int[Array, "*n own"]
) -> tuple[Eliminated, Matrices]:
    """Eliminate the first unknowns of fronts; ``size`` of the rows of balance, and which sort each row is."""
    K, L = fronts[:, :own, :own], fronts[:, :own, own:]
    P, N = fronts[:, own:, :own], fronts[:, own:, own:]
    if own == 0:
        return Eliminated(K, L, P, jnp.zeros(len(K), dtype=bool)), N
    factors, poor = factorize_replacing(K, units(size, sorts))
    unit = jnp.broadcast_to(jnp.eye(own, dtype=K.dtype), K.shape)
    found = factors.solve(jnp.concatenate([unit, L], axis=-1))
    inverse, response = found[..., :own], found[..., own:]
    return Eliminated(inverse, response, P @ inverse, poor), N - P @ response


def _inner_fronts(assembly: Assembly) -> Matrices:
    """Fronts with children, padded: own unknowns that a front does not have get the equation x = 0."""
    inner, depth = assembly.plan.inner, assembly.combination.depth
    parts = [
        _padded(assembly.fronts(kind), kind, inner.own, inner.riding, depth) for kind in inner.kinds
    ]
    height, width = parts[0].shape[1:]
    empty = jnp.zeros((height, width)).at[np.arange(inner.own), np.arange(inner.own)].set(1.0)
    return in_slots(inner, parts, empty)


def _padded(front: Matrices, kind: Kind, own: int, riding: int, depth: int) -> Matrices:
    """Fronts of a kind in the layout that all inner fronts share."""
    first = kind.own_size

    def spread(part: Matrices, axis: int, port: int) -> Matrices:
        before, after = (
            lax.slice_in_dim(part, 0, first, axis=axis),
            lax.slice_in_dim(part, first, part.shape[axis], axis=axis),
        )
        pads = [[(0, 0)] * 3 for _ in range(2)]
        pads[0][axis] = (0, own - first)
        pads[1][axis] = (0 if kind.port else port, riding - kind.riding)
        return jnp.concatenate([jnp.pad(before, pads[0]), jnp.pad(after, pads[1])], axis=axis)

    whole = spread(spread(front, 1, 6), 2, depth)
    missing = np.zeros(whole.shape[1:])
    extra = np.arange(first, own)
    missing[extra, extra] = 1.0
    return whole + missing
