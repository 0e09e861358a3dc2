"""000 §5.13: the planar RFRFR robot, two driven rods joined by a hinge; 10 s, and 60 s for the schemes.

The tip is measured against an independent finite-element solution (converged to 4e-9 m). The text runs
three modes and 10 ms. It reports that Newmark's multipliers become noisy and that its run breaks down after
some 30 s, while generalized-α stays clean. Here the noise is the rms of the second difference of the
hinge's force over four: for a force that alternates from step to step, its amplitude. Newmark's grows, at
10 ms more than tenfold in 60 s, but the run does not break down; generalized-α's does not grow.
"""

import warnings

import numpy as np

import supple as sp
from examples._check import report
from supple.bench.rods import reference
from supple.robots.rfrfr import rfrfr

DURATION = 10.0
STEPS = (0.01, 0.05, 0.1)
SCHEMES = {"Newmark": sp.newmark(), "generalized-α": sp.generalized_alpha(0.9)}
LIMITS = {
    "tip at accuracy 1e-3 (m)": 1e-3,
    "tip with 3 modes at 10 ms (m)": 1e-2,
    "loop open by (m)": 1e-9,
    "noise of generalized-α, last 10 s over second": 1.0,
}


def accurate() -> sp.Result:
    """Modes and steps as the accuracy needs them."""
    return sp.simulate(rfrfr(basis="auto"), DURATION, accuracy=1e-3)


def as_printed(
    scheme: str = "generalized-α", dt: float = 0.01, duration: float = DURATION
) -> sp.Result:
    """Three modes and a fixed step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what Newmark is warned of is shown here
        return sp.simulate(rfrfr(), duration, dt=dt, scheme=SCHEMES[scheme])


def tip_error(result: sp.Result) -> float:
    """Largest distance of the tip from the reference (m)."""
    times, tip = reference("rfrfr")
    found = result.sample(np.minimum(times, result.t[-1])).position("left")
    return float(np.linalg.norm(found - tip, axis=1).max())


def noise(result: sp.Result, begin: float, end: float) -> float:
    """Amplitude (N) of the hinge's force from step to step between two instants."""
    force = result.closure("tip")[(result.t >= begin) & (result.t <= end), 3:]
    return float(np.sqrt(np.mean(np.sum(np.diff(force, 2, axis=0) ** 2, axis=1))) / 4)


def gap(result: sp.Result) -> float:
    return float(np.abs(result.violation).max())


def long_runs() -> dict[tuple[str, float], sp.Result]:
    """60 s with each scheme and step."""
    return {(name, dt): as_printed(name, dt, 60.0) for name in SCHEMES for dt in STEPS}


def growth(runs: dict[tuple[str, float], sp.Result]) -> float:
    """Noise of generalized-α between 50 and 60 s over that between 10 and 20 s, at worst."""
    chosen = [runs["generalized-α", dt] for dt in STEPS]
    return max(noise(run, 50.0, 60.0) / noise(run, 10.0, 20.0) for run in chosen)


def measured(
    fine: sp.Result, coarse: sp.Result, runs: dict[tuple[str, float], sp.Result]
) -> dict[str, float]:
    values = (tip_error(fine), tip_error(coarse), max(gap(fine), gap(coarse)), growth(runs))
    return dict(zip(LIMITS, values, strict=True))


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: only the accurate run."""
    fine = accurate()
    if quick:
        return {"tip at accuracy 1e-3 (m)": tip_error(fine), "loop open by (m)": gap(fine)}
    return measured(fine, as_printed(), long_runs())


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

    for name, colour in (("left", BLUE), ("right", RED)):
        angle = np.degrees(coarse.joint(name).position[:, 0]) + 90
        axes[0, 1].plot(coarse.t, angle, color=colour, label=name)
    axes[0, 1].set(
        xlabel="time (s)", ylabel="angle from x (deg)", title="Base joints, 3 modes, 10 ms"
    )
    axes[0, 1].legend()

    times, tip = reference("rfrfr")
    dense = fine.sample(np.minimum(times, fine.t[-1])).position("left")
    drop = axes[0, 2].twinx()
    drop.spines["right"].set_visible(True)
    drop.grid(False)
    for axis, column, colour in ((axes[0, 2], 0, BLUE), (drop, 1, RED)):
        axis.plot(times, 1e3 * dense[:, column], color=colour)
        axis.plot(times[::15], 1e3 * tip[::15, column], ".", color=GREEN, ms=3)
        axis.set_ylabel(f"{'xy'[column]} (mm)", color=colour)
    axes[0, 2].plot([], [], ".", color=GREEN, label="finite elements")
    axes[0, 2].set_ylim(top=13)
    axes[0, 2].set(xlabel="time (s)", title=f"Tip, accuracy 1e-3, {len(fine) - 1} steps")
    axes[0, 2].legend(loc="upper right")

    force = coarse.closure("tip")
    for column, letter in ((3, "x"), (4, "y")):
        axes[1, 0].plot(coarse.t, force[:, column], label=f"along {letter} of the right rod")
    axes[1, 0].set(xlabel="time (s)", ylabel="force (N)", title="Force in the closing hinge")
    axes[1, 0].legend(loc="center right")

    axes[1, 1].plot(coarse.t[1:], coarse.newton[1:], ".", ms=3)
    axes[1, 1].set(xlabel="time (s)", ylabel="iterations", title="Newton iterations a step, 10 ms")
    axes[1, 1].set(ylim=(0, 3), yticks=range(4))

    print("noise of the hinge's force (N) in six spans of 10 s")
    marks = dict(zip(STEPS, "o^s", strict=True))
    for (name, dt), result in runs.items():
        spans = [noise(result, 10.0 * i, 10.0 * (i + 1)) for i in range(6)]
        print(f"{name:14} {1e3 * dt:4.0f} ms  " + "  ".join(f"{x:.1e}" for x in spans))
        colour = RED if name == "Newmark" else BLUE
        axes[1, 2].semilogy(
            np.arange(5, 65, 10),
            spans,
            marks[dt] + "-",
            color=colour,
            ms=4,
            label=f"{name}, {1e3 * dt:.0f} ms",
        )
    axes[1, 2].set(xlabel="time (s)", ylabel="noise (N)", title="Noise of the force, spans of 10 s")
    axes[1, 2].set_ylim(top=3.0)
    axes[1, 2].legend(ncols=2, loc="upper center", columnspacing=0.8, handlelength=1.0, fontsize=7)
    save(fig, "rfrfr")
    report("000 §5.13, RFRFR", measured(fine, coarse, runs), LIMITS)


if __name__ == "__main__":
    main()
