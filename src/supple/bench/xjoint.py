"""The tendon-driven X-joint robots of 003: cost and error of a controlled motion, and largest stable steps.

The error is the largest distance of the top bar from a run with Radau IIA of order 5 on the same instants,
over the height of the robot. Stability: a run of the scheme alone, without splitting of steps, from a
disturbed rest under constant torques; the largest step with which it stays bounded is found by bisection.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from supple.bench.rods import Row, on_one_core
from supple.compile import jit
from supple.model.state import State
from supple.results.result import Result
from supple.robots.bird_neck import DIAGONAL, DRUM, DURATION, GEAR, PERIOD, bird_neck
from supple.run.simulate import simulate
from supple.system.forward_dynamics import forward_dynamics
from supple.system.strain import Strain
from supple.time.collocation import radau
from supple.time.explicit import Explicit
from supple.time.linearly_implicit import LinearlyImplicitEuler
from supple.time.scheme import AbstractScheme

HELD = 1.0
"""Seconds for which a scheme must stay bounded."""
HOLDING = 20.0
"""Tension (N) of the disturbed rest."""
DISTURBED = 0.1
"""Angle of all joints (rad) at its start."""
FAR = 50.0
"""Angles (rad) that say that a run has blown up; drums turn by a few."""
SHORTEST, LONGEST, HALVINGS = 1e-5, 2e-2, 8
"""Steps (s) between which a limit is looked for, and how often they are bisected."""


@dataclass(frozen=True)
class Case:
    """A robot and how it is integrated; the accuracy asked for, or the step of the controller."""

    name: str
    joints: int
    elastic: bool
    scheme: AbstractScheme | None
    accuracy: float | None = None


def _cases() -> Iterator[Case]:
    for joints in (3, 4):
        for elastic in (True, False):
            kind = "elastic" if elastic else "rigid"
            name = f"{joints}-joints-{kind}-linearly-implicit-euler"
            yield Case(name, joints, elastic, LinearlyImplicitEuler())
    yield Case("3-joints-elastic-uncontrolled", 3, True, None, accuracy=1e-3)
    yield Case("3-joints-limit-explicit-euler", 3, True, Explicit("euler"))
    yield Case("4-joints-limit-explicit-euler", 4, True, Explicit("euler"))
    yield Case("3-joints-limit-linearly-implicit-euler", 3, True, LinearlyImplicitEuler())
    yield Case("4-joints-limit-linearly-implicit-euler", 4, True, LinearlyImplicitEuler())


CASES = {case.name: case for case in _cases()}


@dataclass(frozen=True)
class LimitRow:
    """The largest step with which a scheme stays bounded; None beyond what is looked at."""

    case: str
    n_dof: int
    largest_step_s: float | None
    wall_s: float
    preset: str = "limit"
    looked_up_to_s: float = LONGEST
    simulated_s: float = HELD
    status: str = "DONE"

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return asdict(self)


def run_xjoint(cases: list[str] | None = None, repeats: int = 5) -> Iterator[Row | LimitRow]:
    """Run the benches; wall times are the best of ``repeats`` warm runs on one core."""
    for name in cases or CASES:
        case = CASES[name]
        yield _limit(case) if "limit" in name else _timed(case, repeats)


def holding(joints: int) -> tuple[float, ...]:
    """Torques (N m) with which all tendons pull alike at rest."""
    return (HOLDING * DRUM / GEAR,) * (joints + 1)


def _timed(case: Case, repeats: int) -> Row:
    controlled = case.accuracy is None
    torques = None if controlled else holding(case.joints)
    robot = bird_neck(case.joints, torques, elastic=case.elastic, controlled=controlled)
    model = robot.build()
    options: dict[str, Any] = {"accuracy": case.accuracy, "t_eval": 0.05}
    if controlled:
        options = {"dt": PERIOD, "scheme": case.scheme}
    start = None if controlled else _disturbed(case.joints, model.nq)
    run: Callable[[], Result] = lambda: simulate(
        model, DURATION, initial=start, **options, throw=False
    )
    begun = time.perf_counter()
    result = run()
    cold = time.perf_counter() - begun
    walls = []
    with on_one_core():
        for _ in range(repeats):
            begun = time.perf_counter()
            result = run()
            walls.append(time.perf_counter() - begun)
    wall, steps = min(walls), int(result.stats.steps)
    fine: dict[str, Any] = {"dt": PERIOD} if controlled else {"dt": 1e-3, "t_eval": 0.05}
    exact = simulate(model, DURATION, initial=start, scheme=radau(), **fine, throw=False)
    top = f"top {case.joints}"
    apart = np.linalg.norm(result.position(top) - exact.position(top), axis=1)
    return Row(
        case=case.name,
        preset="2ms" if controlled else f"{case.accuracy:g}",
        n_dof=model.nv,
        steps=steps,
        compile_s=cold - wall,
        wall_s=wall,
        simulated_s=DURATION,
        ratio=wall / DURATION,
        tip_error=float(apart.max() / (case.joints * DIAGONAL)),
        newton_per_step=float(np.sum(result.newton)) / max(steps, 1),
        status=result.status.name,
    )


def _disturbed(joints: int, count: int) -> np.ndarray:
    q = np.zeros(count)
    q[:joints] = DISTURBED
    return q


@lru_cache(maxsize=8)
def _bounded(scheme: AbstractScheme, joints: int) -> Callable[[float], bool]:
    """Whether a scheme stays bounded with a step."""
    formulation = Strain(bird_neck(joints, holding(joints)).build())
    n = formulation.nv
    first = _disturbed(joints, n)

    @jit
    def runs(h: Any) -> Any:
        q, v = jnp.asarray(first), jnp.zeros(n)
        state = State(jnp.zeros(()), q, v, forward_dynamics(formulation.model, q, v))

        def going(state: State) -> Any:
            fine = jnp.all(jnp.isfinite(state.q)) & (jnp.max(jnp.abs(state.q)) < FAR)
            return fine & (state.t < HELD)

        def step(state: State) -> State:
            found = scheme.step(formulation, state, None, h).state
            return jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), found, state)

        return lax.while_loop(going, step, state).t >= HELD

    return lambda h: bool(runs(jnp.asarray(h)))


def largest_step(scheme: AbstractScheme, joints: int) -> float:
    """The largest step (s) with which a scheme stays bounded; infinite beyond what is looked at."""
    bounded = _bounded(scheme, joints)
    if bounded(LONGEST):
        return float("inf")
    low, high = np.log(SHORTEST), np.log(LONGEST)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if bounded(float(np.exp(middle))) else (low, middle)
    return float(np.exp(low))


def _limit(case: Case) -> LimitRow:
    """One row of a stability limit."""
    assert case.scheme is not None
    begun = time.perf_counter()
    step = largest_step(case.scheme, case.joints)
    wall = time.perf_counter() - begun
    return LimitRow(case.name, 2 * case.joints + 1, step if np.isfinite(step) else None, wall)
