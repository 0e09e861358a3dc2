"""Equilibria on rods that are as fine as an accuracy needs."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from supple.hints import warn
from supple.model.model import Model
from supple.model.state import State
from supple.robot.robot import Robot
from supple.run.equilibrium import Equilibrium, outcome
from supple.run.refinement import refined
from supple.run.rest import guess_of, solve, solved
from supple.run.rod_model import SMALL, left_out, stretching
from supple.run.space_error import SpaceError
from supple.run.transfer import carry_over
from supple.solve.equilibrium import EquilibriumStatus

MOST_LEVELS = 10
"""Refinements of one solve."""
NEAR = 0.1
"""Estimated error up to which a Newton step on finer rods is a better start than the solution itself."""


def resolved_on_the_way(found: Equilibrium, names: frozenset[str], asked: float) -> Equilibrium:
    """Where loads were raised up to a point at which the rods are too coarse: from there, on finer ones."""
    for _ in range(MOST_LEVELS):
        if found.ok or not 0.0 < found.load_factor < 1.0 or found.description is None:
            break
        estimate = found.estimate()
        if not estimate.error > asked or estimate.finer is None:
            break
        factor = min(asked / estimate.error, 0.1)
        robot = refined(found.description, names, estimate.finer, factor)
        if robot is None:
            break
        model = robot.build()
        state = State(np.asarray(found.t), found.q, found.v, found.v)
        q = carry_over(state, found.model, model).q
        again = solved(model, q, jnp.asarray(found.t), found.load_factor)
        found = replace(again, description=robot)
    return found


def made_finer(
    found: Equilibrium, names: frozenset[str], stiff: frozenset[str], asked: float
) -> Equilibrium:
    """The equilibrium on rods fine enough for an accuracy, or as fine as they can be made.

    ``names`` are the rods that may be refined, ``stiff`` those that are without stretch by our choice.
    """
    for level in range(MOST_LEVELS + 1):
        estimate = found.estimate(asked)
        found = replace(found, known_error=estimate.error, refinements=level)
        robot: Robot | None = found.description
        assert robot is not None
        if estimate.error <= asked:
            if not stiff or (left := left_out(robot, stiff, (found,))) <= SMALL * asked:
                return found
            found = replace(found, known_error=estimate.error + left)
            robot, stiff = stretching(robot, stiff), frozenset()
        elif not names or estimate.finer is None or level == MOST_LEVELS:
            break
        else:
            robot = refined(robot, names, estimate.finer, asked / estimate.error)
        if robot is None:
            break
        again = _near(robot.build(), found, estimate)
        if not again.ok:
            break
        found = replace(again, description=robot, left=found.left)
    if names:
        status = EquilibriumStatus.NOT_RESOLVED
        text = f"{found.message}, but not resolved: its error is about {found.error:.1g}, asked for {asked:g}"
        found = replace(found, status=status, message=text)
        warn(f"{found.model.name}: {text}", RuntimeWarning)
    else:
        text = (
            f"{found.model.name}: the error of this equilibrium is about {found.error:.1g} of the robot's "
            f"size, asked for {asked:g}: give its rods more modes, or leave basis to 'auto'"
        )
        warn(text, RuntimeWarning)
    return found


def _near(model: Model, found: Equilibrium, estimate: SpaceError) -> Equilibrium:
    """The equilibrium of a refined robot, from that before."""
    finer, t = estimate.finer, jnp.asarray(found.t)
    held, q, forces = found.model, found.q, found.multipliers
    if finer is not None and estimate.error < NEAR:
        held, q, forces = finer.model, finer.corrected, np.asarray(finer.multipliers)
    state = State(np.asarray(found.t), q, np.zeros(held.nv), np.zeros(held.nv))
    q = carry_over(state, held, model).q
    if model.equations and np.size(forces) == model.equations:
        again = solve(model, q, t, 1.0, jnp.asarray(forces))
        if int(again.status) == EquilibriumStatus.CONVERGED:
            status = EquilibriumStatus.CONVERGED
            return outcome(model, again, t, status, status.message)
    again = solved(model, q, t, 1.0)
    if again.ok or held is found.model:
        return again
    return solved(model, guess_of(model, found, found.t), t, 1.0)
