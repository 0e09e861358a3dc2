"""Closed-form planar elastica: cantilever under a tip force (inextensible, unshearable).

Clamped at the origin along +x, bending stiffness EI, length L.

``follower_tip``: the force stays perpendicular to the tip tangent (in the plane
of the tip section), pushing along the tip normal (-sin theta_L, cos theta_L).
With psi = theta_L - theta and sigma = L - s measured from the tip, equilibrium is

    psi'' = k^2 cos(psi),   psi(0) = psi'(0) = 0,   k^2 = F / EI,

an initial value problem: no shooting.  It is the pendulum released at 90 degrees
(chi = psi - pi/2), solved by Jacobi functions of parameter m = 1/2:

    sin(chi / 2) = -sqrt(m) cd(k sigma | m).

``dead_tip``: the force keeps the direction +y.  The same integration from the tip,

    sin((theta + pi/2) / 2) = sqrt(m) cd(k sigma | m),   m = (1 + sin theta_L) / 2,

leaves one scalar equation, theta = 0 at the clamp, for theta_L.

Run as a script for a self-check against direct numerical integration.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipkm1


def follower_tip(
    force: float, length: float, bending_stiffness: float
) -> tuple[float, float, float]:
    """Tip (x, y, theta) under a follower force perpendicular to the tip tangent."""
    if force < 0:
        x, y, theta = follower_tip(-force, length, bending_stiffness)
        return x, -y, -theta
    if force == 0:
        return length, 0.0, 0.0
    k = np.sqrt(force / bending_stiffness)
    sn, cn, dn, _ = ellipj(k * length, 0.5)
    theta = 0.5 * np.pi - 2.0 * np.arcsin(np.sqrt(0.5) * cn / dn)
    along = sn / (k * dn)  # int of cos(psi) = psi' / k^2
    # sin(psi) = 1 - cd^2, written without cancellation
    across = -_integral(lambda u: 0.5 * (u[0] / u[2]) ** 2, k, length, 0.5)
    x = along * np.cos(theta) - across * np.sin(theta)
    y = along * np.sin(theta) + across * np.cos(theta)
    return float(x), float(y), float(theta)


def dead_tip(force: float, length: float, bending_stiffness: float) -> tuple[float, float, float]:
    """Tip (x, y, theta) under a dead force along +y, for F L^2 / EI <= 100."""
    if force < 0:
        x, y, theta = dead_tip(-force, length, bending_stiffness)
        return x, -y, -theta
    if force == 0:
        return length, 0.0, 0.0
    k = np.sqrt(force / bending_stiffness)
    if k * length > 10.0 + 1e-9:
        raise ValueError("force too large: the tip angle is not resolved in double precision")

    def clamp_sine(theta: float) -> float:
        """sin(theta) at s = 0 for the tip angle ``theta`` (zero at the solution)."""
        m = 0.5 * (1.0 + np.sin(theta))
        _, cn, dn, _ = ellipj(k * length, m)
        return float(2.0 * m * (cn / dn) ** 2 - 1.0)

    low = 0.0
    if k * length > ellipkm1(0.5):  # keep to the branch without inflection, k L < K(m)
        gap = brentq(lambda z: ellipkm1(np.exp(z)) - k * length, -40.0, np.log(0.5))
        low = np.arcsin(1.0 - 2.0 * np.exp(gap))
    theta = brentq(clamp_sine, low, 0.5 * np.pi, xtol=1e-16, rtol=1e-15)
    m = 0.5 * (1.0 + np.sin(theta))
    sn, _, dn, _ = ellipj(k * length, m)
    x = 2.0 * np.sqrt(2.0 * m) * (1.0 - m) * sn / (k * dn**2)
    y = _integral(lambda u: 2.0 * m * (u[1] / u[2]) ** 2 - 1.0, k, length, m)
    return float(x), float(y), float(theta)


def _integral(
    integrand: Callable[[tuple[np.ndarray, ...]], np.ndarray], k: float, length: float, m: float
) -> float:
    """Integral over [0, L] of a function of (sn, cn, dn)(k sigma | m)."""
    points, weights = np.polynomial.legendre.leggauss(40 + int(8 * k * length))
    values = integrand(ellipj(0.5 * k * length * (points + 1.0), m))
    return float(0.5 * length * weights @ values)


def integrate_follower(
    force: float, length: float, bending_stiffness: float
) -> tuple[float, float, float]:
    """``follower_tip`` by direct integration from the tip (for checking)."""
    ratio = force / bending_stiffness

    def rate(_: float, z: np.ndarray) -> list[float]:
        return [z[1], ratio * np.cos(z[0]), np.cos(z[0]), -np.sin(z[0])]

    z = solve_ivp(rate, (0, length), [0.0] * 4, method="DOP853", rtol=3e-14, atol=1e-15).y[:, -1]
    cos, sin = np.cos(z[0]), np.sin(z[0])
    return float(z[2] * cos - z[3] * sin), float(z[2] * sin + z[3] * cos), float(z[0])


def clamp_residual(force: float, length: float, bending_stiffness: float) -> float:
    """Check ``dead_tip``: integrate back from its tip, distance from the clamp / L."""
    x, y, theta = dead_tip(force, length, bending_stiffness)
    ratio = force / bending_stiffness

    def rate(_: float, z: np.ndarray) -> list[float]:
        return [z[1], -ratio * np.cos(z[0]), -np.cos(z[0]), -np.sin(z[0])]

    start = [theta, 0.0, x, y]
    z = solve_ivp(rate, (0, length), start, method="DOP853", rtol=3e-14, atol=1e-15).y[:, -1]
    return float(max(np.hypot(z[2], z[3]) / length, abs(z[0])))


def main() -> None:
    """Print both variants of the 100 m rod and check them."""
    length = 100.0
    young, radius = 4.015e8, 0.57
    stiffness = {
        "E I (E = 4.015e8, r = 0.57)": young * np.pi * radius**4 / 4,
        "EI = 3.33e7": 3.33e7,
        "as printed, EI = 2.08e6": 2.08e6,
    }
    worst = 0.0
    for name, bending in stiffness.items():
        print(f"{name}: EI = {bending:.10g}, follower force perpendicular to the tip tangent")
        for force in (1e3, 1e4, 2e4, 4e4, 6e4, 8e4, 1e5, 1.3e5):
            tip = follower_tip(force, length, bending)
            check = integrate_follower(force, length, bending)
            scale = np.array([length, length, 1.0])
            error = float(np.max(np.abs((np.array(tip) - check) / scale)))
            worst = max(worst, error)
            x, y, theta = tip
            print(
                f"  F = {force:8.0f}  x = {x:18.12f}  y = {y:18.12f}  theta = {theta:16.12f}"
                f"  check {error:.1e}"
            )
    print(f"largest difference from direct integration (x/L, y/L, theta): {worst:.1e}")
    residual = max(clamp_residual(a, 1.0, 1.0) for a in (0.01, 0.5, 2.0, 10.0, 25.0))
    print(f"dead force, clamp residual of the back integration: {residual:.1e}")
    small = follower_tip(1e-9, 1.0, 1.0)[1] * 3e9 - 1.0, dead_tip(1e-6, 1.0, 1.0)[1] * 3e6 - 1.0
    print(f"small-load limit y = F L^3 / (3 EI), relative: {small[0]:.1e}, {small[1]:.1e}")
    if worst > 1e-12 or residual > 1e-11:
        raise SystemExit("self-check failed")
    print("self-check passed")


if __name__ == "__main__":
    main()
