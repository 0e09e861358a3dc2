"""The strong form: speed, and the tables of numerical damping of 002 (Tables 3 and 4).

The rod of 002 §3 is held by a force at its tip and let go. Its energy above that of rest falls as
exp(-2 t/τ) by the damping of the scheme alone.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from supple.bench.rods import Row, on_one_core
from supple.robot.items import Rod
from supple.robot.loads import Wrench
from supple.robot.robot import Robot
from supple.robots.stewart import stewart_gough
from supple.run.simulate import simulate
from supple.run.statics import equilibrium
from supple.section import Circle, Material
from supple.shooting.settings import Shooting
from supple.time.alpha import ImplicitEuler
from supple.time.multistep import bdf2, bdf3, bdf_alpha
from supple.time.scheme import AbstractScheme

LENGTH, DT, POINTS = 0.4, 5e-3, 150
SCHEMES: dict[str, AbstractScheme] = {
    "backward Euler": ImplicitEuler(),
    "BDF2": bdf2(),
    "BDF-alpha -0.2": bdf_alpha(-0.2),
    "BDF-alpha -0.48": bdf_alpha(-0.48),
    "trapezoidal": bdf_alpha(-0.5),
    "BDF3": bdf3(),
}
PRINTED: dict[tuple[str, str], tuple[tuple[float | None, float], ...]] = {
    ("cosserat", "euler"): (
        (0.13, 0.8), (3.86, 1.3), (7.57, 1.5), (161.8, 3.8), (None, 4.2), (None, 48.2),
    ),
    ("cosserat", "rk4"): (
        (0.13, 0.8), (3.88, 1.4), (7.63, 1.6), (201.6, 4.1), (None, 4.4), (None, 48.4),
    ),
    ("kirchhoff", "euler"): (
        (0.13, 0.5), (3.87, 1.0), (7.58, 1.1), (161.8, 1.7), (None, 1.8), (None, 32.8),
    ),
    ("kirchhoff", "rk4"): (
        (0.13, 0.5), (3.84, 0.9), (7.54, 1.1), (186.7, 1.4), (None, 1.5), (None, 40.3),
    ),
}  # fmt: skip
"""Time constants (s) and smallest steps (ms) of Tables 3 and 4, in the order of the schemes."""


@dataclass(frozen=True)
class Damping:
    """One line of Tables 3 and 4."""

    rod: str
    space: str
    time: str
    tau_s: float | None
    tau_printed: float | None
    smallest_dt_ms: float | None
    printed_dt_ms: float
    runtime_s: float
    status: str
    """How the run ended from which τ is taken."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def benchmark_rod(kind: str) -> Robot:
    """The rod of 002 §3 with its load: "cosserat" or "kirchhoff"."""
    steel = Material(E=207e9, G=79e9, density=8000)
    strains, basis = ("reissner", 10) if kind == "cosserat" else ("kirchhoff", 10)
    section = Circle(1e-3)
    rod = Rod("rod", LENGTH, section, steel, strains=strains, basis=basis)
    return Robot(rod, Wrench("pull", on="rod", force=(0.0, 0.0, 0.5)), name=kind)


def settings(kind: str, space: str, segments: int) -> Shooting:
    """As in the tables: 150 points, and no rotational inertia in Kirchhoff rods."""
    return Shooting(POINTS, segments, space, rotary_inertia=kind == "cosserat")


def released(kind: str, chosen: Shooting) -> tuple[Any, Any]:
    """The rod let go, and the state in which it was held."""
    robot = benchmark_rod(kind).with_formulation(chosen)
    held = equilibrium(robot)
    return robot.removing("pull").build(), held


def time_constant(t: np.ndarray, energy: np.ndarray) -> float:
    """τ of the best fit of E exp(-2 t/τ) to energies above that of rest.

    Fitted to the second half, where the first vibration is left alone, or to all where nothing is left then.
    """
    half = len(t) // 2
    if energy[half] > SOME * energy[0]:
        t, energy = t[half:], energy[half:]
    span = float(t[-1] - t[0])
    t = (t - t[0]) / span
    start = max(energy.max(), 1e-300)
    found, _ = curve_fit(
        lambda t, size, rate: size * np.exp(-rate * t), t, energy / start, p0=(1.0, 0.1)
    )
    return float(2 * span / found[1])


SOME = 1e-3
"""Energy over that at the start, from which on a vibration is still seen."""
SEGMENTS = 30
"""Of a rod whose speed is measured: side by side they fill the processor's vectors."""


def run_speed(repeats: int = 3) -> Iterator[Row]:
    """Time of a simulated second on one core, warm.

    The error is that of space alone: the distance to strain coordinates under the same scheme and step.
    """
    for kind in ("cosserat", "kirchhoff"):
        model, held = released(kind, settings(kind, "rk4", SEGMENTS))
        fine = benchmark_rod(kind)
        options: dict[str, Any] = {"dt": DT, "scheme": bdf2()}
        other = simulate(fine.removing("pull"), 1.0, initial=equilibrium(fine), **options)
        yield _timed(kind, model, held, options, repeats, other.position("rod"), "rod")
    robot = stewart_gough(bending_modes=6, torsion_modes=2)
    push = Wrench("push", on="plate", force=(1.0, 0.5, 0.0))
    chosen = Shooting(points=25, segments=6, rotary_inertia=False)
    held = equilibrium(robot.adding(push), formulation=chosen)
    options = {"dt": 1 / 120, "scheme": bdf_alpha(-0.2)}
    other = simulate(robot, 1.0, initial=equilibrium(robot.adding(push)), **options)
    model = robot.with_formulation(chosen).build()
    yield _timed("stewart-gough", model, held, options, repeats, other.position("plate"), "plate")


def _timed(
    case: str,
    model: Any,
    held: Any,
    options: dict[str, Any],
    repeats: int,
    reference: np.ndarray,
    frame: str,
) -> Row:
    duration = 1.0
    begun = time.perf_counter()
    result = simulate(model, duration, initial=held, **options, throw=False)
    cold = time.perf_counter() - begun
    walls = []
    with on_one_core():
        for _ in range(repeats):
            begun = time.perf_counter()
            result = simulate(model, duration, initial=held, **options, throw=False)
            walls.append(time.perf_counter() - begun)
    count = min(len(result), len(reference))
    apart = np.linalg.norm(result.position(frame)[:count] - reference[:count], axis=1)
    steps = len(result) - 1
    return Row(
        case=case,
        preset=f"{1e3 * options['dt']:.3g} ms",
        n_dof=model.nv,
        steps=steps,
        compile_s=cold - min(walls),
        wall_s=min(walls),
        simulated_s=duration,
        ratio=min(walls) / duration,
        tip_error=float(apart.max() / LENGTH),
        newton_per_step=float(np.sum(result.newton)) / max(steps, 1),
        status=result.status.name,
    )


def run_tables(
    rods: list[str] | None = None, spaces: list[str] | None = None, *, smallest: bool = True
) -> Iterator[Damping]:
    """Tables 3 and 4: τ from two seconds of motion, run time of one and smallest steps by single shooting.

    These are sought from the printed ones, up or down by a quarter.
    """
    for (rod, space), printed in PRINTED.items():
        if (rods and rod not in rods) or (spaces and space not in spaces):
            continue
        model, held = released(rod, settings(rod, space, 1))
        long, slow = released(rod, settings(rod, space, SEGMENTS))
        rest = equilibrium(model).energies.total
        for (name, scheme), (tau, dt) in zip(SCHEMES.items(), printed, strict=True):
            result = _run(long, slow, scheme, DT, 2.0)
            found = _tau(result, rest)
            _run(model, held, scheme, DT, 1.0)
            with on_one_core():
                begun = time.process_time()
                _run(model, held, scheme, DT, 1.0)
                runtime = time.process_time() - begun
            short = _smallest(model, held, scheme, rest, dt) if smallest else None
            yield Damping(rod, space, name, found, tau, short, dt, runtime, result.status.name)


def _run(model: Any, held: Any, scheme: AbstractScheme, dt: float, duration: float) -> Any:
    return simulate(
        model, duration, initial=held, dt=dt, scheme=scheme, throw=False, max_steps=200_000
    )


def _tau(result: Any, rest: float) -> float | None:
    """τ of a run; None for one that did not end, or gained energy."""
    energy = result.energies.total - rest
    if not result.ok or result.stats.rejected or not np.all(np.isfinite(energy)):
        return None
    if energy[-1] > 1.02 * energy[1]:
        return None
    return time_constant(result.t, energy)


def _smallest(
    model: Any, held: Any, scheme: AbstractScheme, rest: float, printed: float
) -> float | None:
    """The smallest step (ms) with which a run converges and gains no energy, sought from the printed one."""

    def works(dt: float) -> bool:
        long = printed > LONG
        step = 1e-3 * dt
        # Whole steps: a rest of round-off is no step that can be solved.
        run = _run(model, held, scheme, step, step * (round(1 / step) if long else 200))
        return _tau(run, rest) is not None

    dt = printed
    if works(dt):
        while dt > SHORTEST and works(dt / FINER):
            dt /= FINER
        return dt
    while dt < LONGEST:
        dt *= FINER
        if works(dt):
            return dt
    return None


FINER = 1.25
"""Ratio of the steps that are tried."""
LONG = 10.0
"""Steps (ms) above this are those of a scheme that is unstable for shorter ones: it is watched longer."""
SHORTEST, LONGEST = 0.1, 200.0
"""Steps (ms) between which is sought."""
