"""Follow equilibria through folds, by arc length in time, and from branch to branch.

Time drives the laws of loads and imposed coordinates; here it is one more unknown, so that a branch can be
followed where it turns back.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import ArgumentError, SolveError
from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of
from supple.robot.robot import Robot
from supple.run.arc import (
    Path,
    Point,
    along,
    corrected,
    direction,
    orthonormal,
    point_at,
    soft_at,
)
from supple.run.bifurcations import Lost, Span, Special, located
from supple.run.branch import Branch, BranchStatus, SpecialPoint
from supple.run.equilibrium import Equilibrium
from supple.run.hosted import refuse
from supple.run.start import as_model
from supple.run.statics import equilibrium
from supple.run.transfer import same_coordinates
from supple.system.active_set import CLOSE, hold, should_hold

EASY = 4
"""Corrections of a point after which the next step may be longer."""
LONGER = 1.5
SMALLEST_STEP = 1e-6
STRAIGHT = 0.5
"""Cosine of the angle between the directions of two points that a step may join."""
SIDESTEPS = (1.0, 0.3, 0.1, 0.03, 0.01)
"""Of a step: how far along a free motion another branch is looked for."""
ROUNDING = 1e-9
"""Relative: a limit point this little beyond an end does not reach it."""


def follow(
    robot: Robot | Model,
    *,
    initial: Equilibrium | SpecialPoint | None = None,
    until: float,
    duration_scale: float = 1.0,
    step: float = 0.05,
    largest: float = 0.2,
    max_points: int = 400,
    since: float | None = None,
    side: int = 1,
    motion: int = 0,
    switch: int = 0,
    throw: bool = True,
) -> Branch:
    """Follow the branch of equilibria from ``initial`` (default: at time 0) to time ``until`` (s).

    Steps are arc lengths in coordinates over their scales and time over ``duration_scale`` (s). The
    branch ends at ``until``, or where it comes back to ``since`` (default: its first time; an infinite one
    lets it go on). Limit, branching and flutter points on the way are its ``special`` ones.

    ``initial`` may be a branching point of another branch: then the branch that leaves there is followed,
    along its free ``motion`` (the first, if it has several), to one ``side`` (1 or -1). ``switch=1`` follows
    all that leave the branch, to both sides, as its ``others``; ``switch=2`` those that leave these, too.

    Where a branch ends elsewhere (no next point is found, a tendon becomes taut or slack, there are
    ``max_points``), :class:`SolveError` is raised with the branch so far as its ``result``, unless
    ``throw=False``.
    """
    model = replace(as_model(robot), slips=())  # equations between velocities do not matter at rest
    refuse(model, "follow")
    begun = _begun(model, initial)
    model = _held(model, begun.q, float(begun.t), begun.multipliers)
    units = np.full(model.nv + model.equations + 1, np.inf)
    units[: model.nv], units[-1] = np.asarray(model.scale), duration_scale
    path = Path(model, units)
    if isinstance(begun, SpecialPoint):
        first = begun.since if since is None else since
        forward = np.sign(until - first) if np.isfinite(first) else np.sign(until - begun.t)
        points = _leaving(path, begun, step, side, motion)
    else:
        first = float(begun.t) if since is None else since
        forward = np.sign(until - begun.t) or 1.0
        points = [_first(path, begun, forward)]
    walk = _Walk(path, points, until, first, float(forward), step, largest, max_points)
    branch = walk.to_the_end()
    if switch > 0:
        others = tuple(
            follow(
                model,
                initial=point,
                until=until,
                duration_scale=duration_scale,
                step=step,
                largest=largest,
                max_points=max_points,
                since=first,
                side=way,
                motion=one,
                switch=switch - 1,
                throw=False,
            )
            for point in branch.branchings
            for one in range(len(point.motions))
            for way in (1, -1)
        )
        branch = replace(branch, others=others)
    if throw and not branch.ok:
        failed = next(one for one in branch.all if not one.status.ok)
        raise SolveError(f"{model.name}: {failed.message}", branch)
    return branch


def _begun(model: Model, initial: Any) -> Any:
    """Where a branch begins, in the coordinates of the model."""
    if isinstance(initial, SpecialPoint):
        if initial.kind != "branch":
            need = "a branching point (kind 'branch'), where other branches leave"
            raise ArgumentError(f"initial: got {initial!r}; need {need}")
        return initial
    if initial is None:
        return equilibrium(model, settle=False)
    held = getattr(initial, "model", None)
    if isinstance(held, Model) and not same_coordinates(held, model):
        return equilibrium(model, initial=initial, t=float(initial.t), settle=False)
    return initial


@partial(jit, quick=True)
def _held(model, q, t, multipliers):  # type: ignore[no-untyped-def]
    """The model with its one-sided equations as they are at an equilibrium."""
    active = formulation_of(model).active_at(q, t, multipliers)
    return model if active is None else hold(model, active)


@partial(jit, quick=True)
def _changes(model, q, t, multipliers):  # type: ignore[no-untyped-def]
    """Whether one-sided equations are no longer what they were taken for."""
    formulation, zero = formulation_of(model), jnp.zeros(model.nv)
    seen = formulation.one_sided(State(t, q, zero, zero, multipliers))
    held = model.active.held
    return jnp.any(should_hold(seen, held, CLOSE * formulation.length) != held)


def _first(path: Path, begun: Equilibrium, forward: float) -> Point:
    """The first point of a branch that begins at an equilibrium."""
    t, q, forces = float(begun.t), np.asarray(begun.q), np.asarray(begun.multipliers)
    soft = soft_at(path.model, q, forces, t, 0)
    in_time = np.zeros(len(path.units))
    in_time[-1] = 1.0
    start = Point(q, forces, t, in_time, soft, orthonormal(path, soft.neutral))
    found = corrected(path, start, start.origin, in_time, start.origin, np.inf, near=True)
    if found is None:
        message = (
            f"{path.model.name}: what was given as the beginning of a branch is no equilibrium"
        )
        raise SolveError(f"{message} at t = {t:g} s, or a motion there needs no force")
    way = direction(path, found.response, None)
    return replace(start, direction=forward * np.sign(way[-1] or 1.0) * way)


def _leaving(path: Path, begun: SpecialPoint, step: float, side: int, motion: int) -> list[Point]:
    """The first two points of the branch that leaves another one along a free motion."""
    if side not in (1, -1):
        raise ArgumentError(f"side: got {side!r}; need 1 or -1")
    if not 0 <= motion < len(begun.motions):
        need = f"the number of one of its {len(begun.motions)} free motions, from 0"
        raise ArgumentError(f"motion: got {motion!r}; need {need}")
    n = path.model.nv
    way = np.zeros(len(path.units))
    way[:n] = side * begun.motions[motion]
    way -= path.product(way, begun.direction) * begun.direction
    way /= path.length(way)
    soft = soft_at(path.model, begun.q, begun.multipliers, begun.t, begun.unstable)
    others = np.delete(begun.motions, motion, axis=0).T
    start = Point(begun.q, begun.multipliers, begun.t, way, soft, orthonormal(path, others))
    z = start.origin
    for share in SIDESTEPS:
        length = share * step
        found = along(path, start, length)
        if found is not None and path.length(found.z - z) < 10 * length:
            secant = (found.z - z) / path.length(found.z - z)
            return [replace(start, direction=secant), point_at(path, found, secant, soft)]
    raise SolveError(
        f"{path.model.name}: no other branch was found at the branching point at t = {begun.t:.6g} s; "
        "a smaller step may find it"
    )


@dataclass
class _Walk:
    """A branch on its way."""

    path: Path
    points: list[Point]
    until: float
    since: float
    forward: float
    step: float
    largest: float
    most: int

    def to_the_end(self) -> Branch:
        """Go on from point to point until the branch ends."""
        special: list[SpecialPoint] = []
        status: BranchStatus | None = None
        begun = self.since if np.isfinite(self.since) else self.points[0].t
        while status is None:
            if len(self.points) >= self.most:
                status = BranchStatus.STEP_LIMIT
                break
            span = self._next()
            if span is None:
                status = BranchStatus.NOT_CONVERGED
                break
            if self._lets_go(span.end):
                status = BranchStatus.SLACK
                break
            seen = located(span, len(self.points) - 1, begun)
            ended = self._ended(span, seen)
            if ended is not None:
                status, last, reach = ended
                seen = [one for one in seen if one.s <= reach]
                self.points.append(last)
            else:
                self.points.append(span.end)
            special += [one.point for one in seen]
        return self._branch(tuple(special), status)

    def _next(self) -> Span | None:
        """The step to the next point; None if there is none."""
        point = self.points[-1]
        while self.step >= SMALLEST_STEP:
            found = along(self.path, point, self.step)
            if found is not None:
                new = point_at(self.path, found, point.direction, point.soft)
                if self.path.product(point.direction, new.direction) > STRAIGHT:
                    longer = LONGER if found.iterations <= EASY else 1.0
                    self.step = min(longer * self.step, self.largest)
                    return Span(self.path, point, new, found.z)
            self.step /= 2
        return None

    def _lets_go(self, point: Point) -> bool:
        """Whether a tendon has become slack, or the like."""
        model = self.path.model
        return model.active is not None and bool(_changes(model, point.q, point.t, point.forces))

    def _ended(self, span: Span, seen: list[Special]) -> tuple[BranchStatus, Point, float] | None:
        """How, where and after which arc length of a span the branch ends; None where it goes on."""
        turns = [(one.s, one.point.t) for one in seen if one.point.kind == "limit"]
        for s, t in [*turns, (span.length, span.end.t)]:
            for status, time, way in (
                (BranchStatus.DONE, self.until, self.forward),
                (BranchStatus.CAME_BACK, self.since, -self.forward),
            ):
                beyond = (t - time) * way
                if np.isfinite(time) and beyond > ROUNDING * max(abs(time), ROUNDING):
                    return status, *self._at_time(span, s, time)
        if span.end.t == self.until:
            return BranchStatus.DONE, span.end, span.length
        return None

    def _at_time(self, span: Span, high: float, time: float) -> tuple[Point, float]:
        """The point of a span at a time that it passes, and its arc length."""
        path, start = self.path, span.start

        def late(s: float) -> float:
            return float(start.t if s == 0.0 else span.at(s).z[-1]) - time

        try:
            s = span.root(late, 0.0, high)
        except Lost:
            s = high * (time - start.t) / (span.guess(high)[-1] - start.t)
        row, goal = np.zeros(len(path.units)), span.guess(s)
        row[-1], goal[-1] = 1.0, time
        guess = span.seen[s].z.copy() if s in span.seen else goal.copy()
        guess[-1] = time
        found = corrected(path, start, guess, row, goal, max(span.length, 1e-3), near=True)
        if found is None:
            return span.end, span.length
        return point_at(path, found, start.direction, start.soft), s

    def _branch(self, special: tuple[SpecialPoint, ...], status: BranchStatus) -> Branch:
        points, m = self.points, self.path.model.equations
        many = f"after {len(points)} points"
        return Branch(
            model=self.path.model,
            t=np.array([p.t for p in points]),
            q=np.stack([p.q for p in points]),
            multipliers=np.stack([p.forces for p in points]).reshape(len(points), m),
            unstable=np.array([p.soft.unstable for p in points]),
            special=special,
            status=status,
            message=f"{status.message}, at t = {points[-1].t:.6g} s, {many}",
            stability=tuple(p.soft.stability for p in points),
        )
