"""Blocks of the elements for one combination of M, C and K: all that elimination needs to know of them.

Fields at all samples of all elements are large; they are computed a few elements at a time, so that they
stay in the processor's cache, and only the blocks are kept.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float, Inexact

from supple.arrays import Array
from supple.lie import small
from supple.mechanics.element_tangent import GroupState, group_tangent
from supple.mechanics.transmission_tangent import SlotRows
from supple.model.model import Group, JointGroup
from supple.model.special_joints import StateJoint
from supple.system.combination import Combination

CHUNK = 40
"""Elements at a time."""


def is_state(group: Group) -> bool:
    """Whether the elements of a group are states of controllers, which have no rows but in motion.

    At rest, and where only M matters, they get the row z = 0, which keeps matrices regular; what controllers
    add to them corrects it (:mod:`supple.system.strain`).
    """
    return isinstance(group, JointGroup) and isinstance(group.joint, StateJoint)


class Blocks(NamedTuple):
    """Blocks of a group, one row an element.

    K δx + L y is the change of its balance, P δx + N y that of the wrench it asks for, with y what enters;
    ``motion`` δx is added to y at each of its used samples.
    """

    K: Inexact[Array, "b m m"]
    L: Inexact[Array, "b m depth"]
    P: Inexact[Array, "b 6 m"]
    N: Inexact[Array, "b 6 depth"]
    motion: Inexact[Array, "b u depth m"]
    slots: SlotRows | None
    """Moment arms of transmissions within the elements."""


def group_blocks(
    at: GroupState,
    gravity: Float[Array, " 3"],
    combinations: tuple[Combination, ...],
    used: tuple[int, ...],
) -> list[Blocks]:
    """Blocks of one group, for each combination."""

    def some(at: GroupState) -> list[Blocks]:
        found = group_tangent(at, gravity)
        batch, samples, _, width = found.columns.shift.shape
        shift = jnp.swapaxes(found.columns.shift.reshape(batch, samples * 6, width), -1, -2)
        chosen = jax.tree.map(lambda part: part[:, np.array(used, dtype=int)], found.columns)
        blocks = []
        for one in combinations:
            law = one.law(found.law)
            K = one.block(found.blocks)
            if not one.in_motion and is_state(at.group):
                K = K + jnp.eye(width)
            if one.elastic is not None:
                K = K + one.elastic * at.elastic
            L = small.product(shift, law.reshape(batch, samples * 6, law.shape[-1]))
            P = one.reaction(found.reactions).sum(axis=1)
            blocks.append(Blocks(K, L, P, law.sum(axis=1), one.motion(chosen), found.slots))
        return blocks

    return _in_chunks(some, at, at.wrench.shape[0])


def _in_chunks(some: Any, at: GroupState, count: int) -> Any:
    """A function of rows, a few at a time."""
    if count <= 2 * CHUNK:
        return some(at)
    pieces = -(-count // CHUNK)
    size = -(-count // pieces)
    missing = pieces * size - count
    leaves, form = jax.tree.flatten(at)

    def cut(leaf: Any) -> Any:
        leaf = jnp.asarray(leaf)
        if missing:
            leaf = jnp.concatenate([leaf, leaf[:missing]])
        return leaf.reshape(pieces, size, *leaf.shape[1:])

    found = lax.map(
        lambda rows: some(jax.tree.unflatten(form, rows)), [cut(leaf) for leaf in leaves]
    )
    return jax.tree.map(lambda part: part.reshape(pieces * size, *part.shape[2:])[:count], found)
