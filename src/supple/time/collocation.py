"""Collocation (Gauss, Radau IIA) on the second-order form.

Unknowns are the accelerations a_i at the stages c_i of a step; with Butcher's A

    x_i = c_i h v + h² (A² a)_i,        ẋ_i = v + h (A a)_i,

and the balance holds at every stage. All stages are one batch. A simplified Newton iteration uses one
linearization (M, C, K) for the step; A and A² share their eigenvectors, so the iteration matrix falls apart
into n x n systems M + hμ C + h²μ² K, one for each eigenvalue μ of A (complex pairs once).

Closed loops add a multiplier at each stage for each equation Υ/h² = 0, and J to the systems; equations
between velocities are s/h = 0. Only schemes whose last stage is the end of the step (Radau) keep loops closed
there.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.mechanics.element_motion import Coordinates
from supple.model.state import State
from supple.solve.newton import NewtonSettings
from supple.system.combination import in_step, of_mass
from supple.system.formulation import AbstractFormulation
from supple.system.implicit import AbstractSolver, implicit_root
from supple.system.linear import System, mass_times
from supple.system.second_order import AbstractSecondOrder
from supple.time.scheme import AbstractScheme, Step, second_order
from supple.time.tableau import REAL, Tableau, collocation_tableau

DEFAULTS = NewtonSettings(tolerance=1e-10, max_iterations=15)
NEWTON_SHARE = 0.1
"""Part of a step's error budget that may come from ending the Newton iteration early."""
CLOSED_TOLERANCE = 1e-10
"""Loosest end of the Newton iteration with closed loops."""
ERROR_WEIGHT = 1.2
"""Scales the defect at the start of a step to the displacement error of a whole run; calibrated so that
the four rod benches err by about what was asked for."""
REFINEMENTS = 200
"""Most iterations for the derivatives of a step: where those of the step converge, a dozen do."""
UNREFINED = 1e-8
"""Last change of derivatives, relative, beyond which they are not found."""
ERROR_FILTERS = 2
"""How often the defect is damped. An unresolved vibration errs by its amplitude once, not at every
step; twice is enough to keep such vibrations from ruling the step."""


class _Memory(NamedTuple):
    """Stage accelerations of the last step, its length (zero at the start), the best predictor."""

    stages: Float[Array, "s n"]
    h: Float[Array, ""]
    best: Int[Array, ""]


class _Stages(NamedTuple):
    """The equations of one step in the accelerations, followed by the multipliers, of its stages."""

    tableau: Tableau
    formulation: AbstractSecondOrder
    state: State
    h: Float[Array, ""]

    def motions(
        self, stages: Float[Array, "s n"]
    ) -> tuple[Float[Array, "s nv"], Float[Array, "s nv"]]:
        """Local coordinates and their rates at the stages."""
        h, v, nodes = self.h, self.state.v, self.tableau.nodes[:, None]
        once = self.tableau.matrix @ stages[:, : self.formulation.nv]
        return nodes * h * v + h**2 * (self.tableau.matrix @ once), v + h * once

    def coordinates(self, stages: Float[Array, "s n"]) -> Coordinates:
        """Motions at all stages as one batch."""
        x, xdot = self.motions(stages)
        times = self.state.t + jnp.asarray(self.tableau.nodes) * self.h
        q = jnp.broadcast_to(self.state.q, (len(self.tableau.nodes), self.state.q.shape[0]))
        nv = self.formulation.nv
        multipliers = stages[:, nv:] if self.formulation.equations else None
        return Coordinates(q, x, xdot, stages[:, :nv], times, multipliers)

    def balances(self, stages: Float[Array, "s n"]) -> Any:
        """The balance at each stage, as one batch."""
        return jax.vmap(self.formulation.balance)(self.coordinates(stages))

    def residuals(self, states: Any) -> Float[Array, "s n"]:
        """Balance and equations at each stage."""
        power = np.where(self.formulation.of_velocities, 1, 2)
        return jnp.concatenate([states.residual, states.violation / self.h**power], axis=1)

    def differentiable(self, root: Float[Array, "s n"]) -> Float[Array, "s n"]:
        """Converged stages that carry derivatives, by the implicit function theorem.

        The exact derivative of all stages is applied, never formed: the iteration that solves a step solves
        this linear system, too.
        """
        fixed, given = lax.stop_gradient((root, self[1:]))
        frozen = _Stages(self.tableau, *given)
        corrector = _corrector(frozen, fixed, frozen.balances(fixed))

        def residuals(stages: Float[Array, "s n"]) -> Float[Array, "s n"]:
            return self.residuals(self.balances(stages))

        return implicit_root(residuals, fixed, _Refining(corrector, frozen))


class _Refining(AbstractSolver):
    """By the iteration that solves a step, until the exact equations are fulfilled."""

    corrector: Any
    problem: _Stages

    def _correct(self, left: Float[Array, "s n"]) -> Float[Array, "s n"]:
        return -self.corrector.solve(self.problem, left)

    def solve(self, product: Any, right: Float[Array, "s n"]) -> Float[Array, "s n"]:
        return _refined(product, self._correct, right)

    def solve_transposed(self, product: Any, right: Float[Array, "s n"]) -> Float[Array, "s n"]:
        return _refined(
            product, lambda left: jax.linear_transpose(self._correct, right)(left)[0], right
        )


def _refined(product: Any, correct: Any, right: Float[Array, "s n"]) -> Float[Array, "s n"]:
    """Solution of a linear system by an approximate inverse; NaN where it does not lead there."""

    def going(known: tuple[Any, ...]) -> Bool[Array, ""]:
        _, change, before, tries = known
        size = jnp.max(jnp.abs(change), initial=0.0)
        return (tries < 2) | ((tries < REFINEMENTS) & (size < before))

    def once(known: tuple[Any, ...]) -> tuple[Any, ...]:
        x, change, _, tries = known
        x = x + change
        size = jnp.max(jnp.abs(change), initial=0.0)
        return x, correct(right - product(x)), size, tries + 1

    first = jnp.zeros_like(right), correct(right), jnp.asarray(jnp.inf), 0
    x, change, _, _ = lax.while_loop(going, once, first)
    size = jnp.max(jnp.abs(change), initial=0.0)
    good = size <= UNREFINED * jnp.max(jnp.abs(x), initial=0.0)
    return jnp.where(good, x, jnp.nan)


class _Corrector(NamedTuple):
    """One linearization, factorized, and turned to each stage."""

    mass: System
    factors: tuple[Any, ...]
    turns: Any

    def solve(self, problem: _Stages, defect: Float[Array, "s n"]) -> Float[Array, "s n"]:
        """Newton correction of the stages."""
        formulation, tab = problem.formulation, problem.tableau
        defect = formulation.turn_force(self.turns, defect)
        power = np.where(formulation.of_velocities, -1, -2)
        total = jnp.zeros_like(defect)
        for value, row, column, factors in zip(
            tab.eigenvalues, tab.rows, tab.columns, self.factors, strict=True
        ):
            mu = value.real if abs(value.imag) < REAL else value
            share = np.concatenate([np.ones(formulation.nv), mu**power])
            term = column[:, None] * factors.solve(share * (row @ defect))
            total = total + (term if abs(value.imag) < REAL else 2 * term.real)
        return -formulation.turn_rate(self.turns, total)

    def damped(
        self, formulation: AbstractSecondOrder, defect: Float[Array, " nv"]
    ) -> Float[Array, " nv"]:
        """A defect of acceleration with its stiff parts damped."""
        first, nv, rows = self.factors[0], formulation.nv, formulation.equations
        dtype = first.solve(jnp.zeros(nv + rows)).dtype

        def damp(_: Any, defect: Float[Array, " nv"]) -> Float[Array, " nv"]:
            force = jnp.pad(mass_times(self.mass, defect), (0, rows))
            return first.solve(force.astype(dtype)).real[:nv]

        return lax.fori_loop(0, ERROR_FILTERS, damp, defect)


def _corrector(problem: _Stages, guess: Float[Array, "s n"], states: Any) -> _Corrector:
    """Linearized about the middle stage of a guess, from the balances there.

    The equations of eigenvalue μ are those of a step with δẋ = a δx, a = 1/(hμ), δẍ = a² δx; those between
    coordinates are divided by μ², those between velocities by μ.
    """
    tab, h = problem.tableau, problem.h
    c = problem.coordinates(guess)
    middle = len(tab.nodes) // 2
    values = [value.real if abs(value.imag) < REAL else value for value in tab.eigenvalues]
    steps = [in_step(1 / (h * mu), 1 / (h * mu) ** 2) for mu in values]
    there, state = jax.tree.map(lambda part: part[middle], (c, states))
    mass, *systems = problem.formulation.linearize(there, state, (of_mass(), *steps))
    turns = problem.formulation.stage_turns(states, middle)
    return _Corrector(mass, tuple(system.factorize() for system in systems), turns)


class _Loop(NamedTuple):
    stages: Float[Array, "s n"]
    corrector: _Corrector
    update: Float[Array, ""]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]
    failed: Bool[Array, ""]
    worst: Int[Array, ""]


@dataclass(frozen=True)
class Collocation(AbstractScheme):
    """Gauss or Radau IIA with 2 or 3 stages; use :func:`gauss` and :func:`radau`."""

    family: str
    stages: int
    newton: NewtonSettings = DEFAULTS

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

    @property
    def guarded(self) -> bool:
        return self.family == "radau"

    @property
    def tableau(self) -> Tableau:
        """The scheme's constants."""
        return collocation_tableau(self.family, self.stages)

    def start(self, formulation: AbstractFormulation, state: State) -> _Memory:
        if second_order(self, formulation).equations and self.family == "gauss":
            need = "radau(): Gauss does not keep loops closed at the ends of steps"
            raise DescriptionError("Collocation", "family", self.family, need)
        still = jnp.tile(_unknowns(state), (self.stages, 1))
        return _Memory(still, jnp.zeros(()), jnp.zeros((), dtype=int))

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
        tab, formulation = self.tableau, second_order(self, formulation)
        problem = _Stages(tab, *lax.stop_gradient((formulation, state, h)))
        guesses = lax.stop_gradient(self._predictions(state, memory, h))
        guess = guesses[lax.stop_gradient(memory.best)]
        tolerance = jnp.asarray(self.newton.tolerance)
        if budget is not None:
            # Loops stay closed to round-off, whatever the accuracy of the motion.
            loosest = CLOSED_TOLERANCE if formulation.equations else 1e-4
            tolerance = jnp.clip(NEWTON_SHARE * budget, 1e-12, loosest)
        end = self._iterate(problem, guess, tolerance, batched=differentiable)
        stages, corrector = end.stages, end.corrector
        if differentiable:
            stages = _Stages(tab, formulation, state, h).differentiable(stages)
        misses = jax.vmap(lambda g: jnp.max(self._measure(problem, stages - g)))(guesses)
        error = jnp.zeros(())
        if budget is not None:
            # The stages' polynomial should pass through the known acceleration at the start.
            defect = jnp.asarray(tab.start) @ stages[:, : formulation.nv] - state.a
            gap = corrector.damped(formulation, defect)
            error = formulation.size_of(ERROR_WEIGHT * h**2 * gap, corrector.mass)
        return Step(
            state=self._finish(formulation, state, stages, h),
            memory=_Memory(stages, h, jnp.argmin(misses)),
            converged=end.converged,
            iterations=end.iterations,
            update=end.update,
            worst=end.worst,
            error=error,
        )

    def _measure(self, problem: _Stages, delta: Float[Array, "s n"]) -> Float[Array, " nv"]:
        """What a change of the accelerations moves, in units of the coordinates' scales."""
        scale = problem.formulation.coordinate_scale
        moved = jnp.max(jnp.abs(delta[:, : problem.formulation.nv]), axis=0)
        return moved * problem.h**2 / (2 * scale)

    def _iterate(
        self,
        problem: _Stages,
        guess: Float[Array, "s n"],
        tolerance: Float[Array, ""],
        *,
        batched: bool,
    ) -> _Loop:
        """Simplified Newton; linearizes in its first pass, so that the balance is compiled only once.

        A batch would take both branches of that choice in every pass: there it is made beforehand.
        """
        # Traced once, for the shapes and for the loop.
        balances = jax.jit(problem.balances, inline=True)
        linearized = jax.jit(
            lambda stages, states: _corrector(problem, stages, states), inline=True
        )

        def going(s: _Loop) -> Bool[Array, ""]:
            return ~s.converged & ~s.failed & (s.iterations < self.newton.max_iterations)

        def once(s: _Loop) -> _Loop:
            states = balances(s.stages)
            first, corrector = s.iterations == 0, s.corrector
            if not batched:
                corrector = lax.cond(first, lambda: linearized(s.stages, states), lambda: corrector)
            delta = corrector.solve(problem, problem.residuals(states))
            moved = self._measure(problem, delta)
            update = jnp.max(moved)
            contraction = jnp.where(first, 0.1, update / jnp.maximum(s.update, 1e-300))
            left = contraction / jnp.maximum(1 - contraction, 1e-3) * update
            grows = ~first & (contraction >= 2.0) & (update > tolerance)
            return _Loop(
                stages=s.stages + delta,
                corrector=corrector,
                update=update,
                iterations=s.iterations + 1,
                converged=(left <= tolerance) & (contraction < 1),
                failed=grows | ~jnp.isfinite(update),
                worst=jnp.argmax(moved),
            )

        none, no = jnp.zeros((), dtype=int), jnp.zeros((), dtype=bool)
        if batched:
            corrector = linearized(guess, balances(guess))
        else:
            shapes = jax.eval_shape(lambda: linearized(guess, balances(guess)))
            corrector = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        start = _Loop(guess, corrector, jnp.zeros(()), none, no, no, none)
        return lax.while_loop(going, once, start)

    def _finish(
        self,
        formulation: AbstractSecondOrder,
        state: State,
        stages: Float[Array, "s n"],
        h: Float[Array, ""],
    ) -> State:
        tab, nv = self.tableau, formulation.nv
        stages, forces = stages[:, :nv], stages[:, nv:]
        multipliers = jnp.asarray(tab.end) @ forces if formulation.equations else None
        x = h * state.v + h**2 * jnp.asarray(tab.weights @ tab.matrix) @ stages
        xdot = state.v + h * (jnp.asarray(tab.weights) @ stages)
        xddot = jnp.asarray(tab.end) @ stages
        return formulation.state_at(Coordinates(state.q, x, xdot, xddot, state.t + h, multipliers))

    def _predictions(
        self, state: State, memory: _Memory, h: Float[Array, ""]
    ) -> Float[Array, "k s n"]:
        """Stages from fits of falling degree to the last step's, extrapolated.

        High degrees are right for motions that the steps resolve, low ones where unresolved
        vibrations would be amplified; whichever was best at the last step is used at the next.
        """
        nodes = self.tableau.nodes
        ratio = h / jnp.where(memory.h > 0, memory.h, 1.0)
        points = 1 + jnp.asarray(nodes) * ratio
        fits = []
        for degree in range(self.stages - 1, -1, -1):
            fit = np.linalg.pinv(np.vander(nodes, degree + 1, increasing=True))
            powers = jnp.stack([points**k for k in range(degree + 1)], axis=1)
            fits.append(powers @ (jnp.asarray(fit) @ memory.stages))
        extrapolated = jnp.stack(fits)
        constant = jnp.broadcast_to(_unknowns(state), extrapolated.shape)
        return jnp.where((memory.h > 0) & (ratio < 3), extrapolated, constant)


def _unknowns(state: State) -> Float[Array, " n"]:
    """Acceleration and multipliers as one vector."""
    if state.multipliers is None:
        return state.a
    return jnp.concatenate([state.a, state.multipliers])


def gauss(stages: int = 3, newton: NewtonSettings = DEFAULTS) -> Collocation:
    """Gauss collocation: order 2s, conserves quadratic invariants, no numerical damping."""
    return Collocation("gauss", stages, newton)


def radau(stages: int = 3, newton: NewtonSettings = DEFAULTS) -> Collocation:
    """Radau IIA: order 2s - 1, damps what the step cannot resolve."""
    return Collocation("radau", stages, newton)
