"""000, appendix C: the cantilever written out by hand, for one mode of constant curvature κ.

The centerline is an arc, r = (sin κs, 1 − cos κs)/κ, a section turns by κs, so SymPy gets the Lagrangian
in closed form (rotary inertia, gravity, tip force), and from it the residual and its tangent

    R(κ, κ̇, κ̈) = d/dt ∂T/∂κ̇ − ∂T/∂κ + ∂V/∂κ,        M = ∂R/∂κ̈,  C = ∂R/∂κ̇,  K = ∂R/∂κ,

which Supple computes by quadrature. Both must agree, also in a motion from rest. Needs SymPy ("dev").
"""

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import sympy as sy
from scipy.integrate import solve_ivp

import supple as sp
from examples._check import report
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
from supple.robots.cantilever import soft_cantilever

LENGTH, RADIUS, YOUNG, DENSITY, GRAVITY, FORCE = 10.0, 5e-3, 1e11, 7800.0, 9.81, 50.0
START = 0.05  # curvature (1/m) at rest; the closed forms divide by κ, and the motion keeps off zero
ROD = soft_cantilever(FORCE, strains="planar", basis=1, nodes=16).build()
TERMS = ("residual R", "mass M", "damping C", "stiffness K")
LIMITS = {f"{term}, relative": 1e-10 for term in TERMS} | {"tip in motion, over length": 1e-6}


def derive() -> tuple[tuple[sy.Symbol, ...], tuple[sy.Symbol, ...], tuple[sy.Expr, ...]]:
    """Motion (κ, κ̇, κ̈), parameters (L, ρA, ρI, EI, g, F) and (R, M, C, K) as expressions."""
    k, kd, kdd = motion = sy.symbols("kappa kappadot kappaddot", real=True, nonzero=True)
    L, mass, rotary, stiffness, g, force = given = sy.symbols("L rhoA rhoI EI g F", positive=True)
    s = sy.symbols("s", positive=True)
    x, y = sy.sin(k * s) / k, (1 - sy.cos(k * s)) / k
    speed2 = sy.expand(sy.diff(x, k) ** 2 + sy.diff(y, k) ** 2)
    inertia = sy.simplify(mass * sy.integrate(speed2, (s, 0, L)) + rotary * L**3 / 3)
    weight = mass * g * sy.integrate(x, (s, 0, L))
    potential = sy.simplify(stiffness * L * k**2 / 2 - weight - force * y.subs(s, L))
    # T = ½ m(κ) κ̇²: d/dt ∂T/∂κ̇ − ∂T/∂κ = m κ̈ + ½ m' κ̇²
    residual = inertia * kdd + sy.diff(inertia, k) * kd**2 / 2 + sy.diff(potential, k)
    return motion, given, (residual, *(sy.diff(residual, v) for v in (kdd, kd, k)))


@cache
def by_hand() -> Callable[..., list[float]]:
    """(κ, κ̇, κ̈) -> (R, M, C, K) with the rod's numbers put in."""
    motion, given, terms = derive()
    area, second = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
    numbers = (LENGTH, DENSITY * area, DENSITY * second, YOUNG * second, GRAVITY, FORCE)
    put_in = dict(zip(given, map(sy.Float, numbers), strict=True))
    return sy.lambdify(motion, [term.subs(put_in) for term in terms], "numpy")


def by_supple(motions: np.ndarray) -> np.ndarray:
    """(R, M, C, K) for each row (κ, κ̇, κ̈), from the general code."""

    def one(motion: jax.Array) -> jax.Array:
        k, kd, kdd = motion[:, None]
        terms = inverse_dynamics_tangent(ROD, Coordinates(k, 0 * k, kd, kdd, jnp.zeros(())))
        return jnp.stack([jnp.squeeze(term) for term in terms[:4]])

    return np.asarray(jax.jit(jax.vmap(one))(motions))


def simulate(duration: float) -> tuple[sp.Result, np.ndarray]:
    """From rest, slightly bent: Supple's result, and κ at its instants from SciPy."""
    start = sp.initial_state(ROD, q=np.array([START]))
    result = sp.simulate(ROD, duration, accuracy=1e-8, initial=start)

    def rate(_: float, state: np.ndarray) -> list[float]:
        force, mass, *_ = by_hand()(*state, 0.0)
        return [state[1], -force / mass]

    begin, end = [START, 0.0], (0.0, duration)
    return result, solve_ivp(rate, end, begin, "DOP853", result.t, rtol=1e-11, atol=1e-13).y[0]


def run(quick: bool = False) -> dict[str, float]:
    """Random motions, then one from rest."""
    rng = np.random.default_rng(1)
    bend = rng.uniform(0.05, 0.4, 12) * rng.choice([-1.0, 1.0], 12)
    motions = np.column_stack([bend, rng.normal(size=(12, 2)) * [0.3, 1.0]])
    exact = np.array([by_hand()(*motion) for motion in motions])
    gaps = np.abs(by_supple(motions) - exact).max(axis=0) / np.abs(exact).max(axis=0)
    result, other = simulate(0.3 if quick else 2.0)
    tip = np.stack([np.sin(other * LENGTH), 1 - np.cos(other * LENGTH)], axis=1) / other[:, None]
    apart = np.linalg.norm(result.position("rod")[:, :2] - tip, axis=1).max() / LENGTH
    return dict(zip(LIMITS, (*map(float, gaps), float(apart)), strict=True))


def main() -> None:
    from examples._picture import figure, save

    motion, given, (residual, mass, *_) = derive()
    print("M(κ) =", mass, "\nR = M κ̈ +", sy.simplify(residual.subs(motion[2], 0)), "\nof", given)
    fig, axes = figure(1, 3, (11, 3.6))
    grid = np.linspace(-0.6, 0.6, 62)
    exact = np.array([by_hand()(k, 0.3, 0.0) for k in grid])
    got = by_supple(np.array([[k, 0.3, 0.0] for k in grid[::3]]))
    for axis, column, title in ((axes[0], 1, "Mass M (kg m⁴)"), (axes[1], 0, "Residual R (N m²)")):
        axis.plot(grid, exact[:, column], label="by hand")
        axis.plot(grid[::3], got[:, column], "o", ms=4, mfc="w", color="k", label="Supple")
        axis.set(xlabel="κ (1/m)", title=title)
    result, other = simulate(2.4)
    axes[2].plot(result.t, other, label="by hand, SciPy")
    axes[2].plot(result.t[::6], result.q[::6, 0], "o", ms=4, mfc="w", color="k", label="Supple")
    axes[2].set(xlabel="time (s)", ylabel="κ (1/m)", title="Motion from rest")
    for axis in axes:
        axis.legend()
    save(fig, "cantilever_by_hand")
    report("000 appendix C, one mode", run(), LIMITS)


if __name__ == "__main__":
    main()
