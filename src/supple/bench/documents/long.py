"""Our numbers that take minutes: tables of schemes, and times over simulated times."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from supple.bench import actuation, integrators, pcs, rods, strong, xjoint
from supple.bench.documents import cosserat
from supple.robots.bird_neck import DURATION, bird_neck
from supple.robots.bird_neck_angles import controlled_motion
from supple.run.simulate import simulate
from supple.run.statics import equilibrium
from supple.shooting.settings import Shooting
from supple.time.explicit import Explicit
from supple.time.linearly_implicit import LinearlyImplicitEuler
from supple.time.multistep import bdf2

Value = float | str | None


def damping() -> dict[str, Value]:
    """002, Tables 3 and 4."""
    found: dict[str, Value] = {}
    for row in strong.run_tables():
        name = f"{row.rod}, {row.space}, {row.time}"
        found[f"{name}: tau (s)"] = row.tau_s
        found[f"{name}: smallest step (ms)"] = row.smallest_dt_ms
        found[f"{name}: runtime (s)"] = row.runtime_s
        still = "gains energy" if row.status == "DONE" else row.status
        found[f"{name}: outcome"] = "damped" if row.tau_s is not None else still
    return found


def points() -> dict[str, Value]:
    """002, Fig. 3: time of a step by the number of points along the rod, as a power of it."""
    numbers = np.array([50, 100, 200, 400])
    found: dict[str, Value] = {}
    for kind in ("cosserat", "kirchhoff"):
        walls = []
        for count in numbers:
            model, held = strong.released(
                kind, Shooting(int(count), 1, "rk4", rotary_inertia=False)
            )
            options: dict[str, Any] = {"dt": 5e-3, "scheme": bdf2(), "initial": held}
            walls.append(_best(partial(simulate, model, 0.5, **options)) / 100)
        power = np.polyfit(np.log(numbers), np.log(walls), 1)[0]
        found[f"{kind}: power of the number of points"] = float(power)
        found[f"{kind}: ms a step with 150 points"] = float(
            1e3 * np.exp(np.interp(np.log(150), np.log(numbers), np.log(walls)))
        )
    return found


def speed() -> dict[str, Value]:
    """Time over simulated time on one core, warm, of all benches that a document times."""
    found: dict[str, Value] = {}
    runs: tuple[Iterable[Any], ...] = (
        rods.run_rods(presets=["thesis"], repeats=3),
        strong.run_speed(3),
        actuation.run_actuation(repeats=3),
        xjoint.run_xjoint([name for name in xjoint.CASES if "limit" not in name], 3),
    )
    for rows in runs:
        for row in rows:
            found[f"{row.case}: ratio"] = row.ratio
            found[f"{row.case}: simulated over run"] = 1 / row.ratio
            found[f"{row.case}: seconds"] = row.wall_s
            found[f"{row.case}: Newton iterations a step"] = row.newton_per_step
            found[f"{row.case}: tip error"] = row.tip_error
    return found


def chains() -> dict[str, Value]:
    """004: cost of accelerations by the number of pieces."""
    rows = {(row.case, row.N): row for row in pcs.run_pcs(numbers=[20, 100, 400])}
    found: dict[str, Value] = {}
    for case in pcs.CASES:
        few, many = (rows[case, number].forward_dynamics_us for number in (100, 400))
        found[f"{case}: power of N"] = float(np.log(many / few) / np.log(4))
        found[f"{case}: error against the dense matrix, 20 pieces"] = rows[case, 20].error_vs_dense
        found[f"{case}: µs a piece, 100 pieces"] = rows[case, 100].forward_us_a_piece
    return found


def necks() -> dict[str, Value]:
    """003, Tables 1 to 3: seconds for the motion of 6.3 s, and the limits of the explicit scheme."""
    coarse, fine = 2e-3, 4e-4
    found: dict[str, Value] = {}
    for joints in (3, 4):
        for scheme, dt in (("explicit", coarse), ("implicit", coarse), ("explicit", fine)):
            name = f"{joints} joints, rigid, {scheme}, {1e3 * dt:g} ms (s)"
            found[name] = _best(partial(_rigid, joints, scheme, dt))
        model = bird_neck(joints, controlled=True).build()
        elastic: tuple[tuple[str, float, Any], ...] = (
            ("explicit", fine, Explicit("euler")),
            ("implicit", coarse, LinearlyImplicitEuler(hold_friction=True)),
        )
        for scheme, dt, how in elastic:
            run = partial(simulate, model, DURATION, dt=dt, scheme=how, t_eval=coarse, throw=False)
            found[f"{joints} joints, elastic, {scheme} (s)"] = _best(run)
        for scheme, case in (
            ("explicit", "explicit-euler"),
            ("implicit", "linearly-implicit-euler"),
        ):
            (row,) = xjoint.run_xjoint([f"{joints}-joints-limit-{case}"])
            limit = getattr(row, "largest_step_s", None)
            name = f"{joints} joints, elastic, limit of the {scheme} scheme (ms)"
            found[name] = "none up to 20 ms" if limit is None else 1e3 * limit
    return found


def _rigid(joints: int, scheme: str, dt: float) -> np.ndarray:
    return np.asarray(controlled_motion(joints, scheme, dt).alpha)


def _best(compute: Callable[[], Any]) -> float:
    """The best of three warm runs on one core (s), as the processor's time, whatever else it does."""
    compute()
    walls = []
    with rods.on_one_core():
        for _ in range(3):
            begun = time.process_time()
            compute()
            walls.append(time.process_time() - begun)
    return min(walls)


def along() -> dict[str, Value]:
    """000, Table 5.3."""
    found: dict[str, Value] = {}
    for row in integrators.run_integrators():
        size = f"{row.modes} modes" if row.rule == "runge-kutta" else f"{row.points} points"
        name = f"{row.rule}, {size}"
        for part, value in (("FK", row.fk_us), ("BD", row.bd_us), ("IDM", row.idm_us)):
            if value is not None:
                found[f"{name}, {part} (µs)"] = value
        found[f"{name}, error"] = row.pose_error
        if row.idm_us is not None:
            found[f"{name}, share of FK (%)"] = 100 * row.fk_us / row.idm_us
    return found


def explicit() -> dict[str, Value]:
    """000, Table 3.1: the benches with three modes and an explicit scheme with error control."""
    found: dict[str, Value] = {}
    for case in rods.CASES.values():
        robot = case.build(strains="planar" if case.released else "kirchhoff", basis=3)
        start = equilibrium(robot) if case.released else None
        model = (robot.removing(case.released) if case.released else robot).build()
        share = 0.02 if case.released else 1.0
        run = partial(
            simulate, model, share * case.duration, accuracy=1e-3, scheme=Explicit("dopri5"),
            initial=start, throw=False, max_steps=10_000_000,
        )  # fmt: skip
        found[f"{case.name}: ratio"] = _best(run) / (share * case.duration)
    return found


GROUPS: dict[str, Callable[[], Mapping[str, Value]]] = {
    "damping": damping,
    "points": points,
    "integrators": along,
    "explicit_rods": explicit,
    "speed": speed,
    "chains": chains,
    "necks": necks,
    "finger_swings": cosserat.swings,
}
