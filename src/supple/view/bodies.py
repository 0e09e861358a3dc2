"""Bodies that bring no shape: boxes, cylinders and balls with their mass and moments."""

import numpy as np

from supple.robot.items import Body
from supple.robot.meshes import SQUARE, Mesh, ball, circle, prism


def solid_of(body: Body, least: float) -> Mesh:
    """A box with a body's mass and moments, a cylinder if two of these are equal, a ball if all are.

    No thinner than ``least`` (m).
    """
    moments, axes = np.linalg.eigh(np.asarray(body.inertia_matrix(), dtype=float))
    mass = float(body.mass)
    place = np.asarray(body.com, dtype=float)
    alike = np.isclose(moments[:2], moments[1:], rtol=1e-2) & (moments[1:] > 0)
    if alike.all() or not moments.any():
        vertices, faces = ball()
        return vertices * max(float(np.sqrt(2.5 * moments[0] / mass)), least) + place, faces
    if alike.any():
        own = 2 if alike[0] else 0  # the axis of revolution
        order = [own, (own + 1) % 3, (own + 2) % 3]
        moments, axes = moments[order], axes[:, order]
        radius = np.sqrt(2 * moments[0] / mass)
        length = np.sqrt(max(12 / mass * (moments[1] - moments[0] / 2), 0.0))
        outline, sizes = circle(), np.array([length, radius, radius])
    else:
        squares = 6 / mass * (moments.sum() - 2 * moments)
        outline, sizes = SQUARE, np.sqrt(np.maximum(squares, 0.0))
    if np.linalg.det(axes) < 0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    vertices, faces = prism(outline)
    return (vertices * np.maximum(sizes, least)) @ axes.T + place, faces
