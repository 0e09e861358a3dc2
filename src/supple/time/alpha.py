"""The α family: Newmark, HHT, WBZ-α and generalized-α as one scheme, and implicit Euler.

Within a step the coordinates x live in the chart around the configuration at its start:

    x = h v + h² ((½ - β) a* + β a*₊),   ẋ = v + h ((1 - γ) a* + γ a*₊),
    (1 - α_m) a*₊ + α_m a* = (1 - α_f) ẍ₊ + α_f ẍ,

with the balance taken at the end of the step. x is the unknown, so that ẋ and ẍ are affine in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.mechanics.inverse_dynamics import Balance, balance, violation
from supple.mechanics.inverse_dynamics_tangent import tangent_of
from supple.mechanics.local import Coordinates, rate_derivative, retract
from supple.model.model import Model
from supple.model.state import State
from supple.solve.newton import NewtonResult, NewtonSettings, newton, with_derivative
from supple.system.combination import in_step
from supple.system.dense import Factors, factorize_dense
from supple.system.error_norm import error_norm
from supple.system.kkt import saddle
from supple.system.linear import factorize, mass_system
from supple.time.scheme import AbstractScheme, Step, state_at

DEFAULTS = NewtonSettings()


class _Memory(NamedTuple):
    """The auxiliary acceleration a*."""

    auxiliary: Float[Array, " nv"]


class _Problem(NamedTuple):
    """The equations of one step in x and, with closed loops, the multipliers; ẋ, ẍ are affine in x.

    The balance is divided by δẍ/δx (of order 1/h²) and the multipliers are scaled with it, so that the
    matrix [[M + …, Jᵀ], [J, 0]] keeps its size however short the step.
    """

    model: Model
    motion: Callable[[Float[Array, " nv"]], tuple[Coordinates, Float[Array, " nv"]]]
    by_rate: Float[Array, ""]
    """δẋ / δx."""
    by_change: Float[Array, ""]
    """δẍ / δx."""
    penalty: float = 0.0
    """Weight (kg) p of the augmented Lagrangian: y holds λ - p Υ instead of λ, both over δẍ/δx."""

    def coordinates(self, y: Float[Array, " n"]) -> Coordinates:
        """The motion at the end of the step."""
        nv = self.model.nv
        c = self.motion(y[:nv])[0]
        if self.model.equations == 0:
            return c
        scaled = y[nv:]
        if self.penalty and self.model.holonomic:
            gap = violation(self.model, retract(self.model, c.q, c.x), c.t)
            scaled = scaled.at[: len(gap)].add(self.penalty * gap)
        return c._replace(multipliers=self.by_change * scaled)

    def unknowns(
        self, x: Float[Array, " nv"], multipliers: Float[Array, " m"] | None
    ) -> Float[Array, " n"]:
        """Local coordinates and scaled multipliers as one vector."""
        if multipliers is None:
            return x
        return jnp.concatenate([x, multipliers / self.by_change])

    def residual(self, y: Float[Array, " n"]) -> tuple[Float[Array, " n"], Balance]:
        """Balance and closures at the end of the step."""
        state = balance(self.model, self.coordinates(y))
        m, gap = self.model.holonomic, state.violation
        # Speeds that must vanish are divided by δẋ/δx, as the balance by δẍ/δx.
        parts = [state.residual / self.by_change, gap[:m], gap[m:] / self.by_rate]
        return jnp.concatenate(parts), state

    def linearise(self, y: Float[Array, " n"], state: Balance) -> Factors:
        """The factorized derivative of the equations by the unknowns."""
        if self.penalty:
            return factorize_dense(self.matrix(y, state))
        combination = in_step(self.by_rate, self.by_change)
        return factorize(self.model, self.coordinates(y), state, combination)

    def matrix(self, y: Float[Array, " n"], state: Balance) -> Float[Array, "n n"]:
        """The derivative of the equations by the unknowns, as one dense matrix."""
        tangent = tangent_of(self.model, self.coordinates(y), state)
        soft = tangent.stiffness + self.by_rate * tangent.damping
        m = self.model.holonomic
        inner = tangent.mass + soft / self.by_change
        if self.penalty:
            inner = inner + self.penalty * tangent.pushes[:m].T @ tangent.jacobian[:m]
        yields = self.by_change * tangent.yields
        return saddle(inner, tangent.closing(self.by_rate), tangent.pushes, yields)

    def solve(
        self, guess: Float[Array, " nv"], state: State, settings: NewtonSettings
    ) -> NewtonResult:
        """Newton from a guess of x and the multipliers at hand; only x is tested for convergence."""
        free = jnp.full(self.model.equations, jnp.inf)
        scale = jnp.concatenate([jnp.asarray(self.model.scale), free])
        start = self.unknowns(guess, state.multipliers)
        return newton(self.residual, self.linearise, start, scale, settings)

    def differentiable(self, root: Float[Array, " n"]) -> Float[Array, " n"]:
        """A root that carries derivatives."""
        fixed = lax.stop_gradient(root)
        left, state = self.residual(fixed)
        return with_derivative(root, left, self.linearise(fixed, state))

    def after(self, root: Float[Array, " n"]) -> State:
        """The state at the end of the step."""
        return state_at(self.model, self.coordinates(root))


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
    newton: NewtonSettings = DEFAULTS
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

    def start(self, model: Model, state: State) -> _Memory:
        return _Memory(state.a)

    def _problem(
        self, model: Model, state: State, memory: _Memory, h: Float[Array, ""]
    ) -> "_Problem":
        v, a, auxiliary = state.v, state.a, memory.auxiliary
        am, af, beta, gamma = self.alpha_m, self.alpha_f, self.beta, self.gamma

        def motion(x: Float[Array, " nv"]) -> tuple[Coordinates, Float[Array, " nv"]]:
            new = (x - h * v - h**2 * (0.5 - beta) * auxiliary) / (beta * h**2)
            xdot = v + h * ((1 - gamma) * auxiliary + gamma * new)
            xddot = ((1 - am) * new + am * auxiliary - af * a) / (1 - af)
            return Coordinates(state.q, x, xdot, xddot, state.t + h), new

        by_change = (1 - am) / (1 - af) / (beta * h**2)
        by_rate = gamma / (beta * h)
        return _Problem(model.at(state.t + h), motion, by_rate, by_change, self.penalty)

    def step(
        self,
        model: Model,
        state: State,
        memory: _Memory,
        h: Float[Array, ""],
        *,
        budget: Float[Array, ""] | None = None,
        differentiable: bool = False,
    ) -> Step:
        fixed = self._problem(*lax.stop_gradient((model, state, memory, h)))
        now = lax.stop_gradient(state)
        guess = h * now.v + h**2 / 2 * now.a
        found = fixed.solve(guess, now, self.newton)
        problem = self._problem(model, state, memory, h) if differentiable else fixed
        root = problem.differentiable(found.x) if differentiable else found.x
        c, new = problem.motion(root[: model.nv])
        # Leading error of the displacement: h² (β - 1/6) times the change of acceleration.
        gap = h**2 * (self.beta - 1 / 6) * (c.xddot - state.a)
        return Step(
            state=problem.after(root),
            memory=_Memory(rate_derivative(model, c.q, c.x, c.xdot, new)),
            converged=found.converged,
            iterations=found.iterations,
            update=found.update,
            worst=found.worst,
            error=_error(model, gap, state) if budget is not None else jnp.zeros(()),
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

    newton: NewtonSettings = DEFAULTS

    @property
    def order(self) -> int:
        return 1

    @property
    def error_order(self) -> int:
        return 2

    def start(self, model: Model, state: State) -> None:
        return None

    def _problem(self, model: Model, state: State, h: Float[Array, ""]) -> _Problem:
        def motion(x: Float[Array, " nv"]) -> tuple[Coordinates, Float[Array, " nv"]]:
            xddot = (x / h - state.v) / h
            return Coordinates(state.q, x, x / h, xddot, state.t + h), xddot

        return _Problem(model.at(state.t + h), motion, 1 / h, 1 / h**2)

    def step(
        self,
        model: Model,
        state: State,
        memory: None,
        h: Float[Array, ""],
        *,
        budget: Float[Array, ""] | None = None,
        differentiable: bool = False,
    ) -> Step:
        fixed = self._problem(*lax.stop_gradient((model, state, h)))
        now = lax.stop_gradient(state)
        found = fixed.solve(h * now.v, now, self.newton)
        problem = self._problem(model, state, h) if differentiable else fixed
        root = problem.differentiable(found.x) if differentiable else found.x
        c, _ = problem.motion(root[: model.nv])
        gap = h**2 / 2 * c.xddot
        return Step(
            state=problem.after(root),
            memory=None,
            converged=found.converged,
            iterations=found.iterations,
            update=found.update,
            worst=found.worst,
            error=_error(model, gap, state) if budget is not None else jnp.zeros(()),
        )


def _error(model: Model, gap: Float[Array, " nv"], state: State) -> Float[Array, ""]:
    return error_norm(model, gap, mass_system(model, state.q))
