"""002 §5.1: a plate on six elastic legs that are pushed out of the base; a free motion and a bifurcation.

First all six legs follow different waves, and the plate moves in its six degrees of freedom. Then the legs
follow lengths that would carry the plate sideways and level. They were computed independently (as was where
that path becomes unstable, and where the plate goes instead). Past the bifurcation the slow drive leaves the
path: the plate tips over and sways about another equilibrium, since nothing damps it.
"""

import numpy as np
from scipy.interpolate import CubicSpline

import supple as sp
from examples._check import report
from supple.robots.stewart import SIDEWAYS, SIDEWAYS_LENGTHS, stewart_gough

PERIOD = 4.0
"""Duration of the free motion, and of the drive sideways (s)."""
TIMES = np.linspace(0.0, PERIOD, 41)
"""Instants (s) of both motions: one compiled program serves both."""
LEGS = [f"leg {i + 1}" for i in range(6)]
BIFURCATION = -0.203
"""Place (m) of the bifurcation in the independent computation, to its last digit."""
TIPPED = np.array([-0.2425, 0.0, 0.3772])
"""Stable equilibrium (m) at the end of the path in that computation."""
LIMITS = {
    "loops open by (m)": 4e-12,
    "plate, against twice the modes (m)": 1e-7,
    "level path, statics (m)": 1e-5,
    "place of the bifurcation (m)": 1e-3,
    "tipped equilibrium (m)": 5e-5,
    "swaying, its mean off that equilibrium (m)": 5e-3,
}


def waving(modes: int, duration: float = PERIOD) -> sp.Result:
    """Six waves, one for each leg."""
    turn = 2 * np.pi * TIMES[:, None] / PERIOD
    waves = np.sin(turn / 2) ** 2 * (1 + np.sin(turn + np.pi / 3 * np.arange(6)))
    lengths = SIDEWAYS_LENGTHS[0] + 0.02 * waves
    model = stewart_gough(
        times=TIMES, lengths=lengths, bending_modes=modes, torsion_modes=modes // 4
    ).build()
    held = sp.equilibrium(model)
    return sp.simulate(model, duration, dt=0.01, scheme=sp.radau(3), initial=held)


def level_path() -> sp.Branch:
    """Equilibria along the level path; time counts the steps of its table."""
    robot = stewart_gough(
        times=np.arange(10.0), lengths=SIDEWAYS_LENGTHS, bending_modes=8, torsion_modes=2
    )
    return sp.follow(robot, until=9.0, step=0.1, largest=0.5)


def driven() -> sp.Result:
    """Sideways in 4 s, then held for 1 s."""
    s = TIMES / PERIOD
    x = SIDEWAYS[-1] * (6 * s**5 - 15 * s**4 + 10 * s**3)
    lengths = CubicSpline(SIDEWAYS[::-1], SIDEWAYS_LENGTHS[::-1])(x)
    model = stewart_gough(times=TIMES, lengths=lengths, bending_modes=8, torsion_modes=2).build()
    held = sp.equilibrium(model)
    return sp.simulate(model, 5.0, dt=0.005, scheme=sp.radau(3), initial=held)


def gap(result: sp.Result) -> float:
    return float(np.abs(result.violation).max())


def doubled(coarse: sp.Result, fine: sp.Result) -> float:
    """Largest distance between the plates of two runs (m)."""
    apart = coarse.position("plate") - fine.position("plate")
    return float(np.linalg.norm(apart, axis=1).max())


def path_errors(branch: sp.Branch, result: sp.Result) -> dict[str, float]:
    place = np.stack([branch.t * SIDEWAYS[1], 0 * branch.t, 0.4 + 0 * branch.t], axis=1)
    apart = np.linalg.norm(branch.position("plate") - place, axis=1)
    tipped = sp.equilibrium(result.model, initial=result.q[-1], t=5.0).position("plate")
    mean = result.position("plate")[result.t > PERIOD].mean(axis=0)
    return {
        "level path, statics (m)": float(apart[branch.t < 7].max()),
        "place of the bifurcation (m)": abs(branch.special[0].t * SIDEWAYS[1] - BIFURCATION),
        "tipped equilibrium (m)": float(np.linalg.norm(tipped - TIPPED)),
        "swaying, its mean off that equilibrium (m)": float(np.linalg.norm(mean - tipped)),
    }


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: half a second of the free motion with few modes."""
    if quick:
        return {"loops open by (m)": gap(waving(4, 0.5))}
    coarse, fine = waving(4), waving(8)
    errors = {
        "loops open by (m)": gap(coarse),
        "plate, against twice the modes (m)": doubled(coarse, fine),
    }
    return errors | path_errors(level_path(), driven())


def draw(axes, result: sp.Result, instants: np.ndarray) -> None:  # type: ignore[no-untyped-def]
    """Legs and plate at some instants, pale to dark."""
    from examples._picture import ORANGE, SHADES, plain_box

    chosen = result.sample(instants)
    legs = np.stack([chosen.shape(leg, 41).position for leg in LEGS], axis=1)
    ends = legs[:, :, -1]
    for i, share in enumerate(np.linspace(0.0, 1.0, len(instants))):
        for leg in legs[i]:
            axes.plot(*leg.T, color=SHADES(share), linewidth=1.2)
        axes.plot(*ends[i, [0, 1, 2, 3, 4, 5, 0]].T, color=ORANGE, linewidth=1.5)
    plain_box(axes, legs.reshape(-1, 3))
    axes.set(xlabel="", ylabel="")
    axes.view_init(18, -60)


def main() -> None:
    from examples._picture import BLUE, GRAY, ORANGE, RED, plt, save

    coarse, fine, branch, result = waving(4), waving(8), level_path(), driven()
    fig = plt.figure(figsize=(12.5, 9.0), layout="constrained")
    grid = fig.add_gridspec(2, 2, height_ratios=(1.5, 1))
    space = [fig.add_subplot(grid[0, i], projection="3d") for i in (0, 1)]
    draw(space[0], coarse, np.array([0.0, 1.2, 2.0, 2.8]))
    space[0].set_title("Six waves: 0, 1.2, 2, 2.8 s")
    draw(space[1], result, np.array([0.0, 2.0, 2.9, 5.0]))
    space[1].set_title("Sideways: 0, 2, 2.9, 5 s")

    motion = fig.add_subplot(grid[1, 0])
    plate = coarse.position("plate") - coarse.position("plate")[0]
    for column, color in enumerate((BLUE, RED, ORANGE)):
        motion.plot(coarse.t, 1e3 * plate[:, column], color=color, label="xyz"[column])
    motion.set(xlabel="time (s)", ylabel="plate, from home (mm)", title="Six waves")
    motion.legend(ncols=3)

    end = sp.equilibrium(branch.model, initial=result.q[-1], t=9.0)
    tipped = sp.follow(branch.model, initial=end, until=7.0, step=0.1, largest=0.3)
    height = fig.add_subplot(grid[1, 1])
    for piece in (branch, tipped):
        x, z = 1e3 * piece.t * SIDEWAYS[1], 1e3 * piece.position("plate")[:, 2]
        height.plot(x, z, "--", color=GRAY)
        height.plot(x, np.where(piece.unstable == 0, z, np.nan), color=BLUE, linewidth=2.2)
    s = np.clip(result.t / PERIOD, 0.0, 1.0)
    asked = 1e3 * SIDEWAYS[-1] * (6 * s**5 - 15 * s**4 + 10 * s**3)
    height.plot(asked, 1e3 * result.position("plate")[:, 2], color=RED, linewidth=0.8)
    height.plot(1e3 * branch.special[0].t * SIDEWAYS[1], 400.0, "o", color=ORANGE, ms=7)
    for style, color, label in (
        ("-", BLUE, "stable equilibria"),
        ("--", GRAY, "unstable equilibria"),
        ("o", ORANGE, "bifurcation"),
        ("-", RED, "drive of 4 s"),
    ):
        height.plot([], [], style, color=color, label=label)
    height.set(xlabel="place asked for, x (mm)", ylabel="plate z (mm)", title="Sideways")
    height.set(xlim=(-150, -225.5))
    height.legend(loc="lower left")
    save(fig, "stewart_gough")
    errors = {
        "loops open by (m)": max(gap(coarse), gap(result)),
        "plate, against twice the modes (m)": doubled(coarse, fine),
    }
    report("002 §5.1, Stewart-Gough", errors | path_errors(branch, result), LIMITS)


if __name__ == "__main__":
    main()
