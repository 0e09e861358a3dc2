"""Explicit schemes through diffrax: Euler, classical Runge-Kutta 4, Dormand-Prince 5(4).

For comparison and for soft or purely rigid robots; stiff rods force them to tiny steps. They too work in the
chart around each step's start, so floating orientations keep the full order.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.mechanics.element_motion import Coordinates
from supple.model.state import State
from supple.system.formulation import AbstractFormulation
from supple.time.scheme import AbstractScheme, Step, second_order, step_without_iteration

ORDERS = {"euler": 1, "rk4": 4, "dopri5": 5}


@dataclass(frozen=True)
class Explicit(AbstractScheme):
    """An explicit scheme by name: "euler", "rk4" or "dopri5" (the one with error control)."""

    method: str = "dopri5"

    def __post_init__(self) -> None:
        if self.method not in ORDERS:
            raise DescriptionError("Explicit", "method", self.method, f"one of {tuple(ORDERS)}")

    @property
    def order(self) -> int:
        return ORDERS[self.method]

    @property
    def error_order(self) -> int:
        return self.order

    @cached_property
    def solver(self) -> Any:
        """The diffrax solver."""
        import diffrax  # slow to import and rarely needed

        if self.method == "euler":
            return diffrax.Euler()
        if self.method == "dopri5":
            return diffrax.Dopri5()
        classical = diffrax.ButcherTableau(
            c=np.array([0.5, 0.5, 1.0]),
            a_lower=(np.array([0.5]), np.array([0.0, 0.5]), np.array([0.0, 0.0, 1.0])),
            b_sol=np.array([1, 2, 2, 1]) / 6,
            b_error=np.array([1, 2, 2, 1]) / 6 - np.array([0.0, 1.0, 0.0, 0.0]),
        )

        class RungeKutta4(diffrax.AbstractERK):
            """The classical fourth-order scheme; its error is measured against the midpoint rule."""

            tableau: ClassVar[Any] = classical
            interpolation_cls: ClassVar[Any] = (
                diffrax.ThirdOrderHermitePolynomialInterpolation.from_k
            )

            def order(self, terms: Any) -> int:
                return 4

        return RungeKutta4()

    def start(self, formulation: AbstractFormulation, state: State) -> None:
        if second_order(self, formulation).equations:
            need = "an implicit scheme, such as generalized_alpha() or radau(), for closed loops"
            raise DescriptionError("Explicit", "method", self.method, need)
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
        import diffrax

        formulation = second_order(self, formulation)
        n = formulation.nv

        def field(t: Any, y: Float[Array, " m"], _: None) -> Float[Array, " m"]:
            motion = Coordinates(state.q, y[:n], y[n:], jnp.zeros(n), t)
            return jnp.concatenate([y[n:], formulation.forward_dynamics(motion)])

        term = diffrax.ODETerm(field)
        start = jnp.concatenate([jnp.zeros(n), state.v])
        end = state.t + h
        memory_ = self.solver.init(term, state.t, end, start, None)
        y, y_error, _, _, _ = self.solver.step(
            term, state.t, end, start, None, memory_, made_jump=False
        )
        reached = Coordinates(state.q, y[:n], y[n:], field(end, y, None)[n:], end)
        gap = None
        if budget is not None:
            gap = jnp.zeros(n) if y_error is None else y_error[:n]
        return step_without_iteration(formulation, state, reached, gap)
