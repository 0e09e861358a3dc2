"""000 §3.9.1: soft and stiff rods thrown into free flight by a force and a moment at one end.

The accuracy asked for, 1e-2 of the length, decides strains, modes and steps. The error is the largest
distance of the unloaded end, over 10 s, from a converged finite-element solution (benchmarks/reference).
The loads in the thesis are lost; these are Simo and Vu-Quoc's (see supple/robots/flying_rod.py).
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.bench.rods import reference, tip_error
from supple.robots.flying_rod import soft_flying_rod, stiff_flying_rod

ACCURACY = 1e-2
DURATION = 10.0
CASES = {"soft-flying-rod": soft_flying_rod(), "stiff-flying-rod": stiff_flying_rod()}
LIMITS = {f"{case}: tip, over length": ACCURACY for case in CASES}


def thrown(case: str, duration: float = DURATION) -> sp.Result:
    return sp.simulate(CASES[case], duration, accuracy=ACCURACY)


def error(case: str, result: sp.Result) -> float:
    return tip_error(result, case, CASES[case]["rod"].length)


def run(quick: bool = False) -> dict[str, float]:
    """Both benches; quick: the soft rod up to the peak of its load."""
    cases = list(CASES)[:1] if quick else CASES
    duration = 2.5 if quick else DURATION
    return {f"{case}: tip, over length": error(case, thrown(case, duration)) for case in cases}


def main() -> None:
    from examples._picture import figure, save, snapshots

    fig, axes = figure(2, 3, (12.5, 6), width_ratios=(1.3, 1.3, 1.1))
    errors = {}
    for row, case in zip(axes, CASES, strict=True):
        result = thrown(case)
        errors[f"{case}: tip, over length"] = error(case, result)
        chosen = result.sample(np.linspace(0.0, 8.0, 17))
        shapes = chosen.shape("rod", 81).position
        for axis, plane in ((row[0], "xy"), (row[1], "xz")):
            mappable = snapshots(axis, shapes, chosen.t, plane)
        fig.colorbar(mappable, ax=row[1], label="time (s)")
        row[0].set_title(case.replace("-", " ").capitalize())
        fine = result.sample(np.linspace(0.0, DURATION, 1001))
        times, tip = reference(case)
        for column, letter in enumerate("xyz"):
            row[2].plot(fine.t, fine.position("rod")[:, column], label=f"tip {letter}")
            row[2].plot(times[::40], tip[::40, column], ".", color="k", ms=3)
        row[2].plot([], [], ".", color="k", label="finite elements")
        row[2].set(xlabel="time (s)", ylabel="position (m)", title=f"Tip, {len(result) - 1} steps")
        row[2].legend()
    save(fig, "flying_rods")
    report("000 §3.9.1, flying rods at accuracy 1e-2", errors, LIMITS)


if __name__ == "__main__":
    main()
