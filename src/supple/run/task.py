"""What a run is asked for, and one run of it on rods of a given resolution."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import ArgumentError
from supple.hints import warn
from supple.model.model import Model
from supple.results.result import Result
from supple.results.store import Store
from supple.robot.formulations import formulation_of
from supple.robot.robot import Robot
from supple.run.continued import about_run, continued
from supple.run.events import Event
from supple.run.hosted import refuse
from supple.run.loop import CHUNK, Plan, Progress, Watch, first_step, saved_at
from supple.run.python_controllers import Outside
from supple.run.start import as_model, of_numbers, start_state
from supple.run.stretches import go_through
from supple.time.advance import begin
from supple.time.alpha import GeneralizedAlpha
from supple.time.control import FixedStep, StepControl
from supple.time.multistep import Multistep
from supple.time.named import scheme_for
from supple.time.precompile import compiled_ahead
from supple.time.scheme import AbstractScheme

UNDAMPED = (
    "an undamped scheme (γ = ½) is weakly unstable on closed loops and imposed coordinates: forces oscillate "
    "from step to step and may grow. Use generalized_alpha(rho_inf) with rho_inf < 1, or radau()"
)


@dataclass(frozen=True)
class OfRobot:
    """An initial state that depends on how finely the rods of a robot are resolved."""

    found: Callable[[Robot | Model], Any]


@dataclass(frozen=True)
class Task:
    """The arguments of a run, checked."""

    robot: Robot | Model
    """As it was given."""
    duration: float
    control: StepControl
    scheme: AbstractScheme | None
    initial: Any = None
    """As :func:`simulate` takes it, or :class:`OfRobot`."""
    accuracy: float | None = None
    t_eval: Any = None
    progress: Progress | None = None
    watch: Watch | None = None
    max_steps: int = 10_000_000
    disk: Store | None = None
    resume: bool = False
    events: Sequence[Event] = ()
    max_events: int = 1000
    quiet: bool = False
    """Whether it is a second run of the same, which warns of nothing."""


def carried_out(
    task: Task, robot: Robot | Model, resolution: dict[str, Any] | None = None
) -> Result:
    """One run of a task; ``resolution`` tells how the rods of the robot differ from those that were given."""
    model = of_numbers(
        as_model(robot, task.accuracy), "simulate", "sp.rollout, which is a pure function"
    )
    control = task.control
    scheme = scheme_for(formulation_of(model), task.scheme, fixed=isinstance(control, FixedStep))
    undamped = isinstance(scheme, GeneralizedAlpha | Multistep) and not scheme.damps
    if model.equations and undamped and not task.quiet:
        warn(UNDAMPED, RuntimeWarning)
    if task.events:
        refuse(model, "events")
    with compiled_ahead(formulation_of(model), scheme, control, CHUNK):
        initial = task.initial
        state = start_state(
            model, initial.found(robot) if isinstance(initial, OfRobot) else initial
        )
        if task.t_eval is not None:
            checked_instants(task.t_eval, float(state.t))
        plan = Plan(
            model,
            scheme,
            control,
            float(state.t),
            task.duration,
            Outside(model, float(state.t)),
            task.max_steps,
            task.progress,
            task.watch,
            disk=task.disk,
            description=robot if isinstance(robot, Robot) else None,
            given=task.robot if isinstance(task.robot, Robot) else None,
            resolution=resolution,
            accuracy=task.accuracy,
            events=task.events,
            max_events=task.max_events,
            quiet=task.quiet,
        )
        disk = plan.disk
        found = continued(plan, state) if disk is not None and task.resume else None
        if found is None:
            cursor = begin(formulation_of(model), scheme, state, first_step(control, task.duration))
            found = plan, cursor, saved_at(cursor)
            if disk is not None:
                disk.create(about_run(plan))
                disk.append(found[2], cursor)
    try:
        return found if isinstance(found, Result) else go_through(*found)
    finally:
        if disk is not None:
            disk.release()


def checked_instants(t_eval: Any, begun: float) -> np.ndarray:
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


def at_instants(result: Result, t_eval: np.ndarray) -> Result:
    """The result at a spacing, or at those instants that the run has reached; at its end if at none."""
    begun, end = result.t[0], result.t[-1]
    if t_eval.ndim == 0:
        count = int(np.floor((end - begun) / t_eval + 1e-9))
        times = begun + t_eval * np.arange(count + 1)
    else:
        reached = t_eval[t_eval <= end * (1 + 1e-12) + 1e-12]
        times = reached if reached.size else np.array([end])
    return result.sample(np.minimum(times, end))
