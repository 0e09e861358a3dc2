"""Statics for users: equilibria, quasi-static sweeps, hold-and-release, vibration modes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import ArgumentError, SolveError
from supple.mechanics.element_motion import difference, retract
from supple.model.inputs import input_names
from supple.model.model import Model
from supple.numeric import is_traced
from supple.results.result import Result
from supple.robot.formulations import DEFAULT, formulation_of, second_order_of
from supple.robot.items import Rod
from supple.robot.resolution import open_rods
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.assembly import (
    check_closed,
)
from supple.run.equilibrium import Equilibrium
from supple.run.hosted import refuse
from supple.run.hosted_statics import hosted_equilibrium
from supple.run.inverted_rods import warn_if_inside_out
from supple.run.resolve import made_finer, resolved_on_the_way
from supple.run.rest import guess_of, solved
from supple.run.rod_model import unstretched
from supple.run.simulate import simulate
from supple.run.start import as_model, formulated, initial_state, of_numbers
from supple.run.task import OfRobot
from supple.run.traced import traced_equilibrium
from supple.run.traced_modes import traced_modes
from supple.shooting.settings import Shooting
from supple.solve.linear_model import LinearModel, Observe, linear_model
from supple.solve.modes import Modes, vibration_modes


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
    Where something is traced (in ``jax.grad``, ``jit``, ``vmap``, a batch), nothing is refined, settled or
    raised: the result is an equilibrium of arrays, with a number for its status.
    """
    robot = formulated(robot, formulation)
    asked = DEFAULT_ACCURACY if accuracy is None else accuracy
    chosen: Robot | None = None
    if isinstance(robot, Robot) and robot.formulation == DEFAULT:
        chosen = robot.resolved(asked)
        model = chosen.build()
    else:
        model = as_model(robot, accuracy)
    if is_traced((model, initial, t)):
        return traced_equilibrium(model, initial, t, first_increment)
    if (host := formulation_of(model).host) is not None:
        return _finish(hosted_equilibrium(model, host, initial, t, first_increment), throw)
    now = jnp.asarray(float(t))
    found = solved(model, guess_of(model, initial, t), now, first_increment, settle=settle)
    if chosen is None:
        return _finish(found, throw)
    assert isinstance(robot, Robot)
    found = replace(found, description=chosen)
    names = open_rods(robot)
    if not found.ok and names:
        found = resolved_on_the_way(found, names, asked)
    stiff = unstretched(robot, chosen)
    if found.ok and (names or stiff or accuracy is not None):
        found = made_finer(found, names, stiff, asked)
    return _finish(found, throw)


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
    held = equilibrium(model.without_loads(), initial=initial, t=t, settle=False)
    return replace(held, model=model)


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
    """Vibration modes about a configuration or equilibrium (default: as described, loops closed).

    Where something is traced, they are arrays with derivatives: frequencies of robots that nothing one-sided
    acts on. Of frequencies that are equal (bending of round rods), only what keeps them equal has some.
    """
    model = as_model(formulated(robot, formulation))
    refuse(model, "modes")
    if is_traced((model, at)):
        return traced_modes(model, at, count)
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
    observe: Mapping[str, Observe] | Observe | None = None,
    formulation: str | Shooting | None = None,
) -> LinearModel:
    """State-space matrices about a state or equilibrium (default: the described shape).

    Loads are those of time ``t`` (default: that of ``at``). With closed loops: about an equilibrium (default:
    that under all loads), on the motions that keep them closed.
    The inputs u are the factors of the point loads, followed by the robot's inputs (``sp.Input``).
    ``observe``, functions of what can be read of the robot by name (``{"tip": lambda seen:
    seen.position("arm")}``), or one alone, gives the outputs: C and D.
    """
    model = of_numbers(as_model(formulated(robot, formulation)), "linearize", "a robot of numbers")
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
        names=(model.load_names, input_names(model)),
        observe=_observed(observe),
    )


def _observed(observe: Any) -> tuple[tuple[str, Observe], ...]:
    """Functions of what can be read of a robot, with their names."""
    if observe is None:
        return ()
    named = observe if isinstance(observe, Mapping) else {"output": observe}
    for name, one in named.items():
        if not callable(one):
            need = "a function of what can be read of the robot, or several by their names"
            raise ArgumentError(f"observe: got {one!r} for {name!r}; need {need}")
    return tuple(named.items())


def _configuration(model: Model, at: Any, t: float) -> np.ndarray:
    """Checked configuration of a state or equilibrium, of numbers, or (None) of the described shape."""
    q = np.asarray(initial_state(model, getattr(at, "q", at), t=t).q)
    if model.holonomic:
        check_closed(model, q, t)
    return q
