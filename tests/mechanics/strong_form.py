"""Inverse dynamics of one rod in its moving frames, as in 001, Appendix 2, by SciPy's DOP853.

Forward along the rod: g' = g ξ̂, η' = ξ̇ - ad(ξ) η, η̇' = ξ̈ - ad(ξ) η̇ - ad(ξ̇) η. Backward:
Λ' = ad(ξ)ᵀ Λ + M η̇ - ad(η)ᵀ M η - weight, from Λ(L) = tip wrench. Then R = ∫ Φᵀ (H ε + D ε̇ - Λ).
Nothing of Supple's mechanics is used: own brackets, own quadrature, no world frame.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp


class Base(NamedTuple):
    """Motion of the rod's start: pose, body twist and its derivative."""

    rotation: np.ndarray
    position: np.ndarray
    twist: np.ndarray
    acceleration: np.ndarray


STILL = Base(np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6))


def hat(w: np.ndarray) -> np.ndarray:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def ad(x: np.ndarray) -> np.ndarray:
    return np.block([[hat(x[:3]), np.zeros((3, 3))], [hat(x[3:]), hat(x[:3])]])


def spatial(mass: float, moment: np.ndarray, com: np.ndarray) -> np.ndarray:
    """6x6 inertia of a body about its frame, from those about its center of mass."""
    c = hat(np.asarray(com))
    return np.block([[moment - mass * c @ c, mass * c], [-mass * c, mass * np.eye(3)]])


def inertial(M: np.ndarray, rotation, eta, etadot, gravity) -> np.ndarray:
    """M η̇ - ad(η)ᵀ M η less weight, in the moving frame."""
    falling = np.concatenate([np.zeros(3), rotation.T @ gravity])
    return M @ (etadot - falling) - ad(eta).T @ M @ eta


def inverse_dynamics(
    phi,  # u -> (6, m)
    rest,  # u -> (6,)
    matrices,  # u -> (H, M, D), each (6, 6)
    length: float,
    motion: tuple[np.ndarray, np.ndarray, np.ndarray],  # q, q̇, q̈
    gravity: np.ndarray,
    base: Base = STILL,
    tip_inertia: np.ndarray | None = None,
    tip_wrench=lambda rotation: np.zeros(6),  # body wrench applied at the tip
) -> np.ndarray:
    """Residual of the balance in the strain coordinates."""
    q, qdot, qddot = motion
    options = dict(method="DOP853", rtol=1e-12, atol=1e-13)

    def kinematics(u, y):
        rotation = y[:9].reshape(3, 3)
        eta, etadot = y[12:18], y[18:24]
        B = phi(u)
        xi, xidot, xiddot = rest(u) + B @ q, B @ qdot, B @ qddot
        return (
            xi,
            xidot,
            np.concatenate(
                [
                    (rotation @ hat(xi[:3])).ravel(),
                    rotation @ xi[3:],
                    xidot - ad(xi) @ eta,
                    xiddot - ad(xi) @ etadot - ad(xidot) @ eta,
                ]
            ),
        )

    start = np.concatenate([base.rotation.ravel(), base.position, base.twist, base.acceleration])
    tip = solve_ivp(lambda u, y: length * kinematics(u, y)[2], (0.0, 1.0), start, **options).y[
        :, -1
    ]

    def backward(u, y):
        xi, xidot, rates = kinematics(u, y)
        H, M, D = matrices(u)
        stress = y[24:30]
        rotation, eta, etadot = y[:9].reshape(3, 3), y[12:18], y[18:24]
        change = ad(xi).T @ stress + inertial(M, rotation, eta, etadot, gravity)
        asked = phi(u).T @ (H @ (xi - rest(u)) + D @ xidot - stress)
        return length * np.concatenate([rates, change, -asked])

    rotation = tip[:9].reshape(3, 3)
    stress = tip_wrench(rotation)
    if tip_inertia is not None:
        stress = stress - inertial(tip_inertia, rotation, tip[12:18], tip[18:24], gravity)
    end = np.concatenate([tip, stress, np.zeros(len(q))])
    return solve_ivp(backward, (1.0, 0.0), end, **options).y[30:, -1]
