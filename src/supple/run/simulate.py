"""Run a robot through time, and continue runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import ArgumentError, SolveError
from supple.hints import warn
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.results.store import Store
from supple.robot.formulations import formulation_of
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.continued import about_run, continued
from supple.run.events import Event
from supple.run.loop import CHUNK, Plan, Progress, Watch, first_step, saved_at
from supple.run.message import gained_energy
from supple.run.python_controllers import Outside
from supple.run.shot import check_scheme, default_scheme, is_shot, refuse
from supple.run.start import as_model, formulated, start_state
from supple.run.stretches import go_through, next_or_end
from supple.run.unresolved import hint_at_long_steps
from supple.shooting.settings import Shooting
from supple.time.advance import Status, begin
from supple.time.alpha import GeneralizedAlpha, generalized_alpha
from supple.time.collocation import radau
from supple.time.control import ErrorControl, FixedStep, StepControl
from supple.time.multistep import Multistep
from supple.time.named import scheme_named
from supple.time.precompile import compiled_ahead
from supple.time.scheme import AbstractScheme

UNDAMPED = (
    "an undamped scheme (γ = ½) is weakly unstable on closed loops and imposed coordinates: forces oscillate "
    "from step to step and may grow. Use generalized_alpha(rho_inf) with rho_inf < 1, or radau()"
)


def simulate(
    robot: Robot | Model,
    duration: float,
    *,
    dt: float | None = None,
    accuracy: float | None = None,
    scheme: AbstractScheme | str | None = None,
    initial: State | Any = None,
    t_eval: np.ndarray | Sequence[float] | float | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    max_steps: int = 10_000_000,
    throw: bool = True,
    store: str | Path | Store | None = None,
    resume: bool = False,
    events: Sequence[Event] = (),
    max_events: int = 1000,
    formulation: str | Shooting | None = None,
) -> Result:
    """Simulate for ``duration`` seconds.

    Name a step ``dt`` (s) for fixed steps, generalized-α (ρ∞ = 0.8) unless a scheme is given; otherwise
    the step follows from ``accuracy`` (displacement error over the robot's size, 1e-3 by default) with
    Radau IIA of order 5. A scheme may also be named ("radau", "rk4", …). ``initial`` is a state, coordinates
    (nq,) at rest, an equilibrium, or a run whose end it is, also those of a robot with other items (default:
    at rest as described, with its loops closed), or a function of the model that finds one; velocities that
    closed loops or imposed laws forbid are changed as by an impact.
    ``t_eval`` are the instants (s) to report instead of the solver's own; one number is their spacing.
    ``progress(t, count)`` is called about four times a second and at the end; so is ``watch``, with the
    newest instants as a result (a viewer's ``watch`` draws them).
    A run that does not reach its end raises :class:`SolveError`, with what was computed as its ``result``;
    with ``throw=False`` that is returned, and its status tells. Ctrl-C never raises: it ends the run with
    everything computed so far and status INTERRUPTED.
    ``store`` is a folder that the run is written to chunk by chunk; with ``resume`` a run found there with
    the same settings continues, also after it was killed.
    ``events`` edit the robot on its way (:class:`Event`): the result has a stretch for each robot. What an
    edit allows no more is stopped as by an inelastic impact. An edit that fails ends the run with status
    EDIT_FAILED, more than ``max_events`` with EVENT_LIMIT.
    ``formulation`` names how the robot is computed ("strain", "pcs", "shooting" or ``Shooting(…)``), instead
    of as it says itself.
    """
    robot = formulated(robot, formulation)
    model = as_model(robot, accuracy)
    number = np.ndim(duration) == 0 and np.asarray(duration).dtype.kind in "iuf"
    if not (number and np.isfinite(duration) and duration > 0):
        raise ArgumentError(f"duration: got {duration!r}; need a positive number of seconds")
    if dt is not None and accuracy is not None:
        raise ArgumentError(f"dt, accuracy: got {dt!r} and {accuracy!r}; give one of them")
    control: StepControl = (
        FixedStep(float(dt))
        if dt is not None
        else ErrorControl(float(DEFAULT_ACCURACY if accuracy is None else accuracy))
    )
    if scheme is None and is_shot(model):
        scheme = default_scheme(fixed=dt is not None)
    elif scheme is None:
        scheme = generalized_alpha(0.8) if dt is not None else radau(3)
    scheme = scheme_named(scheme)
    if is_shot(model):
        scheme = check_scheme(scheme)
    if model.equations and isinstance(scheme, GeneralizedAlpha | Multistep) and not scheme.damps:
        warn(UNDAMPED, RuntimeWarning)
    _check_events(robot, events, max_events)
    if events:
        refuse(model, "events")
    with compiled_ahead(formulation_of(model), scheme, control, CHUNK):
        state = start_state(model, initial)
        instants = None if t_eval is None else _checked_instants(t_eval, float(state.t))
        plan = Plan(
            model,
            scheme,
            control,
            float(state.t),
            duration,
            Outside(model, float(state.t)),
            max_steps,
            progress,
            watch,
            disk=Store(store) if isinstance(store, str | Path) else store,
            description=robot if isinstance(robot, Robot) else None,
            accuracy=accuracy,
            events=tuple(events),
            max_events=max_events,
        )
        disk = plan.disk
        found = continued(plan, state) if disk is not None and resume else None
        if found is None:
            cursor = begin(formulation_of(model), scheme, state, first_step(control, duration))
            found = plan, cursor, saved_at(cursor)
            if disk is not None:
                disk.create(about_run(plan))
                disk.append(found[2], cursor)
    try:
        result = found if isinstance(found, Result) else go_through(*found)
    finally:
        if disk is not None:
            disk.release()
    if gained := gained_energy(result.cursor):
        warn(f"{model.name}{gained}", RuntimeWarning)
    if isinstance(control, FixedStep):
        hint_at_long_steps(result.stretches[-1], control.dt)
    if instants is not None:
        result = _at_instants(result, instants)
    return _finished(result, throw)


def _finished(result: Result, throw: bool) -> Result:
    """The result, unless it ended early by itself and that is to be raised."""
    if throw and not result.ok and result.status != Status.INTERRUPTED:
        raise SolveError(f"{result.model.name}: {result.message}", result)
    return result


def resume(
    result: Result,
    duration: float | None = None,
    progress: Progress | None = None,
    *,
    throw: bool = True,
) -> Result:
    """Continue a run that was interrupted, or extend a finished one by ``duration`` seconds.

    The joined trajectory equals the uninterrupted one; steps are those of the first run. A run that does not
    reach its end raises as in :func:`simulate`.
    """
    if result.cursor is None:
        raise ArgumentError("result: it has no cursor to continue from")
    last = result.stretches[-1]
    plan = Plan(
        last.model,
        **result.settings,
        begun=float(result.t[0]),
        progress=progress,
        before=result.stats,
        description=last.description,
        earlier=result.stretches[:-1],
    )
    if duration is not None:
        done = float(result.cursor.state.t) - float(result.t[0])
        plan = replace(plan, duration=done + duration)
    cursor = result.cursor._replace(status=jnp.zeros((), dtype=int))
    if last.ended:
        found = next_or_end(plan, replace(result, status=Status.RUNNING, cursor=cursor))
        return _finished(found if isinstance(found, Result) else go_through(*found), throw)
    return _finished(go_through(plan, cursor, last.saved), throw)


def _check_events(robot: Robot | Model, events: Sequence[Event], most: int) -> None:
    """Raise unless all are events, of a robot that can be edited."""
    for event in events:
        if not isinstance(event, Event):
            raise ArgumentError(
                f"events: got {event!r}; need Event(t=…, edit=…) or Event(when=…, edit=…)"
            )
    if events and not isinstance(robot, Robot):
        raise ArgumentError("events: got a model; need a Robot, whose items can be edited")
    if most < 0:
        raise ArgumentError(f"max_events: got {most!r}; need an integer >= 0")


def _checked_instants(t_eval: Any, begun: float) -> np.ndarray:
    """A spacing () or instants (n,); what cannot be used is refused before the run, not after it."""
    need = f"instants (s) from {begun:g} on, or one spacing > 0 between them"
    try:
        values = np.asarray(t_eval, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"t_eval: got {t_eval!r}; need {need}") from None
    slack = 1e-9 * max(1.0, abs(begun))
    good = values > 0 if values.ndim == 0 else values >= begun - slack
    if not (values.size and np.all(good & np.isfinite(values))):
        raise ArgumentError(f"t_eval: got {t_eval!r}; need {need}")
    return values if values.ndim == 0 else values.ravel()


def _at_instants(result: Result, t_eval: np.ndarray) -> Result:
    """The result at a spacing, or at those instants that the run has reached; at its end if at none."""
    begun, end = result.t[0], result.t[-1]
    if t_eval.ndim == 0:
        count = int(np.floor((end - begun) / t_eval + 1e-9))
        times = begun + t_eval * np.arange(count + 1)
    else:
        reached = t_eval[t_eval <= end * (1 + 1e-12) + 1e-12]
        times = reached if reached.size else np.array([end])
    return result.sample(np.minimum(times, end))
