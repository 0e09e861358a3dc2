"""Run a robot through time: compiled chunks, progress, interruption, continuation."""

import time as clock
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import SolveError, StateError
from supple.mechanics.inverse_dynamics_tangent import mass_matrix
from supple.mechanics.local import neutral
from supple.model.inputs import input_slices
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.results.store import Store
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.assembly import check_closed, closed_at_rest
from supple.run.carry import carry_over
from supple.run.inside_out import warn_if_inside_out
from supple.run.outside import ControllerFailed, Outside
from supple.time.advance import (
    Cursor,
    Saved,
    Status,
    advance,
    begin,
    cursor_like,
    instant,
    restart,
)
from supple.time.ahead import compiled_ahead
from supple.time.alpha import GeneralizedAlpha, generalized_alpha
from supple.time.collocation import radau
from supple.time.control import ErrorControl, FixedStep, StepControl
from supple.time.scheme import AbstractScheme

Progress = Callable[[float, int], None]
"""Called with the simulated time (s) and the number of steps so far."""
Watch = Callable[[Result], None]
"""Called with the newest instants of a run that goes on."""

UNDAMPED = (
    "an undamped scheme (γ = ½) is weakly unstable on closed loops and imposed coordinates: forces oscillate "
    "from step to step and may grow. Use generalized_alpha(rho) with rho < 1, or radau()"
)

CHUNK = 256
"""Most steps between two looks at the clock."""
FIRST = 8
"""Steps before the first report, where reports are wanted."""
PERIOD = 0.25
"""Seconds between reports and between writes to a store, and the longest wait for Ctrl-C."""


def as_model(robot: Robot | Model, accuracy: float | None = None) -> Model:
    """The model of a robot (for an accuracy, where it leaves choices open), or the model itself."""
    if isinstance(robot, Robot):
        return robot.build(DEFAULT_ACCURACY if accuracy is None else accuracy)
    return robot


def initial_state(
    model: Model,
    q: Any = None,
    v: Any = None,
    t: float = 0.0,
) -> State:
    """A state at rest in the described shape, unless q or v say otherwise."""
    configuration = neutral(model) if q is None else np.asarray(q, dtype=float)
    velocity = np.zeros(model.nv) if v is None else np.asarray(v, dtype=float)
    for name, array, size in (("q", configuration, model.nq), ("v", velocity, model.nv)):
        if array.shape != (size,):
            raise StateError(f"{name}: got shape {array.shape}; need ({size},) for {model.name!r}")
        if not np.all(np.isfinite(array)):
            bad = int(np.flatnonzero(~np.isfinite(array))[0])
            raise StateError(f"{name}[{bad}]: got {array[bad]}; need finite numbers")
    configuration = _with_unit_quaternions(model, configuration)
    return State(np.asarray(float(t)), configuration, velocity, np.zeros(model.nv))


def _with_unit_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """Quaternions may be given in any length, as in descriptions; poses take them for unit ones."""
    q = q.copy()
    for slot in model.topology.joint_slots:
        group = model.groups[slot.group]
        if group.nq == group.nv:
            continue
        quaternion = q[slot.q][:4]
        norm = np.linalg.norm(quaternion)
        if norm == 0:
            raise StateError(
                f"q of joint {slot.name!r}: got the quaternion {quaternion.tolist()}; "
                "need one that is not zero, (1, 0, 0, 0) for no turn"
            )
        quaternion /= norm
    return q


def simulate(
    robot: Robot | Model,
    duration: float,
    *,
    dt: float | None = None,
    accuracy: float | None = None,
    scheme: AbstractScheme | None = None,
    start: State | Any = None,
    output: np.ndarray | Sequence[float] | float | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    max_steps: int = 10_000_000,
    throw: bool = False,
    store: str | Path | Store | None = None,
    go_on: bool = False,
) -> Result:
    """Simulate for ``duration`` seconds.

    Name a step ``dt`` (s) for fixed steps, generalized-α (ρ∞ = 0.8) unless a scheme is given; otherwise
    the step follows from ``accuracy`` (displacement error over the robot's size, 1e-3 by default) with
    Radau IIA of order 5. ``start`` is a state, an equilibrium, or a run whose end it is, also those of a
    robot with other items (default: at rest as described, with its loops closed), or a function of the
    model that finds one; velocities that closed loops or imposed laws forbid are changed as by an impact.
    ``output`` are instants, or a spacing (s), to report instead of the solver's own.
    ``progress(t, count)`` is called about four times a second and at the end; so is ``watch``, with the
    newest instants as a result (a viewer's ``watch`` draws them).
    Ctrl-C ends the run with everything computed so far and status INTERRUPTED, ``max_steps`` with STEP_LIMIT.
    ``store`` is a folder that the run is written to chunk by chunk; with ``go_on`` a run found there with the
    same settings continues, also after it was killed.
    """
    model = as_model(robot, accuracy)
    number = np.ndim(duration) == 0 and np.asarray(duration).dtype.kind in "iuf"
    if not (number and np.isfinite(duration) and duration > 0):
        raise StateError(f"duration: got {duration!r}; need a positive number of seconds")
    if dt is not None and accuracy is not None:
        raise StateError(f"dt, accuracy: got {dt!r} and {accuracy!r}; give one of them")
    control: StepControl = (
        FixedStep(float(dt))
        if dt is not None
        else ErrorControl(float(DEFAULT_ACCURACY if accuracy is None else accuracy))
    )
    if scheme is None:
        scheme = generalized_alpha(0.8) if dt is not None else radau(3)
    if model.equations and isinstance(scheme, GeneralizedAlpha) and not scheme.damps:
        warnings.warn(UNDAMPED, RuntimeWarning, stacklevel=2)
    h = control.dt if isinstance(control, FixedStep) else min(control.largest, duration) * 1e-4
    first_step = jnp.asarray(h, dtype=float)  # never weakly typed
    disk = Store(store) if isinstance(store, str | Path) else store
    with compiled_ahead(model, scheme, control, CHUNK):
        state = start_state(model, start)
        instants = None if output is None else _checked_output(output, float(state.t))
        outside = Outside(model, float(state.t))
        settings = {"scheme": scheme, "control": control, "duration": duration, "outside": outside}
        if disk is not None and go_on and disk.exists:
            like = cursor_like(model, scheme)
            cursor, past = _from_store(disk, model, settings, like)
        else:
            cursor = begin(model, scheme, state, first_step)
            past = saved_at(cursor)
            if disk is not None:
                disk.create({"robot": model.name, "settings": _settings_text(settings)})
                disk.append(past, cursor)
    result = _run(
        model,
        scheme,
        control,
        cursor,
        past,
        duration,
        settings,
        progress,
        max_steps,
        watch=watch,
        disk=disk,
        description=robot if isinstance(robot, Robot) else None,
    )
    warn_if_inside_out(model, result.q)
    if instants is not None:
        result = _at_output(result, instants)
    if throw and not result.ok:
        raise SolveError(f"{model.name}: {result.message}")
    return result


def resume(
    result: Result, duration: float | None = None, progress: Progress | None = None
) -> Result:
    """Continue a run that was interrupted, or extend a finished one by ``duration`` seconds.

    The joined trajectory equals the uninterrupted one; steps are those of the first run.
    """
    if result.cursor is None:
        raise StateError("result: it has no cursor to continue from")
    settings = dict(result.settings)
    begun = float(result.t[0])
    if duration is not None:
        settings["duration"] = float(result.cursor.state.t) - begun + duration
    cursor = result.cursor._replace(status=jnp.zeros((), dtype=int))
    past = Saved(*(getattr(result, field) for field in Saved._fields))
    return _run(
        result.model,
        settings["scheme"],
        settings["control"],
        cursor,
        past,
        settings["duration"],
        settings,
        progress,
        10_000_000,
        seconds=result.wall_seconds,
        description=result.description,
    )


def _run(
    model: Model,
    scheme: AbstractScheme,
    control: StepControl,
    cursor: Cursor,
    past: Saved,
    duration: float,
    settings: dict[str, Any],
    progress: Progress | None,
    max_steps: int,
    seconds: float = 0.0,
    watch: Watch | None = None,
    disk: Store | None = None,
    description: Any = None,
) -> Result:
    begun = float(past.t[0])
    stop = begun + duration
    outside: Outside = settings["outside"]
    walls = [stop]
    if isinstance(control, ErrorControl):
        walls = [c for c in model.corners if begun < c < stop] + walls
    chunks, count = [past], len(past.t) - 1
    # Chunks on disk, and since when: a write costs as much as many steps.
    stored, stored_at = len(chunks), 0.0
    clock_start = reported = clock.perf_counter()
    attempts = CHUNK if progress is None and watch is None else FIRST
    status, reason = Status.RUNNING, ""

    def outcome(saved: Saved, status: Status, reason: str) -> Result:
        return Result(
            model=model,
            **saved._asdict(),
            status=status,
            message=_message(model, status, cursor, reason),
            rejected=int(cursor.rejected),
            wall_seconds=seconds + clock.perf_counter() - clock_start,
            settings=settings,
            cursor=cursor,
            description=description,
        )

    try:
        while status == Status.RUNNING and count < max_steps:
            now = float(cursor.state.t)
            if now >= stop:  # a run on disk that had come to its end
                status = Status.DONE
                break
            feedback, period = outside.react(model, cursor.state, cursor.feedback)
            cursor = cursor._replace(feedback=feedback)
            sampled = isinstance(control, FixedStep) and period < 1.5 * control.dt and now > begun
            caught = cursor.taut is not None and bool(cursor.taut.caught)
            if now in walls[:-1] or (period > 0 and not sampled) or caught:
                cursor = restart(model, scheme, cursor)
            wall = min((w for w in walls if w > now), default=stop)
            wall = min(wall, outside.next_call())
            called = clock.perf_counter()
            after, saved, found = advance(
                model,
                scheme,
                control,
                CHUNK,
                cursor,
                jnp.asarray(begun),
                jnp.asarray(wall),
                jnp.asarray(float(duration)),
                jnp.asarray(min(attempts, max_steps - count)),
            )
            number = int(found)  # waits; a run interrupted here goes on from the cursor before
            chunks.append(Saved(*(np.asarray(x)[:number] for x in saved)))
            cursor = after
            count += number
            status = Status(int(cursor.status))
            if status == Status.DONE and wall < stop:
                status = Status.RUNNING
                cursor = cursor._replace(status=jnp.zeros((), dtype=int))
            looked = clock.perf_counter()
            if disk is not None and (status != Status.RUNNING or looked - stored_at >= PERIOD):
                disk.append(_joined(chunks[stored:]), cursor)
                stored, stored_at = len(chunks), looked
            attempts = _next_attempts(attempts, looked - called)
            due = status != Status.RUNNING or looked - reported >= PERIOD
            if due:
                reported = looked
            if progress is not None and due:
                progress(float(cursor.state.t), count)
            if watch is not None and due and number:
                watch(outcome(chunks[-1], status, reason))
        if status == Status.RUNNING:
            status = Status.STEP_LIMIT
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except ControllerFailed as error:
        status, reason = Status.BAD_INPUT, str(error)
    if len(chunks[-1].t) and chunks[-1].t[-1] > float(cursor.state.t):
        chunks.pop()  # interrupted before the cursor could follow
    if disk is not None and stored < len(chunks):
        disk.append(_joined(chunks[stored:]), cursor)
    return outcome(_joined(chunks), status, reason)


def _joined(chunks: list[Saved]) -> Saved:
    return Saved(*(np.concatenate(parts) for parts in zip(*chunks, strict=True)))


def _next_attempts(attempts: int, seconds: float) -> int:
    """Attempts that should take PERIOD, if the last took ``seconds``; changes at most fourfold."""
    wanted = attempts * PERIOD / max(seconds, 1e-9)
    return int(np.clip(wanted, max(attempts // 4, 1), min(4 * attempts, CHUNK)))


def _settings_text(settings: dict[str, Any]) -> str:
    """Settings that a run on disk must have to be continued."""
    return "; ".join(f"{k}={v!r}" for k, v in settings.items() if k != "outside")


def _from_store(
    disk: Store, model: Model, settings: dict[str, Any], like: Any
) -> tuple[Cursor, Saved]:
    """Cursor and instants of a run on disk, to be continued."""
    held, wanted = disk.progress["about"].get("settings"), _settings_text(settings)
    if held != wanted:
        raise StateError(f"store: {disk.path}: got settings {wanted}; need those it holds: {held}")
    if any(not control.compiled for control in model.controls):
        need = "compiled controllers: the memory of Python objects is not stored"
        raise StateError(f"store: {disk.path}: cannot go on; need {need}")
    running = jnp.zeros((), dtype=int)
    return disk.cursor(like)._replace(status=running), disk.saved()


def _message(model: Model, status: Status, cursor: Cursor, reason: str) -> str:
    t = float(cursor.state.t)
    if status == Status.DONE:
        return f"{status.message} (t = {t:g} s)"
    text = f"{status.message} at t = {t:.9g} s, step {float(cursor.h):.3g} s"
    if reason:
        text += f": {reason}"
    if status == Status.BAD_INPUT and not reason:
        text += f": inputs {_named_inputs(model, cursor)} must be finite"
    if status == Status.NOT_CONVERGED and not np.all(np.isfinite(cursor.state.a)):
        text += f": accelerations there are not finite; {_no_acceleration(model, cursor)}"
    elif status == Status.NOT_CONVERGED:
        text += (
            f"; the largest correction was in {coordinate_owner(model, int(cursor.worst))}. "
            "Check loads and stiffness there, or try more nodes, a smaller dt or radau()."
        )
    return text


def _no_acceleration(model: Model, cursor: Cursor) -> str:
    """Why a state has no acceleration, for messages: a motion without mass, or loads."""
    mass = np.asarray(jit(mass_matrix, quick=True)(model, cursor.state.q))
    values, motions = np.linalg.eigh(mass)
    if not np.all(np.isfinite(mass)) or values[0] > 1e-14 * values[-1]:
        return "check the loads."
    owner = coordinate_owner(model, int(np.argmax(np.abs(motions[:, 0]))))
    return f"{owner} moves nothing that has inertia: give bodies their inertia (kg m²)."


def _named_inputs(model: Model, cursor: Cursor) -> dict[str, Any]:
    values = np.asarray(cursor.feedback.inputs)
    return {name: values[where].tolist() for name, (where, _) in input_slices(model).items()}


def coordinate_owner(model: Model, coordinate: int) -> str:
    """Name of the item a coordinate belongs to, for messages."""
    for kind, slots in (
        ("rod", model.topology.rod_slots),
        ("joint of", model.topology.joint_slots),
    ):
        for slot in slots:
            if slot.v_start <= coordinate < slot.v_stop:
                return f"{kind} {slot.name!r}, coordinate {coordinate - slot.v_start}"
    return f"coordinate {coordinate}"


def start_state(model: Model, start: Any) -> State:
    """The state to start from; one that knows its model is carried over by name."""
    if callable(start):
        start = start(model)
    if start is None:
        state = initial_state(model)
        if model.holonomic:
            closed = closed_at_rest(model, np.asarray(state.q), 0.0)
            return initial_state(model, closed.q)
        return state
    held = getattr(start, "model", None)
    if isinstance(start, Result):
        start = start.final
    t = float(getattr(start, "t", 0.0))
    if held is not None and held.topology != model.topology:
        known = initial_state(held, start.q, getattr(start, "v", None), t)
        state = carry_over(known, held, model)
    else:
        state = initial_state(model, start.q, getattr(start, "v", None), t)
        forces = getattr(start, "multipliers", None)
        if forces is not None and np.size(forces) == model.equations > 0:  # they tell what is taut
            state = replace(state, multipliers=np.asarray(forces))
    if model.holonomic:
        check_closed(model, np.asarray(state.q), t)
    return state


def saved_at(cursor: Cursor) -> Saved:
    """The one instant of a cursor, as a chunk."""
    return Saved(*(np.asarray(x)[None] for x in instant(cursor)))


def _checked_output(output: Any, begun: float) -> np.ndarray:
    """A spacing () or instants (n,); what cannot be used is refused before the run, not after it."""
    need = f"instants (s) from {begun:g} on, or one spacing > 0 between them"
    try:
        values = np.asarray(output, dtype=float)
    except (TypeError, ValueError):
        raise StateError(f"output: got {output!r}; need {need}") from None
    slack = 1e-9 * max(1.0, abs(begun))
    good = values > 0 if values.ndim == 0 else values >= begun - slack
    if not (values.size and np.all(good & np.isfinite(values))):
        raise StateError(f"output: got {output!r}; need {need}")
    return values if values.ndim == 0 else values.ravel()


def _at_output(result: Result, output: np.ndarray) -> Result:
    """The result at a spacing, or at those instants that the run has reached; at its end if at none."""
    begun, end = result.t[0], result.t[-1]
    if output.ndim == 0:
        count = int(np.floor((end - begun) / output + 1e-9))
        times = begun + output * np.arange(count + 1)
    else:
        reached = output[output <= end * (1 + 1e-12) + 1e-12]
        times = reached if reached.size else np.array([end])
    return result.sampled(np.minimum(times, end))
