"""003: stacks of 3 and 4 X-joints pulled by tendons, explicit and implicit, with and without elasticity.

Figures 3 to 5 and tables 1 to 3 in the form of the source. The joints follow a path of 6.3 s by computed
torque, with tensions that pull. Without elasticity the schemes (4) and (9) run on joint angles alone; with
it, (10) and (21) on joints and motors. Rotor inertia, routes of the tendons, path and gains are not printed:
ours are chosen (``supple/robots/bird_neck.py``), so that limits of the explicit scheme are others. Times are
those of compiled programs on one core, the source's of MATLAB.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import supple as sp
from examples._check import report
from supple.bench.rods import on_one_core
from supple.bench.xjoint import largest_step
from supple.robots import bird_neck as neck
from supple.robots.bird_neck_angles import Motion, controlled_motion

COARSE, FINE = 2e-3, 4e-4
"""Steps (s) of the source: implicit, and explicit with elasticity."""
SCHEMES = {
    "explicit": sp.Explicit("euler"),
    "implicit": sp.LinearlyImplicitEuler(hold_friction=True),
}
PRINTED = {"table 1": ((4, 5), (18, 30)), "table 2": ((17, 20), (18, 22)), "table 3": (0.4, 0.025)}
"""Times (s) and limits (ms) of the source."""
QUICK = 0.2
"""Seconds of the motion on a small scale."""
LIMITS = {
    "3 joints, rigid: explicit off implicit (rad)": 3e-4,
    "4 joints, rigid: explicit off implicit (rad)": 3e-4,
    "3 joints, rigid: joint angles alone off all coordinates (rad)": 1e-6,
    "3 joints, implicit: elastic off rigid (rad)": 6e-3,
    "3 joints, explicit: elastic off rigid (rad)": 6e-3,
    "3 joints: elongation, explicit off implicit (mm)": 6e-3,
    "3 joints, elastic: off the path (rad)": 6e-3,
    "4 joints, elastic: off the path (rad)": 6e-3,
    "3 joints, elastic: least tension after 0.1 s (N)": (1.0, 10.0),
    "3 joints, elastic: limit of the explicit scheme (ms)": (0.5, 1.5),
    "4 joints, elastic: limit of the explicit scheme (ms)": (0.5, 1.5),
}


@cache
def elastic(joints: int, scheme: str, duration: float = neck.DURATION) -> sp.Result:
    """Controlled motion with elastic tendons, kept every 2 ms."""
    robot = neck.bird_neck(joints, controlled=True)
    dt = COARSE if scheme == "implicit" else FINE
    return sp.simulate(robot, duration, dt=dt, scheme=SCHEMES[scheme], t_eval=COARSE)


@cache
def rigid(joints: int, scheme: str, dt: float = COARSE, duration: float = neck.DURATION) -> Motion:
    """Controlled motion on joint angles alone, with instants every 2 ms."""
    found = controlled_motion(joints, scheme, dt, duration)
    return Motion(*(np.asarray(part)[:: round(COARSE / dt)] for part in found))


def whole(joints: int, duration: float) -> sp.Result:
    """The same in all coordinates, with tensions as multipliers."""
    robot = neck.bird_neck(joints, elastic=False, controlled=True)
    return sp.simulate(robot, duration, dt=COARSE, scheme=SCHEMES["implicit"])


def elongation(run: sp.Result, joints: int) -> np.ndarray:
    """Of all tendons (mm), which start without any."""
    lengths = [run.tendon(name).length for name in neck.tendon_names(joints)]
    return 1e3 * np.stack([length - length[0] for length in lengths], axis=1)


def largest(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: a short motion of 3 joints."""
    some, name = QUICK if quick else neck.DURATION, "3 joints"
    off = "3 joints, rigid: joint angles alone off all coordinates (rad)"
    errors = {
        "3 joints, rigid: explicit off implicit (rad)": largest(
            rigid(3, "explicit", COARSE, some).alpha, rigid(3, "implicit", COARSE, some).alpha
        ),
        off: largest(whole(3, some).q[:, :3], rigid(3, "implicit", COARSE, some).alpha),
    }
    if quick:
        return errors
    soft = {scheme: elastic(3, scheme) for scheme in SCHEMES}
    steps = {"implicit": COARSE, "explicit": FINE}
    for scheme, step in steps.items():
        stiff = rigid(3, scheme, step).alpha
        errors[f"{name}, {scheme}: elastic off rigid (rad)"] = largest(soft[scheme].q[:, :3], stiff)
    errors["4 joints, rigid: explicit off implicit (rad)"] = largest(
        rigid(4, "explicit").alpha, rigid(4, "implicit").alpha
    )
    stretched = [elongation(one, 3) for one in soft.values()]
    errors["3 joints: elongation, explicit off implicit (mm)"] = largest(*stretched)
    for joints in (3, 4):
        one = elastic(joints, "implicit")
        goal = np.stack([np.asarray(neck.path(t, joints)) for t in one.t])
        errors[f"{joints} joints, elastic: off the path (rad)"] = largest(one.q[:, :joints], goal)
        limit = largest_step(SCHEMES["explicit"], joints)
        errors[f"{joints} joints, elastic: limit of the explicit scheme (ms)"] = 1e3 * limit
    tension = [soft["implicit"].tendon(k).tension[50:].min() for k in neck.tendon_names(3)]
    errors["3 joints, elastic: least tension after 0.1 s (N)"] = float(min(tension))
    return errors


def seconds(compute: Callable[[], Any]) -> float:
    """The best of three warm runs on one core."""
    compute()
    walls = []
    with on_one_core():
        for _ in range(3):
            begun = time.perf_counter()
            compute()
            walls.append(time.perf_counter() - begun)
    return min(walls)


def tables(errors: dict[str, float]) -> str:
    """Tables 1 to 3: seconds for the motion of 6.3 s, and what is printed."""

    def stiff(joints: int, scheme: str, dt: float) -> float:
        return seconds(lambda: np.asarray(controlled_motion(joints, scheme, dt).alpha))

    def soft(joints: int, scheme: str) -> float:
        return seconds(lambda: elastic.__wrapped__(joints, scheme))

    lines = ["Table 1, rigid, 2 ms:      3 joints          4 joints       (printed)"]
    for row, scheme in enumerate(("explicit", "implicit")):
        times = [stiff(joints, scheme, COARSE) for joints in (3, 4)]
        printed = PRINTED["table 1"][row]
        lines.append(
            f"  {scheme}             {times[0]:8.3f} s        {times[1]:8.3f} s       {printed} s"
        )
    lines.append("Table 2, 3 joints:         rigid             elastic        (printed)")
    soft_times = {}
    for row, (scheme, dt) in enumerate((("explicit", FINE), ("implicit", COARSE))):
        soft_times[scheme] = soft(3, scheme)
        times = [stiff(3, scheme, dt), soft_times[scheme]]
        printed = PRINTED["table 2"][row]
        lines.append(
            f"  {scheme}, {1e3 * dt:g} ms   {times[0]:8.3f} s        {times[1]:8.3f} s       {printed} s"
        )
    lines.append("Table 3, elastic:          limit             6.3 s          (printed limit)")
    for row, joints in enumerate((3, 4)):
        limit = errors[f"{joints} joints, elastic: limit of the explicit scheme (ms)"]
        lines.append(
            f"  {joints} joints, explicit     {limit:8.2f} ms       {soft(joints, 'explicit'):8.3f} s       "
            f"{PRINTED['table 3'][row]} ms"
        )
        lines.append(
            f"  {joints} joints, implicit         none       {soft(joints, 'implicit'):8.3f} s       none"
        )
    return "\n".join(lines)


def stack(axes: Any, run: sp.Result, joints: int, at: int, side: float, shade: Any) -> None:
    """The bars of a robot at an instant."""
    ends = np.array([[-neck.BAR / 2, 0, 0], [neck.BAR / 2, 0, 0]])
    below = ends
    axes.plot(*(below[:, [0, 2]] + [side, 0]).T, color=shade, lw=2.5)
    for k in range(1, joints + 1):
        pose = run.frame(f"top {k}").pose
        above = pose.position[at] + ends @ pose.rotation[at].T
        for a, b in ((0, 1), (1, 0)):
            line = np.stack([below[a], above[b]])[:, [0, 2]] + [side, 0]
            axes.plot(*line.T, color=shade, lw=1.2)
        axes.plot(*(above[:, [0, 2]] + [side, 0]).T, color=shade, lw=2.5)
        below = above


def draw() -> Any:
    """Figures 3 to 5."""
    from examples._picture import BLUE, GRAY, GREEN, ORANGE, RED, SHADES, figure

    fig, axes = figure(2, 2, (11.0, 7.6))
    colors = (BLUE, ORANGE, GREEN, RED)
    for joints, side in ((3, 0.0), (4, 0.3)):
        run = elastic(joints, "implicit")
        for share in (0.0, 0.25, 0.5):
            stack(
                axes[0, 0], run, joints, int(share * (len(run.t) - 1)), side, SHADES(0.25 + share)
            )
    axes[0, 0].set_aspect("equal", adjustable="datalim")
    axes[0, 0].set(xlabel="x (m)", ylabel="z (m)", title="Fig. 3: 3 and 4 joints at 0, 1.6, 3.15 s")
    for joints, style in ((3, "-"), (4, "--")):
        two = [rigid(joints, scheme) for scheme in SCHEMES]
        for k in range(joints):
            axes[0, 1].plot(
                two[0].t, 1e3 * (two[0].alpha - two[1].alpha)[:, k], style, color=colors[k], lw=1.2,
                label=f"$\\alpha_{k + 1}$" + (", 4 joints" if joints == 4 else ""),
            )  # fmt: skip
    axes[0, 1].set(ylabel="difference (mrad)", title="Fig. 3: rigid, explicit less implicit, 2 ms")
    for scheme, step, style in (("implicit", COARSE, "-"), ("explicit", FINE, "--")):
        run, stiff = elastic(3, scheme), rigid(3, scheme, step)
        stretched = elongation(run, 3)
        for k in range(3):
            axes[1, 0].plot(
                run.t, 1e3 * (run.q[:, k] - stiff.alpha[:, k]), style, color=colors[k], lw=1.2,
                label=f"$\\alpha_{k + 1}$" + (", explicit" if scheme == "explicit" else ""),
            )  # fmt: skip
        for k, name in enumerate(neck.tendon_names(3)):
            axes[1, 1].plot(
                run.t, stretched[:, k], style, color=(GRAY, *colors)[k], lw=1.2,
                label=name if scheme == "implicit" else None,
            )  # fmt: skip
    axes[1, 0].set(ylabel="difference (mrad)", title="Fig. 4: 3 joints, elastic less rigid")
    axes[1, 1].set(ylabel="elongation (mm)", title="Fig. 5: 3 joints (explicit dashed)")
    for one in axes.flat[1:]:
        one.set_xlabel("time (s)")
        one.legend(fontsize=7, ncols=2)
    return fig


def main() -> None:
    from examples._picture import film, save

    errors = run()
    save(draw(), "x_joints")
    film(elastic(4, "implicit"), "x_joints")
    print(tables(errors))
    report("003: X-joints pulled by tendons, 6.3 s under computed torque", errors, LIMITS)


if __name__ == "__main__":
    main()
