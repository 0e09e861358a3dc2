"""Controllers, as users write them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from supple.brief import brief
from supple.errors import DescriptionError
from supple.model.control import Box, Control
from supple.numeric import check_positive
from supple.robot.checks import check_name


def nothing(sensors: Any) -> None:
    """Sense nothing."""
    return


@dataclass(frozen=True)
class Controller:
    """Sets inputs every ``period`` (s) from what it senses and remembers.

    ``act(t, seen, memory) -> (inputs, memory)``: inputs is a mapping from the names of :class:`Input` laws
    to their values; they stay until the next call. ``sense(sensors)`` picks what it sees from
    :class:`~supple.mechanics.sensing.Sensors`: poses and twists, joints, tendons, pressures, strains.
    ``memory`` is what it remembers at the start: any arrays.
    A compiled controller is written with ``jax.numpy`` and runs inside the simulation. With
    ``compiled=False`` ``act`` is any Python callable, called between steps with NumPy arrays, and its memory
    anything: a real-time loop, a joystick, a learned policy. ``sense`` is compiled in both cases.
    """

    name: str
    act: Callable[[Any, Any, Any], Any]
    sense: Callable[[Any], Any] = nothing
    period: float = 0.01
    memory: Any = None
    compiled: bool = True

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_positive(self.name, "period", self.period)
        for field in ("act", "sense"):
            if not callable(getattr(self, field)):
                raise DescriptionError(self.name, field, getattr(self, field), "a function")

    @property
    def holds(self) -> tuple[str, ...]:
        """Names of the items it cannot do without: none; it senses by name when it runs."""
        return ()

    def make(self) -> Control:
        """The controller of the model."""
        return Control(
            memory=self.memory if self.compiled else None,
            name=self.name,
            sense=self.sense,
            act=self.act,
            period=float(self.period),
            compiled=self.compiled,
            own=None if self.compiled else Box(self.memory),
        )
