"""How the borders of fronts reach other fronts: sweeps of vectors along the tree, inward and outward.

A child's border (y, riders) depends on its parent's unknowns by a matrix C, and acts on the parent's rows
by Rᵀ. Fronts that wait for others are visited tick by tick in a scan, whose program does not grow with
their number.
"""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Inexact

from supple.arrays import Array
from supple.mechanics import static_index
from supple.system.fronts import Assembly, Matrices
from supple.system.plan import Kind, Plan, Schedule

Vectors = Inexact[Array, "_ _"]
Vector = Inexact[Array, " _"]


class Carried(eqx.Module):
    """Of a batch of fronts: C of what enters, R of what leaves."""

    entering: Matrices
    leaving: Matrices


class Maps(eqx.Module):
    """C and R of all fronts."""

    leaves: list[Carried | None]
    """None where riders are all there is in a border, and go to the core as they are."""
    inner: Carried | None
    to_core: list[Carried | None]
    """Of each kind of inner fronts that hang on the core."""
    plan: Plan = eqx.field(static=True)
    depth: int = eqx.field(static=True)

    def split(self, vector: Vector) -> tuple[list[Vectors], Vectors | None, Vector]:
        """The own unknowns (or rows) of the leaves, of the padded inner fronts, and of the core."""
        plan = self.plan
        vector = jnp.pad(vector, (0, plan.unknowns - vector.shape[0]))
        leaves = [_chosen(vector, kind.unknowns) for kind in plan.leaves]
        inner = None
        if plan.inner.count:
            own = [
                jnp.pad(
                    _chosen(vector, kind.unknowns), ((0, 0), (0, plan.inner.own - kind.own_size))
                )
                for kind in plan.inner.kinds
            ]
            inner = in_slots(plan.inner, own)
        return leaves, inner, static_index.take(vector, plan.core_unknowns)

    def join(self, leaves: list[Vectors], inner: Vectors | None, core: Vector, size: int) -> Vector:
        """The vector of all unknowns, or its first ``size`` ones."""
        parts = [core]
        if inner is not None:
            parts += [
                static_index.take(inner, slots)[:, : kind.own_size].reshape(-1)
                for kind, slots in inner_kinds(self.plan.inner)
            ]
        parts += [own.reshape(-1) for own in leaves]
        return static_index.take(jnp.concatenate(parts), _order(self.plan)[:size])

    def inward(
        self,
        leaving: list[Vectors],
        own: Vectors | None,
        core: Vector,
        pass_on: tuple[Any, Callable[[Any, Vectors], Vectors]] | None,
    ) -> tuple[Vectors | None, Vector]:
        """Loads from the leaves' borders to the inner fronts and the core.

        ``pass_on`` says what an inner front's border receives of the load on its own rows (given as a
        value for
        each front and a function of it). Returns the loads on the own rows of inner fronts and on the core.
        """
        plan, inner = self.plan, self.plan.inner
        waiting = None
        if own is not None:
            waiting = jnp.pad(own, ((0, 0), (0, 6 + inner.riding)))
        for kind, maps, push in zip(plan.leaves, self.leaves, leaving, strict=True):
            if len(kind.parent):
                assert waiting is not None
                waiting = static_index.add(waiting, kind.parent, _through(maps, push))
            else:
                core = _to_core(kind, maps, push, core)
        if waiting is None:
            return None, core
        assert self.inner is not None
        width = inner.own

        def tick(loads: Vectors, at: Any) -> tuple[Vectors, tuple[Vectors, Vectors]]:
            start, parents, maps, value = at
            load = lax.dynamic_slice_in_dim(loads, start, inner.width)
            left = load[:, width:]
            if pass_on is not None:
                left = left + pass_on[1](value, load[:, :width])
            sent = jnp.einsum("nrk,nr->nk", maps, left)
            return loads.at[parents].add(sent, mode="promise_in_bounds"), (load[:, :width], left)

        value = None if pass_on is None else pass_on[0]
        items = (_starts(inner), *ticked(inner, (inner.parent, self.inner.leaving, value)))
        _, found = lax.scan(tick, jnp.pad(waiting, ((0, 1), (0, 0))), items)
        own, left = (part.reshape(inner.count, -1) for part in found)
        for (kind, slots), maps in zip(inner_kinds(inner), self.to_core, strict=True):
            if not len(kind.parent):
                push = static_index.take(left, slots)[:, border(kind, 6)]
                core = _to_core(kind, maps, push, core)
        return own, core

    def outward(
        self,
        own: Vectors,
        core: Vector,
        respond: tuple[Any, Callable[[Any, Vectors], Vectors]] | None,
    ) -> Vectors:
        """Own unknowns and borders of the inner fronts: those given, plus the response to the border."""
        inner = self.plan.inner
        assert self.inner is not None
        dtype = jnp.result_type(own.dtype, core.dtype)
        from_core = jnp.zeros((inner.count, self.depth + inner.riding), dtype=dtype)
        for (kind, slots), maps in zip(inner_kinds(inner), self.to_core, strict=True):
            if len(kind.parent) == 0 and kind.riding + kind.port:
                entering = self.entering(kind, maps, core, None)
                place = slots[:, None], border(kind, self.depth)[None]
                from_core = from_core.at[place].set(entering, unique_indices=True)

        def tick(known: Vectors, at: Any) -> tuple[Vectors, None]:
            start, parents, own, from_core, maps, value = at
            above = known.at[parents].get(mode="promise_in_bounds")
            enters = jnp.einsum("nck,nk->nc", maps, above) + from_core
            if respond is not None:
                own = own + respond[1](value, enters)
            new = jnp.concatenate([own, enters], axis=1)
            return lax.dynamic_update_slice_in_dim(known, new, start, 0), None

        value = None if respond is None else respond[0]
        parts = (inner.parent, own, from_core, self.inner.entering, value)
        none = jnp.zeros((inner.count + 1, inner.own + self.depth + inner.riding), dtype=dtype)
        known, _ = lax.scan(tick, none, (_starts(inner), *ticked(inner, parts)), reverse=True)
        return known

    def entering(
        self, kind: Kind, maps: Carried | None, core: Vector, known: Vectors | None
    ) -> Vectors:
        """What enters the borders of a kind's fronts, from the core or from inner fronts."""
        if len(kind.parent):
            assert known is not None
            above = static_index.take(known, kind.parent)
        else:
            above = core.at[core_places(kind)].get(mode="promise_in_bounds")
        return above if maps is None else jnp.einsum("nck,nk->nc", maps.entering, above)


def make_maps(assembly: Assembly) -> Maps:
    """C and R of all fronts."""
    plan, depth = assembly.plan, assembly.combination.depth
    leaves = [_maps(assembly, kind) for kind in plan.leaves]
    to_core = [None if len(k.parent) else _maps(assembly, k) for k in plan.inner.kinds]
    inner = _inner_maps(assembly) if plan.inner.count else None
    return Maps(leaves, inner, to_core, plan, depth)


def inner_kinds(inner: Schedule) -> Iterator[tuple[Kind, np.ndarray]]:
    """Kinds of inner fronts, with their slots."""
    start = 0
    for kind in inner.kinds:
        yield kind, inner.slots[start : start + kind.count]
        start += kind.count


def border(kind: Kind, depth: int) -> np.ndarray:
    """Places of a kind's border in that of the padded fronts."""
    port = np.arange(depth) if kind.port else np.zeros(0, dtype=int)
    return np.concatenate([port, depth + np.arange(kind.riding)])


def core_places(kind: Kind) -> np.ndarray:
    """(n, k) places in the core of (parent's coordinates, riders)."""
    return np.concatenate([kind.core_goes, kind.goes], axis=1) if len(kind.core_goes) else kind.goes


def in_slots(
    inner: Schedule, parts: list[Inexact[Array, "..."]], empty: Any = None
) -> Inexact[Array, "..."]:
    """Values of the inner kinds in the order of their slots; ``empty``, or zero, in slots without a front."""
    whole = jnp.concatenate(parts)
    source = np.full(inner.count, len(inner.slots))
    source[inner.slots] = np.arange(len(inner.slots))
    if np.any(source == len(inner.slots)):
        none = jnp.zeros(whole.shape[1:], dtype=whole.dtype) if empty is None else empty
        whole = jnp.concatenate([whole, none[None].astype(whole.dtype)])
    return static_index.take(whole, source)


def ticked(inner: Schedule, parts: Any) -> Any:
    """Values of slots, one row a tick."""
    return jax.tree.map(lambda part: part.reshape(inner.ticks, inner.width, *part.shape[1:]), parts)


def _starts(inner: Schedule) -> np.ndarray:
    return inner.width * np.arange(inner.ticks)


def _chosen(vector: Vector, places: np.ndarray) -> Vectors:
    return static_index.take(vector, places.reshape(-1)).reshape(places.shape)


def _through(maps: Carried | None, push: Vectors) -> Vectors:
    return push if maps is None else jnp.einsum("nrk,nr->nk", maps.leaving, push)


def _to_core(kind: Kind, maps: Carried | None, push: Vectors, core: Vector) -> Vector:
    if push.shape[1] == 0:
        return core
    pushed = _through(maps, push).reshape(-1)
    return core.at[core_places(kind).reshape(-1)].add(pushed, mode="promise_in_bounds")


def _maps(assembly: Assembly, kind: Kind) -> Carried | None:
    plan, depth = assembly.plan, assembly.combination.depth
    if len(kind.parent):
        inner = plan.inner
        if not kind.port:
            return _riders_to_front(kind.goes, inner.own, inner.riding, depth)
        motion = assembly.motion_at(kind.sample, inner.own)
        return _to_front(motion, kind.goes, inner.own, inner.riding, depth)
    if not kind.port:
        return None
    motion = assembly.motion_at(kind.sample, kind.core_goes.shape[1])
    unit = jnp.broadcast_to(jnp.eye(kind.riding), (kind.count, kind.riding, kind.riding))
    return Carried(*(_block_diagonal(part, unit) for part in (motion, motion[:, :6])))


def _block_diagonal(above: Matrices, below: Matrices) -> Matrices:
    count, a, b = above.shape
    c, d = below.shape[1:]
    top = jnp.concatenate([above, jnp.zeros((count, a, d), dtype=above.dtype)], axis=-1)
    low = jnp.concatenate([jnp.zeros((count, c, b), dtype=above.dtype), below], axis=-1)
    return jnp.concatenate([top, low], axis=-2)


def _to_front(motion: Matrices, goes: np.ndarray, own: int, riding: int, depth: int) -> Carried:
    """From (port, riders) to the parent's (own, port, riders)."""
    count = motion.shape[0]

    def one(motion: Matrices, height: int) -> Matrices:
        unit = jnp.broadcast_to(jnp.eye(height, dtype=motion.dtype), (count, height, height))
        rest = jnp.zeros((count, height, riding), dtype=motion.dtype)
        port = jnp.concatenate([motion, unit, rest], axis=-1)
        if goes.shape[1] == 0:
            return port
        shifted = np.where(goes >= own + 6, goes + height - 6, goes)
        riders = jax.nn.one_hot(shifted, own + height + riding, dtype=motion.dtype)
        return jnp.concatenate([port, riders], axis=-2)

    return Carried(one(motion, depth), one(motion[:, :6], 6))


def _riders_to_front(goes: np.ndarray, own: int, riding: int, depth: int) -> Carried:
    """From riders alone: of elements that hang on the ground, but go on with another one's front."""

    def one(height: int) -> Matrices:
        shifted = np.where(goes >= own + 6, goes + height - 6, goes)
        return jax.nn.one_hot(shifted, own + height + riding)

    return Carried(one(depth), one(6))


def _inner_maps(assembly: Assembly) -> Carried:
    """C and R of all inner fronts whose parents are inner ones; zero for others."""
    inner, depth = assembly.plan.inner, assembly.combination.depth
    dtype = complex if assembly.combination.complex else float
    entering, leaving = [], []
    for kind in inner.kinds:
        if len(kind.parent):
            motion = assembly.motion_at(kind.sample, inner.own)
            found = _to_front(motion, kind.goes, inner.own, inner.riding, depth)
            missing = ((0, 0), (0, inner.riding - kind.riding), (0, 0))
            entering.append(jnp.pad(found.entering, missing))
            leaving.append(jnp.pad(found.leaving, missing))
        else:
            heights = depth + inner.riding, 6 + inner.riding
            entering.append(jnp.zeros((kind.count, heights[0], inner.own + heights[0]), dtype))
            leaving.append(jnp.zeros((kind.count, heights[1], inner.own + heights[1]), dtype))
    return Carried(in_slots(inner, entering), in_slots(inner, leaving))


def _order(plan: Plan) -> np.ndarray:
    """Where each unknown is in the list of (core, inner, leaves)."""
    kinds = (*plan.inner.kinds, *plan.leaves)
    listed = np.concatenate([plan.core_unknowns, *(kind.unknowns.reshape(-1) for kind in kinds)])
    return np.argsort(listed, kind="stable")
