"""000 §4.9.2: the RFRFR prototype is driven below the line of its hinges and snaps through.

The branch of equilibria is followed by arc length, with the base angle in the place of time: it turns back at
a limit point, and the states beyond are unstable. A drive of 10 s reaches that point, the platform falls to
the other side within a tenth of a second and goes on vibrating (there is no damping). The snap is where the
platform crosses the line of the hinges; it comes later than the limit point because the fall takes time.
Radau IIA at 5 ms, as the text's step; generalized-α with the text's ρ∞ = 0.5 snaps at the same angle. Its
steps would gain energy in the shaking that follows; those are split.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.rfrfr_prototype import ANGLE, drive, rfrfr_prototype
from supple.time.scheme import AbstractScheme

SECONDS = 10.0
LIMITS = {
    "snap after the limit point (deg)": 2.0,
    "limit point, 3 against 8 modes (deg)": 0.1,
    "slow drive off the branch, above −18° (m)": 8e-4,
    "snap with generalized-α against Radau (deg)": 0.1,
    "loop open by (m)": 1e-11,
}


def falling(t):  # type: ignore[no-untyped-def]
    """Base angle with the time as its fall (rad)."""
    return ANGLE - t


def risen(basis: int = 3, **options: float) -> sp.Branch:
    """The branch from the risen robot, through its limit point."""
    options = {"until": 2 * ANGLE, "step": 0.02, "largest": 0.1} | options
    return sp.follow(rfrfr_prototype(angle=falling, basis=basis), throw=False, **options)


def limit_angle(branch: sp.Branch) -> float:
    """Base angle at the limit point (deg)."""
    return float(np.degrees(ANGLE - branch.limits[0].t))


def driven(scheme: AbstractScheme | None = None) -> sp.Result:
    """The slow drive until after the snap."""
    model = rfrfr_prototype(angle=drive(SECONDS)).build()
    held = sp.equilibrium(model)
    return sp.simulate(model, 8.5, dt=5e-3, scheme=scheme or sp.radau(3), initial=held)


def path(result: sp.Result) -> tuple[np.ndarray, np.ndarray]:
    """Base angle (deg) and height of the platform (m)."""
    return np.degrees(result.joint("left").position[:, 0]), result.position("platform")[:, 1]


def snap_angle(result: sp.Result) -> float:
    """Base angle (deg) at which the platform crosses the line of the hinges."""
    angles, heights = path(result)
    return float(angles[np.flatnonzero(heights < 0.0)[0]])


def measured(branch: sp.Branch, result: sp.Result) -> dict[str, float]:
    angles, heights = path(result)
    stable = branch.unstable == 0
    known = np.degrees(ANGLE - branch.t[stable])[::-1], branch.position("platform")[stable, 1][::-1]
    before = angles > -18.0
    off = np.abs(np.interp(angles[before], *known) - heights[before]).max()
    return {
        "snap after the limit point (deg)": abs(limit_angle(branch) - snap_angle(result)),
        "slow drive off the branch, above −18° (m)": float(off),
        "loop open by (m)": float(np.abs(result.violation).max()),
    }


def refined(branch: sp.Branch, result: sp.Result) -> dict[str, float]:
    finer, other = risen(8, max_points=80), driven(sp.generalized_alpha(0.5))
    return {
        "limit point, 3 against 8 modes (deg)": abs(limit_angle(branch) - limit_angle(finer)),
        "snap with generalized-α against Radau (deg)": abs(snap_angle(other) - snap_angle(result)),
    }


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: with three modes only."""
    branch = risen(max_points=80) if quick else risen()
    result = driven()
    errors = measured(branch, result)
    return errors if quick else errors | refined(branch, result)


def main() -> None:
    from examples._picture import BLUE, GRAY, ORANGE, RED, figure, save, snapshots

    branch, result = risen(), driven()
    hanging = sp.equilibrium(branch.model, initial=result.q[-1], t=2 * ANGLE)
    down = sp.follow(branch.model, initial=hanging, until=0.0, largest=0.1)
    fig, axes = figure(1, 3, (13.0, 4.4), width_ratios=(1.35, 1, 1))

    for piece in (branch, down):
        angle, height = np.degrees(ANGLE - piece.t), piece.position("platform")[:, 1]
        stable = np.where(piece.unstable == 0, height, np.nan)
        axes[0].plot(angle, height, "--", color=GRAY)
        axes[0].plot(angle, stable, color=BLUE, linewidth=2.2)
    angles, heights = path(result)
    axes[0].plot(angles, heights, color=RED, linewidth=0.9)
    special = limit_angle(branch)
    turn = int(np.argmax(branch.t[: branch.limits[0].index + 2]))
    axes[0].plot(special, branch.position("platform")[turn, 1], "o", color=ORANGE, ms=7)
    for style, color, label in (
        ("-", BLUE, "stable equilibria"),
        ("--", GRAY, "unstable equilibria"),
        ("o", ORANGE, f"limit point, {special:.1f}°"),
        ("-", RED, f"drive of {SECONDS:.0f} s"),
    ):
        axes[0].plot([], [], style, color=color, label=label)
    axes[0].invert_xaxis()
    axes[0].set(
        xlabel="base angle (deg), falling", ylabel="platform y (m)", title="Branches and path"
    )
    axes[0].set_ylim(bottom=-0.21)
    axes[0].legend(loc="lower left", ncols=2)

    crossing = int(np.flatnonzero(heights < 0.0)[0])
    chosen = [0, *np.searchsorted(-angles[:crossing], [0.0, 15.0, 20.0]), crossing, crossing + 20]
    left, right = (result.shape(name, 41).position[chosen] for name in ("left", "right"))
    shapes = [np.concatenate([a, b[::-1]]) for a, b in zip(left, right, strict=True)]
    mappable = snapshots(axes[1], shapes, result.t[chosen])
    fig.colorbar(mappable, ax=axes[1], label="time (s)", location="bottom", shrink=0.6)
    for shape in shapes:
        axes[1].plot(*shape[40, :2], "o", color=ORANGE, ms=4)
    axes[1].set_aspect("equal", adjustable="box")
    axes[1].set_title("Shapes")

    for name, color in (("left motor", BLUE), ("right motor", RED)):
        axes[2].plot(result.t, result.effort(name), color=color, linewidth=1.0, label=name)
    axes[2].set(xlabel="time (s)", ylabel="torque (N m)", title="Torques that impose the angles")
    axes[2].set(xlim=(6.5, 8.5), ylim=(-5, 5))
    axes[2].legend(loc="upper left")
    save(fig, "snap_through")
    report("000 §4.9.2, snap-through", measured(branch, result) | refined(branch, result), LIMITS)


if __name__ == "__main__":
    main()
