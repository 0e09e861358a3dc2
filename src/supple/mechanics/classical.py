"""The equations of motion in their classical form: M(q) ẍ + C(q, ẋ) ẋ + … = G γ + …, as dense matrices.

For analyses and control of robots with a few hundred coordinates at most; solvers never form them.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import ArgumentError
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
from supple.model.model import Model
from supple.model.transmissions import no_transmissions


class EquationsOfMotion(NamedTuple):
    """M ẍ + C ẋ + own = G γ + driving, for a robot without equations; x are the coordinates about q.

    ``own`` are forces of elasticity and damping; ``driving`` those of tendons, chambers and motors with all
    loads but gravity γ (m/s²). Ṁ - 2 C is antisymmetric.
    """

    mass: Float[Array, "nv nv"]
    coriolis: Float[Array, "nv nv"]
    gravity: Float[Array, "nv 3"]
    own: Float[Array, " nv"]
    driving: Float[Array, " nv"]


def equations_of_motion(
    model: Model,
    q: Float[Array, " nq"],
    v: Float[Array, " nv"],
    t: Float[Array, ""] | float = 0.0,
) -> EquationsOfMotion:
    """The terms at a state.

    C has Christoffel's symbols, C_ij = ½ Σ_k (∂_k M_ij + ∂_j M_ik - ∂_i M_jk) v_k, the choice with which
    Ṁ - 2 C is antisymmetric.
    """
    if model.equations:
        need = "a robot without closed loops, imposed coordinates and stops"
        raise ArgumentError(f"model: got {model.equations} equations; need {need}")
    q, v, t = jnp.asarray(q), jnp.asarray(v), jnp.asarray(t, dtype=float)
    zero = jnp.zeros(model.nv)

    def mass_at(x: Float[Array, " nv"]) -> Float[Array, "nv nv"]:
        return inverse_dynamics_tangent(model, Coordinates(q, x, zero, zero, t)).mass

    def residual(own: Model, rate: Float[Array, " nv"], gravity: Array) -> Float[Array, " nv"]:
        changed = dataclasses.replace(own, gravity=gravity)
        return inverse_dynamics(changed, Coordinates(q, zero, rate, zero, t))

    slope = jax.jacfwd(mass_at)(zero)
    along = jnp.einsum("ijk,k->ij", slope, v)
    across = jnp.einsum("ikj,k->ij", slope, v)
    coriolis = 0.5 * (along + across - across.T)
    none = jnp.zeros(3)
    by_gravity = jax.jacfwd(lambda gravity: -residual(model, zero, gravity))(none)
    bare = dataclasses.replace(
        model, loads=(), line_loads=(), stresses=(), transmissions=no_transmissions()
    )
    own = residual(bare, v, none) - coriolis @ v
    driving = residual(bare, v, none) - residual(model, v, none)
    return EquationsOfMotion(mass_at(zero), coriolis, by_gravity, own, driving)
