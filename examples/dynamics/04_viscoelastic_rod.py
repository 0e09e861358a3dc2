"""A rod that creeps: beside each spring of bending a second one, in a row with a dashpot (Maxwell's element).

A law of a user's own in one function: the general form of 002 (12), C z + D ż = f, with the strains of the
dashpots among the z. A moment at the tip bends the rod alike along its length, so that its creep is that of
one element, in closed form. Let go from a small deflection it swings as λ² + ω² E(λ)/E = 0 tells, with the
first frequency ω of Euler's beam and the modulus E(λ) of the element: a root of a cubic polynomial.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import supple as sp
from examples._check import report

LENGTH, RADIUS = 0.3, 2e-3
POLYMER: Any = sp.Material(E=3e9, nu=0.35, density=1200.0)
STIFFNESS = POLYMER.E * np.pi * RADIUS**4 / 4
EXTRA = 0.8
"""Stiffness of the second springs over that of the first ones."""
CREEP, RING = 0.5, 0.02
"""Time constants of the dashpots with their springs (s): one for each case."""
RISE, MOMENT = 0.3, 0.06
"""How the moment rises (s, N m)."""
LIMITS = {
    "creep: curvature against the closed form, relative": 1e-3,
    "creep: strain of the dashpots, relative": 1e-3,
    "at rest: curvature against the springs alone, relative": 1e-9,
    "swing: decay against the complex modulus, relative": 1e-2,
    "swing: frequency against the complex modulus, relative": 1e-3,
    "swing: decay over that with the first springs alone": (20.0, np.inf),
}


def standard_solid(tau: float) -> Callable[[sp.RodPlace], tuple[Any, Any, Any]]:
    """Springs of the rod, and Maxwell's elements beside those of bending and twist."""

    def law(place: sp.RodPlace) -> tuple[Any, Any, Any]:
        # K (ξ - ξ₀) + K₁ (κ - κ₀ - e) = Λ and τ K₁ ė = K₁ (κ - κ₀ - e), with z = (ξ, e).
        K, K1 = place.stiffness, EXTRA * place.stiffness[:3, :3]
        between = jnp.zeros((6, 3)).at[:3].set(-K1)
        C = jnp.block([[K.at[:3, :3].add(K1), between], [between.T, K1]])
        D = jnp.zeros((9, 9)).at[6:, 6:].set(tau * K1)
        return C, D, jnp.concatenate([place.wrench, jnp.zeros(3)]) + C[:, :6] @ place.rest

    return law


LAWS = {tau: standard_solid(tau) for tau in (CREEP, RING)}


def robot(*loads: sp.Wrench, law: Any) -> sp.Robot:
    """The rod, without weight."""
    rod = sp.Rod("rod", LENGTH, sp.Circle(RADIUS), POLYMER, basis=6)
    settings = sp.Shooting(points=25, segments=4, rotary_inertia=False, law=law)
    return sp.Robot(rod, *loads, gravity=(0, 0, 0), formulation=settings)


def element(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Curvature of one element under the rising moment, and the strain of its dashpot (1/m)."""
    slow, full = CREEP * (1 + EXTRA), MOMENT / STIFFNESS
    rising = full / RISE * (t - slow * (1 - np.exp(-t / slow)))
    risen = full / RISE * (RISE - slow * (1 - np.exp(-RISE / slow)))
    e = np.where(t < RISE, rising, full + (risen - full) * np.exp(-(t - RISE) / slow))
    return (full * np.clip(t / RISE, 0, 1) + EXTRA * e) / (1 + EXTRA), e


def creep() -> sp.Result:
    """The moment rises and stays."""
    turn = sp.Wrench("turn", on="rod", moment=(0, 0, MOMENT), law=sp.ramp(0.0, RISE, 1.0))
    return sp.simulate(robot(turn, law=LAWS[CREEP]), 3.0, dt=0.01, scheme=sp.bdf2())


def swing(law: Any) -> sp.Result:
    """Let go from a small deflection; the scheme does not damp."""
    pull = sp.Wrench("pull", on="rod", force=(0, 0.02, 0))
    return sp.release(robot(pull, law=law), "pull", 0.5, dt=1e-3, scheme=sp.bdf_alpha(-0.5))


def root() -> complex:
    """λ of the first vibration."""
    mass = POLYMER.density * np.pi * RADIUS**2
    square = 1.8751040687**4 / LENGTH**4 * STIFFNESS / mass
    # (λ² + ω²) (1 + τ λ) + ω² EXTRA τ λ = 0
    roots = np.roots([RING, 1.0, square * RING * (1 + EXTRA), square])
    return complex(roots[np.argmax(roots.imag)])


def vibration(result: sp.Result) -> complex:
    """λ of the first vibration, from the second half of a swing: three instants follow by its polynomial."""
    y = result.position("rod")[len(result) // 3 :, 1][::10]
    step = 10 * float(result.t[1] - result.t[0])
    rows = np.stack([y[1:-1], y[:-2]], axis=1)
    a, b = np.linalg.lstsq(rows, y[2:], rcond=None)[0]
    found = np.log(np.roots([1.0, -a, -b]).astype(complex)) / step
    return complex(found[np.argmax(found.imag)])


def crept(result: sp.Result) -> dict[str, float]:
    """Errors of the creep, once vibrations from the moment's rise have gone."""
    late = result.t > 1.0
    curvature, e = element(result.t[late])
    size = MOMENT / STIFFNESS
    found = result.strain("rod", (0.5,))[late, 0, 2], result.variables("rod", (0.5,))[late, 0, 2]
    errors = [float(np.abs(a - b).max()) / size for a, b in zip(found, (curvature, e), strict=True)]
    return dict(zip(list(LIMITS)[:2], errors, strict=True))


def run(quick: bool = False) -> dict[str, float]:
    """All of it; quick: creep alone."""
    errors = crept(creep())
    if quick:
        return errors
    turn = sp.Wrench("turn", on="rod", moment=(0, 0, MOMENT))
    held = sp.equilibrium(robot(turn, law=LAWS[CREEP])).strain("rod", (0.5,))[0, 2]
    errors["at rest: curvature against the springs alone, relative"] = float(
        abs(held * STIFFNESS / MOMENT - 1)
    )
    found, exact = vibration(swing(LAWS[RING])), root()
    errors["swing: decay against the complex modulus, relative"] = abs(found.real / exact.real - 1)
    errors["swing: frequency against the complex modulus, relative"] = abs(
        found.imag / exact.imag - 1
    )
    elastic = abs(vibration(swing(None)).real)
    errors["swing: decay over that with the first springs alone"] = -found.real / elastic
    return errors


def main() -> None:
    from examples._picture import BLUE, GRAY, ORANGE, RED, figure, save

    fig, (left, right) = figure(1, 2, (10.5, 4.0))
    result = creep()
    curvature, e = element(result.t)
    for values, exact, color, label in (
        (result.strain("rod", (0.5,))[:, 0, 2], curvature, BLUE, "curvature"),
        (result.variables("rod", (0.5,))[:, 0, 2], e, ORANGE, "dashpots"),
    ):
        left.plot(result.t, values, color=color, label=label)
        left.plot(result.t[::15], exact[::15], ".", color=GRAY, ms=5)
    left.axhline(MOMENT / STIFFNESS, color=GRAY, lw=0.8, ls="--")
    left.set(xlabel="time (s)", ylabel="1/m", title="Creep under a moment (dots: closed form)")
    left.legend()
    decay = root().real
    for law, color, label in ((None, GRAY, "elastic"), (LAWS[RING], RED, "Maxwell's elements")):
        result = swing(law)
        y = 1e3 * result.position("rod")[:, 1]
        right.plot(result.t, y, color=color, lw=1.2, label=label)
    t, late = np.linspace(0, 0.5, 200), result.t > 0.1
    size = (np.abs(y) * np.exp(-decay * result.t))[late].max()
    right.plot(
        t[10:], size * np.exp(decay * t[10:]), color=RED, lw=0.8, ls="--", label="decay, exact"
    )
    right.set(xlabel="time (s)", ylabel="tip (mm)", title="Let go")
    right.legend(loc="upper right")
    save(fig, "viscoelastic_rod")
    report("A rod with Maxwell's elements", run(), LIMITS)


if __name__ == "__main__":
    main()
