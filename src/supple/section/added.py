"""Mass of fluid that moves with a slender body, section by section (per unit density of the fluid)."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.numeric import is_traced, on_grid
from supple.section.shape import AbstractShape, Circle, Ellipse, Tube


def added_mass(shape: AbstractShape, u: np.ndarray) -> Any:
    """6x6 inertia a meter (n, 6, 6) of ideal fluid around a section moved across it or turned about x.

    For an ellipse with semi-axes a (along y) and b (along z): π b² for motions along y, π a² along z, and
    π (a² - b²)² / 8 for turning. None for shapes of which it is not known.
    """
    if isinstance(shape, Circle):
        semi_y = semi_z = on_grid(shape.radius, u)
    elif isinstance(shape, Tube):
        semi_y = semi_z = on_grid(shape.outer, u)
    elif isinstance(shape, Ellipse):
        semi_y, semi_z = on_grid(shape.semi_y, u), on_grid(shape.semi_z, u)
    else:
        return None
    backend: Any = jnp if is_traced((semi_y, semi_z)) else np
    none = 0.0 * semi_y
    turning = math.pi / 8 * (semi_y**2 - semi_z**2) ** 2
    diagonal = [turning, none, none, none, math.pi * semi_z**2, math.pi * semi_y**2]
    return backend.stack(diagonal, axis=-1)[:, :, None] * np.eye(6)
