"""002 §4: a clamped spring-steel rod is let go from under a weight, and another one is hit near its base.

Let go, the rod swings in its first mode, and drag that grows with the square of the speed takes its amplitude
a: with the clamped-free mode φ (1 at the tip), 1/a grows by k = (4/3π) ω C ∫|φ|³ ds / (ρA L/4) every second.
The blow is a hat function of 5 N and 16 ms. What it gives to a rod that nothing holds is its impulse; what it
gives to the clamped one is its work.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.clamped_rod import (
    AIR,
    BENDING,
    BLOW,
    DENSITY,
    PEAK,
    PLACE,
    RADIUS,
    RELEASED,
    STRUCK,
    clamped_rod,
    loaded_rod,
    struck_rod,
)  # fmt: skip

LIMITS = {
    "first frequency against the clamped-free formula": 5e-6,
    "decay of the swing against quadratic drag": 2e-2,
    "frequency of the swing against the mode": 5e-5,
    "Kirchhoff against Reissner, let go, tip over length": 5e-4,
    "Kirchhoff against Reissner, hit, tip over length": 6e-4,
    "momentum of a free rod against the blow": 3e-7,
    "energy of the clamped rod against the work of the blow": 1e-6,
}
ROOT = 1.8751040687119611
"""First root of cos x cosh x = -1."""
LINE = DENSITY * np.pi * RADIUS**2
"""Mass (kg/m)."""
WEIGHTLESS = (0.0, 0.0, 0.0)


def first_mode(u: np.ndarray) -> np.ndarray:
    """Clamped-free mode at fractions u, 1 at the tip."""
    share = (np.sinh(ROOT) - np.sin(ROOT)) / (np.cosh(ROOT) + np.cos(ROOT))

    def shape(x: np.ndarray | float) -> np.ndarray:
        return np.cosh(x) - np.cos(x) - share * (np.sinh(x) - np.sin(x))

    return shape(ROOT * u) / shape(ROOT)


def released(duration: float, **options: str) -> sp.Result:
    """Let go from under the weight; Gauss of order 6, which takes no energy."""
    robot = loaded_rod(**options)
    return sp.release(robot, "weight", duration, dt=5e-3, scheme=sp.gauss(3))


def struck(duration: float, **options: str) -> sp.Result:
    """Hit at rest under its weight."""
    model = struck_rod(**options).build()
    held = sp.equilibrium(clamped_rod(STRUCK, **options))
    return sp.simulate(model, duration, dt=1e-3, scheme=sp.gauss(3), initial=held)


def peaks(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Instants and heights of maxima, by parabolas through three points."""
    i = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] >= y[2:])) + 1
    left, middle, right = y[i - 1], y[i], y[i + 1]
    bend = left - 2 * middle + right
    shift = 0.5 * (left - right) / bend
    return t[i] + shift * (t[1] - t[0]), middle - 0.25 * (left - right) * shift


def amplitudes(result: sp.Result) -> tuple[np.ndarray, np.ndarray]:
    """Instants and heights (m) of the tip's maxima in the first mode, from the equilibrium.

    The higher modes, which the release excites as well, are filtered out.
    """
    from scipy.signal import butter, filtfilt

    rest = sp.equilibrium(clamped_rod(RELEASED)).position("rod")[1]
    height = result.position("rod")[:, 1] - rest
    low = filtfilt(*butter(4, 15.0, fs=1 / (result.t[1] - result.t[0])), height)
    times, heights = peaks(result.t, low)
    inside = (times > 0.3) & (times < result.t[-1] - 0.3)
    return times[inside], heights[inside]


def decay() -> float:
    """Growth k of 1/a = 1/a₀ + k t, in 1/(m s)."""
    u = (np.arange(2000) + 0.5) / 2000
    cubed = np.mean(np.abs(first_mode(u)) ** 3)  # ∫|φ|³ ds / L
    omega = ROOT**2 / RELEASED**2 * np.sqrt(BENDING / LINE)
    return float(4 / (3 * np.pi) * omega * AIR * cubed * 4 / LINE)


def let_go(result: sp.Result) -> dict[str, float]:
    exact = ROOT**2 / (2 * np.pi * RELEASED**2) * np.sqrt(BENDING / LINE)
    straight = clamped_rod(RELEASED, gravity=WEIGHTLESS)
    found = sp.modes(straight, count=1).frequencies[0]
    hanging = clamped_rod(RELEASED)
    sagged = sp.modes(hanging, at=sp.equilibrium(hanging), count=1).frequencies[0]
    times, heights = amplitudes(result)
    late = times > times[-1] / 2
    slope = np.polyfit(times[late], 1 / heights[late], 1)[0]
    # A large swing is slower or faster by a share that goes with a²: extrapolated to none.
    rates = 1 / np.diff(times)
    swing = np.polyfit(heights[:-1] ** 2, rates, 1)[1]
    return {
        "first frequency against the clamped-free formula": abs(found / exact - 1),
        "decay of the swing against quadratic drag": abs(slope / decay() - 1),
        "frequency of the swing against the mode": abs(swing / sagged - 1),
    }


def blow_on_a_free_rod() -> float:
    """Momentum after the blow, over its impulse, less one."""
    free = struck_rod(joint=sp.Free(), drag=0.0, gravity=WEIGHTLESS)
    result = sp.simulate(free, 0.02, dt=1e-3, scheme=sp.gauss(3))
    return float(abs(-result.momentum.linear[-1, 1] / (PEAK * BLOW / 2) - 1))


def blow_on_the_clamped_rod() -> float:
    """Energy that an undamped rod gained against ∫ F v dt, relative."""
    robot = struck_rod(drag=0.0, gravity=WEIGHTLESS).adding(
        sp.Marker("hit", parent="rod", fraction=PLACE)
    )
    result = sp.simulate(robot, 0.02, dt=2.5e-4, scheme=sp.gauss(3))
    way = result.position("hit")[:, 1]
    force = -PEAK * np.clip(1 - np.abs(result.t - BLOW / 2) / (BLOW / 2), 0.0, 1.0)
    # By parts: ∫ F dy = -∫ y dF, and F is linear between the instants.
    work = -np.sum(np.diff(force) * _means(result.t, way))
    return float(abs(result.energies.total[-1] / work - 1))


def _means(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean of y between instants, from a cubic spline."""
    from scipy.interpolate import CubicSpline

    total = CubicSpline(t, y).antiderivative()(t)
    return np.diff(total) / np.diff(t)


def apart(one: sp.Result, other: sp.Result, length: float) -> float:
    """Largest distance of the tips, over length."""
    gaps = np.linalg.norm(one.position("rod") - other.position("rod"), axis=1)
    return float(gaps.max() / length)


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: without Reissner rods, and a shorter swing."""
    errors = let_go(released(6.0 if quick else 20.0))
    errors["momentum of a free rod against the blow"] = blow_on_a_free_rod()
    errors["energy of the clamped rod against the work of the blow"] = blow_on_the_clamped_rod()
    if not quick:
        for name, case, seconds, length in (
            ("let go", released, 2.0, RELEASED),
            ("hit", struck, 0.5, STRUCK),
        ):
            pair = (case(seconds, strains=s) for s in ("planar", "planar-reissner"))
            errors[f"Kirchhoff against Reissner, {name}, tip over length"] = apart(*pair, length)
    return errors


def main() -> None:
    from examples._picture import BLUE, GRAY, RED, figure, save, snapshots

    swing, hit = released(6.0), struck(0.5)
    fig, axes = figure(1, 3, (13.0, 3.8), width_ratios=(1.3, 1, 1.3))
    rest = sp.equilibrium(clamped_rod(RELEASED)).position("rod")[1]
    axes[0].plot(swing.t, 1e3 * (swing.position("rod")[:, 1] - rest), color=BLUE, lw=0.9)
    times, heights = amplitudes(swing)
    envelope = 1 / (1 / heights[-1] + decay() * (swing.t - times[-1]))
    for sign in (1, -1):
        axes[0].plot(swing.t, sign * 1e3 * envelope, "--", color=RED, lw=1.2)
    axes[0].plot([], [], "--", color=RED, label="1/a = 1/a₀ + k t, from the last peak")
    axes[0].set(xlabel="time (s)", ylabel="tip from rest (mm)", title="Let go from under 20 g")
    axes[0].legend(loc="upper right")
    shapes = hit.shape("rod", 61).position[[0, 8, 16, 32, 64, 96]]
    mappable = snapshots(axes[1], list(shapes), 1e3 * hit.t[[0, 8, 16, 32, 64, 96]])
    fig.colorbar(mappable, ax=axes[1], label="time (ms)", location="bottom", shrink=0.8)
    axes[1].set_aspect("auto")
    axes[1].set_title("Hit at a tenth of its length")
    axes[2].plot(hit.t, 1e3 * hit.position("rod")[:, 1], color=BLUE, lw=1.0)
    axes[2].axvspan(0.0, BLOW, color=GRAY, alpha=0.25, lw=0)
    axes[2].set(xlabel="time (s)", ylabel="tip y (mm)", title="Tip after the blow (gray)")
    save(fig, "weight_and_blow")
    report("002 §4: weight release and blow", run(), LIMITS)


if __name__ == "__main__":
    main()
