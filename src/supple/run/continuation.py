"""Follow equilibria through folds: arc-length continuation in time, with limit and branching points.

Time drives the laws of loads and imposed coordinates; here it is one more unknown, so that a branch can be
followed where it turns back. Along it the number of unstable motions is counted (negative eigenvalues of
the stiffness on the motions that keep loops closed). Where that number changes, a limit point is a fold
in time; anything else is a branching point.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import SolveError
from supple.mechanics.readout import AbstractReadout
from supple.mechanics.regulation import regulated_model
from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of, second_order_of
from supple.robot.robot import Robot
from supple.run.start import as_model
from supple.run.statics import Equilibrium, equilibrium
from supple.solve.modes import free_motions
from supple.system.active_set import CLOSE, hold, should_hold
from supple.system.formulation import Discretization


class BranchStatus(enum.IntEnum):
    """How a branch ended."""

    DONE = 0
    CAME_BACK = 1
    NOT_CONVERGED = 2
    STEP_LIMIT = 3
    SLACK = 4

    @property
    def ok(self) -> bool:
        """Whether it was followed to one of its ends in time."""
        return self in (BranchStatus.DONE, BranchStatus.CAME_BACK)

    @property
    def message(self) -> str:
        """One sentence for people."""
        return {
            BranchStatus.DONE: "reached the end",
            BranchStatus.CAME_BACK: "turned and came back to the time it began at",
            BranchStatus.NOT_CONVERGED: "the step became too small",
            BranchStatus.STEP_LIMIT: "the limit on the number of points was reached",
            BranchStatus.SLACK: "a tendon becomes taut or slack, or a joint meets or leaves its stop",
        }[self]


@dataclass(frozen=True)
class SpecialPoint:
    """A limit or branching point: between which points of the branch, at which time (s), where."""

    kind: str
    index: int
    t: float
    q: np.ndarray


@dataclass(frozen=True, eq=False)
class Branch(AbstractReadout):
    """Equilibria along a branch: times t (n,), q (n, nq), multipliers (n, m), unstable motions (n,)."""

    model: Model
    t: np.ndarray
    q: np.ndarray
    multipliers: np.ndarray
    unstable: np.ndarray
    special: tuple[SpecialPoint, ...]
    status: BranchStatus
    message: str

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        special = "".join(f", {point.kind} at {point.t:.4g} s" for point in self.special)
        span = f"t = {self.t[0]:g} … {self.t[-1]:g} s"
        return f"Branch({self.model.name!r}, {len(self)} equilibria, {span}{special}, {self.status.name})"

    def __str__(self) -> str:
        return f"{self!r}: {self.message}"

    @property
    def ok(self) -> bool:
        """Whether the branch was followed to one of its ends in time."""
        return self.status.ok

    @property
    def limits(self) -> tuple[SpecialPoint, ...]:
        """Points where the branch turns back in time."""
        return tuple(point for point in self.special if point.kind == "limit")

    @property
    def v(self) -> np.ndarray:
        """Velocities (n, nv): zero."""
        return np.zeros((len(self), self.model.nv))

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at every equilibrium, with nothing growing or driven."""
        forces = self.multipliers if self.model.equations else None
        columns = self.t, self.q, self.v, self.v, forces
        return jax.tree.map(np.asarray, _at_rest(quantity, fixed, self.model, columns))


@partial(jit, static_argnames=("quantity", "fixed"))
def _at_rest(quantity, fixed, model, columns):  # type: ignore[no-untyped-def]
    def one(columns):  # type: ignore[no-untyped-def]
        state = State(*columns)
        return quantity(regulated_model(model.frozen_at(state.t), state), state, *fixed)

    return jax.vmap(one)(columns)


@partial(jit, quick=True)
def _linear(model, q, y, t):  # type: ignore[no-untyped-def]
    """Equations at local coordinates and multipliers y around q, with derivatives by y and t."""
    n = model.nv
    zero = jnp.zeros(n)

    def residual(t):  # type: ignore[no-untyped-def]
        formulation, d = (
            second_order_of(model, "follow").frozen_at(t),
            Discretization(State(t, q, zero, zero), t),
        )
        left, work = formulation.residual(d, y)
        return left, formulation.tangent(formulation.coordinates(d, y), work)

    left, by_time, tangent = jax.jvp(residual, (t,), (jnp.ones(()),), has_aux=True)
    return left, by_time, tangent, formulation_of(model).retract(q, y[:n])


@dataclass(frozen=True)
class _Point:
    q: np.ndarray
    forces: np.ndarray
    t: float
    direction: np.ndarray
    unstable: int


def follow(
    robot: Robot | Model,
    *,
    initial: Equilibrium | None = None,
    until: float,
    duration_scale: float = 1.0,
    step: float = 0.05,
    largest: float = 0.2,
    max_points: int = 400,
    since: float | None = None,
    throw: bool = True,
) -> Branch:
    """Follow the branch of equilibria from ``initial`` (default: at time 0) until time ``until`` (s).

    Steps are arc lengths in coordinates over their scales and time over ``duration_scale`` (s). The
    branch ends at ``until``, where it comes back beyond ``since`` (default: its first time; an infinite one
    lets it go on). Where it ends elsewhere (no next point is found, a tendon becomes taut or slack, there are
    ``max_points``), :class:`SolveError` is raised with the branch so far as its ``result``, unless
    ``throw=False``.
    """
    model = replace(as_model(robot), slips=())  # equations between velocities do not matter at rest
    begun = equilibrium(model, settle=False) if initial is None else initial
    model = _held(model, begun.q, float(begun.t), begun.multipliers)
    m = model.equations
    scale = np.concatenate([np.asarray(model.scale), np.full(m, np.inf), [duration_scale]])
    point = _tangent_point(model, begun.q, begun.multipliers, begun.t, None, scale)
    forward = np.sign(until - begun.t) or 1.0
    first = begun.t if since is None else since
    point = _turned(point, forward * np.sign(point.direction[-1] or 1.0))
    points, special, status = [point], [], BranchStatus.DONE
    while len(points) < max_points:
        found = None
        while found is None:
            found = _corrected(model, point, step, scale)
            if found is None:
                step /= 2
                if step < 1e-6:
                    break
        if found is None:
            status = BranchStatus.NOT_CONVERGED
            break
        new, iterations = found
        if _changes(model, new.q, float(new.t), new.forces):
            status = BranchStatus.SLACK
            break
        special += _located(model, point, new, step, scale, len(points) - 1)
        points.append(new)
        point = new
        step = min(step * (1.5 if iterations <= 4 else 1.0), largest)
        if (point.t - until) * forward >= 0:
            break
        if (point.t - first) * forward < -1e-9:
            status = BranchStatus.CAME_BACK
            break
    else:
        status = BranchStatus.STEP_LIMIT
    branch = Branch(
        model=model,
        t=np.array([p.t for p in points]),
        q=np.stack([p.q for p in points]),
        multipliers=np.stack([p.forces for p in points]).reshape(len(points), m),
        unstable=np.array([p.unstable for p in points]),
        special=tuple(special),
        status=status,
        message=f"{status.message}, at t = {point.t:.6g} s, after {len(points)} points",
    )
    if throw and not branch.ok:
        raise SolveError(f"{model.name}: {branch.message}", branch)
    return branch


@partial(jit, quick=True)
def _held(model, q, t, multipliers):  # type: ignore[no-untyped-def]
    """The model with its one-sided equations as they are at an equilibrium."""
    active = formulation_of(model).active_at(q, t, multipliers)
    return model if active is None else hold(model, active)


@partial(jit, quick=True)
def _changes(model, q, t, multipliers):  # type: ignore[no-untyped-def]
    """Whether one-sided equations are no longer what they were taken for."""
    if model.active is None:
        return False
    formulation, zero = formulation_of(model), jnp.zeros(model.nv)
    seen = formulation.one_sided(State(t, q, zero, zero, multipliers))
    held = model.active.held
    return jnp.any(should_hold(seen, held, CLOSE * formulation.length) != held)


def _turned(point: _Point, sign: float) -> _Point:
    return _Point(point.q, point.forces, point.t, sign * point.direction, point.unstable)


def _matrix(tangent: Any, by_time: np.ndarray) -> np.ndarray:
    n, m = tangent.stiffness.shape[0], tangent.jacobian.shape[0]
    square = np.zeros((n + m, n + m + 1))
    square[:n, :n] = tangent.stiffness
    square[:n, n:-1] = tangent.force_jacobian.T
    square[n:, :n] = tangent.jacobian
    square[n:, n:-1] = np.diag(tangent.compliance)
    square[:, -1] = by_time
    return square


def _tangent_point(
    model: Model,
    q: np.ndarray,
    forces: np.ndarray,
    t: float,
    before: np.ndarray | None,
    scale: np.ndarray,
) -> _Point:
    """Direction of the branch (unit arc length) and number of unstable motions at an equilibrium."""
    n = model.nv
    y = np.concatenate([np.zeros(n), forces])
    _, by_time, tangent, _ = _linear(model, jnp.asarray(q), jnp.asarray(y), jnp.asarray(float(t)))
    matrix = _matrix(jax.tree.map(np.asarray, tangent), np.asarray(by_time))
    # Columns in units of the scales; multipliers have none and keep their own.
    units = np.where(np.isfinite(scale), scale, 1.0)
    direction = units * np.linalg.svd(matrix * units)[2][-1]
    length = np.linalg.norm(direction / scale)
    direction = direction / length
    if before is not None:
        same = np.sum(direction / scale * (before / scale))
        direction = direction if same >= 0 else -direction
    free = free_motions(jax.tree.map(np.asarray, tangent), np.asarray(model.scale))
    reduced = free.T @ np.asarray(tangent.stiffness) @ free
    values = np.linalg.eigvalsh((reduced + reduced.T) / 2)
    small = 1e-9 * np.abs(values).max(initial=0.0)
    return _Point(
        np.asarray(q), np.asarray(forces), float(t), direction, int(np.sum(values < -small))
    )


def _corrected(
    model: Model, point: _Point, step: float, scale: np.ndarray
) -> tuple[_Point, int] | None:
    """The equilibrium one arc length further, or None if Newton does not find it."""
    n = model.nv
    z = np.concatenate([np.zeros(n), point.forces, [point.t]])
    goal = z + step * point.direction
    z = goal.copy()
    weights = np.where(np.isfinite(scale), 1 / scale**2, 0.0)
    for iteration in range(1, 13):
        left, by_time, tangent, q = _linear(
            model, jnp.asarray(point.q), jnp.asarray(z[:-1]), jnp.asarray(z[-1])
        )
        matrix = _matrix(jax.tree.map(np.asarray, tangent), np.asarray(by_time))
        row = weights * point.direction
        full = np.concatenate([matrix, row[None]])
        right = np.concatenate([np.asarray(left), [row @ (z - goal)]])
        try:
            change = -np.linalg.solve(full, right)
        except np.linalg.LinAlgError:
            return None
        size = np.abs(change / scale).max()
        if not np.isfinite(size) or size > 10 * max(step, 1e-3):
            return None
        if size < 1e-10:
            new = _tangent_point(model, np.asarray(q), z[n:-1], z[-1], point.direction, scale)
            return new, iteration
        z = z + change
    return None


SAME = 1e-3
"""Part of a step within which a change of stability and a turn in time are one event: a limit point."""


def _located(
    model: Model, point: _Point, new: _Point, step: float, scale: np.ndarray, index: int
) -> list[SpecialPoint]:
    """Limit and branching points between a point and the next, one arc length further, in their order."""
    found: list[SpecialPoint] = []
    low, here = 0.0, point
    while _kind(here, new) is not None:
        # Bisect for a change from what holds at ``low``.
        high, there = step, new
        for _ in range(40):
            if high - low < 1e-7:
                break
            middle = (low + high) / 2
            corrected = _corrected(model, point, middle, scale)
            if corrected is None:
                break
            if _kind(here, corrected[0]) is None:
                low = middle
            else:
                high, there = middle, corrected[0]
        # A little further on, so that a limit point shows both its signs.
        beyond = min(high + SAME * step, step)
        after = _corrected(model, point, beyond, scale)
        last = new if beyond == step or after is None else after[0]
        found.append(SpecialPoint(_kind(here, last) or "branch", index, there.t, there.q))
        if beyond == step or after is None:
            break
        low, here = beyond, last
    return found


def _kind(a: _Point, b: _Point) -> str | None:
    """What lies between two near points of a branch: nothing, a limit or a branching point."""
    if a.direction[-1] * b.direction[-1] < 0:
        return "limit"
    return None if a.unstable == b.unstable else "branch"
