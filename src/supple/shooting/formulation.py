"""A robot whose rods are shot, as its solvers see it.

The unknown of a solve is y = (x, λ, u, Z): displacements of the companion's coordinates (joints, stations,
what tendons and chambers measure along rods), the multipliers of its equations, the efforts of these tendons
and chambers, and for each segment of a rod displacement, internal wrench and twist of its first section. What
must vanish is the companion's balance under the wrenches of all pieces, its equations, and where a segment
begins or ends the difference to what is next to it: a joint, a station, another segment. The state is the
configuration of the record: poses, strains, wrenches and twists at the nodes. Stations move as the ends of
their pieces; only joints have rates of their own.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3, so3
from supple.mechanics import element_motion
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import balance
from supple.mechanics.kinematics import kinematics
from supple.mechanics.sensing import Sensors
from supple.mechanics.tree import sum_over_subtrees
from supple.model.constraints import ActiveSet
from supple.model.control import Control
from supple.model.inputs import find_input, input_vector, with_inputs
from supple.model.joints import FrameJoint
from supple.model.model import GROUND, Model
from supple.model.state import State
from supple.shooting.equations import ORIENTED, TURN, Moment, Past, Section
from supple.shooting.layout import Layout
from supple.shooting.rods import START, Rods, Shot
from supple.system import active_set
from supple.system.dense import Factors, factorize_dense
from supple.system.formulation import AbstractFormulation, Discretization, Scalar, Vector

NUMBERS = START
"""At the start of a segment: displacement, wrench, twist. At a node: strain, wrench, twist."""


class Solve(NamedTuple):
    """What all evaluations of one solve share."""

    moment: Moment
    sections: Section
    past: Past
    frames: tuple[Float[Array, "s 7"], Float[Array, "s 7"]]
    """Last poses of the ends of segments."""


class Placed(NamedTuple):
    """What the companion says: balance, equations, where pieces begin, what joints hold."""

    residual: Vector
    violation: Vector
    starts: Float[Array, "p 6"]
    moves: Float[Array, "p 6"]
    """Twists where pieces begin."""
    held: Float[Array, "j 6"]
    """That each joint transmits, in the axes of its item."""


def _chart_motion(frame, x, twist, change):  # type: ignore[no-untyped-def]
    """ẋ and ẍ of a free frame with this body twist and its derivative, in the chart of FrameJoint.

    2 ḣ = h ω tells that of its quaternion h = (w, v), with x = 2 v.
    """
    v, spin, speed = x[:3] / 2, twist[:3], change[:3]
    w = jnp.sqrt(jnp.maximum(1.0 - jnp.sum(v * v), 1e-12))
    rotation = FrameJoint().pose(frame, x).rotation
    turning = w * spin + jnp.cross(v, spin)
    wdot = -jnp.sum(v * spin) / 2
    turns = wdot * spin + jnp.cross(turning / 2, spin) + w * speed + jnp.cross(v, speed)
    moving = rotation @ twist[3:]
    moves = rotation @ (change[3:] + jnp.cross(spin, twist[3:]))
    return jnp.concatenate([turning, moving]), jnp.concatenate([turns, moves])


class Parts(eqx.Module):
    """What a record stands for: rods that are shot, and a companion model of all that is no rod."""

    companion: Model
    rods: Rods
    mounts: Pose
    """First section of each rod in the frame of the sample that it hangs on."""
    host: Model
    """The same robot in strain coordinates: where starts and guesses come from."""
    mounted: tuple[int, ...] = eqx.field(static=True)
    """The companion's sample that each rod hangs on, or GROUND."""

    @property
    def lines(self) -> int:
        """Number of tendons and chambers along rods."""
        return 0 if self.rods.lines is None else len(self.rods.lines.area)

    def owner(self, unknown: int) -> str:
        """Whose one of the unknowns of a solve is, for messages."""
        layout, companion = self.rods.layout, self.companion
        joints = companion.topology.v_start[-1]
        for slot in companion.topology.joint_slots:
            if slot.v_start <= unknown < slot.v_stop:
                return f"joint of {slot.name!r}, coordinate {unknown - slot.v_start}"
        if unknown < companion.nv:
            segment = layout.ends[(unknown - joints) // 6]
            return (
                f"rod {layout.names[layout.rod[segment]]!r} at u = {layout.spans[segment, 1]:.3g}"
            )
        rest = unknown - companion.nv - companion.equations - self.lines
        if rest < -self.lines:
            return companion.constraints.owner[unknown - companion.nv]
        segment = max(rest, 0) // NUMBERS
        return f"rod {layout.names[layout.rod[segment]]!r} at u = {layout.spans[segment, 0]:.3g}"


class StrongForm(AbstractFormulation):
    """A robot whose rods are shot, by its record."""

    record: Model

    @property
    def parts(self) -> Parts:
        """What is solved."""
        assert self.record.fields is not None
        found: Parts = self.record.fields.parts
        return found

    @property
    def companion(self) -> Model:
        """The robot without its rods."""
        return self.parts.companion

    @property
    def rods(self) -> Rods:
        """The rods."""
        return self.parts.rods

    @property
    def layout(self) -> Layout:
        """How rods are cut."""
        return self.rods.layout

    @property
    def equations(self) -> int:
        """Number of the companion's equations."""
        return self.companion.equations

    # Parts of vectors -------------------------------------------------------------------------------------

    def _widths(self, whole: Vector) -> tuple[int, int]:
        """Numbers of the joints, and of each node's pose, in a configuration or in velocities."""
        at = self.companion.topology
        return (at.q_start[-1], 7) if len(whole) == self.record.nq else (at.v_start[-1], 6)

    def _poses(self, whole: Vector) -> Float[Array, "n w"]:
        """The poses of the nodes, or their rates."""
        joints, width = self._widths(whole)
        return whole[joints : joints + width * self.layout.node_count].reshape(-1, width)

    def _fields(self, whole: Vector) -> Float[Array, "s k 18"]:
        """Strains and wrenches at the nodes, or their rates."""
        joints, width = self._widths(whole)
        start, k = joints + width * self.layout.node_count, self.layout.steps + 1
        count = self.layout.size * k * NUMBERS
        return whole[start : start + count].reshape(self.layout.size, k, NUMBERS)

    def _of_companion(self, whole: Vector) -> Vector:
        """The companion's part."""
        stations = self._poses(whole)[self.layout.station_nodes]
        return jnp.concatenate([whole[: self._widths(whole)[0]], stations.reshape(-1)])

    def _split(self, y: Vector) -> tuple[Vector, Vector, Vector, Float[Array, "s 18"]]:
        n, m, k = self.companion.nv, self.equations, self.parts.lines
        return y[:n], y[n : n + m], y[n + m : n + m + k], y[n + m + k :].reshape(-1, NUMBERS)

    @property
    def _line_slice(self) -> slice:
        """Where the companion's velocities tell of lines along rods."""
        stop = self.companion.topology.v_start[-1]
        return slice(stop - self.parts.lines, stop)

    def _efforts(self, scaled: Vector) -> Vector:
        """Efforts of lines along rods, from those in units of energy over the size of each coordinate."""
        sizes = jnp.asarray(self.companion.scale)[self._line_slice]
        return scaled * jnp.max(self.rods.units[:, 6]) / sizes

    # Unknowns and equations -------------------------------------------------------------------------------

    @property
    def _line_q(self) -> slice:
        stop = self.companion.topology.q_start[-1]
        return slice(stop - self.parts.lines, stop)

    @property
    def _force(self) -> Float[Array, ""]:
        return jnp.max(self.rods.units[:, 9])

    @property
    def scale(self) -> Vector:
        # Wrenches and twists follow from displacements, but Newton's method must see whether they settle.
        lengths = self.rods.units[:, :6]
        loose = 10 * jnp.ones_like(lengths), 10 * self.rods.frequencies[:, None] * lengths
        starts = jnp.concatenate([lengths, *loose], axis=1)
        own = jnp.asarray(self.companion.scale)
        free = jnp.full(self.equations + self.parts.lines, jnp.inf)
        return jnp.concatenate([own, free, starts.reshape(-1)])

    @property
    def turn_scale(self) -> Vector:
        starts = (
            jnp.full((self.layout.size, NUMBERS), jnp.inf).at[:, :6].set(self.rods.units[:, :6])
        )
        tail = starts.reshape(-1)
        return self.scale.at[-len(tail) :].set(tail)

    def unknown(self, d: Discretization, x: Vector) -> Vector:
        forces = d.origin.multipliers
        forces = jnp.zeros(self.equations) if forces is None else forces
        shift = self._poses(x)[self.layout.nodes[:, 0]]
        fields = (self._fields(d.origin.q) + self._fields(x))[:, 0, 6:]
        wrench, twist = fields[:, :6] / self.rods.units[:, 6:], fields[:, 6:]
        twist = jnp.zeros_like(twist) if d.rates is None else twist
        starts = jnp.concatenate([shift, wrench, twist], axis=1)
        own = self._of_companion(x)
        efforts = jnp.zeros(self.parts.lines)
        if self.parts.lines:  # as the companion has them at the guess
            moves = (self._fields(d.origin.q) + self._fields(x))[self.layout.ends, -1, 12:]
            c = self._coordinates(d, own, forces / self._force, moves)
            asked = balance(self.companion, c).residual * jnp.asarray(self.companion.scale)
            efforts = -asked[self._line_slice] / jnp.max(self.rods.units[:, 6])
        return jnp.concatenate([own, forces / self._force, efforts, starts.reshape(-1)])

    def _solve(self, d: Discretization) -> Solve:
        nodes = self.layout.nodes
        base, rate = self._fields(d.origin.q), None if d.rates is None else d.rates.by_rate
        gains = jnp.zeros_like(base) if d.rates is None else self._fields(d.rates.velocity)
        past = Past(base[..., :6], gains[..., :6], base[..., 12:], gains[..., 12:])
        gravity = self.companion.load_factor * jnp.asarray(self.companion.gravity)
        frames = self._poses(d.origin.q)
        return Solve(
            Moment(rate, gravity, d.t, self.rods.settings.rotary_inertia, None),
            self.rods.sections(rate),
            self.rods.past(past),
            (frames[nodes[:, 0]], frames[nodes[:, -1]]),
        )

    def _shot(self, solve: Solve, starts: Float[Array, "s 18"], efforts: Vector) -> Shot:
        factor = self.companion.load_factor
        return self.rods.shoot(*solve, starts, self._efforts(efforts), factor)

    def residual(self, d: Discretization, y: Vector) -> tuple[Vector, Any]:
        x, forces, efforts, starts = self._split(y)
        shot = self._shot(self._solve(d), starts, efforts)
        at, end, lengths = self.layout, shot.end[:, :NUMBERS], shot.end[:, NUMBERS:].sum(axis=0)
        placed = self._placed(d, x, forces, *self._given(starts, end))
        stations = x[self.companion.topology.v_start[-1] :].reshape(-1, 6)
        following = starts[np.minimum(np.arange(at.size) + 1, at.size - 1), :6]
        arrives = at.station_of_end[:, None] >= 0
        goal = jnp.where(arrives, stations[at.station_of_end], following)
        sizes = jnp.asarray(self.companion.scale)[self._line_slice]
        measured = self._of_companion(d.origin.q)[self._line_q] + x[self._line_slice] - lengths
        left = [
            placed.residual.at[self._line_slice].add(efforts),
            placed.violation,
            measured / sizes,
            starts[at.starts, :6] - placed.starts,
            starts[at.starts, 12:] - placed.moves,
            end[:, :6] - goal,
            end[at.inner, 6:] - starts[at.inner + 1, 6:],
        ]
        return jnp.concatenate([part.reshape(-1) for part in left]), shot

    def _given(self, starts: Array, end: Array) -> tuple[Array, Array, Array]:
        """Wrenches at the starts and ends of pieces, in their units, and twists at their ends."""
        at = self.layout
        return starts[at.starts, 6:12], end[at.ends, 6:12], end[at.ends, 12:]

    def factorize(self, d: Discretization, y: Vector, work: Any) -> Factors:
        x, forces, efforts, starts = self._split(y)
        n, m, p = self.companion.nv, self.equations, len(self.layout.starts)
        factor = self.companion.load_factor
        pulls = self._efforts(efforts)
        leads = self.rods.transfer(*self._solve(d), starts, pulls, factor, work)
        leads = leads.at[:, :, NUMBERS:].multiply(self._efforts(jnp.ones_like(efforts)))
        end = work.end[:, :NUMBERS]

        given = self._given(starts, end)

        def placed(own: Vector) -> Vector:
            x, forces, parts = own[:n], own[n : n + m], own[n + m :].reshape(3, p, 6)
            found = self._placed(d, x, forces, *parts)
            outcome = found.residual, found.violation, found.starts, found.moves
            return jnp.concatenate([part.reshape(-1) for part in outcome])

        wrenches = [part.reshape(-1) for part in given]
        J = jax.jacfwd(placed)(jnp.concatenate([x, forces, *wrenches]))
        return factorize_dense(self._assembled(J, leads))

    def _assembled(self, J: Float[Array, "a b"], leads: Float[Array, "s e c"]) -> Array:
        """The derivative of the residual."""
        at, n, m, s = self.layout, self.companion.nv, self.equations, self.layout.size
        pieces, own = len(at.starts), self.companion.topology.v_start[-1]
        count, k = self.parts.lines, n + m
        of_lines = k + np.arange(count)
        leads, by_effort, longer = (
            leads[:, :NUMBERS, :NUMBERS],
            leads[:, :NUMBERS, NUMBERS:],
            leads[:, NUMBERS:],
        )
        size = k + count + NUMBERS * s

        def columns(segments: np.ndarray) -> np.ndarray:
            return k + count + NUMBERS * np.asarray(segments)[:, None] + np.arange(NUMBERS)

        # Balance, equations, and where pieces begin: by the companion's own, by wrenches at starts of
        # pieces, and by wrenches and twists at their ends, which their last segments lead to.
        rows = np.concatenate([np.arange(k), k + count + np.arange(12 * pieces)])
        sign = np.concatenate([np.ones(k), -np.ones(12 * pieces)])[:, None]
        J = sign * J
        by_start, by_wrench, by_move = (
            J[:, k + 6 * pieces * i : k + 6 * pieces * (i + 1)].reshape(-1, pieces, 6)
            for i in range(3)
        )
        by_end = jnp.concatenate([by_wrench, by_move], axis=2)
        A = jnp.zeros((size, size)).at[rows[:, None], np.arange(k)].set(J[:, :k])
        A = A.at[rows[:, None, None], columns(at.starts)[:, 6:12]].add(by_start)
        last = jnp.einsum("kpi,pij->kpj", by_end, leads[at.ends, 6:])
        A = A.at[rows[:, None, None], columns(at.ends)].add(last)
        own_start = columns(at.starts)[:, np.r_[0:6, 12:18]]
        begins = k + count + np.arange(12 * pieces).reshape(2, pieces, 6)
        A = A.at[np.concatenate([begins[0], begins[1]], axis=1), own_start].add(1.0)
        if count:
            sizes = jnp.asarray(self.companion.scale)[self._line_slice]
            measures = np.arange(n)[self._line_slice]
            A = A.at[measures, of_lines].add(1.0)
            A = A.at[of_lines, measures].add(1 / sizes)
            A = A.at[of_lines[:, None], of_lines].add(
                -longer[:, :, NUMBERS:].sum(0) / sizes[:, None]
            )
            gains = -longer[:, :, :NUMBERS] / sizes[:, None]
            A = A.at[of_lines[None, :, None], columns(np.arange(s))[:, None, :]].add(gains)
            last = jnp.einsum("kpi,pij->kj", by_end, by_effort[at.ends, 6:])
            A = A.at[rows[:, None], of_lines].add(last)
        # Where segments end: at the next one, or at a station.
        first, six = k + count + 12 * pieces, np.arange(6)
        ends = first + 6 * np.arange(s)[:, None] + six
        A = A.at[ends[:, :, None], of_lines].add(by_effort[:, :6])
        A = A.at[ends[:, :, None], columns(np.arange(s))[:, None, :]].add(leads[:, :6])
        stations = own + 6 * np.arange(at.station_count)[:, None] + six
        A = A.at[ends[at.ends], stations].add(-1.0)
        A = A.at[ends[at.inner], columns(at.inner + 1)[:, :6]].add(-1.0)
        inner = first + 6 * s + np.arange(12 * len(at.inner)).reshape(-1, 12)
        A = A.at[inner[:, :, None], columns(at.inner)[:, None, :]].add(leads[at.inner, 6:])
        A = A.at[inner[:, :, None], of_lines].add(by_effort[at.inner, 6:])
        return A.at[inner, columns(at.inner + 1)[:, 6:]].add(-1.0)

    # The companion ----------------------------------------------------------------------------------------

    def _coordinates(
        self, d: Discretization, x: Vector, forces: Vector, moves: Float[Array, "p 6"]
    ) -> Coordinates:
        """The companion's motion; stations have the twists at the ends of their pieces."""
        q = self._of_companion(d.origin.q)
        multipliers = self._force * forces if self.equations else None
        if d.rates is None:
            zero = jnp.zeros_like(x)
            return Coordinates(q, x, zero, zero, d.t, multipliers)
        rate = d.rates.by_rate
        xdot = rate * x + self._of_companion(d.rates.velocity)
        xddot = d.rates.by_change * x + self._of_companion(d.rates.acceleration)
        at, own = self.layout.ends, self.companion.topology.v_start[-1]
        change = rate * (moves - self._fields(d.origin.q)[at, -1, 12:])
        change = change + self._fields(d.rates.velocity)[at, -1, 12:]
        frames = self._poses(d.origin.q)[self.layout.station_nodes]
        stations = jax.vmap(_chart_motion)(frames, x[own:].reshape(-1, 6), moves, change)
        xdot, xddot = (
            jnp.concatenate([joints[:own], rates.reshape(-1)])
            for joints, rates in zip((xdot, xddot), stations, strict=True)
        )
        return Coordinates(q, x, xdot, xddot, d.t, multipliers)

    def _placed(
        self,
        d: Discretization,
        x: Vector,
        forces: Vector,
        first: Float[Array, "p 6"],
        last: Float[Array, "p 6"],
        moves: Float[Array, "p 6"],
    ) -> Placed:
        """The companion under wrenches at starts and ends of pieces, in their units, with these twists."""
        at, model, units = self.layout, self.companion, self.rods.units
        c = self._coordinates(d, x, forces, moves)
        found = balance(model, c)
        motion = found.motion
        joints = model.topology.element_start[-1]
        stations = joints + np.arange(at.station_count)
        samples = joints + at.start_station
        rods = np.flatnonzero(at.start_station < 0)
        samples[rods] = self.parts.mounted
        begin = motion.poses_at(samples)
        mounted = Pose(begin.rotation[rods], begin.position[rods]) @ self.parts.mounts
        begin = Pose(
            begin.rotation.at[rods].set(mounted.rotation),
            begin.position.at[rods].set(mounted.position),
        )
        # The part beyond a section pulls at the part before, and that at it the other way.
        pulls = [
            se3.wrench_to_world(begin, units[at.starts, 6:] * first),
            -se3.wrench_to_world(motion.poses_at(stations), units[at.ends, 6:] * last),
        ]
        places = np.concatenate([samples, stations])
        moving = np.flatnonzero(places != GROUND)
        acting = jnp.concatenate(pulls)[moving]

        def twists(xdot: Vector) -> Float[Array, "k 6"]:
            return kinematics(model, c._replace(xdot=xdot)).twists_at(places[moving])

        (generalized,) = jax.vjp(twists, c.xdot)[1](acting)
        energy = jnp.max(units[:, 6])
        residual = (found.residual - generalized) * jnp.asarray(model.scale) / energy
        violation = found.violation / jnp.max(units[:, 3])
        if d.rates is not None and np.any(model.constraints.of_velocities):
            speeds = model.constraints.of_velocities
            violation = jnp.where(speeds, violation / d.rates.by_rate, violation)
        starts = x[model.topology.v_start[-1] :].reshape(-1, 6)[at.start_station]
        base = self._poses(d.origin.q)[at.nodes[at.starts[rods], 0]]
        turn = jax.vmap(ORIENTED["matrix"].turn_from)(base[:, :4], mounted.rotation.reshape(-1, 9))
        shift = mounted.position + motion.origin - base[:, 4:]
        starts = starts.at[rods].set(jnp.concatenate([turn, shift], axis=1))
        entering = se3.to_body(mounted, motion.twists_at(samples[rods]))
        begun = moves[at.start_station].at[rods].set(entering)
        asked = jnp.concatenate([part.reshape(-1, 6) for part in found.wrench])
        given = jnp.zeros_like(asked).at[places[moving]].add(-acting)
        asked = (asked + sum_over_subtrees(model.topology.parent, given))[:joints]
        held = se3.wrench_to_body(motion.poses_at(np.arange(joints)), asked)
        return Placed(residual, violation, starts, begun, held)

    # States -----------------------------------------------------------------------------------------------

    def displacement(self, d: Discretization, y: Vector) -> Vector:
        x, forces, efforts, starts = self._split(y)
        at, solve = self.layout, self._solve(d)
        shot = self._shot(solve, starts, efforts)
        base = self._poses(d.origin.q)[at.nodes]
        oriented = ORIENTED[self.rods.settings.orientation]
        turned = shot.nodes[..., TURN : TURN + oriented.size]
        turn = jax.vmap(jax.vmap(oriented.turn_from))(base[..., :4], turned)
        moved = jnp.concatenate([turn, shot.nodes[..., :3] - base[..., 4:]], axis=-1)
        wrenches, twists = shot.nodes[..., 3:9], shot.nodes[..., 9:15]
        frames = jnp.zeros((at.node_count, 6))
        # Neighbours share a node; stations are where the companion has them, so that loops stay closed.
        frames = (
            frames.at[at.nodes[:, 0]].set(moved[:, 0]).at[at.nodes[:, 1:-1]].set(moved[:, 1:-1])
        )
        own = self.companion.topology.v_start[-1]
        frames = frames.at[at.station_nodes].set(x[own:].reshape(-1, 6))
        strains = self.rods.strains(
            solve.moment, solve.sections, solve.past, wrenches, self._efforts(efforts)
        )
        fields = jnp.concatenate([strains, wrenches, twists], axis=-1) - self._fields(d.origin.q)
        parts = [x[:own], frames.reshape(-1), fields.reshape(-1)]
        joints = self.companion.topology.element_start[-1]
        if joints:
            held = self._placed(d, x, forces, *self._given(starts, shot.end[:, :NUMBERS])).held
            held = jnp.pad(held, ((0, 0), (0, NUMBERS - 6))).reshape(-1)
            parts.append(held - d.origin.q[len(d.origin.q) - len(held) :])
        return jnp.concatenate(parts)

    def state(self, d: Discretization, y: Vector) -> State:
        x = self.displacement(d, y)
        zero = jnp.zeros_like(x)
        xdot, xddot = (zero, zero) if d.rates is None else d.rates.at(x)
        multipliers = self._force * self._split(y)[1] if self.equations else None
        q = self.retract(d.origin.q, x)
        v = self.rate(d.origin.q, x, xdot)
        a = self.rate_derivative(d.origin.q, x, xdot, xddot)
        if d.rates is not None:
            v, a = self._moving(q, v, a)
        return State(d.t, q, v, a, multipliers)

    def _moving(self, q: Vector, v: Vector, a: Vector) -> tuple[Vector, Vector]:
        """Rates in which frames move as the twists beside them tell, whose rates are those of the twists."""
        at, width = self.layout, 6
        twists, changes = self._fields(q)[..., 12:], self._fields(v)[..., 12:]
        rotation = so3.quaternion_to_matrix(self._poses(q)[:, :4])

        def spread(values: Float[Array, "s k 6"]) -> Float[Array, "n 6"]:
            return jnp.zeros((at.node_count, 6)).at[at.nodes[:, ::-1]].set(values[:, ::-1])

        twist, change = spread(twists), spread(changes)
        linear = change[:, 3:] + jnp.cross(twist[:, :3], twist[:, 3:])
        moves, turns = (
            jnp.concatenate([part[:, :3], jnp.einsum("nij,nj->ni", rotation, along)], axis=1)
            for part, along in ((twist, twist[:, 3:]), (change, linear))
        )
        start = self._widths(v)[0]
        own = slice(start, start + width * at.node_count)
        return v.at[own].set(moves.reshape(-1)), a.at[own].set(turns.reshape(-1))

    def retract(self, q: Vector, x: Vector) -> Vector:
        return element_motion.retract(self.record, q, x)

    def difference(self, q: Vector, other: Vector) -> Vector:
        return element_motion.difference(self.record, q, other)

    def rate(self, q: Vector, x: Vector, xdot: Vector) -> Vector:
        return element_motion.rate(self.record, q, x, xdot)

    def chart_rate(self, q: Vector, x: Vector, v: Vector) -> Vector:
        return element_motion.chart_rate(self.record, q, x, v)

    def rate_derivative(self, q: Vector, x: Vector, xdot: Vector, xddot: Vector) -> Vector:
        return element_motion.rate_derivative(self.record, q, x, xdot, xddot)

    def any_state(self) -> State:
        zero = jnp.zeros(self.record.nv)
        forces = jnp.zeros(self.equations) if self.equations else None
        return State(jnp.zeros(()), jnp.zeros(self.record.nq), zero, zero, forces)

    # Runs -------------------------------------------------------------------------------------------------

    @property
    def starts_with_acceleration(self) -> bool:
        return False

    def consistent_state(
        self, q: Vector, v: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> tuple[State, ActiveSet | None]:
        forces = None
        if self.equations:
            forces = jnp.zeros(self.equations) if multipliers is None else multipliers
        state = State(t, q, v, jnp.zeros_like(v), forces)
        return state, self.active_at(q, t, multipliers)

    def with_acceleration(self, state: State) -> State:
        return state

    def error_norm(self, state: State, change: Vector) -> Float[Array, ""]:
        shift = self._poses(change)[:, 3:]
        return jnp.sqrt(jnp.mean(jnp.sum(shift**2, axis=1))) / self.length

    def fastest_turn(self, v: Vector) -> Float[Array, ""]:
        return element_motion.fastest_turn(self.record, v)

    @property
    def active_first(self) -> ActiveSet | None:
        return active_set.active_first(self.companion)

    def with_active(self, active: ActiveSet | None) -> "StrongForm":
        return self if active is None else self._with(lambda m: active_set.hold(m, active))

    def active_at(
        self, q: Vector, t: Float[Array, ""], multipliers: Vector | None
    ) -> ActiveSet | None:
        close = active_set.CLOSE * self.length
        return active_set.active_at(self.companion, self._of_companion(q), t, multipliers, close)

    def one_sided(self, state: State) -> active_set.OneSided:
        q, v = self._of_companion(state.q), self._of_companion(state.v)
        return active_set.one_sided(self.companion, q, v, state.t, state.multipliers)

    @property
    def length(self) -> Float[Array, ""]:
        return jnp.max(self.rods.units[:, 3])

    @property
    def controls(self) -> tuple[Control, ...]:
        return self.record.controls

    @property
    def inputs(self) -> Float[Array, " m"]:
        return input_vector(self.record)

    def find_input(self, name: str, asking: str) -> tuple[slice, tuple[int, ...]]:
        return find_input(self.record, name, asking)

    def with_inputs(self, inputs: Float[Array, " m"]) -> "StrongForm":
        return self._with(lambda model: with_inputs(model, inputs))

    def sensors(self, state: State) -> Sensors:
        return Sensors(self.record, state)

    @property
    def guarded(self) -> None:
        return None

    def _with(self, change: Callable[[Model], Model]) -> "StrongForm":
        """With both models changed."""
        record = change(self.record)
        parts = dataclasses.replace(self.parts, companion=change(self.companion))
        assert self.record.fields is not None
        fields = dataclasses.replace(self.record.fields, parts=parts)
        return StrongForm(dataclasses.replace(record, fields=fields))

    # Statics ----------------------------------------------------------------------------------------------

    def frozen_at(self, t: Float[Array, ""], *, of_velocities: bool = False) -> "StrongForm":
        slips = self.companion.slips if of_velocities else ()
        return self._with(lambda m: dataclasses.replace(m.frozen_at(t), slips=slips))

    def loaded(self, factor: Scalar) -> "StrongForm":
        def raised(model: Model) -> Model:
            return eqx.tree_at(lambda m: m.load_factor, model, factor * model.load_factor)

        return self._with(raised)
