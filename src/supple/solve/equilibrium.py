"""Static equilibrium: from the unloaded robot to the loaded one along the branch that connects them.

Loads are raised by a factor from 0 to 1. An increment is taken only if Newton converges and the robot
turned by less than about one radian, so that the solution stays on its branch instead of jumping to
another; otherwise it is halved. Where Newton stalls (a limit point, a nearly singular state) the robot is
relaxed: a damped motion D q̇ + K q = Q, integrated implicitly with growing steps, ends in a stable state.
"""

import enum
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.mechanics.local import Coordinates
from supple.model.constraints import ActiveSet
from supple.model.state import State
from supple.solve.newton import NewtonSettings, newton
from supple.system.active_set import CLOSE, should_hold
from supple.system.combination import at_rest
from supple.system.formulation import (
    AbstractFormulation,
    Discretization,
    attach_derivative,
)
from supple.system.second_order import AbstractSecondOrder

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

    @property
    def ok(self) -> bool:
        """Whether an equilibrium was found."""
        return self is not EquilibriumStatus.NOT_CONVERGED

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
    active: ActiveSet | None
    """One-sided equations taken for active; None without any."""


def solve_equilibrium(
    formulation: AbstractFormulation,
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
    formulation = formulation.still(t)
    fixed = lax.stop_gradient((formulation, q, t, multipliers))
    path = _follow(*fixed, first_increment=first_increment)
    formulation = formulation.with_active(path.active)
    zero = jnp.zeros_like(path.slope)
    there = State(t, path.q, zero, zero, path.multipliers)
    d = Discretization(lax.stop_gradient(there), t)
    root = lax.stop_gradient(formulation.unknown(d, zero))
    if differentiable:
        left, work = formulation.residual(d, root)
        root = attach_derivative(root, left, formulation.factorize(d, root, work))
        there = formulation.state(d, root)
    else:
        left, _ = formulation.residual(d, root)
    found, forces = there.q, there.multipliers
    status = jnp.where(path.done, EquilibriumStatus.CONVERGED, EquilibriumStatus.NOT_CONVERGED)
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
    )
    return lax.while_loop(going, lambda s: _increment(formulation, s, t), start)


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
    turn = jnp.max(jnp.abs(moved / formulation.scale))
    good = solved.converged & (turn <= LARGEST_TURN)
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


def relax(formulation: AbstractSecondOrder, q: Float[Array, " nq"], t: Float[Array, ""]) -> Rest:
    """Follow the damped motion D q̇ + K q = Q (001, eq. 45) to rest, by implicit steps.

    D is the elastic stiffness times a second, plus a little mass for coordinates without elasticity. As
    the steps grow the iteration becomes Newton's. Open loops are closed on the way, a fraction at each
    step: this is how a robot is assembled from a rough guess.
    """
    formulation = formulation.still(t)
    n, m = formulation.nv, formulation.equations
    zero = jnp.zeros(n)
    ratio = formulation.stiffness_over_mass(q, t)

    def going(s: _Relaxation) -> Bool[Array, ""]:
        return ~s.done & (s.tries < MAX_TRIES)

    def once(s: _Relaxation) -> _Relaxation:
        motion = Coordinates(s.q, zero, zero, zero, t, s.multipliers)
        now = formulation.with_active(formulation.active_at(s.q, t, s.multipliers))
        state = now.balance(motion)
        damped = at_rest(mass=1e-3 * ratio / s.step, elastic=1 / s.step)
        fraction = jnp.minimum(s.step, 1.0)
        left = jnp.concatenate([state.residual, fraction * state.violation])
        change = -now.linearize(motion, state, (damped,))[0].factorize().solve(left)
        step = change[:n]
        turn = jnp.max(jnp.abs(step / formulation.coordinate_scale))
        good = jnp.isfinite(turn) & (turn < 0.5)
        longer = jnp.where(turn < 0.2, jnp.minimum(2 * s.step, 1e8), s.step)
        closed = jnp.max(jnp.abs(state.violation), initial=0.0) < SETTINGS.tolerance
        forces = None
        if s.multipliers is not None:
            forces = jnp.where(good, s.multipliers + change[n:], s.multipliers)
        return _Relaxation(
            q=jnp.where(good, formulation.retract(s.q, step), s.q),
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
