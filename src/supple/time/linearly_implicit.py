"""The linearly implicit Euler scheme: one linear system a step, no iteration (003, eqs. 9 and 21).

With forces f(q, v), which hold Coriolis forces and inputs, and everything evaluated at the start of the step,

    (M + h C + h² K) Δv = h f - h² K v,    v₊ = v + Δv,    q₊ = q + h v₊,    C = -∂f/∂v,    K = -∂f/∂q.

It is implicit Euler with its equations linearized at the start; stable for stiff springs and dampers, and of
first order.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.mechanics.element_motion import Coordinates
from supple.model.state import State
from supple.system.combination import in_step
from supple.system.formulation import AbstractFormulation
from supple.time.scheme import AbstractScheme, Step, second_order


@dataclass(frozen=True)
class LinearlyImplicitEuler(AbstractScheme):
    """First order, one linear system a step; equations between coordinates are linearized, too."""

    @property
    def order(self) -> int:
        return 1

    @property
    def error_order(self) -> int:
        return 2

    def start(self, formulation: AbstractFormulation, state: State) -> None:
        if np.any(second_order(self, formulation).of_velocities):
            need = "an implicit scheme, such as ImplicitEuler(), for knife edges and rolling"
            raise DescriptionError("LinearlyImplicitEuler", "scheme", self, need)
        return None

    def step(
        self,
        formulation: AbstractFormulation,
        state: State,
        memory: None,
        h: Float[Array, ""],
        *,
        budget: Float[Array, ""] | None = None,
        differentiable: bool = False,
    ) -> Step:
        formulation = second_order(self, formulation)
        n, zero = formulation.nv, jnp.zeros_like(state.v)
        here = Coordinates(state.q, zero, state.v, zero, state.t, state.multipliers)

        def equations(x: Float[Array, " nv"]) -> tuple[Float[Array, " nv_and_n"], Any]:
            found = formulation.balance(here._replace(x=x))
            return jnp.concatenate([h**2 * found.residual, found.violation]), found

        # At q + h v to first order: the equations now and what K and J make of the way there.
        now, ahead, work = jax.jvp(equations, (zero,), (h * state.v,), has_aux=True)
        system = formulation.linearize(here, work, (in_step(1 / h, 1 / h**2),))[0]
        change = -system.factorize().solve(now + ahead)
        speed = state.v + change[:n] / h
        forces = state.multipliers
        reached = Coordinates(
            state.q,
            h * speed,
            speed,
            change[:n] / h**2,
            state.t + h,
            None if forces is None else forces + change[n:] / h**2,
        )
        error = jnp.zeros(())
        if budget is not None:  # as of implicit Euler
            error = formulation.error_norm(state, h**2 / 2 * reached.xddot)
        moved = jnp.abs(reached.x / formulation.coordinate_scale)
        # As an explicit step: one that turns the robot by a radian has blown up.
        good = jnp.all(jnp.isfinite(change)) & (jnp.max(moved) < 1.0)
        return Step(
            state=formulation.state_at(reached),
            memory=None,
            converged=good,
            iterations=jnp.ones((), dtype=int),
            update=jnp.zeros(()),
            worst=jnp.argmax(moved),
            error=error,
        )
