"""Linear systems of a robot, by its structure: one seam for every solver.

The matrix is [[A, Pᵀ], [J, Y]], with A a combination of M, C and K, J the derivatives of the equations, P
the directions of their multipliers and Y what equations yield to their own ones.
"""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Inexact

from supple.arrays import Array
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import Balance, balance, element_stiffness
from supple.mechanics.inverse_dynamics_tangent import block_diagonal, tangent_of
from supple.model.model import Model
from supple.system.blocks import is_state
from supple.system.combination import Combination, of_mass
from supple.system.dense import DenseFactors, Factors, factorize_dense
from supple.system.elimination import LinearSystem, linear_system
from supple.system.fronts import assemble
from supple.system.kkt import saddle
from supple.system.plan import Plan
from supple.system.planner import MOST_RIDERS, make_plan, structure_of
from supple.system.update import UpdatedSystem

SMALL = 64
"""Unknowns up to which one dense matrix is the fastest."""


class DenseSystem(eqx.Module):
    """A small linear system, as one matrix."""

    matrix: Inexact[Array, "n n"]

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.matrix.shape[0]

    def apply(self, vector: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
        """The product of the matrix with a vector."""
        return self.matrix @ vector

    def factorize(self) -> DenseFactors:
        """Its factors."""
        return factorize_dense(self.matrix)


FELL_BACK = "dense (the elimination along the graph had poor pivots)"
"""What a model says that was told to use dense matrices; of at most so many unknowns:"""
LARGEST_DENSE = 2000

System = DenseSystem | LinearSystem | UpdatedSystem


def is_small(model: Model) -> bool:
    """Whether a robot has so few unknowns that one dense matrix is the fastest."""
    return model.nv + model.equations <= SMALL


def with_dense_systems(model: Model) -> Model | None:
    """A model that uses dense matrices instead of the elimination along its graph.

    None where it does anyhow, or where these would be too large.
    """
    if plan_of(model) is None or model.nv + model.equations > LARGEST_DENSE:
        return None
    return dataclasses.replace(model, linear=FELL_BACK)


def plan_of(model: Model) -> Plan | None:
    """The order of elimination; None where one dense matrix is used."""
    if is_small(model) or model.linear == FELL_BACK:
        return None
    return make_plan(structure_of(model))


def linear_kind(model: Model) -> str:
    """How linear systems of a robot are solved, and where that is not along its graph, why not."""
    if plan_of(model) is not None:
        return "structured"
    if is_small(model):
        return "dense (small)"
    if model.linear == FELL_BACK:
        return FELL_BACK
    return f"dense (more than {MOST_RIDERS} unknowns are shared at one place)"


def linearize(
    model: Model, c: Coordinates, state: Balance, combinations: tuple[Combination, ...]
) -> list[System]:
    """Linear systems at a motion, one for each combination; ``state`` is the balance there."""
    model = model.with_lengths_at(c.t)
    plan = plan_of(model)
    if plan is not None:
        return [linear_system(part) for part in assemble(model, plan, c, state, combinations)]
    return dense_systems(model, c, state, combinations)


def dense_systems(
    model: Model, c: Coordinates, state: Balance, combinations: tuple[Combination, ...]
) -> list[System]:
    """The same, each as one matrix."""
    tangent = tangent_of(model, c, state)
    systems: list[System] = []
    for one in combinations:
        inner = one.block((tangent.mass, tangent.damping, tangent.stiffness))
        if one.elastic is not None:
            blocks = [element_stiffness(model, i)[None] for i in range(len(model.groups))]
            inner = inner + one.elastic * block_diagonal(model, blocks)[0]
        if not one.in_motion and any(is_state(group) for group in model.groups):
            units = [np.full(g.size * g.nv, float(is_state(g))) for g in model.groups]
            inner = inner + np.diag(np.concatenate(units))
        closing = tangent.constraint_jacobian(one.by_rate) if one.in_motion else tangent.jacobian
        yields = one.by_change * tangent.compliance
        systems.append(DenseSystem(saddle(inner, closing, tangent.force_jacobian, yields)))
    return systems


def factorize(model: Model, c: Coordinates, state: Balance, combination: Combination) -> Factors:
    """Factors of one linear system at a motion."""
    return linearize(model, c, state, (combination,))[0].factorize()


def mass_system(model: Model, q: Inexact[Array, " nq"]) -> System:
    """The mass matrix at a configuration."""
    zero = jnp.zeros(model.nv)
    multipliers = jnp.zeros(model.equations) if model.equations else None
    c = Coordinates(q, zero, zero, zero, jnp.zeros(()), multipliers)
    return linearize(model, c, balance(model, c), (of_mass(),))[0]


def mass_times(mass: System, change: Inexact[Array, " nv"]) -> Inexact[Array, " nv"]:
    """M e, from the linear system of M and the equations."""
    nv = change.shape[0]
    return mass.apply(jnp.pad(change, (0, mass.size - nv)))[:nv]
