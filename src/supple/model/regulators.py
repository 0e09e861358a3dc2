"""Continuous controllers: part of the balance itself, with states of their own.

A regulator senses, sets inputs u = act(t, seen, z), and its states follow ż = rate(t, seen, z). States live
among the coordinates of the robot, as joints that move nothing: z is such a coordinate, its damping is one,
and the rate acts on it as an effort, so that its balance is ż - rate = 0.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx


class Regulator(eqx.Module):
    """One continuous controller."""

    name: str = eqx.field(static=True)
    sense: Callable[[Any], Any] = eqx.field(static=True)
    act: Callable[[Any, Any, Any], Any] = eqx.field(static=True)
    rate: Callable[[Any, Any, Any], Any] | None = eqx.field(static=True)
    q_index: tuple[int, ...] = eqx.field(static=True)
    """Places of its states in the configuration, ..."""
    v_index: tuple[int, ...] = eqx.field(static=True)
    """... and among the velocities."""

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.v_index)
