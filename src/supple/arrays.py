"""The array type of signatures: NumPy or JAX, told apart only where it matters.

Models and results hold NumPy arrays on the host, computations turn them into JAX arrays, and both may be
traced. Shapes are what signatures promise, and tests check them while they run.
"""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

if TYPE_CHECKING:
    Array = Any
else:
    Array = jax.Array | np.ndarray
