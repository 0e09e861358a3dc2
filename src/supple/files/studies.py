"""What a file asks to compute: named studies, where they start, and what they report."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.errors import ArgumentError, DescriptionError
from supple.mechanics.element_motion import neutral
from supple.model.model import Model
from supple.model.state import State
from supple.numeric import check_positive
from supple.results.result import Result
from supple.robot.robot import Robot
from supple.run.events import Event
from supple.run.simulate import simulate
from supple.run.start import initial_state
from supple.run.statics import Equilibrium, assemble, equilibrium, modes, release, sweep
from supple.solve.modes import Modes
from supple.time.scheme import AbstractScheme

Build = Callable[..., Robot]
"""The robot of the file, with other values of its parameters."""

PLACES = ("described", "assembled", "equilibrium")


@dataclass(frozen=True)
class Initial:
    """Where a run starts: as described, assembled (loops closed, unloaded) or in equilibrium; then changed.

    ``joints`` and ``coordinates`` set the joint of an item and the strain coordinates of a rod, by name;
    ``joint_rates`` and ``rates`` their velocities.
    """

    at: str = "described"
    joints: Mapping[str, Any] = field(default_factory=dict)
    coordinates: Mapping[str, Any] = field(default_factory=dict)
    joint_rates: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.at not in PLACES:
            raise DescriptionError("initial", "at", self.at, "one of: " + ", ".join(PLACES))

    def state(self, model: Model) -> State | Equilibrium | None:
        """The state, or None for the described one."""
        found = None
        if self.at != "described":
            found = (equilibrium if self.at == "equilibrium" else assemble)(model)
        if not any((self.joints, self.coordinates, self.joint_rates, self.rates)):
            return found
        q = np.array(neutral(model) if found is None else found.q)
        v = np.zeros(model.nv)
        topology = model.topology
        for given, slots, target in (
            (self.joints, topology.joint_slots, q),
            (self.coordinates, topology.rod_slots, q),
            (self.joint_rates, topology.joint_slots, v),
            (self.rates, topology.rod_slots, v),
        ):
            for name, values in given.items():
                slot = next((slot for slot in slots if slot.name == name), None)
                if slot is None:
                    known = ", ".join(slot.name for slot in slots) or "none"
                    raise ArgumentError(f"initial: got {name!r}; need one of: {known}")
                where = slot.q if target is q else slot.v
                numbers = np.atleast_1d(np.asarray(values, dtype=float))
                if numbers.shape != target[where].shape:
                    raise ArgumentError(
                        f"initial: {name}: got {len(numbers)} numbers; need {len(target[where])}"
                    )
                target[where] = numbers
        return initial_state(model, q, v)


def _check_run(study: "Simulate | ReleaseStudy") -> None:
    """Raise unless duration, step and accuracy can be those of a run."""
    for name in ("duration", "dt", "accuracy"):
        value = getattr(study, name)
        if value is not None:
            check_positive("simulate", name, value)
    if study.dt is not None and study.accuracy is not None:
        need = "a step dt or an accuracy, not both"
        raise DescriptionError("simulate", "accuracy", study.accuracy, need)
    if study.t_eval is not None and np.ndim(study.t_eval) == 0:
        check_positive("simulate", "t_eval", study.t_eval)


@dataclass(frozen=True)
class Simulate:
    """A run through time, as :func:`supple.simulate`."""

    duration: float
    dt: float | None = None
    accuracy: float | None = None
    scheme: AbstractScheme | None = None
    t_eval: Any = None
    initial: Initial | None = None
    max_steps: int = 10_000_000
    events: tuple[Event, ...] = ()
    max_events: int = 1000

    def __post_init__(self) -> None:
        _check_run(self)

    def run(self, build: Build, **options: Any) -> Result:
        """Simulate the robot."""
        return simulate(
            build(),
            self.duration,
            dt=self.dt,
            accuracy=self.accuracy,
            scheme=self.scheme,
            initial=None if self.initial is None else self.initial.state,
            t_eval=None if self.t_eval is None else _instants(self.t_eval),
            max_steps=self.max_steps,
            events=self.events,
            max_events=self.max_events,
            **options,
        )


@dataclass(frozen=True)
class ReleaseStudy:
    """Held in equilibrium, then let go of ``loads``, as :func:`supple.release`."""

    loads: str | tuple[str, ...]
    duration: float
    dt: float | None = None
    accuracy: float | None = None
    scheme: AbstractScheme | None = None
    t_eval: Any = None

    def __post_init__(self) -> None:
        _check_run(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The loads to let go of."""
        return (self.loads,) if isinstance(self.loads, str) else tuple(self.loads)

    def run(self, build: Build, **options: Any) -> Result:
        """Hold the robot, let go and simulate."""
        options |= {"dt": self.dt, "accuracy": self.accuracy, "scheme": self.scheme}
        if self.t_eval is not None:
            options["t_eval"] = _instants(self.t_eval)
        return release(build(), self.loads, self.duration, **options)


@dataclass(frozen=True)
class Statics:
    """Static equilibrium under the loads of time ``t``, as :func:`supple.equilibrium`."""

    t: float = 0.0
    accuracy: float | None = None
    first_increment: float = 1.0

    def __post_init__(self) -> None:
        if self.accuracy is not None:
            check_positive("statics", "accuracy", self.accuracy)
        if not 0.0 < self.first_increment <= 1.0:
            need = "a part of the load, more than 0 and at most 1"
            raise DescriptionError("statics", "first_increment", self.first_increment, need)

    def run(self, build: Build, **options: Any) -> Equilibrium:
        """The equilibrium."""
        return equilibrium(
            build(),
            t=self.t,
            accuracy=self.accuracy,
            first_increment=self.first_increment,
            throw=options.get("throw", True),
        )


@dataclass(frozen=True)
class Sweep:
    """Equilibria for several values of a parameter of the file, each found from the last."""

    parameter: str
    values: tuple[float, ...]

    def run(self, build: Build, **options: Any) -> list[Equilibrium]:
        """The equilibria."""
        throw = options.get("throw", True)
        return list(sweep(lambda value: build(**{self.parameter: value}), self.values, throw=throw))


@dataclass(frozen=True)
class ModesStudy:
    """The first ``count`` vibration modes, as described or about its equilibrium, as :func:`supple.modes`."""

    count: int | None = None
    at: str = "described"

    def run(self, build: Build, **options: Any) -> Modes:
        """The modes."""
        model = build().build()
        return modes(model, at=Initial(self.at).state(model), count=self.count)


Study = Simulate | ReleaseStudy | Statics | Sweep | ModesStudy


def _instants(t_eval: Any) -> Any:
    return float(t_eval) if np.ndim(t_eval) == 0 else np.asarray(t_eval, dtype=float)


ENERGIES = ("kinetic", "elastic", "potential", "total")
QUANTITIES: dict[str, Callable[[Any, str], Any]] = {
    "position": lambda result, name: result.position(name),
    "joint": lambda result, name: result.joint(name).position,
    "coordinates": lambda result, name: result.coordinates(name),
    "shape": lambda result, name: result.shape(name).position,
    "tendon_length": lambda result, name: result.tendon(name).length,
    "tension": lambda result, name: result.tendon(name).tension,
    "volume": lambda result, name: result.chamber(name).volume,
    "pressure": lambda result, name: result.chamber(name).pressure,
    "motor_torque": lambda result, name: result.motor(name).torque,
    "spring_tension": lambda result, name: result.spring(name).tension,
    "effort": lambda result, name: result.effort(name),
    "closure": lambda result, name: result.closure(name),
    "reaction": lambda result, name: result.reaction(name),
    "internal_wrench": lambda result, name: result.internal_wrench(name),
    "contact": lambda result, name: result.contact(name),
    "input": lambda result, name: result.input(name),
    "energy": lambda result, name: getattr(result.energies, name),
}
"""What a result can report about a named thing (energy: one of ENERGIES)."""


@dataclass(frozen=True)
class Output:
    """One quantity of one item."""

    quantity: str
    of: str

    def __call__(self, result: Any) -> np.ndarray:
        """Its values, over time where the result has instants."""
        return np.asarray(QUANTITIES[self.quantity](result, self.of))


PLAIN_NAME = re.compile(r"\w([\w +,()=-]|\.(?!\.))*(?<![ .])")
PLAIN_NEED = (
    "a plain name, since runs are files: at most 100 letters, digits and _ - + , = ( ), "
    "with spaces and single dots inside"
)


def is_plain(name: str) -> bool:
    """Whether a name can be that of a file, on any system, and nothing but that."""
    return len(name) <= 100 and PLAIN_NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class Settings:
    """Studies and outputs by name."""

    studies: Mapping[str, Study] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.studies:
            if not is_plain(name):
                raise DescriptionError("studies", "name", name, PLAIN_NEED)
