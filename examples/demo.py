"""A robot of hinges, flexible rods and rigid bodies falls over: run with `make demo`.

Leaves out/demo.png (snapshots, energies) and out/demo.npz (the trajectory, read with numpy.load).
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a script

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import supple as sp
from examples._check import report
from supple.robots.feeler_arm import PUSH_END, feeler_arm

DURATION = 3.0
ACCURACY = 5e-3
LIMITS = {"energy gained without a push, relative": 1e-3}
RODS = ("arm", "left feeler", "right feeler")
BODIES = {"table": 60, "hand": 45, "left bead": 14, "right bead": 14}


def simulate(duration: float, accuracy: float) -> sp.Result:
    """The simulation, with a progress bar: it waits for the compiler, then runs."""
    columns = TextColumn("{task.description:10}"), BarColumn(), TextColumn("{task.fields[note]}")
    with Progress(*columns, TimeElapsedColumn()) as bar:
        task = bar.add_task("compiling", total=None, note="")

        def progress(t: float, instants: int) -> None:
            note = f"{t:.2f} s of motion in {instants} instants"
            bar.update(task, description="simulating", total=duration, completed=t, note=note)

        options = {"accuracy": accuracy, "output": 5e-3, "progress": progress, "throw": True}
        return sp.simulate(feeler_arm(), duration, **options)


def gained(result: sp.Result) -> float:
    """Largest rise of the total energy after the push (it may only fall), over the potential's range."""
    total = result.energies.total[result.t > PUSH_END]
    return float(np.max(total - np.minimum.accumulate(total)) / np.ptp(result.energies.potential))


def run(quick: bool = False) -> dict[str, float]:
    """Three seconds; quick: one, with less accuracy."""
    result = simulate(1.0, 1e-2) if quick else simulate(DURATION, ACCURACY)
    return dict(zip(LIMITS, [gained(result)], strict=True))


def picture(result: sp.Result) -> None:
    """Snapshots that fade into the past, energies, and joint angles."""
    from examples._picture import GREY, ORANGE, RED, SHADES, figure, plain_box, save

    fig, axes = figure(2, 2, (11, 6.2), width_ratios=(1.55, 1))
    for axis in axes[:, 0]:
        axis.remove()
    space = fig.add_subplot(axes[0, 0].get_gridspec()[:, 0], projection="3d", computed_zorder=False)
    chosen = np.linspace(0, len(result) - 1, 13).astype(int)
    shapes = {rod: result.shape(rod).position for rod in RODS}
    for order, i in enumerate(chosen):
        fresh = (order + 1) / len(chosen)
        style = {"color": SHADES(fresh), "alpha": 0.25 + 0.75 * fresh**1.5, "zorder": order}
        for rod in RODS:
            space.plot(*shapes[rod][i].T, linewidth=3.0 if rod == "arm" else 1.4, **style)
        for body, size in BODIES.items():
            space.scatter(*result.position(body)[i], s=size, edgecolors="none", **style)
    for side, colour in (("left", RED), ("right", ORANGE)):
        space.plot(*result.position(f"{side} bead").T, color=colour, linewidth=0.7, zorder=-1)
    plain_box(space, np.concatenate([shape.reshape(-1, 3) for shape in shapes.values()]))
    space.view_init(elev=18, azim=-62)
    space.set_title(f"{result.t[-1]:g} s, from pale to dark")
    for name in ("kinetic", "elastic", "potential"):
        axes[0, 1].plot(result.t, getattr(result.energies, name), label=name)
    axes[0, 1].plot(result.t, result.energies.total, color="k", label="total")
    axes[0, 1].axvspan(0.0, PUSH_END, color=GREY, alpha=0.15, linewidth=0, label="push")
    axes[0, 1].set(xlabel="time (s)", ylabel="energy (J)", title="Energy")
    for item in ("table", "arm"):
        axes[1, 1].plot(result.t, np.degrees(result.joint(item)[:, 0]), label=item)
    axes[1, 1].set(xlabel="time (s)", ylabel="angle (°)", title="Hinges")
    axes[0, 1].legend(ncols=2)
    axes[1, 1].legend()
    save(fig, "demo")


def main() -> None:
    began = time.perf_counter()
    result = simulate(DURATION, ACCURACY)
    picture(result)
    out = Path(__file__).resolve().parents[1] / "out" / "demo.npz"
    print(f"trajectory: {result.save(out)}")
    print(f"{result}, {time.perf_counter() - began:.0f} s in all")
    report("demo", {next(iter(LIMITS)): gained(result)}, LIMITS)


if __name__ == "__main__":
    main()
