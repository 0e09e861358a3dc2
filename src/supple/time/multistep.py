"""Backward differentiation: the history of a motion tells its rates (002 §2.2).

Let p be the polynomial through the new value y and the last ones, y₁ … y_k at the times τ₁ … τ_k before it.
Then

    (1 + α) (ẏ - p′) = α (ẏ₁ - p₁′),

with p₁′ its slope at y₁: ẏ = c₀ y + Σ c_i y_i + d ẏ₁. For equal steps and k = 2 this is BDF-α (Celaya and
José): BDF2 for α = 0, the trapezoidal rule for α = -½. With α = 0 and k = 3 it is BDF3. In this form steps
may change. It is used twice, for ẋ from x and for ẍ from ẋ, in the chart around the configuration at the
start of the step, into which the past is carried: so floating and spherical joints keep the order.

There is no past at the start, and after every restart. As long as it is too short, steps are those of the
trapezoidal rule, or of implicit Euler for formulations that do not know the acceleration to start with; both
are the same formula with k = 1 and its α.
"""

from dataclasses import dataclass
from math import factorial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float, Int

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.model.state import State
from supple.solve.lockstep import Lockstep
from supple.solve.newton import Kept, NewtonSettings
from supple.system.formulation import (
    AbstractFormulation,
    Discretization,
    Rates,
    with_implicit_derivative,
)
from supple.time.alpha import DEFAULTS, solved
from supple.time.scheme import AbstractScheme, Step


class _Past(NamedTuple):
    """States before the present one, newest first, of which ``known`` are real."""

    t: Float[Array, " k"]
    q: Float[Array, "k nq"]
    v: Float[Array, "k nv"]
    known: Int[Array, ""]
    kept: Kept | None = None
    """Factors of the last solve, for formulations in which they last from step to step."""


class _Formula(NamedTuple):
    """ẏ = c₀ y + Σ c_i y_i + d ẏ₁, a prediction y ≈ Σ e_i y_i + f ẏ₁, and how much of the gap is error."""

    new: Float[Array, ""]
    old: Float[Array, " k"]
    slope: Float[Array, ""]
    predicts: Float[Array, " k"]
    predicts_slope: Float[Array, ""]
    error: Float[Array, ""]


@dataclass(frozen=True)
class Multistep(AbstractScheme):
    """The formula above with ``past`` old values; use the named constructors below."""

    past: int
    alpha: float = 0.0
    newton: NewtonSettings | Lockstep = DEFAULTS

    @property
    def order(self) -> int:
        return self.past

    @property
    def error_order(self) -> int:
        return self.past + 1

    @property
    def damps(self) -> bool:
        """Whether vibrations far too fast for the step die out; with closed loops they must."""
        return self.alpha > -0.5

    @property
    def guarded(self) -> bool:
        """BDF3 amplifies some vibrations by itself; splitting steps cannot cure that."""
        return self.past < 3 and self.damps

    def start(self, formulation: AbstractFormulation, state: State) -> _Past:
        older = self.past - 1
        past = _Past(
            jnp.tile(state.t, older),
            jnp.tile(state.q, (older, 1)),
            jnp.tile(state.v, (older, 1)),
            jnp.zeros((), dtype=int),
        )
        if not self._keeps(formulation):
            return past

        def factors() -> Any:
            d, guess, _ = self._discretization(formulation, state, past, jnp.ones(()))
            y = formulation.unknown(d, guess)
            return formulation.factorize(d, y, formulation.residual(d, y)[1])

        none = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(factors))
        return past._replace(kept=Kept(none, jnp.zeros((), dtype=bool)))

    def _keeps(self, formulation: AbstractFormulation) -> bool:
        """Whether factors are kept from step to step."""
        return formulation.factors_last and isinstance(self.newton, NewtonSettings)

    def _formula(
        self, formulation: AbstractFormulation, memory: _Past, t: Array, h: Array
    ) -> _Formula:
        """The formula of a step of length h from time t, by how much of the past is known."""
        begins = _formula(h[None], -0.5 if formulation.starts_with_acceleration else 0.0)
        begins = jax.tree.map(lambda w: jnp.pad(w, (0, self.past - 1)) if w.ndim else w, begins)
        known = memory.known >= self.past - 1
        # What is not known must not divide by zero.
        older = jnp.where(known, h + t - memory.t, h * jnp.arange(2, self.past + 1))
        full = _formula(jnp.concatenate([h[None], older]), self.alpha)
        return jax.tree.map(lambda a, b: jnp.where(known, a, b), full, begins)

    def _discretization(
        self, formulation: AbstractFormulation, state: State, memory: _Past, h: Float[Array, ""]
    ) -> tuple[Discretization, Float[Array, " nv"], Float[Array, ""]]:
        """The solve of a step, a prediction of its displacement, and the share of the gap that is error."""
        w = self._formula(formulation, memory, state.t, h)
        places = jax.vmap(formulation.difference, (None, 0))(state.q, memory.q)
        speeds = jax.vmap(formulation.chart_rate, (None, 0, 0))(state.q, places, memory.v)
        history = w.old[1:] @ places + w.slope * state.v
        rates = Rates(
            by_rate=w.new,
            by_change=w.new**2,
            velocity=history,
            acceleration=w.new * history
            + w.old[0] * state.v
            + w.old[1:] @ speeds
            + w.slope * state.a,
        )
        guess = w.predicts[1:] @ places + w.predicts_slope * state.v
        return Discretization(state, state.t + h, rates), guess, w.error

    def step(
        self,
        formulation: AbstractFormulation,
        state: State,
        memory: _Past,
        h: Float[Array, ""],
        *,
        budget: Float[Array, ""] | None = None,
        differentiable: bool = False,
    ) -> Step:
        fixed, now, *rest = lax.stop_gradient((formulation, state, memory, h))
        d, guess, share = self._discretization(fixed, now, *rest)
        found = solved(fixed, d, guess, self.newton, memory.kept)
        kept = None if memory.kept is None else Kept(found.factors, found.converged)
        root = found.x
        if differentiable:
            fixed, now, rest = formulation, state, [memory, h]
            d, guess, share = self._discretization(fixed, now, *rest)
            root = with_implicit_derivative(fixed, d, found.x)
        error = jnp.zeros(())
        if budget is not None:
            gap = share * (fixed.displacement(d, root) - guess)
            error = formulation.error_norm(state, gap)

        def behind(newest: Array, older: Array) -> Array:
            return jnp.concatenate([newest[None], older])[: self.past - 1]

        return Step(
            state=fixed.state(d, root),
            memory=_Past(
                behind(now.t, rest[0].t),
                behind(now.q, rest[0].q),
                behind(now.v, rest[0].v),
                jnp.minimum(rest[0].known + 1, self.past - 1),
                kept,
            ),
            converged=found.converged,
            iterations=found.iterations,
            update=found.update,
            worst=found.worst,
            error=error,
        )


def _formula(ago: Float[Array, " k"], alpha: float) -> _Formula:
    """For old values so long ago (s).

    The prediction is the polynomial through the old values with the slope of the newest. With y⁽ᵏ⁺¹⁾ the
    first derivative that is not seen, p′ errs by y⁽ᵏ⁺¹⁾ Π τ / (k+1)! and the prediction by τ₁ times as much.
    """
    count = ago.shape[0]
    times = jnp.concatenate([jnp.zeros(1), -ago])
    at_new, at_old = _slopes(times, 0), _slopes(times, 1)
    ratio = alpha / (1 + alpha)
    weights = at_new - ratio * at_old
    # p with slope ẏ₁ at y₁: at_old · y = ẏ₁, solved for the new value.
    predicts = -at_old[1:] / at_old[0]
    unseen = jnp.prod(ago) / factorial(count + 1)
    unseen_old = -ago[0] * jnp.prod(ago[1:] - ago[0]) / factorial(count + 1)
    error = jnp.abs(unseen - ratio * unseen_old) / weights[0]
    gap = ago[0] * unseen
    return _Formula(
        weights[0], weights[1:], jnp.asarray(ratio), predicts, 1 / at_old[0], error / (error + gap)
    )


def _slopes(times: Float[Array, " n"], at: int) -> Float[Array, " n"]:
    """Weights of values at these times in the slope, at one of them, of the polynomial through them."""
    count = times.shape[0]
    others = [j for j in range(count) if j != at]
    own = sum((1 / (times[at] - times[j]) for j in others), start=jnp.zeros(()))
    found = {at: own}
    for i in others:
        top = [times[at] - times[j] for j in others if j != i]
        bottom = [times[i] - times[j] for j in range(count) if j != i]
        found[i] = jnp.prod(jnp.stack([jnp.ones(()), *top])) / jnp.prod(jnp.stack(bottom))
    return jnp.stack([found[i] for i in range(count)])


def bdf2(newton: NewtonSettings = DEFAULTS) -> Multistep:
    """Backward differentiation of second order; damps what it cannot resolve."""
    return Multistep(2, 0.0, newton)


def bdf_alpha(alpha: float = -0.2, newton: NewtonSettings = DEFAULTS) -> Multistep:
    """BDF-α, second order: from the trapezoidal rule (α = -½, no damping) to BDF2 (α = 0)."""
    if not -0.5 <= alpha <= 0.0:
        raise DescriptionError("bdf_alpha", "alpha", alpha, "a number in [-0.5, 0]")
    return Multistep(2, float(alpha), newton)


def bdf3(newton: NewtonSettings = DEFAULTS) -> Multistep:
    """Backward differentiation of third order.

    Unstable on undamped vibrations with 0 < ω h < 1.94: for damped robots, or steps far from resolving them.
    """
    return Multistep(3, 0.0, newton)
