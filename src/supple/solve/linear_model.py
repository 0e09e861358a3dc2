"""Linear models about a state: ẏ = A y + B u and what is observed, z = C y + D u."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import ArgumentError
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics_tangent import Tangent
from supple.model.state import State
from supple.solve.modes import free_motions, padded_forces, tangent_at, tangent_at_rest
from supple.system.second_order import AbstractSecondOrder

AT_REST = 1e-6
"""Largest work left at an equilibrium in a unit change of a scaled coordinate, over that of the stiffest."""
Observe = Callable[[Any], Any]
"""What is observed, from what can be read of the robot."""


@dataclass(frozen=True)
class LinearModel:
    """ẏ = A y + B u and z = C y + D u about a state, with y = (ξ, η).

    u are the factors of the point loads, then the robot's inputs; ``inputs`` names them. Inputs that impose
    lengths or coordinates are not among them: they act through their rates as well; those that a continuous
    controller sets have no effect. z is what was observed
    (``outputs`` names its rows), less its ``values`` at the state.
    δx = ``places`` ξ are local coordinates around q, so orientations need no quaternions here, and
    δv = ``rates`` η. For a tree both are unit matrices; with closed loops their columns are the motions that
    keep the loops closed, and those that in addition slip nowhere. ``mass``, ``damping`` and ``stiffness``
    are those of these motions.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    mass: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    eigenvalues: np.ndarray
    places: np.ndarray
    rates: np.ndarray
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    values: np.ndarray | None = None

    def __repr__(self) -> str:
        fastest = float(self.eigenvalues.real.max())
        n, m, p = len(self.A), self.B.shape[1], len(self.C)
        seen = f"{p} outputs, " if p else ""
        return f"LinearModel({n} states, {m} inputs, {seen}largest Re λ {fastest:.3g} 1/s)"


class _Forces(NamedTuple):
    """Generalized forces (nv, m) of unit inputs, and their names."""

    columns: np.ndarray
    names: tuple[str, ...]
    drawn: np.ndarray
    """Places in the vector of the robot's inputs of the last columns."""


class _Motions(NamedTuple):
    """What the coordinates do for each state and each input: δx, δẋ, δẍ (nv, states + inputs)."""

    x: np.ndarray
    xdot: np.ndarray
    xddot: np.ndarray


def linear_model(
    formulation: AbstractSecondOrder,
    q: np.ndarray,
    v: np.ndarray | None = None,
    t: float = 0.0,
    multipliers: np.ndarray | None = None,
    *,
    names: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
    observe: tuple[tuple[str, Observe], ...] = (),
) -> LinearModel:
    """State-space matrices about a state (usually an equilibrium, v = 0).

    With closed loops it must be an equilibrium, given with its multipliers: elsewhere the motions that keep
    the loops closed change with time. ``names`` are those of the loads and of the inputs.
    """
    zero = np.zeros(formulation.nv)
    if formulation.equations:
        return _closed_linear_model(formulation, q, v, t, multipliers, names, observe)
    still, first = tangent_at(formulation, q, v, t), formulation.first_order
    # Away from equilibrium the inertia forces M(q) a vary with q as well.
    a = np.zeros(formulation.nv)
    a[~first] = -np.linalg.solve(still.mass[~first][:, ~first], still.residual[~first])
    tangent = tangent_at(formulation, q, v, t, a=a)
    eye = np.eye(formulation.nv)
    at = Coordinates(q, zero, zero if v is None else np.asarray(v), a, np.asarray(float(t)))
    forces = _input_forces(formulation, at, names)
    found, motions = _state_space(tangent, eye, eye, eye, forces, first)
    return _observed(formulation, at, tangent, found, motions, forces, observe)


def _closed_linear_model(
    formulation: AbstractSecondOrder,
    q: np.ndarray,
    v: np.ndarray | None,
    t: float,
    multipliers: np.ndarray | None,
    names: tuple[tuple[str, ...], tuple[str, ...]] | None,
    observe: tuple[tuple[str, Observe], ...],
) -> LinearModel:
    tangent = tangent_at_rest(formulation, q, t, multipliers)
    scale = np.asarray(formulation.coordinate_scale)
    left = np.abs(tangent.residual * scale).max()
    size = np.abs(scale[:, None] * tangent.stiffness * scale).max()
    if (v is not None and np.any(v)) or left > AT_REST * size:
        raise ArgumentError(
            f"at: linear models of closed loops need an equilibrium, such as "
            f"linearize(robot, at=equilibrium(robot)); got velocities, or work of {left:.3g} J left"
        )
    first = formulation.first_order
    closed = tangent._replace(jacobian=tangent.jacobian[~formulation.of_velocities])
    places, rates = free_motions(closed, scale, first), free_motions(tangent, scale, first)
    # Without slips both bases are the same, and this is the unit matrix.
    follows = np.linalg.pinv(places / scale[:, None]) @ (rates / scale[:, None])
    massless = np.arange(rates.shape[1]) >= rates.shape[1] - int(np.sum(first))
    zero, known = np.zeros(formulation.nv), padded_forces(formulation, multipliers)
    still = formulation.frozen_at(np.asarray(float(t)), of_velocities=True)
    at = Coordinates(np.asarray(q), zero, zero, zero, np.asarray(float(t)), known)
    forces = _input_forces(still, at, names)
    found, motions = _state_space(tangent, places, rates, follows, forces, massless)
    return _observed(still, at, tangent, found, motions, forces, observe)


def _state_space(
    tangent: Tangent,
    places: np.ndarray,
    rates: np.ndarray,
    follows: np.ndarray,
    forces: _Forces,
    first: np.ndarray,
) -> tuple[LinearModel, _Motions]:
    """The linear model on the motions δx = ``places`` ξ, δv = ``rates`` η with ξ̇ = ``follows`` η.

    ``first`` tells which η have no inertia: they follow from the others, C η + K ξ = f u, and are no states.
    """
    mass, damping = (rates.T @ part @ rates for part in (tangent.mass, tangent.damping))
    stiffness, acting = rates.T @ tangent.stiffness @ places, rates.T @ forces.columns
    n, k, m = places.shape[1], int(np.sum(~first)), acting.shape[1]
    # η = (by ξ, by the η with inertia, by u).
    by = np.zeros((rates.shape[1], n + k + m))
    by[np.flatnonzero(~first), n + np.arange(k)] = 1.0
    if np.any(first):
        known = np.concatenate([stiffness, damping[:, ~first], -acting], axis=1)[first]
        by[first] = -np.linalg.solve(damping[first][:, first], known)
    moved = np.concatenate([stiffness, np.zeros((len(by), k)), -acting], axis=1) + damping @ by
    moved = -np.linalg.solve(mass[~first][:, ~first], moved[~first])
    whole = np.concatenate([follows @ by, moved])
    A, B = whole[:, : n + k], whole[:, n + k :]
    motions = _Motions(
        np.concatenate([places, np.zeros((len(places), k + m))], axis=1),
        rates @ by,
        rates[:, ~first] @ moved,
    )
    C, D = np.zeros((0, n + k)), np.zeros((0, m))
    poles = np.linalg.eigvals(A)
    own = mass, damping, stiffness, poles, places, rates
    return LinearModel(A, B, C, D, *own, forces.names), motions


def _input_forces(
    formulation: AbstractSecondOrder,
    at: Coordinates,
    names: tuple[tuple[str, ...], tuple[str, ...]] | None,
) -> _Forces:
    """Generalized forces of each point load at its present value, and of a unit of each input."""
    zero = np.zeros(formulation.nv)
    bare, *single = formulation.by_load(State(at.t, at.q, zero, zero))
    base = tangent_at(bare, at.q, t=float(at.t)).residual
    columns = [base - tangent_at(one, at.q, t=float(at.t)).residual for one in single]
    drawn = np.zeros(0, dtype=int)
    if formulation.inputs.shape[0]:
        pulled, moved = (np.asarray(part) for part in _by_input(formulation, at))
        drawn = np.flatnonzero(~np.any(moved != 0.0, axis=0))
        columns += list(-pulled.T[drawn])
    loads, inputs = names or ((), ())
    loads = loads or tuple(f"load {i}" for i in range(len(single)))
    inputs = inputs or tuple(f"input {i}" for i in range(formulation.inputs.shape[0]))
    stacked = np.stack(columns, axis=1) if columns else np.zeros((formulation.nv, 0))
    return _Forces(stacked, loads + tuple(inputs[i] for i in drawn), drawn)


@partial(jit, quick=True)
def _by_input(formulation, c):  # type: ignore[no-untyped-def]
    """Derivatives of the balance and of the equations by the inputs."""

    def left(inputs):  # type: ignore[no-untyped-def]
        work = formulation.with_inputs(inputs).balance(c)
        return work.residual, work.violation

    return jax.jacfwd(left)(jnp.asarray(formulation.inputs))


def _observed(
    formulation: AbstractSecondOrder,
    at: Coordinates,
    tangent: Tangent,
    found: LinearModel,
    motions: _Motions,
    forces: _Forces,
    observe: tuple[tuple[str, Observe], ...],
) -> LinearModel:
    """The linear model with what is observed."""
    if not observe:
        return found
    n, m = len(found.A), found.B.shape[1]
    names, values, slopes = [], [], []
    pulled = None
    if (
        at.multipliers is not None
    ):  # forces of the equations are those that leave the balance fulfilled
        moved = (
            tangent.mass @ motions.xddot
            + tangent.damping @ motions.xdot
            + tangent.stiffness @ motions.x
        )
        moved[:, n:] -= forces.columns
        pulled = -np.linalg.lstsq(tangent.force_jacobian.T, moved, rcond=1e-12)[0]
    drawn = np.zeros((formulation.inputs.shape[0], n + m))
    drawn[forces.drawn, n + m - len(forces.drawn) + np.arange(len(forces.drawn))] = 1.0
    for name, one in observe:
        value, by = (jax.tree.map(np.asarray, part) for part in _by_motion(formulation, at, one))
        slope = by[0] @ motions.x + by[1] @ motions.xdot + by[2] @ motions.xddot + by[3] @ drawn
        if pulled is not None:
            slope = slope + by[4] @ pulled
        names += [name] if len(value) == 1 else [f"{name}[{i}]" for i in range(len(value))]
        values.append(value)
        slopes.append(slope)
    whole = np.concatenate(slopes)
    return replace(
        found,
        C=whole[:, :n],
        D=whole[:, n:],
        outputs=tuple(names),
        values=np.concatenate(values),
    )


@partial(jit, quick=True, static_argnames=("observe",))
def _by_motion(formulation, c, observe):  # type: ignore[no-untyped-def]
    """What is observed, in one row, and its derivatives by x, ẋ, ẍ, the inputs and the multipliers."""

    def seen(x, xdot, xddot, inputs, multipliers):  # type: ignore[no-untyped-def]
        moving = c._replace(x=x, xdot=xdot, xddot=xddot, multipliers=multipliers)
        now = formulation.with_inputs(inputs)
        return jnp.ravel(jnp.asarray(observe(now.sensors(now.state_at(moving))), dtype=float))

    parts = c.x, c.xdot, c.xddot, jnp.asarray(formulation.inputs), c.multipliers
    which = (0, 1, 2, 3) if c.multipliers is None else (0, 1, 2, 3, 4)
    return seen(*parts), jax.jacfwd(seen, which)(*parts)
