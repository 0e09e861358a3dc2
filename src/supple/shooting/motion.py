"""The displacement of a record that a solution tells, and the rates of its frames."""

import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import so3
from supple.shooting.balance import given, shoot, solve_of
from supple.shooting.equations import TURN
from supple.shooting.orientation import ORIENTED
from supple.shooting.parts import NUMBERS, TWIST, Parts, Vector
from supple.shooting.placed import placed
from supple.system.formulation import Discretization


def moving(parts: Parts, q: Vector, v: Vector, a: Vector) -> tuple[Vector, Vector]:
    """Rates in which frames move as the twists beside them tell, whose rates are those of the twists."""
    at, width = parts.layout, 6
    twists, changes = parts.fields(q)[..., TWIST], parts.fields(v)[..., TWIST]
    rotation = so3.quaternion_to_matrix(parts.poses(q)[:, :4])

    def spread(values: Float[Array, "s k 6"]) -> Float[Array, "n 6"]:
        return jnp.zeros((at.node_count, 6)).at[at.nodes[:, ::-1]].set(values[:, ::-1])

    twist, change = spread(twists), spread(changes)
    linear = change[:, 3:] + jnp.cross(twist[:, :3], twist[:, 3:])
    moves, turns = (
        jnp.concatenate([part[:, :3], jnp.einsum("nij,nj->ni", rotation, along)], axis=1)
        for part, along in ((twist, twist[:, 3:]), (change, linear))
    )
    start = parts.widths(v)[0]
    own = slice(start, start + width * at.node_count)
    return v.at[own].set(moves.reshape(-1)), a.at[own].set(turns.reshape(-1))


def displacement(parts: Parts, d: Discretization, y: Vector) -> Vector:
    """The record's displacement."""
    x, forces, efforts, starts = parts.split(y)
    at, solve = parts.layout, solve_of(parts, d)
    shot = shoot(parts, solve, starts, efforts)
    # Components on the first axis, then the nodes and segments.
    nodes = jnp.moveaxis(shot.nodes, 1, 0)
    base = parts.poses(d.origin.q)[at.nodes.T].transpose(2, 0, 1)
    oriented = ORIENTED[parts.rods.settings.orientation]
    turn = oriented.turn_from(base[:4], nodes[TURN : TURN + oriented.size])
    moved = jnp.concatenate([turn, nodes[:3] - base[4:]]).T
    frames = jnp.zeros((at.node_count, 6))
    # Neighbors share a node; stations are where the companion has them, so that loops stay closed.
    frames = frames.at[at.nodes[:, 0]].set(moved[:, 0]).at[at.nodes[:, 1:-1]].set(moved[:, 1:-1])
    own = parts.joint_coordinates
    frames = frames.at[at.station_nodes].set(x[own:].reshape(-1, 6))
    made = parts.rods.made_of(
        solve.moment, solve.sections, solve.past, shot.nodes, parts.efforts(efforts)
    )
    known = [made[:, :6], shot.nodes[:, 3:15], made[:, 6:]]
    fields = jnp.concatenate(known, axis=1).transpose(2, 0, 1)
    fields = fields - parts.fields(d.origin.q)
    found = [x[:own], frames.reshape(-1), fields.reshape(-1)]
    if parts.companion.topology.element_start[-1]:
        ends = given(parts, starts, shot.end[:NUMBERS].T)
        held = placed(parts, d, x, forces, *ends).held
        held = jnp.pad(held, ((0, 0), (0, NUMBERS - 6))).reshape(-1)
        found.append(held - d.origin.q[len(d.origin.q) - len(held) :])
    return jnp.concatenate(found)
