"""Static equilibrium: from the unloaded robot to the loaded one along the branch that connects them.

Loads are raised by a factor from 0 to 1. An increment is taken only if Newton converges and the robot
turned by less than about one radian, so that the solution stays on its branch instead of jumping to
another; otherwise it is halved. Where Newton stalls (a limit point, a nearly singular state) the robot is
relaxed: a damped motion D q̇ + K q = Q, integrated implicitly with growing steps, ends in a stable state.
"""

import enum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.law_check import laws_finite
from supple.model.constraints import ActiveSet
from supple.model.state import State
from supple.solve.newton import NewtonSettings, newton
from supple.system.active_set import CLOSE, should_hold
from supple.system.combination import at_rest
from supple.system.dense import Factors
from supple.system.formulation import (
    AbstractFormulation,
    Discretization,
    with_implicit_derivative,
)
from supple.system.second_order import AbstractSecondOrder, Evaluated

SETTINGS = NewtonSettings(tolerance=1e-10, max_iterations=40, reuse_below=0.02, round_off=1e-6)
LARGEST_TURN = 1.5
"""Largest change of any scaled coordinate in one load increment (about a radian along a rod)."""
EASY = 3
"""Newton iterations of an increment that may be longer than that."""
SMALLEST_INCREMENT = 1e-5
MAX_TRIES = 1000
"""Load increments and relaxation steps together."""


class EquilibriumStatus(enum.IntEnum):
    """How a static solve ended."""

    CONVERGED = 0
    RELAXED = 1
    NOT_CONVERGED = 2
    BAD_INPUT = 3
    NO_EQUILIBRIUM = 4
    CANNOT_CLOSE = 5
    NOT_RESOLVED = 6

    @property
    def ok(self) -> bool:
        """Whether an equilibrium was found, be it with a larger error than asked for."""
        return self in (
            EquilibriumStatus.CONVERGED,
            EquilibriumStatus.RELAXED,
            EquilibriumStatus.NOT_RESOLVED,
        )

    @property
    def message(self) -> str:
        """One sentence for people."""
        return {
            EquilibriumStatus.CONVERGED: "converged along the loading path",
            EquilibriumStatus.RELAXED: "converged after damped relaxation (the path had a limit)",
            EquilibriumStatus.NOT_CONVERGED: (
                "not converged: the robot may have no equilibrium near here (a mechanism, a floating "
                "part, a load beyond a limit point); if a rod bends sharply, give it more nodes or modes"
            ),
            EquilibriumStatus.BAD_INPUT: "a law of time gave what cannot be used",
            EquilibriumStatus.NO_EQUILIBRIUM: "no equilibrium",
            EquilibriumStatus.NOT_RESOLVED: "found, but with a larger error than asked for",
            EquilibriumStatus.CANNOT_CLOSE: "the robot cannot be closed",
        }[self]


class EquilibriumSolution(NamedTuple):
    """Raw outcome of a static solve; batches carry one status a member."""

    q: Float[Array, " nq"]
    multipliers: Float[Array, " n"] | None
    """Forces (N) of the equations between coordinates; None without any."""
    status: Int[Array, ""]
    increments: Int[Array, ""]
    iterations: Int[Array, ""]
    """Of Newton's method, and steps of relaxations."""
    residual: Float[Array, ""]
    """Largest entry of the balance left (N m and the like)."""
    load_factor: Float[Array, ""]
    """Largest load factor reached along the path."""
    worst: Int[Array, ""]
    factors: Any
    """Of the last tangent, from near the solution."""


class _Path(NamedTuple):
    q: Float[Array, " nq"]
    multipliers: Float[Array, " n"] | None
    slope: Float[Array, " nv"]
    factor: Float[Array, ""]
    increment: Float[Array, ""]
    done: Bool[Array, ""]
    taken: Int[Array, ""]
    tries: Int[Array, ""]
    iterations: Int[Array, ""]
    worst: Int[Array, ""]
    active: ActiveSet | None
    """One-sided equations taken for active; None without any."""
    factors: Any


def solve_equilibrium(
    formulation: AbstractFormulation,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    first_increment: Float[Array, ""] | float = 1.0,
    multipliers: Float[Array, " n"] | None = None,
) -> EquilibriumSolution:
    """Equilibrium under the loads of time t, starting from q; pure, batchable, differentiable.

    A robot with closed loops must start from a closed configuration and its multipliers.
    """
    model = formulation.guarded
    lawful = jnp.ones((), dtype=bool) if model is None else laws_finite(model, t)
    formulation = formulation.frozen_at(t)
    fixed = lax.stop_gradient((formulation, q, t, multipliers))
    path = _follow(*fixed, first_increment=first_increment)
    formulation = formulation.with_active(path.active)
    zero = jnp.zeros_like(path.slope)
    there = State(t, path.q, zero, zero, path.multipliers)
    d = Discretization(lax.stop_gradient(there), t)
    root = lax.stop_gradient(formulation.unknown(d, zero))
    left, _ = formulation.residual(d, root)
    there = formulation.state(d, with_implicit_derivative(formulation, d, root))
    found, forces = there.q, there.multipliers
    status = jnp.where(path.done, EquilibriumStatus.CONVERGED, EquilibriumStatus.NOT_CONVERGED)
    status = jnp.where(lawful, status, EquilibriumStatus.BAD_INPUT)
    return EquilibriumSolution(
        q=found,
        multipliers=forces,
        status=status,
        increments=path.taken,
        iterations=path.iterations,
        residual=jnp.max(jnp.abs(left)),
        load_factor=jnp.where(path.done, 1.0, path.factor),
        worst=path.worst,
        factors=path.factors,
    )


def _follow(
    formulation: AbstractFormulation,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " n"] | None,
    first_increment: Float[Array, ""] | float,
) -> _Path:
    """Raise the loads step by step as far as they go."""

    def going(s: _Path) -> Bool[Array, ""]:
        stuck = s.increment < SMALLEST_INCREMENT
        return ~s.done & ~stuck & (s.tries < MAX_TRIES)

    none, no = jnp.zeros((), dtype=int), jnp.zeros((), dtype=bool)
    zero, increment = jnp.zeros(formulation.any_state().v.shape), jnp.asarray(first_increment)
    active = formulation.active_first
    start = _Path(
        q,
        multipliers,
        zero,
        jnp.zeros(()),
        increment.astype(float),
        no,
        none,
        none,
        none,
        none,
        active,
        _no_factors(formulation, q, t, multipliers),
    )
    return lax.while_loop(going, lambda s: _increment(formulation, s, t), start)


def _no_factors(
    formulation: AbstractFormulation,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    multipliers: Float[Array, " n"] | None,
) -> Any:
    """Zeros in the shape of the factors of a solve."""

    def factors() -> Any:
        zero = jnp.zeros(formulation.any_state().v.shape)
        d = Discretization(State(t, q, zero, zero, multipliers), t)
        first = formulation.with_active(formulation.active_first)
        y = first.unknown(d, zero)
        return first.factorize(d, y, first.residual(d, y)[1])

    shapes = jax.eval_shape(factors)
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)


def _increment(formulation: AbstractFormulation, s: _Path, t: Float[Array, ""]) -> _Path:
    """Try one load increment along the path."""
    goal = jnp.minimum(s.factor + s.increment, 1.0)
    width = goal - s.factor
    zero = jnp.zeros_like(s.slope)
    d = Discretization(State(t, s.q, zero, zero, s.multipliers), t)
    loaded = formulation.loaded(goal).with_active(s.active)
    solved = newton(
        lambda y: loaded.residual(d, y),
        lambda y, work: loaded.factorize(d, y, work),
        formulation.unknown(d, s.slope * width),
        formulation.scale,
        SETTINGS,
    )
    there = formulation.state(d, solved.x)
    moved = solved.x - formulation.unknown(d, zero)
    turn = jnp.max(jnp.abs(moved / formulation.turn_scale))
    # What Newton finds at once is nearly linear, as a soft spring's way, however long.
    good = solved.converged & ((turn <= LARGEST_TURN) | (solved.iterations <= EASY))
    active, again = s.active, jnp.zeros((), dtype=bool)
    if active is not None:
        now = should_hold(loaded.one_sided(there), active.held, CLOSE * formulation.length)
        again = good & jnp.any(now != active.held)
        active = active._replace(held=jnp.where(again, now, active.held))
        good = good & ~again
    growth = jnp.clip(0.7 * LARGEST_TURN / jnp.maximum(turn, 1e-6), 1.0, 3.0)
    slope = formulation.displacement(d, solved.x) / width
    forces = s.multipliers
    if forces is not None and there.multipliers is not None:
        forces = jnp.where(good, there.multipliers, forces)
    return s._replace(
        q=jnp.where(good, there.q, s.q),
        multipliers=forces,
        slope=jnp.where(good, slope, jnp.where(again, s.slope, 0.5 * s.slope)),
        factor=jnp.where(good, goal, s.factor),
        # One more look at the same loads where one-sided equations have changed.
        increment=jnp.where(good, width * growth, jnp.where(again, width, width / 2)),
        done=good & (goal >= 1.0),
        taken=s.taken + good,
        tries=s.tries + 1,
        iterations=s.iterations + solved.iterations,
        worst=solved.worst,
        active=active,
        factors=solved.factors,
    )


class Rest(NamedTuple):
    """Where a relaxation ended."""

    q: Float[Array, " nq"]
    multipliers: Float[Array, " n"] | None
    came_to_rest: Bool[Array, ""]
    violation: Float[Array, " n"]
    """What is left of the equations between coordinates (m)."""
    away: Float[Array, " nv"]
    """How far joints went that nothing holds, where they went too far to come back; else zero."""
    left: Float[Array, " nv"]
    """What is left of the balance (N, N m): what drives these joints on."""
    slid: Float[Array, " nv"]
    """How far sliders went that nothing holds (m)."""
    steps: Int[Array, ""] | int = 0
    """Steps that were tried, each with one linearization."""


class Ways(NamedTuple):
    """What a relaxation should know of the coordinates of joints."""

    lengths: np.ndarray
    """Which coordinates are lengths of joints."""
    balls: np.ndarray
    """Which are turns of balls: counted by their path, since their axis may turn, too."""
    unheld: Bool[Array, " nv"]
    """Which coordinates of joints no spring holds."""


class _Relaxation(NamedTuple):
    q: Float[Array, " nq"]
    """The last configuration that was taken."""
    multipliers: Float[Array, " n"] | None
    change: Float[Array, " nv_and_n"]
    """The step to be tried next, and the factors it was found with."""
    factors: Any
    step: Float[Array, ""]
    """Step of pseudo-time (s); it grows as the robot comes to rest."""
    fresh: Bool[Array, ""]
    """Whether there is no step yet: at the start, and after one was refused."""
    done: Bool[Array, ""]
    tries: Int[Array, ""]
    left: Float[Array, " nv"]
    """The balance at the last configuration, and whether loops are closed there."""
    closed: Bool[Array, ""]
    violation: Float[Array, " n"]
    travel: Float[Array, " nv"]


LONGEST_STEP = 1e14
"""Of pseudo-time (s): what moves then is not held by anything."""
LARGEST_STEP = 0.5
"""Largest change of any scaled coordinate in one step of a relaxation; lengths may change more."""
LENGTHS = 100.0
"""So many times: straight ways change no directions."""
SMALL_GAP = 0.02
"""Violation of equations, over the robot's size, up to which a step closes it."""
AWAY, FAR = 60.0, 200.0
"""Way (rad, or sizes of the robot) of a joint that nothing holds after which it has gone for good."""


def relax(
    formulation: AbstractSecondOrder,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    ways: Ways,
    let_go: Bool[Array, " k"] | None = None,
) -> Rest:
    """Follow the damped motion D q̇ + K q = Q (001, eq. 45) to rest, by linearly implicit steps.

    D is the elastic stiffness times a second, plus a little mass for coordinates without elasticity. As
    the steps grow the iteration becomes Newton's. Open loops are closed on the way, a fraction at each
    step: this is how a robot is assembled from a rough guess.

    After each step the next one is estimated with the factors at hand: along a damped motion it is hardly
    longer. Where it is much longer, or where the forces worked against the step (it led uphill, longer than
    the stiffness of an unstable state allows), the step is refused and a shorter one tried.
    One-sided equations that are ``let_go`` do not hold.
    """
    formulation = formulation.frozen_at(t)
    n, m = formulation.nv, formulation.equations
    zero = jnp.zeros(n)
    scale = formulation.coordinate_scale * np.where(ways.lengths, LENGTHS, 1.0)
    ratio = formulation.stiffness_over_mass(q, t)

    def evaluated(
        q: Float[Array, " nq"], multipliers: Float[Array, " n"] | None
    ) -> tuple[Coordinates, AbstractSecondOrder, Evaluated]:
        motion = Coordinates(q, zero, zero, zero, t, multipliers)
        active = formulation.active_at(q, t, multipliers)
        if active is not None and let_go is not None:
            active = active._replace(held=active.held & ~let_go)
        now = formulation.with_active(active)
        return motion, now, now.balance(motion)

    def damped(
        motion: Coordinates, now: AbstractSecondOrder, state: Evaluated, step: Float[Array, ""]
    ) -> Factors:
        weights = at_rest(mass=1e-3 * ratio / step, elastic=1 / step)
        return now.linearize(motion, state, (weights,))[0].factorize()

    def left(state: Evaluated, step: Float[Array, ""]) -> Float[Array, " nv_and_n"]:
        # Small gaps are closed at once, large ones on the way.
        gap = jnp.max(jnp.abs(state.violation), initial=0.0)
        small = SMALL_GAP * formulation.length / jnp.maximum(gap, 1e-300)
        fraction = jnp.minimum(jnp.maximum(step, small), 1.0)
        return jnp.concatenate([state.residual, fraction * state.violation])

    def going(s: _Relaxation) -> Bool[Array, ""]:
        return ~s.done & ~jnp.any(gone(s.travel)) & (s.tries < MAX_TRIES)

    def gone(travel: Float[Array, " nv"]) -> Bool[Array, " nv"]:
        limit = np.where(ways.lengths, FAR, AWAY) * formulation.coordinate_scale
        return ways.unheld & (jnp.abs(travel) > limit)

    def once(s: _Relaxation) -> _Relaxation:
        moved = jnp.where(s.fresh, 0.0, s.change[:n])
        forces = s.multipliers
        if forces is not None:
            forces = forces + jnp.where(s.fresh, 0.0, s.change[n:])
        there = formulation.retract(s.q, moved)
        motion, now, state = evaluated(there, forces)
        estimate = -s.factors.solve(left(state, s.step))[:n] / scale  # nonsense if fresh, not used
        last = s.change[:n] / scale
        before, after = jnp.max(jnp.abs(last)), jnp.max(jnp.abs(estimate))
        # The work of what drives the motion, by the trapezoidal rule; closing a loop may cost some.
        downhill = jnp.dot(s.left + state.residual, moved) <= 0.0
        tiny = jnp.maximum(before, after) <= SETTINGS.tolerance
        follows = (after <= 2.0 * before) & (downhill | ~s.closed)
        taken = s.fresh | follows | tiny
        smooth = ~s.fresh & (before < 0.4 * LARGEST_STEP) & (after <= 1.2 * before)
        step = jnp.where(smooth, jnp.minimum(2 * s.step, LONGEST_STEP), s.step)
        step = jnp.where(taken, step, s.step / 4)
        factors = damped(motion, now, state, step)
        change = -factors.solve(left(state, step))
        turn = jnp.max(jnp.abs(change[:n] / scale))
        closed = jnp.max(jnp.abs(state.violation), initial=0.0) < SETTINGS.tolerance
        falls = (jnp.dot(state.residual, change[:n]) < 0.0) | ~closed | (turn < SETTINGS.tolerance)
        usable = jnp.isfinite(turn) & (turn <= LARGEST_STEP) & falls
        # Short steps tell of rest only if they become shorter, or if no damping is left.
        settled = (after <= 0.5 * before) | (step >= LONGEST_STEP) | tiny
        rest = taken & usable & (turn < SETTINGS.tolerance) & (step > 10.0) & settled & closed
        return _Relaxation(
            q=jnp.where(taken, there, s.q),
            multipliers=_either(taken, forces, s.multipliers),
            change=change,
            factors=factors,
            step=jnp.where(taken & ~usable, step / 4, step),
            fresh=~taken | ~usable,
            done=rest,
            tries=s.tries + 1,
            left=jnp.where(taken, state.residual, s.left),
            closed=jnp.where(taken, closed, s.closed),
            violation=jnp.where(taken, state.violation, s.violation),
            travel=s.travel + jnp.where(taken, jnp.where(ways.balls, jnp.abs(moved), moved), 0.0),
        )

    forces = jnp.zeros(m) if m else None
    short = jnp.asarray(0.1)
    shapes = jax.eval_shape(lambda: damped(*evaluated(q, forces), short))
    start = _Relaxation(
        q,
        forces,
        jnp.zeros(n + m),
        jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes),
        short,
        jnp.ones((), dtype=bool),
        jnp.zeros((), dtype=bool),
        jnp.zeros((), dtype=int),
        jnp.zeros(n),
        jnp.zeros((), dtype=bool),
        jnp.zeros(m),
        jnp.zeros(n),
    )
    end = lax.while_loop(going, once, start)
    away = jnp.where(gone(end.travel), end.travel, 0.0)
    slid = jnp.where(ways.unheld & ways.lengths, end.travel, 0.0)
    return Rest(end.q, end.multipliers, end.done, end.violation, away, end.left, slid, end.tries)


def _either(
    flag: Bool[Array, ""], new: Float[Array, " n"] | None, old: Float[Array, " n"] | None
) -> Float[Array, " n"] | None:
    return None if new is None or old is None else jnp.where(flag, new, old)
