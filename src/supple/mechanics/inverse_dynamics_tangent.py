r"""Exact tangent of the balance: its mass, damping and stiffness matrices M, C, K.

A variation δx moves every sample by a world twist ζ. Variations are taken in the moving frames and
written in the world frame; then they commute with time derivatives, and

    ζ = W S δx,   ν = ζ̇ = W (S δẋ + Ṡ δx),   β = ζ̈ = W (S δẍ + 2 Ṡ δẋ + S̈ δx)

are plain sums of local terms, like the motion itself. Force and balance vary by

    φ  = I (β - ad(V) ν - ad(γ) ζ) - coad(I V) ν - ad(V)ᵀ I ν - δ(external)
    δR = Σ_p ζ_pᵀ (φ_p - coad(f_p) ζ_p) + Σ_d S_dᵀ coad(λ_d) ζ_d + λᵀ Ad(g) δΦ + elasticity.

Coefficients of δẍ, δẋ and δx give M, C and K; a scheme with δẋ = a δx, δẍ = b δx uses
K + a C + b M. Between elements only 6-vectors pass: what enters an element adds the same ζ, ν, β to all
its samples, and what leaves it is the sum of its φ. Terms with coad cancel for ancestors.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float, Inexact

from supple.arrays import Array
from supple.lie import se3
from supple.mechanics import static_index
from supple.mechanics.activity import relieved_rows
from supple.mechanics.closures import ClosureMotion, closure_laws, closure_rows
from supple.mechanics.driving import between, driving
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.element_tangent import Columns, columns_of, element_tangents, parts_of
from supple.mechanics.inverse_dynamics import Balance, balance
from supple.mechanics.reach import Reach, reach_of
from supple.mechanics.sample_laws import Law
from supple.mechanics.slips import slip_tangent
from supple.mechanics.tree import path_matrix
from supple.model.constraints import CLOSURE
from supple.model.model import GROUND, Model


class Tangent(NamedTuple):
    """Residual R and its derivatives: δR = M δẍ + C δẋ + K δx."""

    residual: Float[Array, " nv"]
    mass: Float[Array, "nv nv"]
    damping: Float[Array, "nv nv"]
    stiffness: Float[Array, "nv nv"]
    violation: Float[Array, " n"]
    jacobian: Float[Array, "n nv"]
    """Derivative of the violation by x: δΥ = J δx. Rows of equations between velocities, the last ones, are
    derivatives by ẋ."""
    force_jacobian: Float[Array, "n nv"]
    """Derivative of the residual by the multipliers: the balance contains Pᵀ λ. P = J without friction."""
    slipping: Float[Array, "s nv"]
    """Derivative by x of the equations between velocities."""
    compliance: Float[Array, " n"]
    """Derivative of each violation by its own multiplier: zero but for equations that are let go."""

    def constraint_jacobian(
        self, by_rate: Inexact[Array, ""] | complex | float
    ) -> Inexact[Array, "n nv"]:
        """Derivative of the equations by x where δẋ = ``by_rate`` δx; those between velocities over it."""
        first = self.jacobian.shape[0] - self.slipping.shape[0]
        if first == self.jacobian.shape[0]:
            return self.jacobian
        slipping = self.jacobian[first:] + self.slipping / by_rate
        return jnp.concatenate([self.jacobian[:first], slipping])


def inverse_dynamics_tangent(model: Model, c: Coordinates) -> Tangent:
    """Residual, mass, damping and stiffness matrices at a motion."""
    return tangent_of(model, c, balance(model, c))


@partial(jax.jit, inline=True)
def tangent_of(model: Model, c: Coordinates, state: Balance) -> Tangent:
    """The same from the balance at the motion, where that is at hand."""
    model = model.with_lengths_at(c.t)
    parts = parts_of(model, state)
    found = element_tangents(model, c, state, parts)
    columns, laws, reactions, blocks, _ = (list(part) for part in zip(*found, strict=True))
    whole = block_diagonal(model, blocks)
    if not model.topology.all_on_ground:
        whole = whole + _tree_coupling(model, columns, laws, reactions)
    mass, damping, stiffness = whole[0], whole[1], whole[2]
    jacobian = jnp.zeros((0, model.nv))
    if state.closures is not None and c.multipliers is not None:
        forces = c.multipliers[model.constraints.rows(CLOSURE)]
        jacobian, stiffening = _closing(model, columns, state.closures, forces)
        stiffness = stiffness + stiffening
    if model.prescribed.size and c.multipliers is not None:
        chosen = np.eye(model.nv)[np.array(model.prescribed.v_index)]
        imposed = jnp.asarray(model.prescribed.scale)[:, None] * chosen
        jacobian = jnp.concatenate([jacobian, imposed])
    force_jacobian = jacobian
    if state.transmissions is not None and parts is not None:
        driven = driving(model, state.transmissions, parts, partial(_jacobians, model, columns))
        if driven is not None:
            stiffness, damping = stiffness + driven.stiffness, damping + driven.damping
        if driven is not None and c.multipliers is not None:
            jacobian = jnp.concatenate([jacobian, driven.jacobian])
            force_jacobian = jnp.concatenate([force_jacobian, driven.force_jacobian])
    if model.stops.size and c.multipliers is not None:
        chosen = np.eye(model.nv)[np.array(model.stops.v_index)]
        halted = jnp.asarray(model.stops.side)[:, None] * chosen
        jacobian, force_jacobian = (
            jnp.concatenate([part, halted]) for part in (jacobian, force_jacobian)
        )
    sliding = jnp.zeros((0, model.nv))
    if state.slips and c.multipliers is not None:
        samples = np.array([slip.sample for slip in model.slips])
        changing = [own._replace(shift=own.shift_rate) for own in columns]
        by_rate, sliding, stiffening = slip_tangent(
            model,
            state.slips,
            c.multipliers,
            sample_jacobians(model, columns, samples),
            sample_jacobians(model, changing, samples),
        )
        stiffness = stiffness + stiffening
        jacobian, force_jacobian = (
            jnp.concatenate([part, by_rate]) for part in (jacobian, force_jacobian)
        )
    compliance = jnp.zeros(0)
    if c.multipliers is not None:
        jacobian, compliance = relieved_rows(model, jacobian)
    return Tangent(
        state.residual,
        mass,
        damping,
        stiffness,
        state.violation,
        jacobian,
        force_jacobian,
        sliding,
        compliance,
    )


def _closing(
    model: Model,
    columns: list[Columns],
    at: ClosureMotion,
    multipliers: Float[Array, " n"],
) -> tuple[Float[Array, "n nv"], Float[Array, "nv nv"]]:
    """Jacobian of the closures, and the stiffness of their multipliers."""
    c = model.closures
    outer, inner = (
        sample_jacobians(model, columns, np.array(samples))
        for samples in (c.outer_sample, c.inner_sample)
    )
    apart = outer - inner
    by_row = np.array(c.joint_of_row)
    inverse = se3.adjoint(at.outer.inverse())
    H = jnp.einsum("ni,nij->nj", closure_rows(model, at), static_index.take(inverse, by_row))
    jacobian = jnp.einsum("ni,nim->nm", H, static_index.take(apart, by_row))
    return jacobian, between(outer, inner, *closure_laws(model, at, multipliers))


def _jacobians(
    model: Model, columns: list[Columns], reach: Reach, samples: np.ndarray
) -> tuple[Float[Array, "k 6 w"], Float[Array, "k 6 w"]]:
    """World Jacobians of flat samples, and their time derivatives."""
    changing = [own._replace(shift=own.shift_rate) for own in columns]
    first, second = (reached_jacobians(model, reach, part, samples) for part in (columns, changing))
    return first, second


def sample_jacobians(
    model: Model, columns: list[Columns], samples: np.ndarray
) -> Float[Array, "k 6 nv"]:
    """World Jacobians of flat samples (zero for the ground): own columns and those of ancestors."""
    reach = reach_of(model, samples)
    return reach.expand(reached_jacobians(model, reach, columns, samples))


def reached_jacobians(
    model: Model, reach: Reach, columns: list[Columns], samples: np.ndarray
) -> Float[Array, "k 6 w"]:
    """The same in the coordinates that a reach counts."""
    topology = model.topology
    result = jnp.zeros((len(samples), 6, reach.width))
    passed, path = np.zeros((len(samples), reach.elements)), path_matrix(reach.parent)
    for i in reach.groups:
        own = columns[i]
        batch, points, _, width = own.shift.shape
        local = samples - topology.sample_start[i]
        mine = np.flatnonzero((local >= 0) & (local < batch * points) & (samples != GROUND))
        if len(mine) == 0:
            continue
        row = local[mine] // points
        # Which elements' steps each sample has passed: its own element's and its ancestors'.
        passed[mine] = path[reach.rows[i][row]]
        if width == 0:
            continue
        flat = own.shift.reshape(batch * points, 6, width)
        result = _scatter_columns(
            result[:, :, None],
            mine,
            reach.columns[i][row],
            static_index.take(flat, local[mine])[:, :, None],
        )[:, :, 0]
    if not np.any(reach.attach != GROUND):
        return result
    steps = _attached_columns(model, reach, columns)[:, :, 0]
    return result + jnp.einsum("ke,ein->kin", passed, steps)


def mass_matrix(model: Model, q: Float[Array, " nq"]) -> Float[Array, "nv nv"]:
    """Generalized inertia at a configuration (symmetric, positive definite)."""
    zero = jnp.zeros(model.nv)
    return inverse_dynamics_tangent(model, Coordinates(q, zero, zero, zero, jnp.zeros(()))).mass


def block_diagonal(model: Model, blocks: list[Float[Array, "k _ _ _"]]) -> Float[Array, "k nv nv"]:
    """Matrices from the blocks of all elements, group by group; k matrices at once."""
    if len(blocks) == 1 and blocks[0].shape[1] == 1:
        return blocks[0][:, 0]
    matrix = jnp.zeros((blocks[0].shape[0], model.nv, model.nv))
    for i, block in enumerate(blocks):
        columns = columns_of(model, i)
        if columns.size == 0:
            continue
        if len(columns) == 1:
            matrix = lax.dynamic_update_slice(
                matrix, block[:, 0], (0, columns[0, 0], columns[0, 0])
            )
        else:
            where = slice(None), columns[:, :, None], columns[:, None, :]
            matrix = matrix.at[where].set(block, mode="promise_in_bounds", unique_indices=True)
    return matrix


def _tree_coupling(
    model: Model,
    columns: list[Columns],
    laws: list[Law],
    reactions: list[Columns],
) -> Float[Array, "3 nv nv"]:
    """What enters elements from their ancestors and what subtrees send back, for M, C and K."""
    reach = reach_of(model)
    hanging = np.flatnonzero(reach.attach != GROUND)
    path = jnp.asarray(path_matrix(reach.parent))

    # Columns of the samples that elements hang on, in all coordinates, and their sums along the tree.
    steps = _attached_columns(model, reach, columns)
    entering = jnp.einsum("ef,fikn->eikn", path, steps)
    moves = _law_arguments(entering)

    # Wrench of each element's own samples in all coordinates, then of its whole subtree.
    stacked = {i: jnp.concatenate(laws[i], axis=-1) for i in reach.groups}
    carried = jnp.concatenate([law.sum(axis=1) for law in stacked.values()]) @ moves
    own = _own_wrench(reach, reactions)
    asked = jnp.einsum("ef,eikn->fikn", path, carried.reshape(own.shape) + own)
    returned = jnp.einsum(
        "ein,eikm->knm",
        static_index.take(steps[:, :, 0], hanging),
        static_index.take(asked, hanging),
    )
    return reach.expand_square(returned + _entering_rows(reach, columns, stacked, moves))


def _law_arguments(entering: Float[Array, "e 6 3 nv"]) -> Float[Array, "e 18 columns"]:
    """(β, ν, ζ) that enter each element, for unit δẍ, δẋ and δx: what a law I, N, G multiplies."""
    zeta, nu, beta = (entering[:, :, k] for k in range(3))
    none = jnp.zeros_like(zeta)
    parts = [[zeta, 2 * nu, beta], [none, zeta, nu], [none, none, zeta]]
    return jnp.concatenate([jnp.concatenate(row, axis=-1) for row in parts], axis=-2)


def _attached_columns(
    model: Model, reach: Reach, columns: list[Columns]
) -> Float[Array, "e 6 3 w"]:
    hanging = np.flatnonzero(reach.attach != GROUND)
    result = jnp.zeros((reach.elements, 6, 3, reach.width))
    for i in reach.groups:
        own = columns[i]
        batch, samples, _, width = own.shift.shape
        local = reach.attach[hanging] - model.topology.sample_start[i]
        mine = (local >= 0) & (local < batch * samples)
        if not mine.any() or width == 0:
            continue
        children, local = hanging[mine], local[mine]
        flat = (part.reshape(batch * samples, 6, width) for part in own)
        values = jnp.stack([static_index.take(part, local) for part in flat], axis=2)
        result = _scatter_columns(result, children, reach.columns[i][local // samples], values)
    return result


def _own_wrench(reach: Reach, reactions: list[Columns]) -> Float[Array, "e 6 3 w"]:
    result = jnp.zeros((reach.elements, 6, 3, reach.width))
    for i in reach.groups:
        own = reactions[i]
        if own.shift.shape[-1] == 0:
            continue
        values = jnp.stack([part.sum(axis=1) for part in own], axis=2)
        result = _scatter_columns(result, reach.rows[i], reach.columns[i], values)
    return result


def _scatter_columns(
    into: Float[Array, "e 6 k nv"],
    elements: np.ndarray,
    columns: np.ndarray,
    values: Float[Array, "b 6 k m"],
) -> Float[Array, "e 6 k nv"]:
    """Put columns of some coordinates into rows of elements."""
    if len(elements) == 1:  # coordinates of an element are neighbors
        return lax.dynamic_update_slice(into, values, (elements[0], 0, 0, columns[0, 0]))
    six, kinds = np.arange(6)[:, None, None], np.arange(into.shape[2])[:, None]
    where = elements[:, None, None, None], six, kinds, columns[:, None, None, :]
    return into.at[where].set(values, mode="promise_in_bounds", unique_indices=True)


def _entering_rows(
    reach: Reach,
    columns: list[Columns],
    laws: dict[int, Float[Array, "_ _ 6 18"]],
    moves: Float[Array, "e 18 columns"],
) -> Float[Array, "3 w w"]:
    """ζᵀ φ of each element's own samples for what enters it, as rows of its coordinates."""
    result = []
    for i, law in laws.items():
        entering = static_index.take(moves, reach.rows[i])
        block = jnp.einsum("bpim,bpij->bmj", columns[i].shift, law) @ entering
        result.append(block.reshape(-1, 3, reach.width))
    return jnp.swapaxes(jnp.concatenate(result), 0, 1)
