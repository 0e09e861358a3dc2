"""Controllers, as users write them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.model.control import Box, Control
from supple.numeric import check_positive, check_vector
from supple.reprs import brief
from supple.robot.checks import check_name
from supple.tried import check_arguments


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
        _check_arguments(self, act="a function of (t, seen, memory)")

    @property
    def refers_to(self) -> tuple[str, ...]:
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


@dataclass(frozen=True)
class ContinuousController:
    """Sets inputs at every instant, as a part of the robot's own equations, with differential states.

    ``act(t, seen, state) -> inputs``: a mapping from the names of :class:`Input` laws to their values.
    ``rate(t, seen, state)`` is the time derivative of its states, which begin at ``state``: integrals of an
    error, filters, the dynamics of an actuator, a pump. ``sense(sensors)`` picks what it sees. All are
    written with ``jax.numpy`` and smooth: their derivatives enter the solver, so that stiff loops need no
    small steps, equilibria are those of the closed loop and ``linearize`` gives its poles. For controllers of
    a given rate, or with a memory of any kind, see :class:`Controller`.
    """

    name: str
    act: Callable[[Any, Any, Any], Any]
    sense: Callable[[Any], Any] = nothing
    rate: Callable[[Any, Any, Any], Any] | None = None
    state: Any = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        for field in ("act", "sense", "rate"):
            value = getattr(self, field)
            if not callable(value) and not (field == "rate" and value is None):
                raise DescriptionError(self.name, field, value, "a function")
        if (self.rate is None) != (len(self.first) == 0):
            need = "both a rate and a state to begin with, or neither"
            raise DescriptionError(self.name, "rate", self.rate, need)
        words = "a function of (t, seen, state)"
        _check_arguments(self, **({"act": words} | ({} if self.rate is None else {"rate": words})))

    @property
    def first(self) -> tuple[Any, ...]:
        """The states it begins with, one after the other."""
        return tuple(check_vector(self.name, "state", self.state, (np.size(self.state),)))

    @property
    def refers_to(self) -> tuple[str, ...]:
        """Names of the items it cannot do without: none; it senses by name when it runs."""
        return ()


def _check_arguments(item: Controller | ContinuousController, **three: str) -> None:
    """Raise unless ``sense`` takes one argument and the others three."""
    check_arguments(item.name, "sense", item.sense, 1, "a function of the sensors")
    for field, need in three.items():
        check_arguments(item.name, field, getattr(item, field), 3, need)
