"""The derivative of what must vanish, from that of the companion and those along segments."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.shooting.balance import given, solve_of
from supple.shooting.parts import NUMBERS, Parts, Vector
from supple.shooting.placed import placed
from supple.shooting.rods import Shot
from supple.system.formulation import Discretization


def derivative(parts: Parts, d: Discretization, y: Vector, shot: Shot) -> Float[Array, "n n"]:
    """The derivative of the residual by the unknown."""
    x, forces, efforts, starts = parts.split(y)
    n, m, p = parts.companion.nv, parts.equations, len(parts.layout.starts)
    leads = parts.rods.transfer(
        *solve_of(parts, d), starts, parts.efforts(efforts), parts.companion.load_factor, shot
    )
    leads = leads.at[:, :, NUMBERS:].multiply(parts.efforts(jnp.ones_like(efforts)))

    def outcome(own: Vector) -> Vector:
        x, forces, wrenches = own[:n], own[n : n + m], own[n + m :].reshape(3, p, 6)
        found = placed(parts, d, x, forces, *wrenches)
        told = found.residual, found.violation, found.starts, found.moves
        return jnp.concatenate([part.reshape(-1) for part in told])

    wrenches = [part.reshape(-1) for part in given(parts, starts, shot.end[:, :NUMBERS])]
    J = jax.jacfwd(outcome)(jnp.concatenate([x, forces, *wrenches]))
    return _assembled(parts, J, leads)


def _assembled(parts: Parts, J: Float[Array, "a b"], leads: Float[Array, "s e c"]) -> Array:
    """The derivative of the residual."""
    at, n, m, s = parts.layout, parts.companion.nv, parts.equations, parts.layout.size
    pieces, own = len(at.starts), parts.companion.topology.v_start[-1]
    count, k = parts.lines, n + m
    of_lines = k + np.arange(count)
    leads, by_effort, longer = (
        leads[:, :NUMBERS, :NUMBERS],
        leads[:, :NUMBERS, NUMBERS:],
        leads[:, NUMBERS:],
    )
    size = k + count + NUMBERS * s

    def columns(segments: np.ndarray) -> np.ndarray:
        return k + count + NUMBERS * np.asarray(segments)[:, None] + np.arange(NUMBERS)

    # Balance, equations, and where pieces begin: by the companion's own, by wrenches at starts of
    # pieces, and by wrenches and twists at their ends, which their last segments lead to.
    rows = np.concatenate([np.arange(k), k + count + np.arange(12 * pieces)])
    sign = np.concatenate([np.ones(k), -np.ones(12 * pieces)])[:, None]
    J = sign * J
    by_start, by_wrench, by_move = (
        J[:, k + 6 * pieces * i : k + 6 * pieces * (i + 1)].reshape(-1, pieces, 6) for i in range(3)
    )
    by_end = jnp.concatenate([by_wrench, by_move], axis=2)
    A = jnp.zeros((size, size)).at[rows[:, None], np.arange(k)].set(J[:, :k])
    A = A.at[rows[:, None, None], columns(at.starts)[:, 6:12]].add(by_start)
    last = jnp.einsum("kpi,pij->kpj", by_end, leads[at.ends, 6:])
    A = A.at[rows[:, None, None], columns(at.ends)].add(last)
    own_start = columns(at.starts)[:, np.r_[0:6, 12:18]]
    begins = k + count + np.arange(12 * pieces).reshape(2, pieces, 6)
    A = A.at[np.concatenate([begins[0], begins[1]], axis=1), own_start].add(1.0)
    if count:
        sizes = parts.line_sizes
        measures = np.arange(n)[parts.line_slice]
        A = A.at[measures, of_lines].add(1.0)
        A = A.at[of_lines, measures].add(1 / sizes)
        A = A.at[of_lines[:, None], of_lines].add(-longer[:, :, NUMBERS:].sum(0) / sizes[:, None])
        gains = -longer[:, :, :NUMBERS] / sizes[:, None]
        A = A.at[of_lines[None, :, None], columns(np.arange(s))[:, None, :]].add(gains)
        last = jnp.einsum("kpi,pij->kj", by_end, by_effort[at.ends, 6:])
        A = A.at[rows[:, None], of_lines].add(last)
    # Where segments end: at the next one, or at a station.
    first, six = k + count + 12 * pieces, np.arange(6)
    ends = first + 6 * np.arange(s)[:, None] + six
    A = A.at[ends[:, :, None], of_lines].add(by_effort[:, :6])
    A = A.at[ends[:, :, None], columns(np.arange(s))[:, None, :]].add(leads[:, :6])
    stations = own + 6 * np.arange(at.station_count)[:, None] + six
    A = A.at[ends[at.ends], stations].add(-1.0)
    A = A.at[ends[at.inner], columns(at.inner + 1)[:, :6]].add(-1.0)
    inner = first + 6 * s + np.arange(12 * len(at.inner)).reshape(-1, 12)
    A = A.at[inner[:, :, None], columns(at.inner)[:, None, :]].add(leads[at.inner, 6:])
    A = A.at[inner[:, :, None], of_lines].add(by_effort[at.inner, 6:])
    return A.at[inner, columns(at.inner + 1)[:, 6:]].add(-1.0)
