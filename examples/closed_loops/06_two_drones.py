"""000 §3.9.2: two drones carry a payload on two rods, an open floating chain, without gravity; 10 s at 1 ms.

Each drone has a controller of its velocity with an integral of its own (3.65)-(3.66), called at 1 kHz inside
the compiled run. The tree may start at either drone, and the motion must be the same.
"""

import numpy as np

import supple as sp
from examples._check import report
from supple.robots.two_drones import INTEGRAL, PERIOD, PROPORTIONAL, PULSATIONS, two_drones

NAMES = ("drone 1", "payload", "drone 2")
LIMITS = {
    "payload, rooted at the other drone (m)": 1e-5,
    "off the plane (m)": 1e-9,
    "thrust against (3.65), over the largest": 1e-2,
}


def flown(duration: float, rooted_at: int = 1) -> sp.Result:
    """The flight from rest as described."""
    robot = two_drones(rooted_at=rooted_at)
    return sp.simulate(robot, duration, dt=PERIOD, t_eval=0.01)


def printed_thrust(found: sp.Result, name: str, pulsation: float) -> np.ndarray:
    """Force along z (n,) of (3.65), from the motion that was found; drones hardly turn about y or z."""
    height = found.position(name)[:, 2]
    error = np.sin(pulsation * found.t) - np.gradient(height, found.t, edge_order=2)
    steps = np.diff(found.t) * (error[1:] + error[:-1]) / 2
    return PROPORTIONAL * error + INTEGRAL * np.concatenate([[0.0], np.cumsum(steps)])


def measured(first: sp.Result, second: sp.Result) -> dict[str, float]:
    payload = first.position("payload")
    lag = 0.0
    for number, pulsation in enumerate(PULSATIONS, start=1):
        name = f"drone {number}"
        given = np.einsum(
            "nij,nj->ni", first.poses[name].rotation, first.input(f"thrust {number}")[:, 3:]
        )
        printed = printed_thrust(first, name, pulsation)
        # Inputs are those held until the instant, half a period behind on average.
        lag = max(lag, float(np.abs(given[:, 2] - printed)[1:-1].max() / np.abs(printed).max()))
    return {
        "payload, rooted at the other drone (m)": float(
            np.abs(payload - second.position("payload")).max()
        ),
        "off the plane (m)": float(np.abs(payload[:, 1]).max()),
        "thrust against (3.65), over the largest": lag,
    }


def run(quick: bool = False) -> dict[str, float]:
    """The flight from both roots; quick: one second."""
    duration = 1.0 if quick else 10.0
    return measured(flown(duration), flown(duration, 2))


def main() -> None:
    from examples._picture import BLUE, GREEN, ORANGE, RED, figure, save, snapshots

    first, second = flown(10.0), flown(10.0, 2)
    fig, axes = figure(1, 3, (13.0, 4.2))
    chosen = np.arange(0, 401, 80)
    rods = [first.shape(name, 41).position[chosen] for name in ("rod 1", "rod 2")]
    shapes = [np.concatenate(pair) for pair in zip(*rods, strict=True)]
    mappable = snapshots(axes[0], shapes, first.t[chosen], plane="xz")
    fig.colorbar(mappable, ax=axes[0], label="time (s)")
    for name, colour in zip(NAMES, (BLUE, ORANGE, RED), strict=True):
        place = first.position(name)
        axes[0].plot(place[chosen, 0], place[chosen, 2], "s", color=colour, ms=6)
        axes[1].plot(first.t, place[:, 2], color=colour, label=name)
    axes[0].set_title("The chain")
    for number, pulsation in enumerate(PULSATIONS, start=1):
        way = (1 - np.cos(pulsation * first.t)) / pulsation
        colour = (BLUE, RED)[number - 1]
        axes[1].plot(first.t, way, ":", color=colour, linewidth=1, label=f"desired, {number}")
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
