"""The picture of docs/choosing.md: what the error of a run is, and what the run says of it itself.

A heavy string, let go, with a few modes of its own and with as many as an accuracy of 1e-3 needs.

    python benchmarks/error_norm.py     # writes docs/images/error_norm.png
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from supple.bench.accuracy_motions import MOTIONS
from supple.plot.style import BLUE, GRAY, ORANGE, RED, settings
from supple.results.result import Result
from supple.robot.items import Rod
from supple.run.statics import release

matplotlib.use("agg")
OUT = Path(__file__).parents[1] / "docs" / "images" / "error_norm.png"
PLACES = np.linspace(0, 1, 101)
MODES = 4
DURATION = 0.6


def runs() -> tuple[Result, Result]:
    """With given modes, and with those that an accuracy needs."""
    case = MOTIONS["heavy-string-swings"]
    robot = case.build()
    rod = robot["rod"]
    assert isinstance(rod, Rod)
    few = robot.replacing(replace(rod, basis=MODES))
    assert case.released is not None
    coarse = release(few, case.released, DURATION, accuracy=1e-3)
    return coarse, release(robot, case.released, DURATION, accuracy=1e-3)


def draw() -> Path:
    """Both runs where they begin, and their distance over time."""
    from matplotlib import pyplot

    coarse, fine = runs()
    times = np.linspace(0, DURATION, 301)
    shapes = [run.sample(times).shape("rod", PLACES).position for run in (coarse, fine)]
    apart = np.linalg.norm(shapes[0] - shapes[1], axis=-1)
    place = apart[0].argmax()
    with pyplot.rc_context(settings()):
        figure, axes = pyplot.subplots(
            1, 2, figsize=(8, 3.4), layout="constrained", width_ratios=(2, 3)
        )
        left: Any = axes[0]
        for shape, color, words in zip(
            shapes, (RED, BLUE), (f"{MODES} modes", "refined for 1e-3"), strict=True
        ):
            left.plot(shape[0, :, 1], -shape[0, :, 0], color=color, label=words)
        ends = np.stack([shape[0, place] for shape in shapes])
        left.plot(ends[:, 1], -ends[:, 0], "o-", color=ORANGE, ms=4, lw=2, label="largest distance")
        left.set(title="the start, held aside", xlabel="y in m", ylabel="-x in m", aspect="equal")
        left.legend()
        right: Any = axes[1]
        right.plot(times, apart.max(axis=1), color=ORANGE, label="largest along the rod")
        right.plot(times, apart[:, -1], color=GRAY, label="tip")
        rms = np.sqrt((apart**2).mean(axis=1))
        right.plot(times, rms, color=GRAY, ls=":", label="root mean square")
        right.plot(0.0, apart[0].max(), "o", color=ORANGE, ms=5)
        right.axhline(coarse.error.total, color=RED, ls="--", label="result.error.total")
        right.set(title="distance / L", xlabel="t in s", yscale="log", ylim=(1e-3, 0.2))
        right.legend(loc="upper right", ncols=2)
        figure.savefig(OUT, dpi=110)
    print(f"got {apart.max():.2g}, told {coarse.error}; refined: told {fine.error}")
    return OUT


if __name__ == "__main__":
    print(draw())
