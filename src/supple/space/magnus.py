"""Magnus steps for R' = R κ̂ and the cumulative product of rotations."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from supple.arrays import Array
from supple.lie import so3

GAUSS_POINTS = {
    4: 0.5 + np.array([-1.0, 1.0]) * np.sqrt(3) / 6,
    6: 0.5 + np.array([-1.0, 0.0, 1.0]) * np.sqrt(15) / 10,
}
"""Points of one step on [0, 1] where the curvature is sampled, by order."""


def step_rotation_vectors(
    curvature: Float[Array, "steps g 3"], width: Float[Array, " steps"]
) -> Float[Array, "steps 3"]:
    """Rotation vectors of the steps from curvatures at the Gauss points of each.

    The signs of the commutators are those of R' = R κ̂ (body curvature on the right).
    """
    h = width[:, None]
    if curvature.shape[1] == 2:
        first, second = curvature[:, 0], curvature[:, 1]
        mean = h / 2 * (first + second)
        return mean + h**2 * (np.sqrt(3) / 12) * jnp.cross(first, second)
    first, middle, last = curvature[:, 0], curvature[:, 1], curvature[:, 2]
    a1 = h * middle
    a2 = h * (np.sqrt(15) / 3) * (last - first)
    a3 = h * (10 / 3) * (last - 2 * middle + first)
    c1 = jnp.cross(a1, a2)
    c2 = jnp.cross(a1, c1 - 2 * a3) / 60
    return a1 + a3 / 12 + jnp.cross(20 * a1 + a3 + c1, a2 - c2) / 240


def cumulative_rotations(steps: Float[Array, "k 3"]) -> Float[Array, "k 3 3"]:
    """Orientation after each step, starting from the identity.

    Every pass of the loop doubles the number of steps that each product spans; its body is compiled once.
    """
    count = len(steps)
    still = jnp.zeros((count, 4)).at[:, 0].set(1.0)

    def doubled(k: Int[Array, ""], spans: Float[Array, "k 4"]) -> Float[Array, "k 4"]:
        start = count - (jnp.ones_like(k) << k)
        before = jax.lax.dynamic_slice_in_dim(jnp.concatenate([still, spans]), start, count)
        return so3.quaternion_product(before, spans)

    passes = (count - 1).bit_length()
    spans = jax.lax.fori_loop(0, passes, doubled, so3.quaternion_exp(steps))
    return so3.quaternion_to_matrix(spans)
