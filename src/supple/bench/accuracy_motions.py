"""Robots in motion whose way is known from elsewhere: finite elements, exact solutions, other equations.

Each case tells the largest distance of a point from the reference, over the instants that a run reports.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

from supple.bench import rods
from supple.results.result import Result
from supple.robot.items import Body, Closure, Marker, Rod
from supple.robot.joint import Prismatic, Revolute
from supple.robot.loads import Wrench
from supple.robot.robot import Robot
from supple.robots.cantilever import stiff_cantilever
from supple.section import Circle, GivenProperties, Material

NONE, DOWN = (0.0, 0.0, 0.0), (0.0, -9.81, 0.0)
OUTPUTS = 401
"""Instants at which exact solutions are compared."""
TIGHT = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}

ROD = 1.0
"""Length (m), stiffness (N), mass per length (kg/m) and pull (N) of a rod that is pulled along and let go."""
EA, LINE, PULL = 100.0, 0.04, 1.0
CRANK, CONNECTING = 0.2, 0.5
CRANK_MASS, CONNECTING_MASS, SLIDER_MASS = 1.0, 0.6, 0.4
MASS, RAMP = 2.0, 4.0
STRING, STRING_PULL = 1.0, 0.05


@dataclass(frozen=True)
class Motion:
    """A robot, how long it runs (s), which load is let go at its start, its size (m) and its error (m)."""

    build: Callable[[], Robot]
    duration: float
    length: float
    error: Callable[[Result], float]
    released: str | None = None


def _points(result: Result, name: str, path: Callable[[np.ndarray], np.ndarray]) -> float:
    times = np.linspace(result.t[0], result.t[-1], OUTPUTS)
    found = result.sample(times).position(name)
    return float(np.linalg.norm(found - path(times), axis=1).max())


def _pendulum() -> Robot:
    bob = Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=Revolute("z"))
    return Robot(bob, Marker("end", parent="bob", position=(1.0, 0.0, 0.0)), gravity=DOWN)


def _swing(times: np.ndarray) -> np.ndarray:
    """A point mass at half a meter, let go level."""
    found = solve_ivp(
        lambda _, z: [z[1], -9.81 / 0.5 * np.cos(z[0])],
        (0, times[-1]),
        [0, 0],
        t_eval=times,
        **TIGHT,
    )
    return np.stack([np.cos(found.y[0]), np.sin(found.y[0]), 0 * times], axis=1)


def _pushed() -> Robot:
    body = Body("mass", mass=MASS, joint=Prismatic("x"))
    push = Wrench("push", on="mass", force=(RAMP, 0.0, 0.0), law=_rises)
    return Robot(body, push, gravity=NONE)


def _rises(t):  # type: ignore[no-untyped-def]
    return jnp.maximum(t - 1.0, 0.0)


def _pushed_on(times: np.ndarray) -> np.ndarray:
    way = RAMP / MASS * np.maximum(times - 1.0, 0.0) ** 3 / 6
    return np.stack([way, 0 * times, 0 * times], axis=1)


def _slider_crank() -> Robot:
    """Point masses at the crank's pin, in the middle of the connecting rod and on the slider."""
    crank = Body(
        "crank", mass=CRANK_MASS, com=(CRANK, 0.0, 0.0), joint=Revolute("z"), rotation=(0, 0, 1.0)
    )
    slider = Body(
        "slider", mass=SLIDER_MASS, position=(_reach(1.0), 0.0, 0.0), joint=Prismatic("x")
    )
    angle = np.arcsin(CRANK * np.sin(1.0) / CONNECTING)
    rod = Body(
        "rod", parent="crank", position=(CRANK, 0.0, 0.0), rotation=(0.0, 0.0, -1.0 - angle),
        mass=CONNECTING_MASS, com=(CONNECTING / 2, 0.0, 0.0), joint=Revolute("z"),
    )  # fmt: skip
    pin = Closure(
        "pin", on="rod", position=(CONNECTING, 0.0, 0.0), to="slider", joint=Revolute("z")
    )
    return Robot(crank, rod, slider, pin, gravity=DOWN)


def _reach(angle: float) -> float:
    return float(CRANK * np.cos(angle) + np.sqrt(CONNECTING**2 - (CRANK * np.sin(angle)) ** 2))


def _crank_turns(times: np.ndarray) -> np.ndarray:
    """One coordinate: M(θ) θ̈ = -M' θ̇²/2 - V', the derivatives by complex steps."""

    def places(angle: complex) -> list[np.ndarray]:
        pin = np.array([CRANK * np.cos(angle), CRANK * np.sin(angle)])
        end = np.array([pin[0] + np.sqrt(CONNECTING**2 - pin[1] ** 2), 0 * angle])
        return [pin, (pin + end) / 2, end]

    masses, tiny = (CRANK_MASS, CONNECTING_MASS, SLIDER_MASS), 1e-30
    step = 1e-5

    def inertia(angle: float) -> float:
        slopes = [place.imag / tiny for place in places(angle + 1j * tiny)]
        return float(sum(m * slope @ slope for m, slope in zip(masses, slopes, strict=True)))

    def rate(_: float, z: np.ndarray) -> list[float]:
        there = places(z[0] + 1j * tiny)
        pull = 9.81 * sum(m * p[1].imag / tiny for m, p in zip(masses, there, strict=True))
        grows = (inertia(z[0] + step) - inertia(z[0] - step)) / (2 * step)
        return [z[1], float(-(grows * z[1] ** 2 / 2 + pull) / inertia(z[0]))]

    found = solve_ivp(rate, (0, times[-1]), [1.0, 0.0], t_eval=times, **TIGHT)
    return np.stack([[_reach(angle), 0.0, 0.0] for angle in found.y[0]])


def _pulled_along() -> Robot:
    stiff = GivenProperties((1.0, 1.0, 1.0, EA, EA, EA), (1e-6, 1e-6, 1e-6, LINE, LINE, LINE))
    rod = Rod("rod", ROD, properties=stiff, strains=("gx",))
    return Robot(rod, Wrench("pull", on="rod", force=(PULL, 0.0, 0.0)), gravity=NONE)


def _wave(times: np.ndarray) -> np.ndarray:
    """The tip goes to and fro at constant speed: two waves between its ends (d'Alembert)."""
    period = 4 * ROD / np.sqrt(EA / LINE)
    phase = (times / period) % 1.0
    share = 1.0 - 4.0 * np.minimum(phase, 1.0 - phase)
    return np.stack([ROD * (1.0 + share * PULL / EA), 0 * times, 0 * times], axis=1)


def _heavy_string() -> Robot:
    rod = Rod(
        "rod", STRING, Circle(2e-3), Material(E=1e6, density=1000.0), strains="planar-reissner"
    )
    pull = Wrench("pull", on="rod", force=(0.0, STRING_PULL, 0.0))
    return Robot(rod, pull, gravity=(9.81, 0.0, 0.0))


def _against(case: str) -> Callable[[Result], float]:
    """Distance of the tip from finite elements (m)."""
    return lambda result: rods.tip_error(result, case, 1.0)


def _bench(case: rods.Case) -> Motion:
    return Motion(case.build, case.duration, case.length, _against(case.name), case.released)


MOTIONS = {
    **{name: _bench(case) for name, case in rods.CASES.items()},
    "stiff-cantilever-as-printed": Motion(
        lambda: stiff_cantilever(as_printed=True), 0.35, 0.4,
        _against("stiff-cantilever-as-printed"), "pull",
    ),
    "heavy-string-swings": Motion(_heavy_string, 1.0, STRING, _against("heavy-string"), "pull"),
    "pendulum": Motion(_pendulum, 6.0, 1.0, lambda r: _points(r, "end", _swing)),
    "undeclared-kink": Motion(_pushed, 2.0, 1.0, lambda r: _points(r, "mass", _pushed_on)),
    "slider-crank": Motion(
        _slider_crank, 3.0, 1.0, lambda r: _points(r, "slider", _crank_turns)
    ),
    "axial-wave": Motion(_pulled_along, 0.2, ROD, lambda r: _points(r, "rod", _wave), "pull"),
}  # fmt: skip
"""Cases in motion by name."""
