"""Studies of a file that are no runs: equilibria, branches, vibrations, linear models, fits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.files.initial import PLACES, Initial
from supple.files.outputs import Output
from supple.identify.shape import ShapeFit, fit_shape
from supple.numeric import check_positive
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.run.branch import Branch
from supple.run.continuation import follow
from supple.run.equilibrium import Equilibrium
from supple.run.events import Sensed
from supple.run.inverse_statics import InverseStatics, inverse_statics
from supple.run.statics import equilibrium, linearize, modes, sweep
from supple.solve.linear_model import LinearModel
from supple.solve.modes import Modes


@dataclass(frozen=True)
class Build:
    """The robot of a file, which a call makes anew with other values of its parameters."""

    robot: Robot
    parameters: Mapping[str, float] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    data: Any = None
    """What the file says of the robot."""
    again: Callable[[Mapping[str, float]], Robot] | None = None

    def __call__(self, **parameters: float) -> Robot:
        if not parameters:
            return self.robot
        assert self.again is not None
        return self.again(parameters)


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

    @property
    def compute(self) -> partial[Equilibrium]:
        """The equilibrium as a function of a robot."""
        asked: dict[str, Any] = {} if self.accuracy is None else {"accuracy": self.accuracy}
        return partial(equilibrium, t=self.t, first_increment=self.first_increment, **asked)

    def run(self, build: Build, **options: Any) -> Equilibrium:
        """The equilibrium."""
        return self.compute(build(), throw=options.get("throw", True))


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

    def __post_init__(self) -> None:
        _check_place("modes", self.at)

    def run(self, build: Build, **options: Any) -> Modes:
        """The modes."""
        model = build().build()
        return modes(model, at=Initial(self.at).state(model), count=self.count)


@dataclass(frozen=True)
class Follow:
    """The branch of equilibria from time ``since`` until time ``until`` (s), as :func:`supple.follow`.

    It goes through limit points; ``duration_scale`` (s) weighs time against coordinates along the branch.
    """

    until: float
    since: float = 0.0
    duration_scale: float = 1.0
    step: float = 0.05
    largest: float = 0.2
    max_points: int = 400
    switch: int = 0

    def __post_init__(self) -> None:
        for name in ("duration_scale", "step", "largest"):
            check_positive("follow", name, getattr(self, name))
        if self.until == self.since:
            raise DescriptionError("follow", "until", self.until, f"not since = {self.since}")

    def run(self, build: Build, **options: Any) -> Branch:
        """The branch."""
        begun = equilibrium(build(), t=self.since, settle=False)
        return follow(
            begun.model,
            initial=begun,
            until=self.until,
            duration_scale=self.duration_scale,
            step=self.step,
            largest=self.largest,
            max_points=self.max_points,
            switch=self.switch,
            throw=options.get("throw", True),
        )


@dataclass(frozen=True)
class InverseStaticsStudy:
    """Inputs with which ``frame`` rests at each of ``targets`` (m), as :func:`supple.inverse_statics`."""

    frame: str
    targets: tuple[tuple[float, float, float], ...]
    inputs: tuple[str, ...] | None = None
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        check_positive("inverse_statics", "tolerance", self.tolerance)

    def run(self, build: Build, **options: Any) -> InverseStatics:
        """The inputs, and the equilibria."""
        return inverse_statics(
            build(),
            self.frame,
            np.asarray(self.targets, dtype=float),
            self.inputs,
            tolerance=self.tolerance,
            throw=options.get("throw", True),
        )


@dataclass(frozen=True)
class Linearize:
    """State-space matrices and poles about a state, as :func:`supple.linearize`."""

    at: str = "equilibrium"
    observe: Mapping[str, Sensed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_place("linearize", self.at)

    def run(self, build: Build, **options: Any) -> LinearModel:
        """The linear model."""
        model = build().build()
        return linearize(model, at=Initial(self.at).state(model), observe=self.observe)


@dataclass(frozen=True)
class Identify:
    """A rod fitted to measured ``points`` (m) at ``fractions`` of its length.

    As :func:`supple.identify.fit_shape`. ``noise`` (m) is the standard deviation of a measured coordinate,
    ``energy`` (J) the expected order of the elastic energy, for rods of which a part was not measured. The
    pose of the base is fitted, too.
    """

    rod: str
    points: tuple[tuple[float, float, float], ...]
    fractions: tuple[float, ...]
    noise: float = 1e-3
    energy: float | None = None

    def __post_init__(self) -> None:
        check_positive("identify", "noise", self.noise)
        if self.energy is not None:
            check_positive("identify", "energy", self.energy)
        if len(self.points) != len(self.fractions):
            need = f"one for each of the {len(self.points)} points"
            raise DescriptionError("identify", "fractions", len(self.fractions), need)

    def run(self, build: Build, **options: Any) -> ShapeFit:
        """The fitted rod."""
        robot = build()
        rods = [item.name for item in robot.items if isinstance(item, Rod)]
        if self.rod not in rods:
            raise DescriptionError("identify", "rod", self.rod, "one of: " + ", ".join(rods))
        rod = robot[self.rod]
        assert isinstance(rod, Rod)
        return fit_shape(rod, self.points, self.fractions, noise=self.noise, energy=self.energy)


Analysis = Statics | Sweep | ModesStudy | Follow | InverseStaticsStudy | Linearize | Identify


def _check_place(study: str, at: str) -> None:
    if at not in PLACES:
        raise DescriptionError(study, "at", at, "one of: " + ", ".join(PLACES))
