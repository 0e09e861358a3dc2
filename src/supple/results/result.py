"""The outcome of a run: everything computed, and everything that follows from it on demand."""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import ArgumentError
from supple.mechanics.local import difference, fastest_turn, rate, rate_derivative, retract
from supple.mechanics.readout import AbstractReadout
from supple.mechanics.regulation import regulated_model
from supple.model.inputs import with_inputs
from supple.model.model import Model, RodGroup
from supple.model.state import State
from supple.results.dataset import as_dataset, write_csv, write_netcdf
from supple.results.notebook import as_html
from supple.system.active_set import open_by, open_rates
from supple.time.advance import Cursor, Saved, Status

if TYPE_CHECKING:
    import xarray


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


@dataclass(frozen=True, eq=False)
class Result(AbstractReadout):
    """A trajectory: instants t (n,), q (n, nq), v (n, nv), a (n, nv), and how each was reached.

    ``newton``, ``substeps`` and ``update`` tell of the solver per instant, ``stats`` of the whole run. What
    follows from the motion is read by name: ``position``, ``tendon``, ``energies`` and so on. ``status`` says
    how the run ended and ``message`` where and why. ``cursor`` continues it.
    """

    model: Model
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    newton: np.ndarray
    substeps: np.ndarray
    update: np.ndarray
    multipliers: np.ndarray
    inputs: np.ndarray
    status: Status
    message: str
    stats: Stats
    settings: dict[str, Any]
    cursor: Cursor | None = None
    description: Any = None
    """The robot that was simulated, where it was given as one."""

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "empty"
        return (
            f"Result({self.model.name!r}, {len(self.t)} instants, {span}, "
            f"{self.status.name}, {self.stats.wall_seconds:.3g} s wall)"
        )

    def __str__(self) -> str:
        return f"{self!r}: {self.message}"

    def _repr_html_(self) -> str:
        """What a notebook shows; ``supple.view.show`` is the viewer there."""
        return as_html(self)

    @property
    def ok(self) -> bool:
        """Whether the run reached its end."""
        return self.status.ok

    @property
    def final(self) -> State:
        """The last state."""
        t, q, v, a = (np.asarray(x[-1]) for x in (self.t, self.q, self.v, self.a))
        return State(t, q, v, a, self.multipliers[-1] if self.model.equations else None)

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at every instant, each with its inputs."""
        forces = self.multipliers if self.model.equations else None
        columns = self.t, self.q, self.v, self.a, forces
        return jax.tree.map(np.asarray, _every(quantity, fixed, self.model, self.inputs, columns))

    @cached_property
    def violation(self) -> np.ndarray:
        """How far each equation that closes a loop is from being fulfilled, (n, m) in m."""
        if self.model.holonomic == 0:
            return np.zeros((len(self.t), 0))
        return np.asarray(self.read(_gaps))

    @cached_property
    def violation_rate(self) -> np.ndarray:
        """How fast each equation is being left, (n, m) in m/s; those between velocities come last.

        Schemes hold the equations themselves at the end of every step, so that this is their error.
        """
        if self.model.equations == 0:
            return np.zeros((len(self.t), 0))
        return np.asarray(self.read(_gap_rates))

    def pick(self, rows: np.ndarray | slice) -> "Result":
        """The trajectory at some of its own instants."""
        return replace(self, **{name: getattr(self, name)[rows] for name in Saved._fields})

    def sample(self, times: np.ndarray) -> "Result":
        """The trajectory at other instants inside it, by quintic interpolation of (q, v, a)."""
        times = np.asarray(times, dtype=float)
        slack = 1e-9 * max(1.0, abs(float(self.t[-1])))
        if len(times) == 0 or times.min() < self.t[0] - slack or times.max() > self.t[-1] + slack:
            got = f"{times.min()} … {times.max()}" if len(times) else "none"
            raise ArgumentError(
                f"times: got {got}; need instants within {self.t[0]} … {self.t[-1]}"
            )
        if len(self.t) == 1:
            left = np.zeros(len(times), dtype=int)
            rows = [np.repeat(x, len(times), axis=0) for x in (self.q, self.v, self.a)]
        else:
            left = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
            self._warn_of_turns(left)
            ends = [(x[left], x[left + 1]) for x in (self.t, self.q, self.v, self.a)]
            rows = [np.asarray(x) for x in _interpolate(self.model, times, *ends)]
        near = np.clip(np.searchsorted(self.t, times), 0, len(self.t) - 1)
        return replace(
            self,
            t=times,
            q=rows[0],
            v=rows[1],
            a=rows[2],
            newton=self.newton[near],
            substeps=self.substeps[near],
            update=self.update[near],
            multipliers=_linear(times, self.t, self.multipliers),
            inputs=self.inputs[left],
        )

    def _warn_of_turns(self, left: np.ndarray) -> None:
        """Beyond half a turn two orientations do not tell which way something turned."""
        speeds = np.asarray(_batched_turn(self.model, self.v[left]))
        largest = np.max(speeds * (self.t[left + 1] - self.t[left]), initial=0.0)
        if largest > np.pi:
            warnings.warn(
                f"a joint turns by {largest:.3g} rad between two instants: orientations between them may "
                "be wrong. Name a shorter dt, or an accuracy",
                RuntimeWarning,
                stacklevel=3,
            )

    def dataset(self, points: int = 41) -> "xarray.Dataset":
        """Everything as one labelled dataset: positions, shapes, efforts, energies, with units."""
        return as_dataset(self, points)

    def to_netcdf(self, path: str | Path, points: int = 41) -> Path:
        """Write the dataset as a NetCDF file."""
        return write_netcdf(self, path, points)

    def to_csv(self, path: str | Path) -> Path:
        """Write everything with one number an instant as a table."""
        return write_csv(self, path)

    def save(self, path: str | Path) -> Path:
        """Write the trajectory, poses, shapes and energies as one ``.npz`` file without pickles."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {
            "t": self.t,
            "q": self.q,
            "v": self.v,
            "a": self.a,
            "newton": self.newton,
            "substeps": self.substeps,
            "kinetic": np.asarray(self.energies.kinetic),
            "elastic": np.asarray(self.energies.elastic),
            "potential": np.asarray(self.energies.potential),
        }
        for name, pose in self.poses.items():
            arrays[f"rotation/{name}"] = pose.rotation
            arrays[f"position/{name}"] = pose.position
        for slot in self.model.topology.rod_slots:
            arrays[f"shape/{slot.name}"] = self.shape(slot.name).position
        about = {
            "model": self.model.name,
            "status": self.status.name,
            "message": self.message,
            "settings": {k: repr(v) for k, v in self.settings.items()},
        }
        arrays["about"] = np.array(json.dumps(about))
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)
        return path


def _linear(times: np.ndarray, t: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Columns (n, m) known at t, at other times."""
    found = [np.interp(times, t, column) for column in columns.T]
    return np.stack(found, axis=1) if found else np.zeros((len(times), 0))


@partial(jit, static_argnames=("quantity", "fixed"))
def _every(quantity, fixed, model, inputs, columns):  # type: ignore[no-untyped-def]
    def one(inputs, columns):  # type: ignore[no-untyped-def]
        state = State(*columns)
        return quantity(regulated_model(with_inputs(model, inputs), state), state, *fixed)

    return jax.vmap(one)(inputs, columns)


def _gaps(model: Model, s: State) -> Any:
    return open_by(model, s.q, s.t, s.multipliers)


def _gap_rates(model: Model, s: State) -> Any:
    return open_rates(model, s.q, s.v, s.t, s.multipliers)


@jit
def _batched_turn(model, v):  # type: ignore[no-untyped-def]
    return jax.vmap(lambda v: fastest_turn(model, v))(v)


@jit
def _interpolate(model, times, t, q, v, a):  # type: ignore[no-untyped-def]
    """Quintic Hermite interpolation in the chart of each interval's start."""
    flat = all(isinstance(g, RodGroup) or g.nq == g.nv for g in model.groups)

    def one(time, t, q, v, a):  # type: ignore[no-untyped-def]
        (t0, t1), (q0, q1), (v0, v1), (a0, a1) = t, q, v, a
        h = t1 - t0
        s = (time - t0) / h
        x1 = difference(model, q0, q1)
        if flat:
            rate1, change1 = v1, a1
        else:
            turning = jax.jacfwd(lambda xdot: rate(model, q0, x1, xdot))(v1)
            rate1 = jnp.linalg.solve(turning, v1)
            bias = rate_derivative(model, q0, x1, rate1, jnp.zeros_like(a1))
            change1 = jnp.linalg.solve(turning, a1 - bias)
        # Coefficients of s³, s⁴, s⁵ from the three conditions at the end.
        r0 = x1 - h * v0 - h**2 / 2 * a0
        r1 = h * (rate1 - v0) - h**2 * a0
        r2 = h**2 * (change1 - a0)
        c3 = 10 * r0 - 4 * r1 + r2 / 2
        c4 = -15 * r0 + 7 * r1 - r2
        c5 = 6 * r0 - 3 * r1 + r2 / 2
        x = s * h * v0 + (s * h) ** 2 / 2 * a0 + s**3 * (c3 + s * (c4 + s * c5))
        xdot = v0 + s * h * a0 + s**2 * (3 * c3 + s * (4 * c4 + s * 5 * c5)) / h
        xddot = a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5)) / h**2
        return (
            retract(model, q0, x),
            rate(model, q0, x, xdot),
            rate_derivative(model, q0, x, xdot, xddot),
        )

    return jax.vmap(one)(times, t, q, v, a)
