"""The outcome of a run: everything computed, and everything that follows from it on demand.

A run is a sequence of stretches, each with a model of its own; nearly always it is one. What is asked for by
the name of an item is joined over all of them.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from supple.errors import ArgumentError
from supple.lie import Pose
from supple.mechanics.energy import Energies, Momentum
from supple.model.model import Model
from supple.model.state import State
from supple.results.dataset import as_dataset, write_csv, write_netcdf
from supple.results.joined import end_to_end, side_by_side, with_gaps
from supple.results.notebook import as_html
from supple.results.run_error import RunError
from supple.results.stretch import Stretch
from supple.time.advance import Cursor, Status

if TYPE_CHECKING:
    import xarray

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Stats(NamedTuple):
    """What a whole run took, whichever of its instants are kept."""

    steps: int = 0
    """Steps that succeeded."""
    rejected: int = 0
    """Steps that were tried and given up."""
    newton_iterations: int = 0
    """Of all steps, those given up included."""
    wall_seconds: float = 0.0
    """Time (s) of the computer, with compilation."""

    @property
    def newton_per_step(self) -> float:
        """Newton iterations of each step that succeeded."""
        return self.newton_iterations / max(self.steps, 1)


def _by_name(
    kind: str, method: Callable[Concatenate[Any, str, _P], _T]
) -> "Callable[Concatenate[Result, str, _P], _T]":
    """An accessor of a stretch, for all of them."""

    @wraps(method)
    def joined(self: "Result", name: str, /, *args: _P.args, **options: _P.kwargs) -> _T:
        found: _T = self._joined(kind, name, lambda one: method(one, name, *args, **options))
        return found

    return joined


@dataclass(frozen=True, eq=False)
class Result:
    """A trajectory: its stretches, how the run ended (``status``), and where and why (``message``).

    ``cursor`` continues it. Where an edit begins another stretch, its instant is there twice: before and
    after. Items that do not exist all the time are NaN while they do not.
    """

    stretches: tuple[Stretch, ...]
    status: Status
    message: str
    stats: Stats
    settings: dict[str, Any]
    cursor: Cursor | None = None
    known_error: RunError | None = None
    refinements: int = 0
    """How often the run was begun again on finer rods."""
    estimator: "Callable[[Result], RunError] | None" = None
    """What finds the error when it is asked for."""

    def __len__(self) -> int:
        return sum(map(len, self.stretches))

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self) else "empty"
        several = f"{len(self.stretches)} stretches, " if len(self.stretches) > 1 else ""
        return (
            f"Result({self.model.name!r}, {several}{len(self)} instants, {span}, "
            f"{self.status.name}{self._error_told()}, {self.stats.wall_seconds:.3g} s wall)"
        )

    def __str__(self) -> str:
        return f"{self!r}: {self.message}"

    def _repr_html_(self) -> str:
        """What a notebook shows; ``supple.view.show`` is the viewer there."""
        return as_html(self)

    def _error_told(self) -> str:
        known = np.nan if self.known_error is None else self.known_error.known
        return "" if np.isnan(known) else f", error {known:.0e}"

    @property
    def error(self) -> RunError:
        """Estimates of the largest displacement error over the robot's size: ``space``, ``time``, ``total``.

        Of runs with fixed steps or given rods they are found by further runs when they are first asked for
        (richer rods, steps twice as long); NaN where that is not possible, as for a model without its robot.
        """
        if self.known_error is None:
            nan = float("nan")
            found = RunError(nan, nan) if self.estimator is None else self.estimator(self)
            object.__setattr__(self, "known_error", found)
        assert self.known_error is not None
        return self.known_error

    @property
    def ok(self) -> bool:
        """Whether the run reached its end."""
        return self.status.ok

    @property
    def model(self) -> Model:
        """The model of the last stretch."""
        return self.stretches[-1].model

    @property
    def description(self) -> Any:
        """The robot at the end, where it was given as one."""
        return self.stretches[-1].description

    @property
    def final(self) -> State:
        """The last state."""
        return self.stretches[-1].final

    def part(self, index: int) -> "Result":
        """One stretch as a result of its own, to plot or to show."""
        return replace(self, stretches=(self.stretches[index],), cursor=None)

    @cached_property
    def t(self) -> np.ndarray:
        """Instants (n,) in s."""
        return end_to_end([one.t for one in self.stretches])

    @cached_property
    def newton(self) -> np.ndarray:
        """Newton iterations (n,) since the last instant, those of steps that are not kept included."""
        return end_to_end([one.newton for one in self.stretches])

    @cached_property
    def substeps(self) -> np.ndarray:
        """Attempted steps (n,) since the last instant."""
        return end_to_end([one.substeps for one in self.stretches])

    @cached_property
    def update(self) -> np.ndarray:
        """Scaled size (n,) of the last Newton correction."""
        return end_to_end([one.update for one in self.stretches])

    @cached_property
    def stretch(self) -> np.ndarray:
        """To which stretch each instant belongs, (n,)."""
        return np.repeat(np.arange(len(self.stretches)), [len(one) for one in self.stretches])

    @property
    def q(self) -> np.ndarray:
        """Configurations (n, nq)."""
        return self._only("q").q

    @property
    def v(self) -> np.ndarray:
        """Velocity coordinates (n, nv)."""
        return self._only("v").v

    @property
    def a(self) -> np.ndarray:
        """Their rates (n, nv)."""
        return self._only("a").a

    @property
    def multipliers(self) -> np.ndarray:
        """Forces (n, m) of the model's equations in N."""
        return self._only("multipliers").multipliers

    @property
    def inputs(self) -> np.ndarray:
        """What controllers said, (n, k)."""
        return self._only("inputs").inputs

    def _only(self, column: str) -> Stretch:
        """The one stretch; columns of several models have no common meaning."""
        if len(self.stretches) > 1:
            raise ArgumentError(
                f"{column}: got a run of {len(self.stretches)} stretches, each with coordinates of its own; "
                f"need result.stretches[i].{column}, or an item by its name, such as result.joint(name)"
            )
        return self.stretches[0]

    def names(self, kind: str) -> tuple[str, ...]:
        """Names of the frames, rods, joints, tendons, …, of all stretches (see :class:`Stretch`)."""
        return tuple(dict.fromkeys(name for one in self.stretches for name in one.names(kind)))

    def _joined(self, kind: str, name: str, read: Callable[[Stretch], Any]) -> Any:
        """What stretches tell of an item, NaN where it does not exist."""
        if len(self.stretches) == 1:
            return read(self.stretches[0])
        if name not in self.names(kind):
            known = ", ".join(self.names(kind)) or f"none: the robot has no {kind}s"
            raise ArgumentError(f"{kind}: got {name!r}; need one of: {known}")
        found = [read(one) if name in one.names(kind) else None for one in self.stretches]
        return with_gaps(f"{kind} {name!r}", found, [len(one) for one in self.stretches])

    @cached_property
    def poses(self) -> dict[str, Pose]:
        """World pose of every named frame at every instant (rotation (n, 3, 3), position (n, 3))."""

        def pose(name: str) -> Pose:
            found: Pose = self._joined("frame", name, lambda one: one.poses[name])
            return found

        return {name: pose(name) for name in self.names("frame")}

    pose = _by_name("frame", Stretch.pose)
    position = _by_name("frame", Stretch.position)
    twist = _by_name("frame", Stretch.twist)
    frame = _by_name("frame", Stretch.frame)
    shape = _by_name("rod", Stretch.shape)
    strain = _by_name("rod", Stretch.strain)
    variables = _by_name("rod", Stretch.variables)
    internal_wrench = _by_name("rod", Stretch.internal_wrench)
    coordinates = _by_name("rod", Stretch.coordinates)
    joint = _by_name("joint", Stretch.joint)
    reaction = _by_name("reaction", Stretch.reaction)
    closure = _by_name("closure", Stretch.closure)
    contact = _by_name("contact", Stretch.contact)
    effort = _by_name("effort", Stretch.effort)
    stop = _by_name("stop", Stretch.stop)
    controller = _by_name("controller", Stretch.controller)
    tendon = _by_name("tendon", Stretch.tendon)
    spring = _by_name("spring", Stretch.spring)
    chamber = _by_name("chamber", Stretch.chamber)
    motor = _by_name("motor", Stretch.motor)
    input = _by_name("input", Stretch.input)

    @cached_property
    def energies(self) -> Energies:
        """Kinetic, elastic and gravitational energy (n,) in J."""
        parts = zip(*(one.energies for one in self.stretches), strict=True)
        return Energies(*map(end_to_end, parts))

    @cached_property
    def momentum(self) -> Momentum:
        """Angular and linear momentum and mass center, each (n, 3)."""
        parts = zip(*(one.momentum for one in self.stretches), strict=True)
        return Momentum(*map(end_to_end, parts))

    @cached_property
    def violation(self) -> np.ndarray:
        """How far each equation that closes a loop is from being fulfilled, (n, m) in m.

        Stretches with fewer equations than others have NaN in the last columns.
        """
        return side_by_side([one.violation for one in self.stretches])

    @cached_property
    def violation_rate(self) -> np.ndarray:
        """How fast each equation is being left, (n, m) in m/s; those between velocities come last.

        Schemes hold the equations themselves at the end of every step, so that this is their error.
        """
        return side_by_side([one.violation_rate for one in self.stretches])

    def pick(self, rows: np.ndarray | slice) -> "Result":
        """The trajectory at some of its own instants."""
        if len(self.stretches) == 1:
            return replace(self, stretches=(self.stretches[0].pick(rows),))
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        starts = np.cumsum([0, *(len(one) for one in self.stretches)])
        owners = self.stretch[chosen]
        cuts = np.flatnonzero(np.diff(owners)) + 1
        parts = [
            self.stretches[int(owners[part[0]])].pick(chosen[part] - starts[int(owners[part[0]])])
            for part in np.split(np.arange(len(chosen)), cuts)
            if len(part)
        ]
        return replace(self, stretches=tuple(parts) or (self.stretches[-1].pick(slice(0)),))

    def sample(self, times: np.ndarray) -> "Result":
        """The trajectory at other instants inside it, as good as at its own; loops stay closed.

        Where two stretches meet, that is after the edit.
        """
        times = np.asarray(times, dtype=float)
        slack = 1e-9 * max(1.0, abs(float(self.t[-1])))
        if len(times) == 0 or times.min() < self.t[0] - slack or times.max() > self.t[-1] + slack:
            got = f"{times.min()} … {times.max()}" if len(times) else "none"
            raise ArgumentError(
                f"times: got {got}; need instants within {self.t[0]} … {self.t[-1]}"
            )
        if len(self.stretches) == 1:
            return replace(self, stretches=(self.stretches[0].sample(times),))
        begun = np.array([one.t[0] for one in self.stretches])
        owners = np.maximum(np.searchsorted(begun, times, side="right") - 1, 0)
        cuts = np.flatnonzero(np.diff(owners)) + 1
        parts = [
            self.stretches[int(own[0])].sample(some)
            for own, some in zip(np.split(owners, cuts), np.split(times, cuts), strict=True)
        ]
        return replace(self, stretches=tuple(parts))

    def dataset(self, points: int = 41) -> "xarray.Dataset":
        """Everything as one labeled dataset: positions, shapes, efforts, energies, with units."""
        return as_dataset(self, points)

    def to_netcdf(self, path: str | Path, points: int = 41) -> Path:
        """Write the dataset as a NetCDF file."""
        return write_netcdf(self, path, points)

    def to_csv(self, path: str | Path) -> Path:
        """Write everything with one number an instant as a table."""
        return write_csv(self, path)

    def save(self, path: str | Path) -> Path:
        """Write the trajectory, poses, shapes and energies as one ``.npz`` file without pickles.

        Coordinates of several stretches are named "q/0", "q/1", ….
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {
            "t": self.t,
            "newton": self.newton,
            "substeps": self.substeps,
            "kinetic": np.asarray(self.energies.kinetic),
            "elastic": np.asarray(self.energies.elastic),
            "potential": np.asarray(self.energies.potential),
        }
        for index, one in enumerate(self.stretches):
            number = f"/{index}" if len(self.stretches) > 1 else ""
            arrays |= {f"{name}{number}": getattr(one, name) for name in ("q", "v", "a")}
        for name, pose in self.poses.items():
            arrays[f"rotation/{name}"] = pose.rotation
            arrays[f"position/{name}"] = pose.position
        for name in self.names("rod"):
            arrays[f"shape/{name}"] = self.shape(name).position
        about = {
            "model": self.model.name,
            "status": self.status.name,
            "message": self.message,
            "error": None if self.known_error is None else self.known_error.as_dict(),
            "settings": {k: repr(v) for k, v in self.settings.items()},
        }
        arrays["about"] = np.array(json.dumps(about))
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)
        return path
