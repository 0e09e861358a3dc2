"""Volumes and pressures of fluid chambers, and what they add to the balance and its tangent.

A gauge pressure p asks the generalised force -p ∂V/∂q of the robot: pressure makes the chamber larger.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics.local import Coordinates
from supple.mechanics.tendons import rod_coordinates
from supple.model.chambers import ATMOSPHERE
from supple.model.model import Model


class ChamberState(NamedTuple):
    """Volumes (m³), gauge pressures (Pa) and how these change with the volume (Pa/m³)."""

    volume: Float[Array, " k"]
    pressure: Float[Array, " k"]
    by_volume: Float[Array, " k"]
    gap: Float[Array, " n"]
    """How far imposed volumes are from their laws, over the reference area (m)."""


def chamber_state(model: Model, c: Coordinates) -> ChamberState:
    """Everything about the chambers at a motion; pressures of imposed volumes follow from multipliers."""
    chambers = model.chambers
    volume = chambers.rest + chambers.arms @ (rod_coordinates(model, c.q) + c.x)
    given = chambers.inputs(c.t)
    gas = jnp.array([kind == "gas" for kind in chambers.kinds])
    # Statics raises loads by a factor: gas is let in between the atmosphere's own and what is given.
    inside = chambers.rest * ATMOSPHERE
    content = inside + model.load_factor * (given - inside)
    pressure = jnp.where(gas, content / volume - ATMOSPHERE, model.load_factor * given)
    slope = jnp.where(gas, -content / volume**2, 0.0)
    imposed = chambers.by_volume
    if len(imposed) == 0:
        return ChamberState(volume, pressure, slope, jnp.zeros(0))
    wanted = chambers.rest + model.load_factor * (given - chambers.rest)
    gap = ((volume - wanted) / chambers.area)[imposed]
    forces = jnp.zeros(len(imposed))
    if c.multipliers is not None:
        forces = c.multipliers[model.holonomic - len(imposed) : model.holonomic]
    return ChamberState(
        volume, pressure.at[imposed].set(-forces / chambers.area[imposed]), slope, gap
    )
