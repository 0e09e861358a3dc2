"""Run a robot through time, and continue runs."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import ArgumentError, SolveError, StoreError
from supple.model.model import Model
from supple.model.state import State
from supple.results.fingerprint import changed, fingerprints
from supple.results.result import Result
from supple.results.store import Store
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.inside_out import warn_if_inside_out
from supple.run.loop import CHUNK, Plan, Progress, Watch, carry_out, saved_at
from supple.run.message import gained_energy
from supple.run.outside import Outside
from supple.run.start import as_model, start_state
from supple.system.strain import Strain
from supple.time.advance import Cursor, Saved, Status, begin, cursor_like
from supple.time.ahead import compiled_ahead
from supple.time.alpha import GeneralizedAlpha, generalized_alpha
from supple.time.collocation import radau
from supple.time.control import ErrorControl, FixedStep, StepControl
from supple.time.scheme import AbstractScheme

UNDAMPED = (
    "an undamped scheme (γ = ½) is weakly unstable on closed loops and imposed coordinates: forces oscillate "
    "from step to step and may grow. Use generalized_alpha(rho_inf) with rho_inf < 1, or radau()"
)

SAME_START = 1e-6
"""Difference of coordinates, over their size and one, up to which a start is the one a run on disk has."""


def simulate(
    robot: Robot | Model,
    duration: float,
    *,
    dt: float | None = None,
    accuracy: float | None = None,
    scheme: AbstractScheme | None = None,
    initial: State | Any = None,
    t_eval: np.ndarray | Sequence[float] | float | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    max_steps: int = 10_000_000,
    throw: bool = True,
    store: str | Path | Store | None = None,
    resume: bool = False,
) -> Result:
    """Simulate for ``duration`` seconds.

    Name a step ``dt`` (s) for fixed steps, generalized-α (ρ∞ = 0.8) unless a scheme is given; otherwise
    the step follows from ``accuracy`` (displacement error over the robot's size, 1e-3 by default) with
    Radau IIA of order 5. ``initial`` is a state, an equilibrium, or a run whose end it is, also those of a
    robot with other items (default: at rest as described, with its loops closed), or a function of the
    model that finds one; velocities that closed loops or imposed laws forbid are changed as by an impact.
    ``t_eval`` are the instants (s) to report instead of the solver's own; one number is their spacing.
    ``progress(t, count)`` is called about four times a second and at the end; so is ``watch``, with the
    newest instants as a result (a viewer's ``watch`` draws them).
    A run that does not reach its end raises :class:`SolveError`, with what was computed as its ``result``;
    with ``throw=False`` that is returned, and its status tells. Ctrl-C never raises: it ends the run with
    everything computed so far and status INTERRUPTED.
    ``store`` is a folder that the run is written to chunk by chunk; with ``resume`` a run found there with
    the same settings continues, also after it was killed.
    """
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
    if scheme is None:
        scheme = generalized_alpha(0.8) if dt is not None else radau(3)
    if model.equations and isinstance(scheme, GeneralizedAlpha) and not scheme.damps:
        warnings.warn(UNDAMPED, RuntimeWarning, stacklevel=2)
    h = control.dt if isinstance(control, FixedStep) else min(control.largest, duration) * 1e-4
    first_step = jnp.asarray(h, dtype=float)  # never weakly typed
    with compiled_ahead(Strain(model), scheme, control, CHUNK):
        state = start_state(model, initial)
        instants = None if t_eval is None else _checked_instants(t_eval, float(state.t))
        plan = Plan(
            model,
            scheme,
            control,
            duration,
            Outside(model, float(state.t)),
            max_steps,
            progress,
            watch,
            disk=Store(store) if isinstance(store, str | Path) else store,
            description=robot if isinstance(robot, Robot) else None,
        )
        found = _from_store(plan.disk, plan, state) if plan.disk is not None and resume else None
        if found is not None:
            cursor, past = found
        else:
            cursor = begin(Strain(model), scheme, state, first_step)
            past = saved_at(cursor)
            if plan.disk is not None:
                plan.disk.create(_told(plan))
                plan.disk.append(past, cursor)
    try:
        result = carry_out(plan, cursor, past)
    finally:
        if plan.disk is not None:
            plan.disk.release()
    warn_if_inside_out(model, result.q)
    if gained := gained_energy(result.cursor):
        warnings.warn(f"{model.name}{gained}", RuntimeWarning, stacklevel=2)
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
    plan = Plan(
        result.model,
        **result.settings,
        progress=progress,
        before=result.stats,
        description=result.description,
    )
    if duration is not None:
        done = float(result.cursor.state.t) - float(result.t[0])
        plan = replace(plan, duration=done + duration)
    cursor = result.cursor._replace(status=jnp.zeros((), dtype=int))
    past = Saved(*(getattr(result, field) for field in Saved._fields))
    return _finished(carry_out(plan, cursor, past), throw)


def _settings_text(plan: Plan) -> str:
    """Settings that a run on disk must have to be continued."""
    return "; ".join(f"{k}={v!r}" for k, v in plan.settings.items() if k != "outside")


def _told(plan: Plan) -> dict[str, Any]:
    """What a run on disk says of itself, by which it is known again."""
    robot = plan.model if plan.description is None else plan.description
    return {
        "robot": plan.model.name,
        "settings": _settings_text(plan),
        "parts": fingerprints(robot),
    }


def _from_store(disk: Store, plan: Plan, state: State) -> tuple[Cursor, Saved] | None:
    """Cursor and instants of a run on disk, to be continued; None where none has begun."""
    if not disk.exists:
        return None
    held, wanted = disk.progress["about"], _told(plan)
    if held.get("settings") != wanted["settings"]:
        got, need = f"got settings {wanted['settings']}", f"those it holds: {held.get('settings')}"
        raise StoreError(disk.path, got, need)
    other = changed(held.get("parts", {}), wanted["parts"])
    if other:
        what = f"it belongs to another robot: not the same are {', '.join(other)}"
        raise StoreError(disk.path, what, "the robot it was begun with, or to start anew")
    if any(not control.compiled for control in plan.model.controls):
        need = "compiled controllers: the memory of Python objects is not stored"
        raise StoreError(disk.path, "it cannot go on", need)
    found = disk.resumed(cursor_like(Strain(plan.model), plan.scheme))
    if found is None:
        return None
    cursor, past = found
    first, tolerance = np.asarray(state.q), SAME_START * (1 + np.abs(past.q[0]))
    if past.t[0] != float(state.t) or np.any(np.abs(past.q[0] - first) > tolerance):
        disk.release()
        raise StoreError(disk.path, "its run starts elsewhere", "the start it was begun with")
    return cursor._replace(status=jnp.zeros((), dtype=int)), past


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
