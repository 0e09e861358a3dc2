"""Numbers of 001: beams under torques, forces and cables."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.linalg

from supple.robots import flexion_torsion as twist, tendon_beam as cable
from supple.robots.rolled_beam import LENGTH, PRINTED_RADIUS, curvature, rolled_beam
from supple.run.statics import equilibrium, linearize


def rolled() -> dict[str, float]:
    """Test 1: the circle of Euler, and how fast strains settle when inertia is left out."""
    torque = 1.0
    found = equilibrium(rolled_beam(torque, radius=PRINTED_RADIUS))
    exact = curvature(torque, PRINTED_RADIUS)
    q, frames = np.asarray(found.q), found.shape("beam").rotation
    small = linearize(rolled_beam(0.0, radius=PRINTED_RADIUS))
    rates = scipy.linalg.eigh(small.stiffness, small.damping, eigvals_only=True)
    return {
        "curvature over C/EI": float(np.mean(found.strain("beam")[:, 2]) / exact),
        "other modes over the first": float(np.abs(q[1:]).max() / abs(q[0])),
        "slowest time constant (s)": float(1 / rates.min()),
        "frames off orthonormal": float(
            np.abs(np.einsum("nji,njk->nik", frames, frames) - np.eye(3)).max()
        ),
        "turns at 5 N m": 5 * exact * LENGTH / (2 * np.pi),
    }


def twisted() -> dict[str, float]:
    """Test 3: the prescribed motion of the end."""
    end: Any = twist.END
    turn, last = np.asarray(end.rotation(1.0)), np.asarray(end.position(2.5))
    return {
        "turn (rad)": float(turn[0]),
        "end over l": float(last[0] / twist.LENGTH),
    }


def _offset(routing: str, at: float) -> np.ndarray:
    given: Any = cable.ROUTINGS[routing]
    return np.asarray(given(jnp.asarray(at)) if callable(given) else given, dtype=float)


def routings() -> dict[str, float]:
    """Table I: where cables run, and the planes that their beams stay in at 5 N."""
    radius, tension = cable.RADIUS, 5.0
    found: dict[str, float] = {}
    for name in ("convergent", "cross", "truncated"):
        for at in (0.0, 1.0):
            found[f"{name}, D_Y over R at {at:g}"] = float(_offset(name, at)[0] / radius)
    places = np.array([_offset("spiral", at) for at in np.linspace(0, 1, 9)])
    found["spiral, amplitude over R"] = float(np.abs(places[:, 0]).max() / radius)
    straight: Any = cable.tendon_beam("truncated", tension)["cable"]
    found["truncated, end"] = float(straight.end)
    stiffness = cable.MODULUS * np.pi * radius**4 / 4
    for name in ("parallel", "cross", "spiral"):
        rest = equilibrium(cable.tendon_beam(name, tension))
        line = rest.shape("beam", 41).position
        if name == "parallel":
            bend = np.linalg.norm(rest.strain("beam")[:, :3], axis=1).mean()
            found["parallel, torque over R T"] = float(bend * stiffness / (radius * tension))
            continue
        thin = np.linalg.svd(line, compute_uv=False)[-1] / np.sqrt(len(line))
        found[f"{name}, out of its plane over length"] = float(thin / cable.LENGTH)
    return found
