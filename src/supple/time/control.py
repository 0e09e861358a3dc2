"""Step control: a fixed grid with substeps where the solver needs them, or a requested accuracy."""

from dataclasses import dataclass

from supple.errors import StateError


@dataclass(frozen=True)
class FixedStep:
    """Steps of ``dt`` seconds. A step that does not converge is split, at most ``halvings`` times."""

    dt: float
    halvings: int = 12

    def __post_init__(self) -> None:
        if not self.dt > 0:
            raise StateError(f"dt: got {self.dt!r}; need a positive number of seconds")


@dataclass(frozen=True)
class ErrorControl:
    """Steps chosen so that displacement errors stay within ``accuracy`` times the robot's size.

    The budget is spread evenly over ``horizon`` seconds: each step may err by accuracy · h / horizon.
    """

    accuracy: float = 1e-3
    largest: float = float("inf")
    smallest: float = 1e-9
    safety: float = 0.85

    def __post_init__(self) -> None:
        if not 0 < self.accuracy < 1:
            raise StateError(f"accuracy: got {self.accuracy!r}; need a number between 0 and 1")


StepControl = FixedStep | ErrorControl
