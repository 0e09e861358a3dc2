"""Where one Newton iteration of a step goes: residual, tangent, factors, solution.

Each part is timed as a program that ends after it, so that the difference of two is what a part adds;
programs repeat themselves inside one loop, which leaves out the call. Operations and bytes are those that XLA
counts for the compiled program, and instructions those of its text, loops counted once. The machine's peak is
measured with a product of matrices, a copy within the cache and one beyond it, on one core.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from supple.bench import fleet, growth
from supple.bench.rods import on_one_core
from supple.compile import jit
from supple.model.model import Model
from supple.robot.formulations import second_order_of
from supple.robot.robot import Robot
from supple.robots.rfrfr import rfrfr
from supple.system.combination import in_step
from supple.system.formulation import Discretization, Rates
from supple.time.alpha import generalized_alpha

DT = 0.01
PARTS = ("residual", "tangent", "factors", "solution")
CASES: dict[str, Callable[[], Robot]] = {
    "cantilever": fleet.cantilever,
    "rfrfr": rfrfr,
    "tendon-robot": fleet.TENDONS,
    "stewart-gough": fleet.LEGS,
    "chain-32": partial(growth.chain, 32),
}
"""The robots of the fleet bench, and one whose linear systems are solved along its graph."""


@dataclass(frozen=True)
class Cost:
    """What XLA counts in a compiled program."""

    flops: float
    bytes: float
    instructions: int


@dataclass(frozen=True)
class Row:
    """One part of one robot's iteration; ``upto`` is the program that ends after the part."""

    case: str
    n_dof: int
    part: str
    us: float
    share: float
    upto_us: float
    flops: float
    bytes: float
    instructions: int
    gflops: float
    gbytes_s: float
    of_peak: float
    """Operations a second over the machine's peak."""
    of_bandwidth: float
    """Bytes a second over those of a copy within the cache."""
    status: str = "DONE"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def iteration(model: Model, part: str = "solution") -> tuple[Callable[[Any], Any], Any]:
    """One Newton iteration of a step of generalized-α up to a part, and the unknown that it begins with."""
    formulation = second_order_of(model, "profile")
    start = formulation.any_state()
    scheme = generalized_alpha()
    by_rate, by_change = 1 / (DT / 2), 1 / (scheme.beta * DT**2)
    still = jnp.zeros(formulation.nv)
    d = Discretization(start, start.t + DT, Rates(by_rate, by_change, still, still))
    y0 = formulation.unknown(d, jnp.full(formulation.nv, 1e-3) * formulation.coordinate_scale)

    def run(y: Any) -> Any:
        value, work = formulation.residual(d, y)
        if part == "residual":
            return value
        c = formulation.coordinates(d, y)
        (system,) = formulation.linearize(c, work, (in_step(by_rate, by_change),))
        if part == "tangent":
            return value, system
        factors = system.factorize()
        if part == "factors":
            return value, factors
        return y - factors.solve(value)

    return run, y0


def cost(model: Model, part: str = "solution") -> Cost:
    """Operations, bytes and instructions of an iteration up to a part; the same each time."""
    run, y0 = iteration(model, part)
    return counted(jit(lambda y: _leaves(run(y))).lower(y0).compile())


def counted(compiled: Any) -> Cost:
    """What XLA counts in a program."""
    found = compiled.cost_analysis()
    found = found[0] if isinstance(found, list) else found
    lines = [line.strip() for line in compiled.as_text().splitlines()]
    work = [line for line in lines if " = " in line and " parameter(" not in line]
    return Cost(float(found["flops"]), float(found["bytes accessed"]), len(work))


def _leaves(found: Any) -> list[Any]:
    return [x for x in jax.tree.leaves(found) if hasattr(x, "dtype")]


def timed(model: Model, repeats: int, rounds: int) -> list[float]:
    """Seconds of an iteration up to each part: the best of some loops, in turns."""
    loops = []
    for part in PARTS:
        run, y0 = iteration(model, part)

        def again(y: Any, _: Any, run: Callable[[Any], Any] = run) -> Any:
            # All of it is used, and nothing is changed by more than round-off.
            total = sum(jnp.sum(jnp.where(jnp.isfinite(x), x, 0.0)) for x in _numbers(run(y)))
            return y + 1e-300 * total, None

        loop = jit(partial(_looped, again, rounds))
        jax.block_until_ready(loop(y0))
        loops.append(partial(loop, y0))
    best = [np.inf] * len(PARTS)
    with on_one_core():
        for _ in range(repeats):
            for k, run in enumerate(loops):
                begun = time.perf_counter()
                jax.block_until_ready(run())
                best[k] = min(best[k], (time.perf_counter() - begun) / rounds)
    return best


def _looped(again: Callable[[Any, Any], Any], rounds: int, y: Any) -> Any:
    return lax.scan(again, y, None, length=rounds)[0]


def _numbers(found: Any) -> list[Any]:
    return [x for x in _leaves(found) if jnp.issubdtype(x.dtype, jnp.floating)]


def peaks() -> tuple[float, float, float]:
    """Operations a second, bytes a second within the cache and beyond it, of one core."""
    with on_one_core():
        a = np.ones((384, 384))
        matrix = _best(lambda: a @ a)
        small, large = np.ones(2**12), np.ones(2**23)
        to, there = small.copy(), large.copy()
        near = _best(lambda: _copy(to, small, 200))
        far = _best(lambda: _copy(there, large, 1))
    return 2 * 384**3 / matrix, 200 * 2 * small.nbytes / near, 2 * large.nbytes / far


def _copy(to: np.ndarray, this: np.ndarray, times: int) -> None:
    for _ in range(times):
        np.copyto(to, this)


def _best(run: Callable[[], Any]) -> float:
    walls = []
    for _ in range(7):
        begun = time.perf_counter()
        run()
        walls.append(time.perf_counter() - begun)
    return min(walls)


def run_profile(cases: list[str] | None = None, repeats: int = 20) -> Iterator[Row]:
    """A row for each part, from the first to the last, of each robot."""
    flops, near, _ = peaks()
    for name in cases or CASES:
        model = CASES[name]().build()
        rounds = max(20, 20000 // (model.nv + 1) ** 2)
        times = timed(model, repeats, rounds)
        costs = [cost(model, part) for part in PARTS]
        for k, part in enumerate(PARTS):
            before = Cost(0.0, 0.0, 0) if k == 0 else costs[k - 1]
            own = max(times[k] - (times[k - 1] if k else 0.0), 0.0)
            done, moved = costs[k].flops - before.flops, costs[k].bytes - before.bytes
            speed, flow = (done / own, moved / own) if own else (float("nan"), float("nan"))
            yield Row(
                case=name,
                n_dof=model.nv,
                part=part,
                us=1e6 * own,
                share=own / times[-1],
                upto_us=1e6 * times[k],
                flops=done,
                bytes=moved,
                instructions=costs[k].instructions - before.instructions,
                gflops=speed / 1e9,
                gbytes_s=flow / 1e9,
                of_peak=speed / flops,
                of_bandwidth=flow / near,
            )
