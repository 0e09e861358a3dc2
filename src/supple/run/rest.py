"""Where a model rests: from a configuration to a static solution, and how the solve ended."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.hints import warn
from supple.mechanics.element_motion import Coordinates, retract
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
from supple.mechanics.law_check import unusable_at
from supple.model.model import Model
from supple.robot.formulations import formulation_of
from supple.run.assembly import CLOSED, Closest, closest, open_message, relaxed
from supple.run.equilibrium import Equilibrium, outcome
from supple.run.fallback import dense_statics, fallback_note
from supple.run.locked import why_locked
from supple.run.message import coordinate_owner
from supple.run.slackness import without_pushing
from supple.run.stability import Softest, way_down
from supple.run.start import initial_state
from supple.run.transfer import carry_over, same_coordinates
from supple.run.unheld import why_no_rest
from supple.solve.equilibrium import (
    EquilibriumSolution,
    EquilibriumStatus,
    Rest,
    solve_equilibrium,
)

PUSH = 0.1
"""Largest change of a scaled coordinate with which an unstable equilibrium is left (about 0.1 rad)."""
FREE = 1e-12
"""Stiffness, relative to the largest, below which a motion needs no force."""
AT_REST = 1e-8
"""Largest correction, over the scale of its coordinate, of a robot at rest."""


@partial(jit, quick=True)
def solve(model, q, t, first_increment, multipliers=None):  # type: ignore[no-untyped-def]
    """The raw solution from a configuration and multipliers."""
    return solve_equilibrium(formulation_of(model), q, t, first_increment, multipliers)


_TANGENT = jit(inverse_dynamics_tangent, quick=True)


def _rest_of_forces(model: Model, q: Any, t: Any) -> float | None:
    """What is left of the balance at rest where some motion needs no force, as a pendulum's spin on a ball.

    There Newton's matrix is singular. None if it is not, or if other coordinates would still move.
    """
    zero = jnp.zeros(model.nv)
    found = _TANGENT(model.frozen_at(t), Coordinates(q, zero, zero, zero, t))
    scale = np.asarray(model.scale)
    stiffness, left = np.asarray(found.stiffness) * scale, np.asarray(found.residual)
    missing, _, rank, _ = np.linalg.lstsq(stiffness, left, rcond=FREE)
    free = rank < model.nv
    return float(np.abs(left).max()) if free and np.abs(missing).max() < AT_REST else None


def solved(
    model: Model, q: Any, now: Any, first_increment: float, *, settle: bool = False
) -> Equilibrium:
    """Equilibrium of a model, from a configuration; a stable one, if it is to be and can be told."""
    solution, status, message = _solution(model, q, now, first_increment)
    other = None
    if status == EquilibriumStatus.NOT_CONVERGED:
        other = dense_statics(model, solution.factors)
    if other is not None:
        again = _solution(other, q, now, first_increment)
        if again[1].ok:
            model, (solution, status, message) = other, again
            message += fallback_note(model)
    found = outcome(model, solution, now, status, message)
    if not settle or status != EquilibriumStatus.CONVERGED:
        return found
    forces = found.multipliers if model.equations else None
    way = way_down(model, solution, float(now), forces)
    return found if way is None else _settled(found, way)


def _settled(found: Equilibrium, way: Softest) -> Equilibrium:
    """Where a robot comes to rest that leaves an unstable equilibrium; itself if it finds none."""
    model, t = found.model, jnp.asarray(found.t)
    for push in (PUSH, -PUSH):
        q = _moved(model, found.q, push * way.motion)
        rest = relaxed(model, q, t)
        if not bool(rest.came_to_rest):
            continue
        again = solve(model, rest.q, t, 1.0, rest.multipliers)
        status = EquilibriumStatus(int(again.status))
        if status != EquilibriumStatus.CONVERGED:
            continue
        forces = None if again.multipliers is None else np.asarray(again.multipliers)
        if way_down(model, again, found.t, forces) is not None:
            continue
        text = "came to rest after leaving an unstable equilibrium along its softest motion"
        warn(
            f"{model.name}: the equilibrium that its loads lead to is unstable in {way.unstable} motion(s); "
            "went on to a stable one. settle=False keeps the unstable one",
            RuntimeWarning,
        )
        settled = outcome(model, again, t, EquilibriumStatus.RELAXED, text)
        return replace(settled, left=way.unstable)
    warn(
        f"{model.name}: this equilibrium is unstable in {way.unstable} motion(s), and no stable one was "
        "found near it",
        RuntimeWarning,
    )
    return found


@partial(jit, quick=True)
def _moved(model, q, x):  # type: ignore[no-untyped-def]
    return retract(model, jnp.asarray(q), jnp.asarray(x))


def _solution(
    model: Model, q: Any, now: Any, first_increment: float
) -> tuple[EquilibriumSolution, EquilibriumStatus, str]:
    """The raw solution of a solve, how it ended, and what is told."""
    if model.holonomic:
        return _closed(model, q, now)
    found = solve(model, q, now, float(first_increment))
    status = EquilibriumStatus(int(found.status))
    rest: Rest | None = None
    if status == EquilibriumStatus.NOT_CONVERGED:
        rest = relaxed(model, found.q, now)
        if not np.any(rest.away):  # at rest, or so near that Newton's method may know the way
            again = solve(model, rest.q, now, 1.0)
            if int(again.status) == EquilibriumStatus.CONVERGED:
                # Only then: the path from the start is the one that tells how far the load got.
                found, status = again, EquilibriumStatus.RELAXED
            elif (
                bool(rest.came_to_rest)
                and (left := _rest_of_forces(model, rest.q, now)) is not None
            ):
                one = jnp.ones(())
                found = found._replace(q=rest.q, residual=left, load_factor=one)
                status = EquilibriumStatus.RELAXED
    if rest is not None:
        found = found._replace(iterations=found.iterations + rest.steps)
    return found, *told(model, found, now, status, rest)


def told(
    model: Model, found: EquilibriumSolution, t: Any, status: EquilibriumStatus, rest: Rest | None
) -> tuple[EquilibriumStatus, str]:
    """Status and message of a solve; one that failed names what is to blame, or says how far it came."""
    if status.ok:
        return status, status.message
    if (reason := unusable_at(model, found.q, jnp.zeros(model.nv), float(t))) is not None:
        return EquilibriumStatus.BAD_INPUT, f"{EquilibriumStatus.BAD_INPUT.message}: {reason}"
    if rest is not None and (reason := why_no_rest(model, rest, t)) is not None:
        none = EquilibriumStatus.NO_EQUILIBRIUM
        return none, f"{none.message}: {reason}"
    return status, (
        f"{status.message}; reached {float(found.load_factor):.3g} of the load, largest correction in "
        f"{coordinate_owner(model, int(found.worst))}"
    )


def _closed(model: Model, q: Any, t: Any) -> tuple[EquilibriumSolution, EquilibriumStatus, str]:
    """Close the loops and come to rest, then refine."""
    rest = relaxed(model, q, t)
    steps = rest.steps
    near: Closest | None = None
    if not bool(rest.came_to_rest) and np.abs(np.asarray(rest.violation)).max() > CLOSED:
        # The damped motion lost its way: close the loops first, whatever that costs.
        near = closest(model, q, t)
        if near.closed:
            rest = relaxed(model, near.q, t)
            steps = steps + rest.steps
    found = solve(model, rest.q, t, 1.0, rest.multipliers)
    status = EquilibriumStatus(int(found.status))
    if status == EquilibriumStatus.NOT_CONVERGED and bool(rest.came_to_rest):
        slack = without_pushing(model, rest, t)
        steps = steps + slack.rest.steps - rest.steps
        if slack.pushing:
            message = f"{status.message}; {slack.message}"
            return found._replace(iterations=found.iterations + steps), status, message
        # A mechanism: it may rest anywhere along its free motions, where Newton's matrix is singular.
        rest, status = slack.rest, EquilibriumStatus.RELAXED
        one = jnp.ones(())
        found = found._replace(q=rest.q, multipliers=rest.multipliers, load_factor=one)
    found = found._replace(iterations=found.iterations + steps)
    status, message = told(model, found, t, status, rest)
    if status == EquilibriumStatus.NOT_CONVERGED and near is not None and not near.closed:
        status = EquilibriumStatus.CANNOT_CLOSE if near.minimum else status
        message = open_message(model, near)
    if status == EquilibriumStatus.NOT_CONVERGED and (why := why_locked(model, q, t)) is not None:
        status = EquilibriumStatus.NO_EQUILIBRIUM
        message = f"{status.message}: {why}"
    return found, status, message


def guess_of(model: Model, initial: Any, t: float) -> Any:
    """Configuration to start from."""
    held = getattr(initial, "model", None)
    last = getattr(initial, "final", initial)  # of a run: where it ended
    if isinstance(held, Model) and not same_coordinates(held, model):
        known = initial_state(held, last.q, t=t)
        return carry_over(known, held, model).q
    return initial_state(model, getattr(last, "q", last), t=t).q
