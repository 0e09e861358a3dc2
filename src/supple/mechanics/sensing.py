"""What controllers can see of a robot: sensors by name, evaluated on demand."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from supple.mechanics.readout import AbstractReadout
from supple.model.model import Model
from supple.model.state import State


class Sensors(AbstractReadout):
    """Sensors of a robot at a state; ask for what you need, the rest is not computed."""

    def __init__(self, model: Model, state: State) -> None:
        self.model = model
        self.t = jnp.asarray(state.t)
        """Time (s)."""
        self.q = jnp.asarray(state.q)
        """Configuration."""
        self.v = jnp.asarray(state.v)
        """Velocity coordinates."""
        self._state = State(self.t, self.q, self.v, jnp.asarray(state.a), state.multipliers)

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """A quantity now, as part of the program that controllers are compiled into."""
        return quantity(self.model, self._state, *fixed)
