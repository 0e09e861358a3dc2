"""Random robots: which of them are solved, which rightly refused, which fail.

Of each robot: its equilibrium, a run at steps of 10 ms whatever its periods, a run at an accuracy. A robot is
*solved* if all three are found; *refused* if it has no equilibrium and the library says why (a part that
floats, a motion that nothing holds, a load without bound, a loop that cannot be closed); else it *failed*.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from supple.bench.random_robots import STRUCTURES, class_of, random_robot
from supple.compile import jit
from supple.errors import ArgumentError, DescriptionError, SolveError
from supple.model.model import Model
from supple.model.state import State
from supple.results.result import Result
from supple.run.simulate import simulate
from supple.run.statics import equilibrium
from supple.time.energy_guard import stored_energy

STEP, STEPS = 0.01, 20
"""Of the run at fixed steps (s)."""
DURATION = 0.1
"""Of the run at an accuracy (s)."""
PATIENCE = 25.0
"""Seconds of computation after which a run is stopped."""
GAIN = 0.1
"""Energy gained, over the energy that was free to move, that is too much for a passive robot."""
REFUSED = ("NO_EQUILIBRIUM", "CANNOT_CLOSE")
LOCKED = "lock the robot where it is"


@dataclass(frozen=True)
class Row:
    """What became of one robot."""

    seed: int
    kind: str
    items: tuple[str, ...]
    n_dof: int
    verdict: str
    equilibrium: str
    dt_run: str
    accuracy_run: str
    wall_s: float
    energy_gain: float | None
    why: str

    @property
    def status(self) -> str:
        """Rows of failed robots make the command end with status 1."""
        return "FAILED" if self.verdict == "failed" else "DONE"

    def as_dict(self) -> dict[str, Any]:
        """Under the names of the printed rows."""
        values = asdict(self)
        return {"class" if key == "kind" else key: value for key, value in values.items()}


def run_random(count: int, first: int = 0, classes: list[str] | None = None) -> Iterator[Row]:
    """Rows of ``count`` robots, structure by structure, so that each is compiled once."""
    seeds = range(first, first + count)
    wanted = [s for s in seeds if not classes or class_of(s) in classes]
    for structure in range(STRUCTURES):
        for seed in wanted:
            if seed % STRUCTURES == structure:
                yield run_robot(seed)
        jax.clear_caches()  # programs of a structure are of no use to the next


def run_robot(seed: int) -> Row:
    """Everything about one robot."""
    begun = time.perf_counter()
    robot = random_robot(seed)
    items = tuple(sorted({type(item).__name__ for item in robot.items}))
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = robot.build()
        except (DescriptionError, SolveError) as error:
            wall = time.perf_counter() - begun
            state = "REFUSED"
            return Row(
                seed,
                class_of(seed),
                items,
                0,
                "failed",
                state,
                state,
                state,
                wall,
                None,
                str(error),
            )
        held = _tried(told, lambda: equilibrium(model, throw=False))
        fixed = _tried(told, lambda: _run(model, STEP * STEPS, dt=STEP))
        free = _tried(told, lambda: _run(model, DURATION))
    gain = energy_gain(model, fixed) if isinstance(fixed, Result) else None
    names = [x if isinstance(x, str) else x.status.name for x in (held, fixed, free)]
    if isinstance(fixed, Result) and not np.all(np.isfinite(fixed.q)):
        names[1] = "NAN"
    if gain is not None and gain > GAIN:
        told.append(f"energy gained: {gain:.3g}")
    refused = names[0] in REFUSED
    wanted = "CANNOT_CLOSE" if names[0] == "CANNOT_CLOSE" else "DONE"
    if refused and all(LOCKED in text for text in told):
        wanted = (
            "NOT_CONVERGED"  # a robot that nothing moves with finite forces does not run, either
        )
    runs = all(name == wanted for name in names[1:])
    good = runs and (refused or names[0] in ("CONVERGED", "RELAXED"))
    good = good and not (gain is not None and gain > GAIN)
    verdict = ("refused" if refused else "solved") if good else "failed"
    wall = time.perf_counter() - begun
    why = "; ".join(dict.fromkeys(told))
    state, stepped, controlled = names
    return Row(
        seed, class_of(seed), items, model.nv, verdict, state, stepped, controlled, wall, gain, why
    )


def _run(model: Model, duration: float, **options: Any) -> Result:
    """A run that is stopped when it takes too long."""
    begun = time.process_time()

    def impatient(t: float, count: int) -> None:
        if time.process_time() - begun > PATIENCE:
            raise KeyboardInterrupt

    return simulate(model, duration, progress=impatient, throw=False, **options)


def _tried(told: list[str], solve: Callable[[], Any]) -> Any:
    """The outcome, or the name of the error; tells why it is not what was wanted."""
    try:
        found = solve()
    except SolveError as error:
        told.append(str(error))
        return "CANNOT_CLOSE" if "cannot be closed" in str(error) else "SOLVE_ERROR"
    except ArgumentError as error:
        told.append(str(error))
        return "STATE_ERROR"
    if not found.ok:
        told.append(found.message)
    return found


def energy_gain(model: Model, result: Result) -> float | None:
    """Largest energy above that at the start, over what was free to move; None where something works."""
    ledger = None if result.cursor is None else result.cursor.ledger
    if ledger is None or model.prescribed.size or not np.isfinite(ledger.start):
        return None
    total, potential, parts = (np.asarray(x) for x in _stored(model, result.t, result.q, result.v))
    free = max(total[0] - potential.min(), 1e-8 * parts.max())
    return float((total - total[0]).max() / free)


@partial(jit, quick=True)
def _stored(model: Model, t: Any, q: Any, v: Any) -> Any:
    return jax.lax.map(
        lambda at: stored_energy(model, State(at[0], at[1], at[2], at[2])), (t, q, v)
    )
