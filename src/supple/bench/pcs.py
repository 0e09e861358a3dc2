"""Bench of rods in pieces of constant strain: what accelerations cost, how exact they are, how cost grows.

A rubber rod on the ground, bent, twisted and moving. Times are those of one evaluation within a
compiled loop, as a run has it, the best of several loops on one core. The error is that against a dense mass
matrix, in its own norm: √(eᵀ M e / aᵀ M a). The matrix comes from the general tangent, not from the chain.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.bench.rods import on_one_core
from supple.compile import Program, jit
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
from supple.model.model import Model
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.section import Circle, Material
from supple.strain import PiecewiseConstant
from supple.system.forward_dynamics import forward_dynamics

CASES = ("kirchhoff", "reissner")
"""Rod models with three and with six strains."""
NUMBERS = (1, 5, 20, 50, 100, 400, 1000)
REFERENCE = 100
"""Pieces whose time is the unit of ``ratio``."""
MOST_DENSE = 50
"""Pieces up to which the dense matrix is made."""
CALLS = 10
"""Evaluations in a loop."""
RUBBER = Material(E=1e6, density=1000.0, nu=0.45)


@dataclass(frozen=True)
class PiecesRow:
    """One rod: times (µs) of one evaluation; ``ratio``: of forward dynamics over that of 100 pieces.

    ``memory_kb`` is what forward dynamics holds while it runs: the model and all that lies between.
    """

    case: str
    N: int
    n_dof: int
    forward_dynamics_us: float
    inverse_dynamics_us: float
    forward_us_a_piece: float
    error_vs_dense: float | None
    ratio: float | None
    compile_s: float
    memory_kb: float
    status: str = "DONE"

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return asdict(self)


def robot(case: str, pieces: int) -> Robot:
    """A rod in so many pieces."""
    rod = Rod("arm", 0.5, Circle(0.01), RUBBER, strains=case, basis=PiecewiseConstant(pieces))
    return Robot(rod, name=f"{pieces} pieces", formulation="pcs")


def state(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """A rod that is bent, twisted and moving, all smoothly along it.

    Noise from piece to piece would ask for motions of hardly any mass, which no double precision tells.
    """
    slot = model.topology.rod_slots[0]
    strains = model.nv // slot.pieces
    middle = (np.array(slot.edges[1:]) + np.array(slot.edges[:-1])) / 2
    phases = np.arange(strains)
    size = np.asarray(model.scale).reshape(slot.pieces, strains)
    size = size * np.where(size == 1.0, 0.02, 1.0)
    q = size * np.cos(2.0 * middle[:, None] + phases)
    v = size * np.sin(3.0 * middle[:, None] + 2.0 * phases)
    return q.reshape(-1), v.reshape(-1)


def run_pcs(
    cases: list[str] | None = None, numbers: list[int] | None = None, repeats: int = 20
) -> Iterator[PiecesRow]:
    """Rows for all cases and numbers of pieces."""
    for case in cases or CASES:
        unit: float | None = None
        for pieces in numbers or NUMBERS:
            row = _row(case, pieces, repeats, unit)
            if pieces == REFERENCE:
                unit = row.forward_dynamics_us
            yield row


def _row(case: str, pieces: int, repeats: int, unit: float | None) -> PiecesRow:
    model = jax.tree.map(jnp.asarray, robot(case, pieces).build())
    q, v = (jnp.asarray(part) for part in state(model))
    begun = time.perf_counter()
    program = looped(_forward).lower(model, q, v).compile()
    compile_s = time.perf_counter() - begun
    forward, _ = best_time(program, (model, q, v), repeats)
    held = program.memory_analysis()
    memory = (held.argument_size_in_bytes + held.temp_size_in_bytes) / 1024
    inverse, _ = best_time(looped(_inverse), (model, q, v), repeats)
    error = _error(model, q, v) if pieces <= MOST_DENSE else None
    ratio = 1.0 if pieces == REFERENCE else None
    if unit is not None:
        ratio = forward / unit
    sound = error is None or error < 1e-9
    return PiecesRow(
        case,
        pieces,
        model.nv,
        forward,
        inverse,
        forward / pieces,
        error,
        ratio,
        compile_s,
        memory,
        "DONE" if sound else "FAILED",
    )


def _forward(model: Model, q: Any, v: Any, t: Any) -> Any:
    return forward_dynamics(model, q, v, t)


def _inverse(model: Model, q: Any, v: Any, t: Any) -> Any:
    return inverse_dynamics(model, Coordinates(q, jnp.zeros_like(q), v, v, t))


def looped(function: Callable[..., Any]) -> Program:
    """Evaluations one after the other, each of which waits for the one before."""

    def loop(model: Model, q: Any, v: Any) -> Any:
        def once(last: Any, _: None) -> tuple[Any, None]:
            return function(model, q + 1e-30 * last, v, 0.0 * last[0]), None

        return jax.lax.scan(once, jnp.zeros_like(q), None, length=CALLS)[0]

    return jit(loop)


def best_time(
    function: Callable[..., Any], given: tuple[Any, ...], repeats: int
) -> tuple[float, float]:
    """Best time of one evaluation (µs, of the processor), and that of the first call (s)."""
    begun = time.perf_counter()
    jax.block_until_ready(function(*given))
    first = time.perf_counter() - begun
    walls = []
    with on_one_core():
        for _ in range(repeats):
            begun = time.process_time()
            jax.block_until_ready(function(*given))
            walls.append(time.process_time() - begun)
    return 1e6 * min(walls) / CALLS, first


def _error(model: Model, q: Any, v: Any) -> float:
    """Difference to the dense solution, in the norm of the mass matrix."""
    still = Coordinates(q, jnp.zeros_like(q), v, jnp.zeros_like(q), jnp.zeros(()))
    found = jit(inverse_dynamics_tangent, quick=True)(model, still)
    mass, residual = np.asarray(found.mass), np.asarray(found.residual)
    unit = 1 / np.sqrt(np.diag(mass))
    dense = -unit * np.linalg.solve(mass * unit[:, None] * unit, unit * residual)
    apart = np.asarray(jit(forward_dynamics, quick=True)(model, q, v)) - dense
    return float(np.sqrt((apart @ mass @ apart) / (dense @ mass @ dense)))
