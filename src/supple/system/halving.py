"""Chains of elements condensed in pairs until one is left: forward dynamics in log₂ N batched steps.

An element by itself is carried by the acceleration a of what it hangs on and asked for a wrench f by what
hangs on it. With its own coordinates eliminated it answers with the acceleration of its end and the wrench
that it asks for,

    a_end = A a - B f + c,        f_asked = D a + Aᵀ f + d,

B and D symmetric and not negative. Two neighbors p and c are again such an element: between them

    a = (1 + B_p D_c)⁻¹ (A_p a_in - B_p A_cᵀ f + c_p - B_p d_c),

whose matrix is similar to a symmetric one with eigenvalues ≥ 1. This is the elimination of
:mod:`supple.system.elimination` in another order: N/2 pairs at once instead of N elements one after the
other, so that no step waits for the one before. All arrays have the elements on their last axis, where the
processor's vectors are.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie.frames import Once, cross, dot

Columns = Float[Array, "i j n"]
Vectors = Float[Array, "i n"]


class Ends(NamedTuple):
    """Elements as their ends know them."""

    A: Float[Array, "6 6 n"]
    B: Float[Array, "6 6 n"]
    D: Float[Array, "6 6 n"]
    c: Float[Array, "6 n"]
    d: Float[Array, "6 n"]


class Pairs(NamedTuple):
    """What is between two elements, for one level: a = by_base a_in - by_end f + free; the outer element."""

    by_base: Float[Array, "6 6 n"]
    by_end: Float[Array, "6 6 n"]
    free: Float[Array, "6 n"]
    outer: Ends


def product(a: Float[Array, "i k n"], b: Float[Array, "k j n"]) -> Columns:
    """Matrix products, one for each element."""
    return sum(
        (a[:, k, None] * b[None, k] for k in range(1, a.shape[1])), a[:, 0, None] * b[None, 0]
    )


def transposed_product(a: Float[Array, "k i n"], b: Float[Array, "k j n"]) -> Columns:
    """aᵀ b."""
    return sum((a[k, :, None] * b[k, None] for k in range(1, len(a))), a[0, :, None] * b[0, None])


def product_transposed(a: Float[Array, "i k n"], b: Float[Array, "j k n"]) -> Columns:
    """A bᵀ."""
    return sum(
        (a[:, k, None] * b[None, :, k] for k in range(1, a.shape[1])), a[:, 0, None] * b[None, :, 0]
    )


def times(a: Float[Array, "i k n"], x: Float[Array, "k n"]) -> Vectors:
    """A x."""
    return product(a, x[:, None])[:, 0]


def transposed_times(a: Float[Array, "k i n"], x: Float[Array, "k n"]) -> Vectors:
    """aᵀ x."""
    return transposed_product(a, x[:, None])[:, 0]


def solve(
    a: Float[Array, "m m n"], right: Float[Array, "m r n"], once: Once
) -> Float[Array, "m r n"]:
    """a⁻¹ right without pivoting, three rows at a time: for matrices whose symmetric form is positive."""
    if len(a) <= 3:
        return product(once(_inverse(a, once)), right)
    first = once(_inverse(a[:3, :3], once))
    below = once(product(a[3:, :3], first))
    left, load = once(
        (a[3:, 3:] - product(below, a[:3, 3:]), right[3:] - product(below, right[:3]))
    )
    lower = once(solve(left, load, once))
    upper = once(right[:3] - product(a[:3, 3:], lower))
    return jnp.concatenate([product(first, upper), lower])


def _inverse(a: Float[Array, "k k n"], once: Once) -> Float[Array, "k k n"]:
    """Inverses of matrices of up to three rows, from their cofactors."""
    if len(a) == 1:
        return 1 / a
    if len(a) == 2:
        (p, q), (r, s) = a
        turned = jnp.stack([jnp.stack([s, -q]), jnp.stack([-r, p])])
        return turned / (p * s - q * r)
    columns = jnp.stack([cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])], axis=1)
    columns = once(columns)
    return columns / dot(a[0], columns[:, 0])


def none(count: int) -> Ends:
    """Elements that are not there: what enters leaves."""
    one = jnp.broadcast_to(jnp.eye(6)[:, :, None], (6, 6, count))
    zero, nothing = jnp.zeros((6, 6, count)), jnp.zeros((6, count))
    return Ends(one, zero, zero, nothing, nothing)


def condense(ends: Ends, once: Once) -> tuple[Ends, list[Pairs]]:
    """A chain as one element, with what happens between its elements, level by level."""
    levels = []
    while (count := ends.c.shape[-1]) > 1:
        if count % 2:
            more = zip(ends, none(1), strict=True)
            ends = Ends(*(jnp.concatenate(both, axis=-1) for both in more))
        inner = Ends(*(part[..., ::2] for part in ends))
        outer = Ends(*(part[..., 1::2] for part in ends))
        ends, pair = _joined(inner, outer, once)
        levels.append(pair)
    return ends, levels


def _joined(inner: Ends, outer: Ends, once: Once) -> tuple[Ends, Pairs]:
    one = np.eye(6)[:, :, None]
    free = inner.c - times(inner.B, outer.d)
    right = jnp.concatenate([inner.A, product_transposed(inner.B, outer.A), free[:, None]], axis=1)
    matrix = one + product(inner.B, outer.D)
    matrix, right = once((matrix, right))
    between = once(solve(matrix, right, once))
    passed, asked = once((product(outer.A, between), product(outer.D, between)))
    pair = Pairs(between[:, :6], between[:, 6:12], between[:, 12], outer)
    joined = Ends(
        passed[:, :6],
        outer.B + passed[:, 6:12],
        inner.D + transposed_product(inner.A, asked[:, :6]),
        outer.c + passed[:, 12],
        inner.d + transposed_times(inner.A, outer.d + asked[:, 12]),
    )
    return once(joined), pair


def expand(
    levels: list[Pairs], base: Float[Array, "6 1"], end: Float[Array, "6 1"]
) -> tuple[Float[Array, "6 n"], Float[Array, "6 n"]]:
    """Acceleration that carries each element and wrench that it is asked for, from the whole chain's."""
    a, f = base, end
    for pair in reversed(levels):
        count = pair.free.shape[-1]
        a, f = a[:, :count], f[:, :count]  # without those that are not there
        between = times(pair.by_base, a) - times(pair.by_end, f) + pair.free
        outer = pair.outer
        asked = times(outer.D, between) + transposed_times(outer.A, f) + outer.d
        a, f = _in_turn(a, between), _in_turn(asked, f)
    return a, f


def _in_turn(inner: Float[Array, "6 n"], outer: Float[Array, "6 n"]) -> Float[Array, "6 k"]:
    """Two lists as one, element by element."""
    return jnp.stack([inner, outer], axis=-1).reshape(len(inner), -1)
