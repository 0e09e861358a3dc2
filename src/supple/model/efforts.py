"""Effort laws of transmissions: the force that lengthens a coordinate ℓ, given ℓ, ℓ̇ and an input of time.

A pressure makes a volume larger, a torque an angle, so both are efforts. A tension shortens: it is a
negative effort. Each class stands for all transmissions of a robot that follow it, as arrays of m numbers.
"""

import abc
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.model.friction import AbstractFriction, friction_at

ATMOSPHERE = 101_325.0
"""Pressure outside (Pa)."""
SATURATION = 8
"""Power of the smooth saturation: at half the limit an effort is still right to 5e-4."""


class Input(NamedTuple):
    """What laws of time say now, their rates, and the factor by which statics raises loads."""

    value: Float[Array, " m"]
    rate: Float[Array, " m"]
    factor: Float[Array, ""]


class AbstractEffort(eqx.Module):
    """An effort law."""

    follows: ClassVar[bool] = True
    """Whether efforts depend on the coordinate or its rate."""

    @abc.abstractmethod
    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        """Effort (N, Pa or N m) of coordinates (m, m³ or rad) and their rates."""

    def energy(self, length: Float[Array, " m"], given: Input) -> Float[Array, " m"]:
        """Elastic energy (J) stored between the input and the robot."""
        return jnp.zeros_like(length)

    @property
    def drive(self) -> "AbstractEffort":
        """The law without friction in the actuator."""
        return self


class Tension(AbstractEffort):
    """A given tension (N); a negative one is slack unless the tendon may push."""

    follows: ClassVar[bool] = False

    push: Float[Array, " m"]
    """1 for rods that may push, 0 for cables."""

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        value = jnp.where(self.push > 0, given.value, jnp.maximum(given.value, 0.0))
        return -given.factor * value


class Given(AbstractEffort):
    """The effort law of a user in place of the input of another one; of one transmission, driven by time."""

    base: AbstractEffort
    law: Any

    def __call__(
        self, length: Float[Array, " 1"], rate: Float[Array, " 1"], given: Input
    ) -> Float[Array, " 1"]:
        value = jnp.asarray(self.law(given.value[0], length[0], rate[0]), dtype=float)
        return self.base(length, rate, given._replace(value=value[None]))

    def energy(self, length: Float[Array, " 1"], given: Input) -> Float[Array, " 1"]:
        return jnp.asarray(self.law.energy(given.value[0], length[0]), dtype=float)[None]


class WithFriction(AbstractEffort):
    """The effort of a motor less the friction of its rotor, a law of the rotor's speed and torque."""

    base: AbstractEffort
    law: AbstractFriction
    gear: Float[Array, " m"]

    @property
    def drive(self) -> AbstractEffort:
        return self.base

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        effort = self.base(length, rate, given)
        rotor = friction_at(self.law, self.gear * rate, effort / self.gear)
        return effort - self.gear * rotor

    def energy(self, length: Float[Array, " m"], given: Input) -> Float[Array, " m"]:
        return self.base.energy(length, given)


class Pressure(AbstractEffort):
    """A given gauge pressure (Pa)."""

    follows: ClassVar[bool] = False

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        return given.factor * given.value


class Imposed(AbstractEffort):
    """A coordinate imposed in time: ``offset + sign * input``. Its effort is an outcome of the solve."""

    follows: ClassVar[bool] = False

    start: Float[Array, " m"]
    """Coordinate in the described shape; statics leads from it to what is imposed."""
    offset: Float[Array, " m"]
    sign: Float[Array, " m"]
    scale: Float[Array, " m"]
    """Meters of violation per unit of the coordinate; multipliers are then newtons."""

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        return jnp.zeros_like(length)

    def gap(self, length: Float[Array, " m"], given: Input) -> Float[Array, " m"]:
        """How far the coordinates are from what is imposed (m)."""
        goal = self.offset + self.sign * given.value
        return self.scale * (length - self.start - given.factor * (goal - self.start))


class Cable(AbstractEffort):
    """An elastic tendon whose end is pulled by the input (m). It goes slack instead of pushing."""

    stiffness: Float[Array, " m"]
    damping: Float[Array, " m"]
    rest: Float[Array, " m"]
    slack_width: Float[Array, " m"]
    """Stretch (m) over which it goes from slack to taut."""

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        stretch, root = self._stretch(length, given)
        taut = 0.5 * (1 + stretch / root)
        force = self.stiffness * 0.5 * (stretch + root)
        return -(force + self.damping * taut * (rate + given.factor * given.rate))

    def energy(self, length: Float[Array, " m"], given: Input) -> Float[Array, " m"]:
        stretch, root = self._stretch(length, given)
        # The integral of the smooth positive part.
        width = self.slack_width
        bend = width**2 * (jnp.arcsinh(stretch / width))
        return self.stiffness * 0.25 * (stretch**2 + stretch * root + bend)

    def _stretch(
        self, length: Float[Array, " m"], given: Input
    ) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        stretch = length - self.rest + given.factor * given.value
        return stretch, jnp.sqrt(stretch**2 + self.slack_width**2)


class ElasticRod(AbstractEffort):
    """An elastic tendon whose end is pulled by the input (m), and which may push as well as pull."""

    stiffness: Float[Array, " m"]
    damping: Float[Array, " m"]
    rest: Float[Array, " m"]

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        stretch = length - self.rest + given.factor * given.value
        return -(self.stiffness * stretch + self.damping * (rate + given.factor * given.rate))

    def energy(self, length: Float[Array, " m"], given: Input) -> Float[Array, " m"]:
        return 0.5 * self.stiffness * (length - self.rest + given.factor * given.value) ** 2


class Spring(AbstractEffort):
    """A spring and damper that pulls and pushes; the input (m, rad) lengthens its rest length."""

    stiffness: Float[Array, " m"]
    damping: Float[Array, " m"]
    rest: Float[Array, " m"]

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        stretch = length - self.rest - given.factor * given.value
        return -(self.stiffness * stretch + self.damping * rate)

    def energy(self, length: Float[Array, " m"], given: Input) -> Float[Array, " m"]:
        return 0.5 * self.stiffness * (length - self.rest - given.factor * given.value) ** 2


class Gas(AbstractEffort):
    """An ideal gas of content n R T (J), the input, in a chamber."""

    start: Float[Array, " m"]
    """Volume (m³) in the described shape, where the gas of the atmosphere fills it."""

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        return self._content(given) / length - ATMOSPHERE

    def energy(self, length: Float[Array, " m"], given: Input) -> Float[Array, " m"]:
        return ATMOSPHERE * (length - self.start) - self._content(given) * jnp.log(
            length / self.start
        )

    def _content(self, given: Input) -> Float[Array, " m"]:
        # Statics raises loads by a factor: gas is let in between the atmosphere's own and what is given.
        inside = self.start * ATMOSPHERE
        return inside + given.factor * (given.value - inside)


class Servo(AbstractEffort):
    """A motor that follows a position, the input: stiffness times the lag, damping times the lag's rate.

    Beyond ``limit`` the effort saturates smoothly.
    """

    stiffness: Float[Array, " m"]
    damping: Float[Array, " m"]
    limit: Float[Array, " m"]

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        lag = given.factor * given.value - length
        wanted = self.stiffness * lag + self.damping * (given.factor * given.rate - rate)
        return saturated(wanted, self.limit)


class Governor(AbstractEffort):
    """A motor that follows a speed, the input: damping times the lag, up to ``limit``."""

    damping: Float[Array, " m"]
    limit: Float[Array, " m"]

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        return saturated(self.damping * (given.factor * given.value - rate), self.limit)


class TorqueDrive(AbstractEffort):
    """A rotor that gives the torque of the input, up to ``limit``; the joint feels ``gear`` times it."""

    follows: ClassVar[bool] = False

    gear: Float[Array, " m"]
    limit: Float[Array, " m"]

    def __call__(
        self, length: Float[Array, " m"], rate: Float[Array, " m"], given: Input
    ) -> Float[Array, " m"]:
        return self.gear * saturated(given.factor * given.value, self.limit)


def saturated(value: Float[Array, " m"], limit: Float[Array, " m"]) -> Float[Array, " m"]:
    """The value, smoothly kept within ± limit (which may be infinite)."""
    # Beyond some limits the power would overflow; there the result is the limit anyway.
    ratio = jnp.clip(value / limit, -1e3, 1e3)
    inside = jnp.abs(value) < 1e3 * limit
    kept = value / (1 + ratio**SATURATION) ** (1 / SATURATION)
    return jnp.where(inside, kept, jnp.sign(value) * limit)
