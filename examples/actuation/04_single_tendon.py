"""002 §5.2.1: an arm raised and lowered by a ramp of its only tendon, with and without friction.

Friction in proportion to tension, curvature and sliding speed does nothing at rest, and most where the arm is
bent under high tension: there the swing dies out faster, while next to straight it hardly changes. The
logarithmic decrement is measured from the peaks of the tip about the equilibrium.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.single_tendon_arm import (
    END,
    FRICTION,
    HOLD,
    LENGTH,
    LOWERED,
    OFFSET,
    RAMP,
    single_tendon_arm,
)  # fmt: skip

STEP = 0.005
LIMITS = {
    "tip's tangent from level at the start (rad)": 3e-6,
    "raised, end of the run from the equilibrium (m)": 9e-4,
    "lowered, end of the run from the equilibrium (m)": 8e-4,
    "decrement without friction over that with it, raised": (0.6, 0.85),
    "decrement of lowered over raised arm, with friction": (0.6, 0.9),
    "decrement against linear theory, lowered, no friction": 0.04,
    "tip, 4 modes against 8 (m)": 1e-4,
    "tip, 5 ms against 2.5 ms (m)": 4e-4,
}


def driven(friction: float, basis: int = 4, dt: float = STEP, duration: float = END) -> sp.Result:
    """Up at once, down at ``LOWERED``, from equilibrium."""
    model = single_tendon_arm(friction=friction, basis=basis).build()
    held = sp.equilibrium(model)
    return sp.simulate(model, duration, dt=dt, initial=held)


def rests(friction: float) -> dict[str, sp.Equilibrium]:
    """Equilibria with the motor up and down."""
    model = single_tendon_arm(friction=friction).build()
    return {"raised": sp.equilibrium(model, t=LOWERED), "lowered": sp.equilibrium(model, t=0.0)}


def peaks(result: sp.Result, state: str, rest: sp.Equilibrium) -> tuple[np.ndarray, np.ndarray]:
    """Instants and heights (m) of the tip's maxima above its rest, after a ramp."""
    start = RAMP if state == "raised" else LOWERED + RAMP
    chosen = (result.t > start) & (result.t < start + 5.0)
    t = result.t[chosen]
    y = result.position("arm")[chosen, 1] - rest.position("arm")[1]
    i = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] >= y[2:])) + 1
    return t[i], y[i]


def decrement(result: sp.Result, state: str, rest: sp.Equilibrium) -> float:
    """Mean logarithmic decrement over the peaks of five seconds."""
    heights = peaks(result, state, rest)[1]
    return float(-np.polyfit(np.arange(len(heights)), np.log(heights), 1)[0])


def linear_decrement(rest: sp.Equilibrium) -> float:
    """Of the slowest mode of the arm linearized at rest, where drag does nothing."""
    values = sp.linearize(rest.model, at=rest).eigenvalues
    slowest = min((v for v in values if v.imag > 0), key=lambda v: v.imag)
    return float(-2 * np.pi * slowest.real / slowest.imag)


def measured(rubbing: sp.Result, smooth: sp.Result) -> dict[str, float]:
    with_it, without = rests(FRICTION), rests(0.0)
    tangent = with_it["lowered"].frame("arm").pose.rotation[:, 0]
    slow = {state: decrement(smooth, state, without[state]) for state in without}
    fast = {state: decrement(rubbing, state, with_it[state]) for state in with_it}
    exact = linear_decrement(without["lowered"])
    return {
        "tip's tangent from level at the start (rad)": abs(float(tangent[1])),
        "decrement without friction over that with it, raised": slow["raised"] / fast["raised"],
        "decrement of lowered over raised arm, with friction": fast["lowered"] / fast["raised"],
        "decrement against linear theory, lowered, no friction": abs(slow["lowered"] / exact - 1),
    }


def ends(result: sp.Result) -> dict[str, float]:
    """How far from rest the arm is before it is lowered, and at the end."""
    tip, held = result.position("arm"), rests(FRICTION)
    before = int(np.argmin(np.abs(result.t - LOWERED)))
    return {
        f"{state}, end of the run from the equilibrium (m)": float(
            np.linalg.norm(tip[i] - held[state].position("arm"))
        )
        for state, i in (("raised", before), ("lowered", -1))
    }


def refined(result: sp.Result) -> dict[str, float]:
    tip = result.position("arm")
    modes = driven(FRICTION, basis=8).position("arm")
    steps = driven(FRICTION, dt=STEP / 2).position("arm")[::2]
    return {
        "tip, 4 modes against 8 (m)": float(np.linalg.norm(tip - modes, axis=1).max()),
        "tip, 5 ms against 2.5 ms (m)": float(np.linalg.norm(tip - steps, axis=1).max()),
    }


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: without the refinements."""
    rubbing, smooth = driven(FRICTION), driven(0.0)
    errors = measured(rubbing, smooth) | ends(rubbing)
    return errors if quick else errors | refined(rubbing)


def main() -> None:
    from examples._picture import BLUE, GRAY, RED, figure, save

    rubbing, smooth = driven(FRICTION), driven(0.0)
    held = rests(FRICTION)
    fig, axes = figure(1, 3, (13.0, 3.8), width_ratios=(1, 1.6, 1.1))
    for state, color in (("lowered", GRAY), ("raised", BLUE)):
        line = held[state].shape("arm", 61)
        above = line.position + OFFSET * line.rotation[:, :, 1]
        axes[0].plot(line.position[:, 0], line.position[:, 1], color=color, lw=2.4, label=state)
        axes[0].plot(above[:, 0], above[:, 1], color=RED, lw=0.8)
    axes[0].set_aspect("equal")
    axes[0].set(xlabel="x (m)", ylabel="y (m)", title="At rest; tendon red")
    axes[0].legend()
    for result, color, label in ((smooth, GRAY, "no friction"), (rubbing, BLUE, "β = 5 s/m")):
        height = 1e3 * result.position("arm")[:, 1]
        axes[1].plot(result.t, height, color=color, lw=1.2, label=label)
    axes[1].set(xlabel="time (s)", ylabel="tip y (mm)", title="Raised, lowered")
    axes[1].legend(loc="upper right")
    for result, friction, color, label in (
        (smooth, 0.0, GRAY, "no friction"),
        (rubbing, FRICTION, BLUE, "β = 5 s/m"),
    ):
        for state, style in (("raised", "o-"), ("lowered", "s--")):
            heights = peaks(result, state, rests(friction)[state])[1]
            axes[2].semilogy(1e3 * heights, style, color=color, ms=4, label=f"{state}, {label}")
    axes[2].set(xlabel="peak", ylabel="height above rest (mm)", title="Decay")
    axes[2].legend(fontsize=7)
    save(fig, "single_tendon")
    errors = measured(rubbing, smooth) | ends(rubbing) | refined(rubbing)
    report(f"002 §5.2.1: one tendon, L = {LENGTH} m, held by {1e3 * HOLD:.3f} mm", errors, LIMITS)


if __name__ == "__main__":
    main()
