"""A Delta-like robot with flexible links, whose loops close in the middle of its forearms.

Three motors impose their angles; the platform goes round, nearly level. Motors are the only source of energy:
their work, from the efforts that impose the angles, must be what the robot's energy gained.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.mechanics.frames import find_joint
from supple.robots.delta import delta

LIMBS = (1, 2, 3)
PERIOD = 2.0
LIMITS = {
    "loops open by (m)": 1e-9,
    "energy against the work of the motors, over its range": 1e-3,
    "platform, against twice the modes (m)": 1e-3,
}


def moved(modes: int = 3, duration: float = PERIOD) -> sp.Result:
    """From equilibrium, once round."""
    model = delta(modes=modes, period=PERIOD).build()
    held = sp.equilibrium(model)
    return sp.simulate(model, duration, dt=5e-3, scheme=sp.radau(3), initial=held)


def work(result: sp.Result) -> np.ndarray:
    """Work of the motors (J) until each instant."""
    power = np.zeros(len(result))
    for limb in LIMBS:
        speed = result.v[:, find_joint(result.model, f"arm {limb}").v][:, 0]
        power += result.effort(f"motor {limb}") * speed
    steps = np.diff(result.t) * (power[1:] + power[:-1]) / 2
    return np.concatenate([[0.0], np.cumsum(steps)])


def gained(result: sp.Result) -> np.ndarray:
    """Energy (J) gained since the start."""
    energy = sum(np.asarray(part) for part in result.energies)
    return energy - energy[0]


def measured(result: sp.Result) -> dict[str, float]:
    energy = gained(result)
    balance = np.abs(energy - work(result)).max() / np.ptp(energy)
    return {
        "loops open by (m)": float(np.abs(result.violation).max()),
        "energy against the work of the motors, over its range": float(balance),
    }


def refined(result: sp.Result) -> dict[str, float]:
    apart = result.position("platform") - moved(6).position("platform")
    name = "platform, against twice the modes (m)"
    return {name: float(np.linalg.norm(apart, axis=1).max())}


def run(quick: bool = False) -> dict[str, float]:
    """Once round; quick: the first half second."""
    if quick:
        return measured(moved(duration=0.5))
    result = moved()
    return measured(result) | refined(result)


def main() -> None:
    from examples._picture import BLUE, ORANGE, RED, SHADES, plain_box, plt, save

    result = moved()
    fig = plt.figure(figsize=(12.5, 7.0), layout="constrained")
    grid = fig.add_gridspec(2, 2, width_ratios=(1.3, 1))
    space = fig.add_subplot(grid[:, 0], projection="3d")
    chosen = [0, 160, 240]
    every = []
    for i, share in zip(chosen, (0.0, 0.55, 1.0), strict=True):
        for limb in LIMBS:
            for kind, width in (("arm", 2.4), ("forearm", 1.3)):
                line = result.shape(f"{kind} {limb}", 41).position[i]
                space.plot(*line.T, color=SHADES(share), linewidth=width)
                every.append(line)
            space.plot(*every[-1][20], "o", color=RED, ms=3)
            space.plot(*every[-1][-1], "o", color=BLUE, ms=5)
        rim = np.array([every[-5][0], every[-3][0], every[-1][0], every[-5][0]])
        space.plot(*rim.T, color=ORANGE, linewidth=2)
    plain_box(space, np.concatenate(every))
    space.set(zlabel="")
    space.view_init(22, -50)
    space.set_title("At 0, 0.8 and 1.2 s; elbows red, weights blue")

    place = fig.add_subplot(grid[0, 1])
    platform = result.position("platform") - result.position("platform")[0]
    for column, color in enumerate((BLUE, RED, ORANGE)):
        place.plot(result.t, 1e3 * platform[:, column], color=color, label="xyz"[column])
    place.set(xlabel="time (s)", ylabel="from home (mm)", title="Platform")
    place.legend()
    balance = fig.add_subplot(grid[1, 1])
    balance.plot(result.t, 1e3 * work(result), color=BLUE, label="work of the motors")
    balance.plot(result.t, 1e3 * gained(result), "--", color=RED, label="energy gained")
    balance.set(xlabel="time (s)", ylabel="energy (mJ)", title="Balance")
    balance.legend()
    save(fig, "delta")
    report("Delta-like robot", measured(result) | refined(result), LIMITS)


if __name__ == "__main__":
    main()
