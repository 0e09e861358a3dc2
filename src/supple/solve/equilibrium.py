"""Static equilibrium: from the unloaded robot to the loaded one along the branch that connects them.

Loads are raised by a factor from 0 to 1. An increment is taken only if Newton converges and the robot
turned by less than about one radian, so that the solution stays on its branch instead of jumping to
another; otherwise it is halved. Where Newton stalls (a limit point, a nearly singular state) the robot is
relaxed: a damped motion D q̇ + K q = Q, integrated implicitly with growing steps, ends in a stable state.
"""

import enum
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.mechanics.element_tangent import element_tangents
from supple.mechanics.inverse_dynamics import Balance, balance, element_matrices, equations
from supple.mechanics.law_check import laws_finite
from supple.mechanics.local import Coordinates, retract
from supple.model.model import Model
from supple.solve.newton import NewtonSettings, newton, with_derivative
from supple.system.active_set import as_it_is, can_slack, hold, reconsider
from supple.system.combination import at_rest
from supple.system.dense import Factors
from supple.system.linear import factorize

SETTINGS = NewtonSettings(tolerance=1e-10, max_iterations=40, reuse_below=0.02)
LARGEST_TURN = 1.5
"""Largest change of any scaled coordinate in one load increment (about a radian along a rod)."""
SMALLEST_INCREMENT = 1e-5
MAX_TRIES = 1000
"""Load increments and relaxation steps together."""


class EquilibriumStatus(enum.IntEnum):
    """How a static solve ended."""

    CONVERGED = 0
    RELAXED = 1
    NOT_CONVERGED = 2
    BAD_INPUT = 3

    @property
    def ok(self) -> bool:
        """Whether an equilibrium was found."""
        return self in (EquilibriumStatus.CONVERGED, EquilibriumStatus.RELAXED)

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
        }[self]


class EquilibriumSolution(NamedTuple):
    """Raw outcome of a static solve; batches carry one status a member."""

    q: Float[Array, " nq"]
    multipliers: Float[Array, " n"] | None
    """Forces (N) of the equations between coordinates; None without any."""
    status: Int[Array, ""]
    increments: Int[Array, ""]
    iterations: Int[Array, ""]
    residual: Float[Array, ""]
    """Largest entry of the balance left (N m and the like)."""
    load_factor: Float[Array, ""]
    """Largest load factor reached along the path."""
    worst: Int[Array, ""]


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
    taut: Bool[Array, " n"] | None
    """Imposed coordinates taken for taut; None if they all must be."""


def solve_equilibrium(
    model: Model,
    q: Float[Array, " nq"],
    t: Float[Array, ""],
    first_increment: Float[Array, ""] | float = 1.0,
    multipliers: Float[Array, " n"] | None = None,
    *,
    differentiable: bool = True,
) -> EquilibriumSolution:
    """Equilibrium under the loads of time t, starting from q; pure, batchable, differentiable.

    A robot with closed loops must start from a closed configuration and its multipliers.
    """
    lawful = laws_finite(model, t)
    model = model.still(t)
    fixed = lax.stop_gradient((model, q, t, multipliers))
    path = _follow(*fixed, first_increment=first_increment)
    n = model.nv
    zero = jnp.zeros(n)
    near, forces = lax.stop_gradient((path.q, path.multipliers))

    motion = Coordinates(near, zero, zero, zero, t, forces)
    if path.taut is not None:
        model = hold(model, path.taut)
    if differentiable:
        state = balance(model, motion)
        left = jnp.concatenate([state.residual, state.violation])
        factors = factorize(model, motion, state, at_rest())
        moved = with_derivative(jnp.zeros(n + model.equations), left, factors)
        found = retract(model, near, moved[:n])
        forces = None if forces is None else forces + moved[n:]
    else:
        left, found = equations(model, motion), near
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
    )


def _follow(
    model: Model,
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
    zero, increment = jnp.zeros(model.nv), jnp.asarray(first_increment, dtype=float)
    taut = jnp.ones(len(model.transmissions.imposed), dtype=bool) if can_slack(model) else None
    start = _Path(q, multipliers, zero, jnp.zeros(()), increment, no, none, none, none, none, taut)
    return lax.while_loop(going, lambda s: _increment(model, s, t), start)


def _increment(model: Model, s: _Path, t: Float[Array, ""]) -> _Path:
    """Try one load increment along the path."""
    zero = jnp.zeros(model.nv)
    goal = jnp.minimum(s.factor + s.increment, 1.0)
    width = goal - s.factor
    loaded = eqx.tree_at(lambda m: m.load_factor, model, goal * model.load_factor)
    if s.taut is not None:
        loaded = hold(loaded, s.taut)

    n = model.nv

    def motion(y: Float[Array, " n_and_m"]) -> Coordinates:
        return Coordinates(s.q, y[:n], zero, zero, t, y[n:] if model.equations else None)

    def residual(y: Float[Array, " n_and_m"]) -> tuple[Float[Array, " n_and_m"], Balance]:
        state = balance(loaded, motion(y))
        return jnp.concatenate([state.residual, state.violation]), state

    def linearise(y: Float[Array, " n_and_m"], state: Balance) -> Factors:
        return factorize(loaded, motion(y), state, at_rest())

    guess = s.slope * width
    if s.multipliers is not None:
        guess = jnp.concatenate([guess, s.multipliers])
    free = jnp.full(model.equations, jnp.inf)
    scale = jnp.concatenate([jnp.asarray(model.scale), free])
    solved = newton(residual, linearise, guess, scale, SETTINGS)
    found = solved._replace(x=solved.x[:n])
    turn = jnp.max(jnp.abs(found.x / scale[:n]))
    good = found.converged & (turn <= LARGEST_TURN)
    taut, again = s.taut, jnp.zeros((), dtype=bool)
    if taut is not None:
        now = reconsider(loaded, retract(model, s.q, found.x), t, solved.x[n:], taut)
        again = good & jnp.any(now != taut)
        taut = jnp.where(again, now, taut)
        good = good & ~again
    growth = jnp.clip(0.7 * LARGEST_TURN / jnp.maximum(turn, 1e-6), 1.0, 3.0)
    return s._replace(
        q=jnp.where(good, retract(model, s.q, found.x), s.q),
        multipliers=(
            None if s.multipliers is None else jnp.where(good, solved.x[n:], s.multipliers)
        ),
        slope=jnp.where(good, found.x / width, jnp.where(again, s.slope, 0.5 * s.slope)),
        factor=jnp.where(good, goal, s.factor),
        # One more look at the same loads where tendons have become taut or slack.
        increment=jnp.where(good, width * growth, jnp.where(again, width, width / 2)),
        done=good & (goal >= 1.0),
        taken=s.taken + good,
        tries=s.tries + 1,
        iterations=s.iterations + found.iterations,
        worst=found.worst,
        taut=taut,
    )


class Rest(NamedTuple):
    """Where a relaxation ended."""

    q: Float[Array, " nq"]
    multipliers: Float[Array, " n"] | None
    came_to_rest: Bool[Array, ""]
    violation: Float[Array, " n"]
    """What is left of the equations between coordinates (m)."""


class _Relaxation(NamedTuple):
    q: Float[Array, " nq"]
    multipliers: Float[Array, " n"] | None
    step: Float[Array, ""]
    """Step of pseudo-time (s); it grows as the robot comes to rest."""
    done: Bool[Array, ""]
    tries: Int[Array, ""]
    violation: Float[Array, " n"]


def relax(model: Model, q: Float[Array, " nq"], t: Float[Array, ""]) -> Rest:
    """Follow the damped motion D q̇ + K q = Q (001, eq. 45) to rest, by implicit steps.

    D is the elastic stiffness times a second, plus a little mass for coordinates without elasticity. As
    the steps grow the iteration becomes Newton's. Open loops are closed on the way, a fraction at each
    step: this is how a robot is assembled from a rough guess.
    """
    model = model.still(t)
    n, m = model.nv, model.equations
    zero = jnp.zeros(model.nv)
    scale = jnp.asarray(model.scale)

    ratio = _stiffness_over_mass(model, q, t)

    def going(s: _Relaxation) -> Bool[Array, ""]:
        return ~s.done & (s.tries < MAX_TRIES)

    def once(s: _Relaxation) -> _Relaxation:
        motion = Coordinates(s.q, zero, zero, zero, t, s.multipliers)
        now = as_it_is(model, s.q, t, s.multipliers)
        state = balance(now, motion)
        damped = at_rest(mass=1e-3 * ratio / s.step, elastic=1 / s.step)
        fraction = jnp.minimum(s.step, 1.0)
        left = jnp.concatenate([state.residual, fraction * state.violation])
        change = -factorize(now, motion, state, damped).solve(left)
        step = change[:n]
        turn = jnp.max(jnp.abs(step / scale))
        good = jnp.isfinite(turn) & (turn < 0.5)
        longer = jnp.where(turn < 0.2, jnp.minimum(2 * s.step, 1e8), s.step)
        closed = jnp.max(jnp.abs(state.violation), initial=0.0) < SETTINGS.tolerance
        forces = None
        if s.multipliers is not None:
            forces = jnp.where(good, s.multipliers + change[n:], s.multipliers)
        return _Relaxation(
            q=jnp.where(good, retract(model, s.q, step), s.q),
            multipliers=forces,
            step=jnp.where(good, longer, s.step / 4),
            done=good & (turn < SETTINGS.tolerance) & (s.step > 10.0) & closed,
            tries=s.tries + 1,
            violation=state.violation,
        )

    start = _Relaxation(
        q,
        jnp.zeros(m) if m else None,
        jnp.asarray(0.1),
        jnp.zeros((), dtype=bool),
        jnp.zeros((), dtype=int),
        jnp.zeros(m),
    )
    end = lax.while_loop(going, once, start)
    return Rest(end.q, end.multipliers, end.done, end.violation)


def _stiffness_over_mass(
    model: Model, q: Float[Array, " nq"], t: Float[Array, ""]
) -> Float[Array, ""]:
    """Elastic stiffness over mass (1/s²), each summed over the coordinates of all elements; 1 without any."""
    zero = jnp.zeros(model.nv)
    motion = Coordinates(q, zero, zero, zero, t)
    found = element_tangents(model, motion, balance(model, motion))
    elastic = sum(
        jnp.sum(jnp.trace(element_matrices(model, i)[0], axis1=-2, axis2=-1))
        for i in range(len(model.groups))
    )
    mass = sum(jnp.sum(jnp.trace(part.blocks[0], axis1=-2, axis2=-1)) for part in found)
    ratio = elastic / jnp.maximum(mass, 1e-300)
    return jnp.where((ratio > 0) & jnp.isfinite(ratio), ratio, 1.0)
