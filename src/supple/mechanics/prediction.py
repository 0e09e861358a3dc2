"""Guesses of motion in which the world's turns go on, not those of each element against the one before.

Relative coordinates that go on by themselves, x = h v + h²/2 a, turn whatever is far out in a tree by the
products of all turns before it, though its own turn hardly changes: a long chain is misdirected by so much
that Newton's method does not come back. What should go on is the angular acceleration that each element
adds to its ancestors', as the world sees it.
"""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import small
from supple.mechanics.element_motion import Coordinates, group_rows
from supple.mechanics.kinematics import Kinematics, kinematics, source_changes, source_rates
from supple.model.model import Group, Model, RodGroup
from supple.space import PieceGrid

SINGULAR = 1e-9
"""Added to the turns that an element's coordinates can make, relative: those it cannot make are left."""


def turning_on(
    model: Model, now: Coordinates, then: Coordinates, by_change: Float[Array, ""] | float
) -> Float[Array, " nv"]:
    """What to add to the coordinates of a motion, so that elements add the turns to it that they add now.

    ``by_change`` is δẍ/δx (1/s²). Of all changes that do it, or come nearest, the smallest.
    """
    first, last = kinematics(model, now), kinematics(model, then)
    model = model.with_lengths_at(then.t)
    parts = []
    for i, group in enumerate(model.groups):
        turns, before = _added_turns(model, i, then, last), _added_turns(model, i, now, first)
        columns = jnp.einsum(
            "bd,bdim->bim", _to_the_end(group, last, i), last.groups[i].subspace[..., :3, :]
        )
        square = jnp.einsum("bim,bjm->bij", columns, columns)
        floor = SINGULAR * jnp.trace(square, axis1=-2, axis2=-1) + 1e-300
        square = square + floor[:, None, None] * jnp.eye(3)
        missing = small.times(small.inverse(square), (before - turns) / by_change)
        parts.append(jnp.einsum("bim,bi->bm", columns, missing).reshape(-1))
    return jnp.concatenate(parts)


def _added_turns(
    model: Model, index: int, c: Coordinates, motion: Kinematics
) -> Float[Array, "b 3"]:
    """Angular acceleration that each element of a group adds to what it hangs on (rad/s²)."""
    group = motion.groups[index]
    xdot, xddot = (group_rows(model, index, rate) for rate in (c.xdot, c.xddot))
    sources = group.sources
    rate = source_rates(group.local, sources, group.subspace, xdot)
    twist = group.twist[:, : group.subspace.shape[1]]
    changes = source_changes(group.local, sources, group.subspace, twist, rate, xdot, xddot)
    return jnp.einsum(
        "bd,bdi->bi", _to_the_end(model.groups[index], motion, index), changes[..., :3]
    )


def _to_the_end(group: Group, motion: Kinematics, index: int) -> Float[Array, "b d"]:
    """What integrates over the whole of each element."""
    if isinstance(group, RodGroup) and not isinstance(group.grid, PieceGrid):
        return group.length[:, None] * group.grid.weights
    return motion.groups[index].local.integration[:, -1]
