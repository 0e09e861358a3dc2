"""The rods of a robot, integrated segment by segment, all segments as one batch."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, so3
from supple.model.loads import AbstractLineLoad
from supple.shooting import march
from supple.shooting.equations import (
    ORIENTED,
    TURN,
    Efforts,
    Lines,
    Moment,
    Past,
    Section,
    slope,
    strain_of,
)
from supple.shooting.layout import Layout
from supple.shooting.settings import Shooting

START = 18
"""Numbers at the start of a segment: displacement, wrench, twist."""


class Material(NamedTuple):
    """Sections at the places of a segment: nodes and the middles between them, or one for all of them."""

    stiffness: Float[Array, "s k 6 *six"]
    """Matrices, or their diagonals if all of them are diagonal."""
    damping: Float[Array, "s k 6 *six"] | None
    inertia: Float[Array, "s k 6 *six"]
    rest: Float[Array, "s k 6"]
    free: Float[Array, "s 6"]
    """1 for strains that the rod has, 0 for others."""


class LineLoads(NamedTuple):
    """A load along rods: its numbers for each segment, and whether it acts there (1) or not (0)."""

    load: AbstractLineLoad
    acts: Float[Array, " s"]


class RodLines(NamedTuple):
    """Tendons in channels and fluid chambers along rods, k of them."""

    places: Lines
    """(s, places, k, 3)."""
    acts: Float[Array, "s k"]
    """1 where one runs along a segment, 0 elsewhere."""
    area: Float[Array, " k"]
    """Of chambers (m²); zero for tendons."""


class Shot(NamedTuple):
    """Where segments lead: displacement from the last pose and wrench there; and their nodes."""

    end: Float[Array, "s e"]
    """Displacement, wrench, twist, and what each line gained in length."""
    nodes: Float[Array, "s k n"]
    """Position, body wrench, body twist, orientation as it is integrated, lengths of lines."""
    stages: Float[Array, "s h q n"] | None
    """The same at the stages of each step; None for rules whose steps have no fixed ones."""


class Rods(eqx.Module):
    """All rods."""

    material: Material
    widths: Float[Array, " s"]
    """Lengths of the segments (m)."""
    lengths: Float[Array, " s"]
    """Of the rods that they belong to (m)."""
    units: Float[Array, "s 12"]
    """Of displacement and wrench at a segment's end: 1, lengths, and wrenches that bend a rod a radian."""
    line_loads: tuple[LineLoads, ...]
    lines: RodLines | None
    layout: Layout = eqx.field(static=True)
    settings: Shooting = eqx.field(static=True)

    @property
    def frequencies(self) -> Float[Array, " s"]:
        """√(EI / ρA) / L² of the rods (rad/s), about that of their first vibration; infinite without mass."""
        inertia = jnp.asarray(self.material.inertia)[:, 0, 5]
        mass = inertia if inertia.ndim == 1 else inertia[:, 5]
        square = self.units[:, 9] / (jnp.maximum(mass, 1e-300) * self.lengths**2)
        return jnp.where(mass > 0, jnp.sqrt(square), jnp.inf)

    def sections(self, rate: Any) -> Section:
        """Sections with the compliance of one solve, that of H + a D."""
        own = self.material
        whole = own.stiffness
        damping = None if rate is None else own.damping
        if damping is not None:
            whole = whole + rate * damping
        if whole.ndim == 3:
            compliance = own.free[:, None] / whole
        else:
            free = own.free[:, None, :, None] * own.free[:, None, None, :]
            held = jnp.eye(6) * (1.0 - own.free)[:, None, None, :]
            compliance = jnp.linalg.inv(free * whole + held) * free
        return Section(compliance, damping, own.inertia, own.rest)

    def past(self, at_nodes: Past) -> Past:
        """What is known of the past at nodes and in the middles between them, (s, 2 steps + 1, 6) each."""
        halves = jnp.asarray(_halves(self.layout.steps, self.settings.history))
        return jax.tree.map(
            lambda x: _interleaved(x, jnp.einsum("hk,skm->shm", halves, x)), at_nodes
        )

    def shoot(
        self,
        moment: Moment,
        sections: Section,
        past: Past,
        frames: tuple[Float[Array, "s 7"], Float[Array, "s 7"]],
        starts: Float[Array, "s 18"],
        efforts: Float[Array, " m"],
        load_factor: Any,
    ) -> Shot:
        """All segments from displacement, wrench and twist at their starts, under the efforts of lines.

        ``frames`` are the last poses of their ends, from which displacements are counted.
        """
        rule = march.RULES.get(self.settings.space)
        places = self._places(sections, past)
        known = places if rule is None else _by_stage(rule, places)

        def one(start: Array, own: _Own, known: Any, units: Array, frames: Any) -> Shot:
            y = self._begun(start, units, frames[0])
            f = self._derivative(moment, load_factor, own, efforts)
            h, numbers = own.width / self.layout.steps, jnp.arange(self.layout.steps) * 1.0
            if rule is not None:
                at = numbers[:, None] + jnp.array(rule.reach)
                last, nodes, stages = rule.march(
                    lambda place, y: f(place[0], y, place[1]), y, h, (known, at)
                )
                end = self._displaced(last, units, frames[1])
                return Shot(end, jnp.concatenate([y[None], nodes]), stages)
            sizes = jnp.concatenate([units[3:6], units[6:], jnp.ones(len(y) - 9)])

            def once(y: Array, at: Any) -> tuple[Array, Array]:
                number, *ends = at

                def here(y: Array, tau: Any) -> Array:
                    return f(march.between(ends, tau), y, number + tau)

                new = march.adaptive(here, y, h, self.settings.tolerance, sizes)
                return new, new

            last, nodes = lax.scan(once, y, (numbers, *known))
            end = self._displaced(last, units, frames[1])
            return Shot(end, jnp.concatenate([y[None], nodes]), None)

        found: Shot = jax.vmap(one)(starts, self._owns(sections), known, self.units, frames)
        return found

    def transfer(
        self,
        moment: Moment,
        sections: Section,
        past: Past,
        frames: tuple[Float[Array, "s 7"], Float[Array, "s 7"]],
        starts: Float[Array, "s 18"],
        efforts: Float[Array, " m"],
        load_factor: Any,
        shot: Shot,
    ) -> Float[Array, "s e c"]:
        """Derivative of the ends of the segments by their starts, then by the efforts of lines.

        By the tangent equations with the same rule and stages: the derivative of what is computed.
        """
        rule, h = march.RULES.get(self.settings.space), self.widths / self.layout.steps
        if rule is None:

            def pushed(direction: Float[Array, " c"]) -> Array:
                along = jnp.broadcast_to(direction[:START], starts.shape), direction[START:]
                given = moment, sections, past, frames
                return jax.jvp(
                    lambda z, u: self.shoot(*given, z, u, load_factor).end, (starts, efforts), along
                )[1]

            return jax.vmap(pushed, out_axes=-1)(jnp.eye(START + len(efforts)))
        assert shot.stages is not None
        by_stage = _by_stage(rule, self._places(sections, past))

        def local(own: Any, known: Any, stage: Array, number: Array, reach: Array) -> Array:
            def f(y: Array, u: Array) -> Array:
                return self._derivative(moment, load_factor, own, u)(known, y, number + reach)

            by = jax.jacfwd(f, argnums=(0, 1))(stage, efforts)
            # As if efforts were further numbers of y that do not change along the rod.
            rows = jnp.concatenate(by, axis=1)
            return jnp.concatenate([rows, jnp.zeros((len(efforts), rows.shape[1]))])

        each = jax.vmap(local, (None, 0, 0, None, 0))
        each = jax.vmap(jax.vmap(each, (None, 0, 0, 0, None)), (0, 0, 0, None, None))
        steps = jnp.arange(self.layout.steps) * 1.0
        own = self._owns(sections)
        A = each(own, by_stage, shot.stages, steps, jnp.array(rule.reach))
        T = jax.vmap(jax.jacfwd(self._begun))(starts, self.units, frames[0])
        more = len(efforts)
        T = jnp.pad(T, ((0, 0), (0, more), (0, more)))
        T = T.at[:, T.shape[1] - more :, START:].set(jnp.eye(more))

        def once(T: Array, A: Array) -> tuple[Array, None]:
            return jax.vmap(rule.tangent)(A, T, h), None

        T, _ = lax.scan(once, T, jnp.moveaxis(A, 1, 0))
        by_end = jax.vmap(jax.jacfwd(self._displaced))(shot.nodes[:, -1], self.units, frames[1])
        return by_end @ T[:, : by_end.shape[2]]

    def _owns(self, sections: Section) -> "_Own":
        """What each segment keeps along its steps."""
        uniform = sections.rest.shape[1] == 1
        fixed = jax.tree.map(lambda leaf: leaf[:, 0], sections) if uniform else None
        begin = jnp.asarray(self.layout.spans[:, 0]) * self.lengths
        acts = None if self.lines is None else self.lines.acts
        return _Own(fixed, self.widths, begin, self.line_loads, acts)

    def _places(self, sections: Section, past: Past) -> tuple[Any, Any, Any]:
        """What is known at the start, in the middle and at the end of each step, (s, steps, …)."""
        lines = None if self.lines is None else self.lines.places
        known = (past, lines) if sections.rest.shape[1] == 1 else (past, lines, sections)
        first, middle, last = (
            jax.tree.map(lambda x, cut=cut: x[:, cut], known)
            for cut in (slice(0, -2, 2), slice(1, None, 2), slice(2, None, 2))
        )
        return first, middle, last

    def _derivative(self, moment: Moment, factor: Any, own: "_Own", efforts: Array) -> Any:
        """f(what is known of a place, y, steps from the start of the segment)."""
        oriented, h = ORIENTED[self.settings.orientation], own.width / self.layout.steps
        if own.line_loads:
            moment = moment._replace(loads=_density(own.line_loads, moment.t, factor))
        if self.lines is not None:
            moment = moment._replace(efforts=Efforts(efforts, own.acts, self.lines.area))

        def f(known: Any, y: Array, steps: Any) -> Array:
            past, lines, *rest = known
            section = rest[0] if own.fixed is None else own.fixed
            return slope(section, past, moment, y, own.begin + h * steps, oriented, lines)

        return f

    def _begun(self, start: Array, units: Array, frame: Array) -> Array:
        """Y at the start of a segment."""
        v = start[:3] / 2
        real = jnp.sqrt(jnp.maximum(1 - jnp.sum(v * v), 1e-12))
        turn = so3.quaternion_product(frame[:4], jnp.concatenate([real[None], v]))
        turn = ORIENTED[self.settings.orientation].start(turn)
        none = jnp.zeros(0 if self.lines is None else len(self.lines.area))
        place, wrench = frame[4:] + start[3:6], units[6:] * start[6:12]
        return jnp.concatenate([place, wrench, start[12:], turn, none])

    def _displaced(self, y: Array, units: Array, frame: Array) -> Array:
        """Displacement from the last pose, the wrench in its units, twist, lengths of lines."""
        oriented = ORIENTED[self.settings.orientation]
        turned, lengths = y[TURN : TURN + oriented.size], y[TURN + oriented.size :]
        turn = oriented.turn_from(frame[:4], turned)
        parts = turn, y[:3] - frame[4:], y[3:9] / units[6:], y[9:15], lengths
        return jnp.concatenate(parts)

    def strains(
        self,
        moment: Moment,
        sections: Section,
        past: Past,
        wrenches: Float[Array, "s k 6"],
        efforts: Float[Array, " m"],
    ) -> Float[Array, "s k 6"]:
        """Strains at the nodes."""
        count = self.layout.steps + 1
        known = jax.tree.map(
            lambda x: x[:, ::2], (past, None if self.lines is None else self.lines.places)
        )

        def spread(x: Array) -> Array:
            return (
                jnp.broadcast_to(x, (x.shape[0], count, *x.shape[2:]))
                if x.shape[1] == 1
                else x[:, ::2]
            )

        def one(section: Section, known: Any, wrench: Array, acts: Any) -> Array:
            now = moment
            if self.lines is not None:
                now = moment._replace(efforts=Efforts(efforts, acts, self.lines.area))
            return strain_of(section, known[0], now, wrench, known[1])

        acts = None if self.lines is None else self.lines.acts
        each = jax.vmap(jax.vmap(one, (0, 0, 0, None)))
        found: Array = each(jax.tree.map(spread, sections), known, wrenches, acts)
        return found


def _by_stage(rule: march.Rule, places: tuple[Any, Any, Any]) -> Any:
    """What is known at the stages of each step, (s, steps, q, …)."""
    each = [march.between(places, r) for r in rule.reach]
    return jax.tree.map(lambda *parts: jnp.stack(parts, axis=2), *each)


class _Own(NamedTuple):
    fixed: Section | None
    width: Any
    begin: Any
    line_loads: tuple[LineLoads, ...]
    acts: Any


def _interleaved(nodes: Float[Array, "s k m"], middles: Float[Array, "s h m"]) -> Array:
    """Values at nodes and in the middles between them, in order."""
    pairs = jnp.stack([nodes[:, :-1], middles], axis=2)
    return jnp.concatenate(
        [pairs.reshape(nodes.shape[0], -1, nodes.shape[2]), nodes[:, -1:]], axis=1
    )


def _halves(steps: int, history: str) -> np.ndarray:
    """Weights of the nodes of a segment in the values half-way between them.

    "hermite": cubics with the slopes of central differences, which half-way are those through four nodes.
    """
    used = 2 if history == "linear" else min(4, steps + 1)
    found = np.zeros((steps, steps + 1))
    for i in range(steps):
        first = min(max(i + 1 - used // 2, 0), steps + 1 - used)
        places = np.arange(first, first + used)
        for j in places:
            others = places[places != j]
            found[i, j] = np.prod((i + 0.5 - others) / (j - others))
    return found


def _density(loads: tuple[LineLoads, ...], t: Any, factor: Any) -> Any:
    """Sum of the loads along one segment."""

    def density(X: Array, pose: Pose, twist: Array) -> Array:
        parts = [
            factor * one.acts * one.load.density(one.load.nodes, t, X, pose, twist) for one in loads
        ]
        return sum(parts[1:], start=parts[0])

    return density
