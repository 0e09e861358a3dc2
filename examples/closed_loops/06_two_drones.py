"""000 §3.9.2: two drones carry a payload on two rods, an open floating chain, without gravity; 10 s at 10 ms.

Each drone has a continuous controller of its velocity with an integral of its own (3.65)-(3.66), inside the
balance: the printed step is far too long for one that is called between steps. The tree may start at either
drone, and the motion must be the same; what the rotors push is what the whole gains in momentum.
"""

from functools import cache

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.two_drones import PULSATIONS, two_drones

NAMES = ("drone 1", "payload", "drone 2")
STEP = 0.01
LIMITS = {
    "payload, rooted at the other drone (m)": 9e-4,
    "off the plane (m)": 1e-12,
    "momentum against the rotors' impulse, over the largest": 4e-3,
    "Newton iterations a step (printed: 3)": (1.0, 3.0),
}


@cache
def flown(duration: float, rooted_at: int = 1) -> sp.Result:
    """The flight from rest as described."""
    return sp.simulate(two_drones(rooted_at=rooted_at), duration, dt=STEP)


def impulse(found: sp.Result) -> np.ndarray:
    """Of the rotors since the start (n, 3), by the trapezoidal rule."""
    force = sum(
        np.einsum(
            "nij,nj->ni",
            found.pose(f"drone {number}").rotation,
            found.input(f"thrust {number}")[:, 3:],
        )
        for number in (1, 2)
    )
    steps = np.diff(found.t)[:, None] * (force[1:] + force[:-1]) / 2
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def measured(first: sp.Result, second: sp.Result) -> dict[str, float]:
    payload, momentum = first.position("payload"), first.momentum.linear
    apart = np.abs(payload - second.position("payload")).max()
    missing = np.abs(momentum - impulse(first)).max() / np.abs(momentum).max()
    return {
        "payload, rooted at the other drone (m)": float(apart),
        "off the plane (m)": float(np.abs(payload[:, 1]).max()),
        "momentum against the rotors' impulse, over the largest": float(missing),
        "Newton iterations a step (printed: 3)": first.stats.newton_per_step,
    }


def run(quick: bool = False) -> dict[str, float]:
    """The flight from both roots; quick: one second."""
    duration = 1.0 if quick else 10.0
    return measured(flown(duration), flown(duration, 2))


def told() -> dict[str, float]:
    """How circular and how cyclic the payload's path is; the desired velocities have a period of 4 s."""
    found = flown(10.0)
    x, z = found.position("payload")[:, [0, 2]].T
    # The circle (x - a)² + (z - b)² = r² is linear in a, b and r² - a² - b².
    a, b, rest = np.linalg.lstsq(
        np.stack([2 * x, 2 * z, np.ones_like(x)], axis=1), x**2 + z**2, rcond=None
    )[0]
    radius = np.sqrt(rest + a**2 + b**2)
    off = np.sqrt(np.mean((np.hypot(x - a, z - b) - radius) ** 2))
    path, later = np.stack([x, z], axis=1), round(4 / STEP)
    again = np.linalg.norm(path[later:] - path[:-later], axis=1)[-round(2 / STEP) :].mean()
    return {
        "step (s)": STEP,
        "payload off the best circle, over its radius": float(off / radius),
        "payload after 4 s off its place, over its range": float(
            again / np.ptp(path, axis=0).max()
        ),
        "largest displacement of the payload (m)": float(
            np.linalg.norm(path - path[0], axis=1).max()
        ),
    }


def main() -> None:
    from examples._picture import BLUE, GREEN, ORANGE, RED, figure, save, snapshots

    first, second = flown(10.0), flown(10.0, 2)
    fig, axes = figure(1, 3, (13.0, 4.2))
    chosen = np.arange(0, 401, 80)
    rods = [first.shape(name, 41).position[chosen] for name in ("rod 1", "rod 2")]
    shapes = [np.concatenate(pair) for pair in zip(*rods, strict=True)]
    mappable = snapshots(axes[0], shapes, first.t[chosen], plane="xz")
    fig.colorbar(mappable, ax=axes[0], label="time (s)")
    for name, color in zip(NAMES, (BLUE, ORANGE, RED), strict=True):
        place = first.position(name)
        axes[0].plot(place[chosen, 0], place[chosen, 2], "s", color=color, ms=6)
        axes[1].plot(first.t, place[:, 2], color=color, label=name)
    axes[0].set_title("The chain")
    for number, pulsation in enumerate(PULSATIONS, start=1):
        way = (1 - np.cos(pulsation * first.t)) / pulsation
        color = (BLUE, RED)[number - 1]
        axes[1].plot(first.t, way, ":", color=color, linewidth=1, label=f"desired, {number}")
    axes[1].set(xlabel="time (s)", ylabel="z (m)", title="Heights")
    axes[1].set_ylim(top=1.9)
    axes[1].legend(ncols=3, loc="upper center")
    payload = first.position("payload")
    axes[2].plot(payload[:, 0], payload[:, 2], color=ORANGE)
    axes[2].plot(*payload[0, [0, 2]], "o", color=GREEN, ms=5)
    axes[2].set(xlabel="x (m)", ylabel="z (m)", title="Path of the payload, 10 s")
    save(fig, "two_drones")
    report("000 §3.9.2, two drones", measured(first, second), LIMITS)


if __name__ == "__main__":
    main()
