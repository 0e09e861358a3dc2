"""Compliant stops of joints: springs and dampers that act beyond a bound.

A joint that is beyond its bound by s is pushed back with k s₊ + c ṡ, with s₊ the positive part, smooth over a
small width so that solvers see no corner.
"""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.model.model import JointGroup

WIDTH = 1e-5
"""Radians or meters over which a bumper begins to push."""


def _beyond(
    group: JointGroup, q: Float[Array, "b m"]
) -> tuple[Float[Array, "2 b m"], Float[Array, "2 b m"], Float[Array, "2 1 1"]]:
    """How far coordinates are beyond the lower and the upper bounds, √(s² + w²), and the two directions."""
    assert group.bumpers is not None
    side = jnp.array([-1.0, 1.0])[:, None, None]
    beyond = side * (q - jnp.swapaxes(group.bumpers[:, :2], 0, 1))
    return beyond, jnp.sqrt(beyond**2 + WIDTH**2), side


def bumper_force(
    group: JointGroup, q: Float[Array, "b m"], rate: Float[Array, "b m"]
) -> Float[Array, "b m"]:
    """What bumpers add to the balance: against the motion beyond the bounds."""
    assert group.bumpers is not None
    beyond, root, side = _beyond(group, q)
    stiffness, damping = group.bumpers[:, 2], group.bumpers[:, 3]
    inside = 0.5 * (1 + beyond / root)
    return jnp.sum(side * stiffness * 0.5 * (beyond + root) + damping * inside * rate, axis=0)


def bumper_tangent(
    group: JointGroup, q: Float[Array, "b m"], rate: Float[Array, "b m"]
) -> tuple[Float[Array, "b m"], Float[Array, "b m"]]:
    """Derivatives of :func:`bumper_force` by each coordinate and by its rate."""
    assert group.bumpers is not None
    beyond, root, side = _beyond(group, q)
    stiffness, damping = group.bumpers[:, 2], group.bumpers[:, 3]
    inside = 0.5 * (1 + beyond / root)
    bend = 0.5 * WIDTH**2 / root**3
    by_place = jnp.sum(stiffness * inside + damping * side * bend * rate, axis=0)
    return by_place, jnp.sum(damping * inside, axis=0)


def bumper_energy(group: JointGroup, q: Float[Array, "b m"]) -> Float[Array, ""]:
    """Elastic energy (J) of all bumpers of a group."""
    assert group.bumpers is not None
    beyond, root, _ = _beyond(group, q)
    # The integral of the smooth positive part from the bound.
    bent = WIDTH**2 * jnp.arcsinh(beyond / WIDTH)
    stored = 0.25 * (beyond**2 + beyond * root + bent)
    return jnp.sum(group.bumpers[:, 2] * jnp.where(beyond > -1e3 * WIDTH, stored, 0.0))
