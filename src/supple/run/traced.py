"""Equilibria where something is traced: in a gradient, a batch, a program of the user's.

Numbers cannot be looked at there, so nothing is refined, repeated or raised: the rods have the modes that the
description resolves to, and status and residual are numbers in the result, one for each member of a batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from supple.errors import ArgumentError
from supple.mechanics.element_motion import neutral
from supple.mechanics.regulation import read_at_rest
from supple.model.model import Model
from supple.model.state import State
from supple.robot.formulations import formulation_of, second_order_of
from supple.run.assembly import ways_of
from supple.run.equilibrium import Equilibrium
from supple.run.hosted import hosted
from supple.run.stability import Stability
from supple.solve.equilibrium import (
    EquilibriumSolution,
    EquilibriumStatus,
    relax,
    solve_equilibrium,
)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        *("model", "q", "multipliers", "t", "status"),
        *("increments", "iterations", "residual", "load_factor"),
    ],
    meta_fields=["message", "description", "refinements", "known_error", "left"],
)
@dataclass(frozen=True, eq=False)
class TracedEquilibrium(Equilibrium):
    """A static solution as arrays, differentiable, with all that can be read of an equilibrium.

    ``status`` is a number; ``sp.EquilibriumStatus(int(status))`` is its name.
    """

    q: Any
    multipliers: Any
    t: Any
    status: Any
    increments: Any
    iterations: Any
    residual: Any
    load_factor: Any

    def __repr__(self) -> str:
        return f"TracedEquilibrium({self.model.name!r}, status {self.status}, q {self.q})"

    @property
    def ok(self) -> Any:
        """Whether an equilibrium was found."""
        return self.status == EquilibriumStatus.CONVERGED

    @property
    def error(self) -> float:
        """Not known: nothing is compared with finer rods where something is traced."""
        return float("nan")

    @property
    def stability(self) -> Stability:
        """Refused: what to do about it could not depend on it."""
        raise ArgumentError(
            "stability: got an equilibrium that was traced; need sp.equilibrium of a robot of numbers"
        )

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at rest, with nothing growing or driven."""
        zero = jnp.zeros(self.model.nv)
        state = State(self.t, self.q, zero, zero, self.multipliers)
        return read_at_rest(quantity, fixed, self.model, state)


def traced_equilibrium(
    model: Model, initial: Any, t: Any, first_increment: float
) -> TracedEquilibrium:
    """Where a model rests, as a pure function."""
    if hosted(model):
        raise ArgumentError(
            f"equilibrium: got a traced {model.name!r} with formulation={model.formulation!r}; need 'strain' "
            "or 'pcs', which can be differentiated and batched"
        )
    q = (
        jnp.asarray(neutral(model))
        if initial is None
        else jnp.asarray(getattr(initial, "q", initial))
    )
    if q.shape != (model.nq,):
        raise ArgumentError(
            f"initial: got shape {q.shape}; need {model.nq} coordinates, a state or an equilibrium of "
            f"{model.name!r}"
        )
    now = jnp.asarray(t, dtype=float)
    found = resting(model, q, now, first_increment)
    return at_rest(model, found, now)


def at_rest(model: Model, found: EquilibriumSolution, t: Any) -> TracedEquilibrium:
    """What can be read of a solution inside a program."""
    return TracedEquilibrium(
        model=model,
        q=found.q,
        multipliers=found.multipliers,
        t=t,
        status=found.status,
        message="computed in a program that was traced",
        increments=found.increments,
        iterations=found.iterations,
        residual=found.residual,
        load_factor=found.load_factor,
    )


def resting(model: Model, q: Any, t: Any, first_increment: float) -> EquilibriumSolution:
    """The equilibrium near a configuration; with equations between coordinates by relaxing first."""
    formulation = formulation_of(model)
    if not model.holonomic:
        return solve_equilibrium(formulation, q, t, first_increment)
    # The way there has no derivative, where it ends has.
    still, q, now = lax.stop_gradient((model, q, t))
    rest = relax(second_order_of(still, "traced equilibria"), q, now, ways_of(still))
    found = solve_equilibrium(formulation, rest.q, t, 1.0, rest.multipliers)
    lost = jnp.where(rest.came_to_rest, found.status, EquilibriumStatus.NOT_CONVERGED)
    return found._replace(status=lost)
