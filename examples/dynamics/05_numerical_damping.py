"""002 §3 and §4.3: damping of schemes against the step, cost against points, speed against the step.

Figure 2: the spring-steel rod is let go and loses energy by the scheme alone; the time constant grows with a
power of the step, the first for backward Euler, the third for the others. Figure 3: time of a step against
the points along the rod. Figure 7: simulated seconds a second, of the released and of the struck rod.
Figures 3 and 7 are times of this machine, so that their limits are wide.
"""

import time
from typing import Any

import numpy as np

import supple as sp
from examples._check import report
from supple.bench.strong import released, settings, time_constant
from supple.robots.clamped_rod import loaded_rod, struck_rod

STEPS = (2.5e-3, 5e-3, 10e-3, 20e-3)
SCHEMES: dict[str, Any] = {
    "backward Euler": sp.ImplicitEuler(),
    "BDF2": sp.bdf2(),
    "BDF-α, α = -0.2": sp.bdf_alpha(-0.2),
}
PRINTED = {"backward Euler": 0.13, "BDF2": 3.88, "BDF-α, α = -0.2": 7.63}
"""Time constants (s) at 5 ms, Cosserat rod and RK4 (Table 3)."""
POINTS = (50, 150, 450)
RATIO_STEPS = (2e-3, 4e-3, 8e-3)
"""Longer ones may step over the blow."""
SEGMENTS = 30
LIMITS = {
    "figure 2: backward Euler at 5 ms against Table 3, relative": 0.05,
    "figure 2: BDF2 at 5 ms against Table 3, relative": 0.05,
    "figure 2: BDF-α, α = -0.2 at 5 ms against Table 3, relative": 0.05,
    "figure 2: power of the step, backward Euler": (-1.3, -0.8),
    "figure 2: power of the step, BDF2": (-3.3, -2.5),
    "figure 2: power of the step, BDF-α, α = -0.2": (-3.3, -2.5),
    "figure 3: time of a step, 450 points over 150, Cosserat": (1.5, 6.0),
    "figure 3: time of a step, 450 points over 150, Kirchhoff": (1.5, 6.0),
    "figure 7: released, simulated over computing time at 4 ms": (0.5, np.inf),
    "figure 7: struck, simulated over computing time at 4 ms": (0.5, np.inf),
}


def constants(scheme: Any, steps: tuple[float, ...] = STEPS) -> list[float]:
    """Time constants (s) of the scheme's damping, for steps."""
    model, held = released("cosserat", settings("cosserat", "rk4", SEGMENTS))
    rest = sp.equilibrium(model).energies.total
    found = []
    for dt in steps:
        result = sp.simulate(model, 2.0, initial=held, dt=dt, scheme=scheme)
        found.append(time_constant(result.t, result.energies.total - rest))
    return found


def power(values: list[float]) -> float:
    """Of the step, between the first two."""
    return float(np.log(values[1] / values[0]) / np.log(STEPS[1] / STEPS[0]))


def cost(kind: str, points: int) -> float:
    """Time (s) of a step of 5 ms with BDF2, by single shooting, the best of two warm runs."""
    chosen = sp.Shooting(points, 1, "rk4", rotary_inertia=kind == "cosserat")
    model, held = released(kind, chosen)
    return _timed(model, held, 5e-3, 0.1, sp.bdf2())[0]


def _timed(model: Any, held: Any, dt: float, duration: float, scheme: Any) -> tuple[float, Any]:
    """Processor time of a step, warm, and the run."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        result = sp.simulate(model, duration, initial=held, dt=dt, scheme=scheme)
        times.append(time.process_time() - begun)
    return min(times[1:]) / (len(result) - 1), result


def ratios(robot: sp.Robot, steps: tuple[float, ...]) -> list[float]:
    """Simulated time over computing time."""
    chosen = robot.with_formulation(sp.Shooting(100, 10, rotary_inertia=False))
    if "weight" in [item.name for item in robot.items]:
        held: Any = sp.equilibrium(chosen)
        model = chosen.removing("weight").build()
    else:
        held = sp.equilibrium(chosen.removing("blow"))
        model = chosen.build()
    found = []
    for dt in steps:
        seconds, _ = _timed(model, held, dt, 0.2, sp.bdf_alpha(-0.4))
        found.append(dt / seconds)
    return found


def measured(damping: dict[str, list[float]]) -> dict[str, float]:
    """Numbers of figure 2."""
    errors = {}
    for name, values in damping.items():
        off = abs(values[STEPS.index(5e-3)] / PRINTED[name] - 1)
        errors[f"figure 2: {name} at 5 ms against Table 3, relative"] = off
        errors[f"figure 2: power of the step, {name}"] = power(values)
    return errors


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: damping of BDF2 at 2.5 and 5 ms."""
    if quick:
        return measured({"BDF2": constants(SCHEMES["BDF2"], STEPS[:2])})
    return _all()[0]


def _all() -> tuple[dict[str, float], Any]:
    damping = {name: constants(scheme) for name, scheme in SCHEMES.items()}
    costs = {kind: [cost(kind, n) for n in POINTS] for kind in ("cosserat", "kirchhoff")}
    cases = {"released": loaded_rod(strains="kirchhoff"), "struck": struck_rod(strains="kirchhoff")}
    speed = {name: ratios(robot, RATIO_STEPS) for name, robot in cases.items()}
    errors = measured(damping)
    for kind, values in costs.items():
        name = f"figure 3: time of a step, 450 points over 150, {kind.title()}"
        errors[name] = values[2] / values[1]
    for name, values in speed.items():
        errors[f"figure 7: {name}, simulated over computing time at 4 ms"] = values[1]
    return errors, (damping, costs, speed)


def main() -> None:
    from examples._picture import BLUE, GRAY, ORANGE, RED, figure, save

    errors, (damping, costs, speed) = _all()
    fig, (left, middle, right) = figure(1, 3, (13.0, 4.0))
    for (name, values), color in zip(damping.items(), (BLUE, RED, ORANGE), strict=True):
        left.loglog(1e3 * np.array(STEPS), values, "o-", color=color, label=name)
        left.plot(5.0, PRINTED[name], "x", color=GRAY, ms=9, mew=1.8, zorder=3)
    left.set(xlabel="step (ms)", ylabel="time constant (s)", title="Figure 2 (x: Table 3)")
    left.legend()
    for (name, values), color in zip(costs.items(), (BLUE, RED), strict=True):
        middle.plot(POINTS, 1e3 * np.array(values), "o-", color=color, label=name.title())
    middle.axhline(5.0, color=GRAY, lw=0.9, ls="--", label="real time")
    middle.set(xlabel="points", ylabel="time of a step (ms)", title="Figure 3", ylim=(0, None))
    middle.legend()
    for (name, values), color in zip(speed.items(), (BLUE, RED), strict=True):
        right.loglog(1e3 * np.array(RATIO_STEPS), values, "o-", color=color, label=name)
    right.axhline(1.0, color=GRAY, lw=0.9, ls="--", label="real time")
    right.set(xlabel="step (ms)", ylabel="simulated over computing time", title="Figure 7")
    right.legend()
    save(fig, "numerical_damping")
    report("002, figures 2, 3 and 7", errors, LIMITS)


if __name__ == "__main__":
    main()
