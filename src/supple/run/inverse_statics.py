"""Inverse statics: the inputs with which a frame of the resting robot is where it should be."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.compile import jit
from supple.errors import ArgumentError, SolveError
from supple.lie import Pose, so3
from supple.mechanics.frames import find_frame, frame_motion
from supple.mechanics.readout import AbstractReadout
from supple.mechanics.regulation import read_at_rest
from supple.model.inputs import find_input, input_slices, input_vector, with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of
from supple.robot.robot import Robot
from supple.run.hosted import refuse
from supple.run.start import as_model, of_numbers
from supple.run.statics import equilibrium
from supple.solve.equilibrium import EquilibriumStatus, solve_equilibrium

MAX_ITERATIONS = 30
SMALLEST_SHARE = 1e-3
"""Of a Gauss-Newton step: below it a target counts as out of reach."""


class InverseStaticsStatus(enum.IntEnum):
    """How inverse statics ended."""

    CONVERGED = 0
    OUT_OF_REACH = 1

    @property
    def ok(self) -> bool:
        """Whether every target was met."""
        return self is InverseStaticsStatus.CONVERGED

    @property
    def message(self) -> str:
        """One sentence for people."""
        return {
            InverseStaticsStatus.CONVERGED: "every target is met",
            InverseStaticsStatus.OUT_OF_REACH: "a target may be out of reach, or farther than one step "
            "from the target before",
        }[self]


@dataclass(frozen=True, eq=False)
class InverseStatics(AbstractReadout):
    """Inputs for n targets, and the equilibria in which they are met; these are read as results are."""

    model: Model
    status: InverseStaticsStatus
    message: str
    inputs: dict[str, np.ndarray]
    """Values (n, …) of each input that was free."""
    q: np.ndarray
    """Configurations (n, nq)."""
    multipliers: np.ndarray
    """Forces of imposed coordinates and closures (n, m), such as tensions of tendons of given length (N)."""
    jacobian: np.ndarray
    """Derivative (n, 3, m) of the frame's position by the m numbers that were free; of poses (n, 6, m), with
    the turn in the target's axes first."""
    error: np.ndarray
    """What is left (n,): the largest of the distances (m) and, for poses, the angles (rad)."""
    iterations: np.ndarray
    """Gauss-Newton iterations (n,)."""
    every_input: np.ndarray
    """All inputs of the model (n, k), in its order."""

    def __repr__(self) -> str:
        inputs, error = ", ".join(self.inputs), float(np.max(self.error, initial=0.0))
        return (
            f"InverseStatics({len(self.q)} targets, inputs: {inputs}, {self.status.name}, "
            f"largest error {error:.1e})"
        )

    def __str__(self) -> str:
        return f"{self!r}: {self.message}"

    @property
    def ok(self) -> bool:
        """Whether every target was met."""
        return self.status.ok

    @property
    def v(self) -> np.ndarray:
        """Velocities (n, nv): zero."""
        return np.zeros((len(self.q), self.model.nv))

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at every equilibrium, each with its inputs."""
        forces = self.multipliers if self.model.equations else None
        columns = np.zeros(len(self.q)), self.q, self.v, self.v, forces
        found = _at_rest(quantity, fixed, self.model, self.every_input, columns)
        return jax.tree.map(np.asarray, found)


@partial(jit, static_argnames=("quantity", "fixed"))
def _at_rest(quantity, fixed, model, inputs, columns):  # type: ignore[no-untyped-def]
    def one(inputs, columns):  # type: ignore[no-untyped-def]
        return read_at_rest(quantity, fixed, with_inputs(model, inputs), State(*columns))

    return jax.vmap(one)(inputs, columns)


class _Found(NamedTuple):
    """The equilibrium for some inputs, how far the frame is from its target, and the derivative of that."""

    error: Float[Array, " k"]
    by_inputs: Float[Array, "k m"]
    q: Float[Array, " nq"]
    multipliers: Float[Array, " n"] | None
    converged: Float[Array, ""]


def inverse_statics(
    robot: Robot | Model,
    frame: str,
    targets: Any,
    inputs: Sequence[str] | None = None,
    *,
    initial: Any = None,
    tolerance: float = 1e-9,
    throw: bool = True,
) -> InverseStatics:
    """Inputs with which ``frame`` rests at each target, one after the other.

    ``targets`` are positions (n, 3) in meters, or poses (n of them); ``inputs`` the names of :class:`Input`
    laws that may change (default: all), from the values they are described with. Gauss-Newton with the exact
    derivative of the equilibrium: of the changes that lead to a target the smallest one is taken, so inputs
    stay near where they were. ``initial`` is the equilibrium of the robot as described, unless given.
    Raises :class:`SolveError` at a target out of reach, with what was found so far, that target included, as
    its ``result``; with ``throw=False`` the nearest found is kept and the next target is tried.
    """
    model = as_model(robot)
    instead = (
        "a robot of numbers (the derivative of its inputs is -J⁻¹ times that of sp.equilibrium)"
    )
    of_numbers(model, "inverse_statics", instead)
    refuse(model, "inverse_statics")
    find_frame(model, frame)
    names = tuple(input_slices(model)) if inputs is None else tuple(inputs)
    if not names:
        raise ArgumentError(
            "inputs: got none; need an Input law in the robot, such as pull=Input(…)"
        )
    places = {name: find_input(model, name, "inputs") for name in names}
    every = np.arange(len(input_vector(model)))
    free = np.concatenate([every[where] for where, _ in places.values()])
    goals = _poses(targets)
    held = equilibrium(model, settle=False) if initial is None else initial
    u = np.array(input_vector(model))
    q, forces = jnp.asarray(held.q), jnp.asarray(held.multipliers) if model.equations else None

    rows = []
    status = InverseStaticsStatus.CONVERGED
    message = status.message
    for i in range(len(goals.position)):
        goal = jax.tree.map(lambda x, i=i: x[i], goals)
        u, now, count = _reach(model, frame, free, u, q, forces, goal, tolerance)
        q, forces = now.q, now.multipliers
        left = float(np.abs(np.asarray(now.error)).max())
        if status.ok and not left <= tolerance:
            status = InverseStaticsStatus.OUT_OF_REACH
            message = (
                f"{status.message}: target {i} at {np.asarray(goal.position)}, to which {frame!r} comes no "
                f"nearer than {left:.3g}"
            )
        tensions = np.asarray([] if forces is None else forces)
        rows.append((u, np.asarray(q), tensions, np.asarray(now.by_inputs), left, count))
        if throw and not status.ok:
            break
    values, rest, pulls, jacobian, error, iterations = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    found = {name: values[:, where].reshape(-1, *shape) for name, (where, shape) in places.items()}
    result = InverseStatics(
        model, status, message, found, rest, pulls, jacobian, error, iterations, values
    )
    if throw and not result.ok:
        raise SolveError(f"{model.name}: {message}", result)
    return result


def _poses(targets: Any) -> Pose:
    """Targets as n poses; positions alone have no rotation."""
    if isinstance(targets, Pose):
        rotation, position = (np.asarray(x, dtype=float) for x in targets)
        return Pose(rotation.reshape(-1, 3, 3), position.reshape(-1, 3))
    position = np.atleast_2d(np.asarray(targets, dtype=float))
    if position.ndim != 2 or position.shape[1] != 3 or not np.all(np.isfinite(position)):
        raise ArgumentError(
            f"targets: got shape {np.shape(targets)}; need finite positions (n, 3), or poses"
        )
    return Pose(None, position)


def _reach(
    model: Model,
    frame: str,
    free: np.ndarray,
    u: np.ndarray,
    q: Any,
    forces: Any,
    goal: Pose,
    tolerance: float,
) -> tuple[np.ndarray, _Found, int]:
    """Gauss-Newton towards one target; a step that finds no equilibrium, or leads away, is halved."""
    now = _linearize(model, frame, jnp.asarray(free), jnp.asarray(u), q, forces, goal)
    for count in range(MAX_ITERATIONS):
        size = float(np.abs(np.asarray(now.error)).max())
        if size <= tolerance:
            return u, now, count
        step = -np.linalg.lstsq(np.asarray(now.by_inputs), np.asarray(now.error), rcond=1e-10)[0]
        share = 1.0
        while share > SMALLEST_SHARE:
            tried = u.copy()
            tried[free] += share * step
            then = _linearize(
                model, frame, jnp.asarray(free), jnp.asarray(tried), now.q, now.multipliers, goal
            )
            nearer = np.linalg.norm(np.asarray(then.error)) < np.linalg.norm(np.asarray(now.error))
            if bool(then.converged) and nearer:
                break
            share /= 2
        else:
            return u, now, count
        u, now = tried, then
    return u, now, MAX_ITERATIONS


@partial(jit, quick=True, static_argnames=("frame",))
def _linearize(
    model: Model,
    frame: str,
    free: Array,
    u: Float[Array, " all"],
    q: Float[Array, " nq"],
    multipliers: Float[Array, " n"] | None,
    goal: Pose,
) -> _Found:
    zero = jnp.zeros(())

    def gap(change: Float[Array, " m"]) -> tuple[Float[Array, " k"], Any]:
        loaded = with_inputs(model, u.at[free].add(change))
        held = solve_equilibrium(formulation_of(loaded), q, zero, 1.0, multipliers)
        pose = frame_motion(loaded, frame, held.q, jnp.zeros(model.nv)).pose
        left = pose.position - goal.position
        if goal.rotation is not None:
            left = jnp.concatenate([so3.log(goal.rotation.T @ pose.rotation), left])
        good = held.status == EquilibriumStatus.CONVERGED
        return left, (left, held.q, held.multipliers, good)

    by_inputs, (left, found, forces, good) = jax.jacfwd(gap, has_aux=True)(jnp.zeros(free.shape))
    return _Found(left, by_inputs, found, forces, good)
