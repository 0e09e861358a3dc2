"""A simulation in real time: what drives a robot becomes inputs, which may change at every step.

Its bodies and the tips of its rods can be pulled by a spring, as with a mouse.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import ArgumentError
from supple.lie import Pose, so3
from supple.mechanics.frames import find_frame
from supple.model.inputs import input_slices
from supple.model.laws import AbstractEffortLaw, AbstractLaw, Input
from supple.model.loads import AbstractPointLoad
from supple.model.model import GROUND, Model
from supple.results.result import Result, Stats
from supple.results.stretch import Stretch
from supple.robot.actuators import Chamber, Motor, Tendon
from supple.robot.controller import ContinuousController, Controller
from supple.robot.formulations import formulation_of
from supple.robot.items import Body, PrescribedCoordinate, Rod
from supple.robot.joint import Prismatic
from supple.robot.loads import Wrench
from supple.robot.robot import Robot
from supple.run.hosted import refuse
from supple.run.loop import saved_at
from supple.run.message import found_reason
from supple.run.python_controllers import ControllerFailed, Outside
from supple.run.start import as_model, start_state
from supple.time.advance import Cursor, Saved, Status, advance, begin, restart
from supple.time.alpha import generalized_alpha
from supple.time.control import FixedStep
from supple.time.scheme import AbstractScheme

ATTEMPTS = 32
"""Most parts of a step that are tried at once."""
SMOOTHING = 0.06
"""Time constant (s) with which inputs go over to other values: imposed lengths and angles may not jump."""


class Moving(AbstractLaw):
    """A set point on its way: ``point`` says (when, from which value, how fast).

    Inside a step it moves evenly: where it jumped at the beginning, parts of a step would be harder to solve
    than the whole.
    """

    point: Input

    def __call__(self, t: Float[Array, ""]) -> Float[Array, ""]:
        since, value, rate = self.point(t)
        return value + rate * (t - since)

    def values(self, result: Result) -> np.ndarray:
        """What it said in a result, (n,)."""
        since, value, rate = result.input(self.point.name).T
        return np.asarray(value + rate * (result.t - since))


class Pull(AbstractPointLoad):
    """A spring and damper from a point to a place in space; ``spring`` says (N/m, N s/m, x, y, z)."""

    sample: int = eqx.field(static=True)
    offset: Pose
    spring: Input

    def wrench(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> Float[Array, " 6"]:
        values = self.spring(t)
        force = values[0] * (pose.rotation.T @ (values[2:] - pose.position))
        return jnp.concatenate([jnp.zeros(3), force - values[1] * twist[3:]])

    def tangent(
        self, t: Float[Array, ""], pose: Pose, twist: Float[Array, " 6"]
    ) -> tuple[Float[Array, "6 6"], Float[Array, "6 6"]]:
        values, none, one = self.spring(t), jnp.zeros((6, 6)), jnp.eye(3)
        turning = so3.hat(pose.rotation.T @ (values[2:] - pose.position))
        by_shift = none.at[3:, :3].set(values[0] * turning).at[3:, 3:].set(-values[0] * one)
        return by_shift, none.at[3:, 3:].set(-values[1] * one)

    @property
    def corners(self) -> tuple[float, ...]:
        return ()


def with_pulls(model: Model, robot: Robot) -> tuple[Model, dict[str, str]]:
    """The model with a spring, slack at first, at each body and rod tip; names of their inputs by item."""
    loads, names = [], {}
    for item in robot.items:
        if not isinstance(item, Rod | Body):
            continue
        frame = find_frame(model, item.name)
        if frame.sample == GROUND:
            continue
        names[item.name] = f"pull {item.name}"
        offset = Pose(
            model.frame_offsets.rotation[frame.offset], model.frame_offsets.position[frame.offset]
        )
        loads.append(Pull(frame.sample, offset, Input(names[item.name], np.zeros(5))))
    return replace(model, loads=(*model.loads, *loads)), names


def weight_of(robot: Robot) -> float:
    """What a robot would weigh (N) on earth."""
    mass = 0.0
    for item in robot.items:
        if isinstance(item, Body):
            mass += float(item.mass)
        elif isinstance(item, Rod):
            inertia = item.sectional().matrices(np.linspace(0.0, 1.0, 9)).inertia
            mass += float(item.length) * float(np.mean(inertia[:, 3, 3]))
    return 9.81 * mass


def size_of(robot: Robot, places: np.ndarray) -> float:
    """How large (m) a robot is: its longest rod, the spread of its frames (n, 3), or its widest body."""
    found = [1e-3, float(np.ptp(places, axis=0).max())]
    for item in robot.items:
        if isinstance(item, Rod):
            found.append(float(item.length))
        elif isinstance(item, Body):
            moments = np.asarray(item.inertia_matrix(), dtype=float)
            found.append(float(np.sqrt(np.trace(moments) / float(item.mass))))
    return max(found)


@dataclass(frozen=True)
class Drive:
    """Something that drives a robot: an input, its value at first, and the range it may be given."""

    name: str
    kind: str
    unit: str
    factor: float
    """Of its unit: shown value over SI value."""
    value: float
    low: float
    high: float


_KINDS = {
    "tension": ("N", 1.0, 10.0, False),
    "pull": ("mm", 1e3, 0.02, True),
    "pressure": ("kPa", 1e-3, 1e5, False),
    "volume": ("mL", 1e6, 1e-5, False),
    "gas": ("J", 1.0, 1.0, False),
    "torque": ("N m", 1.0, 1.0, True),
    "position": ("rad", 1.0, np.pi / 2, True),
    "velocity": ("rad/s", 1.0, 2 * np.pi, True),
    "value": ("", 1.0, 0.5, True),
    "law": ("×", 1.0, 1.0, True),
}
"""Unit, factor, largest value where the description has none but zero, and whether it may be negative."""


def drives_of(robot: Robot, duration: float = 1.0) -> tuple[Robot, list[Drive]]:
    """The robot with inputs instead of the laws that drive it, and what can be set.

    Tensions and lengths of tendons, pressures, volumes and contents of chambers, motors, imposed coordinates
    and the factors of wrenches. Ranges are twice those of the laws until ``duration`` (s). What controllers
    set stays theirs.
    """
    controlled = any(isinstance(item, Controller | ContinuousController) for item in robot.items)
    changed, drives = [], []
    for given in robot.items:
        item: Any = given
        field = _driven_field(item)
        if field is None or isinstance(getattr(item, field), AbstractEffortLaw):
            continue
        law: Any = item.time_law()
        values = np.asarray(jax.vmap(law)(np.linspace(0.0, duration, 65)))
        if values.ndim > 1 or (controlled and isinstance(law, Input)):
            continue
        name, first = law.name if isinstance(law, Input) else item.name, float(values[0])
        unit, factor, *_ = _KINDS[field]
        if isinstance(item, Motor) and item.on is not None:
            sliding = isinstance(getattr(robot[item.on], "joint", None), Prismatic)
            unit = {"N m": "N", "rad": "m", "rad/s": "m/s"}[unit] if sliding else unit
        reach = 2 * float(np.abs(values).max())
        drives.append(Drive(name, field, unit, factor, first, 0.0, reach))
        if not isinstance(law, Input):
            changed.append(
                replace(item, **{field: Moving(Input(name, np.array([0.0, first, 0.0])))})
            )
    unique = {drive.name: _as_wide(drive, drives) for drive in drives}
    return robot.replacing(*changed), list(unique.values())


def _as_wide(drive: Drive, drives: list[Drive]) -> Drive:
    """The drive with the widest range among those of its kind; volumes only change a little."""
    if drive.kind == "volume":
        return replace(drive, low=0.8 * drive.value, high=1.2 * drive.value)
    alike = [other.high for other in drives if (other.kind, other.unit) == (drive.kind, drive.unit)]
    _, _, default, signed = _KINDS[drive.kind]
    reach = max(alike) or default
    return replace(drive, low=-reach if signed else 0.0, high=reach)


def _driven_field(item: Any) -> str | None:
    """The field of an item that drives it."""
    if isinstance(item, Tendon):
        return next((f for f in ("tension", "pull") if getattr(item, f) is not None), None)
    if isinstance(item, Chamber | Motor):
        return item.kind
    if isinstance(item, PrescribedCoordinate):
        return "value"
    return "law" if isinstance(item, Wrench) else None


class LiveRun:
    """A robot that is stepped from outside by ``dt`` (s), with the values of its drives by name.

    ``pull`` hangs one of ``pulls``, its bodies and rod tips, on a spring of ``spring`` N/m.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        dt: float = 0.01,
        scheme: AbstractScheme | None = None,
        initial: Any = None,
        duration: float = 1.0,
    ) -> None:
        if not (np.isfinite(dt) and dt > 0):
            raise ArgumentError(f"dt: got {dt!r}; need a positive number of seconds")
        self.robot, self.drives = drives_of(robot, duration)
        self.dt, self.scheme = dt, generalized_alpha(0.8) if scheme is None else scheme
        self.model, self.pulls = with_pulls(as_model(self.robot), self.robot)
        refuse(self.model, "live")
        self._start = start_state(self.model, initial)
        self._control = FixedStep(dt)
        self._places = {name: where for name, (where, _) in input_slices(self.model).items()}
        self._first: Cursor | None = None
        self._pulled: tuple[str, np.ndarray] | None = None
        self.reset()
        places = np.stack([pose.position[0] for pose in self.newest.poses.values()])
        self.spring = max(weight_of(self.robot), 1e-6) / (0.1 * size_of(self.robot, places))
        """Stiffness (N/m) of what pulls: at a tenth of the robot's size it lifts the robot."""

    def reset(self) -> None:
        """Go back to the start."""
        if self._first is None:
            self._first = begin(
                formulation_of(self.model),
                self.scheme,
                self._start,
                jnp.asarray(self.dt, dtype=float),
            )
        self.cursor = self._first
        self.status, self.message = Status.RUNNING, ""
        self._outside = Outside(self.model, float(self._start.t))
        self._values = {drive.name: drive.value for drive in self.drives}
        self._rates = dict.fromkeys(self._values, 0.0)
        self._saved = saved_at(self.cursor)

    def pull(self, item: str | None, target: Any = None) -> None:
        """Pull a body, or a rod by its tip, to a place (m) in space from now on; None lets go."""
        if item is None:
            self._pulled = None
            return
        if item not in self.pulls:
            known = ", ".join(self.pulls) or "none: nothing moves"
            raise ArgumentError(f"pull: got {item!r}; need one of: {known}")
        place = np.asarray(target, dtype=float)
        if place.shape != (3,) or not np.all(np.isfinite(place)):
            raise ArgumentError(f"pull: got {target!r}; need three numbers (m)")
        self._pulled = item, place

    def _pull_inputs(self) -> dict[str, np.ndarray]:
        """What the springs say: the damper is that with which the robot's mass would not swing."""
        said = dict.fromkeys(self.pulls.values(), np.zeros(5))
        if self._pulled is not None:
            item, place = self._pulled
            damping = np.sqrt(self.spring * weight_of(self.robot) / 9.81)
            said[self.pulls[item]] = np.array([self.spring, damping, *place])
        return said

    @property
    def t(self) -> float:
        """Simulated time (s) since the start."""
        return float(self._saved.t[0] - self._start.t)

    @property
    def newest(self) -> Result:
        """The present instant as a result."""
        return Result(
            (Stretch(self.model, *self._saved, description=self.robot),),
            status=self.status,
            message=self.message,
            stats=Stats(rejected=int(self.cursor.rejected)),
            settings={},
        )

    def step(self, wanted: Mapping[str, float]) -> bool:
        """One step with the drives on their way to ``wanted`` values; False where it cannot go on."""
        if self.status != Status.RUNNING:
            return False
        feedback = self.cursor.feedback
        try:
            feedback, _ = self._outside.react(self.model, self.cursor.state, feedback)
        except ControllerFailed as error:
            self.status, self.message = Status.BAD_INPUT, str(error)
            return False
        inputs = np.array(feedback.inputs)
        for drive in self.drives:
            inputs[self._places[drive.name]] = self._towards(drive.name, wanted[drive.name])
        for name, value in self._pull_inputs().items():
            inputs[self._places[name]] = value
        cursor = self.cursor._replace(feedback=feedback._replace(inputs=jnp.asarray(inputs)))
        found, status = 0, Status.RUNNING
        while found == 0 and status == Status.RUNNING:
            cursor, saved, found, status = self._advanced(cursor)
        if found == 0:
            self.status, reason = found_reason(self.model, status, cursor)
            self.message = f"{self.status.message}: {reason}" if reason else self.status.message
            return False
        self.cursor = cursor._replace(status=jnp.zeros((), dtype=int))
        self._saved = Saved(*(np.asarray(x)[found - 1 : found] for x in saved))
        return True

    def _advanced(self, cursor: Cursor) -> tuple[Cursor, Saved, int, Status]:
        """The next instant, or a part of the way to it; also how many instants were saved."""
        if cursor.one_sided is not None and bool(cursor.one_sided.caught):
            cursor = restart(formulation_of(self.model), self.scheme, cursor)
        begun = jnp.asarray(float(self._start.t))
        wall = begun + cursor.target * self.dt
        after, saved, found = advance(
            formulation_of(self.model), self.scheme, self._control, ATTEMPTS, cursor,
            begun, wall, jnp.asarray(1.0), jnp.asarray(ATTEMPTS),
        )  # fmt: skip
        return after, saved, int(found), Status(int(after.status))

    def _towards(self, name: str, wanted: float) -> tuple[float, ...]:
        """The next part of a critically damped way to a wanted value, as the input takes it."""
        h, before = self.dt / SMOOTHING, self._values[name]
        rate = self._rates[name] + h / SMOOTHING * (wanted - before)
        self._rates[name] = rate = rate / (1 + h) ** 2
        self._values[name] = after = before + self.dt * rate
        where = self._places[name]
        return (
            (after,) if where.stop - where.start == 1 else (float(self._saved.t[0]), before, rate)
        )
