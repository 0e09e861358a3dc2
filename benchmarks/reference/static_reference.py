"""Strong-form static equilibrium of the planar Reissner cantilever.

Independent of the finite elements: in statics the section force is known,
n(s) = F + weight of the part beyond s, and the four first-order equations

    x', y' = R(theta) (e1 + C^-1 R(theta)^T n),   theta' = M / EI,
    M' = -(x' n_y - y' n_x)

are solved by collocation (scipy ``solve_bvp``) with continuation in the tip force.
"""

from __future__ import annotations

import numpy as np
from lagrange import Array
from planar_fem import PlanarRod
from scipy.integrate import solve_bvp


def static_tip(rod: PlanarRod, tip_force: tuple[float, float], steps: int = 12) -> Array:
    """Tip (x, y, theta) under gravity and a dead tip force."""
    length = rod.length

    def rate(share: float, s: Array, z: Array) -> Array:
        beyond = rod.mass * (length - s)
        nx = share * tip_force[0] + beyond * rod.gravity[0]
        ny = share * tip_force[1] + beyond * rod.gravity[1]
        cos, sin = np.cos(z[2]), np.sin(z[2])
        stretch = 1.0 + (nx * cos + ny * sin) / rod.axial
        shear = (-nx * sin + ny * cos) / rod.shear
        x, y = stretch * cos - shear * sin, stretch * sin + shear * cos
        return np.stack([x, y, z[3] / rod.bending, -(x * ny - y * nx)])

    def ends(start: Array, end: Array) -> Array:
        return np.array([start[0], start[1], start[2], end[3] / rod.bending])

    s = np.linspace(0.0, length, 65)
    z = np.stack([s, 0 * s, 0 * s, 0 * s])
    for share in np.geomspace(1e-3, 1.0, steps):
        last = share == 1.0
        solution = solve_bvp(
            lambda a, b, share=share: rate(share, a, b),
            ends,
            s,
            z,
            tol=1e-10 if last else 1e-4,
            max_nodes=20000,
        )
        if not solution.success:
            raise ArithmeticError(solution.message)
        s, z = solution.x, solution.y
    return np.array([z[0, -1], z[1, -1], z[2, -1]])
