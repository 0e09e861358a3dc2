"""000 §3.9.1: soft and stiff cantilevers held by a tip force and released in gravity.

The accuracy asked for, 1e-2 of the length, decides modes and steps. The error is the largest distance of
the tip, over the whole run, from a converged finite-element solution (benchmarks/reference).
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.bench.rods import reference, tip_error
from supple.robots.cantilever import soft_cantilever, stiff_cantilever

ACCURACY = 1e-2
CASES = {
    "soft-cantilever": (soft_cantilever(), 10.0),
    "stiff-cantilever": (stiff_cantilever(), 1.0),
}
LIMITS = {f"{case}: tip, over length": ACCURACY for case in CASES}


def released(case: str, share: float = 1.0) -> sp.Result:
    """The motion after the release, for a share of the bench's duration."""
    robot, duration = CASES[case]
    return sp.release(robot, "pull", share * duration, accuracy=ACCURACY)


def error(case: str, result: sp.Result) -> float:
    return tip_error(result, case, CASES[case][0]["rod"].length)


def run(quick: bool = False) -> dict[str, float]:
    """Both benches; quick: the first fifth of each."""
    share = 0.2 if quick else 1.0
    return {f"{case}: tip, over length": error(case, released(case, share)) for case in CASES}


def main() -> None:
    from examples._picture import BLUE, GREEN, RED, figure, save, snapshots

    fig, axes = figure(2, 2, (9.5, 7.0), width_ratios=(1, 1.4))
    errors = {}
    for row, case in zip(axes, CASES, strict=True):
        result = released(case)
        errors[f"{case}: tip, over length"] = error(case, result)
        duration = CASES[case][1]
        chosen = result.sample(np.linspace(0.0, 0.32 * duration, 13))
        shapes = chosen.shape("rod", 81).position
        drawn = [shape[:, [1, 0, 2]] * [1, -1, 1] for shape in shapes]
        mappable = snapshots(row[0], drawn, chosen.t)
        fig.colorbar(mappable, ax=row[0], label="time (s)")
        row[0].set(xlabel="y (m)", ylabel="−x (m)", title=case.replace("-", " ").capitalize())
        fine = result.sample(np.linspace(0.0, duration, 1001))
        times, tip = reference(case)
        for column, color, letter in ((0, BLUE, "x"), (1, RED, "y")):
            row[1].plot(fine.t, fine.position("rod")[:, column], color=color, label=f"tip {letter}")
            row[1].plot(times[::10], tip[::10, column], ".", color=GREEN, ms=3)
        row[1].plot([], [], ".", color=GREEN, label="finite elements")
        row[1].set(xlabel="time (s)", ylabel="position (m)", title=f"Tip, {len(result) - 1} steps")
        row[1].margins(y=0.15)
        row[1].legend(ncols=3, loc="upper right")
    save(fig, "cantilevers")
    report("000 §3.9.1, cantilevers at accuracy 1e-2", errors, LIMITS)


if __name__ == "__main__":
    main()
