"""Linear systems of a robot, by its structure: one seam for every solver."""

from typing import Protocol

from jaxtyping import Inexact

from supple.arrays import Array
from supple.mechanics.inverse_dynamics import Balance
from supple.mechanics.inverse_dynamics_tangent import tangent_of
from supple.mechanics.local import Coordinates
from supple.mechanics.saddle import saddle
from supple.model.model import Model
from supple.solve.newton import factorise
from supple.system.combination import Combination
from supple.system.elimination import linear_system
from supple.system.fronts import assemble
from supple.system.plan import Plan, make_plan, structure_of

SMALL = 64
"""Unknowns up to which one dense matrix is the fastest."""


class LinearFactors(Protocol):
    """A factorized linear system of coordinates and multipliers."""

    def solve(self, right: Inexact[Array, " n"], /) -> Inexact[Array, " n"]:
        """Its solution."""


def plan_of(model: Model) -> Plan | None:
    """The order of elimination; None where one dense matrix is used."""
    if model.nv + model.equations <= SMALL or model.transmissions.size:
        return None
    return make_plan(structure_of(model))


def factorize(
    model: Model, c: Coordinates, state: Balance, combination: Combination
) -> LinearFactors:
    """Factors of [[A, Pᵀ], [J, Y]] at a motion, with A the combination of M, C and K."""
    plan = plan_of(model)
    if plan is not None:
        return linear_system(assemble(model, plan, c, state, combination)).factorize()
    tangent = tangent_of(model, c, state)
    inner = combination.mass * tangent.mass + combination.stiffness * tangent.stiffness
    if combination.in_motion:
        inner = inner + combination.damping * tangent.damping
    closing = tangent.closing(combination.by_rate) if combination.in_motion else tangent.jacobian
    yields = combination.by_change * tangent.yields
    return factorise(saddle(inner, closing, tangent.pushes, yields))
