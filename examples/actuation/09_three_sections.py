"""Three sections with four cables each, in pieces of constant strain and on smooth strains.

The arm hangs under its weight and a load, and is pulled by cables. One piece a section is the model of
constant curvature, which gravity and the cables of other sections make wrong by percents; the error falls
with the square of the number of pieces. The same pieces in the default formulation give the same arm: both
have no line of their kinematics in common. The reference has smooth strains, ten modes of each in a section.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.section_arm import LENGTH, SECTIONS, section_arm

WHOLE = len(SECTIONS) * LENGTH
COUNTS = (1, 2, 4, 8, 16)
"""Pieces a section."""
RISE, DURATION, DT = 0.2, 0.8, 5e-3
LIMITS = {
    "tip, constant curvature in each section, over length": (1e-2, 4e-2),
    "tip, 4 pieces a section, over length": (5e-4, 3e-3),
    "order of the error in the number of pieces": (1.9, 2.1),
    "tip, the same pieces in both formulations, over length": 1e-11,
    "tip, 6 modes against 10, over length": 1e-8,
    "swing after the cables are pulled, 4 pieces a section, tip over length": (5e-4, 5e-3),
    "swing, the same pieces in both formulations, tip over length": 1e-9,
}


def tip(count: int, pieces: bool = True, formulation: str = "pcs") -> np.ndarray:
    """Where the load hangs at rest (m)."""
    robot = section_arm(count, pieces, formulation)
    return sp.equilibrium(robot.build()).position("load")


def errors_at_rest(exact: np.ndarray, counts: tuple[int, ...]) -> list[float]:
    """Distance of the tip from the smooth arm, over length."""
    return [float(np.linalg.norm(tip(count) - exact)) / WHOLE for count in counts]


def swing(count: int, pieces: bool, formulation: str) -> sp.Result:
    """From rest without tension, the cables pulled within ``RISE``."""
    model = section_arm(count, pieces, formulation, RISE).build()
    return sp.simulate(model, DURATION, dt=DT, initial=sp.equilibrium(model))


def apart(a: sp.Result, b: sp.Result) -> float:
    """Largest distance of the tips over a run, over length."""
    return float(np.linalg.norm(a.position("load") - b.position("load"), axis=1).max()) / WHOLE


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: at rest, up to 4 pieces."""
    exact = tip(10, False, "strain")
    counts = (1, 2, 4) if quick else (1, 4, 8)
    found = errors_at_rest(exact, counts)
    same = tip(4) - tip(4, True, "strain")
    errors = {
        "tip, constant curvature in each section, over length": found[0],
        "tip, 4 pieces a section, over length": found[counts.index(4)],
        "order of the error in the number of pieces": float(np.log2(found[-2] / found[-1])),
        "tip, the same pieces in both formulations, over length": float(np.linalg.norm(same))
        / WHOLE,
    }
    if quick:
        return errors
    coarse = float(np.linalg.norm(tip(6, False, "strain") - exact)) / WHOLE
    errors["tip, 6 modes against 10, over length"] = coarse
    pieces, smooth = swing(4, True, "pcs"), swing(6, False, "strain")
    name = "swing after the cables are pulled, 4 pieces a section, tip over length"
    errors[name] = apart(pieces, smooth)
    name = "swing, the same pieces in both formulations, tip over length"
    errors[name] = apart(pieces, swing(4, True, "strain"))
    return errors


def main() -> None:
    from examples._picture import BLUE, GRAY, GREEN, ORANGE, RED, plain_box, plt, save

    fig = plt.figure(figsize=(13.0, 4.4), layout="constrained")
    grid = fig.add_gridspec(1, 3, width_ratios=(1.0, 1.0, 1.2))
    space, fall, time = (
        fig.add_subplot(grid[0, i], projection="3d" if i == 0 else None) for i in range(3)
    )
    smooth, constant = (
        sp.equilibrium(section_arm(*words).build())
        for words in ((10, False, "strain"), (1, True, "pcs"))
    )
    every = []
    for name, color in zip(SECTIONS, (BLUE, ORANGE, GREEN), strict=True):
        line, arc = (held.shape(name, 31).position for held in (smooth, constant))
        space.plot(*line.T, color=color, lw=2.5)
        space.plot(*arc.T, color=GRAY, lw=1.2, ls="--")
        every += [line, arc]
    space.plot(*smooth.position("load")[:, None], "o", color=RED, ms=6)
    plain_box(space, np.concatenate(every))
    space.set(ylabel="", zlabel="")
    space.set_title("At rest; broken: one arc a section")
    off = errors_at_rest(smooth.position("load"), COUNTS)
    fall.loglog(COUNTS, off, "o-", color=BLUE, label="pieces")
    fall.loglog(COUNTS, off[-1] * (COUNTS[-1] / np.array(COUNTS)) ** 2, color=GRAY, lw=1, ls="--",
                label="slope -2")  # fmt: skip
    fall.set_xticks(COUNTS, [str(count) for count in COUNTS])
    fall.minorticks_off()
    fall.set(xlabel="pieces a section", ylabel="tip off, over length", title="Pieces")
    fall.legend()
    runs = {"smooth": (6, False, "strain"), "4 arcs": (4, True, "pcs"), "1 arc": (1, True, "pcs")}
    for (label, words), look in zip(runs.items(), ("-", ":", "--"), strict=True):
        result = swing(*words)
        for row, color in ((0, BLUE), (1, RED)):
            place = 1e3 * result.position("load")[:, row]
            time.plot(result.t, place, color=color, ls=look, lw=1.4, label=f"{'xy'[row]}, {label}")
    time.set(xlabel="time (s)", ylabel="tip (mm)", title=f"Pulled within {RISE} s")
    time.legend(ncols=3, fontsize=7, loc="upper left")
    time.set_ylim(top=430)
    save(fig, "three_sections")
    report("Three-section arm in pieces of constant strain", run(), LIMITS)


if __name__ == "__main__":
    main()
