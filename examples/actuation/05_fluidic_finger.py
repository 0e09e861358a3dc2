"""002 §5.3.3: a soft finger filled with air or with water within two seconds, then left alone.

Nothing but the chamber acts, so at rest every section bends and stretches alike: with the compliance c of the
volume, V = V₀ + c p, and (p + p₀) V = n R T for the gas. Both fluids must end in that shape. Water holds the
volume and with it part of the motion; with air the finger swings on. The text tells of a ratio of about two;
how much is left after filling depends on where in a swing it ends, and without gravity it is more.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.fluidic_finger import (
    CHAMBER_AREA,
    END,
    FILLING,
    LENGTH,
    filled,
    fluidic_finger,
)  # fmt: skip

STEP = 0.01
FLUIDS = ("air", "water")
LIMITS = {
    "shapes at rest, air against water, over length": 1e-12,
    "volume of water against the controlled one, relative": 1e-12,
    "volume of air at rest against the closed form, relative": 1e-12,
    "mean elongation at rest against the printed 0.12": 2e-3,
    "volume at rest against the printed one, relative": 5e-3,
    "oscillation with water over that with air": (0.17, 0.36),
    "mean tip after filling from its rest, over length": 7e-4,
    "tip with water, 4 modes at 10 ms against 6 at accuracy 1e-4, over length": 1e-2,
    "tip with air, 4 modes at 10 ms against 6 at accuracy 1e-4, over length": 0.03,
}


def filling(fluid: str) -> sp.Result:
    """Filled and left alone, at the text's step."""
    return sp.simulate(fluidic_finger(fluid), END, dt=STEP)


def oscillation(result: sp.Result) -> float:
    """Half the range (m) of the transverse position of the tip after filling."""
    late = result.t > FILLING
    return float(np.ptp(result.position("finger")[late, 1]) / 2)


def measured(runs: dict[str, sp.Result]) -> dict[str, float]:
    held = {fluid: sp.equilibrium(runs[fluid].model, t=END) for fluid in FLUIDS}
    shapes = {fluid: held[fluid].shape("finger").position for fluid in FLUIDS}
    empty = CHAMBER_AREA * LENGTH
    water = runs["water"].chamber("chamber")
    share = np.clip(runs["water"].t / FILLING, 0.0, 1.0)
    wanted = empty + share * (filled() - empty)
    late = runs["air"].t > FILLING
    mean = runs["air"].position("finger")[late].mean(axis=0)
    stretch = held["air"].strain("finger")[:, 3].mean() - 1
    return {
        "shapes at rest, air against water, over length": float(
            np.abs(shapes["air"] - shapes["water"]).max() / LENGTH
        ),
        "volume of water against the controlled one, relative": float(
            np.abs(water[0] / wanted - 1).max()
        ),
        "volume of air at rest against the closed form, relative": abs(
            held["air"].chamber("chamber").volume / filled() - 1
        ),
        "mean elongation at rest against the printed 0.12": abs(float(stretch) - 0.12),
        "volume at rest against the printed one, relative": abs(filled() / 2.65e-6 - 1),
        "oscillation with water over that with air": oscillation(runs["water"])
        / oscillation(runs["air"]),
        "mean tip after filling from its rest, over length": float(
            np.linalg.norm(mean - held["air"].position("finger")) / LENGTH
        ),
    }


def refined(runs: dict[str, sp.Result]) -> dict[str, float]:
    found = {}
    for fluid, coarse in runs.items():
        model = fluidic_finger(fluid, basis=6).build()
        fine = sp.simulate(model, END, accuracy=1e-4, t_eval=coarse.t)
        apart = np.linalg.norm(fine.position("finger") - coarse.position("finger"), axis=1).max()
        name = f"tip with {fluid}, 4 modes at 10 ms against 6 at accuracy 1e-4, over length"
        found[name] = float(apart / LENGTH)
    return found


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: without the refinement."""
    runs = {fluid: filling(fluid) for fluid in FLUIDS}
    return measured(runs) if quick else measured(runs) | refined(runs)


def main() -> None:
    from examples._picture import BLUE, ORANGE, figure, save, snapshots

    runs = {fluid: filling(fluid) for fluid in FLUIDS}
    fig, axes = figure(1, 3, (13.0, 3.8), width_ratios=(1, 1.4, 1.4))
    chosen = np.arange(0, 201, 25)
    shapes = runs["air"].shape("finger", 41).position[chosen]
    mappable = snapshots(axes[0], list(shapes), runs["air"].t[chosen])
    fig.colorbar(mappable, ax=axes[0], label="time (s)", location="right", shrink=0.9)
    axes[0].set_title("Filled with air")
    for fluid, color in (("air", ORANGE), ("water", BLUE)):
        result = runs[fluid]
        rest = sp.equilibrium(result.model, t=END).position("finger")
        late = result.t >= FILLING
        tip = result.position("finger")[late] - rest
        axes[1].plot(result.t[late], 1e3 * tip[:, 1], color=color, label=fluid, lw=1.2)
        axes[2].plot(result.t, 1e-3 * result.chamber("chamber").pressure, color=color, label=fluid)
    axes[1].set(xlabel="time (s)", ylabel="y of the tip from rest (mm)", title="After filling")
    axes[1].legend()
    axes[2].set(xlabel="time (s)", ylabel="gauge pressure (kPa)", title="Pressure")
    axes[2].legend()
    save(fig, "fluidic_finger")
    report("002 §5.3.3: finger with air and with water", measured(runs) | refined(runs), LIMITS)


if __name__ == "__main__":
    main()
