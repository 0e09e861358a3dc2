"""Adaptive Runge-Kutta integration of Q' = ½ Q ∘ κ(u) along a rod."""

from collections.abc import Callable

import diffrax
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import so3
from supple.space.spectral import rate_matrix

MAX_STEPS = 4096


def rotations(
    curvature_at: Callable[[Float[Array, ""]], Float[Array, " 3"]],
    points: Float[Array, " k"],
    breaks: tuple[float, ...],
    tolerance: float,
) -> Float[Array, "k 3 3"]:
    """Orientations at increasing ``points`` in [0, 1]; steps never cross the ``breaks``."""
    controller = diffrax.PIDController(rtol=tolerance, atol=tolerance)
    if breaks:
        controller = diffrax.ClipStepSizeController(controller, jump_ts=jnp.array(breaks))

    def rate(u: Float[Array, ""], Q: Float[Array, " 4"], _: None) -> Float[Array, " 4"]:
        return rate_matrix(curvature_at(u)) @ Q

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(rate),
        diffrax.Tsit5(),
        t0=0.0,
        t1=1.0,
        dt0=None,
        y0=jnp.array([1.0, 0.0, 0.0, 0.0]),
        saveat=diffrax.SaveAt(ts=points),
        stepsize_controller=controller,
        max_steps=MAX_STEPS,
        adjoint=diffrax.DirectAdjoint(),
    )
    assert solution.ys is not None
    quaternions = solution.ys / jnp.linalg.norm(solution.ys, axis=-1, keepdims=True)
    return so3.quaternion_to_matrix(quaternions)
