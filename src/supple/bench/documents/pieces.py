"""Numbers of 004: its formulas written out as printed, against Supple's pieces of constant strain."""

from typing import Any

import numpy as np
import scipy.linalg

from supple.compile import jit
from supple.mechanics.classical import equations_of_motion
from supple.mechanics.frames import rod_shape
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.section import Circle, Material, ShearViscosity
from supple.strain import PiecewiseConstant

LENGTH, RADIUS, PIECES = 0.5, 0.02, 3
RUBBER: Any = Material(E=1e6, density=1000.0, nu=0.45)
STRAIGHT = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def cross(a: np.ndarray) -> np.ndarray:
    """The matrix of a vector product."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def ad(xi: np.ndarray) -> np.ndarray:
    """Below (3)."""
    k, q = cross(xi[:3]), cross(xi[3:])
    return np.block([[k, np.zeros((3, 3))], [q, k]])


def coad(xi: np.ndarray) -> np.ndarray:
    """ad* of (4)."""
    k, q = cross(xi[:3]), cross(xi[3:])
    return np.block([[k, q], [np.zeros((3, 3)), k]])


def adjoint(s: float, xi: np.ndarray) -> np.ndarray:
    """Ad of g(s) by the printed series in ad."""
    th = float(np.linalg.norm(xi[:3]))
    a, x = ad(xi), s * th
    sin, cos = np.sin(x), np.cos(x)
    terms = (
        (3 * sin - x * cos) / (2 * th),
        (4 - 4 * cos - x * sin) / (2 * th**2),
        (sin - x * cos) / (2 * th**3),
        (2 - 2 * cos - x * sin) / (2 * th**4),
    )
    return np.eye(6) + sum(
        (c * np.linalg.matrix_power(a, k) for k, c in enumerate(terms, 1)), np.zeros((6, 6))
    )


def tangent(s: float, xi: np.ndarray) -> np.ndarray:
    """T of (9) by the printed series in ad."""
    th = float(np.linalg.norm(xi[:3]))
    a, x = ad(xi), s * th
    sin, cos = np.sin(x), np.cos(x)
    terms = (
        (4 - 4 * cos - x * sin) / (2 * th**2),
        (4 * x - 5 * sin + x * cos) / (2 * th**3),
        (2 - 2 * cos - x * sin) / (2 * th**4),
        (2 * x - 3 * sin + x * cos) / (2 * th**5),
    )
    return s * np.eye(6) + sum(
        (c * np.linalg.matrix_power(a, k) for k, c in enumerate(terms, 1)), np.zeros((6, 6))
    )


def hat(xi: np.ndarray) -> np.ndarray:
    """The 4x4 matrix of a twist."""
    found = np.zeros((4, 4))
    found[:3, :3], found[:3, 3] = cross(xi[:3]), xi[3:]
    return found


def jacobians(strains: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """J of (11) at points of Gauss' rule in each piece, their weights, and Ad of the pose there."""
    count = len(strains)
    size = LENGTH / count
    x, weights = np.polynomial.legendre.leggauss(12)
    found, sizes, poses = [], [], []
    before: list[np.ndarray] = []
    base = np.eye(6)
    for n, xi in enumerate(strains):
        for s, weight in zip(
            [*(size * (x + 1) / 2), size], [*(size * weights / 2), 0], strict=True
        ):
            back = np.linalg.inv(adjoint(s, xi))
            blocks = [*(back @ B for B in before), back @ tangent(s, xi)]
            rest = np.zeros((6, 6 * (count - n - 1)))
            found.append(np.concatenate([*blocks, rest], axis=1))
            sizes.append(weight)
            poses.append(base @ adjoint(s, xi))
        before, base = blocks, poses[-1]
    return np.array(found), np.array(sizes), np.array(poses)


def closed_forms() -> dict[str, float]:
    """Ad and T as printed, against the exponential and its integral."""
    xi, s = _strains()[0], 0.3
    x, weights = np.polynomial.legendre.leggauss(20)
    places = s * (x + 1) / 2
    exact = np.array([scipy.linalg.expm(place * ad(xi)) for place in places])
    integral = np.einsum("n,nij->ij", weights * s / 2, exact)
    return {
        "Ad as printed, against the exponential": _apart(
            adjoint(s, xi), scipy.linalg.expm(s * ad(xi))
        ),
        "T as printed, against the integral of Ad": _apart(tangent(s, xi), integral),
    }


def dynamics() -> dict[str, float]:
    """M, C and G as printed (with Ad for the ad of G), against ours."""
    strains, rng = _strains(), np.random.default_rng(5)
    rod: Any = Rod(
        "rod", LENGTH, Circle(RADIUS), RUBBER, strains="reissner", basis=PiecewiseConstant(PIECES)
    )
    robot = Robot(rod, gravity=(-9.81, 0.0, 0.0), formulation="pcs")
    model = robot.build()
    q, v = (strains - STRAIGHT).reshape(-1), rng.normal(size=6 * PIECES)
    ours = jit(equations_of_motion, quick=True)(model, q, v)
    mass = np.asarray(ours.mass)

    section = RUBBER.density * np.pi * RADIUS**2
    turn = section * RADIUS**2 / 4
    inertia = np.diag([2 * turn, turn, turn, section, section, section])
    J, w, pose = jacobians(strains)
    step = 1e-6
    ahead, behind = (jacobians(strains + sign * step * v.reshape(-1, 6))[0] for sign in (1.0, -1.0))
    rate, eta = (ahead - behind) / (2 * step), J @ v
    inside = np.array([coad(one) @ inertia @ one for one in eta]) + rate @ v @ inertia
    fall = np.array([0, 0, 0, *robot.gravity])
    weight = np.linalg.solve(pose, np.broadcast_to(fall, (len(w), 6))[..., None])[..., 0] @ inertia
    end = np.eye(4)
    for one in strains:
        end = end @ scipy.linalg.expm(LENGTH / PIECES * hat(one))
    tip = np.asarray(rod_shape(model, "rod", q, np.ones(1)).position)[-1]
    values = np.linalg.eigvalsh(mass)
    return {
        "tip, product of exponentials against ours (m)": _apart(end[:3, 3], tip),
        "M as printed against ours": _apart(np.einsum("n,nai,ab,nbj->ij", w, J, inertia, J), mass),
        "C v as printed against ours": _apart(
            np.einsum("n,nai,na->i", w, J, inside), np.asarray(ours.coriolis) @ v
        ),
        "G γ with Ad against ours": _apart(
            np.einsum("n,nai,na->i", w, J, weight), np.asarray(ours.gravity) @ robot.gravity
        ),
        "least eigenvalue of M over the largest": float(values[0] / values[-1]),
        "gravity (m/s²)": float(robot.gravity[0]),
        "coordinates of a piece": model.nv / PIECES,
    }


def _strains() -> np.ndarray:
    rng = np.random.default_rng(4)
    return np.asarray(STRAIGHT + 0.6 * rng.normal(size=(PIECES, 6)))


def _apart(found: np.ndarray, exact: np.ndarray) -> float:
    """Largest difference over the largest entry."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def section() -> dict[str, float]:
    """Stiffness and viscosity of a section, over what a shear modulus and viscosity of one would give."""
    moments = Circle(RADIUS).moments(np.zeros(1))
    material: Any = Material(E=RUBBER.E, nu=RUBBER.nu, density=1.0)
    viscous = np.asarray(ShearViscosity(1.0).matrix(moments, np.zeros((1, 6, 6))))[0]
    bending = np.asarray(moments.second_y)[0]
    area = np.asarray(moments.area)[0]
    return {
        "bending stiffness over G J": float(2 * (1 + material.nu)),
        "viscosity of bending over µ J": float(viscous[1, 1] / bending),
        "viscosity of stretch over µ A": float(viscous[3, 3] / area),
        "viscosity of torsion over µ J": float(viscous[0, 0] / np.asarray(moments.torsion)[0]),
    }
