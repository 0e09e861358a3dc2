"""The linearly implicit Euler scheme: one linear system a step, no iteration (003, eqs. 9 and 21).

With forces f(q, v), which hold Coriolis forces and inputs, and everything evaluated at the start of the step,

    (M + h C + h² K) Δv = h f - h² K v,    v₊ = v + Δv,    q₊ = q + h v₊,    C = -∂f/∂v,    K = -∂f/∂q.

It is implicit Euler with its equations linearized at the start; stable for stiff springs and dampers, and of
first order. Solved is for the displacement x = h v₊, with the same matrix and no product with K:

    (M + h C + h² K) x = h² f + h (M + h C) v.
"""

from dataclasses import dataclass
from functools import partial
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
from supple.system.second_order import AbstractSecondOrder
from supple.time.scheme import AbstractScheme, Step, second_order, step_without_iteration


@dataclass(frozen=True)
class LinearlyImplicitEuler(AbstractScheme):
    """First order, one linear system a step; equations between coordinates are linearized, too.

    With ``hold_friction`` the friction laws of joints and motors are constant within a step, as 003 has dry
    friction: their slopes stay out of the matrix. That is stable only as long as a step does not reverse a
    motion that friction holds; viscous ``damping`` is always linearized.
    """

    hold_friction: bool = False

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
        # Only the slopes are left out: what the step itself depends on is not, for derivatives of it.
        sloped = formulation.with_friction_held() if self.hold_friction else formulation
        n, zero, v = formulation.nv, jnp.zeros_like(state.v), state.v
        here = Coordinates(state.q, zero, v, zero, state.t, state.multipliers)

        def equations(
            xdot: Float[Array, " nv"], xddot: Float[Array, " nv"], of: AbstractSecondOrder
        ) -> tuple[Float[Array, " nv_and_n"], Any]:
            found = of.balance(here._replace(xdot=xdot, xddot=xddot))
            return jnp.concatenate([h**2 * found.residual, found.violation]), found

        # The residual is linear in ẍ, and poses do not depend on either: the derivative costs little.
        along = partial(equations, of=sloped)
        now, back, work = jax.jvp(along, (v, zero), (v, v / h), has_aux=True)
        if self.hold_friction:
            now, _ = equations(v, zero, formulation)
        system = sloped.linearize(here, work, (in_step(1 / h, 1 / h**2),))[0]
        found = -system.factorize().solve(now - back)
        speed, forces = found[:n] / h, state.multipliers
        reached = Coordinates(
            state.q,
            found[:n],
            speed,
            (speed - v) / h,
            state.t + h,
            None if forces is None else forces + found[n:] / h**2,
        )
        gap = None if budget is None else h**2 / 2 * reached.xddot  # as of implicit Euler
        return step_without_iteration(formulation, state, reached, gap)
