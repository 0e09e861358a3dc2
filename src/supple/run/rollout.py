"""Rollouts and single steps for users: fixed steps as pure functions, which begin as runs do.

Where something is traced (inside ``jax.jit``, ``grad``, ``vmap`` or a batch) nothing can be looked at, so
nothing is raised: what is wrong is told by the status, a number in the result.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from supple.arrays import Array
from supple.compile import jit
from supple.errors import ArgumentError
from supple.mechanics.element_motion import neutral
from supple.mechanics.sensing import Sensors
from supple.model.model import Model
from supple.model.state import State
from supple.numeric import is_traced
from supple.robot.formulations import formulation_of
from supple.robot.robot import Robot
from supple.run.assembly import CLOSED, ways_of
from supple.run.hosted import refuse
from supple.run.start import as_model, initial_state, start_state
from supple.solve.equilibrium import relax, solve_equilibrium
from supple.system.active_set import open_by
from supple.system.formulation import AbstractFormulation
from supple.system.strain import Strain
from supple.time.advance import Status
from supple.time.feedback import place_inputs
from supple.time.named import scheme_for, scheme_named
from supple.time.rollout import Rollout, Stepped, begun, in_lockstep, rolled_out, stepped
from supple.time.scheme import AbstractScheme

OPEN = 1e-6
"""Gap of a loop (m) beyond which a state that was given counts as open, as in runs."""

Policy = Callable[[Any, Any], Any]
"""What a robot's inputs should be at a time, from what can be read of it there."""
Observed = Callable[[Sensors], Any] | Mapping[str, Callable[[Sensors], Any]]


def rollout(
    robot: Robot | Model | AbstractFormulation,
    state: State | Any = None,
    scheme: AbstractScheme | str | None = None,
    dt: Float[Array, ""] | float | None = None,
    steps: int | None = None,
    *,
    inputs: Mapping[str, Any] | Any | Policy | None = None,
    observe: Observed | None = None,
) -> Rollout:
    """``steps`` fixed steps of ``dt`` seconds as one pure function: for ``jit``, ``vmap`` and ``grad``.

    The motion begins as that of :func:`simulate`: from ``state`` (a state, coordinates, an equilibrium, the
    end of a run), or at rest as described, with its loops closed. ``scheme`` is generalized-α (ρ∞ = 0.8) by
    default.
    ``inputs`` are held during each step: values by the names of inputs, with or without a leading axis of
    steps; or all inputs as rows of numbers; or a policy ``policy(t, seen)`` that returns them by name, from
    what can be read of the robot as of a result. ``observe``, functions of such a reading by name, or one
    alone, says what is to be kept as ``observations``.
    Steps are as many and as long as they are named, and nothing is refined. One that fails ends the motion,
    which stands still from there, with NOT_CONVERGED as its ``status``; a state with open loops is refused,
    or has status OPEN where it is traced.
    Reverse mode keeps √steps states and where each step's solve led, and computes the rest again, without
    solving. Derivatives are those of the motion with
    slack tendons, stops and friction as they are: where one is about to change there is none.
    """
    if dt is None or steps is None:
        raise ArgumentError(
            f"dt, steps: got {dt!r} and {steps!r}; need the length of a step (s) and how many"
        )
    whole = np.ndim(steps) == 0 and np.asarray(steps).dtype.kind in "iu"
    if not (whole and steps >= 1):
        raise ArgumentError(f"steps: got {steps!r}; need a positive integer")
    formulation, chosen, first = _begun(robot, state, scheme)
    shares, policy = _shares(formulation, inputs, int(steps))
    seen = tuple(observe.items()) if isinstance(observe, Mapping) else observe
    return _rolled(formulation, first, _step_size(dt), shares, chosen, int(steps), policy, seen)


def step(
    robot: Robot | Model | AbstractFormulation,
    state: Stepped | State | Any = None,
    inputs: Mapping[str, Any] | Any | Policy | None = None,
    dt: Float[Array, ""] | float | None = None,
    *,
    scheme: AbstractScheme | str | None = None,
) -> Stepped:
    """One fixed step of ``dt`` seconds as a pure function: what :func:`rollout` does again and again.

    It goes on from what the step before returned, or begins, as a rollout does, from a state. ``inputs`` are
    values by name, or all of them in one row, or a policy.
    """
    if dt is None:
        raise ArgumentError("dt: got None; need the length of a step (s)")
    if isinstance(state, Stepped):
        formulation = _formulated(robot)
        chosen = _scheme(formulation, scheme)
        now = state
    else:
        formulation, chosen, now = _begun(robot, state, scheme)
    shares, policy = _shares(formulation, inputs, None)
    return _one_step(formulation, now, _step_size(dt), shares, chosen, policy)


@partial(jit, static_argnames=("scheme",))
def _begin(formulation, state, closed, scheme):  # type: ignore[no-untyped-def]
    return begun(formulation, scheme, state, jnp.where(closed, Status.DONE, Status.OPEN))


@partial(jit, static_argnames=("scheme", "policy"))
def _one_step(formulation, now, h, shares, scheme, policy):  # type: ignore[no-untyped-def]
    return stepped(_steered(formulation, policy, now, shares), scheme, now, h)


@partial(jit, static_argnames=("scheme", "steps", "policy", "observe"))
def _rolled(formulation, first, h, shares, scheme, steps, policy, observe):  # type: ignore[no-untyped-def]
    seen = None if observe is None else _observing(observe)
    steered = partial(_steered, formulation, policy)
    return rolled_out(scheme, first, h, steps, steered, shares, seen)


def _step_size(dt: Any) -> Float[Array, ""]:
    if not is_traced(dt) and not (np.ndim(dt) == 0 and np.isfinite(dt) and dt > 0):
        raise ArgumentError(f"dt: got {dt!r}; need a positive number of seconds")
    return jnp.asarray(dt, dtype=float)


def _formulated(robot: Any) -> AbstractFormulation:
    formulation = (
        robot if isinstance(robot, AbstractFormulation) else formulation_of(as_model(robot))
    )
    if formulation.controls:
        names = ", ".join(control.name for control in formulation.controls)
        raise ArgumentError(
            f"robot: got one with controllers that are called in steps ({names}); need inputs=policy, a "
            "ContinuousController, or simulate"
        )
    return formulation


def _scheme(
    formulation: AbstractFormulation, scheme: AbstractScheme | str | None
) -> AbstractScheme:
    named = None if scheme is None else scheme_named(scheme)
    return in_lockstep(scheme_for(formulation, named, fixed=True))


def _begun(
    robot: Any, state: Any, scheme: AbstractScheme | str | None
) -> tuple[AbstractFormulation, AbstractScheme, Stepped]:
    """What moves, by which scheme, and its start."""
    if isinstance(robot, AbstractFormulation):
        chosen = _scheme(robot, scheme)
        return robot, chosen, _begin(_formulated(robot), state, jnp.ones((), dtype=bool), chosen)
    model = as_model(robot)
    formulation = _formulated(model)
    chosen = _scheme(formulation, scheme)
    if not is_traced((model, state)):
        first, closed = start_state(model, state), jnp.ones((), dtype=bool)
    else:
        first, closed = pure_start(model, state)
    return formulation, chosen, _begin(formulation, first, closed, chosen)


def pure_start(model: Model, initial: Any) -> tuple[State, Bool[Array, ""]]:
    """The state to start from where something is traced, and whether its loops are closed."""
    initial = getattr(initial, "final", initial)
    yes = jnp.ones((), dtype=bool)
    if initial is None:
        refuse(model, "a traced robot without a state", "a state, or formulation='strain'")
        q, t = jnp.asarray(neutral(model)), jnp.zeros(())
        if model.holonomic:
            q, yes = closed_near(model, q, t)
        return State(t, q, jnp.zeros(model.nv), jnp.zeros(model.nv)), yes
    if not hasattr(initial, "q"):
        initial = (
            State(np.zeros(()), jnp.asarray(initial), jnp.zeros(model.nv), jnp.zeros(model.nv))
            if is_traced(initial)
            else initial_state(model, initial)
        )
    t = jnp.asarray(getattr(initial, "t", 0.0), dtype=float)
    q, v = jnp.asarray(initial.q), getattr(initial, "v", None)
    v = jnp.zeros(model.nv) if v is None else jnp.asarray(v)
    for name, array, size in (("q", q, model.nq), ("v", v, model.nv)):
        if array.shape != (size,):
            raise ArgumentError(
                f"{name}: got shape {array.shape}; need ({size},) for {model.name!r}"
            )
    forces = getattr(initial, "multipliers", None)
    forces = None if forces is None or not model.equations else jnp.asarray(forces)
    if model.holonomic:
        yes = jnp.max(jnp.abs(open_by(model.frozen_at(t), q, t))) <= OPEN
    return State(t, q, v, jnp.zeros(model.nv), forces), yes


def closed_near(
    model: Model, q: Float[Array, " nq"], t: Float[Array, ""]
) -> tuple[Float[Array, " nq"], Bool[Array, ""]]:
    """The unloaded robot closed near a configuration, at rest, as :func:`supple.assemble` does; and whether.

    Derivatives are those of where its own elasticity rests.
    """
    unloaded = model.without_loads()
    rest = relax(Strain(unloaded), q, t, ways_of(unloaded))
    found = solve_equilibrium(Strain(unloaded), rest.q, t, 1.0, rest.multipliers)
    left = jnp.max(jnp.abs(open_by(model.frozen_at(t), found.q, t)))
    return found.q, left <= 10 * CLOSED


def _shares(
    formulation: AbstractFormulation, inputs: Any, steps: int | None
) -> tuple[Any, Policy | None]:
    """The inputs of each step, with a leading axis of ``steps`` (None: of one step), or a policy."""
    if inputs is None or callable(inputs):
        return None, inputs
    if isinstance(inputs, Mapping):
        return {
            name: _in_time(value, formulation.find_input(name, "inputs")[1], name, steps)
            for name, value in inputs.items()
        }, None
    return _in_time(inputs, formulation.inputs.shape, "all inputs in a row", steps), None


def _steered(
    formulation: AbstractFormulation, policy: Policy | None, now: Stepped, share: Any
) -> AbstractFormulation:
    """The robot with its inputs in a step."""
    if policy is not None:
        found = policy(now.state.t, formulation.sensors(now.state))
        return formulation.with_inputs(_row(formulation, found, "inputs: the policy"))
    if share is None:
        return formulation
    return formulation.with_inputs(_row(formulation, share, "inputs"))


def _row(formulation: AbstractFormulation, found: Any, asking: str) -> Float[Array, " m"]:
    """All inputs in one row, with those that were found."""
    if isinstance(found, Mapping):
        return place_inputs(formulation, asking, formulation.inputs, dict(found))
    row = jnp.asarray(found, dtype=float)
    if row.shape != formulation.inputs.shape:
        need = f"values by the names of inputs, or all {formulation.inputs.shape[0]} numbers"
        raise ArgumentError(f"{asking}: got shape {row.shape}; need {need}")
    return row


def _in_time(value: Any, shape: tuple[int, ...], name: str, steps: int | None) -> Any:
    """A value for each step (for the one step where ``steps`` is None)."""
    try:
        array = jnp.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"inputs: {name}: got {value!r}; need numbers") from None
    if array.shape == shape:
        return array if steps is None else jnp.broadcast_to(array, (steps, *shape))
    if steps is not None and array.shape == (steps, *shape):
        return array
    need = f"{shape}" if steps is None else f"{(steps, *shape)}, one for each step, or {shape}"
    raise ArgumentError(f"inputs: {name}: got shape {array.shape}; need {need}")


def _observing(observe: Any) -> Callable[[AbstractFormulation, State], Any]:
    """What is read of a state: by one function, or by several with their names."""
    if not isinstance(observe, tuple):
        return lambda formulation, state: observe(formulation.sensors(state))

    def seen(formulation: AbstractFormulation, state: State) -> dict[str, Any]:
        reading = formulation.sensors(state)
        return {name: one(reading) for name, one in observe}

    return seen
