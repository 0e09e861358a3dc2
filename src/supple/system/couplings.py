"""What links add to the fronts of the elements that they touch, in numbers.

A closure with multipliers μ asks the wrench Hᵀ μ of its outer sample b and the opposite of its inner one
a, and its rows are H (ζ_b - ζ_a). Its wrenches change with the motion between both: that of b by Q_b (ζ_b
- ζ_a), that of -a by Q_a (ζ_b - ζ_a), where Q_a = Q_b - coad(f) with f the wrench itself. Where one side
is in the core, both sides are in one front. Elsewhere the change ω of the wrench, seen from the world, is
an unknown of its own,

    ω = Hᵀ μ + Q_a ζ_b - Q_b ζ_a,        δf_b = ω + coad(f) ζ_b,        -δf_a = ω + coad(f) ζ_a,

so that each side only knows itself and ω.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Inexact

from supple.arrays import Array
from supple.lie import se3
from supple.mechanics import static_index
from supple.mechanics.activity import activity
from supple.mechanics.closures import closure_laws, closure_rows
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import Balance
from supple.mechanics.sample_laws import Law, add_laws
from supple.mechanics.slips import slip_multipliers, slip_turning
from supple.mechanics.transmission_tangent import Parts
from supple.model.constraints import CLOSURE, COMPLIANCE, COORDINATE, STOP
from supple.model.model import GROUND, Model
from supple.system.combination import Combination
from supple.system.plan import Plan
from supple.system.pulls import Coupling, Pulls, at_sample, line_end_laws, pulls_of


class LinkValues(NamedTuple):
    """Rows of all links at a motion, in the world frame."""

    closure_rows: Float[Array, "n 6"]
    """H."""
    of_outer: Float[Array, "k 6 6"]
    """Q_b of each closing joint."""
    of_inner: Float[Array, "k 6 6"]
    """Q_a."""
    scale: Float[Array, " p"]
    """Of imposed coordinates, then of stops, ..."""
    held: Float[Array, " p"]
    """... and 1 for those that are not let go."""
    slip_rows: list[Float[Array, "_ 6"]]
    """Rows on the twist of a contact's sample, ..."""
    slip_turns: list[Float[Array, "_ 6"]]
    """... and how the slip speed changes with its place."""
    pulls: Pulls | None
    """Transmissions."""


def link_values(
    model: Model, plan: Plan, c: Coordinates, state: Balance, parts: Parts | None
) -> tuple[LinkValues, list[tuple[np.ndarray, Float[Array, "_ 6 6"]]]]:
    """Rows of the links; and the laws, geometry alone, that they add to the samples they touch."""
    none = jnp.zeros((0, 6))
    H, of_outer, of_inner = none, jnp.zeros((0, 6, 6)), jnp.zeros((0, 6, 6))
    laws: list[tuple[np.ndarray, Float[Array, "_ 6 6"]]] = []
    if state.closures is not None and c.multipliers is not None:
        at = state.closures
        inverse = se3.adjoint(at.outer.inverse())
        by_row = static_index.take(inverse, np.array(model.closures.joint_of_row))
        H = jnp.einsum("ni,nij->nj", closure_rows(model, at), by_row)
        forces = c.multipliers[model.constraints.rows(CLOSURE)]
        of_outer, of_inner = closure_laws(model, at, forces)
        laws += _closure_laws(model, plan, of_outer, of_inner)
    slip_rows, slip_turns = [], []
    if state.slips and c.multipliers is not None:
        forces_of = slip_multipliers(model, c.multipliers)
        for slip, one, force in zip(model.slips, state.slips, forces_of, strict=True):
            inverse = se3.adjoint(one.pose.inverse())
            turned = slip_turning(slip, one.pose.rotation)
            slip_rows.append(one.rows @ inverse)
            slip_turns.append(jnp.einsum("nij,i->nj", turned, one.twist) @ inverse[:3])
            law = inverse.T @ jnp.einsum("nij,n->ij", turned, force) @ inverse[:3]
            laws.append((np.array([slip.sample]), law[None]))
    pulls = None
    if state.transmissions is not None and parts is not None:
        pulls = pulls_of(model, state.transmissions, parts)
        laws += line_end_laws(pulls)
    scale = jnp.concatenate([jnp.asarray(model.prescribed.scale), jnp.asarray(model.stops.side)])
    held, table = activity(model), model.constraints
    kept = jnp.ones(len(scale))
    if held is not None:
        kept = jnp.concatenate([held[table.rows(kind)] for kind in (COORDINATE, STOP)])
    return LinkValues(H, of_outer, of_inner, scale, kept, slip_rows, slip_turns, pulls), laws


def _closure_laws(
    model: Model, plan: Plan, of_outer: Float[Array, "k 6 6"], of_inner: Float[Array, "k 6 6"]
) -> list[tuple[np.ndarray, Float[Array, "_ 6 6"]]]:
    closures = model.closures
    links = plan.structure.links
    carried = np.zeros(len(closures.names), dtype=bool)
    found = [i for i, link in enumerate(links) if link.family == "closure" and plan.extras[i]]
    carried[[links[i].index for i in found]] = True
    turning = of_outer - of_inner
    laws = []
    for samples, law, sign in (
        (closures.outer_sample, of_outer, 1.0),
        (closures.inner_sample, of_inner, -1.0),
    ):
        own = jnp.where(carried[:, None, None], sign * turning, law)
        moving = np.flatnonzero(np.array(samples) != GROUND)
        laws.append((np.array(samples)[moving], static_index.take(own, moving)))
    return laws


def with_laws(
    model: Model,
    attached: list[Law | None],
    laws: list[tuple[np.ndarray, Float[Array, "_ 6 6"]]],
) -> list[Law | None]:
    """Laws of the samples with those of the links."""
    for samples, geometry in laws:
        zero = jnp.zeros_like(geometry)
        attached = add_laws(model, attached, samples, Law(zero, zero, geometry))
    return attached


def closure_coupling(
    values: LinkValues,
    equations: np.ndarray,
    joints: np.ndarray,
    outer: np.ndarray,
    wrench: bool,
    motion: Inexact[Array, "n depth m"],
    combination: Combination,
) -> Coupling:
    """One side of closures.

    Their equations (n, r), joints (n,), whether this is the outer side, and what moves the sample there.
    """
    sign = np.where(outer, 1.0, -1.0)[:, None, None]
    H = sign * values.closure_rows[equations]
    depth = motion.shape[-2]
    if not wrench:
        by_zeta, in_wrench = H, jnp.swapaxes(H, -1, -2)
    else:
        towards = outer[:, None, None]
        law = jnp.where(towards, values.of_inner[joints], -values.of_outer[joints])
        count, size = equations.shape
        by_zeta = jnp.concatenate([H, combination.stiffness * law], axis=-2)
        unit = sign * np.concatenate([np.zeros((6, size)), np.eye(6)], axis=1)
        in_wrench = jnp.asarray(np.broadcast_to(unit, (count, 6, size + 6)))
    return at_sample(_padded(by_zeta, depth), in_wrench, motion)


def slip_coupling(
    values: LinkValues,
    slips: np.ndarray,
    motion: Inexact[Array, "n depth m"],
    combination: Combination,
) -> Coupling:
    """Contacts that may not slip; their speeds over a."""
    own = jnp.stack([values.slip_rows[i] for i in slips])
    if combination.in_motion:
        turns = jnp.stack([values.slip_turns[i] for i in slips]) / combination.by_rate
        by_y = jnp.concatenate([turns, own, jnp.zeros_like(own)], axis=-1)
    else:
        by_y = own
    return at_sample(by_y, jnp.swapaxes(own, -1, -2), motion)


def coordinate_coupling(
    values: LinkValues, imposed: np.ndarray, columns: np.ndarray, width: int, depth: int
) -> Coupling:
    """Imposed coordinates and stops, given by their places in the elements."""
    chosen = (columns[:, None] == np.arange(width)).astype(float)
    row = (values.scale[imposed][:, None] * chosen)[:, None, :]
    count = len(imposed)
    return Coupling(
        values.held[imposed][:, None, None] * row,
        jnp.zeros((count, 1, depth)),
        jnp.swapaxes(row, -1, -2),
        jnp.zeros((count, 6, 1)),
    )


def coordinate_diagonal(
    values: LinkValues, imposed: np.ndarray, combination: Combination
) -> Inexact[Array, "n 1 1"]:
    """What equations that are let go ask of their own multipliers."""
    yields = COMPLIANCE * (1 - values.held[imposed])
    return (combination.by_change * yields)[:, None, None]


def _padded(rows_: Inexact[Array, "n r 6"], depth: int) -> Inexact[Array, "n r depth"]:
    return jnp.pad(rows_, ((0, 0), (0, 0), (0, depth - 6)))


def wrench_diagonal(values: LinkValues, equations: np.ndarray) -> Inexact[Array, "n s s"]:
    """Rows of the wrenches ω: Hᵀ μ - ω."""
    count, size = equations.shape
    below = jnp.concatenate(
        [
            jnp.swapaxes(values.closure_rows[equations], -1, -2),
            jnp.broadcast_to(-jnp.eye(6), (count, 6, 6)),
        ],
        axis=-1,
    )
    return jnp.concatenate([jnp.zeros((count, size, size + 6)), below], axis=-2)
