"""The tangent of robots whose elements all stand on the ground and meet only in closures.

Legs of a parallel robot around a floating plate: each element has its own block, and the equations that
close loops are all that joins them, so that nothing here grows faster than the number of elements. The
stiffness of the multipliers also couples the two sides of a closure a little; that part is left out:
these blocks are for iterations, not for exact linearisations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import se3
from supple.mechanics import rows
from supple.mechanics.closures import closure_laws, closure_rows
from supple.mechanics.inverse_dynamics import Balance
from supple.mechanics.element_tangent import element_tangents
from supple.mechanics.local import Coordinates
from supple.model.model import GROUND, Model, RodGroup


@dataclass(frozen=True)
class Side:
    """The closures that act on one group from one side: which closures, on which elements and samples."""

    group: int
    closures: tuple[int, ...]
    elements: tuple[int, ...]
    samples: tuple[int, ...]
    """Samples in the group's own numbering, all elements in one row."""
    outer: bool


@dataclass(frozen=True)
class Structure:
    """Which blocks there are and which closures join them."""

    starts: tuple[int, ...]
    """First coordinate of each group."""
    sides: tuple[Side, ...]
    table: tuple[tuple[int, ...], ...]
    """Equation of each row of each closure; -1 where it has fewer than the others."""


class SeparateTangent(NamedTuple):
    """Equations left, (M, C, K) blocks of each group, and the closures' Jacobian on each side."""

    residual: Float[Array, " nv"]
    violation: Float[Array, " n"]
    blocks: list[Float[Array, "3 _ _ _"]]
    jacobians: list[Float[Array, "_ r _"]]


def is_separable(model: Model) -> bool:
    """Whether the robot has this structure: several massive elements, all on the ground, closed."""
    others = model.prescribed.size or model.transmissions.size or model.slips
    if model.closures.size == 0 or others or not model.topology.all_on_ground:
        return False
    carried = {model.place(sample)[:2] for sample in model.bodies.sample}
    massive = all(
        isinstance(group, RodGroup) or all((i, b) in carried for b in range(group.size))
        for i, group in enumerate(model.groups)
    )
    return massive and model.topology.elements > 2


def structure_of(model: Model) -> Structure:
    """The blocks and closures of a separable model."""
    closures = model.closures
    of = np.array(closures.joint_of_row)
    most = int(np.bincount(of).max())
    table = []
    for k in range(len(closures.names)):
        mine = np.flatnonzero(of == k).tolist()
        table.append(tuple(mine + [-1] * (most - len(mine))))
    sides = []
    for samples, outer in ((closures.outer_sample, True), (closures.inner_sample, False)):
        places = {k: model.place(s) for k, s in enumerate(samples) if s != GROUND}
        for i in range(len(model.groups)):
            mine = [k for k, place in places.items() if place[0] == i]
            if mine:
                elements, flat = ([places[k][j] for k in mine] for j in (1, 2))
                sides.append(Side(i, tuple(mine), tuple(elements), tuple(flat), outer))
    return Structure(model.topology.v_start, tuple(sides), tuple(table))


def separate_tangent(
    model: Model, structure: Structure, c: Coordinates, state: Balance
) -> SeparateTangent:
    """Blocks and closure Jacobians at a motion, from the balance there."""
    model = model.at(c.t)
    found = element_tangents(model, c, state)
    at = state.closures
    assert at is not None
    assert c.multipliers is not None
    inverse = se3.adjoint(at.outer.inverse())
    body_rows = jnp.concatenate([closure_rows(model, at), jnp.zeros((1, 6))])  # row -1 is zero
    world_rows = jnp.einsum("kri,kij->krj", body_rows[np.array(structure.table)], inverse)
    of_outer, of_inner = closure_laws(model, at, c.multipliers)

    blocks, jacobians = [part.blocks for part in found], []
    for side in structure.sides:
        own = found[side.group].columns.shift
        flat = own.reshape(own.shape[0] * own.shape[1], 6, own.shape[3])
        shift = rows.take(flat, np.array(side.samples))
        mine = np.array(side.closures)
        sign = 1.0 if side.outer else -1.0
        jacobians.append(sign * jnp.einsum("sri,sim->srm", rows.take(world_rows, mine), shift))
        law = rows.take(of_outer if side.outer else of_inner, mine)
        stiffness = jnp.einsum("sim,sij,sjn->smn", shift, law, shift)
        mass, damping, old = blocks[side.group]
        new = rows.add(old, np.array(side.elements), stiffness)
        blocks[side.group] = jnp.stack([mass, damping, new])
    return SeparateTangent(state.residual, state.violation, blocks, jacobians)
