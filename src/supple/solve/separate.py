"""Saddle systems of separate blocks that only closures join: eliminate the blocks, then the closures."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.mechanics import rows
from supple.mechanics.separate_tangent import Side, Structure
from supple.solve.newton import Factorisation, factorise


class SeparateFactors(eqx.Module):
    """Factors of [[A, Jᵀ], [J, 0]]: inverses of A's blocks, A⁻¹ Jᵀ on each side, and S = J A⁻¹ Jᵀ.

    The blocks are small, many and well conditioned (masses), so that their inverses serve every solve.
    """

    inverses: list[Float[Array, "_ _ _"]]
    jacobians: list[Float[Array, "_ r _"]]
    responses: list[Float[Array, "_ _ r"]]
    schur: Factorisation
    structure: Structure = eqx.field(static=True)

    def solve(self, right: Float[Array, " n"]) -> Float[Array, " n"]:
        """(x, λ) with A x + Jᵀ λ = r and J x = u."""
        table = np.array(self.structure.table)
        sides = self.structure.sides
        moved, nv = [], 0
        for start, inverse in zip(self.structure.starts, self.inverses, strict=True):
            batch, width = inverse.shape[:2]
            nv = start + batch * width
            own = right[start:nv].reshape(batch, width)
            moved.append(jnp.einsum("bmn,bn->bm", inverse, own))
        gap = -jnp.concatenate([right[nv:], jnp.zeros(1)])[table]  # row -1 is zero
        for side, jacobian in zip(sides, self.jacobians, strict=True):
            own = rows.take(moved[side.group], np.array(side.elements))
            gap = rows.add(gap, np.array(side.closures), jnp.einsum("srm,sm->sr", jacobian, own))
        forces = self.schur.solve(gap.reshape(-1)).reshape(table.shape)
        for side, response in zip(sides, self.responses, strict=True):
            pull = rows.take(forces, np.array(side.closures))
            change = -jnp.einsum("smr,sr->sm", response, pull)
            moved[side.group] = rows.add(moved[side.group], np.array(side.elements), change)
        order = np.argsort(table.reshape(-1), kind="stable")[np.sum(table < 0) :]
        multipliers = rows.take(forces.reshape(-1), order)
        return jnp.concatenate([*(part.reshape(-1) for part in moved), multipliers])


def factorise_separate(
    structure: Structure,
    blocks: list[Float[Array, "_ _ _"]],
    jacobians: list[Float[Array, "_ r _"]],
) -> SeparateFactors:
    """Factorise the system with blocks A of the groups and Jacobians J of the sides."""
    inverses = [jnp.linalg.inv(block) for block in blocks]
    responses = [
        jnp.einsum(
            "smn,srn->smr", rows.take(inverses[side.group], np.array(side.elements)), jacobian
        )
        for side, jacobian in zip(structure.sides, jacobians, strict=True)
    ]
    table = np.array(structure.table)
    closures, most = table.shape
    # Rows that a closure does not have get an equation λ = 0 of their own.
    missing = np.einsum("kr,kl,rs->klrs", (table < 0).astype(float), np.eye(closures), np.eye(most))
    schur = jnp.asarray(missing)
    for a, left in zip(structure.sides, jacobians, strict=True):
        for b, right in zip(structure.sides, responses, strict=True):
            schur = _coupled(schur, a, left, b, right)
    size = closures * most
    whole = jnp.swapaxes(schur, 1, 2).reshape(size, size)
    return SeparateFactors(inverses, jacobians, responses, factorise(whole), structure)


def _coupled(
    schur: Float[Array, "k k r r"],
    a: Side,
    left: Float[Array, "_ r _"],
    b: Side,
    right: Float[Array, "_ _ r"],
) -> Float[Array, "k k r r"]:
    """Add what the closures of two sides feel of each other through the elements they share."""
    if a.group != b.group:
        return schur
    same = np.array(a.elements)[:, None] == np.array(b.elements)[None, :]
    rows_, columns = np.array(a.closures), np.array(b.closures)
    if a is b and np.count_nonzero(same) == len(rows_):  # one closure an element: legs
        own = jnp.einsum("srm,smq->srq", left, right)
        return schur.at[rows_, columns].add(own)
    if not same.any():
        return schur
    pairs = jnp.einsum("srm,tmq->strq", left, right) * same[:, :, None, None]
    return schur.at[rows_[:, None], columns[None, :]].add(pairs)
