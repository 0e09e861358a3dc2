"""Numbers of 000 that follow from its robots, and the steps that schemes can take on its cantilever."""

from typing import Any

import numpy as np

from supple.bench.rods import PRESETS
from supple.robot.items import Body, Closure, Rod
from supple.robot.robot import Robot
from supple.robots.cantilever import stiff_cantilever
from supple.robots.rfrfr import TORQUES, rfrfr
from supple.robots.rfrfr_prototype import drive
from supple.robots.swimmer import LENGTHS, OFFSET, left_tension, right_tension
from supple.robots.tendon_cpr import tendon_cpr
from supple.robots.two_drones import two_drones
from supple.run.simulate import simulate
from supple.run.start import initial_state
from supple.run.statics import equilibrium, modes
from supple.studies.parameters import WithParameters
from supple.time.alpha import generalized_alpha, newmark
from supple.time.explicit import Explicit

FACTORS = (0.01, 1.0, 100.0)
"""On Young's modulus, as in §3.9.1."""
MODULUS = "rod.material.E"
IMPLICIT = {"Newmark": newmark(), "generalized-α": generalized_alpha(0.9)}


def _count(robot: Any, kind: type) -> float:
    return float(sum(isinstance(item, kind) for item in robot.items))


def parts() -> dict[str, float]:
    """What robots are made of, and what drives them."""
    planar, drones, cables = rfrfr(), two_drones(), tendon_cpr()
    roots = [item for item in planar.items if isinstance(item, Rod)]
    feet = [float(rod.position[0]) for rod in roots]
    left, right = TORQUES["outwards"]
    late = np.linspace(4.0, 7.0, 301)
    sway = [float(left(np.asarray(t))) for t in late]
    period = np.linspace(0.0, 0.4, 401)
    control = [OFFSET * float(left_tension(t) - right_tension(t)) for t in period]
    return {
        "drones: bodies": _count(drones, Body),
        "drones: rods": _count(drones, Rod),
        "swimmer: segments": float(len(LENGTHS)),
        "swimmer: length (m)": sum(LENGTHS.values()),
        "swimmer: control torque, amplitude (N m)": float(np.ptp(control) / 2),
        "tendon CPR: cables": float(sum(item.name.startswith("cable") for item in cables.items)),
        "RFRFR: distance (m)": float(feet[1] - feet[0]),
        "RFRFR: rods": _count(planar, Rod),
        "RFRFR: limbs": float(len(roots)),
        "RFRFR: rods of a limb": _count(planar, Rod) / len(roots),
        "RFRFR: hinges": float(sum(rod.joint is not None for rod in roots)),
        "RFRFR: elements": 2 * _count(planar, Rod) + 1,
        "RFRFR: motors": float(sum("motor" in item.name for item in planar.items)),
        "RFRFR: closures": _count(planar, Closure),
        "RFRFR: torque held (N m)": abs(float(right(np.asarray(3.0)))),
        "RFRFR: sign of the left torque": float(np.sign(float(left(np.asarray(3.0))))),
        "RFRFR: largest sway (N m)": float(np.ptp(sway)),
        "prototype: last base angle (rad)": float(drive()(np.asarray(60.0))),
        "prototype: last base angle, first trajectory (rad)": float(
            drive(end=0.0)(np.asarray(60.0))
        ),
        "benches: step (s)": float(PRESETS["thesis"].dt or 0.0),
    }


def critical_steps() -> dict[str, float]:
    """The largest steps of an explicit scheme by the modulus, and the implicit one at 0.1 s."""
    limits, good = [], dict.fromkeys(IMPLICIT, 0)
    for factor in FACTORS:
        limits.append(_critical(_with_modulus("reissner", factor)))
        held = _with_modulus("planar", factor)
        # The force grows with the modulus, so that all rods begin with the same shape.
        start = equilibrium(held)
        model = held.removing("pull").build()
        for name, scheme in IMPLICIT.items():
            run = simulate(model, 1.0, dt=0.1, scheme=scheme, initial=start, throw=False)
            good[name] += run.ok
    return {
        "critical step (s)": limits[1],
        "power of E": float(np.polyfit(np.log(FACTORS), np.log(limits), 1)[0]),
        **{f"runs at 0.1 s that end, {name}": float(count) for name, count in good.items()},
    }


def _with_modulus(strains: str, factor: float) -> Robot:
    """The stiff cantilever with three modes a strain, and with another modulus."""
    robot = stiff_cantilever(10.0 * factor, strains=strains, basis=3)
    return WithParameters(robot, [MODULUS])({MODULUS: factor * 2e11})


def _critical(robot: Robot) -> float:
    """Largest step with which a small disturbance does not grow in 300 steps, by bisection about 2.8/ω."""
    model = Robot(robot["rod"], gravity=(0.0, 0.0, 0.0)).build()
    fastest = 2 * np.pi * modes(model).frequencies.max()
    low, high = 1.0 / fastest, 6.0 / fastest
    start = initial_state(model, v=np.full(model.nv, 1e-6) * np.asarray(model.scale))
    for _ in range(10):
        middle = np.sqrt(low * high)
        run = simulate(
            model, 300 * middle, dt=middle, scheme=Explicit("rk4"), initial=start, throw=False
        )
        grown = np.abs(run.v).max() / np.abs(run.v[0]).max()
        if run.ok and np.isfinite(grown) and grown < 1e3:
            low = middle
        else:
            high = middle
    return float(low)
