"""Fleets: many robots of one structure at once, against single runs.

Each member differs from the others by one number in [-1, 1]: it starts in another shape, at another time of
the robot's laws, or under another gravity. The error is the largest difference of a configuration, over the
coordinates' scales, from runs of single members by :func:`supple.simulate` with the same steps (another
Newton's method, on the CPU).
"""

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.bench.actuation import loaded_tendon_robot
from supple.bench.cpr import moving_stewart
from supple.bench.rods import on_one_core
from supple.compile import jit
from supple.errors import ArgumentError
from supple.fleet.batch import LARGEST, batch
from supple.model.model import Model
from supple.model.state import State
from supple.robot.robot import Robot
from supple.robots.cantilever import stiff_cantilever
from supple.robots.rfrfr import rfrfr
from supple.robots.tendon_arm import home_pull, tendon_arm, tendon_names
from supple.run.rollout import rollout
from supple.run.simulate import simulate
from supple.run.statics import equilibrium
from supple.solve.newton import NewtonSettings
from supple.studies.parameters import WithParameters
from supple.studies.samples import LatinHypercube
from supple.studies.study import study
from supple.time.advance import Status
from supple.time.alpha import generalized_alpha

TENDONS, LEGS = partial(loaded_tendon_robot, 3), partial(moving_stewart, 6)
STUDY, EQUILIBRIA = "study", 10_000
"""The case of many equilibria, and how many they are."""
COMPARED = 4
"""Members that are compared with single runs."""
CLOSE = NewtonSettings(tolerance=1e-12)
"""Of the runs that others are compared with."""


@dataclass(frozen=True)
class Case:
    """A robot, its step (s), how members differ, and how many there are on a CPU and on a GPU."""

    name: str
    build: Callable[[], Robot]
    dt: float
    start: Callable[[Model], Any]
    vary: Callable[[Model, State, Any], tuple[Model, State]]
    on_cpu: int
    on_gpu: int


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: str
    device: str
    batch: int
    n_dof: int
    steps: int
    robot_steps_per_s: float
    loop_steps_per_s: float
    """Of single members one after the other on one core of the CPU."""
    compile_s: float
    single_compile_s: float
    memory_mb: float
    error_vs_single: float
    failed: int
    status: str
    reverse_ratio: float | None = None
    """Time of a run with its gradient in reverse mode over that of the run, on one core; where asked for."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, with the name of the robot and of each number."""
        return asdict(self)


@dataclass(frozen=True)
class StudyRow:
    """Many equilibria by :func:`supple.study`, on all cores of the CPU."""

    case: str
    device: str
    batch: int
    n_dof: int
    equilibria_per_s: float
    wall_s: float
    """Of all of them, warm: programs are there."""
    compile_s: float
    error_vs_single: float
    """Largest distance (m) of a frame from where :func:`supple.equilibrium` has it."""
    failed: int
    status: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values, with the name of the robot and of each number."""
        return asdict(self)


def cantilever() -> Robot:
    """Nine modes of bending and twist on eleven nodes."""
    return stiff_cantilever(2.0, strains=("kx", "ky", "kz"), basis=3, nodes=11)


def other_shape(model: Model, state: State, s: Any) -> tuple[Model, State]:
    """Let go in another shape."""
    return model, replace(state, q=state.q * (1 + 0.5 * s))


def other_time(model: Model, state: State, s: Any) -> tuple[Model, State]:
    """Held by another torque than it rests under, and on by those of later times."""
    return model, replace(state, t=4.5 + 0.5 * s)


def other_gravity(model: Model, state: State, s: Any) -> tuple[Model, State]:
    """Under another gravity."""
    return replace(model, gravity=model.gravity * (1 + 0.1 * s)), state


CASES = {
    case.name: case
    for case in (
        Case("cantilever", cantilever, 0.01, equilibrium, other_shape, 1000, 131072),
        Case("rfrfr", rfrfr, 0.01, partial(equilibrium, t=3.0), other_time, 1000, 65536),
        Case("tendon-robot", TENDONS, 1 / 60, equilibrium, other_shape, 1000, 32768),
        Case("stewart-gough", LEGS, 1 / 120, equilibrium, other_gravity, 100, 16384),
    )
}


def run_fleet(
    cases: list[str] | None = None,
    device: str = "cpu",
    members: int | None = None,
    steps: int = 100,
    repeats: int = 2,
    reverse: bool = False,
) -> Iterator[Row | StudyRow]:
    """Run the benches on a kind of device; times are the best of ``repeats`` warm runs."""
    try:
        found = jax.local_devices(backend=device)[0]
    except RuntimeError as error:
        known = ", ".join(dict.fromkeys(one.platform for one in jax.local_devices()))
        raise ArgumentError(f"device: got {device!r}; need one of: {known}") from error
    for name in cases or CASES:
        if name in CASES:
            yield run_case(CASES[name], found, members, steps, repeats, reverse)
    if STUDY in (cases or (STUDY,)) and found.platform == "cpu":
        yield run_study(members or EQUILIBRIA)


def run_study(members: int) -> StudyRow:
    """Equilibria of the tendon arm, whose six pulls differ."""
    robot = tendon_arm()
    pulls = {name: home_pull(name) for name in tendon_names()}
    ranges = {name: (0.9 * pull, 1.1 * pull) for name, pull in pulls.items()}
    walls, data = [], None
    for count in (LARGEST, members):
        samples = LatinHypercube(ranges, count)
        begun = time.perf_counter()
        data = study(robot, samples)
        walls.append(time.perf_counter() - begun)
    assert data is not None
    apart = 0.0
    for i in np.linspace(0, members - 1, COMPARED).astype(int):
        held = equilibrium(WithParameters(robot, ranges)(samples.sample(i)))
        for frame in data["frame"].values:
            own = data["position"].sel(frame=frame).values[i]
            apart = max(apart, float(np.abs(own - held.position(str(frame))).max()))
    failed = int((~data["ok"]).sum())
    return StudyRow(
        case=STUDY,
        device="cpu",
        batch=members,
        n_dof=robot.build().nv,
        equilibria_per_s=members / walls[1],
        wall_s=walls[1],
        compile_s=walls[0],
        error_vs_single=apart,
        failed=failed,
        status="DONE" if failed == 0 else "NOT_CONVERGED",
    )


def reverse_over_run(run: Callable[[Any], Any], repeats: int) -> float:
    """Time of the gradient of where a run ends over that of the run, on one core."""
    one = jit(lambda s: jnp.sum(run(s)[0]))
    slope = jit(jax.value_and_grad(lambda s: jnp.sum(run(s)[0])))
    with on_one_core():
        walls = []
        for program in (one, slope):
            jax.block_until_ready(program(0.1))
            times = []
            for _ in range(max(repeats, 3)):
                begun = time.perf_counter()
                jax.block_until_ready(program(0.1))
                times.append(time.perf_counter() - begun)
            walls.append(min(times))
    return walls[1] / walls[0]


def run_case(
    case: Case, device: Any, members: int | None, steps: int, repeats: int, reverse: bool = False
) -> Row:
    """One row."""
    cpu = jax.local_devices(backend="cpu")[0]
    on_gpu = device.platform != "cpu"
    count = members or (case.on_gpu if on_gpu else case.on_cpu)
    numbers = np.linspace(-1.0, 1.0, count)
    with jax.default_device(cpu):
        model = case.build().build()
        run = member(case, model, start_of(case, model), steps)
        one = jit(run)
        begun = time.perf_counter()
        jax.block_until_ready(one(numbers[0]))
        single_cold = time.perf_counter() - begun
        with on_one_core():
            begun, made = time.perf_counter(), 0
            while made < min(count, 64) and time.perf_counter() - begun < 2.0:
                jax.block_until_ready(one(numbers[made * count // 64]))
                made += 1
            single = (time.perf_counter() - begun) / made
    with jax.default_device(device):
        fleet = batch(run)
        begun = time.perf_counter()
        fleet.compiled(numbers)
        cold = time.perf_counter() - begun
        walls = []
        for _ in range(repeats):
            begun = time.perf_counter()
            end, status = jax.block_until_ready(fleet(numbers))
            walls.append(time.perf_counter() - begun)
    end, status = np.asarray(end), np.asarray(status)
    with jax.default_device(cpu):
        error = difference(case, model, numbers, end, steps)
        ratio = reverse_over_run(run, repeats) if reverse else None
    failed = int(np.sum(status != Status.DONE))
    return Row(
        case=case.name,
        device=device.device_kind if on_gpu else "cpu",
        batch=count,
        n_dof=model.nv,
        steps=steps,
        robot_steps_per_s=count * steps / min(walls),
        loop_steps_per_s=steps / single,
        compile_s=cold,
        single_compile_s=single_cold - single,
        memory_mb=_memory(device),
        error_vs_single=error,
        failed=failed,
        status="DONE" if failed == 0 else "NOT_CONVERGED",
        reverse_ratio=ratio,
    )


def start_of(case: Case, model: Model) -> State:
    """Where members start, but for what differs."""
    held, zero = case.start(model), np.zeros(model.nv)
    forces = np.asarray(held.multipliers) if model.equations else None
    return State(np.zeros(()), np.asarray(held.q), zero, zero, forces)


def member(case: Case, model: Model, state: State, steps: int) -> Callable[[Any], Any]:
    """The run of a member from its number: where it ends, and how."""

    def run(s: Any) -> Any:
        own, first = case.vary(model, state, s)
        found = rollout(own, first, None, case.dt, steps)
        assert found.final is not None
        return found.final.q, found.status

    return run


def difference(
    case: Case, model: Model, numbers: np.ndarray, ends: np.ndarray, steps: int
) -> float:
    """Largest difference from runs of single members, over the coordinates' scales."""
    state, worst = start_of(case, model), 0.0
    scheme = generalized_alpha(0.8, CLOSE)
    for i in np.linspace(0, len(numbers) - 1, min(COMPARED, len(numbers))).astype(int):
        own, first = case.vary(model, state, numbers[i])
        run = simulate(own, steps * case.dt, dt=case.dt, scheme=scheme, initial=first, throw=False)
        apart = np.abs(run.final.q - ends[i])[: model.nv] / np.asarray(model.scale)
        worst = max(worst, float(apart.max()))
    return worst


def _memory(device: Any) -> float:
    """Most memory used so far (MB), of the device or of the process."""
    told = device.memory_stats() if device.platform != "cpu" else None
    if told:
        return float(told.get("peak_bytes_in_use", 0)) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
