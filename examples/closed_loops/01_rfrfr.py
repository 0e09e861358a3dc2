"""000 §5.13: the planar RFRFR robot, two driven rods joined by a hinge; 10 s, and 60 s for the schemes.

The tip is measured against an independent finite-element solution (converged to 3e-8 m). The text runs
three modes and 10 ms, with which the tip is 0.06 m off at 7 s, while the robot swings; six modes are off by
1e-5 m. Three cycles of torque swing the robot twice, as the text tells; with the printed sign of the torques,
under which the rods cross, three times.

The text reports that Newmark's multipliers become noisy and that its run breaks down (10 ms: 34.76 s, 1 ms:
30.02 s, 100 ms: 15 s; 50 ms: not), while generalized-α stays clean at all steps. Here, with three modes,
Newmark breaks down too, also at 50 ms; when depends on round-off. The noise is the rms of the second
difference of the hinge's force over four: for a force that alternates from step to step, its amplitude.
"""

import warnings
from functools import cache

import numpy as np

import supple as sp
from examples._check import Limits, report
from supple.bench.rods import reference
from supple.robots.rfrfr import rfrfr

DURATION, LONG = 10.0, 60.0
SWAYS = (4.0, 7.0)
"""From when to when the left torque sways (s), three times."""
STEPS = (0.001, 0.01, 0.05, 0.1)
PRINTED = {0.001: 30.02, 0.01: 34.76, 0.05: LONG, 0.1: 15.0}
"""When Newmark's run breaks down in the text (s)."""
SCHEMES = {"Newmark": sp.newmark(), "generalized-α": sp.generalized_alpha(0.9)}
LIMITS: Limits = {
    "tip at accuracy 1e-3 (m)": 1e-3,
    "tip with 3 modes at 10 ms, to 7 s (m)": (0.05, 0.07),
    "tip with 6 modes at accuracy 1e-5, to 7 s (m)": 5e-5,
    "swings of the tip in three cycles of torque": (1.9, 2.2),
    "swings of the left hinge": (1.9, 2.2),
    "swings of the tip with the printed sign": (2.8, 3.2),
    "loop open by, at any step of any run (m)": 1e-9,
    "Newmark breaks down at 10 ms (s)": (17.0, 55.0),
    "Newmark breaks down at 100 ms (s)": (7.0, 16.0),
    "generalized-α reaches with every step (s)": (LONG, LONG + 1e-6),
    "noise of generalized-α at 10, 50, 100 ms, last 10 s over second": 1.1,
    "Newton iterations of generalized-α at 10 ms, at most": 3,
}


def accurate() -> sp.Result:
    """Modes and steps as the accuracy needs them."""
    return sp.simulate(rfrfr(basis="auto"), DURATION, accuracy=1e-3)


@cache
def as_printed(
    scheme: str = "generalized-α", dt: float = 0.01, duration: float = DURATION
) -> sp.Result:
    """Three modes and a fixed step, as far as the scheme goes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what Newmark is warned of is shown here
        return sp.simulate(rfrfr(), duration, dt=dt, scheme=SCHEMES[scheme], throw=False)


def tip_error(result: sp.Result, until: float = DURATION) -> float:
    """Largest distance of the tip from the reference up to an instant (m)."""
    times, tip = reference("rfrfr")
    chosen = times <= until
    found = result.sample(np.minimum(times[chosen], result.t[-1])).position("left")
    return float(np.linalg.norm(found - tip[chosen], axis=1).max())


def swings(times: np.ndarray, values: np.ndarray) -> float:
    """How often a value goes to and fro while the torque sways: the strongest frequency times 3 s."""
    chosen = (times >= SWAYS[0]) & (times <= SWAYS[1])
    t, x = times[chosen], values[chosen]
    x = (x - np.polyval(np.polyfit(t, x, 1), t)) * np.hanning(len(t))
    strength = np.abs(np.fft.rfft(x, 16 * len(t)))
    return float(np.fft.rfftfreq(16 * len(t), t[1] - t[0])[strength.argmax()] * (t[-1] - t[0]))


def noise(result: sp.Result, begin: float, end: float) -> float:
    """Amplitude (N) of the hinge's force from step to step between two instants; NaN where there are few."""
    force = result.closure("tip")[(result.t >= begin) & (result.t <= end), 3:]
    if len(force) < 20:
        return float("nan")
    return float(np.sqrt(np.mean(np.sum(np.diff(force, 2, axis=0) ** 2, axis=1))) / 4)


def gap(result: sp.Result) -> float:
    return float(np.abs(result.violation).max())


def long_runs() -> dict[tuple[str, float], sp.Result]:
    """60 s with each scheme and step."""
    return {(name, dt): as_printed(name, dt, LONG) for name in SCHEMES for dt in STEPS}


def growth(runs: dict[tuple[str, float], sp.Result]) -> float:
    """Noise of generalized-α between 50 and 60 s over that between 10 and 20 s, at worst."""
    chosen = [runs["generalized-α", dt] for dt in STEPS if dt >= 0.01]
    return max(noise(run, 50.0, 60.0) / noise(run, 10.0, 20.0) for run in chosen)


def swinging(fine: sp.Result) -> dict[str, float]:
    """How often the robot swings, and how often it would with the printed sign."""
    times, tip = reference("rfrfr")
    crossing = sp.simulate(rfrfr(basis="auto", bow="inwards"), SWAYS[1], accuracy=1e-3)
    crossing, even = crossing.sample(times[times <= SWAYS[1]]), fine.sample(times)
    return {
        "swings of the tip in three cycles of torque": swings(times, tip[:, 0]),
        "swings of the left hinge": swings(times, even.joint("left").position[:, 0]),
        "swings of the tip with the printed sign": swings(
            crossing.t, crossing.position("left")[:, 0]
        ),
    }


def measured(
    fine: sp.Result, coarse: sp.Result, runs: dict[tuple[str, float], sp.Result]
) -> dict[str, float]:
    six = sp.simulate(rfrfr(basis=6), SWAYS[1], accuracy=1e-5)
    good = [runs["generalized-α", dt] for dt in STEPS]
    return {
        "tip at accuracy 1e-3 (m)": tip_error(fine),
        "tip with 3 modes at 10 ms, to 7 s (m)": tip_error(coarse, SWAYS[1]),
        "tip with 6 modes at accuracy 1e-5, to 7 s (m)": tip_error(six, SWAYS[1]),
        **swinging(fine),
        "loop open by, at any step of any run (m)": max(
            map(gap, (fine, coarse, six, *runs.values()))
        ),
        "Newmark breaks down at 10 ms (s)": float(runs["Newmark", 0.01].t[-1]),
        "Newmark breaks down at 100 ms (s)": float(runs["Newmark", 0.1].t[-1]),
        "generalized-α reaches with every step (s)": min(float(run.t[-1]) for run in good),
        "noise of generalized-α at 10, 50, 100 ms, last 10 s over second": growth(runs),
        "Newton iterations of generalized-α at 10 ms, at most": int(
            runs["generalized-α", 0.01].newton.max()
        ),
    }


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: only the accurate run."""
    fine = accurate()
    if quick:
        gaps = {"loop open by, at any step of any run (m)": gap(fine)}
        return {"tip at accuracy 1e-3 (m)": tip_error(fine), **swinging(fine), **gaps}
    return measured(fine, as_printed(), long_runs())


def told() -> dict[str, float]:
    """How far Newmark gets with the other steps."""
    found = {"step (s)": 0.01}
    for dt in (0.001, 0.05):
        found[f"Newmark at {1e3 * dt:g} ms reaches (s)"] = float(
            as_printed("Newmark", dt, LONG).t[-1]
        )
    return found


def main() -> None:
    from examples._picture import BLUE, GREEN, RED, figure, save, snapshots

    fine, coarse, runs = accurate(), as_printed(), long_runs()
    fig, axes = figure(2, 3, (12.0, 6.8))
    chosen = fine.sample(np.array([0.0, 1.4, 1.5, 1.6, 2.0, 4.5]))
    shapes = [
        np.concatenate([left, right[::-1]])
        for left, right in zip(
            chosen.shape("left", 41).position, chosen.shape("right", 41).position, strict=True
        )
    ]
    mappable = snapshots(axes[0, 0], shapes, chosen.t)
    fig.colorbar(mappable, ax=axes[0, 0], label="time (s)")
    axes[0, 0].set_title("Shapes, 12 modes")

    for name, color in (("left", BLUE), ("right", RED)):
        angle = np.degrees(coarse.joint(name).position[:, 0]) + 90
        axes[0, 1].plot(coarse.t, angle, color=color, label=name)
    axes[0, 1].set(
        xlabel="time (s)", ylabel="angle from x (deg)", title="Base joints, 3 modes, 10 ms"
    )
    axes[0, 1].legend()

    times, tip = reference("rfrfr")
    dense = fine.sample(np.minimum(times, fine.t[-1])).position("left")
    drop = axes[0, 2].twinx()
    drop.spines["right"].set_visible(True)
    drop.grid(False)
    for axis, column, color in ((axes[0, 2], 0, BLUE), (drop, 1, RED)):
        axis.plot(times, 1e3 * dense[:, column], color=color)
        axis.plot(times[::15], 1e3 * tip[::15, column], ".", color=GREEN, ms=3)
        axis.set_ylabel(f"{'xy'[column]} (mm)", color=color)
    axes[0, 2].plot([], [], ".", color=GREEN, label="finite elements")
    axes[0, 2].set_ylim(bottom=-500)
    drop.set_ylim(top=1400)
    axes[0, 2].set(xlabel="time (s)", title=f"Tip, accuracy 1e-3, {len(fine) - 1} steps")
    axes[0, 2].legend(loc="upper left")

    force = coarse.closure("tip")
    for column, letter in ((3, "x"), (4, "y")):
        axes[1, 0].plot(coarse.t, force[:, column], label=f"along {letter} of the right rod")
    axes[1, 0].set(xlabel="time (s)", ylabel="force (N)", title="Force in the closing hinge")
    axes[1, 0].set_ylim(top=1.5)
    axes[1, 0].legend(loc="upper left")

    for name, color in (("Newmark", RED), ("generalized-α", BLUE)):
        long = runs[name, 0.01]
        axes[1, 1].plot(long.t[1:], long.newton[1:], ".", ms=3, color=color, label=name)
    axes[1, 1].set(xlabel="time (s)", ylabel="iterations", title="Newton iterations a step, 10 ms")
    axes[1, 1].set(ylim=(0, 12))
    axes[1, 1].legend(loc="upper left")

    print("ends (s), Newton iterations a step, noise of the hinge's force (N) in six spans of 10 s")
    marks = dict(zip(STEPS, "v^os", strict=True))
    for (name, dt), result in runs.items():
        spans = [noise(result, 10.0 * i, 10.0 * (i + 1)) for i in range(6)]
        mean, most = result.newton[1:].mean(), result.newton.max()
        ends = f"{result.t[-1]:6.2f}" + (f" (printed {PRINTED[dt]:g})" if name == "Newmark" else "")
        print(f"{name:14} {1e3 * dt:4.0f} ms  {ends:22} {mean:5.2f} {most:4d}  "
              + "  ".join(f"{x:.1e}" for x in spans))  # fmt: skip
        axes[1, 2].semilogy(
            np.arange(5, 65, 10),
            spans,
            marks[dt] + "-",
            color=RED if name == "Newmark" else BLUE,
            ms=4,
            label=f"{name}, {1e3 * dt:.0f} ms",
        )
    axes[1, 2].set(xlabel="time (s)", ylabel="noise (N)", title="Noise of the force, spans of 10 s")
    axes[1, 2].set_ylim(top=1e4)
    axes[1, 2].legend(ncols=2, loc="upper center", columnspacing=0.8, handlelength=1.0, fontsize=7)
    save(fig, "rfrfr")
    report("000 §5.13, RFRFR", measured(fine, coarse, runs), LIMITS)


if __name__ == "__main__":
    main()
