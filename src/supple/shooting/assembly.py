"""The factorized derivative of what must vanish: rods condensed piece by piece, then one small matrix.

The small system has the companion's displacements and multipliers, the efforts of lines, and for each piece
wrench and twist at its end; where a piece begins follows from the companion, all else along it from
:mod:`supple.shooting.condense`.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.shooting.balance import given, solve_of
from supple.shooting.condense import Condensed, L, Plan, W, Z, condensed
from supple.shooting.parts import NUMBERS, Parts, Vector
from supple.shooting.placed import placed
from supple.shooting.rods import Shot
from supple.system.dense import DenseFactors, factorize_dense
from supple.system.formulation import Discretization


@dataclass(frozen=True)
class Sizes:
    """How many unknowns there are of each kind."""

    coordinates: int
    equations: int
    lines: int

    @property
    def kept(self) -> int:
        """Those before the starts of segments."""
        return self.coordinates + self.equations + self.lines


class RodFactors(eqx.Module):
    """Factors of the derivative of the residual."""

    rods: Condensed
    begins: Float[Array, "p 12 c"]
    """z where pieces begin, by the unknowns of the small system."""
    answers: Float[Array, "p n c"]
    """What pieces answer, by the same."""
    pulls: Float[Array, "e p 6"]
    """Balance and equations by the wrenches where pieces begin."""
    measures: Float[Array, " k"]
    small: DenseFactors
    sizes: Sizes = eqx.field(static=True)

    def solve(self, b: Vector) -> Vector:
        """Solution of A x = b."""
        at, own = self.rods.plan.layout, self.sizes
        p, s, k = len(at.starts), at.size, own.kept
        balance, lines, rest = b[: k - own.lines], b[k - own.lines : k], b[k:]
        start = jnp.concatenate(list(rest[: 12 * p].reshape(2, p, 6)), axis=1)
        ends = rest[12 * p : 12 * p + 6 * s].reshape(s, 6)
        inner = rest[12 * p + 6 * s :].reshape(-1, 12)
        left = jnp.zeros((s, 18))
        left = left.at[at.inner].set(
            jnp.concatenate([ends[at.inner], inner[:, 6:], inner[:, :6]], axis=1)
        )
        told, between = self.rods.gathered(left)
        told = told + jnp.einsum("pij,pj->pi", self.rods.whole[:, :, Z], start)
        right = [
            balance - jnp.einsum("epi,pi->e", self.pulls, told[:, W]),
            lines + told[:, L].sum(axis=0) / self.measures,
            (ends[at.ends] - told[:, :6]).reshape(-1),
            told[:, 6:12].reshape(-1),
        ]
        found = self.small.solve(jnp.concatenate(right))
        start = start + self.begins @ found
        wrench = told[:, W] + self.answers[:, W] @ found
        pulled = found[k : k + 6 * p].reshape(p, 6)
        states = self.rods.spread(
            jnp.concatenate([start, wrench], axis=1), pulled, found[k - own.lines : k], between
        )
        starts = jnp.concatenate([states[:, :6], states[:, W], states[:, 6:12]], axis=1)
        return jnp.concatenate([found[:k], starts.reshape(-1)])

    @property
    def poor(self) -> bool:
        """What is left of the rods is one matrix."""
        return False

    def solve_checked(self, b: Vector) -> Vector:
        """The same: a pivot that vanishes makes the solution infinite."""
        return self.solve(b)


def factorized(parts: Parts, d: Discretization, y: Vector, shot: Shot) -> RodFactors:
    """Factors of the derivative of the residual by the unknown."""
    x, forces, efforts, starts = parts.split(y)
    n, m, k, p = parts.companion.nv, parts.equations, parts.lines, len(parts.layout.starts)
    leads = parts.rods.transfer(
        *solve_of(parts, d), starts.T, parts.efforts(efforts), parts.companion.load_factor
    ).transpose(2, 0, 1)
    leads = leads.at[:, :, NUMBERS:].multiply(parts.efforts(jnp.ones_like(efforts)))
    rods = condensed(Plan(parts.layout), leads)

    def outcome(own: Vector) -> Vector:
        x, forces, wrenches = own[:n], own[n : n + m], own[n + m :].reshape(3, p, 6)
        found = placed(parts, d, x, forces, *wrenches)
        begins = jnp.concatenate([found.starts, found.moves], axis=1)
        told = found.residual, found.violation, begins
        return jnp.concatenate([part.reshape(-1) for part in told])

    wrenches = [part.reshape(-1) for part in given(parts, starts, shot.end[:NUMBERS].T)]
    J = jax.jacfwd(outcome)(jnp.concatenate([x, forces, *wrenches]))
    # By the unknowns of the small system: without wrenches where pieces begin, with the efforts of lines.
    first = J[: n + m, n + m : n + m + 6 * p]
    J = jnp.concatenate(
        [J[:, : n + m], jnp.zeros((len(J), k)), J[:, n + m + 6 * p :]],
        axis=1,
    )
    size = J.shape[1]
    unit = np.eye(size)
    e = n + m + k
    begins = J[n + m :].reshape(p, 12, size)
    pulled = unit[e : e + 6 * p].reshape(p, 6, size)
    lines = np.broadcast_to(unit[n + m : e], (p, k, size))
    answers = rods.whole @ jnp.concatenate([begins, pulled, lines], axis=1)
    rows = J[: n + m] + first @ answers[:, W].reshape(6 * p, size)
    rows = rows.at[parts.line_slice].add(unit[n + m : e])
    measured = (unit[:n][parts.line_slice] - answers[:, L].sum(axis=0)) / parts.line_sizes[:, None]
    ends = answers[:, :6].reshape(6 * p, size) - unit[parts.joint_coordinates : n]
    moves = unit[e + 6 * p :] - answers[:, 6:12].reshape(6 * p, size)
    small = factorize_dense(jnp.concatenate([rows, measured, ends, moves]))
    return RodFactors(
        rods, begins, answers, first.reshape(-1, p, 6), parts.line_sizes, small, Sizes(n, m, k)
    )
