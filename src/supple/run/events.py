"""Events: edits of a robot during its run, at given times or when a sensed quantity crosses zero."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.mechanics.sensing import Sensors
from supple.reprs import brief
from supple.robot.edits import AbstractEdit, Sight
from supple.robot.robot import Robot

DIRECTIONS = ("both", "rising", "falling")
QUANTITIES: dict[str, Callable[[Sensors, str], Any]] = {
    "position": lambda s, name: s.position(name),
    "velocity": lambda s, name: s.pose(name).rotation @ s.twist(name)[3:],
    "joint": lambda s, name: s.joint(name).position,
    "joint_rate": lambda s, name: s.joint(name).velocity,
    "tendon_length": lambda s, name: s.tendon(name).length,
    "tension": lambda s, name: s.tendon(name).tension,
    "spring_length": lambda s, name: s.spring(name).length,
    "spring_tension": lambda s, name: s.spring(name).tension,
    "volume": lambda s, name: s.chamber(name).volume,
    "pressure": lambda s, name: s.chamber(name).pressure,
    "motor_position": lambda s, name: s.motor(name).position,
    "motor_torque": lambda s, name: s.motor(name).torque,
    "input": lambda s, name: s.input(name),
}
"""What events in files can look at: by item, in SI units."""


@dataclass(frozen=True)
class Sensed:
    """A quantity of an item, less a threshold: what an event can wait for without a function.

    ``component`` counts those of a quantity that has several (x, y, z are 0, 1, 2, and may be said so).
    """

    quantity: str
    of: str
    component: int | str = 0
    threshold: float = 0.0

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES:
            known = "one of: " + ", ".join(QUANTITIES)
            raise DescriptionError("when", "quantity", self.quantity, known)
        named = self.component in ("x", "y", "z")
        if not named and (isinstance(self.component, bool | str) or self.component < 0):
            need = "x, y, z, or an integer from 0"
            raise DescriptionError("when", "component", self.component, need)

    def __call__(self, sensors: Sensors) -> Float[Array, ""]:
        """Its value less the threshold."""
        values = jnp.ravel(jnp.asarray(QUANTITIES[self.quantity](sensors, self.of)))
        index = "xyz".index(self.component) if isinstance(self.component, str) else self.component
        if index >= len(values):
            need = f"less than {len(values)}: so many has the {self.quantity} of {self.of!r}"
            raise DescriptionError("when", "component", self.component, need)
        return values[index] - self.threshold


@dataclass(frozen=True, kw_only=True)
class Event:
    """An ``edit`` of the robot at a time ``t`` (s), or when ``when(sensors)`` crosses zero.

    ``edit`` is :class:`Attach`, :class:`Release`, :class:`Add`, :class:`Remove`, :class:`Lock`,
    :class:`Unlock`, :class:`Change`, a function from the robot to another robot, or several of these in
    order. ``when`` is a function of :class:`Sensors`, written with ``jax.numpy``, or a :class:`Sensed`; a
    ``direction`` other than "both" lets it cross only "rising" or "falling". It crosses where it was strictly
    on one side before, also where another edit makes it jump; while its item does not exist it waits. Once,
    unless it is to ``repeat``.
    """

    edit: Any
    t: float | None = None
    when: Any = None
    direction: str = "both"
    repeat: bool = False

    __repr__ = brief

    def __post_init__(self) -> None:
        if isinstance(self.edit, list):
            object.__setattr__(self, "edit", tuple(self.edit))
        if (self.t is None) == (self.when is None):
            got = "neither" if self.t is None else "both"
            raise DescriptionError("event", "t, when", got, "a time t, or a quantity: when")
        if self.t is not None:
            number = np.ndim(self.t) == 0 and np.asarray(self.t).dtype.kind in "iuf"
            if not (number and np.isfinite(self.t)):
                raise DescriptionError("event", "t", self.t, "a finite number of seconds")
            if self.repeat or self.direction != "both":
                need = "neither repeat nor direction at a given time"
                raise DescriptionError("event", "repeat, direction", "both", need)
        elif not callable(self.when):
            need = "a function of Sensors that returns a number, or Sensed(…)"
            raise DescriptionError("event", "when", self.when, need)
        if self.direction not in DIRECTIONS:
            need = "one of: " + ", ".join(DIRECTIONS)
            raise DescriptionError("event", "direction", self.direction, need)
        for edit in self.edits:
            if not (isinstance(edit, AbstractEdit) or callable(edit)):
                need = (
                    "an edit such as Release('tool'), a function of the robot, or several of them"
                )
                raise DescriptionError("event", "edit", edit, need)

    @property
    def edits(self) -> tuple[Any, ...]:
        """Its edits in order."""
        return tuple(self.edit) if isinstance(self.edit, tuple) else (self.edit,)

    @property
    def may_add(self) -> bool:
        """Whether some of its edits may bring items that did not exist before."""
        return any(not isinstance(edit, AbstractEdit) or edit.adds for edit in self.edits)

    def applied(self, robot: Robot, seen: Sight) -> Robot:
        """The robot after its edits; ``seen`` tells where things were before them."""
        for edit in self.edits:
            found: Any = (
                edit.applied(robot, seen) if isinstance(edit, AbstractEdit) else edit(robot)
            )
            if not isinstance(found, Robot):
                name = getattr(edit, "__qualname__", repr(edit))
                raise DescriptionError(
                    "event", f"edit {name}", found, "a function that returns a Robot"
                )
            robot = found
        return robot


def told(events: Sequence[Event], fired: Sequence[int]) -> str:
    """What some of the events do, for messages."""
    text = "; ".join(", ".join(map(repr, events[i].edits)) for i in fired)
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", text)
