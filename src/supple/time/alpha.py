"""The α family: Newmark, HHT, WBZ-α and generalized-α as one scheme, and implicit Euler.

Within a step the coordinates x live in the chart around the configuration at its start:

    x = h v + h² ((½ - β) a* + β a*₊),   ẋ = v + h ((1 - γ) a* + γ a*₊),
    (1 - α_m) a*₊ + α_m a* = (1 - α_f) ẍ₊ + α_f ẍ,

with the balance taken at the end of the step. x is the unknown, so that ẋ and ẍ are affine in it.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.model.state import State
from supple.solve.lockstep import Lockstep, newton_in_lockstep
from supple.solve.newton import Kept, NewtonResult, NewtonSettings, newton
from supple.system.formulation import (
    AbstractFormulation,
    Discretization,
    Rates,
    with_implicit_derivative,
)
from supple.time.scheme import AbstractScheme, Step

DEFAULTS = NewtonSettings()


class _Memory(NamedTuple):
    """The auxiliary acceleration a*."""

    auxiliary: Float[Array, " nv"]


def solved(
    formulation: AbstractFormulation,
    d: Discretization,
    guess: Float[Array, " nv"],
    settings: NewtonSettings | Lockstep,
    kept: Kept | None = None,
) -> NewtonResult:
    """Newton from a guess of the displacement, beginning with factors kept from an earlier step."""
    lockstep = isinstance(settings, Lockstep)
    find: Any = (
        newton_in_lockstep if lockstep else partial(newton, kept=kept, descent=formulation.descent)
    )
    return find(
        lambda y: formulation.residual(d, y),
        lambda y, work: formulation.factorize(d, y, work),
        formulation.unknown(d, formulation.foreseen(d, guess)),
        formulation.scale,
        settings,
    )


@dataclass(frozen=True)
class GeneralizedAlpha(AbstractScheme):
    """Any member of the family by its four numbers; use the named constructors below.

    ``penalty`` (kg) augments closed loops by p Jᵀ Υ (000 §6.2.1), with its tangent p Jᵀ J. As the equations
    hold at the end of every step, it changes what the solver sees, not the motion.
    """

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    newton: NewtonSettings | Lockstep = DEFAULTS
    penalty: float = 0.0

    @property
    def order(self) -> int:
        return 2 if abs(self.gamma - 0.5 - self.alpha_f + self.alpha_m) < 1e-12 else 1

    @property
    def error_order(self) -> int:
        return 3

    @property
    def damps(self) -> bool:
        """Whether vibrations far too fast for the step die out; with closed loops they must."""
        return self.gamma > 0.5

    @property
    def guarded(self) -> bool:
        return self.damps

    def start(self, formulation: AbstractFormulation, state: State) -> _Memory:
        return _Memory(state.a)

    def _discretization(
        self, state: State, memory: _Memory, h: Float[Array, ""]
    ) -> tuple[Discretization, Float[Array, " nv"], Float[Array, ""]]:
        """The solve of a step; and the auxiliary acceleration at its end, a*₊ = a*₀ + c x."""
        v, a, auxiliary = state.v, state.a, memory.auxiliary
        am, af, beta, gamma = self.alpha_m, self.alpha_f, self.beta, self.gamma
        by_new = 1 / (beta * h**2)
        new = -by_new * (h * v + h**2 * (0.5 - beta) * auxiliary)
        rates = Rates(
            by_rate=gamma / (beta * h),
            by_change=(1 - am) / (1 - af) * by_new,
            velocity=v + h * ((1 - gamma) * auxiliary + gamma * new),
            acceleration=((1 - am) * new + am * auxiliary - af * a) / (1 - af),
            penalty=self.penalty,
        )
        return Discretization(state, state.t + h, rates), new, by_new

    def step(
        self,
        formulation: AbstractFormulation,
        state: State,
        memory: _Memory,
        h: Float[Array, ""],
        *,
        budget: Float[Array, ""] | None = None,
        differentiable: bool = False,
    ) -> Step:
        fixed, now, *rest = lax.stop_gradient((formulation, state, memory, h))
        solve, *_ = self._discretization(now, *rest)
        found = solved(fixed, solve, rest[1] * now.v + rest[1] ** 2 / 2 * now.a, self.newton)
        if differentiable:
            fixed, now, rest = formulation, state, [memory, h]
        d, first, by_new = self._discretization(now, *rest)
        root = with_implicit_derivative(fixed, d, found.x) if differentiable else found.x
        x = fixed.displacement(d, root)
        assert d.rates is not None
        xdot, xddot = d.rates.at(x)
        # Leading error of the displacement: h² (β - 1/6) times the change of acceleration.
        gap = h**2 * (self.beta - 1 / 6) * (xddot - state.a)
        return Step(
            state=fixed.state(d, root),
            memory=_Memory(fixed.rate_derivative(now.q, x, xdot, first + by_new * x)),
            converged=found.converged,
            iterations=found.iterations,
            update=found.update,
            worst=found.worst,
            error=formulation.error_norm(state, gap) if budget is not None else jnp.zeros(()),
        )


def _ratio(name: str, rho: float) -> float:
    if not 0.0 <= rho <= 1.0:
        raise DescriptionError(name, "rho_inf", rho, "a spectral radius in [0, 1]")
    return rho


def generalized_alpha(
    rho_inf: float = 0.8, newton: NewtonSettings = DEFAULTS, penalty: float = 0.0
) -> GeneralizedAlpha:
    """Chung-Hulbert scheme with spectral radius ``rho_inf`` at infinite frequency.

    ``penalty`` (kg) as in :class:`GeneralizedAlpha`; the mass of the robot is a good size.
    """
    rho = _ratio("generalized_alpha", rho_inf)
    if not 0.0 <= penalty < float("inf"):
        raise DescriptionError("generalized_alpha", "penalty", penalty, "a mass (kg) >= 0")
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 - am + af
    return GeneralizedAlpha(am, af, 0.25 * (1 - am + af) ** 2, gamma, newton, penalty)


def newmark(
    beta: float = 0.25, gamma: float = 0.5, newton: NewtonSettings = DEFAULTS
) -> GeneralizedAlpha:
    """Newmark's scheme; the default is the average acceleration, that is the trapezoidal rule."""
    if not 0 < beta <= 1 or not 0 < gamma <= 1:
        raise DescriptionError("newmark", "beta, gamma", (beta, gamma), "numbers in (0, 1]")
    return GeneralizedAlpha(0.0, 0.0, beta, gamma, newton)


def trapezoidal(newton: NewtonSettings = DEFAULTS) -> GeneralizedAlpha:
    """The trapezoidal rule on (q, v); the same as Newmark with β = ¼, γ = ½."""
    return newmark(newton=newton)


def hht(rho_inf: float = 0.8, newton: NewtonSettings = DEFAULTS) -> GeneralizedAlpha:
    """Hilber-Hughes-Taylor, α_m = 0; ``rho_inf`` in [½, 1]."""
    if not 0.5 <= rho_inf <= 1.0:
        raise DescriptionError("hht", "rho_inf", rho_inf, "a spectral radius in [0.5, 1]")
    alpha = (1 - rho_inf) / (1 + rho_inf)
    return GeneralizedAlpha(0.0, alpha, (1 + alpha) ** 2 / 4, 0.5 + alpha, newton)


def wbz(rho_inf: float = 0.8, newton: NewtonSettings = DEFAULTS) -> GeneralizedAlpha:
    """Wood-Bossak-Zienkiewicz, α_f = 0."""
    rho = _ratio("wbz", rho_inf)
    alpha = (rho - 1) / (rho + 1)
    return GeneralizedAlpha(alpha, 0.0, (1 - alpha) ** 2 / 4, 0.5 - alpha, newton)


@dataclass(frozen=True)
class ImplicitEuler(AbstractScheme):
    """First order, strongly damping: ẋ = x/h, ẍ = (ẋ - v)/h."""

    newton: NewtonSettings | Lockstep = DEFAULTS

    @property
    def order(self) -> int:
        return 1

    @property
    def error_order(self) -> int:
        return 2

    def start(self, formulation: AbstractFormulation, state: State) -> None:
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
        fixed, now, length = lax.stop_gradient((formulation, state, h))
        found = solved(fixed, _euler(now, length), length * now.v, self.newton)
        if differentiable:
            fixed, now, length = formulation, state, h
        d = _euler(now, length)
        root = with_implicit_derivative(fixed, d, found.x) if differentiable else found.x
        assert d.rates is not None
        gap = h**2 / 2 * d.rates.at(fixed.displacement(d, root))[1]
        return Step(
            state=fixed.state(d, root),
            memory=None,
            converged=found.converged,
            iterations=found.iterations,
            update=found.update,
            worst=found.worst,
            error=formulation.error_norm(state, gap) if budget is not None else jnp.zeros(()),
        )


def _euler(state: State, h: Float[Array, ""]) -> Discretization:
    rates = Rates(1 / h, 1 / h**2, jnp.zeros_like(state.v), -state.v / h)
    return Discretization(state, state.t + h, rates)
