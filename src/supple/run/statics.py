"""Statics for users: equilibria, quasi-static sweeps, hold-and-release, vibration modes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import SolveError
from supple.hints import warn
from supple.mechanics.element_motion import Coordinates, difference, retract
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
from supple.mechanics.law_check import unusable_at
from supple.mechanics.readout import AbstractReadout
from supple.mechanics.regulation import regulated_model
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.robot.formulations import DEFAULT, formulation_of, second_order_of
from supple.robot.items import Rod
from supple.robot.resolution import open_rods
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.assembly import (
    CLOSED,
    Closest,
    check_closed,
    closest,
    open_message,
    relaxed,
)
from supple.run.inverted_rods import warn_if_inside_out
from supple.run.message import coordinate_owner
from supple.run.refinement import refined
from supple.run.shot import (
    is_shot,
    own_state,
    parts_of,
    refuse,
    seen_at_nodes,
    unloaded as without_loads,
)
from supple.run.simulate import simulate
from supple.run.space_error import SpaceError, space_error
from supple.run.stability import Softest, Stability, stability, way_down
from supple.run.start import as_model, formulated, initial_state
from supple.run.task import OfRobot
from supple.run.transfer import carry_over, same_coordinates
from supple.run.unheld import why_no_rest
from supple.shooting.settings import Shooting
from supple.solve.equilibrium import (
    EquilibriumSolution,
    EquilibriumStatus,
    Rest,
    solve_equilibrium,
)
from supple.solve.modes import LinearModel, Modes, linear_model, vibration_modes


@dataclass(frozen=True, eq=False)
class Equilibrium(AbstractReadout):
    """A static solution: configuration q, status, and how it was reached."""

    model: Model
    q: np.ndarray
    multipliers: np.ndarray
    t: float
    status: EquilibriumStatus
    message: str
    increments: int
    iterations: int
    residual: float
    load_factor: float
    description: Robot | None = None
    """The robot with the modes that it was computed with; None where a model was given."""
    refinements: int = 0
    """How often its rods were refined."""
    known_error: float | None = None
    left: int | None = None
    """Number of unstable motions of the equilibrium that was left for this one; None where none was."""

    def __repr__(self) -> str:
        error = "" if self.known_error is None else f", error {self.known_error:.0e}"
        return (
            f"Equilibrium({self.model.name!r}, t = {self.t:g} s, {self.status.name}, "
            f"{self.increments} load steps, {self.iterations} iterations, "
            f"residual {self.residual:.0e}{error})"
        )

    @property
    def error(self) -> float:
        """Estimate of the largest displacement error over the robot's size, by what finer rods would give.

        It is computed when it is first asked for, where the solve did not need it; NaN where only a model
        is known, or no equilibrium was found.
        """
        if self.known_error is None:
            found = self.estimate().error if self.ok and self.description is not None else np.nan
            object.__setattr__(self, "known_error", float(found))
        assert self.known_error is not None
        return self.known_error

    @cached_property
    def stability(self) -> Stability:
        """What happens after a small push; computed when it is first asked for."""
        forces = self.multipliers if self.model.equations else None
        return stability(self.model, self.q, self.t, forces)

    @property
    def stable(self) -> bool:
        """Whether it does not go away after a small push."""
        return self.stability.stable

    def estimate(self, asked: float | None = None) -> SpaceError:
        """The error in space, and what it was found from; a bound may do where it is far below ``asked``."""
        assert self.description is not None
        forces = self.multipliers if self.model.equations else None
        free = self.status == EquilibriumStatus.RELAXED
        return space_error(
            self.description,
            self.model,
            self.q,
            self.t,
            forces,
            asked,
            free=free,
            load_factor=self.load_factor,
        )

    def __str__(self) -> str:
        return f"{self!r}: {self.message}"

    @property
    def ok(self) -> bool:
        """Whether an equilibrium was found."""
        return self.status.ok

    @property
    def v(self) -> np.ndarray:
        """Velocities: zero."""
        return np.zeros(self.model.nv)

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at rest, with nothing growing or driven."""
        forces = self.multipliers if self.model.equations else None
        state = State(np.asarray(self.t), self.q, self.v, self.v, forces)
        return jax.tree.map(np.asarray, _at_rest(quantity, fixed, self.model, state))


@partial(jit, quick=True, static_argnames=("quantity", "fixed"))
def _at_rest(quantity, fixed, model, state):  # type: ignore[no-untyped-def]
    return quantity(regulated_model(model.frozen_at(state.t), state), state, *fixed)


PUSH = 0.1
"""Largest change of a scaled coordinate with which an unstable equilibrium is left (about 0.1 rad)."""
MOST_LEVELS = 10
"""Refinements of one solve."""
NEAR = 0.1
"""Estimated error up to which a Newton step on finer rods is a better start than the solution itself."""
FREE = 1e-12
"""Stiffness, relative to the largest, below which a motion needs no force."""
AT_REST = 1e-8
"""Largest correction, over the scale of its coordinate, of a robot at rest."""


@partial(jit, quick=True)
def _solve(model, q, t, first_increment, multipliers=None):  # type: ignore[no-untyped-def]
    return solve_equilibrium(formulation_of(model), q, t, first_increment, multipliers)


_tangent = jit(inverse_dynamics_tangent, quick=True)


def _rest_of_forces(model: Model, q: Any, t: Any) -> float | None:
    """What is left of the balance at rest where some motion needs no force, as a pendulum's spin on a ball.

    There Newton's matrix is singular. None if it is not, or if other coordinates would still move.
    """
    zero = jnp.zeros(model.nv)
    found = _tangent(model.frozen_at(t), Coordinates(q, zero, zero, zero, t))
    scale = np.asarray(model.scale)
    stiffness, left = np.asarray(found.stiffness) * scale, np.asarray(found.residual)
    missing, _, rank, _ = np.linalg.lstsq(stiffness, left, rcond=FREE)
    free = rank < model.nv
    return float(np.abs(left).max()) if free and np.abs(missing).max() < AT_REST else None


def equilibrium(
    robot: Robot | Model,
    *,
    initial: Any = None,
    t: float = 0.0,
    accuracy: float | None = None,
    first_increment: float = 1.0,
    settle: bool = True,
    throw: bool = True,
    formulation: str | Shooting | None = None,
) -> Equilibrium:
    """Static equilibrium under the loads of time ``t``.

    Rods that leave their ``basis`` to "auto" are refined until the displacement error over the robot's size
    is below ``accuracy`` (1e-3 by default); ``error`` of the result is the estimate, also for others. Where
    refinement ends before that, or rods are fixed and ``accuracy`` is named, a warning tells.
    An unstable equilibrium (a column pressed beyond its buckling load) is left along its softest motion,
    with a warning, for the stable one that a robot would come to; with ``settle=False`` it is kept.
    ``stable`` and ``stability`` of the result tell.
    From the described shape the loads are raised step by step along one branch; from an ``initial`` one (a
    configuration, a state, another equilibrium) they act in full at once, and step by step only if
    that fails. Raises :class:`SolveError` if none is found, unless ``throw=False``; its ``result`` is where
    the search ended. ``formulation`` is as in :func:`simulate`.
    """
    robot = formulated(robot, formulation)
    now = jnp.asarray(float(t))
    if not isinstance(robot, Robot) or robot.formulation != DEFAULT:
        model = as_model(robot, accuracy)
        if is_shot(model):
            return _finish(_shot_equilibrium(model, initial, t, first_increment), throw)
        found = _solved(model, _guess(model, initial, t), now, first_increment, settle=settle)
        return _finish(found, throw)
    asked = DEFAULT_ACCURACY if accuracy is None else accuracy
    chosen = robot.resolved(asked)
    model = chosen.build()
    found = _solved(model, _guess(model, initial, t), now, first_increment, settle=settle)
    found = replace(found, description=chosen)
    names = open_rods(robot)
    if not found.ok and names:
        found = _resolved_on_the_way(found, names, asked)
    if found.ok and (names or accuracy is not None):
        found = _refined(found, names, asked)
    return _finish(found, throw)


def _guess(model: Model, initial: Any, t: float) -> Any:
    """Configuration to start from."""
    held = getattr(initial, "model", None)
    last = getattr(initial, "final", initial)  # of a run: where it ended
    if isinstance(held, Model) and not same_coordinates(held, model):
        known = initial_state(held, last.q, t=t)
        return carry_over(known, held, model).q
    return initial_state(model, getattr(last, "q", last), t=t).q


def _resolved_on_the_way(found: Equilibrium, names: frozenset[str], asked: float) -> Equilibrium:
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
        again = _solved(model, q, jnp.asarray(found.t), found.load_factor)
        found = replace(again, description=robot)
    return found


def _refined(found: Equilibrium, names: frozenset[str], asked: float) -> Equilibrium:
    """The equilibrium on rods fine enough for an accuracy, or as fine as they can be made."""
    for level in range(MOST_LEVELS + 1):
        estimate = found.estimate(asked)
        found = replace(found, known_error=estimate.error, refinements=level)
        if estimate.error <= asked:
            return found
        if not names or estimate.finer is None or level == MOST_LEVELS:
            break
        assert found.description is not None
        robot = refined(found.description, names, estimate.finer, asked / estimate.error)
        if robot is None:
            break
        again = _solved_near(robot.build(), found, estimate)
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


def _solved_near(model: Model, found: Equilibrium, estimate: SpaceError) -> Equilibrium:
    """The equilibrium of a refined robot, from that before."""
    finer, t = estimate.finer, jnp.asarray(found.t)
    assert finer is not None
    held, q, forces = found.model, found.q, found.multipliers
    if estimate.error < NEAR:
        held, q, forces = finer.model, finer.corrected, np.asarray(finer.multipliers)
    state = State(np.asarray(found.t), q, np.zeros(held.nv), np.zeros(held.nv))
    q = carry_over(state, held, model).q
    if model.equations and np.size(forces) == model.equations:
        again = _solve(model, q, t, 1.0, jnp.asarray(forces))
        if int(again.status) == EquilibriumStatus.CONVERGED:
            status = EquilibriumStatus.CONVERGED
            return _equilibrium(model, again, t, status, status.message)
    again = _solved(model, q, t, 1.0)
    if again.ok or held is found.model:
        return again
    return _solved(model, _guess(model, found, found.t), t, 1.0)


def _solved(
    model: Model, q: Any, now: Any, first_increment: float, *, settle: bool = False
) -> Equilibrium:
    """Equilibrium of a model, from a configuration; a stable one, if it is to be and can be told."""
    solution, status, message = _solution(model, q, now, first_increment)
    found = _equilibrium(model, solution, now, status, message)
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
        again = _solve(model, rest.q, t, 1.0, rest.multipliers)
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
        settled = _equilibrium(model, again, t, EquilibriumStatus.RELAXED, text)
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
        return _closed_equilibrium(model, q, now)
    found = _solve(model, q, now, float(first_increment))
    status = EquilibriumStatus(int(found.status))
    rest: Rest | None = None
    if status == EquilibriumStatus.NOT_CONVERGED:
        rest = relaxed(model, found.q, now)
        if not np.any(rest.away):  # at rest, or so near that Newton's method may know the way
            again = _solve(model, rest.q, now, 1.0)
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
    return found, *_told(model, found, now, status, rest)


def _told(
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


def _closed_equilibrium(
    model: Model, q: Any, t: Any
) -> tuple[EquilibriumSolution, EquilibriumStatus, str]:
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
    found = _solve(model, rest.q, t, 1.0, rest.multipliers)
    found = found._replace(iterations=found.iterations + steps)
    status = EquilibriumStatus(int(found.status))
    if status == EquilibriumStatus.NOT_CONVERGED and bool(rest.came_to_rest):
        # A mechanism: it may rest anywhere along its free motions, where Newton's matrix is singular.
        status = EquilibriumStatus.RELAXED
        found = found._replace(q=rest.q, multipliers=rest.multipliers)
    status, message = _told(model, found, t, status, rest)
    if status == EquilibriumStatus.NOT_CONVERGED and near is not None and not near.closed:
        status = EquilibriumStatus.CANNOT_CLOSE if near.minimum else status
        message = open_message(model, near)
    return found, status, message


def _shot_equilibrium(model: Model, initial: Any, t: float, first_increment: float) -> Equilibrium:
    """From what is given, or else from where the robot in strain coordinates rests."""
    now, own = jnp.asarray(float(t)), own_state(model, initial)
    host = parts_of(model).host
    if own is None and not model.holonomic:
        guess = getattr(getattr(initial, "final", initial), "q", initial)
        own = seen_at_nodes(model, initial_state(host, guess, t=t))
    found = None
    if own is not None:
        forces = np.zeros(model.equations) if own.multipliers is None else own.multipliers
        forces = forces if model.equations else None
        found = _solve(model, own.q, now, float(first_increment), forces)
    if found is None or int(found.status) == EquilibriumStatus.NOT_CONVERGED:
        first = None if own is not None else initial
        held = equilibrium(host, initial=first, t=t, settle=False, throw=False)
        if not held.ok and found is None:
            return replace(held, model=host)
        if held.ok:
            forces = held.multipliers if model.equations else None
            near = seen_at_nodes(model, State(now, held.q, held.v, held.v, forces))
            found = _solve(model, near.q, now, 1.0, forces)
    assert found is not None
    status = EquilibriumStatus(int(found.status))
    status, message = _told(model, found, now, status, None)
    return _equilibrium(model, found, now, status, message)


def assemble(
    robot: Robot | Model,
    *,
    initial: Any = None,
    t: float = 0.0,
    accuracy: float | None = None,
    formulation: str | Shooting | None = None,
) -> Equilibrium:
    """The closed, unloaded robot near a guess (default: as described): where its own elasticity rests."""
    model = as_model(formulated(robot, formulation), accuracy)
    if is_shot(model):
        held = equilibrium(without_loads(model), initial=initial, t=t, settle=False)
        return replace(held, model=model)
    unloaded = eqx.tree_at(lambda m: m.load_factor, model, np.zeros(()))
    return replace(equilibrium(unloaded, initial=initial, t=t, settle=False), model=model)


def _equilibrium(
    model: Model,
    found: EquilibriumSolution,
    t: Any,
    status: EquilibriumStatus,
    message: str,
) -> Equilibrium:
    """The outcome of a solve."""
    if model.slips:
        names = ", ".join(slip.name for slip in model.slips)
        message += f"; without the forces of {names}, which only hold motions back"
    return Equilibrium(
        model=model,
        q=np.asarray(found.q),
        multipliers=np.asarray([] if found.multipliers is None else found.multipliers),
        t=float(t),
        status=status,
        message=message,
        increments=int(found.increments),
        iterations=int(found.iterations),
        residual=float(found.residual),
        load_factor=float(found.load_factor),
    )


def _finish(found: Equilibrium, throw: bool) -> Equilibrium:
    """The outcome; raised if the solve failed and that is to be."""
    if throw and not found.ok:
        raise SolveError(f"{found.model.name}: {found.message}", found)
    warn_if_inside_out(found.model, found.q)
    return found


def sweep(
    build: Callable[[Any], Robot | Model], values: Iterable[Any], *, throw: bool = True
) -> Iterator[Equilibrium]:
    """Quasi-static sweep: the equilibrium of ``build(value)`` for each value, each from the last.

    The next start is extrapolated from the last two, so smooth sweeps take few iterations. Where none is
    found, :class:`SolveError` is raised, or with ``throw=False`` where the search ended is yielded.
    """
    before: Equilibrium | None = None
    last: Equilibrium | None = None
    for value in values:
        model = as_model(build(value))
        initial = None
        if last is not None:
            initial = last.q
            if before is not None:
                slope = difference(model, jnp.asarray(before.q), jnp.asarray(last.q))
                initial = retract(model, jnp.asarray(last.q), slope)
        found = equilibrium(model, initial=initial, throw=throw and last is None)
        if not found.ok and last is not None:
            found = equilibrium(model, initial=last.q, throw=throw)
        yield found
        before, last = last, found


def release(robot: Robot, loads: str | Iterable[str], duration: float, **options: Any) -> Result:
    """Hold the robot in equilibrium under all its loads, then remove ``loads`` at once and simulate.

    Options are those of :func:`simulate`. A robot that cannot be held raises :class:`SolveError` whatever
    ``throw`` says: then there is nothing to simulate.
    """
    names = (loads,) if isinstance(loads, str) else tuple(loads)
    robot = formulated(robot, options.pop("formulation", None))
    rods = [item.name for item in robot.items if isinstance(item, Rod)]

    def held(released: Robot | Model) -> Equilibrium:
        """Where the robot rests with rods as fine as those of the run."""
        assert isinstance(released, Robot)
        return equilibrium(
            as_model(robot.replacing(*(released[name] for name in rods)), options.get("accuracy"))
        )

    return simulate(robot.removing(*names), duration, initial=OfRobot(held), **options)


def modes(
    robot: Robot | Model,
    *,
    at: Any = None,
    count: int | None = None,
    formulation: str | Shooting | None = None,
) -> Modes:
    """Vibration modes about a configuration or equilibrium (default: as described, loops closed)."""
    model = as_model(formulated(robot, formulation))
    refuse(model, "modes")
    if model.holonomic:
        at = assemble(model) if at is None else at
    t, forces = float(getattr(at, "t", 0.0)), getattr(at, "multipliers", None)
    return vibration_modes(
        second_order_of(model, "modes"), _configuration(model, at, t), count, t, forces
    )


def linearize(
    robot: Robot | Model,
    *,
    at: Any = None,
    t: float | None = None,
    formulation: str | Shooting | None = None,
) -> LinearModel:
    """State-space matrices about a state or equilibrium (default: the described shape).

    Loads are those of time ``t`` (default: that of ``at``). With closed loops: about an equilibrium (default:
    that under all loads), on the motions that keep them closed.
    """
    model = as_model(formulated(robot, formulation))
    refuse(model, "linearize")
    t = float(getattr(at, "t", 0.0) if t is None else t)
    if model.equations and at is None:
        at = equilibrium(model, t=t, settle=False)
    q = _configuration(model, at, t)
    return linear_model(
        second_order_of(model, "linearize"),
        q,
        getattr(at, "v", None),
        t,
        getattr(at, "multipliers", None),
    )


def _configuration(model: Model, at: Any, t: float) -> np.ndarray:
    """Checked configuration of a state or equilibrium, of numbers, or (None) of the described shape."""
    q = np.asarray(initial_state(model, getattr(at, "q", at), t=t).q)
    if model.holonomic:
        check_closed(model, q, t)
    return q
