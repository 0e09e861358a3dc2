"""A study of many robots: one study of a file for every member of its samples."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from supple.errors import ArgumentError, DescriptionError
from supple.files.analyses import Build, Linearize, ModesStudy, Statics
from supple.results.fingerprint import fingerprint, fingerprints
from supple.robot.robot import Robot
from supple.studies.parameters import WithParameters
from supple.studies.samples import AbstractSamples, Grid, LatinHypercube, Listed, RandomSamples
from supple.studies.study import study

if TYPE_CHECKING:
    import xarray


@runtime_checkable
class Single(Protocol):
    """A study of one robot."""

    def run(self, build: Build, **options: Any) -> Any:
        """What it finds."""


class Described:
    """The robot of a file as a function of parameters: the file's own, and those of items by their paths."""

    def __init__(self, build: Build, names: tuple[str, ...]) -> None:
        self.build, self.name = build, build.robot.name
        self.own = tuple(name for name in names if name in build.parameters)
        self.paths = tuple(name for name in names if name not in build.parameters)

    @property
    def known_by(self) -> dict[str, str]:
        """Fingerprints by which a study of it is known again."""
        return fingerprints(self.build.robot) | {
            "what depends on parameters": fingerprint(self.build.data)
        }

    def __call__(self, sample: Mapping[str, float]) -> Robot:
        robot = self.build(**{name: sample[name] for name in self.own})
        return WithParameters(robot, self.paths)({path: sample[path] for path in self.paths})


@dataclass(frozen=True)
class Computed:
    """A study of a file as a function of a robot."""

    study: Single

    def __call__(self, robot: Robot) -> Any:
        return self.study.run(Build(robot))


@dataclass(frozen=True)
class Ensemble:
    """One study for many robots, as :func:`supple.study`: ``of`` for every member of its samples.

    Samples are one of ``grid``, ``listed``, ``random`` and ``latin_hypercube``; their parameters are those of
    the file, or of items by their paths ("arm.length").
    """

    of: Single = field(default_factory=Statics)
    grid: Mapping[str, Any] | None = None
    listed: Mapping[str, Any] | None = None
    random: RandomSamples | None = None
    latin_hypercube: LatinHypercube | None = None

    def __post_init__(self) -> None:
        given = [name for name in SAMPLES if getattr(self, name) is not None]
        if len(given) != 1:
            told = " and ".join(given) or None
            raise DescriptionError("ensemble", "samples", told, "one of: " + ", ".join(SAMPLES))
        try:
            self.samples  # noqa: B018  # looked at before it is used
        except DescriptionError as error:
            place = error.field.replace("values", given[0], 1)
            raise DescriptionError("ensemble", place, error.got, error.need) from None

    @property
    def samples(self) -> AbstractSamples:
        """The values of its parameters."""
        if self.grid is not None:
            return Grid(self.grid)
        if self.listed is not None:
            return Listed(self.listed)
        found = self.random if self.random is not None else self.latin_hypercube
        assert found is not None
        return found

    def place_of(self, name: str) -> tuple[str, ...]:
        """Where in the file the values of a parameter stand."""
        (kind,) = (kind for kind in SAMPLES if getattr(self, kind) is not None)
        return (kind, name) if kind in ("grid", "listed") else (kind, "ranges", name)

    def wrong_names(self, build: Build) -> dict[str, str]:
        """What is needed instead of names that neither the file nor an item has."""
        wrong = {}
        for name, value in self.samples.sample(0).items():
            if name in build.parameters:
                continue
            try:
                WithParameters(build.robot, (name,))({name: value})
            except ArgumentError as error:
                own = f"; or a parameter of the file: {', '.join(build.parameters)}"
                need = str(error).partition("; need ")[2]
                wrong[name] = need + (own if build.parameters else "")
            except DescriptionError:  # a value: that of a member, which has a status
                continue
        return wrong

    def run(self, build: Build, **options: Any) -> "xarray.Dataset":
        """The dataset; options are those of :func:`supple.study`."""
        options.pop("throw", None)
        samples = self.samples
        whole = any(name in build.parameters for name in samples.names)
        outputs = build.outputs if build.outputs and not isinstance(self.of, _WITHOUT) else None
        robot = Described(build, samples.names) if whole else build.robot
        return study(robot, samples, self._compute, outputs, **options)

    @property
    def _compute(self) -> Any:
        """The function of a robot; equilibria by name, for which there may be one program."""
        if isinstance(self.of, Statics):
            return self.of.compute
        return Computed(self.of)


SAMPLES = ("grid", "listed", "random", "latin_hypercube")
_WITHOUT = (ModesStudy, Linearize)
"""Studies of which the outputs of a file say nothing."""
