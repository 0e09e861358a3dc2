"""Collocation (Gauss, Radau IIA) on the second-order form.

Unknowns are the accelerations a_i at the stages c_i of a step; with Butcher's A

    x_i = c_i h v + h² (A² a)_i,        ẋ_i = v + h (A a)_i,

and the balance holds at every stage. All stages are one batch. A simplified Newton iteration uses one
linearisation (M, C, K) for the step; A and A² share their eigenvectors, so the iteration matrix falls apart
into n x n systems M + hμ C + h²μ² K, one for each eigenvalue μ of A (complex pairs once).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from supple.errors import DescriptionError
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
from supple.mechanics.local import Coordinates, rate, rate_derivative, retract
from supple.mechanics.turning import stage_turns, turn_force, turn_rate
from supple.mechanics.size import error_norm
from supple.model.model import Model
from supple.model.state import State
from supple.solve.newton import NewtonSettings, factorise
from supple.time.scheme import AbstractScheme, Step


NEWTON_SHARE = 0.1
"""Part of a step's error budget that may come from ending the Newton iteration early."""


class Tableau(NamedTuple):
    """Butcher tableau with what the step needs besides, all from the nodes c alone."""

    nodes: np.ndarray
    matrix: np.ndarray
    weights: np.ndarray
    eigenvalues: np.ndarray
    """One of each complex pair."""
    eigenvectors: np.ndarray
    inverse: np.ndarray
    defect: np.ndarray
    """Weights on (acceleration at the start, stages) of their disagreement with a polynomial."""


def collocation_tableau(nodes: np.ndarray) -> Tableau:
    """Collocation tableau of the nodes in [0, 1]."""
    count = len(nodes)
    vandermonde = np.vander(nodes, count, increasing=True)
    powers = np.arange(1, count + 1)
    integrals = nodes[:, None] ** powers / powers
    matrix = integrals @ np.linalg.inv(vandermonde)
    weights = (1.0 / powers) @ np.linalg.inv(vandermonde)
    values, vectors = np.linalg.eig(matrix)
    keep = values.imag >= -1e-12
    values, vectors = values[keep], vectors[:, keep]
    real = np.abs(values.imag) < 1e-12
    # Rows of the inverse that belong to the kept eigenvectors.
    full_values, full_vectors = np.linalg.eig(matrix)
    full_inverse = np.linalg.inv(full_vectors)
    rows = [int(np.argmin(np.abs(full_values - value))) for value in values]
    order = np.argsort(~real)
    extrapolation = np.linalg.solve(vandermonde.T, np.eye(count)[0])  # polynomial at t = 0
    return Tableau(
        nodes,
        matrix,
        weights,
        values[order],
        full_vectors[:, rows][:, order],
        full_inverse[rows][order],
        np.concatenate([[-1.0], extrapolation]),
    )


class _Memory(NamedTuple):
    """Stage accelerations of the last step and its length; zero length at the start."""

    stages: Float[Array, "s nv"]
    h: Float[Array, ""]


class _Loop(NamedTuple):
    stages: Float[Array, "s nv"]
    update: Float[Array, ""]
    rate: Float[Array, ""]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]
    failed: Bool[Array, ""]
    worst: Int[Array, ""]


@dataclass(frozen=True)
class Collocation(AbstractScheme):
    """Gauss or Radau IIA with 2 or 3 stages; use :func:`gauss` and :func:`radau`."""

    family: str
    stages: int
    newton: NewtonSettings = NewtonSettings(tolerance=1e-9, max_iterations=15)

    def __post_init__(self) -> None:
        if self.family not in ("gauss", "radau"):
            raise DescriptionError("Collocation", "family", self.family, "'gauss' or 'radau'")
        if self.stages not in (2, 3):
            raise DescriptionError("Collocation", "stages", self.stages, "2 or 3")

    @property
    def order(self) -> int:
        return 2 * self.stages - (self.family == "radau")

    @property
    def error_order(self) -> int:
        return self.stages + 2

    @cached_property
    def tableau(self) -> Tableau:
        """The scheme's constants."""
        if self.family == "gauss":
            nodes = (np.polynomial.legendre.leggauss(self.stages)[0] + 1) / 2
        else:
            nodes = np.array(
                {2: [1 / 3, 1.0], 3: [(4 - np.sqrt(6)) / 10, (4 + np.sqrt(6)) / 10, 1.0]}[
                    self.stages
                ]
            )
        return collocation_tableau(nodes)

    def start(self, model: Model, state: State) -> _Memory:
        return _Memory(jnp.tile(state.a, (self.stages, 1)), jnp.zeros(()))

    def step(
        self,
        model: Model,
        state: State,
        memory: _Memory,
        h: Float[Array, ""],
        *,
        budget: Float[Array, ""] | None = None,
    ) -> Step:
        tab = self.tableau
        nodes = jnp.asarray(tab.nodes)
        scale = jnp.asarray(model.scale)

        def motions(stages: Float[Array, "s nv"]) -> tuple[Any, Any]:
            once = tab.matrix @ stages
            x = nodes[:, None] * h * state.v + h**2 * (tab.matrix @ once)
            return x, state.v + h * once

        def residuals(stages: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
            x, xdot = motions(stages)

            def one(x, xdot, xddot, c):  # type: ignore[no-untyped-def]
                return inverse_dynamics(model, Coordinates(state.q, x, xdot, xddot, state.t + c * h))

            return jax.vmap(one)(x, xdot, stages, nodes)

        guess = self._predict(state, memory, h)
        x, xdot = motions(guess)
        middle = self.stages // 2
        tangent = inverse_dynamics_tangent(
            model,
            Coordinates(state.q, x[middle], xdot[middle], guess[middle], state.t + nodes[middle] * h),
        )
        factors = []
        for value in tab.eigenvalues:
            mu = value.real if abs(value.imag) < 1e-12 else value
            matrix = tangent.mass + (h * mu) * tangent.damping + (h * mu) ** 2 * tangent.stiffness
            factors.append(factorise(matrix))

        turns = stage_turns(model, state.q, x, middle)

        def correct(stages: Float[Array, "s nv"]) -> Float[Array, "s nv"]:
            defect = turn_force(turns, residuals(stages))
            total = jnp.zeros_like(stages)
            for k, value in enumerate(tab.eigenvalues):
                single = abs(value.imag) < 1e-12
                row, column = tab.inverse[k], tab.eigenvectors[:, k]
                if single:
                    row, column = row.real, column.real
                part = factors[k].solve(row @ defect)
                term = column[:, None] * part
                total = total + (term if single else 2 * term.real)
            return -turn_rate(turns, total)

        tolerance = self.newton.tolerance
        if budget is not None:
            tolerance = jnp.clip(NEWTON_SHARE * budget, 1e-12, 1e-4)
        # Displacements matter, not accelerations: measure updates by what they move.
        mobility = h**2 * jnp.asarray(tab.weights @ tab.matrix)

        def measure(delta: Float[Array, "s nv"]) -> Float[Array, " nv"]:
            return jnp.max(jnp.abs(h**2 * delta / scale), axis=0) * 0.5

        def going(s: _Loop) -> Bool[Array, ""]:
            return ~s.converged & ~s.failed & (s.iterations < self.newton.max_iterations)

        def iterate(s: _Loop) -> _Loop:
            delta = correct(s.stages)
            moved = measure(delta)
            update = jnp.max(moved)
            first = s.iterations == 0
            contraction = jnp.where(first, 0.1, update / jnp.maximum(s.update, 1e-300))
            left = contraction / jnp.maximum(1 - contraction, 1e-3) * update
            converged = (left <= tolerance) & (contraction < 1)
            grows = ~first & (contraction >= 2.0) & (update > tolerance)
            return _Loop(
                stages=s.stages + delta,
                update=update,
                rate=contraction,
                iterations=s.iterations + 1,
                converged=converged,
                failed=grows | ~jnp.isfinite(update),
                worst=jnp.argmax(moved),
            )

        zero = jnp.zeros(())
        start = _Loop(
            guess,
            zero,
            zero,
            jnp.zeros((), dtype=int),
            jnp.zeros((), dtype=bool),
            jnp.zeros((), dtype=bool),
            jnp.zeros((), dtype=int),
        )
        end = lax.while_loop(going, iterate, start)
        stages = end.stages
        x_end = h * state.v + mobility @ stages
        xdot_end = state.v + h * (jnp.asarray(tab.weights) @ stages)
        a_end = stages[-1] if self.family == "radau" else _extrapolate(tab.nodes, stages, 1.0)
        after = State(
            state.t + h,
            retract(model, state.q, x_end),
            rate(model, state.q, x_end, xdot_end),
            rate_derivative(model, state.q, x_end, xdot_end, a_end),
        )
        # Disagreement of the known acceleration at the start with the stages, damped where stiff.
        gap = tab.defect[0] * state.a + jnp.asarray(tab.defect[1:]) @ stages
        filtered = factors[0].solve((tangent.mass @ gap).astype(factors[0].lu.dtype)).real
        return Step(
            state=after,
            memory=_Memory(stages, h),
            converged=end.converged & jnp.all(jnp.isfinite(stages)),
            iterations=end.iterations,
            update=end.update,
            worst=end.worst,
            error=error_norm(model, h**2 * self._error_weight * filtered, tangent.mass),
        )

    @property
    def _error_weight(self) -> float:
        """Scales the defect to the size of the scheme's displacement error; see the docs."""
        return 0.02

    def _predict(
        self, state: State, memory: _Memory, h: Float[Array, ""]
    ) -> Float[Array, "s nv"]:
        """Stages by extrapolating the last step's polynomial, or the start's acceleration."""
        ratio = h / jnp.where(memory.h > 0, memory.h, 1.0)
        points = 1 + jnp.asarray(self.tableau.nodes) * ratio
        extrapolated = _lagrange(self.tableau.nodes, points) @ memory.stages
        constant = jnp.broadcast_to(state.a, extrapolated.shape)
        return jnp.where((memory.h > 0) & (ratio < 3), extrapolated, constant)


def _lagrange(nodes: np.ndarray, points: Float[Array, " p"]) -> Float[Array, "p s"]:
    """Values at ``points`` of the Lagrange polynomials of ``nodes``."""
    columns = []
    for i, node in enumerate(nodes):
        others = np.delete(nodes, i)
        columns.append(jnp.prod((points[:, None] - others) / (node - others), axis=1))
    return jnp.stack(columns, axis=1)


def _extrapolate(
    nodes: np.ndarray, stages: Float[Array, "s nv"], point: float
) -> Float[Array, " nv"]:
    return (_lagrange(nodes, jnp.array([point])) @ stages)[0]


def gauss(stages: int = 3, newton: NewtonSettings | None = None) -> Collocation:
    """Gauss collocation: order 2s, conserves quadratic invariants, no numerical damping."""
    return Collocation("gauss", stages, newton or NewtonSettings(1e-9, 15))


def radau(stages: int = 3, newton: NewtonSettings | None = None) -> Collocation:
    """Radau IIA: order 2s - 1, damps what the step cannot resolve."""
    return Collocation("radau", stages, newton or NewtonSettings(1e-9, 15))
