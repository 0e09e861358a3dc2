"""The rods of a robot, integrated segment by segment, all segments as one batch on the last axis."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose
from supple.model.loads import AbstractLineLoad
from supple.shooting import march
from supple.shooting.equations import TURN, Described, Moment, Past, Section, made_of, slope
from supple.shooting.layout import Layout
from supple.shooting.lines import Efforts, Lines
from supple.shooting.orientation import ORIENTED, product
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
    """Where segments lead, and their nodes; segments are on the last axis."""

    end: Float[Array, "e s"]
    """Displacement from the last pose, wrench in its units, twist, and what each line gained in length."""
    nodes: Float[Array, "k n s"]
    """Position, body wrench, body twist, orientation as it is integrated, lengths of lines."""


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
        found = Section(compliance, damping, own.inertia, own.rest, self._described())
        return jax.tree.map(lambda x: jnp.moveaxis(jnp.asarray(x), 0, -1), found)

    def _described(self) -> Described | None:
        """What a law of a user's own is told, place by place."""
        if self.settings.law is None:
            return None
        own = self.material
        shape = np.shape(own.rest)

        def full(part: Array) -> Array:
            matrix = part if part.ndim == 4 else part[..., None] * jnp.eye(6)
            return jnp.broadcast_to(matrix, (*shape, 6))

        damping = jnp.zeros(6) if own.damping is None else own.damping
        free = jnp.broadcast_to(own.free[:, None], shape)
        return Described(full(jnp.asarray(own.stiffness)), full(jnp.asarray(damping)), free)

    def past(self, at_nodes: Past) -> Past:
        """What is known of the past at nodes and in the middles between them, (2 steps + 1, …, s) each."""
        spread = jnp.asarray(_spread(self.layout.steps, self.settings.history))
        return jax.tree.map(lambda x: jnp.einsum("hk,skm->hms", spread, x), at_nodes)

    def shoot(
        self,
        moment: Moment,
        sections: Section,
        past: Past,
        frames: tuple[Float[Array, "7 s"], Float[Array, "7 s"]],
        starts: Float[Array, "18 s"],
        efforts: Float[Array, " m"],
        load_factor: Any,
    ) -> Shot:
        """All segments from displacement, wrench and twist at their starts, under the efforts of lines.

        ``frames`` are the last poses of their ends, from which displacements are counted.
        """
        f, places = self._derivative(moment, sections, past, efforts, load_factor)
        units = jnp.asarray(self.units).T
        y, h = self._begun(starts, units, frames[0]), self._step(moment)
        rule = march.RULES.get(self.settings.space)
        if rule is not None:
            last, nodes = rule.march(f, y, h, places, self.layout.steps)
        else:
            sizes = jnp.concatenate([units[3:6], units[6:], jnp.ones((len(y) - 9, y.shape[1]))])
            tolerance = self.settings.tolerance
            last, nodes = march.adaptive(f, y, h, places, self.layout.steps, tolerance, sizes)
        return Shot(self._displaced(last, units, frames[1]), nodes)

    def transfer(
        self,
        moment: Moment,
        sections: Section,
        past: Past,
        frames: tuple[Float[Array, "7 s"], Float[Array, "7 s"]],
        starts: Float[Array, "18 s"],
        efforts: Float[Array, " m"],
        load_factor: Any,
    ) -> Float[Array, "e c s"]:
        """Derivative of the ends of the segments by their starts, then by the efforts of lines.

        By the tangent of the same steps: the derivative of what is computed. Where neither a load along a
        rod nor its law depends on the place, a shifted start shifts the end, and nothing else.
        """
        given = moment, sections, past, frames

        def pushed(direction: Float[Array, " c"]) -> Float[Array, "e s"]:
            along = jnp.broadcast_to(direction[:START, None], starts.shape), direction[START:]
            return jax.jvp(
                lambda z, u: self.shoot(*given, z, u, load_factor).end, (starts, efforts), along
            )[1]

        whole = np.eye(START + len(efforts))
        if self.line_loads or self.settings.law is not None:
            return jax.vmap(pushed, out_axes=1)(jnp.asarray(whole))
        found = jax.vmap(pushed, out_axes=1)(jnp.asarray(np.delete(whole, [3, 4, 5], axis=0)))
        shift = np.zeros((found.shape[0], 3, found.shape[2]))
        shift[3:6] = np.eye(3)[:, :, None]
        return jnp.concatenate([found[:, :3], jnp.asarray(shift), found[:, 3:]], axis=1)

    def _derivative(
        self, moment: Moment, sections: Section, past: Past, efforts: Array, factor: Any
    ) -> tuple[march.Derivative, Any]:
        """f(y, what is known of a place, steps from the start), and what is known of all places."""
        oriented, h = ORIENTED[self.settings.orientation], self._step(moment)
        begin = self._begin(moment)
        if self.line_loads:
            moment = moment._replace(loads=_density(self.line_loads, moment.t, factor))
        moment = moment._replace(efforts=self._acting(efforts), law=self.settings.law)
        lines = None
        if self.lines is not None:
            lines = jax.tree.map(lambda x: jnp.moveaxis(jnp.asarray(x), 0, -1), self.lines.places)
        fixed = None
        if sections.rest.shape[0] == 1:
            fixed = jax.tree.map(lambda leaf: leaf[0], sections)

        def f(y: Array, known: Any, steps: Any) -> Array:
            past, lines, *rest = known
            section = rest[0] if fixed is None else fixed
            return slope(section, past, moment, y, begin + h * steps, oriented, lines)

        return f, (past, lines, sections) if fixed is None else (past, lines)

    def _step(self, moment: Moment) -> Float[Array, " s"]:
        """Width of the steps along each segment (m)."""
        width = jnp.asarray(self.widths) / self.layout.steps
        return width if moment.growth is None else width * moment.growth[0]

    def _begin(self, moment: Moment) -> Float[Array, " s"]:
        """Arc length where each segment begins (m)."""
        place = jnp.asarray(self.layout.spans[:, 0]) * self.lengths
        return place if moment.growth is None else place * moment.growth[0]

    def _acting(self, efforts: Float[Array, " m"]) -> Efforts | None:
        """What lines do along each segment."""
        if self.lines is None:
            return None
        acts = jnp.asarray(self.lines.acts).T
        spread = [jnp.broadcast_to(x[:, None], acts.shape) for x in (efforts, self.lines.area)]
        return Efforts(spread[0], acts, spread[1])

    def _begun(self, start: Array, units: Array, frame: Array) -> Array:
        """Y at the starts of segments."""
        v = start[:3] / 2
        real = jnp.sqrt(jnp.maximum(1 - jnp.sum(v * v, axis=0), 1e-12))
        turn = product(frame[:4], jnp.concatenate([real[None], v]))
        turn = ORIENTED[self.settings.orientation].start(turn)
        none = jnp.zeros((0 if self.lines is None else len(self.lines.area), start.shape[1]))
        place, wrench = frame[4:] + start[3:6], units[6:] * start[6:12]
        return jnp.concatenate([place, wrench, start[12:], turn, none])

    def _displaced(self, y: Array, units: Array, frame: Array) -> Array:
        """Displacement from the last pose, the wrench in its units, twist, lengths of lines."""
        oriented = ORIENTED[self.settings.orientation]
        turned, lengths = y[TURN : TURN + oriented.size], y[TURN + oriented.size :]
        turn = oriented.turn_from(frame[:4], turned)
        parts = turn, y[:3] - frame[4:], y[3:9] / units[6:], y[9:15], lengths
        return jnp.concatenate(parts)

    def made_of(
        self,
        moment: Moment,
        sections: Section,
        past: Past,
        nodes: Float[Array, "k n s"],
        efforts: Float[Array, " m"],
    ) -> Float[Array, "k z s"]:
        """Strains, and variables of rods of their own, at the nodes."""
        moment = moment._replace(efforts=self._acting(efforts), law=self.settings.law)
        oriented = ORIENTED[self.settings.orientation]
        arc = self._begin(moment) + self._step(moment) * jnp.arange(self.layout.steps + 1)[:, None]
        lines = None
        if self.lines is not None:
            lines = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1)[::2], self.lines.places)
        uniform = sections.rest.shape[0] == 1
        sections = jax.tree.map(lambda x: x[0] if uniform else x[::2], sections)

        def one(section: Section, past: Past, y: Array, X: Array, lines: Lines | None) -> Array:
            R = oriented.matrix(y[TURN : TURN + oriented.size])
            return made_of(section, past, moment, y[3:9], (X, R, y[:3], y[9:15]), lines)

        each = jax.vmap(one, (None if uniform else 0, 0, 0, 0, None if lines is None else 0))
        found: Array = each(sections, jax.tree.map(lambda x: x[::2], past), nodes, arc, lines)
        return found


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


def _spread(steps: int, history: str) -> np.ndarray:
    """Weights of the nodes of a segment in the values at nodes and half-way between them, in order."""
    found = np.zeros((2 * steps + 1, steps + 1))
    found[::2], found[1::2] = np.eye(steps + 1), _halves(steps, history)
    return found


def _density(loads: tuple[LineLoads, ...], t: Any, factor: Any) -> Any:
    """Sum of the loads along the segments."""

    def density(X: Array, R: Array, p: Array, twist: Array) -> Array:
        def one(own: LineLoads, X: Array, R: Array, p: Array, twist: Array) -> Array:
            load = own.load
            return factor * own.acts * load.density(load.nodes, t, X, Pose(R, p), twist)

        each = jax.vmap(one, (0, -1, -1, -1, -1), -1)
        parts = [each(own, X, R, p, twist) for own in loads]
        return sum(parts[1:], start=parts[0])

    return density
