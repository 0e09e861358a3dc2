"""Quaternion collocation: Q' = ½ Q ∘ κ as one linear system on the nodes."""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import so3


def rate_matrix(curvature: Float[Array, "*b 3"]) -> Float[Array, "*b 4 4"]:
    """A(κ) with Q' = A(κ) Q for R' = R κ̂."""
    x, y, z = curvature[..., 0], curvature[..., 1], curvature[..., 2]
    o = jnp.zeros_like(x)
    rows = jnp.stack([o, -x, -y, -z, x, o, z, -y, y, -z, o, x, z, y, -x, o], axis=-1)
    return 0.5 * rows.reshape(*curvature.shape[:-1], 4, 4)


def rotations(
    curvature: Float[Array, "n 3"], integration: Float[Array, "p n"]
) -> Float[Array, "p 3 3"]:
    """Orientations at the samples; the nodes are the first n samples.

    Solves Q = Q₀ + W A Q in integral form, which needs no boundary row.
    """
    count = curvature.shape[0]
    rates = rate_matrix(curvature)
    start = jnp.array([1.0, 0.0, 0.0, 0.0])
    blocks = integration[:count, :, None, None] * rates[None]  # (p, d, 4, 4)
    system = jnp.eye(4 * count) - blocks.transpose(0, 2, 1, 3).reshape(4 * count, 4 * count)
    nodal = jnp.linalg.solve(system, jnp.tile(start, count)).reshape(count, 4)
    quaternions = start + jnp.einsum("pd,dij,dj->pi", integration, rates, nodal)
    quaternions = quaternions / jnp.linalg.norm(quaternions, axis=-1, keepdims=True)
    return so3.quaternion_to_matrix(quaternions)
