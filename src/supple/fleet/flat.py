"""Programs made flat for devices that run many members side by side: no branches, no calls into libraries.

Side by side both branches of a condition are computed for all members, and each product or factorization of
small matrices is a call that nothing can be fused with. A program is written for one member, by people who
need not know of this; here it is traced and told again with other words for the same:

- a condition computes its cheap branch, and the other one in a loop that runs once if any member needs it;
- products of small matrices are sums of products of their entries, which are fused with their neighbors;
- small matrices are factorized and solved by plain loops over their columns.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

SHORT = 96
"""Longest sums that are written as such, ..."""
LARGEST = 100_000
"""... of products that have so many terms in all."""
SMALL = 48
"""Largest matrices that are factorized and solved here."""
FEW = 12
"""Operations up to which both branches of a condition are computed."""


def flattened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of one member in other words; to be batched afterwards."""

    def flat(*args: Any) -> Any:
        leaves, structure = jax.tree.flatten(args)
        traced, shapes = jax.make_jaxpr(
            lambda *own: function(*jax.tree.unflatten(structure, own)), return_shape=True
        )(*leaves)
        found = _evaluated(traced.jaxpr, traced.consts, leaves)
        return jax.tree.unflatten(jax.tree.structure(shapes), found)

    return flat


class _Step(NamedTuple):
    """An operation, and the names of what it takes and gives."""

    equation: Any
    given: list[object]
    found: list[object]


def _evaluated(jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """What a traced program computes, by our rules; what its results do not need is left out."""
    known: dict[object, Any] = {}
    places = _named(args, known)
    steps, results = _inlined(jaxpr, consts, places, known)
    for step in _needed(steps, results):
        rule = _RULES.get(step.equation.primitive.name, as_it_is)
        found = rule(step.equation, [known[name] for name in step.given])
        known.update(zip(step.found, found, strict=True))
    return [known[name] for name in results]


def _named(values: Sequence[Any], known: dict[object, Any]) -> list[object]:
    names = [object() for _ in values]
    known.update(zip(names, values, strict=True))
    return names


def _inlined(
    jaxpr: Any, consts: Sequence[Any], given: Sequence[object], known: dict[object, Any]
) -> tuple[list[_Step], list[object]]:
    """The operations of a program and of all that it calls, and the names of its results."""
    names = dict(zip(jaxpr.constvars, _named(consts, known), strict=True))
    names |= dict(zip(jaxpr.invars, given, strict=True))

    def named(atom: Any) -> object:
        return _named([atom.val], known)[0] if hasattr(atom, "val") else names[atom]

    steps: list[_Step] = []
    for equation in jaxpr.eqns:
        own = [named(atom) for atom in equation.invars]
        if (opened := _OPENED.get(equation.primitive.name)) is None:
            found: list[object] = [object() for _ in equation.outvars]
            steps.append(_Step(equation, own, found))
        else:
            program, own = opened(equation, own)
            inner, fixed = (
                (program.jaxpr, program.consts) if hasattr(program, "consts") else (program, ())
            )
            more, found = _inlined(inner, fixed, own, known)
            steps += more
        names |= dict(zip(equation.outvars, found, strict=True))
    return steps, [named(atom) for atom in jaxpr.outvars]


def _needed(steps: Sequence[_Step], results: Sequence[object]) -> list[_Step]:
    """The operations that results follow from: programs are traced with much that nobody asks for."""
    asked = set(results)
    found = []
    for step in reversed(steps):
        if step.equation.effects or not asked.isdisjoint(step.found):
            found.append(step)
            asked.update(step.given)
    return found[::-1]


def as_it_is(equation: Any, given: list[Any]) -> list[Any]:
    """What an operation gives."""
    bound = equation.primitive.get_bind_params(equation.params)
    functions, params = (
        bound if isinstance(bound, tuple) else ((), bound)
    )  # as JAX's version has it
    found = equation.primitive.bind(*functions, *given, **params)
    return list(found) if equation.primitive.multiple_results else [found]


def _called(name: str) -> Callable[[Any, list[object]], tuple[Any, list[object]]]:
    """The program that a call calls, and what it takes."""
    return lambda equation, given: (equation.params[name], given)


def _solution(equation: Any, given: list[object]) -> tuple[Any, list[object]]:
    """A linear solve, by what solves it."""
    counts, programs = equation.params["const_lengths"], equation.params["jaxprs"]
    before = counts.matvec + counts.vecmat
    own = given[before : before + counts.solve]
    right = given[before + counts.solve + counts.transpose_solve :]
    return programs.solve, [*own, *right]


def _root(equation: Any, given: list[object]) -> tuple[Any, list[object]]:
    """A root of equations, without what only its derivatives need."""
    aval = equation.outvars[0].aval
    return jax.make_jaxpr(lambda root: root)(jax.ShapeDtypeStruct(aval.shape, aval.dtype)), given[
        :1
    ]


def _again(inner: Any) -> Any:
    """An inner program in our words."""
    shapes = [
        jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
        for aval in inner.in_avals
    ]
    return jax.make_jaxpr(lambda *own: _evaluated(inner.jaxpr, inner.consts, own))(*shapes)


def _loop(*names: str) -> Callable[[Any, list[Any]], list[Any]]:
    def rule(equation: Any, given: list[Any]) -> list[Any]:
        changed = {name: _again(equation.params[name]) for name in names}
        return as_it_is(equation.replace(params=equation.params | changed), given)

    return rule


def _length(jaxpr: Any) -> int:
    """Number of operations, with those of inner programs."""
    total = 0
    for equation in jaxpr.eqns:
        inner = [
            part
            for value in equation.params.values()
            for part in (value if isinstance(value, tuple) else (value,))
            if hasattr(part, "eqns") or hasattr(part, "jaxpr")
        ]
        total += 1 + sum(_length(getattr(part, "jaxpr", part)) for part in inner)
    return total


def _condition(equation: Any, given: list[Any]) -> list[Any]:
    index, *args = given
    branches = equation.params["branches"]
    if len(branches) != 2:
        return as_it_is(equation, given)
    lengths = [_length(branch.jaxpr) for branch in branches]
    rare = int(lengths[1] >= lengths[0])

    def taken(which: int) -> list[Any]:
        return _evaluated(branches[which].jaxpr, branches[which].consts, args)

    usual, needed = taken(1 - rare), index == rare
    if max(lengths) <= FEW:
        return [jnp.where(needed, a, b) for a, b in zip(taken(rare), usual, strict=True)]
    usual = [
        jnp.asarray(own, dtype=aval.dtype)
        for own, aval in zip(usual, branches[0].out_avals, strict=True)
    ]

    def once(_: Any) -> Any:
        found = [
            jnp.asarray(own, dtype=old.dtype) for own, old in zip(taken(rare), usual, strict=True)
        ]
        return jnp.zeros((), dtype=bool), found

    return list(lax.while_loop(lambda now: now[0], once, (needed, usual))[1])


def _product(equation: Any, given: list[Any]) -> list[Any]:
    a, b = given
    (across_a, across_b), (with_a, with_b) = equation.params["dimension_numbers"]
    free_a = [i for i in range(a.ndim) if i not in (*across_a, *with_a)]
    free_b = [i for i in range(b.ndim) if i not in (*across_b, *with_b)]
    terms = _count(a.shape, across_a)
    total = a.size * _count(b.shape, free_b)
    if terms > SHORT or total > LARGEST or not jnp.issubdtype(a.dtype, jnp.inexact):
        return as_it_is(equation, given)
    shared = [a.shape[i] for i in with_a]
    rows, columns = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    left = jnp.transpose(a, (*with_a, *free_a, *across_a))
    right = jnp.transpose(b, (*with_b, *free_b, *across_b))
    left = left.reshape(*shared, *rows, *(1 for _ in columns), terms)
    right = right.reshape(*shared, *(1 for _ in rows), *columns, terms)
    found = jnp.sum(left * right, axis=-1)
    kind = equation.params.get("preferred_element_type")
    return [found if kind is None else found.astype(kind)]


def _count(shape: tuple[int, ...], axes: Sequence[int]) -> int:
    total = 1
    for axis in axes:
        total *= shape[axis]
    return total


def _factors(equation: Any, given: list[Any]) -> list[Any]:
    """LU with partial pivoting, column by column."""
    (matrix,) = given
    n = matrix.shape[-1]
    if matrix.shape[-2] != n or n > SMALL:
        return as_it_is(equation, given)
    rows = jnp.arange(n)

    def column(k: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
        lu, order = now
        below, here = rows > k, rows == k
        best = jnp.argmax(jnp.where(rows >= k, jnp.abs(lu[..., :, k]), -1.0), axis=-1)
        there = rows == best[..., None]
        # Rows change places by sums over what is there: no member looks up places of its own.
        top, upper = lu[..., k, :], jnp.sum(jnp.where(there[..., None], lu, 0.0), axis=-2)
        lu = jnp.where(there[..., None], top[..., None, :], lu)
        first, last = order[..., k], jnp.sum(jnp.where(there, order, 0), axis=-1)
        order = jnp.where(here, last[..., None], jnp.where(there, first[..., None], order))
        pivot = upper[..., k][..., None]
        factor = jnp.where(below & (pivot != 0), lu[..., :, k] / pivot, 0.0)
        above = jnp.where(below, upper, 0.0)
        lu = lu - factor[..., :, None] * above[..., None, :]
        lu = jnp.where(below[:, None] & here, factor[..., :, None], lu)
        return jnp.where(here[:, None], upper[..., None, :], lu), order

    order = jnp.broadcast_to(rows, matrix.shape[:-1])
    lu, order = lax.fori_loop(0, n, column, (matrix, order))
    kinds = [variable.aval.dtype for variable in equation.outvars]
    pivots = jnp.zeros(order.shape, kinds[1])  # interchanges one by one: nobody here asks for them
    return [lu, pivots, order.astype(kinds[2])]


def _triangular(equation: Any, given: list[Any]) -> list[Any]:
    """Solutions of triangular systems, unknown by unknown."""
    matrix, right = given
    params, n = equation.params, matrix.shape[-1]
    if n > SMALL or params["conjugate_a"]:
        return as_it_is(equation, given)
    lower, transposed = params["lower"], params["transpose_a"]
    if not params["left_side"]:  # X A = B is Aᵀ Xᵀ = Bᵀ
        right, transposed = jnp.swapaxes(right, -1, -2), not transposed
    if transposed:
        matrix, lower = jnp.swapaxes(matrix, -1, -2), not lower
    rows = jnp.arange(n)

    def unknown(step: Any, x: Any) -> Any:
        i = step if lower else n - 1 - step
        own = x[..., i, :]
        if not params["unit_diagonal"]:
            own = own / matrix[..., i, i][..., None]
        later = rows > i if lower else rows < i
        share = jnp.where(later, matrix[..., :, i], 0.0)
        x = x - share[..., :, None] * own[..., None, :]
        return jnp.where((rows == i)[:, None], own[..., None, :], x)

    found = lax.fori_loop(0, n, unknown, right)
    return [found if params["left_side"] else jnp.swapaxes(found, -1, -2)]


_OPENED: dict[str, Callable[[Any, list[object]], tuple[Any, list[object]]]] = {
    "jit": _called("jaxpr"),
    "pjit": _called("jaxpr"),
    "closed_call": _called("call_jaxpr"),
    "core_call": _called("call_jaxpr"),
    "custom_jvp_call": _called("call_jaxpr"),
    "custom_vjp_call": _called("call_jaxpr"),
    "checkpoint": _called("jaxpr"),
    "remat": _called("jaxpr"),
    "remat2": _called("jaxpr"),
    "custom_linear_solve": _solution,
    "implicit_root": _root,
}
_RULES: dict[str, Callable[[Any, list[Any]], list[Any]]] = {
    "scan": _loop("jaxpr"),
    "while": _loop("cond_jaxpr", "body_jaxpr"),
    "cond": _condition,
    "dot_general": _product,
    "lu": _factors,
    "triangular_solve": _triangular,
}
