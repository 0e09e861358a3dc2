"""000 §4.9.1: a tendon-driven planar robot, part of whose measured motion is imposed on its model.

There is no recorded data. The simulator itself makes it: a finer model (six modes a rod, steps of 10 ms) is
driven by the currents (4.47) and looked at with sensors like those of the text: hinge angles at 40 Hz,
shapes of the rods at 25 Hz (the first rod over 63 % of its length), readings of the force sensors at 110 Hz,
all with noise. Everything is filtered as there (Butterworth, 4 Hz). The coordinates of the rods are fitted
to the shapes. The model as printed (two modes, generalized-α, ρ∞ = 0.6, 40 ms) then runs with the measured
tensions and with part of its motion imposed: the shapes of both rods (Table 4.2), both hinge angles (4.3),
one hinge and one rod (4.4). As the text could not, it also runs on the tensions alone.

Columns are those of the tables: largest error, mean, standard deviation, and the mean over the range of the
motion. r₁ and r₂ are the last measured points of the rods, seen from their starts.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

import supple as sp
from examples._check import report
from supple.identify import ShapeFit, fit_shape
from supple.lie import Pose
from supple.robots.tendon_cpr import (
    CLEARANCE,
    MEASURED,
    cable_tension,
    sensor_reading,
    tendon_cpr,
)

BEGIN, SECONDS = 9.0, 14.0
PERIOD = 0.04
"""Step of the simulations and of the shape sensors (s)."""
CUTOFF = 4.0
ANGLE_NOISE, POINT_NOISE, FORCE_NOISE = np.radians(0.2), 5e-4, 0.05
"""Standard deviations: rad, m, N of the readings."""
POINTS = 20

RODS, HINGES = ("rod 1", "rod 2"), ("body 1", "body 2")
IMPOSED = {
    "Table 4.2, rods imposed": RODS,
    "Table 4.3, hinges imposed": HINGES,
    "Table 4.4, hinge 1 and rod 2 imposed": ("body 1", "rod 2"),
    "tensions alone": (),
}
CASES = tuple(IMPOSED)
LABELS = ("hinge 1", "hinge 2", "r₁ x", "r₁ y", "r₂ x", "r₂ y", "x", "y")
VALUES = ("q1", "q4", "r1x", "r1y", "r2x", "r2y", "rpx", "rpy")
LIMITS = {
    "fitted rods: points off (m)": 1e-3,
    "fitted rod 1: tip, beyond its sensor (m)": 2e-3,
    "Table 4.2: hinges, mean over range (%)": 0.2,
    "Table 4.2: platform, largest (m)": 3e-3,
    "Table 4.3: shapes, largest (m)": 3e-3,
    "Table 4.3: platform, largest (m)": 3e-3,
    "Table 4.4: hinge 2, largest (deg)": 0.5,
    "Table 4.4: platform, largest (m)": 3e-3,
    "tensions alone: platform, largest (m)": 3e-3,
    "tensions alone: platform off the finer model (m)": 1.5e-3,
    "loops open, imposed motion missed by (m, rad)": 7e-11,
}


@dataclass(frozen=True)
class Measured:
    """What sensors tell, filtered, at the instants of the shape sensors; and the truth behind it."""

    t: np.ndarray
    angles: np.ndarray
    """Of both hinges (n, 2), rad."""
    fits: tuple[ShapeFit, ShapeFit]
    """Coordinates of both rods."""
    points: tuple[np.ndarray, np.ndarray]
    """Of both rods (n, points, 3), from their starts, not filtered."""
    values: np.ndarray
    """What the tables list, in the order of VALUES (n, 8)."""
    tensions: tuple[sp.Spline, ...]
    truth: sp.Result


def filtered(times: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A filtered signal at other instants."""
    law = sp.smooth(times, values, CUTOFF)
    from scipy.interpolate import PPoly

    inside = np.clip(at, times[0], times[-1])
    return PPoly(np.asarray(law.coefficients), np.array(law.times))(inside)


def rate(hertz: float) -> np.ndarray:
    """Instants of a sensor."""
    return BEGIN + np.arange(int(SECONDS * hertz) + 1) / hertz


def from_start(result: sp.Result, limb: int, points: np.ndarray) -> np.ndarray:
    """World points (n, …, 3) seen from where a rod begins."""
    start = result.poses[f"start {limb}"]
    away = points - start.position.reshape(len(result), *(1,) * (points.ndim - 2), 3)
    return np.einsum("nji,n...j->n...i", start.rotation, away)


def along(result: sp.Result, name: str, at: np.ndarray) -> np.ndarray:
    """World points (n, k, 3) at fractions of a rod's length, between 201 points (to a micrometer)."""
    fine = result.shape(name, 201).position
    low = np.minimum((200 * at).astype(int), 199)
    part = (200 * at - low)[:, None]
    return (1 - part) * fine[:, low] + part * fine[:, low + 1]


@cache
def measured() -> Measured:
    """The finer model, looked at with noisy sensors."""
    rng = np.random.default_rng(7)
    model = tendon_cpr(modes=6).build()
    held = sp.equilibrium(model, t=BEGIN)
    truth = sp.simulate(model, SECONDS, dt=0.01, initial=held)
    t = rate(1 / PERIOD)

    seen = truth.sample(rate(40.0))
    angles = np.stack(
        [
            filtered(
                seen.t,
                seen.joint(name).position[:, 0] + ANGLE_NOISE * rng.normal(size=len(seen)),
                t,
            )
            for name in HINGES
        ],
        axis=1,
    )
    felt = truth.sample(rate(110.0))
    tensions = []
    for cable in range(4):
        reading = sensor_reading(felt.tendon(f"cable {cable + 1}").tension, cable)
        reading = reading + FORCE_NOISE * rng.normal(size=len(felt))
        tensions.append(sp.Spline(t, filtered(felt.t, cable_tension(reading, cable), t)))

    robot, shown = tendon_cpr(), truth.sample(t)
    fits, points, ends = [], [], []
    for limb, name in enumerate(RODS, start=1):
        at = np.linspace(0.0, MEASURED[limb - 1], POINTS + 1)[1:]
        exact = from_start(shown, limb, along(shown, name, at))
        noisy = exact + POINT_NOISE * rng.normal(size=exact.shape)
        base = Pose(np.eye(3), np.zeros(3))
        fits.append(fit_shape(robot[name], noisy, at, base=base, noise=POINT_NOISE))
        points.append(noisy)
        ends.append(np.stack([filtered(t, noisy[:, -1, i], t) for i in range(2)], axis=1))

    # The platform is where the measured angle of hinge 2 carries the measured end of rod 2.
    turn = robot["body 2"].rotation[2] + angles[:, 1]
    reach, side = CLEARANCE + ends[1][:, 0], ends[1][:, 1]
    hinge = np.array(robot["body 2"].position[:2])
    platform = hinge + np.stack(
        [
            np.cos(turn) * reach - np.sin(turn) * side,
            np.sin(turn) * reach + np.cos(turn) * side,
        ],
        axis=1,
    )
    values = np.concatenate([np.degrees(angles), *ends, platform], axis=1)
    return Measured(t, angles, tuple(fits), tuple(points), values, tuple(tensions), truth)


@cache
def simulated(case: str) -> sp.Result:
    """The printed model with the tensions measured and part of its motion imposed."""
    data = measured()
    robot = tendon_cpr(tensions=data.tensions)
    for name in IMPOSED[case]:
        if name in HINGES:
            law = sp.Spline(data.t, data.angles[:, HINGES.index(name)])
            robot = robot.adding(sp.PrescribedCoordinate(f"{name} imposed", on=name, value=law))
            continue
        for i, values in enumerate(data.fits[RODS.index(name)].coordinates.T):
            law = sp.smooth(data.t, values, CUTOFF)
            mode = sp.PrescribedCoordinate(
                f"{name} mode {i}", on=name, of="rod", coordinate=i, value=law
            )
            robot = robot.adding(mode)
    model = robot.build()
    held = sp.equilibrium(model, t=BEGIN)
    scheme = sp.generalized_alpha(0.6)
    return sp.simulate(model, SECONDS, dt=PERIOD, scheme=scheme, initial=held)


def values(result: sp.Result) -> np.ndarray:
    """The rows of the tables (n, 8): degrees and meters."""
    angles = [np.degrees(result.joint(name).position) for name in HINGES]
    ends = [from_start(result, i, result.position(f"sensor {i}"))[:, :2] for i in (1, 2)]
    return np.concatenate([*angles, *ends, result.position("platform")[:, :2]], axis=1)


def table(case: str) -> np.ndarray:
    """Largest, mean, deviation and mean over range (%) of each row's error (8, 4)."""
    wanted = measured().values
    error = values(simulated(case)) - wanted
    mean = np.abs(error.mean(axis=0))
    size = np.ptp(wanted, axis=0)
    return np.stack([np.abs(error).max(axis=0), mean, error.std(axis=0), 100 * mean / size], axis=1)


def platform_error(case: str) -> float:
    return float(table(case)[6:, 0].max())


def fit_errors() -> dict[str, float]:
    """How well the fitted and filtered coordinates say what the rods do."""
    data, result = measured(), simulated(CASES[0])
    truth = data.truth.sample(data.t)
    tips = [from_start(run, 1, run.position("rod 1")) for run in (truth, result)]
    off = np.linalg.norm(tips[0] - tips[1], axis=1)
    return {
        "fitted rods: points off (m)": float(max(fit.residual.mean() for fit in data.fits)),
        "fitted rod 1: tip, beyond its sensor (m)": float(np.sqrt(np.mean(off**2))),
    }


def table_errors() -> dict[str, float]:
    rods, hinges, mixed, free = CASES
    truth = measured().truth.sample(measured().t)
    off = simulated(free).position("platform") - truth.position("platform")
    gaps = [np.abs(simulated(case).violation).max() for case in CASES]
    return {
        "Table 4.2: hinges, mean over range (%)": float(table(rods)[:2, 3].max()),
        "Table 4.2: platform, largest (m)": platform_error(rods),
        "Table 4.3: shapes, largest (m)": float(table(hinges)[2:6, 0].max()),
        "Table 4.3: platform, largest (m)": platform_error(hinges),
        "Table 4.4: hinge 2, largest (deg)": float(table(mixed)[1, 0]),
        "Table 4.4: platform, largest (m)": platform_error(mixed),
        "tensions alone: platform, largest (m)": platform_error(free),
        "tensions alone: platform off the finer model (m)": float(np.abs(off).max()),
        "loops open, imposed motion missed by (m, rad)": float(max(gaps)),
    }


def told() -> dict[str, float]:
    """Every cell of the tables."""
    found = {"step (s)": PERIOD, "cut-off (Hz)": CUTOFF}
    for number, case in zip(("4.2", "4.3", "4.4"), CASES, strict=False):
        for name, row in zip(VALUES, table(case), strict=True):
            for column, value in zip(("max", "mean", "std", "%"), row, strict=True):
                found[f"Table {number}: {name}, {column}"] = float(value)
    return found


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: the measurements and the first table."""
    if not quick:
        return fit_errors() | table_errors()
    return fit_errors() | {"Table 4.2: platform, largest (m)": platform_error(CASES[0])}


def print_table(case: str) -> None:
    print(f"\n{case}\n{'':5}{'units':6}{'max':>10}{'mean':>10}{'std':>10}{'%':>8}")
    for name, row in zip(VALUES, table(case), strict=True):
        unit = "deg" if name.startswith("q") else "m"
        numbers = "".join(f"{x:10.1e}" for x in row[:3])
        print(f"{name:5}{unit:6}{numbers}{row[3]:8.2f}")


def main() -> None:
    from examples._picture import BLUE, GRAY, GREEN, ORANGE, RED, figure, save, snapshots

    data, t = measured(), measured().t
    fig, axes = figure(2, 3, (13.0, 7.2))

    mixed = simulated(CASES[2])
    chosen = np.searchsorted(t, [9.0, 11.4, 13.2, 14.8])
    shapes = []
    for i in chosen:
        limbs = []
        for limb, name in enumerate(RODS, start=1):
            hinge = mixed.position(f"body {limb}")[i : i + 1]
            limbs.append(np.concatenate([hinge, mixed.shape(name, 41).position[i]]))
            start = mixed.poses[f"start {limb}"]
            dots = start.position[i] + data.points[limb - 1][i] @ start.rotation[i].T
            axes[0, 0].plot(dots[::2, 0], dots[::2, 1], ".", color=ORANGE, ms=4, zorder=3)
        shapes.append(np.concatenate([limbs[0], limbs[1][::-1]]))
    mappable = snapshots(axes[0, 0], shapes, t[chosen])
    path = mixed.position("platform")
    axes[0, 0].plot(path[:, 0], path[:, 1], color=RED, linewidth=0.9, label="platform")
    axes[0, 0].plot([], [], ".", color=ORANGE, label="measured points")
    fig.colorbar(mappable, ax=axes[0, 0], label="time (s)")
    axes[0, 0].set(title="Shapes, hinge 1 and rod 2 imposed")
    axes[0, 0].legend(loc="upper right")

    for cable, law in enumerate(data.tensions):
        axes[0, 1].plot(t, [float(law(x)) for x in t], label=f"cable {cable + 1}")
    axes[0, 1].set(xlabel="time (s)", ylabel="tension (N)", title="Tensions from force sensors")
    axes[0, 1].set_ylim(top=95)
    axes[0, 1].legend(ncols=4, loc="upper center", columnspacing=1.0, handlelength=1.2)

    def compare(axis, case, rows, scale, ylabel, title):  # type: ignore[no-untyped-def]
        found, wanted = values(simulated(case)), data.values
        if rows == (6, 7):
            found, wanted = found - wanted[0], wanted - wanted[0]
        for row, color in zip(rows, (BLUE, RED, GREEN, ORANGE), strict=False):
            axis.plot(t, scale * found[:, row], color=color, label=LABELS[row])
            axis.plot(t[::6], scale * wanted[::6, row], ".", color=GRAY, ms=3, zorder=3)
        axis.plot([], [], ".", color=GRAY, label="measured")
        axis.set(xlabel="time (s)", ylabel=ylabel, title=title)
        low, high = axis.get_ylim()
        axis.set_ylim(low, high + 0.2 * (high - low))
        axis.legend(ncols=len(rows) + 1, loc="upper center", columnspacing=1.0, handlelength=1.2)

    compare(axes[0, 2], CASES[0], (0, 1), 1.0, "angle (deg)", "Hinges, both rods imposed")
    compare(
        axes[1, 0], CASES[1], (2, 3, 4, 5), 1e3, "from the start of the rod (mm)",
        "Ends of the sensors, hinges imposed",
    )  # fmt: skip
    compare(
        axes[1, 1],
        CASES[2],
        (6, 7),
        1e3,
        "way from its first place (mm)",
        "Platform, hinge 1 and rod 2 imposed",
    )
    truth = data.truth.sample(t).position("platform")
    for case, color in zip(CASES, (BLUE, RED, GREEN, GRAY), strict=True):
        off = np.linalg.norm(simulated(case).position("platform") - truth, axis=1)
        axes[1, 2].plot(t, 1e3 * off, color=color, linewidth=1.0, label=case.split(", ")[-1])
    axes[1, 2].set(xlabel="time (s)", ylabel="distance (mm)", title="Platform off the finer model")
    axes[1, 2].set_ylim(0, 1.35 * axes[1, 2].get_ylim()[1])
    axes[1, 2].legend(loc="upper center", ncols=2)
    save(fig, "tendon_cpr")
    for case in CASES:
        print_table(case)
    print()
    report("000 §4.9.1, tendon-driven CPR", run(), LIMITS)


if __name__ == "__main__":
    main()
