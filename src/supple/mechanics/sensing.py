"""What controllers can see of a robot: sensors by name, evaluated on demand."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose
from supple.mechanics.frames import (
    FrameMotion,
    find_joint,
    find_transmission,
    frame_motion,
    rod_strain,
)
from supple.mechanics.transmissions import transmission_state
from supple.model.inputs import find_input, input_vector
from supple.model.model import Model
from supple.model.state import State


class Sensors:
    """Sensors of a robot at a state; ask for what you need, the rest is not computed."""

    def __init__(self, model: Model, state: State) -> None:
        self._model = model
        self.t = jnp.asarray(state.t)
        """Time (s)."""
        self.q = jnp.asarray(state.q)
        """Configuration."""
        self.v = jnp.asarray(state.v)
        """Velocity coordinates."""
        self._multipliers = state.multipliers

    def _frame(self, name: str, fraction: float | None) -> FrameMotion:
        return frame_motion(self._model, name, self.q, self.v, None, self.t, fraction)

    def pose(self, name: str, fraction: float | None = None) -> Pose:
        """World pose of a rod's tip, a body or a marker, or of the point at a fraction of a rod."""
        return self._frame(name, fraction).pose

    def twist(self, name: str, fraction: float | None = None) -> Float[Array, " 6"]:
        """Body twist (rad/s, m/s) of such a frame."""
        return self._frame(name, fraction).twist

    def joint(self, name: str) -> tuple[Float[Array, " nq"], Float[Array, " nv"]]:
        """Configuration and velocity (rad, m; rad/s, m/s) of the joint of an item, or of a winch."""
        slot = find_joint(self._model, name)
        return self.q[slot.q], self.v[slot.v]

    def tendon(self, name: str) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Length (m) and tension (N) of a tendon."""
        length, effort = self._transmission("tendon", name)
        return length, -effort

    def spring(self, name: str) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Length (m) and tension (N) of a spring."""
        length, effort = self._transmission("spring", name)
        return length, -effort

    def chamber(self, name: str) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Volume (m³) and gauge pressure (Pa) of a chamber."""
        return self._transmission("chamber", name)

    def motor(self, name: str) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Joint coordinate (rad, m) and torque (N m, N) of a motor."""
        return self._transmission("motor", name)

    def strain(self, rod: str, fraction: float | tuple[float, ...]) -> Float[Array, "n 6"]:
        """Strain (1/m, 1) at fractions of a rod, as fibre gratings see it."""
        points = np.atleast_1d(np.asarray(fraction, dtype=float))
        return rod_strain(self._model, rod, self.q, points)

    def input(self, name: str) -> Float[Array, "*k"]:
        """What an input says now."""
        where, shape = find_input(self._model, name)
        return input_vector(self._model)[where].reshape(shape)

    def _transmission(self, kind: str, name: str) -> tuple[Any, Any]:
        own = find_transmission(self._model, kind, name)
        forces = jnp.zeros(0) if self._multipliers is None else self._multipliers
        length, effort = transmission_state(self._model, self.q, self.v, self.t, forces)
        return length[own], effort[own]
