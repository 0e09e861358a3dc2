"""One-sided equations that are let go: in place of their gap their multiplier must vanish."""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.model.constraints import COMPLIANCE
from supple.model.model import Model


def activity(model: Model) -> Float[Array, " n"] | None:
    """1 for equations that hold, 0 for those let go; None where all hold."""
    if model.active is None:
        return None
    table = model.constraints
    return jnp.ones(table.size).at[table.one_sided].set(jnp.asarray(model.active.held, dtype=float))


def relieved(
    model: Model, gaps: Float[Array, " n"], multipliers: Float[Array, " m"] | None
) -> Float[Array, " n"]:
    """Violations of the equations, or of the first n of them: gaps, or multipliers of those let go."""
    held = activity(model)
    if held is None or model.active is None:
        return gaps
    held = held[: len(gaps)]
    forces = jnp.zeros(()) if multipliers is None else multipliers[: len(gaps)]
    kept = gaps.at[model.constraints.one_sided].add(-jnp.asarray(model.active.offset))
    return jnp.where(held > 0, kept, COMPLIANCE * forces)


def relieved_rates(model: Model, rates: Float[Array, " n"]) -> Float[Array, " n"]:
    """Rates of the equations, or of their rates: zero for those let go."""
    held = activity(model)
    return rates if held is None else held[: len(rates)] * rates


def relieved_rows(
    model: Model, jacobian: Float[Array, "n m"]
) -> tuple[Float[Array, "n m"], Float[Array, " n"]]:
    """Derivatives of the violations by coordinates, and of each by its own multiplier (m/N)."""
    held = activity(model)
    if held is None:
        return jacobian, jnp.zeros(jacobian.shape[0])
    return held[:, None] * jacobian, COMPLIANCE * (1 - held)
