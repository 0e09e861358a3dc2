"""What a file asks to compute: named studies, and what they report; the runs among them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.files.analyses import Analysis, Build
from supple.files.ensemble import Ensemble
from supple.files.initial import Initial
from supple.files.outputs import Output
from supple.numeric import check_positive
from supple.results.result import Result
from supple.run.events import Event
from supple.run.simulate import simulate
from supple.run.statics import release
from supple.time.scheme import AbstractScheme


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


Run = Simulate | ReleaseStudy
Study = Run | Analysis | Ensemble


def _instants(t_eval: Any) -> Any:
    return float(t_eval) if np.ndim(t_eval) == 0 else np.asarray(t_eval, dtype=float)


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
